//! Everything that depends on Rhai's internals: an upgrade of Rhai changes only this module, and the tests in `contract` show
//! what broke.
//!
//! The rest of the crate uses Rhai's documented interface (engines, values, modules, errors) within [`script`](super), and
//! otherwise this module's own types. `tests/it/imports.rs` checks both.
//!
//! | file | what |
//! |---|---|
//! | `tree`, `chain` | the syntax tree for checks and lints |
//! | `lower` | converts Rhai's tree to it |
//! | `tokens`, `lexicon` | positions to spans; words that are lexed differently from Rhai |
//! | `node` | host expressions inside Rhai's tree |
//! | `rewrite`, `capture`, `function_stub` | inserting them |
//! | `eval_state`, `call_caches` | evaluating without Rhai's own call; the caches of resolved calls |
//! | `contract` | tests of the behaviour relied on |

pub(crate) mod call_caches;
pub(crate) mod capture;
pub mod chain;
#[cfg(test)]
mod contract;
pub(crate) mod eval_state;
pub(crate) mod function_stub;
pub(crate) mod lexicon;
mod lower;
pub(crate) mod node;
pub(crate) mod rewrite;
pub mod tokens;
pub mod tree;

pub(crate) use lower::tree_of;
