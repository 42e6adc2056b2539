//! The store as a whole: its figures, its format, copying it and handing its runs in to another one.

use super::{Session, SessionError};
use asterisk_store::{
    CopiedStore, DeadJob, Durability, Store, StoreFigures, StoreLocation, StoreRole, SyncedStore, WorkerRow, WorkerState,
};

impl Session {
    /// What the store holds.
    pub fn store_figures(&self) -> Result<StoreFigures, SessionError> {
        Ok(Store::read_only(&self.setup.store)?.figures()?)
    }

    /// Brings the store up to the newest format, or creates it; returns its format before, if there was one, and now.
    pub fn migrate_store(&self) -> Result<(Option<i64>, i64), SessionError> {
        Ok(Store::migrate(&self.setup.store)?)
    }

    /// Copies everything in the store into an empty one, and verifies the copy.
    pub fn copy_store(&self, to: &StoreLocation) -> Result<CopiedStore, SessionError> {
        let from = Store::read_only(&self.setup.store)?;
        Ok(from.copy_to(&Store::open(to, Durability::Step)?)?)
    }

    /// Hands the finished runs in to another store, unless it has them.
    pub fn sync_store(&self, to: &StoreLocation) -> Result<SyncedStore, SessionError> {
        let from = Store::read_only(&self.setup.store)?;
        Ok(from.sync_to(&Store::open(to, Durability::Batch)?)?)
    }

    /// The workers, and the jobs that failed too often.
    pub fn workers(&self) -> Result<(Vec<WorkerRow>, Vec<DeadJob>), SessionError> {
        let Some(store) = self.reader()? else { return Ok((Vec::new(), Vec::new())) };
        Ok((store.workers()?, store.dead_jobs()?))
    }

    /// Sets the requested state of a worker, or of all of them; returns the number of workers.
    pub fn set_worker_state(&self, worker: Option<&str>, state: WorkerState) -> Result<usize, SessionError> {
        Ok(self.store(Durability::Step)?.set_worker_state(worker, state)?)
    }

    /// Gives jobs that failed too often to workers again, those of a run or all; returns how many.
    pub fn retry_jobs(&self, run: Option<&str>) -> Result<usize, SessionError> {
        let store = self.store(Durability::Step)?;
        let run = run.map(|run| super::recorded::named(&store, run)).transpose()?;
        Ok(store.retry_jobs(run.as_deref())?)
    }

    /// Lets a role of the server use the store.
    pub fn grant_store(&self, role: &str, to: StoreRole) -> Result<(), SessionError> {
        Ok(Store::grant(&self.setup.store, role, to)?)
    }
}
