//! The script host: one engine with every limit on, libraries of linked scripts, typed calls, read-only inputs.
//!
//! A [`Library`] is built from script texts and inline conditions by [`Library::link`]; it hands out [`ScriptFunction`]s, whose
//! calls take [`View`]s (immutable, shared, free to hand over) and answer in the terms of a role: a [`RuleOutcome`], an artifact,
//! a list of effects. Whatever a script does wrong comes back as one [`Diagnostic`](crate::diag::Diagnostic) on the token.
//!
//! The layers, lowest first, as `tests/it/imports.rs` checks them:
//!
//! | files | what |
//! |---|---|
//! | `fault`, `guard`, `limits`, `panic_guard`, `reference` | what a script may use, and how that is enforced; names of functions |
//! | `view`, `json`, `value_kind`, `compare`, `equality` | the values that scripts read, and what comparing means |
//! | `rhai_internals` | the syntax tree, its rewriting, evaluating: all that knows Rhai from the inside |
//! | `engine`, `forbidden`, `strict`, `environment`, `pad`, `predicate`, `sort`, `text` | the one place where engines are made, and what is otherwise than in Rhai |
//! | `unit`, `words`, `file_items`, `common_mistakes`, `parse_error`, `recover`, `condition`, `imports`, `resolver` | a text, its tokens and tree; what the parser refuses |
//! | `probe`, `running_test` | watching an evaluation: values and ways, for explanations and coverage; what tests ask of the host |
//! | `api`, `builtins`, `pattern` | the functions that scripts may call |
//! | `parse`, `call_site`, `call_check`, `import_order`, `linked`, `link`, `eval_trace`, `explain` | texts to a linked library; errors through call frames |
//! | `eval_cache`, `invoke`, `library`, `reachable`, `rule`, `responder`, `effects`, `role` | calling a function and reading what it returned |
//! | `check`, `checked`, `self_test`, `test_call` | static checks, and running a test |

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
mod running_test;
mod self_test;
mod sort;
mod strict;
mod test_call;
mod text;
mod unit;
mod value_kind;
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
pub use running_test::{TestHost, TestQuestion};
pub use self_test::self_test;
pub use test_call::{TableRow, TestCallResult};
pub use unit::Unit;
pub use view::View;
