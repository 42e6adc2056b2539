//! Replaying branches: of parallel edges, and of `foreach` nodes.

use super::recorded_walk::{RecordedStep, RecordedWalk, event};
use super::replay_walk::{ArtifactSource, ReplayOutcome, ReplayWalk, ReplayedDecision, failed};
use super::reuse_check::KnowledgeMatch;
use asterisk_pipeline::NodeIx;
use asterisk_session::SessionError;
use asterisk_walk::{BranchKind, EventBody, TeamMember, WalkState, WalkStatus, joined};

impl ReplayWalk<'_> {
    /// Replays branches of parallel edges up to their join. Returns whether the walk continues from there. `recorded_walk` is the record,
    /// as long as the walk follows it.
    pub(super) fn replay_parallel(
        &self,
        recorded_walk: Option<&RecordedWalk>,
        state: &mut WalkState,
        artifact: &mut ArtifactSource<'_>,
        (done, exact): (&mut ReplayOutcome, &mut KnowledgeMatch),
    ) -> Result<bool, SessionError> {
        for at in 0..state.inner.len() {
            let branch = state.inner[at].clone();
            let Some(within) = recorded_walk.and_then(|recorded_walk| recorded_walk.of_place(&branch.place)) else {
                done.unknown = Some((branch.node.clone().unwrap_or_default(), branch.next_path()));
                return Ok(false);
            };
            let (ended, _) = self.walk(&within, branch, artifact, done, exact)?;
            if ended.status != WalkStatus::Done {
                state.status = ended.status;
                return Ok(false);
            }
            state.inner[at] = ended;
        }
        let at = state.history.last().map(|visit| visit.at).unwrap_or_default();
        match joined(&state.inner) {
            Ok(to) => {
                let over = to.as_ref().is_none_or(|to| *to == self.plan.done);
                state.apply(&event(at, EventBody::Join { to }));
                if over {
                    state.status = WalkStatus::Done;
                }
                Ok(true)
            }
            Err(failure) => {
                let (node, path) = (state.path.last().cloned().unwrap_or_default(), state.next_path());
                done.decisions.push(ReplayedDecision {
                    node,
                    path,
                    place: None,
                    before: None,
                    now: failed(&failure),
                    seen: None,
                });
                state.status = WalkStatus::Error;
                Ok(false)
            }
        }
    }

    /// Replays the branches of a `foreach` node. Returns whether their artifacts are those that were merged: if not, the merged
    /// artifact is unknown.
    pub(super) fn replay_items(
        &self,
        (recorded_walk, step, node): (&RecordedWalk, &RecordedStep, NodeIx),
        state: &WalkState,
        member: &TeamMember,
        artifact: &mut ArtifactSource<'_>,
        done: &mut ReplayOutcome,
    ) -> Result<bool, SessionError> {
        let (Some(fork), Some(part), Some(same)) =
            (&step.fork, self.plan.node(node).subpipeline.as_deref(), self.same.subpipeline(node))
        else {
            return Ok(true);
        };
        if !matches!(fork, EventBody::Fork { by: BranchKind::Items, .. }) || part.pipeline.waves() {
            return Ok(true);
        }
        let name = &self.plan.node(node).name;
        let mut forked = state.clone();
        forked.apply(&event(step.at, fork.clone()));
        for branch in &forked.inner {
            let inner = branch.within(name, &branch.next_path());
            let Some(within) = recorded_walk.of_place(&inner.place) else { continue };
            let answers = self.answers.and_then(|maker| maker.subpipeline(node));
            let again = ReplayWalk { plan: part, same, reuse: None, answers, inherited: Some(member), ..*self };
            let mut exact = KnowledgeMatch { state_matches: false, reasons: false };
            let (_, found) = again.walk(&within, inner, artifact, done, &mut exact)?;
            let recorded = recorded_walk.of_branch(&branch.place);
            if done.unknown.is_some() {
                return Ok(false);
            }
            if recorded.is_some() && found.map(|found| found.hash()) != recorded {
                done.unknown = Some((name.clone(), state.next_path()));
                return Ok(false);
            }
        }
        Ok(true)
    }
}
