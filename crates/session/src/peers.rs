//! The query `peers`: an index of the launch by what its failures say.

use super::worker_pool::WorkerPool;
use asterisk_base::model::{Case, Hash, Launch};
use asterisk_evidence::{EvidenceReader, FailureTexts, PeerIndex, PeerIndexBuilder};
use asterisk_store::{Store, StoreError};
use asterisk_walk::{Plan, QuerySubject, ReadEvidence};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of revisions of the data whose indexes are kept: cases take a new one between two of their steps.
const REVISIONS: usize = 2;

/// The indexes of a run's launch, by the data that its failures were read by. A new run makes the first one while it has the launch in
/// memory; any other is made of the store, when the first case asks.
pub(super) struct LaunchPeers {
    store: Store,
    run: String,
    indexes: Mutex<Vec<(Hash, Arc<PeerIndex>)>>,
}

impl LaunchPeers {
    pub(super) fn new(store: &Store, run: &str) -> Self {
        Self { store: store.clone(), run: run.to_owned(), indexes: Mutex::default() }
    }

    /// Reads every failure of a whole launch, concurrently; `keep` is given each with its evidence, in order.
    pub(super) fn read(&self, launch: &Launch, plan: &Plan, pool: &WorkerPool, mut keep: impl FnMut(&Case, ReadEvidence)) {
        let mut index = PeerIndexBuilder::default();
        let read = |case: &Case| Ok::<_, Infallible>(ReadEvidence::read(case, plan));
        let mut cases = launch.cases.iter();
        let take = |evidence: ReadEvidence| {
            if let Some(case) = cases.next() {
                index.add(&case.id, evidence.keys());
                keep(case, evidence);
            }
            Ok(())
        };
        let Ok(()) = pool.in_order(&launch.cases, read, take);
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        indexes.push((*plan.evidence.address(), Arc::new(index.finish())));
    }

    /// Answers the query; a case without evidence has nothing in common with others.
    pub(super) fn answer(&self, about: &QuerySubject<'_>) -> Result<Value, String> {
        let Some(evidence) = about.evidence else { return Ok(json!([])) };
        let index = self.index(evidence.reader).map_err(|error| error.to_string())?;
        Ok(json!(index.peers(&about.case.id, evidence.keys)))
    }

    /// The index by that data. Locked while it is made, so that it is made once.
    fn index(&self, reader: &EvidenceReader) -> Result<Arc<PeerIndex>, StoreError> {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, index)) = indexes.iter().find(|(address, _)| address == reader.address()) {
            return Ok(Arc::clone(index));
        }
        let mut index = PeerIndexBuilder::default();
        self.store.launch(&self.run, |_, case| {
            let log = case.log_snippet.text_or_error();
            index.add(&case.id, &reader.peer_keys(&case, &reader.read(FailureTexts::of(&case, &log))));
            None
        })?;
        let index = Arc::new(index.finish());
        if indexes.len() == REVISIONS {
            indexes.remove(0);
        }
        indexes.push((*reader.address(), Arc::clone(&index)));
        Ok(index)
    }
}
