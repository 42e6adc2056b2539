//! Requests to answerers.

use super::answer::{AfterRefusal, Refusal};
use super::bare_prompt::{called, of_review, untemplated};
use super::content::Content;
use super::event::EventBody;
use super::gate::ReviewInquiry;
use super::name::Name;
use super::open_request::{OpenRequest, requested};
use super::params::Params;
use super::plan::Plan;
use super::request_log::RequestLog;
use super::review::{REVIEW, validate_review};
use super::sourced::Sourced;
use super::team_plan::TeamMember;
use super::tool::Call;
use crate::node_view::TemplateView;
use asterisk_base::clock::{Deadline, derived_id};
use asterisk_base::model::{Case, Hash, Kind, visible};
use asterisk_diag::{Code, Diagnostic, did_you_mean};
use asterisk_pipeline::{KnownField, NodeIx};
use asterisk_prompt::Values;
use asterisk_script::View;
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::time::Duration;

/// The prompt of an external request.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptRequest {
    /// The id: the same for a repeated request.
    pub id: i64,
    /// The prompt, with the validation errors of the previous answer.
    pub prompt: String,
}

/// The time within which a node has to be answered.
#[derive(Clone, Copy)]
pub struct AnswerTimeout<'a> {
    limit: TimeLimit<'a>,
    pub deadline: Deadline,
}

