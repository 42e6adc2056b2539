//! The pipeline language: YAML text -> checked tree -> raw pipeline -> resolved graph.
//!
//! Innermost first: `schema_words`, `computed`, `foreach`, `tool`, `thermal`, `vars`, `roots`, `policy` (parts of a graph), `graph`, `raw` (a
//! pipeline as written), `keys` (the forms of the files), `json_schema`, `read` (tree to raw), `link` (raw to graph); next to
//! them
//! `same`, `subpipelines` and `write`, and `draw` for pictures.

mod computed;
pub mod draw;
mod foreach;
mod graph;
mod json_schema;
mod keys;
mod link;
mod policy;
mod raw;
mod read;
mod roots;
mod same;
mod schema_words;
mod subpipelines;
mod thermal;
mod tool;
mod vars;
mod verdict;
mod write;

use asterisk_diag::{Diagnostics, Source};
use asterisk_form::yaml;

pub use asterisk_form::Spanned;
pub use computed::ComputedValue;
pub use foreach::{CONCURRENCY, Foreach, Merge};
pub use graph::{
    Clusters, DEFAULT_MAX_STEPS, Edge, EdgeCondition, EdgeIx, EdgeOrigin, EdgeSpans, EdgeTarget, KnownField, NodeIx, OnRuleError,
    Pipeline, PipelineNode, TEAM_MAX_STEPS, Team, TeamWalker, Zone, ZoneIx,
};
pub use json_schema::{json_schema, policy_json_schema};
pub use keys::{POLICY, TEAM};
pub use policy::{
    Council, CouncilDecision, GateRules, NodePolicy, PolicyRules, PolicySetting, RetryReason, RetryRules, STAGE_FIELDS, TaskPart,
    TaskText, stage_reference,
};
pub use roots::RootRule;
pub use subpipelines::{is_policy_file, is_policy_key, policy_file_of, policy_key, policy_path, subpipelines_of};
pub use thermal::Thermal;
pub use tool::ToolCall;
pub use vars::Var;
pub use verdict::{DefectWeight, VerdictRule, VerdictRules};

/// Parses a pipeline and reports all errors at once; a text that is not valid YAML has only its first error.
pub fn parse(source: &Source) -> Result<Pipeline, Diagnostics> {
    let tree = yaml::parse(source)?;
    // What the missing file has would be reported as missing, too.
    if let Some(error) = yaml::unresolved("pipeline", source, &tree) {
        return Err(error.into());
    }
    let (mut reader, raw) = read::pipeline(source, &tree);
    let pipeline = link::link(&mut reader, raw);
    let found = reader.finish();
    match pipeline {
        Some(pipeline) => found.into_result(pipeline),
        None => Err(found),
    }
}

