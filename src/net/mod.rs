//! Shared by all HTTP clients: a client that sends secrets to one address only, sources of secrets, and backoff.

mod client;
mod hide;
mod pause;
mod secret;

pub use client::{HttpClient, HttpResponse, shown};
pub use hide::{SecretRedactor, hidden};
pub use pause::{LOOK, pause, wait};
pub use secret::{OWN, ReadSecret, SecretSource};