/// What limits the time of an answer.
#[derive(Clone, Copy)]
enum TimeLimit<'a> {
    /// The timeout of the node, in seconds.
    Node(&'a Sourced<f64>),
    /// The time of the case: the var that says it, and its value in seconds.
    Case(&'a str, f64),
    /// The time of the walker with this name, in seconds.
    Walker(&'a str, f64),
}

impl<'a> AnswerTimeout<'a> {
    /// The timeout of an attempt that begins now; `None` if it never ends.
    pub(super) fn begin(setting: &'a Sourced<f64>) -> Option<Self> {
        let deadline = Deadline::after(Duration::try_from_secs_f64(setting.value).ok()?)?;
        Some(Self { limit: TimeLimit::Node(setting), deadline })
    }

    /// The timeout of an answer for a case that may take `seconds`, `elapsed` of which are over.
    pub(super) fn of_case(var: &'a str, seconds: f64, elapsed: f64) -> Option<Self> {
        let deadline = Deadline::after(Duration::try_from_secs_f64((seconds - elapsed).max(0.0)).ok()?)?;
        Some(Self { limit: TimeLimit::Case(var, seconds), deadline })
    }

    /// The timeout of a walker that begins to answer now; `None` if it has none.
    pub(super) fn of_walker(member: &'a TeamMember) -> Option<Self> {
        let deadline = Deadline::after(Duration::try_from_secs_f64(member.timeout?).ok()?)?;
        Some(Self { limit: TimeLimit::Walker(&member.name, member.timeout?), deadline })
    }

    /// The one that ends first.
    pub(super) fn first(self, other: Self) -> Self {
        if other.deadline.left() < self.deadline.left() { other } else { self }
    }
}

/// A request for the artifact of a node for a case, or for a review of it. Parameters and prompt are computed on demand.
pub struct Request<'a> {
    pub plan: &'a Plan,
    pub node: NodeIx,
    /// The run's id.
    pub run: &'a str,
    pub case: &'a Case,
    /// The step's path.
    pub path: &'a str,
    /// The visit of the node, from 0.
    pub visit: usize,
    /// How many attempts did not pass before this one, in a node with a policy.
    pub attempt: usize,
    /// The answerers to try, in order: those of the node, else of the walker; empty if neither names any.
    pub via: &'a [Name],
    /// The name that the answerer knows the walker's model by, if it has one.
    pub model: Option<&'a str>,
    /// The review that is requested instead of the artifact, if any.
    pub review: Option<ReviewInquiry<'a>>,
    /// The timeout of the node or the walker, if it has one. A review has none but that of its answerer.
    pub timeout: Option<AnswerTimeout<'a>>,
    pub(super) log: &'a RequestLog<'a>,
    pub(super) make: &'a dyn Fn() -> Params,
    pub(super) params: OnceCell<Params>,
}

impl<'a> Request<'a> {
    /// The request to an advisor for a review of the answer to this one.
    pub(super) fn for_review<'r>(&'r self, inquiry: ReviewInquiry<'r>) -> Request<'r>
    where
        'a: 'r,
    {
        Request { via: &inquiry.advisor.via, review: Some(inquiry), timeout: None, params: self.params.clone(), ..*self }
    }

    /// The name of what is requested: the node, or for a review `NODE/ADVISOR`.
    pub fn name(&self) -> Name {
        requested(&self.plan.node(self.node).name, self.advisor())
    }

    /// The advisor whose review is requested, if one is.
    pub fn advisor(&self) -> Option<&'a Name> {
        self.review.map(|review| &review.advisor.name)
    }

    /// The name of the step in signals, followed by the advisor whose review is requested.
    pub fn step_name(&self) -> String {
        let step = self.plan.pipeline.at(self.node).step_name();
        self.advisor().map_or_else(|| step.clone(), |advisor| format!("{step}/{advisor}"))
    }

    /// The shape of what is requested.
    pub fn kind(&self) -> Kind {
        if self.review.is_some() { Kind::Object(REVIEW.clone()) } else { self.plan.node(self.node).kind.clone() }
    }

    /// How long an answerer may take that has a timeout of its own: no longer than the node has left.
    pub fn time(&self, own: Duration) -> Duration {
        self.timeout.map_or(own, |timeout| own.min(timeout.deadline.left()))
    }

    /// The time for a script: what the node has left. The timeout of a walker is for its answerers.
    pub fn time_of_script(&self) -> Duration {
        let node = self.timeout.filter(|timeout| !matches!(timeout.limit, TimeLimit::Walker(..)));
        node.map_or(Duration::MAX, |timeout| timeout.deadline.left())
    }

    /// Whether the node's timeout has passed.
    pub fn is_overdue(&self) -> bool {
        self.timeout.is_some_and(|timeout| timeout.deadline.is_over())
    }

    /// Whether the time of the case has passed, rather than that of the node.
    pub fn is_cut_short(&self) -> bool {
        self.is_overdue() && self.timeout.is_some_and(|timeout| matches!(timeout.limit, TimeLimit::Case(..)))
    }

    /// The refusal of a node whose timeout has passed.
    pub fn overdue(&self) -> Option<Refusal> {
        let AnswerTimeout { limit, .. } = self.timeout.filter(|_| self.is_overdue())?;
        let name = self.node_name();
        let (code, message, help) = match limit {
            TimeLimit::Node(setting) => (
                Code::AgentLate,
                format!("`{name}` was not answered within its timeout of {} s ({})", setting.value, setting.from),
                "increase the timeout: `timeout:` of the node, or `timeouts:` of the policy".to_owned(),
            ),
            TimeLimit::Case(var, seconds) => (
                Code::AgentDeadline,
                format!("`{name}` was not answered within the total limit of {seconds} s (`{var}`)"),
                format!("increase the timeout: --set {var}=..."),
            ),
            TimeLimit::Walker(walker, seconds) => (
                Code::AgentLate,
                format!("{walker} did not answer `{name}` within {seconds} s"),
                "increase the time of the walker: its `timeout:`, or that of its element's speed in `data/elements.yaml`"
                    .to_owned(),
            ),
        };
        Some(Refusal::failed(Diagnostic::error(code, message).help(help)))
    }

    /// A refusal, or, once the node's timeout has passed, that of a late answer.
    pub fn late(&self, refusal: Refusal) -> Refusal {
        match self.overdue() {
            Some(mut late) if refusal.next != AfterRefusal::Wait => {
                let own = late.diagnostic.help.take().unwrap_or_default();
                let why = &refusal.diagnostic.message;
                late.diagnostic.help = Some(format!("{own}\n{why}"));
                late
            }
            _ => refusal,
        }
    }

    pub fn node_name(&self) -> &str {
        &self.plan.nodes[self.node.0].name
    }

    /// The parameters, as the answerer sees them.
    pub fn params(&self) -> &View {
        &self.params.get_or_init(self.make).view
    }

    /// The parameters, if computed.
    pub(super) fn seen(&self) -> Option<&Params> {
        self.params.get()
    }

    /// The parameters for the record: those of the prompt.
    pub(super) fn content(&self) -> Content {
        if let Some(ReviewInquiry { advisor, output, task, .. }) = self.review {
            let own = |text: &str| Content::own(View::from(text));
            return Content::of_parts([
                ("advisor".into(), own(&advisor.name)),
                ("description".into(), own(&advisor.description)),
                ("output".into(), Content::new(output.clone())),
                ("task".into(), Content::new(task.clone())),
            ]);
        }
        self.params.get_or_init(self.make).content.clone()
    }

    /// The text for an external answerer: the prompt, or for a node without one its description and parameters.
    pub fn text(&self) -> Result<String, Box<Diagnostic>> {
        if let Some(ReviewInquiry { advisor, output, task, .. }) = self.review {
            let params = json!({
                "advisor": advisor.name, "description": advisor.description, "output": output.json(), "task": task.json(),
            });
            return Ok(of_review(self.plan, self.node, &params));
        }
        if let Some(call) = self.call() {
            return call.map(|call| called(self.plan, self.node, &call));
        }
        if let Some(prompt) = self.prompt() {
            return prompt;
        }
        Ok(untemplated(self.plan, self.node, &self.params().json()))
    }

    /// The address of what the answer depends on: agent and version, node, task, and what else the agent's script may read. Nothing if
    /// the node's answers are not cached.
    pub fn cache_key(&self) -> Option<Hash> {
        let node = self.plan.node(self.node);
        let policy = node.policy.as_deref().filter(|policy| policy.cache.value)?;
        let params = self.params();
        let of = |group: &str| match group {
            "vars" => Value::String(self.plan.vars_content.hash().to_string()),
            "data" => Value::String(self.plan.data.hash().to_string()),
            group => params.present(group).map_or(Value::Null, |view| Value::String(view.canonical())),
        };
        let context: Value = match &policy.reads {
            Some(reads) => reads.iter().map(|group| (group.to_string(), of(group))).collect(),
            // Others receive the prompt.
            None => Value::String(self.text().ok()?),
        };
        let schema = self.plan.pipeline.at(self.node).schema.as_ref().map(|shape| shape.outline());
        let via: Vec<&str> = self.via.iter().map(Name::as_str).collect();
        Some(Hash::of_json(&json!({
            "a": policy.agent, "v": policy.version, "s": node.name, "t": of("task"), "c": context, "via": via,
            "schema": schema,
        })))
    }

    /// The tool call with its arguments, for a node with a tool.
    pub fn call(&self) -> Option<Result<Call, Box<Diagnostic>>> {
        let tool = self.plan.node(self.node).tool.as_ref().filter(|_| self.review.is_none())?;
        Some(tool.call(self.params(), self.plan.vars()))
    }

    /// Validates an artifact by the node's schema, or a review by its form, and returns the errors.
    pub fn validate(&self, artifact: &Value) -> Vec<String> {
        if self.review.is_some() {
            return validate_review(artifact);
        }
        validate(self.plan, self.node, artifact)
    }

    /// Validates an artifact, and returns it as accepted, if that differs.
    pub(super) fn accepted(&self, artifact: &Value) -> Result<Option<Value>, Vec<String>> {
        accepted(self.plan, self.node, artifact)
    }

    /// The diagnostic of an artifact from `via` that violates the schema.
    pub fn schema_violation(&self, via: &str, errors: &[String]) -> Diagnostic {
        if let Some(advisor) = self.advisor() {
            return review_violation(self.plan, self.node, (advisor, via), errors);
        }
        schema_violation(self.plan, self.node, via, errors)
    }

    /// Renders the node's prompt, if it has a template.
    pub fn prompt(&self) -> Option<Result<String, Box<Diagnostic>>> {
        let template = self.plan.node(self.node).template.as_ref()?;
        Some(template.render(Values::of(&TemplateView(self.params().clone()))))
    }

    /// Records a request to `via`, unless it is open already, and returns its prompt. Called before anything leaves the process.
    pub fn dispatch(&self, via: &str) -> Result<PromptRequest, Refusal> {
        let text = self.text().map_err(Refusal::failed)?;
        let prompt = Hash::of(text.as_bytes());
        let (last, asks) = {
            let open_requests = self.log.open.borrow();
            let mine = || open_requests.iter().filter(|open| self.is_mine(open) && open.via == via);
            (mine().next_back().cloned(), mine().count())
        };
        let errors = last.as_ref().map(|last| last.errors.clone()).unwrap_or_default();
        let id = match last {
            Some(open) if open.errors.is_empty() && open.prompt == prompt => open.id,
            _ => {
                let asks = asks.to_string();
                let attempt = self.attempt.to_string();
                let mut parts = vec!["request", self.run, &self.case.id, self.path, via, &asks];
                parts.extend((self.attempt > 0 || self.review.is_some()).then_some(attempt.as_str()));
                parts.extend(self.advisor().map(Name::as_str));
                let id = derived_id(&parts);
                let node = &self.plan.node(self.node);
                let template = node.template.as_ref().filter(|_| self.review.is_none()).map(|template| template.hash());
                let (node, advisor) = (node.name.clone(), self.advisor().cloned());
                let params = self.content();
                let call = self.call().and_then(Result::ok).and_then(|call| serde_json::to_value(call).ok());
                let call = call.map(|call| Content::new(View::plain(&call, "call")));
                self.log.record(EventBody::Requested { id, node, advisor, via: via.into(), prompt, params, template, call })?;
                id
            }
        };
        Ok(PromptRequest { id, prompt: with_errors(text, &errors) })
    }

    /// Records the validation errors of the answer to the last request to `via`; the next prompt includes them.
    pub fn reject(&self, via: &str, errors: Vec<String>) -> Result<(), Refusal> {
        let Some(id) = self.last(via) else { return Ok(()) };
        self.log.record(EventBody::Rejected { id, via: via.into(), errors })
    }

    /// Records a failed attempt of the last request to `via`.
    pub fn unanswered(&self, via: &str, message: &str) -> Result<(), Refusal> {
        let Some(id) = self.last(via) else { return Ok(()) };
        self.log.record(EventBody::Unanswered { id, via: via.into(), message: message.to_owned() })
    }

    /// The number of rejected answers from `via`.
    pub fn rejections(&self, via: &str) -> usize {
        self.log.open.borrow().iter().filter(|open| self.is_mine(open) && open.via == via && !open.errors.is_empty()).count()
    }

    /// The answerer of the last external request, if any.
    pub fn last_answerer(&self) -> Option<Name> {
        self.log.open.borrow().iter().rfind(|open| self.is_mine(open)).map(|open| open.via.clone())
    }

    fn is_mine(&self, open: &OpenRequest) -> bool {
        open.advisor.as_ref() == self.advisor()
    }

    fn last(&self, via: &str) -> Option<i64> {
        self.log.open.borrow().iter().rfind(|open| self.is_mine(open) && open.via == via).map(|open| open.id)
    }
}

