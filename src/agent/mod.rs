//! Who answers nodes: the zero-LLM responders, and canned answers. Each implements the `Answer` port.

mod script;
mod stub;

pub use script::Scripts;
pub use stub::Stub;
