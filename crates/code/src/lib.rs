//! Source code as text: the statement at a line, the names that it and its values use, and the lines that define them.
//!
//! No grammar is used: languages are rows of a table of patterns ([`language`]), and blocks are found by their indentation. That is enough to
//! say which function of the product a failed assertion is about, in any language of the table, and in code that does not compile.
//!
//! | module | what it does |
//! |---|---|
//! | `languages` | the table: extensions, patterns of definitions, comments |
//! | `source` | a file: lines, statements, blocks |
//! | `tokens` | names in a statement, without strings and comments |
//! | `uses` | the names and texts that a statement uses, directly and through local variables and helpers |
//! | `imports` | what a file imports, and whether a path is it |
//! | `routes` | the line of a server that answers a request |
//! | `steps` | the definition of a step of Gherkin |
//! | `symbols` | the definitions that these names most likely mean |

mod imports;
mod languages;
mod routes;
mod source;
mod steps;
mod symbols;
mod tokens;
mod uses;

pub use imports::Imports;
pub use languages::{CodeLanguage, language};
pub use routes::{answers, requested_path};
pub use source::{CodeBlock, SourceFile, SourceStatement};
pub use steps::{defines_step, step_text};
pub use symbols::{DefinitionLine, Symbol, may_define, resolve};
pub use uses::{CodeUses, NameUse, TextUse};