/// Validates an artifact by a node's `accept:`, its schema and what the domain knows, and returns the errors.
pub fn validate(plan: &Plan, node: NodeIx, artifact: &Value) -> Vec<String> {
    accepted(plan, node, artifact).err().unwrap_or_default()
}

/// Validates an artifact, and returns it as accepted, if the node has an `accept:`.
pub(super) fn accepted(plan: &Plan, node: NodeIx, artifact: &Value) -> Result<Option<Value>, Vec<String>> {
    let normalised = match plan.node(node).accept.as_ref().filter(|_| artifact.is_object()) {
        None => None,
        Some(function) => {
            let given = View::of(artifact, &Kind::Any, "artifact");
            match function.value(&[&given, plan.vars()]).map_err(|error| vec![error.message.clone()])? {
                Value::Array(complaints) => {
                    return Err(complaints
                        .iter()
                        .map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned))
                        .collect());
                }
                normalised => Some(normalised),
            }
        }
    };
    let errors = schema_errors(plan, node, normalised.as_ref().unwrap_or(artifact));
    if errors.is_empty() { Ok(normalised) } else { Err(errors) }
}

/// The errors of an artifact by its node's schema and by what the domain knows.
fn schema_errors(plan: &Plan, node: NodeIx, artifact: &Value) -> Vec<String> {
    let node = plan.pipeline.at(node);
    let mut errors: Vec<String> =
        node.schema.iter().flat_map(|shape| shape.check(artifact)).map(|error| error.to_string()).collect();
    if node.known.is_empty() {
        return errors;
    }
    let Some(taxonomy) = plan.taxonomy.view().map(View::json) else { return errors };
    errors.extend(node.known.iter().filter_map(|field| unknown(field, artifact, &taxonomy[field.list])));
    errors
}

