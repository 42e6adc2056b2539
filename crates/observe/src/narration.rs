//! A run narrated in sentences.

use super::name_table::{NameTable, words};
use super::observed::Observer;
use super::out::{ObserverOutput, flat};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Case;
use asterisk_diag::counted;
use asterisk_session::StartedRun;
use asterisk_walk::{BRANCH, Branch, BranchKind, Event, EventBody, WALK, WalkStatus, place_of};
use std::collections::{HashMap, HashSet};
use std::io;

/// The shares of finished cases that are reported, in percent.
const MILESTONES: [(usize, &str); 4] = [
    (25, "A quarter of the cases is"),
    (50, "Half of the cases are"),
    (75, "Three quarters of the cases are"),
    (100, "All cases are"),
];

/// Narrates a run.
pub(super) struct Narration<'o> {
    out: ObserverOutput<'o>,
    names: NameTable,
    cases: usize,
    /// The number of cases that were over when it began, and now.
    before: usize,
    over: usize,
    failed: usize,
    began: Timestamp,
    /// The counters of the cases in progress, and their steps.
    loops: HashMap<String, HashMap<String, u64>>,
    steps: HashMap<String, u64>,
    /// Changes of walker at the step that is about to begin.
    switched: HashMap<String, (Option<String>, String)>,
    /// The last transitions of cases that are not reported as over yet.
    last: HashMap<String, String>,
    /// The steps with branches in progress, by case and path.
    forked: HashSet<(String, String)>,
}

impl<'o> Narration<'o> {
    pub(super) fn new(out: ObserverOutput<'o>) -> Self {
        Self {
            out,
            names: NameTable::default(),
            cases: 0,
            before: 0,
            over: 0,
            failed: 0,
            began: Timestamp::default(),
            loops: HashMap::new(),
            steps: HashMap::new(),
            switched: HashMap::new(),
            last: HashMap::new(),
            forked: HashSet::new(),
        }
    }

    fn say(&mut self, text: &str) {
        self.out.line(&flat(text));
    }

    fn turn(&mut self, event: &Event) {
        let EventBody::Transition { from, to, edge, because, counter, .. } = &event.what else { return };
        let path = event.path.as_str();
        let subject = subject(event);
        let left = self.names.node(path, from);
        let why = self.names.why(path, edge, because);
        if self.names.is_done(path, to) {
            // The end of a case is reported with its status.
            if path.contains('/') {
                self.say(&format!("{subject} ends at {left} {why}"));
            } else {
                self.last.insert(event.case.to_string(), format!("{left} {why}"));
            }
            return;
        }
        let Some(counter) = counter else {
            let to = self.names.node(path, to);
            self.say(&format!("{subject} goes from {left} to {to} {why}"));
            return;
        };
        let taken = self.loops.entry(event.case.to_string()).or_default();
        // Each walk has counters of its own.
        let count = taken.entry(format!("{}{counter}", place_of(path))).or_default();
        *count += 1;
        let count = *count;
        if from == to {
            self.say(&format!("{subject} stays at {left} ({counter} {count}) {why}"));
            return;
        }
        let to = self.names.node(path, to);
        self.say(&format!("{subject} goes back from {left} to {to} ({counter} {count}) {why}"));
    }

    fn fork(&mut self, event: &Event, by: BranchKind, branches: &[Branch]) {
        let path = event.path.as_str();
        let subject = subject(event);
        if by == BranchKind::Items {
            self.forked.insert((event.case.to_string(), path.to_owned()));
            let node = branches.first().map_or_else(String::new, |branch| self.names.node(path, &branch.node));
            let many = counted(branches.len(), "branch", "branches");
            return self.say(&format!("{subject} takes {node} in {many}"));
        }
        let nodes: Vec<String> = branches.iter().map(|branch| self.names.node(path, &branch.node)).collect();
        let beside = if nodes.len() > 1 { ", in parallel" } else { "" };
        self.say(&format!("{subject} goes on to {}{beside}", nodes.join(", ")));
    }

