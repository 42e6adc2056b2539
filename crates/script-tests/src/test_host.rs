//! Answers what a test asks the host: rules, decisions, responders and effects as a walk asks them.

use super::params::{check, params, state};
use super::test_project::{TestProject, known_keys};
use asterisk_base::model::{Effect, Handle, Kind};
use asterisk_diag::{Diagnostic, Source, Span};
use asterisk_pipeline::{EdgeOrigin, NodeIx};
use asterisk_project::Project;
use asterisk_script::{FunctionRef, RuleOutcome, ScriptFunction, TestHost, TestQuestion, View};
use asterisk_session::{Routed, SessionError, TestFile};
use asterisk_walk::Plan;
use serde_json::{Map, Value, json};
use std::sync::Arc;

type HostResult<T> = Result<T, Box<Diagnostic>>;

/// The verdict or root of a case. A rule that fails, which a run ignores with a warning, fails the test.
fn judged(params: &View, name: &str) -> HostResult<Value> {
    let document = params.get(name).map(|document| document.json()).unwrap_or_default();
    match document["failed"].get(0) {
        None => Ok(document),
        Some(failed) => {
            let text = |key: &str| failed[key].as_str().unwrap_or_default();
            let message = format!("rule {} ({}) failed: {}", text("id"), text("at"), text("error"));
            let help = "a run ignores a rule where it fails, and warns; a test fails".to_owned();
            refuse("test/failed-rule", message, Some(help))
        }
    }
}

/// What a test of a file can ask.
pub(super) struct ScriptTestHost {
    pub(super) ground: Arc<TestProject>,
    pub(super) file: TestFile,
}

impl TestHost for ScriptTestHost {
    fn answer(&self, question: TestQuestion, name: &str, inputs: &Value) -> HostResult<Value> {
        match question {
            TestQuestion::Verdict => self.verdict(name, inputs),
            TestQuestion::Judge => self.judge(inputs),
            TestQuestion::Root => self.root(inputs),
            TestQuestion::Decide => self.decide(name, inputs),
            TestQuestion::Respond => self.respond(name, inputs),
            TestQuestion::Effects => self.effects(name, inputs),
            TestQuestion::Fixture => self.fixture(name),
        }
    }
}

fn refuse<T>(code: &'static str, message: String, help: Option<String>) -> HostResult<T> {
    Err(Box::new(Diagnostic::error(code, message).maybe_help(help)))
}

impl ScriptTestHost {
    /// A rule by its reference, or an edge's rule or condition by the edge's id.
    fn verdict(&self, name: &str, inputs: &Value) -> HostResult<Value> {
        known_keys("the inputs of a rule", inputs, ["artifact", "state", "vars", "pipeline"])?;
        let is_edge = !name.contains('#');
        let edge_of = |plan: &Plan| {
            plan.pipeline.edges.iter().zip(&plan.rules).position(|(edge, rule)| {
                if is_edge { *edge.id == name } else { rule.as_ref().is_some_and(|rule| rule.function.key() == name) }
            })
        };
        let project = self.project(inputs, |plan| edge_of(plan).is_some())?;
        let plan = plan(&project, inputs)?;
        let edge = edge_of(&plan);
        let function = match edge.and_then(|at| plan.rules[at].clone()) {
            Some(rule) => rule.function,
            None if is_edge => {
                let ids = plan.pipeline.edges.iter().map(|edge| edge.id.as_str());
                let hint = asterisk_diag::did_you_mean(name, ids);
                let hint = hint.or_else(|| Some("write `path/of/script.rhai#function`, or an edge's id".into()));
                let what = if edge.is_some() { "has no rule: it always fires" } else { "is not an edge of the pipeline" };
                return refuse("test/no-rule", format!("`{name}` {what}"), hint);
            }
            None => function(&project, name, 3)?,
        };
        let node = edge.and_then(|at| match plan.pipeline.edges[at].from {
            EdgeOrigin::Node(node) => Some(node),
            EdgeOrigin::Any => None,
        });
        let kind = node.map_or(Kind::Any, |node| plan.node(node).kind.clone());
        let whose = node.map_or("", |node| plan.pipeline.at(node).name.as_str());
        let artifact = artifact(inputs, &kind, whose)?;
        let (_, view) = state(&inputs["state"])?.at(&plan, node, &artifact, self.now());
        Ok(match function.decide(&artifact, &view, plan.vars())? {
            RuleOutcome::No => json!({ "fired": false, "to": null, "because": null, "context": {} }),
            RuleOutcome::Yes { to, because, context } => {
                json!({ "fired": true, "to": to, "because": because, "context": context })
            }
        })
    }

