//! Linking: the texts of all three languages become one immutable [`Project`] with a plan to walk by.

mod conditions;
mod current;
mod data;
pub mod domain;
mod edit;
mod evidence;
mod examine;
mod form;
mod forms;
mod kinds;
mod link;
mod linker;
mod manifest;
mod masks;
mod personas;
mod plans;
mod prompts;
mod sources;
mod subpipelines;
mod team;
mod teams;
mod vars;

pub use conditions::{check_conditions, condition_key, conditions, fields};
pub use current::CurrentProject;
pub use data::read_data;
pub use examine::{ExaminedFunction, FunctionUse, examine};
pub use kinds::input_kinds;
pub use link::{AnswererNames, LinkSettings, Project};
pub use linker::SCRIPT;
pub use manifest::ProjectManifest;
pub use sources::Sources;
pub use teams::teams;
pub use vars::{ProjectVar, ProjectVars};
