//! The words for completion at a position.

use super::place::ReplPosition;
use super::scope::EvalScope;
use asterisk_base::model::Kind;
use asterisk_script::api::registry;
use serde_json::{Map, Value, json};

/// The words at a position, rebuilt when it changes; completion uses nothing else.
#[derive(Clone, Debug, Default)]
pub(super) struct CompletionWords {
    /// The inputs of rules: `{artifact, state, vars}`, with every readable field.
    pub(super) inputs: Map<String, Value>,
    /// Functions an expression can call, with their signatures.
    pub(super) functions: Vec<(String, String)>,
    /// The edges considered here.
    pub(super) edges: Vec<String>,
    /// The targets of `:at`: the nodes of the case, or of the pipeline.
    pub(super) nodes: Vec<String>,
    /// The cases of the run.
    pub(super) cases: Vec<String>,
    /// The functions of scripts.
    pub(super) scripts: Vec<String>,
}

/// The maximum number of cases completed.
const CASES: usize = 5000;

impl CompletionWords {
    /// Collects the words at a position.
    pub(super) fn of(place: &ReplPosition) -> Self {
        let mut words = Self { cases: place.cases().unwrap_or_default(), ..Self::default() };
        words.cases.truncate(CASES);
        words.functions = registry().iter().map(|function| (function.name.to_owned(), function.signature.to_owned())).collect();
        if let Ok(here) = place.here() {
            words.add_scope(&here);
        }
        words.inputs.extend(place.bound.iter().map(|(name, value)| (name.clone(), value.clone())));
        if let Some(walked) = &place.walked {
            words.nodes = walked.steps.iter().map(|step| step.node.to_string()).collect();
        }
        words
    }

    fn add_scope(&mut self, here: &EvalScope) {
        let views = here.inputs();
        for ((name, kind), (_, view)) in here.kinds().iter().zip(&views) {
            self.inputs.insert((*name).to_owned(), outline(kind, &view.json()));
        }
        let pipeline = &here.plan.pipeline;
        self.edges = here.edges().into_iter().map(|edge| pipeline.edge_at(edge).id.value.clone()).collect();
        self.nodes = pipeline.nodes.iter().map(|node| node.name.value.clone()).collect();
        let functions = |file: &asterisk_script::LinkedScript| {
            let path = file.path().to_owned();
            file.functions().map(move |function| format!("{path}#{}", function.name)).collect::<Vec<_>>()
        };
        self.scripts = here.project.library.files().flat_map(functions).collect();
    }
}

/// A value with every field that its type declares.
fn outline(kind: &Kind, value: &Value) -> Value {
    match kind {
        Kind::Object(shape) => {
            let field = |field: &asterisk_base::model::Field| {
                let value = value.get(&field.name).unwrap_or(&Value::Null);
                (field.name.clone(), outline(&field.kind, value))
            };
            Value::Object(shape.fields.iter().map(field).collect())
        }
        Kind::Map(item) => {
            let entry = |(key, value): (&String, &Value)| (key.clone(), outline(item, value));
            Value::Object(value.as_object().into_iter().flatten().map(entry).collect())
        }
        Kind::Any => value.clone(),
        // The name of the type in place of the value.
        other => json!(other.name()),
    }
}
