//! The diagnostics of the checker, each labelled at its token and reported once.

use super::types::{Class, Type};
use super::value::TypedValue;
use crate::fault;
use asterisk_diag::{Diagnostic, Diagnostics, Source, Span, did_you_mean, nearest};
use std::collections::BTreeSet;

/// The most values that a help lists.
const LISTED: usize = 24;

/// A place in a script.
#[derive(Clone, Debug)]
pub(super) struct ScriptPlace {
    pub(super) source: Source,
    pub(super) span: Span,
}

/// Collects diagnostics.
#[derive(Default)]
pub(super) struct Findings {
    seen: BTreeSet<(String, String, Span)>,
    list: Diagnostics,
}

impl Findings {
    /// Adds a diagnostic unless it was already reported at the same place; `frames` are the enclosing calls.
    pub(super) fn add(&mut self, mut diagnostic: Diagnostic, frames: &[(ScriptPlace, String)]) {
        let Some(primary) = diagnostic.primary() else { return };
        if self.seen.insert((diagnostic.code.to_string(), primary.source.name().to_owned(), primary.span)) {
            for (place, name) in frames.iter().rev() {
                diagnostic = diagnostic.label(&place.source, place.span, format!("`{name}` is called here"));
            }
            self.list.push(diagnostic);
        }
    }

    /// Returns all diagnostics.
    pub(super) fn into_list(self) -> Diagnostics {
        self.list
    }
}

/// A side of a comparison.
pub(super) struct ComparisonSide<'v, 'a> {
    pub(super) value: &'v TypedValue<'a>,
    pub(super) class: Class,
    pub(super) span: Span,
}

impl ComparisonSide<'_, '_> {
    /// `` `artifact.confidence` is a number `` or `a number`.
    fn description(&self) -> Option<String> {
        self.value.path().map(|path| format!("`{path}` is {}", self.class.name()))
    }
}

/// Values of different types are compared.
pub(super) fn compared(place: &ScriptPlace, left: &ComparisonSide<'_, '_>, right: &ComparisonSide<'_, '_>) -> Diagnostic {
    let (subject, other) = match (left.description(), right.description()) {
        (Some(subject), _) => (subject, right),
        (None, Some(subject)) => (subject, left),
        (None, None) => (format!("this is {}", left.class.name()), right),
    };
    let message = format!("{subject} and cannot be compared with {}", other.class.name());
    Diagnostic::error(fault::COMPARE_TYPES, message)
        .label(&place.source, place.span, "compares values of different types")
        .label(&place.source, left.span, left.class.name())
        .label(&place.source, right.span, right.class.name())
        .maybe_help(compare_help(place, left, right))
}

fn compare_help(place: &ScriptPlace, left: &ComparisonSide<'_, '_>, right: &ComparisonSide<'_, '_>) -> Option<String> {
    let has = |class| left.class == class || right.class == class;
    let side = |class| if left.class == class { left } else { right };
    if has(Class::Number) && has(Class::Text) {
        let literal = place.source.slice(side(Class::Text).span).trim_matches(['"', '`', '\'']);
        return Some(match literal.parse::<f64>() {
            Ok(_) => format!("write the number without quotes: `{literal}`"),
            Err(_) => "`parse_number(text)` converts a string to a number".to_owned(),
        });
    }
    if has(Class::Unit) {
        return Some("check for a missing value with `== ()` or `!= ()`".to_owned());
    }
    if has(Class::Bool) {
        return side(Class::Bool).value.path().map(|path| format!("a bool is a condition by itself: `{path}` or `!{path}`"));
    }
    has(Class::List).then(|| "compare its length, `.len()`, or one of its items".to_owned())
}

/// Values without an order are compared by order.
pub(super) fn unordered(place: &ScriptPlace, side: &ComparisonSide<'_, '_>) -> Diagnostic {
    let subject = side.description().unwrap_or_else(|| format!("this is {}", side.class.name()));
    let help = match side.class {
        Class::List => Some("compare its length: `.len()`"),
        Class::Unit => Some("check for a missing value with `== ()` or `!= ()`"),
        _ => None,
    };
    Diagnostic::error(fault::COMPARE_TYPES, format!("{subject}, which is not ordered"))
        .label(&place.source, place.span, "ordered comparison")
        .label(&place.source, side.span, side.class.name())
        .maybe_help(help.map(str::to_owned))
}

/// A string field is compared with a string that it can never be.
pub(super) fn never(place: &ScriptPlace, value: &TypedValue<'_>, literal: &str, one_of: &[String]) -> Diagnostic {
    let subject = value.path().map_or_else(|| "this value".to_owned(), |path| format!("`{path}`"));
    let help = did_you_mean(literal, one_of.iter().map(String::as_str));
    Diagnostic::error("rule/enum-value", format!("{subject} is never \"{literal}\""))
        .label(&place.source, place.span, "not one of its values")
        .maybe_help(help.or_else(|| (one_of.len() <= LISTED).then(|| format!("it is one of {}", one_of.join(", ")))))
}

