//! The script host.

pub mod api;
pub mod check;
