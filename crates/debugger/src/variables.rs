//! Variables: values that a client has references to until the walk moves on.

use crate::case::DebuggedCase;
use crate::expressions::NamedValues;
use crate::fault::{DebugFault, fault};
use crate::frames::ScopeContent;
use crate::protocol::{DapVariable, VariablesArguments};
use asterisk_script::probe::{InspectedValue, ValueShape};

/// Maximum number of variables in one response.
const MOST: usize = 10_000;

/// What a reference stands for.
enum VariableContainer {
    Value {
        value: InspectedValue,
        /// Its name in expressions.
        path: Option<String>,
    },
    Named(NamedValues, bool),
    /// The recorded parameters of a step, or that part of them.
    Params(usize, Option<&'static str>),
}

/// The references given out since the walk stopped.
#[derive(Default)]
pub(crate) struct VariableReferences {
    containers: Vec<VariableContainer>,
}

impl VariableReferences {
    /// Forgets all references.
    pub(crate) fn clear(&mut self) {
        self.containers.clear();
    }

    /// A reference to a scope of a step.
    pub(crate) fn scope(&mut self, step: usize, content: ScopeContent) -> i64 {
        self.add(match content {
            ScopeContent::Values(values, is_named) => VariableContainer::Named(values, is_named),
            ScopeContent::Input(name, value) => VariableContainer::Value { value, path: Some(name) },
            ScopeContent::Params(part) => VariableContainer::Params(step, part),
        })
    }

    /// A variable with a reference to its parts.
    pub(crate) fn variable(&mut self, name: String, value: InspectedValue, path: Option<String>) -> DapVariable {
        let shape = value.shape();
        let (text, kind) = (value.text(), value.kind());
        let reference = match shape {
            ValueShape::Scalar | ValueShape::List(0) | ValueShape::Object(0) => 0,
            _ => self.add(VariableContainer::Value { value, path: path.clone() }),
        };
        let (named, indexed) = match shape {
            ValueShape::Scalar => (None, None),
            ValueShape::List(count) => (None, Some(count)),
            ValueShape::Object(count) => (Some(count), None),
        };
        DapVariable {
            name,
            value: text,
            kind,
            evaluate_name: path,
            variables_reference: reference,
            named_variables: named,
            indexed_variables: indexed,
        }
    }

    /// The variables behind a reference.
    pub(crate) fn list(&mut self, case: &DebuggedCase, asked: &VariablesArguments) -> Result<Vec<DapVariable>, DebugFault> {
        let at = usize::try_from(asked.variables_reference.saturating_sub(1)).ok();
        let container = at.and_then(|at| self.containers.get(at)).ok_or_else(|| fault("unknown variablesReference"))?;
        let start = asked.start.and_then(|start| usize::try_from(start).ok()).unwrap_or_default();
        let count =
            asked.count.and_then(|count| usize::try_from(count).ok()).filter(|count| *count > 0).unwrap_or(MOST).min(MOST);
        let filter = asked.filter.as_deref();
        let (values, parent) = match container {
            VariableContainer::Named(values, is_named) => {
                let values = values
                    .iter()
                    .skip(start)
                    .take(count)
                    .map(|(name, value)| (name.clone(), value.clone(), is_named.then(|| name.clone())));
                return Ok(values
                    .collect::<Vec<_>>()
                    .into_iter()
                    .map(|(name, value, path)| self.variable(name, value, path))
                    .collect());
            }
            VariableContainer::Params(step, part) => {
                let params = case.params(*step).ok_or_else(|| fault("the parameters of this step cannot be read"))?;
                let params = InspectedValue::of_view(&params);
                let value = match part {
                    Some(part) => params.entry(part).ok_or_else(|| fault(format!("there is no `{part}` in the parameters")))?,
                    None => params,
                };
                (value, Some(part.unwrap_or("params").to_owned()))
            }
            VariableContainer::Value { value, path } => (value.clone(), path.clone()),
        };
        let mut listed = Vec::new();
        match values.shape() {
            ValueShape::List(_) if filter != Some("named") => {
                for (at, item) in (start..).zip(values.items(start, count)) {
                    let path = parent.as_ref().map(|parent| format!("{parent}[{at}]"));
                    listed.push(self.variable(format!("[{at}]"), item, path));
                }
            }
            ValueShape::Object(_) if filter != Some("indexed") => {
                for (key, item) in values.entries(start, count) {
                    let path = parent.as_ref().map(|parent| member(parent, &key));
                    listed.push(self.variable(key, item, path));
                }
            }
            _ => {}
        }
        Ok(listed)
    }

    fn add(&mut self, container: VariableContainer) -> i64 {
        self.containers.push(container);
        i64::try_from(self.containers.len()).unwrap_or(i64::MAX)
    }
}

/// The name of an entry in expressions.
fn member(parent: &str, key: &str) -> String {
    let is_word = key.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_')
        && key.chars().all(|ch| ch.is_ascii_alphanumeric() || ch == '_');
    if is_word { format!("{parent}.{key}") } else { format!("{parent}[{key:?}]") }
}
