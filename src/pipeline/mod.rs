//! The pipeline language.
