//! The things investigations are about: launches and cases, artifacts' shapes, canonical JSON and content hashes, effects.

mod attributes;
mod effect;
mod hash;
mod invisible;
mod json_schema;
mod launch;
mod normalise;
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
pub use plural::counted;
pub use shape::{Complaint, Field, Kind, Shape};
pub use shell::shell;
pub use text::{LaunchText, TextStore};
