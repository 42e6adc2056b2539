//! Walking the cases of a run on several threads.

use super::outcome::CaseResult;
use super::{Session, SessionError, Watch, finding};
use crate::model::{Case, Launch};
use crate::project::Project;
use crate::walk::{Answer, End, Event, Journal, JournalError, Needs, WalkState, Walker};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The stack of a thread that walks: deep script expressions are evaluated recursively.
const STACK: usize = 64 << 20;

/// What a walk needs of the outside.
pub(super) struct Ports<'a> {
    pub(super) answer: &'a dyn Answer,
    pub(super) needs: &'a dyn Needs,
    pub(super) journal: &'a dyn Journal,
}

/// The walks of one run.
pub(super) struct Crew<'a> {
    pub(super) session: &'a Session,
    pub(super) project: &'a Project,
    pub(super) launch: &'a Launch,
    pub(super) run: &'a str,
    pub(super) seed: u64,
}

impl Crew<'_> {
    /// Takes every case as far as it goes. The results are in the order of the work, whoever did it when.
    pub(super) fn walk(
        &self,
        work: &[(Case, WalkState)],
        parallel: usize,
        ports: &Ports<'_>,
        watch: &dyn Watch,
        stop: &AtomicBool,
    ) -> Result<Vec<CaseResult>, SessionError> {
        let show = |event: &Event| watch.event(event);
        let walker = Walker {
            plan: &self.project.plan,
            answer: ports.answer,
            needs: ports.needs,
            journal: ports.journal,
            clock: &*self.session.setup().clock,
            run: self.run,
            seed: self.seed,
            launch: self.launch,
            stop,
            watch: Some(&show),
        };
        let next = AtomicUsize::new(0);
        let broken: Mutex<Option<JournalError>> = Mutex::new(None);
        let hand = || {
            let mut mine: Vec<(usize, CaseResult)> = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some((case, state)) = work.get(index) else { return mine };
                match self.one(&walker, case, state.clone()) {
                    Ok(result) => {
                        watch.case_over(case, result.state.status);
                        mine.push((index, result));
                    }
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        return mine;
                    }
                }
            }
        };
        let mut results: Vec<(usize, CaseResult)> = thread::scope(|scope| {
            let hands: Vec<_> = (0..parallel.clamp(1, work.len().max(1)))
                .filter_map(|_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, hand).ok())
                .collect();
            let mut results = Vec::with_capacity(work.len());
            for hand in hands {
                match hand.join() {
                    Ok(mine) => results.extend(mine),
                    Err(_) => {
                        let lost = JournalError::Failed("a walk ended in a panic, which is a bug; the run can be resumed".into());
                        broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(lost);
                    }
                }
            }
            results
        });
        if let Some(error) = broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error.into());
        }
        results.sort_by_key(|(index, _)| *index);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }

    fn one(&self, walker: &Walker<'_>, case: &Case, mut state: WalkState) -> Result<CaseResult, JournalError> {
        let end = walker.walk(case, &mut state)?;
        let failure = match end {
            End::Failed(failure) => Some(failure),
            End::Done | End::Paused => None,
        };
        let (finding, trouble) = finding::of(&self.project.plan, self.launch, case, &state, self.run);
        Ok(CaseResult { case: case.clone(), state, failure, case_status: None, finding, trouble })
    }
}