    fn judge(&self, inputs: &Value) -> HostResult<Value> {
        known_keys("the inputs of a verdict", inputs, ["failure", "needs", "vars", "pipeline"])?;
        let project = self.project(inputs, |plan| plan.verdict.is_some())?;
        let plan = plan(&project, inputs)?;
        let given = json!({ "failure": inputs["failure"], "needs": inputs["needs"] });
        let params = params(&plan, start(&plan), &given, self.now())?;
        judged(&params, "verdict")
    }

    fn root(&self, inputs: &Value) -> HostResult<Value> {
        known_keys("the inputs of a root", inputs, ["failure", "needs", "vars", "pipeline"])?;
        let project = self.project(inputs, |plan| plan.roots.is_some())?;
        let plan = plan(&project, inputs)?;
        let given = json!({ "failure": inputs["failure"], "needs": inputs["needs"] });
        let params = params(&plan, start(&plan), &given, self.now())?;
        judged(&params, "root")
    }

    fn decide(&self, node: &str, inputs: &Value) -> HostResult<Value> {
        known_keys("the inputs of a decision", inputs, ["artifact", "state", "vars", "pipeline"])?;
        let project = self.project(inputs, |plan| plan.pipeline.node(node).is_some())?;
        if let Some(ix) = project.plan.pipeline.node(node) {
            check(&project.plan.node(ix).kind, &inputs["artifact"], node)?;
        }
        let state = state(&inputs["state"])?;
        let routed = self.ground.session.route(&project, node, &inputs["artifact"], state, &vars(inputs)?);
        let (routed, trouble) = routed.map_err(|error| match error {
            SessionError::BadRequest(diagnostic) => diagnostic,
            SessionError::Texts(found) => first(found),
            error => Box::new(Diagnostic::error("test/decide", error.to_string())),
        })?;
        // A rule that throws fails the test where it threw, as it stops a walk; a node without a way is an answer.
        if let Routed::Lost { error, .. } = &routed
            && error == "rule_error"
            && !trouble.is_empty()
        {
            return Err(first(trouble));
        }
        let mut answer = json!(routed);
        // The address of a script is useless in a test, and changes with every edit.
        for considered in answer["considered"].as_array_mut().into_iter().flatten() {
            considered.as_object_mut().map(|entry| entry.remove("script"));
        }
        for key in ["edge", "to", "error"] {
            if answer.get(key).is_none() {
                answer[key] = Value::Null;
            }
        }
        Ok(answer)
    }

    fn respond(&self, name: &str, inputs: &Value) -> HostResult<Value> {
        known_keys("the inputs of a responder", inputs, ["params", "vars", "pipeline"])?;
        let node_of = |plan: &Plan| {
            plan.nodes.iter().position(|node| node.responder.as_ref().is_some_and(|function| function.key() == name))
        };
        let others = |plan: &Plan| [&plan.summary, &plan.cluster].into_iter().flatten().any(|function| function.key() == name);
        let project = self.project(inputs, |plan| node_of(plan).is_some() || others(plan))?;
        let plan = plan(&project, inputs)?;
        let node = node_of(&plan).map_or_else(|| start(&plan), NodeIx);
        let function = function(&project, name, 2)?;
        function.respond(&params(&plan, node, &inputs["params"], self.now())?, plan.vars())
    }

