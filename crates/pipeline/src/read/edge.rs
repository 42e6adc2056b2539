//! Reads an edge.

use crate::graph::EdgeCondition;
use crate::keys::EDGE;
use crate::raw::{ANY, RawEdge, Ref};
use asterisk_diag::Span;
use asterisk_form::yaml::{Yaml, YamlReader};
use asterisk_form::{FormFields, Spanned};

/// Reads an edge; `None` if it is not a map.
pub(super) fn edge(reader: &mut YamlReader<'_>, yaml: &Yaml) -> Option<RawEdge> {
    let fields = FormFields::of(yaml, &EDGE)?;
    let id = fields.text("id");
    let what = id.as_ref().map_or("an edge".to_owned(), |id| format!("edge `{id}`"));
    let (when, when_span) = when(reader, fields, &what);
    let context = fields.entries("context").iter();
    let edge = RawEdge {
        whole: yaml.span,
        head: yaml.head(reader.source()),
        name: fields.label("name"),
        from: reference(fields, "from"),
        to: reference(fields, "to"),
        targets: fields.texts("targets"),
        counter: fields.text("counter"),
        context: context.map(|entry| (entry.key.value.clone(), entry.value.to_json())).collect(),
        id,
        shortcut: fields.flag("shortcut"),
        looped: fields.flag("loop"),
        advisory: fields.flag("advisory"),
        parallel: fields.flag("parallel"),
        when,
        when_span,
    };
    consistent(reader, fields, &edge, &what);
    Some(edge)
}

fn reference(fields: FormFields<'_>, key: &str) -> Ref {
    match (fields.present(key).map(Yaml::as_text), fields.text(key)) {
        (_, Some(name)) => Ref::Name(name),
        (None | Some(Some(_)), None) => Ref::Missing,
        (Some(None), None) => Ref::Bad,
    }
}

fn when(reader: &mut YamlReader<'_>, fields: FormFields<'_>, what: &str) -> (EdgeCondition, Option<Span>) {
    if let (Some(rule), Some(condition)) = (fields.value("rule"), fields.value("condition")) {
        let message = format!("{what} has both a rule and a condition");
        let error = reader
            .error("rule-and-condition", message, condition.span, "the condition")
            .label(reader.source(), rule.span, "the rule")
            .help("remove one of them; a rule can hold the condition");
        reader.push(error);
    }
    match (fields.text("rule"), fields.expression("condition", reader.source())) {
        (Some(rule), _) => {
            let span = rule.span;
            (EdgeCondition::Rule(rule), Some(span))
        }
        (None, Some(condition)) => {
            let span = condition.whole();
            (EdgeCondition::Condition(condition), Some(span))
        }
        (None, None) => (EdgeCondition::Always, None),
    }
}

/// Checks an edge as far as possible without the nodes: reports keys without effect.
fn consistent(reader: &mut YamlReader<'_>, fields: FormFields<'_>, edge: &RawEdge, what: &str) {
    if let Some(counter) = &edge.counter {
        if !is_identifier(counter) {
            let message = format!("the counter `{counter}` of {what} is not a name");
            let error = reader.error("bad-counter", message, counter.span, "");
            reader.push(error.help("rules read it as `state.loops.NAME`: letters, digits and `_`, no digit first"));
        }
        if !edge.looped {
            let message = format!("{what} has a counter but is not a loop, so it never counts");
            let error = reader.error("bad-counter", message, fields.key_span("counter"), "");
            reader.push(error.help("add `loop: true`, or remove the counter"));
        }
    }
    if let (true, Ref::Name(from)) = (edge.parallel, &edge.from)
        && from.value == ANY
    {
        let error =
            reader.error("parallel", format!("{what} is a guard, which cannot be parallel"), fields.key_span("parallel"), "");
        reader.push(error.help("remove `parallel`"));
    }
    if !edge.advisory {
        return;
    }
    let idle =
        [("parallel", edge.parallel), ("shortcut", edge.shortcut), ("loop", edge.looped), ("targets", !edge.targets.is_empty())];
    for (key, _) in idle.iter().filter(|(_, given)| *given) {
        let message = format!("{what} is an advisory: it never routes, so `{key}` has no effect");
        let error = reader.error("advisory", message, fields.key_span(key), "");
        reader.push(error.help(format!("remove `{key}`, or remove `advisory`")));
    }
    if let Ref::Name(Spanned { value, span }) = &edge.from
        && value == ANY
    {
        let message = format!("{what} is both a guard and an advisory");
        let error = reader.error("advisory", message, *span, "a guard");
        reader.push(error.help("set `from` of an advisory to a node"));
    }
}

fn is_identifier(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