    fn milestone(&mut self, now: Timestamp) {
        let share = |over: usize| over * 100 / self.cases.max(1);
        let (earlier, share) = (share(self.over - 1), share(self.over));
        let Some((at, words)) = MILESTONES.iter().rfind(|(at, _)| earlier < *at && *at <= share) else { return };
        // Of a few cases each is reported anyway.
        if self.cases < 4 && *at < 100 || self.cases < 2 {
            return;
        }
        let taken = now.seconds_since(self.began);
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let left = taken * (self.cases - self.over) as f64 / (self.over - self.before).max(1) as f64;
        let time = match *at {
            100 if taken > 0.0 => format!(", after {}", span(taken)),
            25..100 if left > 0.0 => format!("; about {} to go", span(left)),
            _ => String::new(),
        };
        self.say(&format!("{words} done ({} of {}{failed}){time}", self.over, self.cases));
    }
}

impl Narration<'_> {
    /// Reports which cases walk now, and how far.
    fn announce_batch(&mut self, (wave, phase, turn): (u32, u32, u32)) {
        let shown = |phases: usize| phases > 1 || wave > 1 || turn > 1;
        let Some((phases, nodes)) = self.names.phase(phase as usize).filter(|(phases, _)| shown(*phases)) else { return };
        let wave = if wave > 1 { "Similar cases follow, phase" } else { "Phase" };
        let turn = if turn > 1 { ", for cases that waited for a similar one" } else { "" };
        self.say(&format!("{wave} {phase} of {phases}: {nodes}{turn}"));
    }
}

