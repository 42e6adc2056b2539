//! The subjects of investigations: launches and cases, artifact shapes, canonical JSON and content hashes, effects.

mod attributes;
mod effect;
mod hash;
mod invisible;
mod json_schema;
mod launch;
mod normalise;
mod outcomes;
mod outline;
mod plural;
mod shape;
mod shell;
mod text;

pub use attributes::Attributes;
pub use effect::{EFFECTS, Effect, Handle, UnresolvedHandle};
pub use hash::{Hash, Hasher, canonical};
pub use invisible::{is_invisible, visible};
pub use launch::{Case, Cut, Launch, LaunchCheckout};
pub use normalise::{normalise_error, recall_key};
pub use outcomes::{TestIdentity, TestOutcome, TestOutcomes};
pub use plural::counted;
pub use shape::{Field, Kind, Shape, ValidationError};
pub use shell::shell;
pub use text::{LaunchText, TextStore};
