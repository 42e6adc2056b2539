//! Draws pipelines: the graph is converted once to a [`Picture`], which is rendered in several formats.

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
