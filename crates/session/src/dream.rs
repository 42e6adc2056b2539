//! `asterisk goal dream`: all memories consolidated, and what is distilled worded by an agent.

use super::memories::{PIPELINE, changes, consolidate};
use super::{Files, RunInputs, RunSettings, RunSpec, Session, SessionError, Via};
use asterisk_base::model::{Case, Launch};
use asterisk_project::AnswererNames;
use asterisk_store::{DistilledMegram, Durability};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The pipeline whose `distil` node words what is distilled.
const WORDING: &str = "dream";
const DISTIL: &str = "distil";
/// The maximum length of a worded memory, in characters. Longer ones are cut: planners read them all.
const MAX_CONTENT: usize = 400;

/// What a dream did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DreamResult {
    /// The memories looked at.
    pub seen: usize,
    pub deleted: usize,
    pub changed: usize,
    pub distilled: usize,
    /// The run in which the distilled memories were worded; none if the scripts' texts were taken.
    pub run: Option<String>,
    /// Why distilled memories kept the scripts' texts, by memory.
    pub unworded: Vec<(String, String)>,
}

/// Who words distilled memories.
#[derive(Debug)]
pub struct DreamWording<'a> {
    pub via: &'a Via,
    /// The token budget.
    pub budget: Option<u64>,
}

impl Session {
    /// Consolidates all memories. A second dream finds nothing to do. With `wording`, distilled memories are worded in a run of the `dream`
    /// pipeline, before anything is changed; those that are not worded there keep the scripts' texts. An interrupted dream changes nothing.
    pub fn dream(&self, wording: Option<&DreamWording<'_>>) -> Result<DreamResult, SessionError> {
        let now = self.setup.clock.now();
        let store = self.store(Durability::Step)?;
        let project = self.whole_project(Some(PIPELINE), AnswererNames::Others)?;
        let memories = store.megrams(None, usize::MAX, now)?;
        let mut result = DreamResult { seen: memories.len(), ..DreamResult::default() };
        let sources: BTreeMap<i64, String> = match wording {
            Some(_) => memories.iter().map(|memory| (memory.id, memory.content.clone())).collect(),
            None => BTreeMap::new(),
        };
        let mut changes = changes(&project, memories, now)?;
        if let Some(wording) = wording
            && !changes.add.is_empty()
        {
            self.word(wording, &mut changes.add, &sources, &mut result)?;
        }
        (result.deleted, result.changed, result.distilled) = (changes.delete.len(), changes.update.len(), changes.add.len());
        consolidate(&store, &changes, now)?;
        Ok(result)
    }

    /// Has distilled memories worded, one case each.
    fn word(
        &self,
        wording: &DreamWording<'_>,
        distilled: &mut [DistilledMegram],
        sources: &BTreeMap<i64, String>,
        result: &mut DreamResult,
    ) -> Result<(), SessionError> {
        let cases = distilled.iter().enumerate().map(|(at, memory)| {
            let of = memory.sources.iter().filter_map(|id| sources.get(id)).filter(|text| !text.is_empty());
            Case {
                id: (at + 1).to_string(),
                status: "OPEN".into(),
                name: format!("{} with {}", memory.space, memory.entity),
                error_message: memory.content.clone(),
                log_snippet: of.map(|text| format!("- {text}")).collect::<Vec<_>>().join("\n").into(),
                ..Case::default()
            }
        });
        let launch = Launch { run_id: WORDING.into(), name: WORDING.into(), cases: cases.collect(), ..Launch::default() };
        let spec = RunSpec {
            settings: RunSettings {
                pipeline: Some(WORDING.into()),
                via: wording.via.clone(),
                files: Files::Auto,
                budget: wording.budget,
                no_recall: true,
                ..RunSettings::default()
            },
            durability: Durability::Step,
            ..RunSpec::of(RunInputs::Given(Arc::new(launch)))
        };
        let run = self.run(&spec, &(), &AtomicBool::new(false))?;
        let mut memories = distilled.iter_mut();
        run.each(|case| {
            let Some(memory) = memories.next() else { return Ok(()) };
            let answer = case.state.prior.get(DISTIL).and_then(|artifact| Some(artifact.view()?.json()));
            let content = answer.as_ref().and_then(|answer| answer["content"].as_str()).unwrap_or_default().trim();
            if content.is_empty() {
                let why = case.error().map_or_else(|| "the answer was empty".to_owned(), |error| error.message);
                result.unworded.push((format!("{} with {}", memory.space, memory.entity), why));
            } else {
                memory.content = content.chars().take(MAX_CONTENT).collect();
            }
            Ok(())
        })?;
        result.run = Some(run.run);
        Ok(())
    }
}
