//! The script host: one engine with every limit on, libraries of linked scripts, typed calls, read-only inputs.
//!
//! A [`Library`] is built from script texts and inline conditions by [`Library::link`]; it hands out [`Function`]s, whose
//! calls take [`View`]s (immutable, shared, free to hand over) and answer in the terms of a role: a [`Verdict`], an artifact,
//! a list of effects. Whatever a script does wrong comes back as one [`Diagnostic`](crate::diag::Diagnostic) on the token.
//!
//! | file | what |
//! |---|---|
//! | `view` | the values scripts read |
//! | `limits`, `guard`, `engine` | what a script may use, how that is enforced, and the one place where engines are made |
//! | `tokens`, `unit` | a parsed text: positions to spans, and spans to the file they came from |
//! | `rewrite`, `strict`, `compare` | the nodes put in place of comparisons after parsing, and what comparing means |
//! | `capture`, `sort` | where the stock behaviour of closures and of sorting would not do |
//! | `fault`, `syntax`, `trace` | errors, from inside an evaluation, from the parser, and through call frames |
//! | `condition`, `link`, `resolver`, `library` | texts to a linked library |
//! | `call`, `rule`, `responder`, `effects`, `json` | calling a function and reading what it returned |
//! | `api`, `check` | the functions scripts may call; static checks |

pub mod api;
mod call;
mod capture;
pub mod check;
mod checked;
mod compare;
mod condition;
mod effects;
mod engine;
mod fault;
mod guard;
mod json;
mod library;
mod limits;
mod link;
mod reference;
mod resolver;
mod responder;
pub mod rewrite;
mod rule;
mod sort;
mod strict;
mod syntax;
pub mod tokens;
mod trace;
mod unit;
mod view;
mod warm;

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod equivalence;
#[cfg(test)]
mod measure;
#[cfg(test)]
mod testing;

pub use call::Function;
pub use condition::Condition;
pub use engine::{Extend, build as build_engine};
pub use fault::Fault;
pub use library::{File, Inputs, Library, Public};
pub use limits::Limits;
pub use reference::Reference;
pub use rule::Verdict;
pub use unit::Unit;
pub use view::View;
