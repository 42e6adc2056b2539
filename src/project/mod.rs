//! Linking: the texts of all three languages become one immutable [`Project`] with a plan to walk by.

mod conditions;
mod current;
mod data;
pub mod domain;
mod edit;
mod examine;
mod form;
mod forms;
mod kinds;
mod link;
mod linker;
mod manifest;
mod masks;
mod parts;
mod personas;
mod plans;
mod prompts;
mod sources;
mod team;
mod teams;
mod vars;

pub use conditions::{check_conditions, condition_key, conditions, fields};
pub use current::Current;
pub use data::read_data;
pub use examine::{Examined, Place, examine};
pub use kinds::input_kinds;
pub use link::{Answers, Project, Settings};
pub use linker::SCRIPT;
pub use manifest::Manifest;
pub use sources::Sources;
pub use teams::teams;
pub use vars::{ProjectVar, ProjectVars};
