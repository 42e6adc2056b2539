//! Canned answers from a file: `{"CASE or *": {"NODE": [artifact, ...]}}`; the n-th visit of a node receives the n-th artifact.

use asterisk_diag::{Diagnostic, Source, Span};
use asterisk_walk::{Answerer, NodeAnswer, Refusal, Request};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

type ByNode = BTreeMap<String, Vec<Arc<Value>>>;

/// Canned answers. A case without answers of its own for a node uses those of `*`.
#[derive(Clone, Debug, Default)]
pub struct StubAnswers {
    cases: BTreeMap<String, ByNode>,
}

impl StubAnswers {
    /// Parses a stub file.
    pub fn parse(source: &Source) -> Result<Self, Box<Diagnostic>> {
        let cases: BTreeMap<String, BTreeMap<String, Vec<Value>>> = serde_json::from_str(source.text()).map_err(|error| {
            let at = source.offset(error.line(), error.column());
            let at = at.min(source.text().len().saturating_sub(1));
            let diagnostic = Diagnostic::error("input/stub", format!("this is not a stub file: {error}"));
            Box::new(
                diagnostic
                    .label(source, Span::new(at, at + 1), "here")
                    .help("a stub file is {\"CASE or *\": {\"NODE\": [artifact, ...]}}"),
            )
        })?;
        let share = |(node, list): (String, Vec<Value>)| (node, list.into_iter().map(Arc::new).collect());
        let cases = cases.into_iter().map(|(case, nodes)| (case, nodes.into_iter().map(share).collect())).collect();
        Ok(Self { cases })
    }

    /// The nodes with canned answers.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.cases.values().flat_map(|nodes| nodes.keys().map(String::as_str))
    }

    fn list(&self, case: &str, node: &str) -> Option<&Vec<Arc<Value>>> {
        let of = |case: &str| self.cases.get(case)?.get(node);
        of(case).or_else(|| of("*"))
    }
}

impl Answerer for StubAnswers {
    fn name(&self) -> &'static str {
        "stub"
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        let node = request.name();
        let list = self.list(&request.case.id, &node);
        match list.and_then(|list| list.get(request.visit)) {
            Some(artifact) => Ok(NodeAnswer::own(Arc::clone(artifact), by(artifact), false)),
            None => {
                let message = match list.map_or(0, Vec::len) {
                    0 => format!("the stub file has no answer for `{node}`"),
                    n => format!("the stub file has {n} answers for `{node}`, and this is visit {}", request.visit + 1),
                };
                Err(Refusal::failed(Diagnostic::error("agent/stub", message)))
            }
        }
    }
}

/// The author that a canned answer simulates: `human`, `agent` or `script` in its field `by`.
fn by(artifact: &Value) -> &'static str {
    let author = artifact.get("by").and_then(Value::as_str);
    ["human", "agent", "script"].into_iter().find(|by| author == Some(by)).unwrap_or("stub")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_without_answers_of_its_own_takes_the_common_ones() {
        let text = r#"{"*": {"a": [{"x": 1}]}, "c": {"b": [null]}}"#;
        let stub = StubAnswers::parse(&Source::new("s.json", text)).expect("a stub");
        assert_eq!(stub.list("c", "a").map(Vec::len), Some(1));
        assert_eq!(stub.list("d", "b"), None);
        assert_eq!(stub.nodes().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn another_shape_is_refused_with_a_place() {
        let error = StubAnswers::parse(&Source::new("s.json", "{\"*\": [1]}")).expect_err("refused");
        assert_eq!(error.code, "input/stub");
        assert!(error.place().is_some_and(|place| place.starts_with("s.json:1:")), "{error:?}");
    }
}
