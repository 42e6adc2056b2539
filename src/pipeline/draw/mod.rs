//! A pipeline as a picture: one reading of the graph ([`Picture`]), written in several languages.

mod dot;
mod layout;
mod mermaid;
mod picture;
mod svg;
mod svg_text;

pub use picture::{Arrow, Group, Kind, Picture, Role, Shape};