    fn effects(&self, name: &str, inputs: &Value) -> HostResult<Value> {
        known_keys("the inputs of an effect", inputs, ["artifact", "params", "pipeline"])?;
        let node_of =
            |plan: &Plan| plan.nodes.iter().position(|node| node.effect.as_ref().is_some_and(|function| function.key() == name));
        let project = self.project(inputs, |plan| node_of(plan).is_some())?;
        let plan = &project.plan;
        let function = function(&project, name, 2)?;
        let node = node_of(plan).map(NodeIx);
        let kind = node.map_or(Kind::Any, |node| plan.node(node).kind.clone());
        let whose = node.map_or("", |node| plan.pipeline.at(node).name.as_str());
        let artifact = artifact(inputs, &kind, whose)?;
        let params = params(plan, node.unwrap_or_else(|| start(plan)), &inputs["params"], self.now())?;
        let effects = function.effects(&artifact, &params)?;
        for (index, effect) in effects.iter().enumerate() {
            if let Err(error) = serde_json::from_value::<Effect<Handle>>(effect.clone()) {
                let message = format!("effect {} returned by `{name}` is not one: {error}", index + 1);
                let diagnostic = Diagnostic::error("rule/effect", message);
                return Err(Box::new(match function.definition() {
                    Some((source, span)) => diagnostic.label(&source, span, "returned from here"),
                    None => diagnostic,
                }));
            }
        }
        Ok(Value::Array(effects))
    }

    fn fixture(&self, name: &str) -> HostResult<Value> {
        let plain = !name.is_empty() && !name.contains('\\') && name.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if !plain {
            let help = "name a file in the directory of the test, or below it: `fixture(\"fixtures/known.json\")`";
            return refuse("test/fixture", format!("`{name}` leads out of the test's directory"), Some(help.into()));
        }
        let source = match self.ground.session.test_data(&self.file, name) {
            Ok(Some(source)) => source,
            Ok(None) => {
                let dir = self.file.source.name().rsplit_once('/').map_or("", |(dir, _)| dir);
                let place = if dir.is_empty() { String::new() } else { format!(" in `{dir}`") };
                let help = "the name of a fixture is a path below the directory that the test is in";
                return refuse("test/fixture", format!("unknown fixture `{name}`{place}"), Some(help.into()));
            }
            Err(error) => return refuse("test/fixture", error.to_string(), None),
        };
        serde_json::from_str(source.text()).map_err(|error| {
            let source = Source::new(name, source.text());
            let at = source.offset(error.line(), error.column()).min(source.text().len().saturating_sub(1));
            let said = error.to_string();
            let said = said.split(" at line ").next().unwrap_or(&said);
            let message = format!("the fixture `{name}` is not valid JSON: {said}");
            Box::new(Diagnostic::error("test/fixture", message).label(&source, Span::new(at, at + 1), "here"))
        })
    }

    fn project(&self, inputs: &Value, uses: impl Fn(&Plan) -> bool) -> HostResult<Arc<Project>> {
        match &inputs["pipeline"] {
            Value::Null => self.ground.project(None, uses),
            Value::String(name) => self.ground.project(Some(name), uses),
            other => refuse("test/inputs", format!("`pipeline` is a name, not `{other}`"), None),
        }
    }

    fn now(&self) -> asterisk_base::clock::Timestamp {
        self.ground.session.setup().clock.now()
    }
}

fn function(project: &Project, name: &str, arity: usize) -> HostResult<ScriptFunction> {
    let reference = FunctionRef::parse(name)?;
    Ok(project.library.function(&reference, arity)?)
}

fn artifact(inputs: &Value, kind: &Kind, whose: &str) -> HostResult<View> {
    check(kind, &inputs["artifact"], whose)?;
    Ok(View::of(&inputs["artifact"], kind, "artifact"))
}

fn vars(inputs: &Value) -> HostResult<Map<String, Value>> {
    match &inputs["vars"] {
        Value::Null => Ok(Map::new()),
        Value::Object(vars) => Ok(vars.clone()),
        other => refuse("test/inputs", format!("`vars` are a map, not `{other}`"), None),
    }
}

/// The plan with the vars that the test sets.
fn plan(project: &Project, inputs: &Value) -> HostResult<Arc<Plan>> {
    project.plan_with(&vars(inputs)?).map_err(first)
}

fn start(plan: &Plan) -> NodeIx {
    plan.pipeline.start
}

#[expect(clippy::unnecessary_box_returns, reason = "it goes into the error of a result")]
fn first(found: asterisk_diag::Diagnostics) -> Box<Diagnostic> {
    let first = found.into_iter().next();
    Box::new(first.unwrap_or_else(|| Diagnostic::error("test/inputs", "this does not fit the pipeline")))
}
