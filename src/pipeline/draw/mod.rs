//! A pipeline as a picture: one reading of the graph ([`Picture`]), written in several languages.

mod dot;
mod layout;
mod mermaid;
mod picture;
mod svg;
mod svg_text;
mod team;
mod ways;

pub use picture::{Arrow, Group, Kind, Part, Picture, Role, Shape};
pub use team::Team;
pub use ways::Ways;
