//! The language server: everything that an editor shows of a project and its runs.
//!
//! The client's texts stand for those on disk: the linter analyses them in a thread, another thread reads the store, and requests are
//! answered from the last analysis and the text as it is now.
//!
//! | files | what |
//! |---|---|
//! | `position`, `location`, `documents` | places, addresses, and open documents, in the protocol's terms |
//! | `tree`, `names`, `script_names`, `yaml_names`, `template_names`, `locals` | the names in texts that may be half typed |
//! | `types`, `yaml_context` | the types of expressions, and where a cursor is in YAML |
//! | `host`, `project_file`, `analysis`, `recorded` | the program around the server; the project as analysed, and as recorded |
//! | `workspace` | the project as the client sees it |
//! | `completion`, `hover`, `signature`, `navigation`, `rename`, `actions`, `structure`, `semantic`, `formatting`, `inlay`, `weights`, `lenses`, `diagnostics`, `commands` | a kind of request each |
//! | `capabilities`, `server` | the protocol |

mod actions;
mod analysis;
mod capabilities;
mod commands;
mod completion;
mod diagnostics;
mod documents;
mod formatting;
mod host;
mod hover;
mod inlay;
mod lenses;
mod locals;
mod location;
mod names;
mod navigation;
mod position;
mod project_file;
mod recorded;
mod rename;
mod script_names;
mod semantic;
mod server;
mod signature;
mod structure;
mod template_names;
mod tree;
mod types;
mod weights;
mod workspace;
mod yaml_context;
mod yaml_names;

pub use host::{OpenedProject, ServerHost};
pub use server::{ServerError, serve, serve_streams};