/// What is wrong with a text that neither is in a list of the domain nor an alias of what is.
fn unknown(field: &KnownField, artifact: &Value, list: &Value) -> Option<String> {
    let said = field.path.split('.').fold(artifact, |value, part| &value[part]).as_str().filter(|said| !said.is_empty())?;
    let list = list.as_object()?;
    let alias = |entry: &Value| entry["aliases"].as_array().is_some_and(|all| all.iter().any(|alias| alias == said));
    if list.contains_key(said) || list.values().any(alias) {
        return None;
    }
    let known: Vec<String> = list.keys().map(|word| format!("`{word}`")).collect();
    let hint = did_you_mean(said, list.keys().map(String::as_str)).map_or(String::new(), |hint| format!("; {hint}"));
    Some(format!("$.{}: \"{said}\" is not one of the domain's {}, {}{hint}", *field.path, field.list, known.join(", ")))
}

/// The diagnostic of an artifact that violates its node's schema.
pub fn schema_violation(plan: &Plan, node: NodeIx, via: &str, errors: &[String]) -> Diagnostic {
    let node = plan.pipeline.at(node);
    let list: Vec<String> = errors.iter().map(|error| format!("  {error}")).collect();
    let message = format!("the artifact of `{}` from `{via}` does not match its schema", *node.name);
    Diagnostic::error(Code::WalkSchema, message)
        .label(&plan.pipeline.source, node.name.span, "see `schema` of the node")
        .help(list.join("\n"))
}

