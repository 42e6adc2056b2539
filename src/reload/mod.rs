//! Hot reload: when texts are edited, a new project is linked aside; only one that links is put into force, whole. Otherwise the
//! last good one stays, and what is wrong is told.

mod follow;

pub use follow::{LoadProject, ReloadFollower, ReloadListener};
