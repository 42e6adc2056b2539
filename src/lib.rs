//! Asterisk: a host for investigation pipelines.

pub mod clock;
pub mod diag;
pub mod model;
pub mod pipeline;
pub mod prompt;
pub mod script;
