//! Branches in the state of a walk: forking, joining, and what they leave behind.

use super::branch::{Branch, BranchKind, BranchOrigin, ITEM};
use super::name::Name;
use super::path::BRANCH;
use super::state::{WalkState, WalkStatus};
use super::views::{context_view, loops_view};
use super::visit::Visit;
use asterisk_base::clock::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

impl WalkState {
    /// The inner walk that a path belongs to.
    pub(super) fn inner_of(&mut self, path: &str) -> Option<&mut Self> {
        let at = match self.inner.as_slice() {
            [] => return None,
            [_] => 0,
            _ => {
                let (number, name) = path.strip_prefix(self.place.as_str())?.split_once('/')?;
                let _number: u64 = number.parse().ok()?;
                name.strip_prefix(BRANCH)?.split_once(']')?.0.parse::<usize>().ok()?.checked_sub(1)?
            }
        };
        self.inner.get_mut(at).filter(|inner| path.starts_with(inner.place.as_str()))
    }

    /// Forks branches at the next step. Each inherits the state of the walk.
    pub(super) fn fork(&mut self, by: BranchKind, branches: &[Branch], at: Timestamp) {
        let path = self.next_path();
        // Branches that take the same node take consecutive visits of it.
        let mut taken: BTreeMap<&Name, usize> = BTreeMap::new();
        let advice = std::mem::take(&mut self.advice);
        let mut inner = Vec::with_capacity(branches.len());
        for (index, branch) in branches.iter().enumerate() {
            let mut walk = self.clone();
            walk.place = compact_str::format_compact!("{path}/{BRANCH}{}]/", index + 1);
            walk.node = Some(branch.node.clone());
            (walk.status, walk.error, walk.steps, walk.ticks) = (WalkStatus::Running, None, 0, 0);
            (walk.spent_ms, walk.answers) = (0, 0);
            walk.path.clear();
            walk.open_requests.clear();
            walk.attempts.clear();
            walk.answered = None;
            let before = taken.entry(&branch.node).or_default();
            walk.offset = self.offset + *before;
            *before += 1;
            walk.origin = Some(Box::new(BranchOrigin::new(by, branch.sequence)));
            if let (Some(edge), Some(from)) = (&branch.edge, self.path.last()) {
                let because = branch.because.clone().unwrap_or_default();
                let advisories = if index == 0 { advice.clone() } else { Vec::new() };
                walk.visited(Visit { node: from.clone(), edge: edge.clone(), because, advisories, at });
            }
            if let Some(counter) = &branch.counter {
                *walk.loops.entry(counter.to_string()).or_default() += 1;
                walk.views.loops = loops_view(&walk.loops);
            }
            let item = branch.item.iter().map(|item| (ITEM.to_owned(), item.clone()));
            let added = branch.context.iter().map(|(key, value)| (key.clone(), value.clone()));
            walk.context.extend(added.clone().chain(item));
            if let Some(origin) = &mut walk.origin {
                origin.added.extend(added);
            }
            walk.views.context = context_view(&walk.context);
            inner.push(walk);
        }
        self.inner = inner;
    }

    fn visited(&mut self, visit: Visit) {
        self.views.history = self.views.history.with(visit.view());
        self.history.push(visit);
    }

    /// Joins branches: merges their artifacts, counters and context, in order.
    pub(super) fn join(&mut self, to: Option<&Name>) {
        let (history, loops, handoffs, prior) = (self.history.len(), self.loops.clone(), self.handoffs, self.prior.clone());
        let branches = std::mem::take(&mut self.inner);
        self.keep_results(&branches);
        for branch in branches {
            for (name, artifact) in &branch.prior {
                if prior.get(name) != Some(artifact) {
                    self.prior.insert(name.clone(), artifact.clone());
                }
            }
            let entries = branch.passed.into_iter().filter(|(name, _)| !self.passed.contains_key(name));
            self.passed.extend(entries.collect::<Vec<_>>());
            self.failed.extend(branch.failed);
            for (counter, count) in &branch.loops {
                let more = count - loops.get(counter).copied().unwrap_or(0);
                *self.loops.entry(counter.clone()).or_default() += more;
            }
            self.loops.retain(|_, count| *count != 0);
            self.started_at = self.started_at.or(branch.started_at);
            self.handoffs += branch.handoffs - handoffs;
            self.walker = branch.walker;
            self.confidence = branch.confidence;
            self.path.extend(branch.path);
            self.context.extend(branch.origin.map(|origin| origin.added).unwrap_or_default());
            for visit in branch.history.into_iter().skip(history) {
                self.visited(visit);
            }
        }
        self.views.loops = loops_view(&self.loops);
        self.views.context = context_view(&self.context);
        self.steps += 1;
        self.node = to.cloned();
        if let (Some(origin), Some(to)) = (&mut self.origin, to) {
            origin.leads(to, &serde_json::Map::new());
            self.status = WalkStatus::Done;
        }
    }

    /// Merges what the branches of a `foreach` node leave behind. Returns how many visits to count for the node itself: those of
    /// the branches are counted.
    pub(super) fn merge_items(&mut self, branches: &[Self]) -> usize {
        self.keep_results(branches);
        0
    }

    /// Keeps the visits and bindings of branches.
    fn keep_results(&mut self, branches: &[Self]) {
        let (base, bindings) = (self.offset, self.bindings.clone());
        let mut seen: BTreeSet<Name> = BTreeSet::new();
        for branch in branches {
            for (name, visits) in &branch.visits {
                let before = self.visits.get(name).copied().unwrap_or(0);
                if seen.contains(name) || *visits > before {
                    seen.insert(name.clone());
                    let visits = (*visits + branch.offset - base).max(before);
                    self.visits.insert(name.clone(), visits);
                }
            }
            let bound = branch.bindings.iter().filter(|(name, id)| bindings.get(*name) != Some(*id));
            self.bindings.extend(bound.map(|(name, id)| (name.clone(), *id)));
        }
    }
}
