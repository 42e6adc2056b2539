//! The parameter groups of answerers, templates and effects.

use super::content::Content;
use super::plan::Plan;
use super::policy_params;
use super::queries::{CODE_FIELD, Query, ROOT_WORDS, unknown_code};
use super::read_evidence::ReadEvidence;
use super::root::{Root, RootWords};
use super::state::WalkState;
use super::step_context::StepContext;
use super::verdict::Verdict;
use super::views::recorded_state;
use asterisk_base::model::{Case, Hash, Kind, Launch};
use asterisk_diag::Diagnostic;
use asterisk_script::{RuleStrength, View};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

/// The groups that are the same for all steps of a case, converted once.
#[derive(Clone, Debug)]
pub struct CaseParams {
    run: View,
    case: View,
    envelope: Content,
    env: Content,
    git: Content,
    failure: Content,
    urls: Content,
    launch_times: Value,
    evidence: OnceLock<ReadEvidence>,
    verdict: OnceLock<MadeVerdict>,
    root: OnceLock<MadeRoot>,
}

/// Runs the queries of a verdict.
pub type VerdictQueries<'a> = dyn Fn(&[&'static Query]) -> Vec<(String, View)> + 'a;

/// A verdict that was made for the parameters of a step.
#[derive(Clone, Debug)]
pub struct MadeVerdict {
    /// The address of its rules.
    pub rules: Hash,
    /// The verdict.
    pub verdict: Arc<Verdict>,
    /// The same, as scripts read it.
    pub content: Content,
    /// The results of the queries that the rules read; nothing without queries.
    pub needs: Option<Content>,
}

/// A root that was found for the parameters of a step.
#[derive(Clone, Debug)]
pub struct MadeRoot {
    /// The address of its rules.
    pub rules: Hash,
    /// The root.
    pub root: Arc<Root>,
    /// The same, as scripts read it.
    pub content: Content,
}

/// The parameters of a step, for scripts and templates and for the record.
#[derive(Clone, Debug)]
pub struct Params {
    pub view: View,
    /// The same as parts, so that what many steps share is stored once.
    pub content: Content,
    /// The verdict that was made for them; nothing if an earlier step made it.
    pub verdict: Option<MadeVerdict>,
    /// The root that was found for them; nothing if an earlier step found it.
    pub root: Option<MadeRoot>,
    groups: Vec<(&'static str, View, Content)>,
}

impl CaseParams {
    /// Converts a launch and one of its cases. Absent parts read as empty.
    pub fn new(run: &str, launch: &Launch, case: &Case) -> Self {
        let any = |value: &Value, name: &str| Content::new(View::of(value, &Kind::Any, name));
        let envelope = json!({
            "run_id": launch.run_id, "name": launch.name, "number": launch.number, "status": launch.status,
            "totals": launch.totals, "attributes": launch.attributes, "cases": launch.failures(), "notes": launch.notes,
        });
        let failure = json!({
            "id": case.id, "name": case.name, "suite": case.suite, "file": case.file.as_deref().unwrap_or(""),
            "status": case.status, "duration_s": case.duration_s, "attributes": case.attributes,
            "error_message": case.error_message, "log_snippet": case.log_snippet.text_or_error(), "log_cut": case.log_cut,
            "source_defect": case.source_defect.as_deref().unwrap_or(""), "recall_key": case.recall_key,
        });
        let git = json!({
            "branch": launch.git.branch.as_deref().unwrap_or(""), "commit": launch.git.commit.as_deref().unwrap_or(""),
            "remote": launch.git.remote.as_deref().unwrap_or(""),
        });
        let url = |key: &str| case.attributes.get(key).or_else(|| launch.attributes.get(key)).unwrap_or_default();
        Self {
            run: View::from(run),
            case: View::from(case.id.as_str()),
            envelope: any(&envelope, "params.envelope"),
            env: any(&json!(launch.attributes), "params.env"),
            git: any(&git, "params.git"),
            failure: any(&failure, "params.failure"),
            urls: any(&json!({ "launch": url("launch_url"), "item": url("item_url") }), "params.urls"),
            launch_times: json!({
                "launch_started_at": launch.started_at, "launch_ended_at": launch.ended_at, "case_started_at": case.started_at,
            }),
            evidence: OnceLock::new(),
            verdict: OnceLock::new(),
            root: OnceLock::new(),
        }
    }

