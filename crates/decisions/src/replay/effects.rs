//! Replaying effects: changed effect scripts are run on their recorded inputs.

use super::base::ReplayProject;
use super::replay_report::{ChangedAnswer, ChangedEffects, Flip};
use crate::steps::damaged;
use asterisk_base::model::Hash;
use asterisk_project::Project;
use asterisk_script::ScriptFunction;
use asterisk_script::probe::Probes;
use asterisk_session::{Record, SessionError};
use asterisk_walk::{Content, Event, EventBody, FIRST, Name, Plan, assemble, recorded_params};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Compares the effects of a run's steps at nodes whose effect script has changed. Steps after a flip of their case are skipped:
/// the walk would not reach them, or not with that artifact. So are those from the first other answer on.
pub(super) fn rewritten(
    record: &Record,
    run: &str,
    base: &ReplayProject,
    (flips, answers): (&[Flip], &[ChangedAnswer]),
) -> Result<Vec<ChangedEffects>, SessionError> {
    let mut then = OriginalRun::new(record, run, base)?;
    if !then.differs(base) {
        return Ok(Vec::new());
    }
    let flipped: BTreeSet<(&str, &str)> = flips.iter().map(|flip| (flip.case.as_str(), flip.path.as_str())).collect();
    let other: BTreeSet<(&str, &str)> = answers.iter().map(|answer| (answer.case.as_str(), answer.path.as_str())).collect();
    // Cases that have diverged from their record.
    let mut off: BTreeSet<Name> = BTreeSet::new();
    let (mut found, mut failed) = (Vec::new(), None);
    record.store().each_event(run, |_, event| {
        if let EventBody::Upgraded { manifest, .. } = event.what {
            then.upgraded.insert(event.case.clone(), manifest);
        }
        if other.contains(&(event.case.as_str(), event.path.as_str())) {
            off.insert(event.case.clone());
        }
        if off.contains(&event.case) {
            return ControlFlow::Continue(());
        }
        match then.step(base, &event) {
            Ok(rewritten) => found.extend(rewritten),
            Err(error) => {
                failed = Some(error);
                return ControlFlow::Break(());
            }
        }
        // The step that flips still has its effects.
        let left = matches!(event.what, EventBody::Transition { .. } | EventBody::WalkComplete { .. });
        if left && flipped.contains(&(event.case.as_str(), event.path.as_str())) {
            off.insert(event.case);
        }
        ControlFlow::Continue(())
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    // The journal has them in order of arrival; those of a case are in order.
    let places: HashMap<String, usize> =
        record.store().case_names(run)?.into_iter().enumerate().map(|(at, (case, _))| (case, at)).collect();
    found.sort_by_key(|step: &ChangedEffects| places.get(&step.case).copied());
    Ok(found)
}

/// A run's texts and their revisions.
struct OriginalRun<'a> {
    record: &'a Record,
    run: &'a str,
    began: Hash,
    /// The manifests of cases that have upgraded since the run began.
    upgraded: HashMap<Name, Hash>,
    /// The recorded texts whose scripts or graphs have changed since, linked.
    linked: BTreeMap<Hash, Project>,
}

impl<'a> OriginalRun<'a> {
    fn new(record: &'a Record, run: &'a str, base: &ReplayProject) -> Result<Self, SessionError> {
        let (now, _) = base.project.manifest();
        let mut linked = BTreeMap::new();
        let mut began = None;
        for texts in record.texts(run)? {
            if texts.revision == FIRST {
                began = Some(texts.address);
            }
            if !texts.manifest.same_scripts(&now) {
                linked.insert(texts.address, record.project(&texts.manifest, Probes::None)?);
            }
        }
        let began = began.ok_or_else(|| damaged(format!("the texts of {run} are missing")))?;
        Ok(Self { record, run, began, upgraded: HashMap::new(), linked })
    }

    /// Whether any node has another effect script now.
    fn differs(&self, base: &ReplayProject) -> bool {
        fn other(then: &Plan, now: &Plan) -> bool {
            then.pipeline.nodes.iter().zip(&then.nodes).any(|(node, linked)| {
                let Some(now) = now.pipeline.node(&node.name).map(|node| now.node(node)) else { return false };
                let parts = linked.subpipeline.as_ref().zip(now.subpipeline.as_ref());
                is_other(linked.effect.as_ref(), now.effect.as_ref()) || parts.is_some_and(|(then, now)| other(then, now))
            })
        }
        self.linked.values().any(|then| other(&then.plan, &base.project.plan))
    }

    fn step(&self, base: &ReplayProject, event: &Event) -> Result<Option<ChangedEffects>, SessionError> {
        let EventBody::NodeExit { node, artifact, params, .. } = &event.what else { return Ok(None) };
        let address = self.upgraded.get(&event.case).unwrap_or(&self.began);
        let Some(began) = self.linked.get(address).map(|project| Arc::clone(&project.plan)) else { return Ok(None) };
        let parts = (began.of_path(&event.path), base.project.plan.of_path(&event.path));
        let (Some(then), Some(now)) = parts else { return Ok(None) };
        let (Some(at), Some(at_now)) = (then.pipeline.node(node), now.pipeline.node(node)) else { return Ok(None) };
        let (old, new) = (then.node(at).effect.as_ref(), now.node(at_now).effect.as_ref());
        if !is_other(old, new) {
            return Ok(None);
        }
        let text = |hash: &Hash| {
            let missing = || damaged(format!("the content {hash} of step {} of {} is missing", event.path, self.run));
            Ok::<_, SessionError>(self.record.store().blob(hash)?.ok_or_else(missing)?.to_string())
        };
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        let artifact = read(&text(&artifact.hash())?);
        // A step without a script does not record script inputs.
        let Some(params) = params.as_ref().map(Content::hash) else { return Ok(None) };
        let params = assemble(&text(&params)?, &mut |hash| text(hash))?;
        let run = |function: Option<&ScriptFunction>, plan: &Plan, around: &Plan, at| match function {
            None => Ok(Vec::new()),
            Some(function) => {
                let artifact = plan.artifact(at, &artifact);
                function.effects(&artifact, &recorded_params(&params, around, &event.path))
            }
        };
        let before = run(old, &then, &began, at).unwrap_or_default();
        let (after, error) = match run(new, &now, &base.project.plan, at_now) {
            Ok(after) => (after, None),
            Err(diagnostic) => (Vec::new(), Some(diagnostic.message.clone())),
        };
        let same = before == after && error.is_none();
        let (case, path, node) = (event.case.to_string(), event.path.to_string(), node.to_string());
        Ok((!same).then(|| ChangedEffects { run: self.run.to_owned(), case, path, node, before, after, error }))
    }
}

/// Whether two functions have different texts.
fn is_other(then: Option<&ScriptFunction>, now: Option<&ScriptFunction>) -> bool {
    let known = |function: &ScriptFunction| (function.key(), function.hash());
    then.map(known) != now.map(known)
}
