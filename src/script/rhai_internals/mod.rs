//! All that knows Rhai from the inside: an upgrade of Rhai is a change of this module, and `contract` says first what broke.
//!
//! The rest of the crate uses Rhai's documented interface (engines, values, modules, errors) within [`script`](super), and this
//! module's own types beyond. `tests/it/imports.rs` checks both.
//!
//! | file | what |
//! |---|---|
//! | `tree`, `chain` | the syntax tree as checks and lints read it |
//! | `lower` | that tree from Rhai's |
//! | `tokens`, `lexicon` | positions to spans; words that are read otherwise than Rhai does |
//! | `node` | expressions of the host inside Rhai's tree |
//! | `rewrite`, `capture`, `function_stub` | putting them there |
//! | `eval_state`, `lookup_limit` | evaluating without Rhai's own call; which functions a name was found to mean |
//! | `contract` | tests of what is relied on |

pub(crate) mod capture;
pub(crate) mod chain;
#[cfg(test)]
mod contract;
pub(crate) mod eval_state;
pub(crate) mod function_stub;
pub(crate) mod lexicon;
pub(crate) mod lookup_limit;
mod lower;
pub(crate) mod node;
pub(crate) mod rewrite;
pub mod tokens;
pub mod tree;

pub(crate) use lower::tree_of;
