//! What all layers share: the subjects of investigations, the clock, the allocator that counts memory, the process's
//! environment.
//!
//! | module | contents |
//! |---|---|
//! | [`model`] | launches and cases, artifact shapes, canonical JSON, content hashes, effects |
//! | [`clock`] | the time, and a clock for tests |
//! | [`memory`] | the allocator that counts what a thread allocates |
//! | [`environment`] | variables, streams and terminal of the process, passed as a value |
//! | [`subscriber`] | the subscriber of spans and events, and threads that inherit it |

pub mod clock;
pub mod environment;
pub mod memory;
pub mod model;
pub mod subscriber;

/// The program's name.
pub const PROGRAM: &str = "asterisk";

#[cfg(test)]
#[global_allocator]
static MEMORY: crate::memory::Allocator = crate::memory::allocator();
