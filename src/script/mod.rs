//! The script host.
