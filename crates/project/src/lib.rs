//! Linking: the texts of all three languages become one immutable [`Project`] with a plan to walk.
//!
//! Innermost first: `bundle`, `sources`, `settings` (the inputs of linking), `forms`, `domain`, `data_files`, `personas`, `learned`, `data`, `teams` (data files),
//! `conditions`, `subpipelines`, `vars`, `kinds`, `prompts`, `linked_pipeline`, `masks`, `linker`, `team` (the references of one
//! pipeline), `plans` (pipelines in pipelines), `manifest`, `reach`, `link` (the project), and based on it `edit`, `examine`, `current`.

mod bundle;
mod case_rules;
mod conditions;
mod current;
mod data;
mod data_files;
pub mod domain;
mod edit;
mod evidence;
mod examine;
mod forms;
mod kinds;
mod learned;
mod link;
mod linked_pipeline;
mod linker;
mod manifest;
mod masks;
mod personas;
mod plans;
mod policy;
mod policy_file;
mod prompts;
mod reach;
mod roots;
mod settings;
mod sources;
mod subpipelines;
mod team;
mod teams;
mod vars;
mod verdict;

pub use bundle::TextBundle;
pub use conditions::{check_conditions, condition_key, conditions, fields};
pub use current::CurrentProject;
pub use data::{ProjectData, read_data};
pub use data_files::DataFiles;
pub use evidence::signature_reader;
pub use examine::{ExaminedFunction, FunctionUse, examine};
pub use forms::{SCORECARD, data_kinds, data_schema};
pub use kinds::{input_kinds, known_words};
pub use link::Project;
pub use manifest::ProjectManifest;
pub use policy::{MEMORY_PREFIX, POLICY_PREFIX, is_policy};
pub use settings::{AnswererNames, LinkScope, LinkSettings, ProjectVar, ProjectVars, SCRIPT, VarPlaces};
pub use sources::Sources;
pub use teams::teams;

#[cfg(test)]
#[global_allocator]
static MEMORY: asterisk_base::memory::Allocator = asterisk_base::memory::allocator();