    /// What the texts of the case say. It is read once, and again only where the data has changed that it is read by.
    pub(super) fn evidence(&self, case: &Case, plan: &Plan) -> ReadEvidence {
        let read = self.evidence.get_or_init(|| ReadEvidence::read(case, plan));
        if read.reader == *plan.evidence.address() { read.clone() } else { ReadEvidence::read(case, plan) }
    }

    /// The same parameters, with evidence that was read already.
    #[must_use]
    pub fn with_evidence(self, evidence: ReadEvidence) -> Self {
        Self { evidence: OnceLock::from(evidence), ..self }
    }

    /// The same parameters, with the evidence, but without the verdict and the root that were made for a step.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self { verdict: OnceLock::new(), root: OnceLock::new(), ..self.clone() }
    }

    /// What the rules of a verdict see of the case in addition to its evidence.
    fn context(&self, plan: &Plan, needs: &[(String, View)]) -> View {
        let kept = |content: &Content| content.view().cloned().unwrap_or_else(View::null);
        View::object(
            "context",
            [
                ("data", kept(&plan.data)),
                ("env", kept(&self.env)),
                ("envelope", kept(&self.envelope)),
                ("failure", kept(&self.failure)),
                ("git", kept(&self.git)),
                ("needs", by_need(needs).0),
                ("taxonomy", kept(&plan.taxonomy)),
            ],
        )
    }

    /// The verdict of the case: that of an earlier step if its rules are the same, else made.
    fn verdict(
        &self,
        step: &StepContext<'_>,
        evidence: &View,
        queries: &VerdictQueries<'_>,
    ) -> (View, Content, Option<MadeVerdict>) {
        let none = || {
            let view = Verdict::default().view();
            (view.clone(), Content::own(view), None)
        };
        let Some(plan) = &step.plan.verdict else { return none() };
        let recorded = step.walk.verdict.as_ref().filter(|recorded| recorded.rules == plan.address);
        if let Some(recorded) = recorded
            && let Some(view) = recorded.content.view()
        {
            return (view.clone(), recorded.content.clone(), None);
        }
        let make = || {
            let needs = if plan.needs.is_empty() { Vec::new() } else { queries(&plan.needs) };
            let verdict = plan.judge(evidence, &self.context(step.plan, &needs));
            let content = Content::new(verdict.view());
            let needs = (!needs.is_empty()).then(|| by_need(&needs).1);
            MadeVerdict { rules: plan.address, verdict: Arc::new(verdict), content, needs }
        };
        let kept = self.verdict.get_or_init(make);
        let made = if kept.rules == plan.address { kept.clone() } else { make() };
        let view = made.content.view().cloned().unwrap_or_else(View::null);
        (view, made.content.clone(), recorded.is_none().then_some(made))
    }

    /// The root of the case: that of an earlier step if its rules are the same, else found. Its rules see the results of the queries
    /// of the verdict.
    fn root(&self, step: &StepContext<'_>, evidence: &View, queries: &VerdictQueries<'_>) -> (View, Content, Option<MadeRoot>) {
        let none = || {
            let view = Root::default().view();
            (view.clone(), Content::own(view), None)
        };
        let Some(plan) = &step.plan.roots else { return none() };
        let recorded = step.walk.root.as_ref().filter(|recorded| recorded.rules == plan.address);
        if let Some(recorded) = recorded
            && let Some(view) = recorded.content.view()
        {
            return (view.clone(), recorded.content.clone(), None);
        }
        let make = || {
            let needs = step.plan.verdict.as_ref().map_or(&[][..], |verdict| &verdict.needs);
            let needs = if needs.is_empty() { Vec::new() } else { queries(needs) };
            let words = queries(&[ROOT_WORDS]).pop().map(|(_, words)| words.json());
            let words: RootWords = words.and_then(|words| serde_json::from_value(words).ok()).unwrap_or_default();
            let root = plan.find(evidence, &self.context(step.plan, &needs), &words);
            let content = Content::new(root.view());
            MadeRoot { rules: plan.address, root: Arc::new(root), content }
        };
        let kept = self.root.get_or_init(make);
        let made = if kept.rules == plan.address { kept.clone() } else { make() };
        let view = made.content.view().cloned().unwrap_or_else(View::null);
        (view, made.content.clone(), recorded.is_none().then_some(made))
    }

    /// The key that each rule of a plan gives, given the results of the queries that they read; nothing where it gives none or fails.
    pub fn every_root(&self, case: &Case, plan: &Plan, needs: &[(String, View)]) -> Vec<Option<Value>> {
        let Some(rules) = &plan.roots else { return Vec::new() };
        rules.every_key(&self.evidence(case, plan).view, &self.context(plan, needs))
    }

