//! Walking the cases of a run, round by round, on several threads.

use super::needs::Reads;
use super::outcome::CaseResult;
use super::rounds::{Place, Round, phase_of, waves};
use super::{Session, SessionError, Watch, finding};
use crate::model::{Case, Kind, Launch, canonical};
use crate::project::Project;
use crate::script::View;
use crate::store::{RunJournal, StoreError};
use crate::walk::{
    Answer, CaseParams, Cluster, Commit, Content, End, Event, Failure, Journal as _, JournalError, StepPlace, WalkState, Walker,
    What,
};
use serde_json::json;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The stack of a thread that walks: deep script expressions are evaluated recursively.
const STACK: usize = 64 << 20;

/// What a walk needs of the outside.
pub(super) struct Ports<'a> {
    pub(super) answer: &'a dyn Answer,
    pub(super) needs: Reads,
    pub(super) journal: &'a RunJournal,
}

/// The walks of one run.
pub(super) struct Crew<'a> {
    pub(super) session: &'a Session,
    pub(super) project: &'a Project,
    pub(super) launch: &'a Launch,
    pub(super) run: &'a str,
    pub(super) seed: u64,
    pub(super) watch: &'a dyn Watch,
    pub(super) stop: &'a AtomicBool,
}

/// A case on its way.
struct Walking {
    case: Case,
    place: Place,
    state: Mutex<WalkState>,
    failure: Mutex<Option<Failure>>,
}

