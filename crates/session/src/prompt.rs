//! The prompts of a run, rendered again from the recorded template and parameters.

use super::run_settings::{self, manifests};
use super::{Session, SessionError};
use asterisk_base::model::{Hash, shell};
use asterisk_diag::{Code, Diagnostics, Source, did_you_mean};
use asterisk_project::ProjectManifest;
use asterisk_prompt::{Template, Templates, Values};
use asterisk_store::{Store, StoreError};
use asterisk_walk::{Content, ContentBuilder, Event, EventBody, FIRST, TOOL, build_content};
use serde::Serialize;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prompt {
    pub run: String,
    pub case: String,
    pub node: String,
    /// The visit of the node, from 1.
    pub visit: usize,
    /// The number of answered visits of the node.
    pub visits: usize,
    /// The step's recorded path.
    pub path: String,
    /// The template, by its path below the templates.
    pub template: String,
    /// The address of the template's text.
    pub template_hash: Hash,
    /// The address of the parameters.
    pub params_hash: Hash,
    /// The kind of answerer.
    pub answered_by: String,
    /// The prompt itself.
    pub text: String,
}

/// A step that was answered.
struct AnsweredStep<'e> {
    node: &'e str,
    path: &'e str,
    by: &'e str,
    params: Option<&'e Content>,
    template: Option<Hash>,
    /// The revision of the texts it used.
    revision: u64,
}

impl Session {
    /// Renders the prompt of a step as it was when it was answered. The step is given by its recorded path, or by its node's name
    /// or code, whose last visit it is then; without one it is the last answered step of the case.
    pub fn prompt(&self, run: &str, case: &str, step: Option<&str>) -> Result<Prompt, SessionError> {
        let store = Store::read_only(&self.setup.store)?;
        let kept = KeptTemplates::of(&store, run)?;
        let events: Vec<Event> = store.events(run, case)?.into_iter().map(|(_, event)| event).collect();
        let steps: Vec<AnsweredStep<'_>> = AnsweredStep::all(&events);
        let step = choose(&steps, case, step, |node| named(&store, kept.latest(), node))?;
        let (Some(template), Some(params)) = (step.template, step.params) else {
            let what = match step.by {
                TOOL => "a tool was called",
                _ if step.template.is_none() => "the node has no template",
                _ => "its parameters were not requested",
            };
            let message = format!("step {} (`{}`) had no prompt: {what}", step.path, step.node);
            let (case, at) = (shell(case), shell(step.path));
            let how = format!("its input is shown by: asterisk explain {run} --case {case} --step {at}");
            return Err(SessionError::bad_request("input/no-prompt", message, (step.by == TOOL).then_some(how)));
        };
        let (found, text) = kept.prompt(step.revision, template, params)?;
        let visits: Vec<&AnsweredStep<'_>> = steps.iter().filter(|other| other.node == step.node).collect();
        Ok(Prompt {
            case: case.to_owned(),
            node: step.node.to_owned(),
            visit: 1 + visits.iter().position(|other| other.path == step.path).unwrap_or_default(),
            visits: visits.len(),
            path: step.path.to_owned(),
            template: found.source().name().to_owned(),
            template_hash: found.hash(),
            params_hash: params.hash(),
            answered_by: step.by.to_owned(),
            text,
            run: run.to_owned(),
        })
    }
}

/// The templates that a run used, by revision, loaded on demand, with the recorded values they are rendered with.
pub(super) struct KeptTemplates<'a> {
    store: &'a Store,
    manifests: Vec<(u64, ProjectManifest)>,
    compiled: RefCell<BTreeMap<u64, Templates>>,
    contents: RefCell<RecordedValues<'a>>,
}

/// Recorded contents as values of templates. The steps of a case share most of them, and the cases of a run some: they are read and
/// converted once.
struct RecordedValues<'a> {
    store: &'a Store,
    made: HashMap<Hash, RecordedValue>,
    /// The number of the case whose prompts are rendered.
    case: u64,
}

struct RecordedValue {
    values: Values,
    /// The last case that used it.
    case: u64,
}

impl ContentBuilder for RecordedValues<'_> {
    type Made = Values;
    type Error = SessionError;

    fn content(&mut self, hash: &Hash) -> Result<Values, SessionError> {
        if let Some(known) = self.made.get_mut(hash) {
            known.case = self.case;
            return Ok(known.values.clone());
        }
        let values = build_content(&run_settings::text(self.store, hash)?, self)?;
        self.made.insert(*hash, RecordedValue { values: values.clone(), case: self.case });
        Ok(values)
    }

    fn object(&mut self, parts: Vec<(String, Values)>) -> Values {
        Values::object(parts)
    }

    fn plain(&mut self, value: Value) -> Values {
        Values::from(&value)
    }
}

impl<'a> KeptTemplates<'a> {
    pub(super) fn of(store: &'a Store, run: &str) -> Result<Self, SessionError> {
        let contents = RefCell::new(RecordedValues { store, made: HashMap::new(), case: 0 });
        Ok(Self { store, manifests: manifests(store, run)?, compiled: RefCell::default(), contents })
    }

    /// Goes on to the next case: what the last one did not use is forgotten.
    pub(super) fn next_case(&self) {
        let mut contents = self.contents.borrow_mut();
        let case = contents.case;
        contents.made.retain(|_, value| value.case == case);
        contents.case += 1;
    }

