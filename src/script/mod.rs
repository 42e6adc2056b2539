//! The script host: one engine with every limit on, libraries of linked scripts, typed calls, read-only inputs.
//!
//! A [`Library`] is built from script texts and inline conditions by [`Library::link`]; it hands out [`Function`]s, whose
//! calls take [`View`]s (immutable, shared, free to hand over) and answer in the terms of a role: a [`Verdict`], an artifact,
//! a list of effects. Whatever a script does wrong comes back as one [`Diagnostic`](crate::diag::Diagnostic) on the token.
//!
//! | file | what |
//! |---|---|
//! | `view` | the values scripts read |
//! | `limits`, `guard`, `quiet`, `engine` | what a script may use, how that is enforced, and the one place where engines are made |
//! | `tokens`, `unit` | a parsed text: positions to spans, and spans to the file they came from |
//! | `rewrite`, `shell`, `strict`, `compare` | the nodes put in place of comparisons after parsing, and what comparing means |
//! | `capture`, `pad`, `sort`, `text` | where the stock behaviour of closures, of filling lists, of sorting and of making texts would not do |
//! | `fault`, `syntax`, `trace`, `explain`, `words` | errors, from inside an evaluation, from the parser, and through call frames |
//! | `condition`, `parse`, `imports`, `environment`, `link`, `resolver`, `library` | texts to a linked library |
//! | `probe` | watching an evaluation: values and ways, for explanations and coverage |
//! | `call`, `rule`, `responder`, `effects`, `role`, `json` | calling a function and reading what it returned |
//! | `trial` | running a test, and what tests ask of the host |
//! | `pattern` | a regular expression, looked at before it is used |
//! | `api`, `check` | the functions scripts may call; static checks |

pub mod api;
mod call;
mod calls;
mod capture;
pub mod check;
mod checked;
mod compare;
mod condition;
mod effects;
mod engine;
mod environment;
mod explain;
mod fault;
mod guard;
mod imports;
mod json;
mod library;
mod limits;
mod link;
mod lookups;
mod pad;
mod parse;
mod pattern;
mod predicate;
pub mod probe;
mod quiet;
mod reach;
mod recover;
mod reference;
mod resolver;
mod responder;
pub mod rewrite;
mod role;
mod rule;
mod self_test;
mod shell;
mod slips;
mod sort;
mod stock;
mod strict;
mod syntax;
mod text;
pub mod tokens;
mod trace;
mod trial;
mod unit;
mod view;
mod warm;
mod words;

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod equivalence;
#[cfg(test)]
mod escapes;
#[cfg(test)]
mod testing;

pub use call::Function;
pub use condition::Condition;
pub use engine::{Extend, build as build_engine};
pub use fault::{Fault, LIMIT};
pub use guard::apart;
pub use library::{File, Inputs, Library, Public};
pub use limits::Limits;
pub use pattern::{Pattern, PatternFault, escape};
pub use reference::{Reference, is_test_file};
pub use rule::Verdict;
pub use self_test::self_test;
pub use trial::{Question, Row, Stage, Trial};
pub use unit::Unit;
pub use view::View;
