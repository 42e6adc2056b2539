//! The script host: one engine with every limit on, libraries of linked scripts, typed calls, read-only inputs.
//!
//! A [`Library`] is built from script texts and inline conditions by [`Library::link`]; it hands out [`ScriptFunction`]s, whose
//! calls take [`View`]s (immutable, shared, free to hand over) and answer in the terms of a role: a [`RuleOutcome`], an artifact,
//! a list of effects. Whatever a script does wrong comes back as one [`Diagnostic`](crate::diag::Diagnostic) on the token.
//!
//! | file | what |
//! |---|---|
//! | `view` | the values scripts read |
//! | `limits`, `guard`, `panic_guard`, `engine` | what a script may use, how that is enforced, and the one place where engines are made |
//! | `tokens`, `unit` | a parsed text: positions to spans, and spans to the file they came from |
//! | `rewrite`, `function_stub`, `strict`, `compare` | the nodes put in place of comparisons after parsing, and what comparing means |
//! | `capture`, `pad`, `sort`, `text` | where the stock behaviour of closures, of filling lists, of sorting and of making texts would not do |
//! | `fault`, `syntax`, `eval_trace`, `explain`, `words` | errors, from inside an evaluation, from the parser, and through call frames |
//! | `condition`, `parse`, `imports`, `environment`, `link`, `resolver`, `library` | texts to a linked library |
//! | `probe` | watching an evaluation: values and ways, for explanations and coverage |
//! | `invoke`, `rule`, `responder`, `effects`, `role`, `json` | calling a function and reading what it returned |
//! | `test_call` | running a test, and what tests ask of the host |
//! | `pattern` | a regular expression, looked at before it is used |
//! | `api`, `check` | the functions scripts may call; static checks |

pub mod api;
mod builtins;
mod call_site;
mod capture;
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
mod function_stub;
mod guard;
mod imports;
mod invoke;
mod json;
mod library;
mod limits;
mod link;
mod lookup_limit;
mod pad;
mod panic_guard;
mod parse;
mod pattern;
mod predicate;
pub mod probe;
mod reachable;
mod recover;
mod reference;
mod resolver;
mod responder;
pub mod rewrite;
mod role;
mod rule;
mod self_test;
mod sort;
mod strict;
mod syntax;
mod test_call;
mod text;
pub mod tokens;
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
pub use library::{Library, LibraryInputs, LinkedScript, Public};
pub use limits::ScriptLimits;
pub use pattern::{Pattern, PatternFault, escape};
pub use reference::{FunctionRef, is_test_file};
pub use rule::RuleOutcome;
pub use self_test::self_test;
pub use test_call::{TableRow, TestCallResult, TestHost, TestQuestion};
pub use unit::Unit;
pub use view::View;
