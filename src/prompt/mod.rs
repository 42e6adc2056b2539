//! Prompt templates: minijinja with strict undefined values and a fuel limit; errors point into the template.

mod template;

pub use template::{Template, Templates};
