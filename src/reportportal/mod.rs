//! ReportPortal by its REST API: a launch fetched with its failures, and what was found of them written back.
//!
//! ```text
//! settings   where it is, and who asks
//! call       one request, asked again while that may help
//! page       lists, page by page
//! fetch      a launch with its failed items and what they logged, in the form that files of launches have
//! define     what was found of items, as their issues
//! ```

mod call;
mod define;
mod fetch;
mod page;
mod settings;

pub use call::{Access, Portal, PortalError};
pub use define::{Issue, UpdateResult};
pub use fetch::Fetched;
pub use settings::{PortalLaunch, PortalSettings};