/// The diagnostic of a review, by an advisor from `via`, that has not the form of one.
pub fn review_violation(plan: &Plan, node: NodeIx, (advisor, via): (&Name, &str), errors: &[String]) -> Diagnostic {
    let list: Vec<String> = errors.iter().map(|error| format!("  {error}")).collect();
    let node = plan.node(node);
    let message = format!("the answer of `{via}` is not a review of `{}` by the advisor `{advisor}`", node.name);
    let mut diagnostic = Diagnostic::error(Code::WalkReview, message).help(list.join("\n"));
    if let Some(gate) = node.policy.as_ref().and_then(|policy| policy.gate.as_ref()) {
        diagnostic = diagnostic.label(&gate.place.0, gate.place.1, "reviewed here");
    }
    diagnostic
}

/// A prompt followed by the validation errors of the previous answer.
pub(super) fn with_errors(mut prompt: String, errors: &[String]) -> String {
    if !errors.is_empty() {
        prompt.push_str("\n\n## Your last answer was not accepted\n\n");
        for error in errors {
            // They quote the answer.
            prompt.push_str("- ");
            prompt.push_str(&visible(error).replace('\n', " "));
            prompt.push('\n');
        }
        prompt.push_str("\nFix all of this and answer again with one complete JSON object.\n");
    }
    prompt
}
