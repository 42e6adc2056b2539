//! The script host: an engine with every limit enabled, libraries of linked scripts, typed calls, read-only inputs.
//!
//! A [`Library`] is built from script texts and inline conditions by [`Library::link`]; it provides [`ScriptFunction`]s, whose
//! calls take [`View`]s (immutable, shared, cheap to pass) and return a [`RuleOutcome`], an artifact, or a list of effects,
//! depending on the role. Every error of a script is one [`Diagnostic`](asterisk_diag::Diagnostic) at its token.
//!
//! The layers, lowest first:
//!
//! | files | what |
//! |---|---|
//! | `fault`, `guard`, `limits`, `panic_guard`, `reference` | the limits of scripts and their enforcement; names of functions |
//! | `view`, `json`, `value_kind`, `compare`, `equality` | the values that scripts read, and comparison semantics |
//! | `rhai_internals` | the syntax tree, its rewriting, evaluation: everything that depends on Rhai's internals |
//! | `engine`, `forbidden`, `strict`, `environment`, `pad`, `predicate`, `sort`, `text`, `memo` | the creation of engines, and deviations from stock Rhai; reusing results |
//! | `unit`, `words`, `file_items`, `common_mistakes`, `parse_error`, `recover`, `condition`, `imports`, `resolver` | a text, its tokens and tree; parse errors |
//! | `probe`, `running_test` | observing evaluations, for explanations, coverage and profiles; the host of a running test |
//! | `api`, `builtins`, `pattern` | the functions that scripts may call |
//! | `outline`, `parse`, `call_site`, `call_check`, `import_order`, `linked`, `link`, `eval_trace`, `explain` | linking texts to a library; errors through call frames |
//! | `eval_cache`, `invoke`, `library`, `reachable`, `rule`, `responder`, `effects`, `role`, `root_rule`, `verdict_rule` | calling a function and reading its result |
//! | `check`, `checked`, `self_test`, `test_call` | static checks, and running a test |
//!
//! # Example
//!
#![doc = "```"]
#![doc = include_str!("../examples/host.rs")]
#![doc = "```"]

pub mod api;
mod array_methods;
mod builtins;
mod call_check;
mod call_site;
pub mod check;
mod checked;
mod common_mistakes;
mod compare;
mod condition;
mod effects;
mod engine;
mod environment;
mod equality;
mod eval_cache;
mod eval_trace;
mod explain;
mod fault;
mod file_items;
mod forbidden;
mod guard;
mod import_order;
mod imports;
mod invoke;
mod json;
mod library;
mod limits;
mod link;
mod linked;
mod memo;
mod outline;
mod pad;
mod panic_guard;
mod parse;
mod parse_error;
mod pattern;
pub mod probe;
mod reachable;
mod recover;
mod reference;
mod resolver;
mod responder;
mod returned_map;
mod rhai_internals;
mod role;
mod root_rule;
mod rule;
mod running_test;
mod self_test;
mod sort;
mod strict;
mod test_call;
mod text;
mod unit;
mod value_kind;
mod verdict_rule;
mod view;
mod words;

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod equivalence;
#[cfg(test)]
mod escapes;
#[cfg(test)]
mod testing;

pub use builtins::NAMES as BUILTIN_NAMES;
pub use condition::Condition;
pub use engine::{Extend, build as build_engine};
pub use fault::ScriptFault;
pub use guard::{apart, within};
pub use invoke::ScriptFunction;
pub use library::Library;
pub use limits::ScriptLimits;
pub use linked::{LibraryInputs, LinkedScript, Signature};
pub use parse::Public;
pub use pattern::{MatchPrefixes, Pattern, PatternFault, escape};
pub use reference::{FunctionRef, is_test_file};
pub use rhai_internals::chain;
pub use rhai_internals::{tokens, tree};
pub use root_rule::RootKey;
pub use rule::RuleOutcome;
pub use running_test::{TestHost, TestQuestion};
pub use self_test::self_test;
pub use test_call::{TableRow, TestCallResult};
pub use unit::{Unit, UnitText};
pub use verdict_rule::RuleStrength;
pub use view::View;

#[cfg(test)]
#[global_allocator]
static MEMORY: asterisk_base::memory::Allocator = asterisk_base::memory::allocator();
