//! Prompt templates: minijinja with strict undefined values and a fuel limit; errors point into the template.
//!
//! ```text
//! scan, template, names    templates are validated, compiled, and checked against known parameters
//! values                   parameters, converted lazily
//! filters, budget          filters with results of bounded size
//! quote                    fences for untrusted text
//! ```

mod budget;
mod filters;
mod names;
mod quote;
mod scan;
mod template;
mod values;

pub use names::{ParameterGroup, ParameterUse};
pub use quote::fenced;
pub use template::{Template, Templates};
pub use values::{TemplateValue, ValueKind, Values};