    /// The verdict by another plan, given the results of the queries that its rules read. `None` if the plan makes none.
    pub fn verdict_by(&self, case: &Case, plan: &Plan, needs: &[(String, View)]) -> Option<Verdict> {
        let rules = plan.verdict.as_ref()?;
        Some(rules.judge(&self.evidence(case, plan).view, &self.context(plan, needs)))
    }

    /// The result of one rule of the verdict of a plan, given the results of the queries. `None` if the plan lacks this rule.
    pub fn ask_rule(
        &self,
        case: &Case,
        plan: &Plan,
        needs: &[(String, View)],
        id: &str,
    ) -> Option<Result<Option<RuleStrength>, Box<Diagnostic>>> {
        plan.verdict.as_ref()?.ask(id, &self.evidence(case, plan).view, &self.context(plan, needs))
    }

    /// What the rules of the verdict and of the root of a plan are given besides the evidence and the vars.
    pub fn rule_context(&self, plan: &Plan, needs: &[(String, View)]) -> View {
        self.context(plan, needs)
    }

    /// The evidence by a plan's catalogue, as the record has it.
    pub fn evidence_by(&self, case: &Case, plan: &Plan) -> Content {
        self.evidence(case, plan).content
    }

    /// All parameters of a step of this case, with the state as [`StepContext::state`] or a test gives it. `needs` are the results of the
    /// node's declared reads, under their names with dots turned to underscores; `queries` runs those of the verdict.
    pub fn for_step(
        &self,
        case: &Case,
        step: &StepContext<'_>,
        state: &View,
        needs: &[(String, View)],
        queries: &VerdictQueries<'_>,
    ) -> Params {
        let StepContext { plan, node, walk, member, .. } = *step;
        let spec = &plan.pipeline.nodes[node.0];
        let identity = View::object(
            "params.identity",
            [
                ("case", self.case.clone()),
                ("code", View::from(spec.code.as_ref().map_or("", |code| code.as_str()))),
                ("node", View::from(spec.name.as_str())),
                ("path", View::from(step.path)),
                ("pipeline", View::from(plan.pipeline.name.as_str())),
                ("run", self.run.clone()),
            ],
        );
        let mut times = self.launch_times.clone();
        times["now"] = json!(step.moment.now);
        let times = View::of(&times, &Kind::Any, "params.timestamps");
        let new = |view: View| (view.clone(), Content::new(view));
        // Part of this step only.
        let own = |view: View| (view.clone(), Content::own(view));
        let kept = |content: &Content| (content.view().cloned().unwrap_or_else(View::null), content.clone());
        let siblings = needs.iter().find(|(name, _)| name == "siblings").map(|(_, view)| view.clone());
        let bindings = walk.bindings.iter().map(|(name, id)| (name.as_str(), View::from(*id)));
        let ReadEvidence { view: evidence, content: evidence_content, .. } = self.evidence(case, plan);
        let (verdict, verdict_content, made) = self.verdict(step, &evidence, queries);
        let (root, root_content, found) = self.root(step, &evidence, queries);
        let read = made
            .as_ref()
            .map_or_else(|| walk.verdict.as_ref().and_then(|verdict| verdict.needs.as_ref()), |made| made.needs.as_ref());
        let code = read.and_then(|needs| needs.part(CODE_FIELD)).filter(|code| code.view().is_some());
        let code = code.unwrap_or_else(|| Content::new(View::of(&unknown_code(), &Kind::Any, "params.code")));
        let groups = [
            ("answer", kept(&plan.node(node).answer)),
            ("bindings", own(View::map("params.bindings", bindings, View::from(0)))),
            ("code", kept(&code)),
            ("data", kept(&plan.data)),
            ("env", kept(&self.env)),
            ("envelope", kept(&self.envelope)),
            ("evidence", (evidence, evidence_content)),
            ("failure", kept(&self.failure)),
            ("git", kept(&self.git)),
            ("history", own(state.get("history").unwrap_or_else(View::null))),
            ("identity", own(identity)),
            ("meta", own(group("meta", &json!({}), &|_| None))),
            ("needs", by_need(needs)),
            ("persona", kept(&member.persona)),
            ("prior", by_node(walk)),
            ("root", (root, root_content)),
            ("siblings", new(siblings.unwrap_or_else(|| View::list("params.siblings", [])))),
            ("state", new(state.clone())),
            ("taxonomy", kept(&plan.taxonomy)),
            ("timestamps", own(times)),
            ("urls", kept(&self.urls)),
            ("vars", kept(&plan.vars_content)),
            ("verdict", (verdict, verdict_content)),
            ("workspace", kept(&plan.workspace)),
        ];
        let mut groups: Vec<_> = groups.into_iter().map(|(name, (view, content))| (name, view, content)).collect();
        if let Some(policy) = &plan.node(node).policy {
            groups.extend(policy_params::groups(step, policy));
            groups.sort_by_key(|(name, ..)| *name);
        }
        let params = Params::of(groups);
        Params { verdict: made, root: found, ..params }
    }
}

