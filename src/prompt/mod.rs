//! Prompt templates: minijinja with strict undefined values and a fuel limit; errors point into the template.

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
