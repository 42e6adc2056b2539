//! Where settings come from: flags, then `ASTERISK_*`, then the project file `asterisk.yaml`, then the user's own file.

mod agents;
mod json_schema;
mod keys;
mod origin;
mod project_file;
mod reportportal;
mod schemas;
mod servers;
mod settings;
mod template;

pub use json_schema::{json_schema, reference};
pub use origin::{Setting, SettingOrigin};
pub use schemas::SchemaKind;
pub use settings::{CommandLine, ResolvedSettings, history_file, resolve, store_location};
pub use template::template;

/// The name of the project file.
pub const PROJECT_FILE: &str = "asterisk.yaml";
