//! The script host: one engine with every limit on, libraries of linked scripts, typed calls, read-only inputs.
//!
//! A [`Library`] is built from script texts and inline conditions by [`Library::link`]; it hands out [`ScriptFunction`]s, whose
//! calls take [`View`]s (immutable, shared, free to hand over) and answer in the terms of a role: a [`RuleOutcome`], an artifact,
//! a list of effects. Whatever a script does wrong comes back as one [`Diagnostic`](crate::diag::Diagnostic) on the token.
//!
//! The layers, lowest first (`tests/it/tidy.rs` checks them):
//!
//! | layer | files | what |
//! |---|---|---|
//! | 1 values | `view`, `json`, `compare`, `pattern`, `reference` | the values that scripts read, what comparing means, patterns, names of functions |
//! | 1 limits | `limits`, `guard`, `panic_guard`, `fault` | what a script may use, how that is enforced, errors from inside an evaluation |
//! | 2 Rhai | `rhai_internals` | the syntax tree, its rewriting, evaluating |
//! | 3 engine | `engine`, `forbidden`, `strict`, `environment`, `pad`, `predicate`, `sort`, `text` | the one place where engines are made, and what is otherwise than in Rhai |
//! | 4 texts | `unit`, `words`, `file_items`, `common_mistakes`, `parse_error`, `recover`, `condition`, `imports`, `resolver`, `call_site` | a text: its tokens and tree, what it needs, and what the parser refuses |
//! | 5 linking | `probe`, `parse`, `import_order`, `call_check`, `eval_trace`, `explain`, `linked`, `link` | texts to a linked library; watching evaluations; errors through call frames |
//! | 6 calling | `eval_cache`, `invoke`, `library`, `rule`, `responder`, `effects`, `role`, `reachable` | calling a function and reading what it returned |
//! | 7 checking | `check`, `checked` | static checks |
//! | 8 testing | `test_call`, `self_test` | running a test, and what tests ask of the host |
//!
//! `api` and `builtins` list the functions that scripts may call.

pub mod api;
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
mod pad;
mod panic_guard;
mod parse;
mod parse_error;
mod pattern;
mod predicate;
pub mod probe;
mod reachable;
mod recover;
mod reference;
mod resolver;
mod responder;
mod rhai_internals;
mod role;
mod rule;
mod self_test;
mod sort;
mod strict;
mod test_call;
mod text;
mod unit;
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

pub use condition::Condition;
pub use engine::{Extend, build as build_engine};
pub use fault::{LIMIT, ScriptFault};
pub use guard::apart;
pub use invoke::ScriptFunction;
pub use library::Library;
pub use limits::ScriptLimits;
pub use linked::{LibraryInputs, LinkedScript};
pub use parse::Public;
pub use pattern::{Pattern, PatternFault, escape};
pub use reference::{FunctionRef, is_test_file};
pub(crate) use rhai_internals::chain;
pub use rhai_internals::{tokens, tree};
pub use rule::RuleOutcome;
pub use self_test::self_test;
pub use test_call::{TableRow, TestCallResult, TestHost, TestQuestion};
pub use unit::Unit;
pub use view::View;
