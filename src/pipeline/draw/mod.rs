//! A pipeline as a picture: one reading of the graph ([`Picture`]), written in several languages.

mod dot;
mod edge_counts;
mod layout;
mod mermaid;
mod picture;
mod svg;
mod svg_text;
mod team;

pub use edge_counts::EdgeCounts;
pub use picture::{Arrow, ArrowKind, NestedPicture, Picture, PictureShape, ShapeRole, ZoneGroup};
pub use team::DrawnTeam;
