//! The things investigations are about: launches and cases, artifacts' shapes, canonical JSON and content hashes, effects.

mod attributes;
mod counted;
mod effect;
mod hash;
mod json_schema;
mod launch;
mod normalise;
mod outline;
mod shape;
mod shell;
mod text;
mod visible;

pub use attributes::Attributes;
pub use counted::counted;
pub use effect::{Effect, Handle, UnresolvedHandle};
pub use hash::{Hash, Hasher, canonical};
pub use launch::{Case, Cut, Git, Launch};
pub use normalise::{normalise_error, recall_key};
pub use shape::{Complaint, Field, Kind, Shape};
pub use shell::shell;
pub use text::{Shelf, Text};
pub use visible::{is_invisible, visible};
