//! `asterisk test --mutate`: scripts changed in one place at a time, and whether a test notices.
//!
//! A mutant is a script with one token, or a few that belong together, replaced by others. One that does not link is none. The
//! others run the tests that call the function they are in; one that passes them all has survived, and says what the tests do
//! not say. A survivor that means the same is explained next to its line: `// mutants: allow(MUTATOR) reason`.
//!
//! | file | what |
//! |---|---|
//! | `words` | the tokens of a script as mutators read them, and the function each is in |
//! | `mutators` | the table of mutators |
//! | `operators`, `values`, `shapes` | the mutators: of operators, of values, of conditions and statements |
//! | `mutant` | all mutants of a script |
//! | `scope` | which scripts and functions are mutated |
//! | `reach` | which tests call which functions |
//! | `allow` | comments that explain survivors |
//! | `run` | running the tests on each mutant |
//! | `diff` | a mutant as a patch |

mod allow;
mod diff;
mod mutant;
mod mutators;
mod operators;
mod reach;
mod run;
mod scope;
mod shapes;
mod values;
mod words;

pub use diff::diff;
pub use mutant::Mutant;
pub use mutators::{Mutator, mutators};
pub use run::{MutantFate, MutatedFile, Mutation, mutate};
pub use scope::MutateScope;
