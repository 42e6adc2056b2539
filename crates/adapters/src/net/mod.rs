//! Shared by all HTTP clients: a client that sends secrets to one address only, sources of secrets, and backoff.

mod backoff;
mod client;
mod hide;
mod secret;

pub use backoff::{CHECK_INTERVAL, backoff, wait};
pub use client::{HttpClient, HttpResponse, shown};
pub use hide::{SecretRedactor, hidden};
pub use secret::{OWN, SecretReader, SecretSource};
