//! What an answerer, a template and an effect are given: the parameter groups of the RCA design (`design.md` §5).

use super::plan::Plan;
use super::state::WalkState;
use crate::clock::Timestamp;
use crate::model::{Case, Kind, Launch};
use crate::pipeline::NodeIx;
use crate::script::View;
use serde_json::{Value, json};

/// The groups that stay the same for all steps of a case, converted once.
#[derive(Clone, Debug)]
pub struct CaseParams {
    envelope: View,
    env: View,
    git: View,
    failure: View,
    urls: View,
    launch_times: Value,
}

impl CaseParams {
    /// Converts a launch and one of its cases. Parts that are absent read as empty.
    pub fn new(launch: &Launch, case: &Case) -> Self {
        let any = |value: &Value, name: &str| View::of(value, &Kind::Any, name);
        let envelope = json!({
            "run_id": launch.run_id, "name": launch.name, "number": launch.number, "status": launch.status,
            "totals": launch.totals, "attributes": launch.attributes, "cases": launch.cases.len(), "notes": launch.notes,
        });
        let failure = json!({
            "id": case.id, "name": case.name, "suite": case.suite, "file": case.file.as_deref().unwrap_or(""),
            "status": case.status, "duration_s": case.duration_s, "attributes": case.attributes,
            "error_message": case.error_message, "log_snippet": case.log_snippet, "log_cut": case.log_cut,
            "source_defect": case.source_defect.as_deref().unwrap_or(""), "recall_key": case.recall_key,
        });
        let git = json!({
            "branch": launch.git.branch.as_deref().unwrap_or(""), "commit": launch.git.commit.as_deref().unwrap_or(""),
            "remote": launch.git.remote.as_deref().unwrap_or(""),
        });
        let url = |key: &str| case.attributes.get(key).or_else(|| launch.attributes.get(key)).cloned().unwrap_or_default();
        Self {
            envelope: any(&envelope, "params.envelope"),
            env: any(&json!(launch.attributes), "params.env"),
            git: any(&git, "params.git"),
            failure: any(&failure, "params.failure"),
            urls: any(&json!({ "launch": url("launch_url"), "item": url("item_url") }), "params.urls"),
            launch_times: json!({
                "launch_started_at": launch.started_at, "launch_ended_at": launch.ended_at, "case_started_at": case.started_at,
            }),
        }
    }

    /// All parameters of a step. `needs` are the results of the node's declared reads, under their names with dots turned
    /// to underscores.
    pub fn for_step(
        &self,
        plan: &Plan,
        node: NodeIx,
        walk: &WalkState,
        state: &View,
        step: &StepPlace<'_>,
        needs: &[(String, View)],
    ) -> View {
        let spec = &plan.pipeline.nodes[node.0];
        let prior = walk.prior.iter().filter_map(|(name, artifact)| Some((&**name, artifact.view()?.clone())));
        let bindings = walk.bindings.iter().map(|(name, id)| (name.as_str(), View::from(*id)));
        let need = |name: &str| needs.iter().find(|(known, _)| known == name).map(|(_, view)| view.clone());
        let mut times = self.launch_times.clone();
        times["now"] = json!(step.now);
        View::object(
            "params",
            [
                ("bindings", View::map("params.bindings", bindings, View::from(0))),
                ("data", plan.data.clone()),
                ("env", self.env.clone()),
                ("envelope", self.envelope.clone()),
                ("failure", self.failure.clone()),
                ("git", self.git.clone()),
                ("history", state.get("history").unwrap_or_else(View::null)),
                (
                    "identity",
                    View::object(
                        "params.identity",
                        [
                            ("case", View::from(step.case)),
                            ("code", View::from(spec.code.as_ref().map_or("", |code| code.as_str()))),
                            ("node", View::from(spec.name.as_str())),
                            ("path", View::from(step.path)),
                            ("pipeline", View::from(plan.pipeline.name.as_str())),
                            ("run", View::from(step.run)),
                        ],
                    ),
                ),
                ("needs", View::object("params.needs", needs.iter().map(|(name, view)| (name.as_str(), view.clone())))),
                ("prior", View::map("params.prior", prior, View::null())),
                ("siblings", need("siblings").unwrap_or_else(|| View::list("params.siblings", []))),
                ("state", state.clone()),
                ("taxonomy", plan.data.get("taxonomy").unwrap_or_else(View::null)),
                ("timestamps", View::of(&times, &Kind::Any, "params.timestamps")),
                ("urls", self.urls.clone()),
                ("workspace", plan.workspace.clone()),
            ],
        )
    }
}

/// Which step the parameters are for.
#[derive(Clone, Copy, Debug)]
pub struct StepPlace<'a> {
    /// The run's id.
    pub run: &'a str,
    /// The case's id.
    pub case: &'a str,
    /// The step's path.
    pub path: &'a str,
    /// When it began.
    pub now: Timestamp,
}
