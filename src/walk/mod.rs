//! The walk.
pub mod event;
pub mod ports;
/// Placeholder
pub struct Request<'a>(&'a ());
