//! Checks what a function returns: keys, types and ranges of the maps that it writes out, by what it is used as.

use super::findings::{self, ScriptPlace};
use super::flow::TypeFlow;
use super::rule_outcome::leaves;
use super::types::{Class, Type};
use super::value::{MapField, MapLiteral, TypedValue};
use crate::returned_map::{ReturnForm, ReturnedKey, ReturnedType};
use crate::tree::{self, Expr, Function, Node, Position, Stmt};
use crate::{root_rule, rule, verdict_rule};
use asterisk_base::model::{EFFECTS, Kind, Shape, effect_has};
use asterisk_diag::{Diagnostic, Severity, Span, did_you_mean, nearest};
use std::collections::BTreeSet;
use std::rc::Rc;

/// What a function is used as.
#[derive(Clone, Copy, Debug)]
pub enum ReturnedValue<'a> {
    /// Nothing is known of it.
    Any,
    /// The outcome of a rule of an edge, or of a condition.
    Outcome,
    /// The strength of a rule of a verdict.
    Strength,
    /// The key of a rule of roots.
    Root,
    /// The effects of a node.
    Effects,
    /// A document with declared fields.
    Document(&'a Shape),
}

impl<'a> TypeFlow<'a> {
    /// Checks what a function returns; `last` is the value of its last expression.
    pub(super) fn returned(
        &mut self,
        as_what: ReturnedValue<'_>,
        function: &Function,
        last: &TypedValue<'a>,
        returns: &[TypedValue<'a>],
    ) {
        let set = self.set_in_returned(function);
        let at_end = (!leaves(&function.body)).then_some(last);
        let all: Vec<&TypedValue<'a>> = returns.iter().chain(at_end).collect();
        let form = match as_what {
            ReturnedValue::Any => return,
            ReturnedValue::Effects => {
                self.effects();
                return;
            }
            ReturnedValue::Document(shape) => {
                for literal in all.iter().flat_map(|value| &value.literals).chain(&set) {
                    self.document(shape, literal);
                }
                return;
            }
            ReturnedValue::Outcome => &rule::FORM,
            ReturnedValue::Strength => &verdict_rule::FORM,
            ReturnedValue::Root => &root_rule::FORM,
        };
        let ReturnForm { code, help, keys } = *form;
        for field in set.iter().flat_map(|literal| &literal.fields) {
            if let (Some(message), Some(literal)) = (wrong_key(keys, field), &set) {
                self.report(at(literal, field.at, code, message, help));
            }
        }
        for literal in all.iter().flat_map(|value| &value.literals) {
            for field in &literal.fields {
                if let Some(message) = wrong_key(keys, field) {
                    self.report(at(literal, field.at, code, message, help));
                }
            }
            if matches!(as_what, ReturnedValue::Root) && !literal.fields.iter().any(|field| field.name == "key") {
                self.report(at(literal, literal.at, code, "the returned map lacks `key`".to_owned(), help));
            }
            let reason = literal.fields.iter().any(|field| field.name == "because");
            if matches!(as_what, ReturnedValue::Strength | ReturnedValue::Root) && !reason {
                let found = at(
                    literal,
                    literal.at,
                    "verdict/no-reason",
                    "the returned map lacks `because`".to_owned(),
                    "state the reason: `because: line.text`",
                );
                self.report(Diagnostic { severity: Severity::Warning, ..found });
            }
        }
        if matches!(as_what, ReturnedValue::Outcome) {
            return;
        }
        let wrong = |class: Class| match as_what {
            ReturnedValue::Strength => matches!(class, Class::Text | Class::List),
            _ => matches!(class, Class::Text | Class::List | Class::Number),
        };
        for value in all {
            if let Some(class) = value.ty.class().filter(|class| wrong(*class)) {
                let ScriptPlace { source, span } = self.place(value.at);
                let message = format!("`{}` returns {}", function.name(), class.name());
                self.report(Diagnostic::error(code, message).label(&source, span, "returned here").help(help));
            }
        }
    }

    /// The fields that the function sets in variables which it returns, as one map.
    fn set_in_returned(&mut self, function: &Function) -> Option<Rc<MapLiteral<'a>>> {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        tree::each(&function.body, &mut |node| {
            if let Node::Stmt(Stmt::Return { value: Some(Expr::Variable(variable, _)), .. }) = node {
                names.insert(&variable.name);
            }
        });
        if let Some(Stmt::Expr(Expr::Variable(variable, _))) = function.body.last() {
            names.insert(&variable.name);
        }
        let assigned = std::mem::take(&mut self.assigned);
        let fields: Vec<MapField<'a>> =
            assigned.into_iter().filter(|(variable, _)| names.contains(variable.as_str())).map(|(_, field)| field).collect();
        let first = fields.first()?.at;
        Some(Rc::new(MapLiteral { script: self.script(), at: first, fields }))
    }

    /// The maps with an `effect:` that the function writes out, wherever they go: which effects there are, and their keys; ids that no effect
    /// of the function names, if the name of one is almost the same.
    fn effects(&mut self) {
        let written = std::mem::take(&mut self.maps);
        let effect = |literal: &MapLiteral<'a>| {
            literal.fields.iter().find(|field| field.name == "effect").and_then(|field| Some((field.at, field.text.clone()?)))
        };
        let named: Vec<String> = written
            .iter()
            .flat_map(|literal| &literal.fields)
            .filter(|field| field.name == "as")
            .filter_map(|field| field.text.clone())
            .collect();
        for literal in &written {
            let Some((place, name)) = effect(literal) else { continue };
            if !EFFECTS.contains(&name.as_str()) {
                let help = did_you_mean(&name, EFFECTS).unwrap_or_else(|| format!("the effects are {}", EFFECTS.join(", ")));
                self.report(at(literal, place, "effect/return", format!("unknown effect `{name}`"), &help));
                continue;
            }
            for field in &literal.fields {
                if effect_has(&name, &field.name) == Some(false) {
                    self.report(at(
                        literal,
                        field.at,
                        "effect/return",
                        format!("unknown key `{}` of the effect `{name}`", field.name),
                        "",
                    ));
                }
                if let Some(id) = field.text.as_deref().and_then(|text| text.strip_prefix('$'))
                    && !named.iter().any(|known| known == id)
                    && let Some(similar) = nearest(id, named.iter().map(String::as_str))
                {
                    let help = format!("did you mean `${similar}`?");
                    self.report(at(literal, field.at, "effect/return", format!("unknown id `${id}`"), &help));
                }
            }
        }
    }

    /// A map that is returned as a document: its keys are the document's.
    fn document(&mut self, shape: &Shape, literal: &MapLiteral<'a>) {
        for field in &literal.fields {
            let code = "script/returned-field";
            let Some(known) = shape.field(&field.name) else {
                let names = || shape.fields.iter().map(|field| field.name.as_str());
                let message = format!("`{}` is not a field of the {}", field.name, shape.name);
                let unit = literal.script.unit;
                let (source, span) = unit.token(field.at).unwrap_or_else(|| unit.locate(Span::default()));
                let help = findings::meant(&ScriptPlace { source, span }, &field.name, names(), "no field has a similar name");
                let help = help.unwrap_or_else(|| format!("its fields are {}", names().collect::<Vec<_>>().join(", ")));
                self.report(at(literal, field.at, code, message, &help));
                continue;
            };
            let (given, wanted) = (field.value.ty.class(), Type::of(&known.kind).class());
            if let (Some(given), Some(wanted)) = (given, wanted)
                && given != wanted
                && given != Class::Unit
            {
                let message = format!("`{}` of the {} is {}, not {}", field.name, shape.name, wanted.name(), given.name());
                self.report(at(literal, field.at, code, message, ""));
            }
            if let (Kind::Text { one_of }, Some(text)) = (&known.kind, &field.text)
                && !one_of.is_empty()
                && !one_of.contains(text)
            {
                let message = format!("`{}` of the {} is never \"{text}\"", field.name, shape.name);
                let help = did_you_mean(text, one_of.iter().map(String::as_str))
                    .unwrap_or_else(|| format!("it is one of {}", one_of.join(", ")));
                self.report(at(literal, field.at, code, message, &help));
            }
            let bounds = match &known.kind {
                Kind::Number { min, max } => (*min, *max),
                #[expect(clippy::cast_precision_loss, reason = "bounds are small")]
                Kind::Int { min, max } => (min.map(|min| min as f64), max.map(|max| max as f64)),
                _ => (None, None),
            };
            if let Some(number) = field
                .number
                .filter(|number| bounds.0.is_some_and(|min| *number < min) || bounds.1.is_some_and(|max| *number > max))
            {
                let message = format!("`{}` of the {} is never {number}", field.name, shape.name);
                self.report(at(literal, field.at, code, message, "see `schema:` of the node"));
            }
        }
    }
}

