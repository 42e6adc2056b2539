//! Diagnostics: texts with names, spans in them, reports that point at a token, and did-you-mean.
//!
//! Every error that a script, pipeline, template, data file or input can cause is a [`Diagnostic`]; analyses return
//! everything they found as [`Diagnostics`]. Rendering is the business of `ui` alone.

mod allow;
mod code;
mod diagnostic;
mod disk;
mod mapped_text;
mod plural;
mod secret;
mod source;
mod suggest;

pub use allow::{Allow, Comments};
pub use code::{Code, CodeArea};
pub use diagnostic::{Diagnostic, Diagnostics, Label, Severity};
pub use disk::is_full;
pub use mapped_text::MappedText;
pub use plural::counted;
pub use secret::{
    SecretForm, address_reveals_secret, hide_secrets, looks_secret, mask_secrets, names_secret, secrets_in, starred,
};
pub use source::{Source, Span, floor_boundary};
pub use suggest::{did_you_mean, meant, misspelt, nearest};