impl Crew<'_> {
    /// Takes every case as far as it goes, a phase after the other, from where the run's own events say that it stands. The
    /// results are in the order of the work, whoever did it when.
    pub(super) fn walk(
        &self,
        work: Vec<(Case, WalkState)>,
        parallel: usize,
        mut ports: Ports<'_>,
    ) -> Result<Vec<CaseResult>, SessionError> {
        let pipeline = &self.project.plan.pipeline;
        let waves = waves(work.iter().map(|(case, _)| case));
        let walking = work.into_iter().zip(waves).map(|((case, state), wave)| {
            let place = Place { wave, turn: 1, phase: phase_of(&state, pipeline) };
            Walking { case, place, state: Mutex::new(state), failure: Mutex::default() }
        });
        let mut walking: Vec<Walking> = walking.collect();
        let (mut round, mut begun) = (Round::FIRST, true);
        for (seq, event) in ports.journal.store().run_events(self.run)? {
            let What::Barrier { wave, phase, turn, clusters } = event.what else { continue };
            let clusters = clusters.map(|clusters| clusters_at(&ports, &clusters)).transpose()?.unwrap_or_default();
            take_turns(&mut walking, &clusters);
            ports.needs.advance(seq, clusters);
            round = Round { wave, phase, turn };
        }
        loop {
            if walking.iter().any(|case| case.place.walks(round, pipeline)) {
                if !begun {
                    self.begin(round, &mut walking, &mut ports)?;
                }
                self.round(round, &mut walking, parallel, &ports)?;
            }
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let Some(next) = round.next(pipeline) else { break };
            (round, begun) = (next, false);
        }
        Ok(walking.into_iter().map(|case| self.result(case)).collect())
    }

    /// The barrier before a round: what is committed so far is seen from now on.
    fn begin(&self, round: Round, walking: &mut [Walking], ports: &mut Ports<'_>) -> Result<(), SessionError> {
        let clusters =
            if round.forms_clusters(&self.project.plan.pipeline) { self.clusters(round, walking)? } else { Vec::new() };
        let content = (!clusters.is_empty()).then(|| Content::new(View::of(&json!(clusters), &Kind::Any, "clusters")));
        let Round { wave, phase, turn } = round;
        let what = What::Barrier { wave, phase, turn, clusters: content.clone() };
        let event = Event { case: "".into(), path: "".into(), at: self.session.setup().clock.now(), what };
        ports.journal.commit(Commit::of(vec![event]))?;
        let last = ports.journal.store().run_events(self.run)?.pop();
        let (seq, event) = last.ok_or_else(|| StoreError::Damaged("a barrier was not recorded".into()))?;
        self.watch.event(&event);
        take_turns(walking, &clusters);
        ports.needs.advance(seq, clusters);
        Ok(())
    }

    /// The clusters of the cases that would walk in a round. A script says what makes cases alike: those are of which it
    /// returns the same map; of which it returns an empty one is like no other.
    fn clusters(&self, round: Round, walking: &[Walking]) -> Result<Vec<Cluster>, SessionError> {
        let plan = &self.project.plan;
        let (Some(spec), Some(by)) = (&plan.pipeline.clusters, &plan.cluster) else { return Ok(Vec::new()) };
        let mut keyed = Vec::new();
        for case in walking.iter().filter(|case| case.place.walks(round, &plan.pipeline)) {
            let state = case.state.lock().unwrap_or_else(PoisonError::into_inner);
            let node = state.node.as_deref().and_then(|name| plan.pipeline.node(name)).unwrap_or(plan.pipeline.start);
            let now = state.history.last().map_or_else(Default::default, |visit| visit.at);
            let view = state.view(&plan.node(node).name, None, now, 0.0, &plan.walker);
            let place = StepPlace { run: self.run, case: &case.case.id, path: "", now };
            let params = CaseParams::new(self.launch, &case.case).for_step(plan, node, &state, &view, &place, &[]);
            let key = by.respond(&params.view, plan.vars()).map_err(|error| SessionError::Texts((*error).into()))?;
            let alike = key.as_object().is_some_and(|parts| !parts.is_empty());
            keyed.push((case.case.id.clone(), alike.then(|| canonical(&key))));
        }
        Ok(Cluster::among(keyed, spec.most))
    }

    /// Lets the cases of a round walk as far as they may.
    fn round(&self, round: Round, walking: &mut [Walking], parallel: usize, ports: &Ports<'_>) -> Result<(), SessionError> {
        let show = |event: &Event| self.watch.event(event);
        let walker = Walker {
            plan: &self.project.plan,
            answer: ports.answer,
            needs: &ports.needs,
            journal: ports.journal,
            clock: &*self.session.setup().clock,
            run: self.run,
            seed: self.seed,
            launch: self.launch,
            until: round.limit(),
            stop: self.stop,
            watch: Some(&show),
        };
        let pipeline = &self.project.plan.pipeline;
        let members: Vec<&Walking> = walking.iter().filter(|case| case.place.walks(round, pipeline)).collect();
        let next = AtomicUsize::new(0);
        let broken: Mutex<Option<JournalError>> = Mutex::new(None);
        let hand = || {
            while let Some(case) = members.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = self.one(&walker, case) {
                    self.stop.store(true, Ordering::Relaxed);
                    broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    return;
                }
            }
        };
        thread::scope(|scope| {
            let hands: Vec<_> = (0..parallel.clamp(1, members.len().max(1)))
                .filter_map(|_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, hand).ok())
                .collect();
            for hand in hands {
                if hand.join().is_err() {
                    let lost = JournalError::Failed("a walk ended in a panic, which is a bug; the run can be resumed".into());
                    broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(lost);
                }
            }
        });
        if let Some(error) = broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error.into());
        }
        for case in walking {
            case.place.phase = phase_of(case.state.get_mut().unwrap_or_else(PoisonError::into_inner), pipeline);
        }
        Ok(())
    }

    fn one(&self, walker: &Walker<'_>, case: &Walking) -> Result<(), JournalError> {
        let mut state = case.state.lock().unwrap_or_else(PoisonError::into_inner);
        match walker.walk(&case.case, &mut state)? {
            End::Waiting => return Ok(()),
            End::Failed(failure) => *case.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure),
            End::Done | End::Paused => {}
        }
        self.watch.case_over(&case.case, state.status);
        Ok(())
    }

    fn result(&self, walking: Walking) -> CaseResult {
        let Walking { case, state, failure, .. } = walking;
        let mut state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        // What waited when the run was stopped goes on with it.
        if state.status == crate::walk::Status::Running {
            state.status = crate::walk::Status::Paused;
        }
        let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (finding, trouble) = finding::of(&self.project.plan, self.launch, &case, &state, self.run);
        CaseResult { case, state, failure, case_status: None, finding, trouble }
    }
}

/// The clusters that a barrier recorded.
fn clusters_at(ports: &Ports<'_>, content: &Content) -> Result<Vec<Cluster>, SessionError> {
    let text = super::resume::text(ports.journal.store(), &content.hash())?;
    Ok(serde_json::from_str(&text).map_err(|error| StoreError::Damaged(error.to_string()))?)
}

/// Of each cluster, all but the representative wait.
fn take_turns(walking: &mut [Walking], clusters: &[Cluster]) {
    let waiting: HashSet<&str> = clusters.iter().flat_map(Cluster::members).map(String::as_str).collect();
    for case in walking.iter_mut().filter(|case| waiting.contains(case.case.id.as_str())) {
        case.place.turn = 2;
    }
}
