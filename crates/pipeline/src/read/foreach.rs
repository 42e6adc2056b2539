//! Reads the `foreach` keys of a node.

use super::computed;
use crate::foreach::{CONCURRENCY, Foreach, Merge};
use crate::raw::RawNode;
use asterisk_form::FormFields;
use asterisk_form::yaml::YamlReader;

/// Reads the keys; errors go to the reader.
pub(super) fn foreach(reader: &mut YamlReader<'_>, fields: FormFields<'_>, node: &RawNode, what: &str) -> Option<Foreach> {
    let Some(given) = fields.value("foreach") else {
        for key in ["do", "merge", "on_error", "concurrency"] {
            let Some(entry) = fields.entry(key) else { continue };
            let error = reader.error("no-foreach", format!("{what} has `{key}` but no `foreach`"), entry.key.span, "");
            reader.push(error.help("`foreach:` lists the items that the node runs for"));
        }
        return None;
    };
    if let Some(yaml) = fields.present("pipeline") {
        let message = format!("{what} has both `foreach` and `pipeline`");
        let error =
            reader.error("answered-twice", message, yaml.span, "").label(reader.source(), given.span, "for each of these");
        reader.push(error.help("put the subpipeline of each item under `do:`"));
    }
    let items = computed(fields, "foreach", reader.source())?;
    let merge = match fields.text("merge") {
        Some(text) if text.contains(".rhai#") => Merge::Function(text),
        Some(text) => match text.as_str() {
            "append" => Merge::Append,
            "first" => Merge::First,
            "latest" => Merge::Latest,
            "best" => Merge::Best,
            _ => return None,
        },
        None => Merge::Append,
    };
    if merge == Merge::Best && node.confidence.is_none() {
        let span = fields.value("merge").map_or(given.span, |yaml| yaml.span);
        let error = reader.error("bad-confidence", format!("{what} merges by confidence, but names no field for it"), span, "");
        reader.push(error.help("set `confidence: FIELD` to the field with the artifact's confidence"));
    }
    let collect = fields.text("on_error").is_some_and(|word| word.value == "collect");
    let concurrency = fields.count("concurrency").unwrap_or(CONCURRENCY);
    Some(Foreach { items, merge, collect, concurrency, span: given.span })
}

#[cfg(test)]
mod tests {
    use crate::{ComputedValue, Merge, parse};
    use asterisk_diag::Source;

    fn outcome(nodes: &str) -> String {
        let text = format!(
            "pipeline: t\nnodes:\n{nodes}  - {{ name: z }}\nedges: [{{ id: E, from: a, to: z }}]\nstart: a\ndone: _done\n"
        );
        match parse(&Source::new("t.yaml", text)) {
            Ok(pipeline) => {
                format!("{:?}", pipeline.nodes[0].foreach.as_ref().map(|foreach| (foreach.collect, foreach.concurrency)))
            }
            Err(found) => found.iter().map(|found| format!("{}: {}", found.code, found.message)).collect::<Vec<_>>().join("\n"),
        }
    }

    #[test]
    fn foreach_keys_are_read() {
        assert_eq!(outcome("  - { name: a, foreach: prior.x.list }\n"), "Some((false, 4))");
        assert_eq!(outcome("  - { name: a, foreach: a.rhai#f, do: p, on_error: collect, concurrency: 1 }\n"), "Some((true, 1))");
        let text = "pipeline: t\nnodes:\n  - { name: a, foreach: \"[1, 2]\", merge: b.rhai#m }\nedges: [{ id: E, from: a, to: _done }]\nstart: a\ndone: _done\n";
        let foreach = parse(&Source::new("t.yaml", text)).ok().and_then(|pipeline| pipeline.nodes[0].foreach.clone());
        assert!(matches!(
            foreach.as_ref().map(|foreach| (&foreach.items, &foreach.merge)),
            Some((ComputedValue::Expression(_), Merge::Function(_)))
        ));
        assert_eq!(outcome("  - { name: a, do: p }\n"), "pipeline/no-foreach: node `a` has `do` but no `foreach`");
        assert_eq!(
            outcome("  - { name: a, foreach: x, pipeline: p }\n"),
            "pipeline/answered-twice: node `a` has both `foreach` and `pipeline`"
        );
        assert_eq!(
            outcome("  - { name: a, foreach: x, merge: best }\n"),
            "pipeline/bad-confidence: node `a` merges by confidence, but names no field for it"
        );
        assert!(outcome("  - { name: a, foreach: x, merge: bets }\n").contains("bets"));
        assert!(outcome("  - { name: a, foreach: x, concurrency: 0 }\n").contains("concurrency"));
    }
}