    /// Renders a template with recorded parameters.
    pub(super) fn render(&self, template: &Template, params: &Content) -> Result<String, SessionError> {
        let params = self.contents.borrow_mut().content(&params.hash())?;
        template.render(params).map_err(|error| SessionError::Texts((*error).into()))
    }

    /// The latest texts of the run.
    fn latest(&self) -> Option<&ProjectManifest> {
        self.manifests.last().map(|(_, manifest)| manifest)
    }

    /// Renders the prompt of a step with the template it used, and returns both. If that template fails, its prompt was never
    /// sent, so the template of that name in the latest revision is tried.
    pub(super) fn prompt(&self, revision: u64, hash: Hash, params: &Content) -> Result<(Arc<Template>, String), SessionError> {
        let template = self.template(revision, hash)?;
        let made = self.render(&template, params);
        let Err(SessionError::Texts(_)) = made else { return Ok((template, made?)) };
        let newer = self.manifests.last().and_then(|(latest, manifest)| {
            let newer = manifest.templates.get(template.source().name()).filter(|newer| **newer != hash || *latest != revision);
            Some((*latest, *newer?))
        });
        let template = newer.map_or(Ok(template), |(latest, newer)| self.template(latest, newer))?;
        let text = self.render(&template, params)?;
        Ok((template, text))
    }

    /// The template of that address, in the latest revision that has it.
    pub(super) fn latest_template(&self, hash: Hash) -> Result<Arc<Template>, SessionError> {
        let has = |(_, manifest): &&(u64, ProjectManifest)| manifest.templates.values().any(|known| *known == hash);
        let revision = self.manifests.iter().rev().find(has).map_or(FIRST, |(number, _)| *number);
        self.template(revision, hash)
    }

    /// The template of that address as of a revision, with its includes.
    pub(super) fn template(&self, revision: u64, hash: Hash) -> Result<Arc<Template>, SessionError> {
        let mut compiled = self.compiled.borrow_mut();
        if let Entry::Vacant(vacant) = compiled.entry(revision) {
            let found = self.manifests.iter().find(|(number, _)| *number == revision);
            let mut sources = Vec::new();
            if let Some((_, manifest)) = found {
                for (name, hash) in &manifest.templates {
                    sources.push(Source::new(name.as_str(), run_settings::text_of(self.store, manifest, hash)?));
                }
            }
            vacant.insert(Templates::compile(sources)?);
        }
        let found = compiled.get(&revision).and_then(|templates| {
            templates.paths().find_map(|path| templates.get(path).filter(|known| known.hash() == hash).cloned())
        });
        Ok(found.ok_or_else(|| StoreError::Damaged(format!("the template {hash} is missing")))?)
    }
}

/// Resolves a node's name or code.
fn named(store: &Store, manifest: Option<&ProjectManifest>, name: &str) -> Result<String, SessionError> {
    let Some(manifest) = manifest else { return Ok(name.to_owned()) };
    let (path, hash) = &manifest.pipeline;
    let source = Source::new(path.as_str(), run_settings::text_of(store, manifest, hash)?);
    let pipeline = asterisk_pipeline::parse(&source).map_err(|problems: Diagnostics| SessionError::Texts(problems))?;
    match pipeline.resolve_target(name) {
        Some(asterisk_pipeline::EdgeTarget::Node(node)) => Ok(pipeline.at(node).name.value.clone()),
        _ => {
            let known = pipeline.nodes.iter().map(|node| node.name.as_str());
            let message = format!("no node `{name}` in the pipeline `{}`", *pipeline.name);
            Err(SessionError::bad_request(Code::InputNoNode, message, did_you_mean(name, known)))
        }
    }
}

impl<'e> AnsweredStep<'e> {
    /// The answered steps among the events of a case.
    fn all(events: &'e [Event]) -> Vec<Self> {
        let mut revision = FIRST;
        let mut step = |event: &'e Event| match &event.what {
            EventBody::Upgraded { revision: newer, .. } => {
                revision = *newer;
                None
            }
            EventBody::NodeExit { node, params, template, by, .. } => {
                Some(Self { node, path: &event.path, by, params: params.as_ref(), template: *template, revision })
            }
            _ => None,
        };
        events.iter().filter_map(&mut step).collect()
    }
}

/// Selects the requested step; `named` resolves the name or code of a node.
fn choose<'s, 'e>(
    steps: &'s [AnsweredStep<'e>],
    case: &str,
    wanted: Option<&str>,
    named: impl FnOnce(&str) -> Result<String, SessionError>,
) -> Result<&'s AnsweredStep<'e>, SessionError> {
    let missing = |what: String| {
        let answered: Vec<String> = steps.iter().map(|step| format!("{} {}", step.path, step.node)).collect();
        let answered = if answered.is_empty() {
            "no step has been answered yet".into()
        } else {
            format!("answered: {}", answered.join(", "))
        };
        SessionError::bad_request("input/no-step", format!("case `{case}` has no {what}"), Some(answered))
    };
    let Some(wanted) = wanted else {
        let last = steps.iter().rev().find(|step| step.template.is_some() && step.params.is_some());
        return last.or(steps.last()).ok_or_else(|| missing("answered step".into()));
    };
    if let Some(step) = steps.iter().find(|step| step.path == wanted) {
        return Ok(step);
    }
    if wanted.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(missing(format!("answered step `{wanted}`")));
    }
    let node = named(wanted)?;
    steps.iter().rfind(|step| step.node == node).ok_or_else(|| missing(format!("answer of `{node}`")))
}
