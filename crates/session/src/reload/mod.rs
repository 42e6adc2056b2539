//! Hot reload: edited texts are linked aside, and only a project that links replaces the current one, as a whole. Otherwise the last good
//! project stays in use, and the error is reported.

mod follow;

pub use follow::{LoadProject, ReloadFollower, ReloadListener};
