//! The subjects of investigations: launches and cases, artifact shapes, canonical JSON and content hashes, effects.

mod artifact_file;
mod attributes;
mod ci_system;
mod effect;
mod hash;
mod invisible;
mod job_url;
mod json_schema;
mod launch;
mod markdown;
mod normalise;
mod outcomes;
mod outline;
mod plural;
mod shape;
mod shell;
mod text;
mod text_pattern;
pub mod words;

pub use artifact_file::{safe_file_name, sha256};
pub use attributes::Attributes;
pub use ci_system::{CiJob, CiSystem};
pub use effect::{EFFECTS, Effect, Handle, UnresolvedHandle};
pub use hash::{Hash, Hasher, canonical};
pub use invisible::{is_invisible, visible};
pub use job_url::job_url_of_environment;
pub use launch::{Case, Cut, Launch, LaunchCheckout};
pub use markdown::markdown_line;
pub use normalise::{normalise_error, recall_key};
pub use outcomes::{TestIdentity, TestOutcome, TestOutcomes};
pub use plural::counted;
pub use shape::{Field, Kind, Shape, ValidationError};
pub use shell::shell;
pub use text::{LaunchText, TextStore};
pub use text_pattern::{TextCaptures, TextMatch, TextPattern, TextPatternSet, pattern_syntax};
pub use words::error_shape;
