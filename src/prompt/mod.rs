//! Prompt templates: minijinja with strict undefined values and a fuel limit; errors point into the template.

mod filters;
mod scan;
mod template;

pub use template::{Template, Templates};