impl Params {
    fn of(groups: Vec<(&'static str, View, Content)>) -> Self {
        let view = View::object("params", groups.iter().map(|(name, view, _)| (*name, view.clone())));
        let content = Content::of_parts(groups.iter().map(|(name, _, content)| ((*name).into(), content.clone())));
        Self { view, content, verdict: None, root: None, groups }
    }

    /// Replaces the groups with these names.
    pub(super) fn with(self, changed: Vec<(String, Value)>, form: &dyn Fn(&str) -> Option<Kind>) -> Self {
        if changed.is_empty() {
            return self;
        }
        let mut groups = self.groups;
        for (name, value) in changed {
            let Some((name, view, content)) = groups.iter_mut().find(|(known, ..)| *known == name) else { continue };
            *view = group(name, &value, form);
            // The same masks often produce the same value.
            *content = Content::new(view.clone());
        }
        Self { verdict: self.verdict, root: self.root, ..Self::of(groups) }
    }
}

/// The parameters as scripts saw them, from their record: equal to the result of [`CaseParams::for_step`] but for shapes that no script
/// can distinguish.
/// `plan` is the plan of the case, `path` the step's.
pub fn recorded_params(recorded: &Value, plan: &Plan, path: &str) -> View {
    let form = |name: &str| plan.kind_at(path, name);
    View::object("params", entries(recorded, &|name, value| group(name, value, &form)))
}

/// Converts a recorded parameter group. `form` returns the shape of an artifact.
fn group(name: &str, value: &Value, form: &dyn Fn(&str) -> Option<Kind>) -> View {
    let any = |value: &Value, name: &str| View::of(value, &Kind::Any, name);
    match name {
        "bindings" => View::map("params.bindings", entries(value, &|_, id| any(id, "params.bindings")), View::from(0)),
        "history" => recorded_state(&json!({ "history": value })).get("history").unwrap_or_else(View::null),
        "needs" => View::object("params.needs", entries(value, &|name, need| any(need, &format!("params.needs.{name}")))),
        "prior" => {
            let artifact = |name: &str, value: &Value| View::of(value, &form(name).unwrap_or(Kind::Any), "artifact");
            View::map("params.prior", entries(value, &artifact), View::null())
        }
        "state" => recorded_state(value),
        "meta" => View::map("params.meta", entries(value, &|_, value| any(value, "params.meta")), View::null()),
        "persona" => View::map("params.persona", entries(value, &|_, value| any(value, "params.persona")), View::null()),
        "identity" => View::object("params.identity", entries(value, &|_, value| View::plain(value, "params.identity"))),
        name => any(value, &format!("params.{name}")),
    }
}

/// Converts the fields of an object.
fn entries(value: &Value, part: &dyn Fn(&str, &Value) -> View) -> Vec<(String, View)> {
    let fields = value.as_object().into_iter().flatten();
    fields.map(|(name, value)| (name.clone(), part(name, value))).collect()
}

/// The results of queries, each a separate part.
fn by_need(needs: &[(String, View)]) -> (View, Content) {
    let view = View::object("params.needs", needs.iter().map(|(name, view)| (name.as_str(), view.clone())));
    let parts = needs.iter().map(|(name, view)| (name.as_str().into(), Content::new(view.clone())));
    (view, Content::own_of_parts(parts))
}

/// The latest artifacts, each a part already.
fn by_node(walk: &WalkState) -> (View, Content) {
    let prior = walk.prior.iter().filter_map(|(name, artifact)| Some((&**name, artifact.view()?.clone())));
    let view = View::map("params.prior", prior, View::null());
    (view, Content::own_of_parts(walk.prior.iter().map(|(name, artifact)| (name.clone(), artifact.clone()))))
}