/// An unknown field is read.
pub(super) fn no_field(place: &ScriptPlace, value: &TypedValue<'_>, name: &str) -> Diagnostic {
    let Some(shape) = value.ty.shape() else { return list_field(place, value, name) };
    let known = || shape.fields.iter().map(|field| field.name.as_str());
    if value.path() == Some("vars") {
        return Diagnostic::error("rule/unknown-var", format!("unknown var `{name}`"))
            .label(&place.source, place.span, "not declared")
            .maybe_help(meant(place, name, known(), "declare it under `vars:` in the pipeline"));
    }
    let before = place.source.text()[..place.span.start].trim_end();
    let bare = before.ends_with("==") || before.ends_with("!=");
    let text = (bare && nearest(name, known()).is_none()).then(|| format!("strings need quotes: `\"{name}\"`"));
    let subject = value.path().unwrap_or(&shape.name);
    let what = if shape.name.is_empty() { "not a field".to_owned() } else { format!("not a field of the {}", shape.name) };
    Diagnostic::error(fault::UNKNOWN_FIELD, format!("no field `{name}` on `{subject}`"))
        .label(&place.source, place.span, what)
        .maybe_help(text.or_else(|| meant(place, name, known(), "no field has a similar name")))
}

/// The path that was meant, as the script has it: `evidence.lines.find` for `evidence.lins.find`.
pub(super) fn meant<'n>(
    place: &ScriptPlace,
    name: &str,
    known: impl Iterator<Item = &'n str> + Clone,
    otherwise: &str,
) -> Option<String> {
    let text = place.source.text();
    let of_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '?');
    let before = text.get(..place.span.start).unwrap_or_default();
    let after = text.get(place.span.end..).unwrap_or_default();
    let before = &before[before.trim_end_matches(of_path).len()..];
    let after = &after[..after.len() - after.trim_start_matches(of_path).len()];
    let is_path = before.ends_with('.') && text.get(place.span.start..place.span.end) == Some(name);
    match (nearest(name, known.clone()), is_path) {
        (Some(near), true) => Some(format!("did you mean `{before}{near}{after}` instead of `{before}{name}{after}`?")),
        (None, true) => {
            let known = did_you_mean(name, known).unwrap_or_else(|| otherwise.to_owned());
            Some(format!("`{before}{name}{after}`: {known}"))
        }
        (_, false) => did_you_mean(name, known),
    }
}

/// A field is read that may be absent.
pub(super) fn may_be_absent(place: &ScriptPlace, value: &TypedValue<'_>, name: &str) -> Diagnostic {
    let subject = value.path().map_or_else(|| name.to_owned(), |path| format!("{path}.{name}"));
    Diagnostic::error("rule/absent-field", format!("`{subject}` may be absent"))
        .label(&place.source, place.span, "fails where it is absent")
        .help(format!("read it with a default: `get_or(.., \"{name}\", ..)`, or check first: `\"{name}\" in ..`"))
}

/// A function is called with a list and reads a field of it.
pub(super) fn wrong_argument(
    call: &ScriptPlace,
    function: &str,
    place: &ScriptPlace,
    value: &TypedValue<'_>,
    name: &str,
) -> Diagnostic {
    let subject = value.path().unwrap_or_default();
    Diagnostic::error(fault::UNKNOWN_FIELD, format!("`{function}` reads `{name}` of `{subject}`, which is a list"))
        .label(&call.source, call.span, "called with a list")
        .label(&place.source, place.span, "read here")
        .help(format!("call it with an item of the list: `{subject}[0]`, or for each item"))
}

fn list_field(place: &ScriptPlace, value: &TypedValue<'_>, name: &str) -> Diagnostic {
    let subject = value.path().map_or_else(|| "this".to_owned(), |path| format!("`{path}`"));
    let has = matches!(value.ty.item(), Type::Of(_)) && value.ty.item().shape().is_some_and(|shape| shape.field(name).is_some());
    let help = if has {
        format!("its items have it: `[0].{name}`, or `.any(|item| item.{name} ...)`")
    } else {
        "read an item: `[0]`".into()
    };
    Diagnostic::error(fault::UNKNOWN_FIELD, format!("{subject} is a list without a field `{name}`"))
        .label(&place.source, place.span, "not a field of a list")
        .help(help)
}

/// An input is modified.
pub(super) fn written(place: &ScriptPlace, path: &str, label: &str) -> Diagnostic {
    Diagnostic::error("rule/writes-input", format!("`{path}` is read-only"))
        .label(&place.source, place.span, label)
        .help("inputs cannot be changed: return the change, or work on a copy")
}

/// A case of a switch is a literal that the subject can never be.
pub(super) fn no_case(
    place: &ScriptPlace,
    value: &TypedValue<'_>,
    class: Class,
    literal: &str,
    help: Option<String>,
) -> Diagnostic {
    let subject = value.path().map_or_else(|| "this".to_owned(), |path| format!("`{path}`"));
    Diagnostic::error(fault::COMPARE_TYPES, format!("the case `{literal}` never matches: {subject} is {}", class.name()))
        .label(&place.source, place.span, "never matches")
        .maybe_help(help.or_else(|| Some("a switch compares exactly: a case must have the same type".to_owned())))
}
