//! The host API: what scripts may call.
