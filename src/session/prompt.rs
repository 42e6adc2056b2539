//! The prompts of a run, rendered again from the recorded template and parameters.

use super::run_settings::{self, manifests};
use super::{Session, SessionError, case_named};
use crate::diag::{Code, Diagnostics, Source, did_you_mean};
use crate::model::{Hash, shell};
use crate::project::ProjectManifest;
use crate::prompt::{Template, Templates, Values};
use crate::store::{Store, StoreError};
use crate::walk::{Content, ContentBuilder, Event, EventBody, FIRST, TOOL, build_content};
use serde::Serialize;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Selects a prompt.
#[derive(Clone, Debug, Default)]
pub struct PromptQuery {
    /// The run; the latest if `None`.
    pub run: Option<String>,
    pub case: String,
    /// The node, by name or code; that of the last answered step if `None`.
    pub node: Option<String>,
    /// The visit of the node, from 1; the last if `None`.
    pub visit: Option<usize>,
    /// The step, by its recorded path; overrides node and visit.
    pub path: Option<String>,
}

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
    /// Renders the prompt of a step of a run as it was when it was answered.
    pub fn prompt(&self, query: &PromptQuery) -> Result<Prompt, SessionError> {
        let run = match &query.run {
            Some(run) => run.clone(),
            None => self.runs()?.into_iter().next().map(|row| row.run).ok_or_else(|| {
                SessionError::bad_request("input/no-run", "there is no run yet", Some("make one with: asterisk run".into()))
            })?,
        };
        let store = Store::read_only(&self.setup.store)?;
        let kept = KeptTemplates::of(&store, &run)?;
        let cases = store.cases(&run)?;
        let ids: Vec<&str> = cases.iter().map(|case| case.case.id.as_str()).collect();
        let query = &PromptQuery { case: case_named(&format!("the run {run}"), &ids, &query.case)?, ..query.clone() };
        let events: Vec<Event> = store.events(&run, &query.case)?.into_iter().map(|(_, event)| event).collect();
        let steps: Vec<AnsweredStep<'_>> = AnsweredStep::all(&events);
        let node = query.node.as_deref().map(|node| named(&store, kept.latest(), node)).transpose()?;
        let step = choose(&steps, query, node.as_deref())?;
        let (Some(template), Some(params)) = (step.template, step.params) else {
            let what = match step.by {
                TOOL => "a tool was called",
                _ if step.template.is_none() => "the node has no template",
                _ => "nobody asked for its parameters",
            };
            let message = format!("step {} (`{}`) had no prompt: {what}", step.path, step.node);
            let (case, at) = (shell(&query.case), shell(step.path));
            let how = format!("what it was given is shown by: asterisk explain {run} --case {case} --step {at}");
            return Err(SessionError::bad_request("input/no-prompt", message, (step.by == TOOL).then_some(how)));
        };
        let (found, text) = kept.prompt(step.revision, template, params)?;
        let visits: Vec<&AnsweredStep<'_>> = steps.iter().filter(|other| other.node == step.node).collect();
        Ok(Prompt {
            case: query.case.clone(),
            node: step.node.to_owned(),
            visit: 1 + visits.iter().position(|other| other.path == step.path).unwrap_or_default(),
            visits: visits.len(),
            path: step.path.to_owned(),
            template: found.source().name().to_owned(),
            template_hash: found.hash(),
            params_hash: params.hash(),
            answered_by: step.by.to_owned(),
            text,
            run,
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
    let pipeline = crate::pipeline::parse(&source).map_err(|problems: Diagnostics| SessionError::Texts(problems))?;
    match pipeline.resolve_target(name) {
        Some(crate::pipeline::EdgeTarget::Node(node)) => Ok(pipeline.at(node).name.value.clone()),
        _ => {
            let known = pipeline.nodes.iter().map(|node| node.name.as_str());
            let message = format!("the pipeline `{}` has no node `{name}`", *pipeline.name);
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

/// Selects the requested step.
fn choose<'s, 'e>(
    steps: &'s [AnsweredStep<'e>],
    query: &PromptQuery,
    node: Option<&str>,
) -> Result<&'s AnsweredStep<'e>, SessionError> {
    let missing = |what: String| {
        let mut nodes: Vec<String> = Vec::new();
        for step in steps {
            let visits = steps.iter().filter(|other| other.node == step.node).count();
            let list = format!("{} ({visits})", step.node);
            if !nodes.contains(&list) {
                nodes.push(list);
            }
        }
        let answered =
            if nodes.is_empty() { "nothing was answered yet".into() } else { format!("answered: {}", nodes.join(", ")) };
        SessionError::bad_request("input/no-visit", format!("case `{}` has no {what}", query.case), Some(answered))
    };
    if let Some(path) = &query.path {
        return steps.iter().find(|step| step.path == path).ok_or_else(|| missing(format!("answered step `{path}`")));
    }
    let Some(node) = node else {
        let last = steps.iter().rev().find(|step| step.template.is_some() && step.params.is_some());
        return last.or(steps.last()).ok_or_else(|| missing("answered step".into()));
    };
    let visits: Vec<&AnsweredStep<'_>> = steps.iter().filter(|step| step.node == node).collect();
    match query.visit {
        Some(visit) => visit
            .checked_sub(1)
            .and_then(|at| visits.get(at).copied())
            .ok_or_else(|| missing(format!("visit {visit} of `{node}`"))),
        None => visits.last().copied().ok_or_else(|| missing(format!("answer of `{node}`"))),
    }
}
