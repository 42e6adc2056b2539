//! The syntax of the project's files as text: trees that lose nothing of it, and formatting.
//!
//! `asterisk-script` compiles scripts with Rhai's own parser, which stops at the first error and drops comments and layout. This crate parses
//! the same language for tools that show or rewrite text: the formatter and the language server.
//!
//! | module | what it does |
//! |---|---|
//! | `rhai` | the lossless syntax tree of Rhai: kinds, lexer, parser that tolerates errors; its formatter |
//! | `yaml` | the formatter of YAML |
//! | `template` | the formatter of prompt templates |
//! | `format` | formatting by language; edits, ranges, diffs |

pub mod format;
pub mod rhai;
pub mod template;
pub mod yaml;
