//! What every part that talks to a server goes by: a client that keeps secrets to the one address, secrets, and how to wait.

mod client;
mod hide;
mod pause;
mod secret;

pub use client::{HttpClient, HttpResponse, shown};
pub use hide::{SecretRedactor, hidden};
pub use pause::{LOOK, pause, wait};
pub use secret::{OWN, ReadSecret, SecretSource};