impl Observer for Narration<'_> {
    fn began(&mut self, begun: &StartedRun<'_>, now: Timestamp) {
        self.names.began(begun);
        (self.cases, self.before, self.over, self.began) = (begun.cases, begun.over, begun.over, now);
        let many = counted(begun.cases, "case goes", "cases go");
        let before = if begun.over > 0 { format!("; {} are already complete", begun.over) } else { String::new() };
        let title = &begun.plan.pipeline.name.value;
        self.say(&format!("Run {}: {many} through {title}{before}", begun.run));
        self.announce_batch(begun.stands);
    }

    fn event(&mut self, event: &Event, _: Timestamp) {
        let path = event.path.as_str();
        match &event.what {
            EventBody::NodeEnter { node } => {
                if !path.contains('/') {
                    *self.steps.entry(event.case.to_string()).or_default() += 1;
                }
                let switched = self.switched.remove(&*event.case);
                if path == "1" {
                    let name = self.names.case(&event.case).map_or(String::new(), |name| format!(", {name},"));
                    let node = self.names.node(path, node);
                    self.say(&format!("Case {}{name} begins at {node}", event.case));
                }
                if let Some((from, to)) = switched {
                    let (node, subject) = (self.names.node(path, node), lower(&subject(event)));
                    match from {
                        Some(from) => self.say(&format!("{from} hands over to {to} at {node}, {subject}")),
                        None => self.say(&format!("{to} walks {subject}, from {node} on")),
                    }
                }
            }
            EventBody::WalkerSwitch { from, to, .. } => {
                self.switched.insert(event.case.to_string(), (from.as_deref().map(str::to_owned), to.to_string()));
            }
            EventBody::SubWalk { node, pipeline } => {
                let (node, walk) = (self.names.node(path, node), words(pipeline));
                self.say(&format!("{walk} begins on case {} at {node}", event.case));
            }
            EventBody::Fork { by, branches, .. } => self.fork(event, *by, branches),
            EventBody::Join { to } => {
                let to = to.as_ref().filter(|to| !self.names.is_done(path, to));
                let to = to.map_or(String::new(), |to| format!(" at {}", self.names.node(path, to)));
                self.say(&format!("{} joins its branches{to}", subject(event)));
            }
            EventBody::BranchError { node, kind, message, .. } => {
                let (subject, node) = (subject(event), self.names.node(path, node));
                self.say(&format!("{subject} loses a branch at {node}, {kind}: {message}"));
            }
            EventBody::NodeExit { node, by, .. }
                if by == WALK && self.forked.remove(&(event.case.to_string(), path.to_owned())) =>
            {
                let (subject, node) = (subject(event), self.names.node(path, node));
                self.say(&format!("{subject} has merged the branches at {node}"));
            }
            EventBody::NodeExit { node, by, .. } if by == WALK => {
                let walk = words(&self.names.pipeline(&format!("{path}/{node}/")));
                let node = self.names.node(path, node);
                self.say(&format!("{walk} ends on case {}: {node} is answered", event.case));
            }
            EventBody::Transition { .. } => self.turn(event),
            EventBody::ThermalWarning { spent_ms, ceiling_ms, .. } => {
                let ceiling = ceiling_ms.map_or(String::new(), |ceiling| format!(" of {}", span(seconds(ceiling))));
                self.say(&format!("The answers of case {} took {}{ceiling} so far", event.case, span(seconds(*spent_ms))));
            }
            EventBody::WalkError { node, kind, message } => {
                let (subject, node) = (subject(event), self.names.node(path, node));
                self.say(&format!("{subject} fails at {node}, {kind}: {message}"));
            }
            EventBody::Barrier { wave, phase, turn, .. } => self.announce_batch((*wave, *phase, *turn)),
            EventBody::Reload { revision, changed, .. } => {
                let texts = changed.iter().map(|change| change.what.as_str()).collect::<Vec<_>>().join(", ");
                self.say(&format!("The sources were reloaded ({texts}): revision {revision} is now current"));
            }
            _ => {}
        }
    }

    fn case_over(&mut self, case: &Case, status: WalkStatus, now: Timestamp) {
        let steps = self.steps.remove(&case.id).unwrap_or(0);
        self.loops.remove(&case.id);
        let last = self.last.remove(&case.id);
        let steps = counted(steps, "step", "steps");
        match status {
            WalkStatus::Done => {
                let last = last.map_or(String::new(), |last| format!(", at {last}"));
                self.say(&format!("Case {} is done after {steps}{last}", case.id));
            }
            WalkStatus::Error => self.failed += 1,
            WalkStatus::Running | WalkStatus::Paused => {
                self.say(&format!("Case {} stops here, and can be resumed", case.id));
                return;
            }
        }
        self.over += 1;
        self.milestone(now);
    }

    fn end(&mut self, _: Timestamp) -> io::Result<()> {
        self.out.end()
    }
}

/// The same within a sentence.
fn lower(subject: &str) -> String {
    subject.replacen('C', "c", 1)
}

/// `Case 4`, or in a sub-pipeline `Case 4 (in Court)`.
fn subject(event: &Event) -> String {
    match event.path.rsplit_once('/') {
        Some((place, _)) => {
            let place = place.rsplit('/').next().unwrap_or(place);
            let branch = place.strip_prefix(BRANCH).map(|number| format!("branch {}", number.trim_end_matches(']')));
            format!("Case {} (in {})", event.case, branch.unwrap_or_else(|| words(place)))
        }
        None => format!("Case {}", event.case),
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn seconds(millis: u64) -> f64 {
    millis as f64 / 1000.0
}

/// Formats a duration in seconds.
fn span(seconds: f64) -> String {
    if seconds < 10.0 {
        format!("{seconds:.1} s")
    } else if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else if seconds < 7200.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        format!("{:.0} h", seconds / 3600.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_use_a_fitting_unit() {
        let shown: Vec<String> = [0.04, 9.0, 59.6, 125.0, 7300.0].map(span).into();
        assert_eq!(shown, ["0.0 s", "9.0 s", "60 s", "2 min", "2 h"]);
    }
}
