//! The project in force, while it may be exchanged.

use super::Project;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Holds a project that a reload exchanges whole. Whoever goes by it asks now and then whether it is still the same.
#[derive(Debug)]
pub struct CurrentProject {
    number: AtomicU64,
    project: Mutex<Arc<Project>>,
}

impl CurrentProject {
    /// This one, to begin with; its number is 0.
    pub fn new(project: impl Into<Arc<Project>>) -> Self {
        Self { number: AtomicU64::new(0), project: Mutex::new(project.into()) }
    }

    /// The number of the project in force: one more with each exchange. Costs next to nothing.
    pub fn number(&self) -> u64 {
        self.number.load(Ordering::Acquire)
    }

    /// The project in force, with its number.
    pub fn get(&self) -> (u64, Arc<Project>) {
        let project = self.project.lock().unwrap_or_else(PoisonError::into_inner);
        (self.number(), Arc::clone(&project))
    }

    /// From now on this one is in force.
    pub fn exchange(&self, project: impl Into<Arc<Project>>) {
        let mut held = self.project.lock().unwrap_or_else(PoisonError::into_inner);
        *held = project.into();
        self.number.fetch_add(1, Ordering::AcqRel);
    }
}
