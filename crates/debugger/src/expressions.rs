//! Expressions of a client: compiled like conditions of edges, evaluated with what is in scope at a frame.

use crate::fault::{DebugFault, explained, fault};
use asterisk_diag::{MappedText, Source, Span};
use asterisk_project::{Project, fields};
use asterisk_script::probe::{InspectedValue, Probes};
use asterisk_script::{Condition, Library, LibraryInputs, ScriptFunction, View};
use asterisk_walk::Plan;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The key of an expression among the conditions of its library.
const KEY: &str = "expression";
/// The names that every condition has.
const KNOWN: [&str; 3] = ["artifact", "state", "vars"];
/// The number of compiled expressions that are kept.
const KEPT: usize = 200;

/// Values by name; a later one hides an earlier one of the same name.
pub(crate) type NamedValues = Vec<(String, InspectedValue)>;

/// An expression as a function, or why it is none.
type CompiledExpression = Result<ScriptFunction, String>;

/// The compiled expressions.
#[derive(Default)]
pub(crate) struct Expressions {
    compiled: RefCell<BTreeMap<ExpressionKey, CompiledExpression>>,
}

/// What the meaning of an expression depends on.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ExpressionKey {
    text: String,
    /// The names in scope.
    names: Vec<String>,
    /// The names of fields of the artifact, which need no `artifact.` before them.
    fields: BTreeSet<String>,
}

impl Expressions {
    /// Evaluates an expression.
    pub(crate) fn evaluate(
        &self,
        (project, plan): (&Project, &Plan),
        scope: &NamedValues,
        text: &str,
    ) -> Result<InspectedValue, DebugFault> {
        if text.trim().is_empty() {
            return Err(fault("the expression is empty"));
        }
        let mut values: BTreeMap<&str, View> = BTreeMap::new();
        for (name, value) in scope {
            // A function cannot be passed on.
            match value.view() {
                Some(view) => values.insert(name, view),
                None => values.remove(name.as_str()),
            };
        }
        // Without an artifact, a name that is not in scope is unknown, not a field.
        let fields = if values.contains_key("artifact") { fields(&plan.pipeline) } else { BTreeSet::new() };
        let of_rules = KNOWN.map(|name| values.remove(name).unwrap_or_else(View::null));
        values.retain(|name, _| is_identifier(name));
        let names: Vec<String> = values.keys().map(|name| (*name).to_owned()).collect();
        let key = ExpressionKey { text: text.to_owned(), names, fields };
        let known = self.compiled.borrow().get(&key).cloned();
        let function = known.unwrap_or_else(|| {
            let compiled = compile(project, &key);
            let mut all = self.compiled.borrow_mut();
            if all.len() >= KEPT {
                all.clear();
            }
            all.insert(key, compiled.clone());
            compiled
        });
        let function = function.map_err(fault)?;
        let args: Vec<View> = of_rules.into_iter().chain(values.into_values()).collect();
        Ok(function.inspect(&args)?)
    }
}

fn compile(project: &Project, ExpressionKey { text, names, fields }: &ExpressionKey) -> Result<ScriptFunction, String> {
    let source = Source::new(KEY, text);
    // Each byte of a character maps to the character.
    let offsets = text.char_indices().flat_map(|(at, ch)| std::iter::repeat_n(at, ch.len_utf8())).collect();
    let mapped = MappedText::new(text.clone(), offsets, source, Span::new(0, text.len()));
    let inputs = LibraryInputs {
        conditions: vec![Condition { key: KEY.to_owned(), text: mapped, locals: names.clone() }],
        fields: fields.clone(),
        limits: project.settings.limits.clone(),
        probes: Probes::None,
        // It can call the host's functions only.
        reached: Some(BTreeSet::new()),
        ..LibraryInputs::default()
    };
    let library = Library::link(inputs, None).map_err(|found| {
        let all: Vec<String> = found.iter().map(explained).collect();
        all.join("; ")
    })?;
    library.condition(KEY).ok_or_else(|| "the expression is empty".to_owned())
}

/// Whether a variable of that name can be a parameter.
fn is_identifier(name: &str) -> bool {
    name.starts_with(|ch: char| ch.is_alphabetic() || ch == '_') && name.chars().all(|ch| ch.is_alphanumeric() || ch == '_')
}
