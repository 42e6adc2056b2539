//! Asterisk: a host for investigation pipelines.

pub mod clock;
pub mod diag;
pub mod ingest;
pub mod model;
pub mod pipeline;
pub mod script;
pub mod store;
pub mod walk;
