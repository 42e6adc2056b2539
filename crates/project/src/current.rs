//! The current project, which a reload may exchange.

use super::Project;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Holds a project that a reload exchanges as a whole. Users poll its number for changes.
#[derive(Debug)]
pub struct CurrentProject {
    number: AtomicU64,
    project: Mutex<Arc<Project>>,
}

impl CurrentProject {
    /// Starts with a project; its number is 0.
    pub fn new(project: impl Into<Arc<Project>>) -> Self {
        Self { number: AtomicU64::new(0), project: Mutex::new(project.into()) }
    }

    /// The number of the current project, incremented by each exchange. Cheap.
    pub fn number(&self) -> u64 {
        self.number.load(Ordering::Acquire)
    }

    /// The current project, with its number.
    pub fn get(&self) -> (u64, Arc<Project>) {
        let project = self.project.lock().unwrap_or_else(PoisonError::into_inner);
        (self.number(), Arc::clone(&project))
    }

    /// Replaces the current project.
    pub fn exchange(&self, project: impl Into<Arc<Project>>) {
        let mut held = self.project.lock().unwrap_or_else(PoisonError::into_inner);
        *held = project.into();
        self.number.fetch_add(1, Ordering::AcqRel);
    }
}
