//! Client for ReportPortal's REST API: fetches launches with their failures, and writes findings back.
//!
//! ```text
//! settings   address, project and token
//! call       one request with retries
//! page       paginated lists
//! fetch      a launch with its failed items and their logs, in the format of launch files
//! define     findings written to items as their issues
//! ```

mod call;
mod define;
mod fetch;
mod page;
mod settings;

pub use call::{Access, Portal, PortalError};
pub use define::{Issue, UpdateResult};
pub use fetch::{Fetched, LaunchFilter};
pub use settings::{PortalLaunch, PortalSettings};