/// Reads a policy that is a preset or has a file of its own, with what is wrong with its form if `checked` is false. `area` is where
/// its file lies.
pub fn read_policy(source: &Source, tree: &yaml::Yaml, area: &str, checked: bool) -> (PolicyRules, Diagnostics) {
    let mut check: asterisk_form::FormReader<'_> = asterisk_form::FormReader::new(source, "pipeline");
    if !checked {
        check.file(tree, &POLICY, None);
    }
    let rules = read::policy::whole(&mut check.reader, tree, area);
    (rules, check.finish())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use asterisk_diag::Span;
    use proptest::prelude::*;
    use serde_json::Value;

    /// A pipeline that uses every key.
    const WHOLE: &str = r#"
pipeline: all
description: everything
vars: { limit: 0.8, deep: { x: [1, two] } }
max_steps: 12
thermal: { warning_ms: 50, ceiling_ms: 200 }
deadline: limit
on_rule_error: skip
phases: [[recall, triage], [review]]
clusters: { before: review, by: "rules/rca.rhai#alike", most: 4 }
zones:
  back: { nodes: [recall, triage], element: fire, stickiness: 3 }
  front: { nodes: [triage, review] }
nodes:
  - name: recall
    code: F0
    element: fire
    family: memory
    prompt: recall.md
    artifact: recall-result.json
    confidence: confidence
    schema:
      match: bool
      confidence: { type: number, min: 0, max: 1 }
      reasoning?: string
    needs: [symptoms.similar, rcas.of_symptom]
    effect: effects/rca.rhai#recall
    script: agents/recall.rhai#recall
    fallback: triage
  - { name: triage, code: F1 }
  - { name: review, fallback: _done }
edges:
  - { id: H1, name: recall-hit, from: recall, to: review, shortcut: true, rule: "rules/rca.rhai#recall_hit" }
  - { id: H17, from: recall, advisory: true, rule: "rules/rca.rhai#skew", context: { skew: true } }
  - { id: H2, from: recall, to: triage, condition: "confidence < 0.90", context: { depth: deep } }
  - { id: back, from: triage, to: recall, loop: true }
  - { id: H13, from: review, to: triage, targets: [recall, triage, _done], loop: true, counter: reassess, rule: r.rhai#h13 }
  - { id: H16, from: review, to: _done, condition: true }
  - { id: HD10, from: "*", to: _done, rule: rules/court.rhai#ttl }
start: recall
done: _done
"#;

    fn read(text: &str) -> Pipeline {
        parse(&Source::new("p.yaml", text)).unwrap_or_else(|found| panic!("{found}"))
    }

    /// Parses a text in which `⟦place⟧{code}` marks the primary label of each expected diagnostic, in any order.
    fn expect(marked: &str) -> Diagnostics {
        let (mut text, mut expected, mut rest) = (String::new(), Vec::new(), marked);
        while let Some((before, after)) = rest.split_once('⟦') {
            let (place, after) = after.split_once('⟧').expect("⟧");
            let (code, after) = after.strip_prefix('{').and_then(|after| after.split_once('}')).expect("{code}");
            text += before;
            expected.push((text.len(), place.to_owned(), code.to_owned()));
            text += place;
            rest = after;
        }
        text += rest;
        let source = Source::new("p.yaml", text);
        let found = parse(&source).expect_err(source.text());
        let place = |d: &asterisk_diag::Diagnostic| {
            let span = d.primary().expect("a label").span;
            (span.start, source.slice(span).to_owned(), d.code.strip_prefix("pipeline/").unwrap_or(&d.code).to_owned())
        };
        let mut got: Vec<_> = found.iter().map(place).collect();
        got.sort();
        expected.sort();
        assert_eq!(got, expected, "{}\n{found}", source.text());
        found
    }

    /// A small pipeline with one line replaced by `line`, which has the same beginning.
    fn small(line: &str) -> String {
        let key = line.split(':').next().map(|key| key.replace(['⟦', '⟧'], ""));
        let mut lines = vec![
            "pipeline: t",
            "nodes: [{name: a}, {name: b, code: B1}]",
            "edges: [{id: E1, from: a, to: b}]",
            "start: a",
            "done: _done",
        ];
        lines.retain(|other| other.split(':').next() != key.as_deref());
        lines.push(line);
        lines.join("\n")
    }

    fn expect_line(line: &str) -> Diagnostics {
        expect(&small(line))
    }

    fn help(found: &Diagnostics) -> &str {
        found.iter().next().and_then(|d| d.help.as_deref()).unwrap_or("")
    }

    fn message(found: &Diagnostics) -> &str {
        &found.iter().next().unwrap().message
    }

    #[test]
    fn the_six_key_form_is_complete() {
        let pipeline = read(
            "pipeline: p\ndescription: d\nzones:\n  z: {nodes: [a, b], element: fire, stickiness: 0}\nnodes:\n  - {name: a, element: fire, family: f}\n  - {name: b}\nedges:\n  \
             - id: E1\n    name: a-b\n    from: a\n    to: b\n    shortcut: true\n    loop: false\n    condition: \"confidence >= 0.90\"\n  - {id: E2, name: end, from: b, to: _done}\nstart: a\ndone: _done\n",
        );
        let edge = pipeline.edge_at(EdgeIx(0));
        let EdgeCondition::Condition(condition) = &edge.when else { panic!("{edge:?}") };
        assert_eq!(condition.text(), "confidence >= 0.90");
        let whole = pipeline.source.slice(condition.locate(Span::new(0, 10)));
        assert_eq!(whole, "confidence");
        assert_eq!((edge.shortcut, edge.looped, &edge.counter), (true, false, &None));
        assert_eq!(*pipeline.at(NodeIx(1)).family, "b");
        assert_eq!(pipeline.max_steps, Some(DEFAULT_MAX_STEPS));
    }

    #[test]
    fn every_key_is_read() {
        let pipeline = read(WHOLE);
        assert_eq!((&**pipeline.name, pipeline.description.as_str()), ("all", "everything"));
        assert_eq!(Value::from(pipeline.vars_json()), serde_json::json!({"limit": 0.8, "deep": {"x": [1, "two"]}}));
        assert_eq!(pipeline.source.slice(pipeline.vars["limit"].default.span), "0.8");
        assert_eq!((pipeline.max_steps, pipeline.on_rule_error), (Some(12), OnRuleError::Skip));
        let (recall, triage, review) = (NodeIx(0), NodeIx(1), NodeIx(2));
        assert_eq!(pipeline.thermal, Some(Thermal { warning_ms: 50, ceiling_ms: Some(200) }));
        assert_eq!(pipeline.deadline.as_ref().map(|var| var.as_str()), Some("limit"));
        assert_eq!(pipeline.start, recall);
        assert_eq!(pipeline.zones[0].nodes, [recall, triage]);
        assert_eq!(pipeline.zones[0].stickiness, 3);
        assert_eq!(pipeline.at(triage).zone, Some(ZoneIx(0)));
        assert_eq!(&**pipeline.zone_of(review).unwrap().name, "front");
        let node = pipeline.at(recall);
        assert_eq!(node.edges, [EdgeIx(0), EdgeIx(2)]);
        assert_eq!(node.advisories, [EdgeIx(1)]);
        assert_eq!(node.fallback, Some(EdgeTarget::Node(triage)));
        assert_eq!(&**node.family, "memory");
        assert_eq!(node.needs.iter().map(|need| need.as_str()).collect::<Vec<_>>(), ["symptoms.similar", "rcas.of_symptom"]);
        assert_eq!(node.schema.as_ref().unwrap().name, "recall artifact");
        assert_eq!(pipeline.at(review).fallback, Some(EdgeTarget::Done));
        assert_eq!(pipeline.guards, [EdgeIx(6)]);
        assert!(pipeline.edge_at(EdgeIx(6)).is_guard());
        let advisory = pipeline.edge_at(EdgeIx(1));
        assert_eq!((advisory.to, advisory.advisory, &advisory.context["skew"]), (None, true, &Value::Bool(true)));
        assert_eq!(pipeline.edge_at(EdgeIx(3)).counter.as_deref(), Some("back"));
        let review_loop = pipeline.edge_at(EdgeIx(4));
        assert_eq!(review_loop.counter.as_deref(), Some("reassess"));
        assert_eq!(review_loop.targets[2].value, EdgeTarget::Done);
        assert!(matches!(&pipeline.edge_at(EdgeIx(5)).when, EdgeCondition::Condition(c) if c.text() == "true"));
        assert!(
            matches!(&pipeline.edge_at(EdgeIx(0)).when, EdgeCondition::Rule(rule) if *rule.value == *"rules/rca.rhai#recall_hit")
        );
        assert_eq!(pipeline.source.slice(review_loop.spans.to.unwrap()), "triage");
    }

    #[test]
    fn targets_resolve_by_name_code_and_step() {
        let pipeline = read(WHOLE);
        let triage = Some(EdgeTarget::Node(NodeIx(1)));
        for (text, target) in [
            ("triage", triage),
            ("F1", triage),
            ("F1_TRIAGE", triage),
            ("_done", Some(EdgeTarget::Done)),
            ("Triage", None),
            ("f1", None),
            ("REVIEW", None),
            ("", None),
        ] {
            assert_eq!(pipeline.resolve_target(text), target, "{text}");
        }
        let edge = pipeline.edge_at(EdgeIx(4));
        assert_eq!(pipeline.resolve_choice(edge, "F0"), Some(EdgeTarget::Node(NodeIx(0))));
        assert_eq!(pipeline.resolve_choice(edge, "review"), None);
        assert_eq!(pipeline.at(NodeIx(0)).step_name(), "F0_RECALL");
        assert_eq!(pipeline.at(NodeIx(2)).step_name(), "REVIEW");
        assert_eq!(graph::step_name(Some("D3"), "cross-examine"), "D3_CROSS_EXAMINE");
        assert_eq!((pipeline.node("review"), pipeline.edge("H2")), (Some(NodeIx(2)), Some(EdgeIx(2))));
        assert_eq!(pipeline.target_name(EdgeTarget::Done), "_done");
    }

    #[test]
    fn all_missing_keys_are_reported_at_once() {
        let found = parse(&Source::new("p.yaml", "description: x\n")).expect_err("missing");
        let codes: Vec<&str> = found.iter().map(|d| &*d.code).collect();
        let all =
            ["missing-name", "missing-start", "missing-done", "no-nodes", "no-edges"].map(|code| format!("pipeline/{code}"));
        assert_eq!(codes, all);
        assert!(found.iter().all(|d| d.place().as_deref() == Some("p.yaml:1:1")));
    }

    #[test]
    fn each_error_is_labelled_at_its_place() {
        for line in [
            "pipeline: ⟦\"\"⟧{missing-name}",
            "pipeline: ⟦1⟧{type}",
            "pipeline⟦:⟧{missing-name}",
            "nodes: ⟦[]⟧{no-nodes}",
            "nodes: ⟦a⟧{type}",
            "edges: ⟦[]⟧{no-edges}",
            "edges: ⟦{}⟧{type}",
            "start: ⟦\"\"⟧{missing-start}",
            "start: ⟦nonexistent⟧{unknown-start}",
            "start: ⟦_done⟧{unknown-start}",
            "start: ⟦[a]⟧{type}",
            "done: ⟦~⟧{missing-done}",
            "nodes: [{name: a}, ⟦{code: x}⟧{node-name-missing}, {name: b}]",
            "nodes: [{name: a}, {name: ⟦''⟧{node-name-missing}}, {name: b}]",
            "nodes: [{name: a}, {name: b}, {name: ⟦a⟧{duplicate-node}}]",
            "nodes: [{name: a}, {name: b}, ⟦c⟧{type}]",
            "nodes: [{name: a}, {name: b}, {name: ⟦_done⟧{reserved-name}}]",
            "nodes: [{name: a}, {name: b}, {name: ⟦\"*\"⟧{reserved-name}}]",
            "nodes: [{name: a}, {name: b}, {name: ⟦x/y⟧{bad-name}}]",
            "nodes: [{name: a}, {name: b, family: ⟦../x⟧{bad-name}}]",
            "nodes: [{name: a}, {name: b, artifact: ⟦..⟧{bad-name}}]",
            "nodes: [{name: a}, {name: b, artifact: ⟦\"a\\nb\"⟧{bad-name}}]",
            "nodes: [{name: a, code: X}, {name: b, code: ⟦X⟧{duplicate-code}}]",
            "nodes: [{name: a}, {name: b, code: ⟦a⟧{duplicate-code}}]",
            "nodes: [{name: a, code: X_Y}, {name: b}, {name: y_a, code: ⟦X⟧{duplicate-code}}]",
            "nodes: [{name: a, fallback: ⟦c⟧{unknown-target}}, {name: b}]",
            "nodes: [{name: a, element: ⟦7⟧{type}}, {name: b, ⟦elment⟧{unknown-key}: x}]",
            "nodes: [{name: a, needs: ⟦x⟧{type}}, {name: b, needs: [x, ⟦1⟧{type}, ⟦''⟧{empty}]}]",
            "nodes: [{name: a, needs: [x, y, ⟦x⟧{duplicate-need}]}, {name: b}]",
            "nodes: [{name: a, schema: {x: bool, conf: number}, confidence: ⟦x⟧{bad-confidence}}, {name: b}]",
            "nodes: [{name: a, schema: {conf: number}, confidence: ⟦cinf⟧{bad-confidence}}, {name: b}]",
            "nodes: [{name: a, schema: {x: string}, known: {⟦y⟧{bad-known}: defects}}, {name: b}]",
            "nodes: [{name: a, schema: {x: {y: bool}}, known: {⟦x.y⟧{bad-known}: defects}}, {name: b}]",
            "nodes: [{name: a, schema: {x: string}, known: {x: ⟦words⟧{type}}}, {name: b}]",
            "nodes: [{name: a, schema: {x: ⟦bol⟧{bad-schema}}}, {name: b}]",
            "edges: [⟦{from: a, to: b}⟧{edge-id-missing}]",
            "edges: [{id: ⟦''⟧{edge-id-missing}, from: a, to: b}]",
            "edges: [{id: E, from: a, to: b}, {id: ⟦E⟧{duplicate-edge}, from: b, to: a}]",
            "edges: [{id: ⟦fallback⟧{reserved-name}, from: a, to: b}]",
            "edges: [{id: E, from: ⟦c⟧{unknown-edge-source}, to: b}]",
            "edges: [{id: E, from: ⟦_done⟧{unknown-edge-source}, to: _done}]",
            "edges: [⟦{id: E, to: b}⟧{unknown-edge-source}]",
            "edges: [⟦{id: E, from: a}⟧{unknown-edge-target}]",
            "edges: [{id: E, from: a, to: ⟦c⟧{unknown-edge-target}}]",
            "edges: [{id: E, from: a, to: ⟦\"*\"⟧{unknown-edge-target}}]",
            "edges: [{id: E, from: a, to: ⟦3⟧{type}}]",
            "edges: [{id: E, from: a, to: b, targets: [a, ⟦c⟧{unknown-target}, _done, ⟦B1⟧{unknown-target}]}]",
            "edges: [{id: E, from: a, to: b, loop: ⟦yes⟧{type}}]",
            "edges: [{id: E, from: a, to: b, shortcut: ⟦\"true\"⟧{type}}]",
            "edges: [{id: E, from: a, to: b, condition: ⟦1⟧{type}}]",
            "edges: [{id: E, from: a, to: b, condition: ⟦''⟧{empty}}]",
            "edges: [{id: E, from: a, to: b, condition⟦:⟧{empty} }]",
            "edges: [{id: E, from: a, to: b, rule⟦:⟧{empty} }]",
            "edges: [{id: E, from: a, to: b, rule: r, condition: ⟦c > 1⟧{rule-and-condition}}]",
            "edges: [{id: E, from: a, to: b, loop: true, counter: ⟦a-b⟧{bad-counter}}]",
            "edges: [{id: E, from: a, to: b, ⟦counter⟧{bad-counter}: n}]",
            "edges: [{id: E, from: a, to: b, context: ⟦[x]⟧{type}}]",
            "edges: [{id: E, from: a, advisory: true, ⟦loop⟧{advisory}: true, ⟦shortcut⟧{advisory}: true, ⟦targets⟧{advisory}: [a]}]",
            "edges: [{id: E, from: ⟦\"*\"⟧{advisory}, advisory: true}]",
            "edges: [{id: E, from: a, advisory: true, to: ⟦c⟧{unknown-edge-target}}]",
            "edges: [{id: E, from: a, to: b, ⟦cond⟧{unknown-key}: x}]",
            "zones: ⟦[a]⟧{type}",
            "zones: {z: ⟦[a]⟧{type}}",
            "zones: {z: {nodes: [a, ⟦ghost⟧{unknown-zone-node}]}}",
            "zones: {z: {nodes: [⟦_done⟧{unknown-zone-node}]}}",
            "zones: {z: {nodes: ⟦a⟧{type}}}",
            "zones: {z: {nodes: [a], stickiness: ⟦4⟧{type}}}",
            "zones: {z: {nodes: [a], stickiness: ⟦1.5⟧{type}}}",
            "zones: {z: {nodes: [a], ⟦color⟧{unknown-key}: red}}",
            "vars: ⟦3⟧{type}",
            "max_steps: ⟦-1⟧{type}",
            "max_steps: ⟦many⟧{type}",
            "thermal: ⟦200⟧{type}",
            "thermal: {warning_ms: ⟦-1⟧{type}, ceiling_ms: ⟦1.5⟧{type}, ⟦ceiling⟧{unknown-key}: 3}",
            "deadline: ⟦soon⟧{unknown-var}",
            "on_rule_error: ⟦stopp⟧{type}",
            "⟦extra_key⟧{unknown-key}: 1",
            "⟦Start⟧{unknown-key}: a",
        ] {
            drop(expect_line(line));
        }
    }

    #[test]
    fn phases_list_every_node_once() {
        for line in [
            "phases: [[a, ⟦c⟧{unknown-phase-node}], [b]]",
            "phases: [[a, ⟦_done⟧{unknown-phase-node}], [b]]",
            "phases: [[a], [b, ⟦a⟧{duplicate-phase-node}]]",
            "phases: [[a, ⟦a⟧{duplicate-phase-node}, b]]",
            "phases: [⟦a⟧{type}, [b, a]]",
            "phases: [{name: x, nodes: [a, b], ⟦node⟧{unknown-key}: [a]}]",
            "phases: [{name: ⟦\"\"⟧{missing-key}, nodes: [a, b]}]",
            "phases: ⟦a⟧{type}",
            "clusters: {before: ⟦a⟧{cluster-phase}, by: x.rhai#y}",
            "clusters: {before: ⟦c⟧{unknown-cluster-node}, by: x.rhai#y}",
            "clusters: {before: b, by: x.rhai#y, most: ⟦1⟧{type}}",
            "clusters: {before: b, by: ⟦''⟧{missing-key}}",
            "clusters: ⟦{before: b}⟧{missing-key}",
            "clusters: {before: ⟦b⟧{cluster-phase}, by: x.rhai#y, ⟦mots⟧{unknown-key}: 3}",
        ] {
            drop(expect_line(line));
        }
        let lacking = small("phases: [[b]]").replace("{name: a}", "{name: ⟦a⟧{missing-phase-node}}");
        assert!(expect(&lacking).to_string().contains("no phase lists `a`"));
        let whole = read(WHOLE);
        assert_eq!((whole.phases, whole.nodes.iter().map(|node| node.phase).collect::<Vec<_>>()), (2, vec![0, 0, 1]));
        let clusters = whole.clusters.unwrap();
        assert_eq!((clusters.phase, clusters.by.as_str(), clusters.most), (1, "rules/rca.rhai#alike", 4));
        let without = read(&small("phases:"));
        assert_eq!((without.phases, without.nodes.iter().all(|node| node.phase == 0)), (1, true));
    }

    #[test]
    fn roots_are_rules_with_ids_of_their_own() {
        for line in [
            "roots: [{id: R1, rule: x.rhai#y, confidence: 0.9}, {id: ⟦R1⟧{duplicate-root-rule}, rule: x.rhai#z, confidence: 1}]",
            "roots: [⟦{id: R1, rule: x.rhai#y}⟧{missing-key}]",
            "roots: [{id: R1, rule: x.rhai#y, confidence: ⟦1.5⟧{range}}]",
            "roots: [{id: R1, rule: x.rhai#y, confidence: 1, ⟦scop⟧{unknown-key}: launch}]",
            "roots: ⟦R1⟧{type}",
        ] {
            drop(expect_line(line));
        }
        let line = "roots: [{id: R1, name: n, rule: x.rhai#y, confidence: 1, scope: launch, consequence: true}, {id: R2, rule: x.rhai#z, confidence: 0.5}]";
        let roots = read(&small(line)).roots;
        let told = |root: &RootRule| (root.id.to_string(), root.name.clone(), root.confidence, root.in_launch, root.consequence);
        assert_eq!(told(&roots[0]), ("R1".into(), "n".into(), 1.0, true, true));
        assert_eq!(told(&roots[1]), ("R2".into(), String::new(), 0.5, false, false));
        assert!(read(&small("roots:")).roots.is_empty());
    }

    #[test]
    fn what_surrounds_an_answer_is_checked() {
        for line in [
            "nodes: [{name: a, retry: ⟦-1⟧{type}}, {name: b, retry: {attempts: 2, on: [⟦reject⟧{type}]}}]",
            "nodes: [{name: a, gate: ⟦{min_score: 0.5}⟧{no-advisor}}, {name: b, gate: {advisor: x, ⟦minscore⟧{unknown-key}: 1}}]",
            "nodes: [{name: a, agent: x, ⟦family⟧{answered-twice}: y}, {name: b}]",
            "policy: {version: ⟦2⟧{policy-version}}",
            "policy: {advisors: {c: ⟦{list: []}⟧{no-advisor}}, ⟦threshold⟧{unknown-key}: {c: 1}}",
        ] {
            let line = line.replace("⟦family⟧{answered-twice}: y", "family: ⟦y⟧{answered-twice}");
            drop(expect_line(&line));
        }
    }

    #[test]
    fn typos_get_the_nearest_name() {
        for (line, expected) in [
            ("strat: a", "did you mean `start`?"),
            ("nodes: [{name: a, elment: x}, {name: b}]", "did you mean `element`?"),
            ("edges: [{id: E, from: a, to: b, conditon: x}]", "did you mean `condition`?"),
            ("edges: [{id: E, from: a, to: _dine}]", "did you mean `_done`?"),
            ("edges: [{id: E, from: a, to: B1}]", "nodes are referred to by name: `b`"),
            ("on_rule_error: stopp", "did you mean `stop`?"),
            ("nodes: [{name: 7}, {name: a}, {name: b}]", "put it in quotes: \"7\""),
            ("nodes: [{name: a, schema: {conf: number}, confidence: cinf}, {name: b}]", "did you mean `conf`?"),
        ] {
            let found = parse(&Source::new("p.yaml", small(line))).expect_err(line);
            assert!(found.iter().any(|d| d.help.as_deref() == Some(expected)), "{line}: {found:?}");
        }
    }

    #[test]
    fn errors_name_their_references() {
        for (line, expected) in [
            ("zones: {z: {nodes: [⟦ghost⟧{unknown-zone-node}]}}", "zone `z` lists `ghost`, which is not a node"),
            ("edges: [{id: E9, from: ⟦x⟧{unknown-edge-source}, to: a}]", "edge `E9` comes from `x`, which is not a node"),
            ("edges: [{id: E9, from: a, to: ⟦x⟧{unknown-edge-target}}]", "edge `E9` goes to `x`, which is not a node"),
            ("start: ⟦_done⟧{unknown-start}", "the start `_done` is the end of the pipeline, not a node"),
        ] {
            assert_eq!(message(&expect_line(line)), expected);
        }
    }

    #[test]
    fn all_errors_of_a_file_are_reported_at_once() {
        drop(expect(
            "⟦descripton⟧{unknown-key}: x\npipeline: ⟦4⟧{type}\nnodes:\n  - name: a\n    ⟦retries⟧{unknown-key}: 3\n  \
             - {name: b, fallback: ⟦nobody⟧{unknown-target}}\n  - {name: ⟦b⟧{duplicate-node}}\nedges:\n  \
             - {id: E, from: a, to: ⟦é⟧{unknown-edge-target}, loop: ⟦1⟧{type}}\n  - ⟦from: b⟧{edge-id-missing}\n    to: a\n\
             start: ⟦c⟧{unknown-start}\ndone: _done\n",
        ));
    }

    #[test]
    fn files_that_are_not_pipelines_are_refused() {
        for text in ["", "# only a comment\n", "---\n"] {
            let found = parse(&Source::new("p.yaml", text)).expect_err(text);
            assert_eq!((found.len(), message(&found)), (1, "the file is empty"));
        }
        let found = expect("⟦- a⟧{type}\n- b\n");
        assert_eq!(message(&found), "a pipeline file must be a map, not a list");
        let found = expect("⟦hello⟧{type}");
        assert!(help(&found).starts_with("write a key and a value"), "{found:?}");
        drop(expect("pipeline: t\n⟦---⟧{yaml/documents}\npipeline: u\n"));
    }

    #[test]
    fn unusual_pipelines_are_accepted() {
        for line in [
            "edges: [{id: E, from: a, to: a}]",
            "edges: [{id: E, from: a, to: b}, {id: F, from: a, to: b}]",
            "edges: [{id: E, from: a, to: _done, loop: true}]",
            "edges: [{id: E, from: a, to: b, name: }, {id: F, from: b, advisory: true, to: b}]",
            "zones: {y: {nodes: [a]}, z: {nodes: [a]}, empty: {}}",
            "zones:",
            "vars:",
            "max_steps: 0",
            "description:",
            "nodes: [{name: é ü}, {name: a, family: shared}, {name: b, family: shared, needs: }]",
        ] {
            let pipeline = read(&small(line));
            assert_eq!(pipeline.max_steps.is_none(), line.starts_with("max"), "{line}");
        }
    }

    #[test]
    fn decided_outcomes_hold() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = ["../shared", "../../shared"].map(|dir| root.join(dir).join("vectors/dsl_validation.json"));
        let Some(text) = file.iter().find_map(|path| std::fs::read_to_string(path).ok()) else {
            #[allow(clippy::print_stderr)]
            {
                eprintln!("SKIPPED: no ../shared/vectors/dsl_validation.json; the decided outcomes were not checked");
            }
            return;
        };
        let vectors: Value = serde_json::from_str(&text).unwrap();
        let cases = vectors["validate"].as_array().unwrap();
        assert!(cases.len() >= 18);
        for case in cases {
            let (id, yaml) = (case["id"].as_str().unwrap(), case["yaml"].as_str().unwrap());
            let result = parse(&Source::new(id, yaml));
            let found = match (result, case["decided"]["valid"].as_bool().unwrap()) {
                (Ok(_), true) => continue,
                (Err(found), false) => found,
                (result, _) => panic!("{id}: {result:?}"),
            };
            let class = case["decided"]["error_class"].as_str().or(case["expect"]["error_class"].as_str());
            if let Some(class) = class.filter(|class| *class != "parse") {
                let code = format!("pipeline/{}", class.replace('_', "-"));
                assert!(found.iter().any(|d| d.code == code), "{id}: no {code} in {found:?}");
            }
            for word in case["decided"]["must_mention"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                assert!(found.iter().any(|d| d.message.contains(&format!("`{word}`"))), "{id}: no {word} in {found}");
            }
        }
    }

    /// Parsing never panics, never fails without an error and never points outside the text; a parsed pipeline is consistent.
    fn survives(text: &str) {
        let source = Source::new("p.yaml", text);
        match parse(&source) {
            Err(found) => {
                assert!(found.has_errors(), "refused without a reason: {text:?}");
                for label in found.iter().flat_map(|d| &d.labels) {
                    assert!(source.text().get(label.span.start..label.span.end).is_some(), "{label:?} in {text:?}");
                }
            }
            Ok(pipeline) => {
                let picture = draw::Picture::new(&pipeline, &std::collections::BTreeMap::new());
                assert!(picture.mermaid().starts_with("flowchart") && picture.svg().ends_with("</svg>\n"));
                for edge in &pipeline.edges {
                    assert!(edge.advisory || edge.to.is_some());
                    assert!(edge.choices().all(|target| !pipeline.target_name(target).is_empty()));
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn any_mutation_survives(at in 0..WHOLE.len(), length in 0..40usize, insert in "(|[\\PC]{1,3}|\n|\t|  |- |: |\\[|\\}|'|\"|~|\"\\*\"|_done|recall|&a |\\*a|é)") {
            let bytes = |from: usize| (from..=WHOLE.len()).find(|at| WHOLE.is_char_boundary(*at)).unwrap_or(WHOLE.len());
            let (start, end) = (bytes(at), bytes((at + length).min(WHOLE.len())));
            survives(&format!("{}{insert}{}", &WHOLE[..start], &WHOLE[end..]));
        }

        #[test]
        fn any_shuffle_survives(lines in prop::collection::vec(0..WHOLE.lines().count(), 0..40)) {
            let all: Vec<&str> = WHOLE.lines().collect();
            survives(&lines.iter().map(|line| all[*line]).collect::<Vec<_>>().join("\n"));
        }

        #[test]
        fn any_swap_of_words_survives(from in 0..60usize, to in 0..60usize) {
            let mut words: Vec<&str> = WHOLE.split_inclusive(' ').collect();
            let count = words.len();
            words.swap(from % count, to % count);
            survives(&words.concat());
        }
    }
}