fn wrong_key(keys: &[ReturnedKey], field: &MapField<'_>) -> Option<String> {
    let Some(known) = keys.iter().find(|key| key.name == field.name) else {
        let names = keys.iter().map(|key| key.name);
        let hint = did_you_mean(&field.name, names).map_or_else(String::new, |hint| format!("; {hint}"));
        return Some(format!("unknown key `{}` in the returned map{hint}", field.name));
    };
    let wanted: Vec<Class> = known.holds.iter().map(|holds| class_of(*holds)).collect();
    if let Some(given) = field.value.ty.class().filter(|given| !wanted.contains(given) && *given != Class::Unit) {
        let wanted: Vec<&str> = wanted.iter().map(|class| class.name()).collect();
        return Some(format!("`{}` is {}, not {}", field.name, wanted.join(" or "), given.name()));
    }
    if field.name == "key" && field.text.as_deref() == Some("") {
        return Some("`key` is empty".to_owned());
    }
    let is_share = known.holds.contains(&ReturnedType::Share);
    let number = field.number.filter(|number| is_share && !(0.0..=1.0).contains(number))?;
    Some(format!("`{}` is a number from 0 to 1, not {number}", field.name))
}

fn class_of(holds: ReturnedType) -> Class {
    match holds {
        ReturnedType::Text => Class::Text,
        ReturnedType::Texts => Class::List,
        ReturnedType::Map => Class::Map,
        ReturnedType::Share => Class::Number,
    }
}

fn at(literal: &MapLiteral<'_>, place: Position, code: &'static str, message: String, help: &str) -> Diagnostic {
    let unit = literal.script.unit;
    let (source, span) = unit.token(place).unwrap_or_else(|| unit.locate(asterisk_diag::Span::default()));
    let found = Diagnostic::error(code, message).label(&source, span, "returned here");
    if help.is_empty() { found } else { found.help(help.to_owned()) }
}
