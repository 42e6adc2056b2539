//! Readers of launches.
