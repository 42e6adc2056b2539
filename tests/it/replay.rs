//! `asterisk replay`: the decisions of edited rules are exactly those of a fresh run with them, as far as the recorded answers
//! reach.

use crate::fold::{World, pairs};
use crate::harness::{Project, repository};
use asterisk_base::clock::{FixedClock, Timestamp};
use asterisk_decisions::replay::{ReplayReport, ReplaySpec, replay};
use asterisk_diag::Source;
use asterisk_session::{LaunchFiles, RunInputs, RunResult, RunSettings, RunSpec, Session, Setup, TextSettings, Via};
use asterisk_store::Store;
use asterisk_walk::EventBody;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The bundled launch, walked once, and rules that flip some of its decisions.
fn walked() -> Project {
    let project = Project::new();
    project.asterisk(&["run", "--format", "json"]).ok();
    let rules = std::fs::read_to_string(repository().join("scripts/rules/rca.rhai")).unwrap();
    project.file("new/rules/rca.rhai", rules.replace("symptom_category != \"infra\"", "symptom_category != \"network\""));
    project
}

#[test]
fn changed_decisions_are_reported() {
    let project = walked();
    for (name, args) in [
        ("nothing_edited", &["replay"][..]),
        ("a_threshold", &["replay", "--set", "convergence_sufficient=0.85"]),
        ("a_rule", &["replay", "latest", "--scripts", "new"]),
        ("for_programs", &["replay", "--scripts", "new", "--format", "json"]),
        ("too_many", &["replay", "--scripts", "new", "--max-flips", "2"]),
        ("just_enough", &["replay", "--scripts", "new", "--max-flips", "3", "--format", "json", "--parallel", "1"]),
    ] {
        let ran = project.asterisk(args);
        if name == "just_enough" {
            assert_eq!(ran.exits(0).stdout, project.asterisk(&["replay", "--scripts", "new", "--format", "json"]).stdout);
        } else {
            insta::assert_snapshot!(name, ran.text());
        }
    }
}

#[test]
fn invalid_replays_are_rejected() {
    let empty = Project::new();
    let project = walked();
    project.file("bad/rules/rca.rhai", "fn recall_hit(artifact, state, vars) { artifact.mach }");
    let said = [
        empty.asterisk(&["replay"]).exits(2),
        project.asterisk(&["replay", "none"]).exits(2),
        project.asterisk(&["replay", "--pipeline", "none"]).exits(2),
        project.asterisk(&["replay", "--set", "recall_hot=1"]).exits(2),
        project.asterisk(&["replay", "--scripts", "bad"]).exits(3),
    ];
    insta::assert_snapshot!(said.map(|ran| ran.stderr.lines().take(4).collect::<Vec<_>>().join("\n")).join("\n\n"));
}

/// A session in a directory.
fn session(dir: &Path, scripts: Option<PathBuf>, pipelines: Option<PathBuf>, vars: &Map<String, Value>) -> Session {
    Session::new(Setup {
        pipelines,
        texts: TextSettings { scripts, vars: vars.clone(), ..TextSettings::default() },
        workspace: json!({ "repositories": [{ "name": "shop", "path": "/shop" }] }),
        script_time: Some(Duration::from_secs(60)),
        ..Setup::bare(dir.to_path_buf(), Arc::new(FixedClock::new(Timestamp::from_millis(1_771_104_069_000), 0)))
    })
}

fn run(session: &Session, pipeline: Option<&str>, inputs: RunInputs, stub: Option<&Value>, dry_run: bool) -> RunResult {
    let spec = RunSpec {
        settings: RunSettings {
            pipeline: pipeline.map(str::to_owned),
            via: if stub.is_some() { Via::stub() } else { Via::default() },
            seed: 3,
            ..RunSettings::default()
        },
        stub: stub.map(|stub| Source::new("stub", stub.to_string())),
        parallel: 2,
        dry_run,
        ..RunSpec::of(inputs)
    };
    session.run(&spec, &(), &AtomicBool::new(false)).unwrap()
}

/// Of each case, the nodes entered and the edges taken.
type Ways = BTreeMap<String, (Vec<String>, Vec<String>)>;

fn ways(result: &RunResult) -> Ways {
    let mut ways = Ways::new();
    result
        .each(|case| {
            let edges = case.state.history.iter().map(|visit| visit.edge.to_string()).collect();
            ways.insert(case.case.id.clone(), (case.state.path.iter().map(ToString::to_string).collect(), edges));
            Ok(())
        })
        .unwrap();
    ways
}

/// The answers of a run as a stub file: the n-th visit of a node gets the n-th.
fn answers(store: &Store, run: &str) -> Value {
    let mut stub = json!({});
    for (_, event) in store.all_events(run).unwrap() {
        if let EventBody::NodeExit { node, artifact, .. } = event.what {
            let text = store.blob(&artifact.hash()).unwrap().unwrap();
            let list = &mut stub[&*event.case][&*node];
            if list.is_null() {
                *list = json!([]);
            }
            list.as_array_mut().unwrap().push(serde_json::from_str(&text).unwrap());
        }
    }
    stub
}

/// Holds a replay against the way the cases went and the way they go afresh.
fn holds(done: &ReplayReport, recorded: &Ways, fresh: &Ways) -> Result<(), TestCaseError> {
    for (case, (nodes, edges)) in fresh {
        let flips: Vec<_> = done.flips.iter().filter(|flip| flip.case == *case).collect();
        let unknown = done.unknown.iter().find(|unknown| unknown.case == *case);
        let (before, old) = &recorded[case];
        let Some(first) = flips.first() else {
            let known = unknown.map_or(old.len(), |unknown| unknown.path.parse::<usize>().unwrap() - 1);
            prop_assert_eq!(
                (&edges[..known], &nodes[..known.min(nodes.len())]),
                (&old[..known], &before[..known.min(nodes.len())])
            );
            prop_assert!(unknown.is_some() || edges == old, "{}: {:?} {:?}", case, edges, old);
            continue;
        };
        // All flips are decisions that the fresh run makes, and up to the first both go the same way.
        for flip in &flips {
            let at: usize = flip.path.parse().unwrap();
            // A walk over its cap does not enter the node.
            prop_assert!(flip.to == "max_steps" || nodes[at - 1] == flip.node, "{}", case);
            let error = ["no_edge", "rule_error", "max_steps", "node_not_found", "limit", "end"].contains(&flip.to.as_str());
            prop_assert_eq!(edges.get(at - 1), Some(&flip.to).filter(|_| !error), "{} {:?}", case, flip);
        }
        let at: usize = first.path.parse().unwrap();
        prop_assert_eq!(&edges[..at - 1], &old[..at - 1]);
        prop_assert!((&first.from, &first.from_node) != (&first.to, &first.to_node));
        // And beyond it the replay goes where the fresh run goes, as far as it goes.
        let then = &nodes[at..];
        prop_assert!(then.len() >= first.then.len(), "{}: {:?} {:?}", case, then, first);
        prop_assert_eq!(&then[..first.then.len()], &first.then[..], "{}", case);
        match unknown {
            Some(unknown) => prop_assert_eq!(nodes.get(at + first.then.len()), Some(&unknown.node), "{}", case),
            None => prop_assert_eq!(then.len(), first.then.len(), "{}: {:?} {:?}", case, nodes, first),
        }
    }
    Ok(())
}

/// Edits of the bundled rules that change their decisions.
const EDITS: [(&str, &str); 8] = [
    ("symptom_category != \"infra\"", "symptom_category != \"product\""),
    ("candidate_repos.len() != 1", "candidate_repos.len() != 2"),
    ("if !artifact.skip_investigation || !walkers", "if artifact.skip_investigation || !walkers"),
    ("artifact.evidence_refs.len() > 0", "artifact.evidence_refs.len() > 2"),
    ("if taken >= most || artifact.exhausted {", "if taken > most {"),
    ("artifact.decision != \"reassess\"", "artifact.decision == \"overturn\""),
    ("artifact.convergence_score < sufficient.value { return false; }", "artifact.convergence_score < 0.6 { return false; }"),
    ("context: #{ recall_candidate: artifact },", "context: #{ candidate: artifact.confidence },"),
];

/// A launch that was walked by the bundled rules and scripts, with its answers.
struct Ground {
    dir: tempfile::TempDir,
    input: RunInputs,
    recorded: Ways,
    stub: Value,
}

impl Ground {
    fn new(input: RunInputs) -> Self {
        let scripted = tempfile::tempdir().unwrap();
        let by_scripts = session(scripted.path(), None, None, &Map::new());
        let result = run(&by_scripts, None, input.clone(), None, false);
        let stub = answers(&Store::read_only(&by_scripts.setup().store).unwrap(), &result.run);
        // Canned answers are held, whatever is edited; those of scripts are made again.
        let dir = tempfile::tempdir().unwrap();
        let result = run(&session(dir.path(), None, None, &Map::new()), None, input.clone(), Some(&stub), false);
        Self { dir, input, recorded: ways(&result), stub }
    }

    fn all() -> &'static [Self] {
        static ALL: std::sync::OnceLock<Vec<Ground>> = std::sync::OnceLock::new();
        let launch = repository().join("examples/series/3-3.3.0.json");
        ALL.get_or_init(|| [RunInputs::Example, RunInputs::Files(LaunchFiles::of(&[launch]))].map(Self::new).into())
    }

    /// Scripts with these edits.
    fn scripts(&self, edits: &[usize]) -> PathBuf {
        let mut rules = std::fs::read_to_string(repository().join("scripts/rules/rca.rhai")).unwrap();
        for edit in edits {
            assert!(rules.contains(EDITS[*edit].0), "{}", EDITS[*edit].0);
            rules = rules.replace(EDITS[*edit].0, EDITS[*edit].1);
        }
        let dir = self.dir.path().join(format!("{edits:?}"));
        std::fs::create_dir_all(dir.join("rules")).unwrap();
        std::fs::write(dir.join("rules/rca.rhai"), rules).unwrap();
        dir
    }
}

fn asked() -> ReplaySpec {
    ReplaySpec { runs: Vec::new(), pipeline: None, parallel: 2 }
}

fn vars() -> impl Strategy<Value = Map<String, Value>> {
    let share = || (0..=20_u8).prop_map(|n| json!(f64::from(n) / 20.0));
    let one = prop_oneof![
        (prop::sample::select(vec!["recall_hit", "recall_uncertain", "convergence_sufficient", "correlate_dup"]), share()),
        (prop::sample::select(vec!["max_investigate_loops", "max_reassess"]), (0..4_u8).prop_map(|n| json!(n))),
    ];
    prop::collection::vec(one, 0..3).prop_map(|set| set.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn flips_of_real_launches_match_a_fresh_run_with_the_edited_rules(
        which in 0..2_usize,
        vars in vars(),
        edits in prop::collection::btree_set(0..EDITS.len(), 0..3),
    ) {
        let ground = &Ground::all()[which];
        let edits: Vec<usize> = edits.into_iter().collect();
        let scripts = (!edits.is_empty()).then(|| ground.scripts(&edits));
        let session = session(ground.dir.path(), scripts, None, &vars);
        let done = replay(&session, &asked()).unwrap();
        let fresh = run(&session, None, ground.input.clone(), Some(&ground.stub), true);
        holds(&done, &ground.recorded, &ways(&fresh))?;
    }

    #[test]
    fn flips_of_any_pipeline_match_a_fresh_run_of_the_edited_one((before, after) in pairs()) {
        let dir = tempfile::tempdir().unwrap();
        let pipelines = dir.path().join("pipelines");
        std::fs::create_dir(&pipelines).unwrap();
        let write = |world: &World| std::fs::write(pipelines.join("any.yaml"), world.yaml.to_string()).unwrap();
        let session = session(dir.path(), None, Some(pipelines.clone()), &Map::new());
        write(&before);
        let recorded = ways(&run(&session, Some("any"), RunInputs::None, Some(&before.stub), false));
        let nothing = replay(&session, &asked()).unwrap();
        prop_assert!(nothing.flips.is_empty() && nothing.unknown.is_empty(), "{:?}", nothing);
        write(&after);
        let done = replay(&session, &asked()).unwrap();
        let fresh = ways(&run(&session, Some("any"), RunInputs::None, Some(&before.stub), true));
        holds(&done, &recorded, &fresh)?;
    }
}

#[test]
fn a_var_is_tried_with_other_values() {
    let project = walked();
    let scenario = json!({
        "cases": [
            { "id": "known", "answers": { "recall": { "match": true, "confidence": 0.84 }, "review": [{ "decision": "approve" }], "report": {} } },
            { "id": "new", "expected_recall": { "match": false }, "expected_invest": { "convergence_score": 0.75 }, "rca_id": "R1" },
        ],
        "decisions": [{ "id": "sure", "node": "F0", "artifact": { "match": true, "confidence": 0.97 }, "state": { "history": ["recall"] } }],
    });
    project.file("scenario.json", scenario.to_string());
    for (name, args) in [
        ("over_runs", &["replay", "--sweep", "convergence_sufficient=0.5..0.95:0.15", "--svg", "sweep.svg"][..]),
        ("values_for_programs", &["replay", "latest", "--sweep", "max_investigate_loops=0,2", "--format", "json"]),
        ("over_a_scenario", &["replay", "--sweep", "recall_hit=0.75..1:0.1", "--scenario", "scenario.json"]),
        ("no_such_var", &["replay", "--sweep", "recall_hot=1,2"]),
        ("no_range", &["replay", "--sweep", "recall_hit=1..2"]),
        ("no_scenario", &["replay", "--sweep", "recall_hit=1", "--scenario", "new/rules/rca.rhai"]),
    ] {
        insta::assert_snapshot!(format!("sweep_{name}"), project.asterisk(args).text());
    }
    insta::assert_snapshot!("sweep_chart", project.read("sweep.svg"));
}

/// An edited responder: its answers are made again on the recorded inputs, and so are those that read them.
#[test]
fn scripted_answers_are_reevaluated() {
    let project = Project::new();
    project.asterisk(&["run", "--case", "880101", "--case", "880502"]).exits(0);
    let bundled = std::fs::read_to_string(crate::bundled::root().join("scripts/agents/triage.rhai")).unwrap();
    let replayed = |text: String| {
        project.file("s/agents/triage.rhai", text);
        project.asterisk(&["replay", "latest", "--scripts", "s", "--format", "json"]).exits(0).json()
    };
    let same = replayed(format!("// A note.\n{bundled}"));
    assert_eq!((&same["answers"], &same["flips"], &same["unknown"]), (&json!([]), &json!([]), &json!([])));
    let field = "symptom_category: category,";
    assert!(bundled.contains(field));
    let other = replayed(bundled.replace(field, "symptom_category: if category == \"crash\" { \"infra\" } else { category },"));
    let flip = &other["flips"][0];
    assert_eq!((&flip["case"], &flip["from"], &flip["to"]), (&json!("880101"), &json!("H7"), &json!("H4")));
    assert_eq!((&flip["then"], &other["unknown"]), (&json!(["review", "report"]), &json!([])));
    let answer = &other["answers"][0];
    assert_eq!((&answer["node"], &answer["fields"]["symptom_category"]), (&json!("triage"), &json!(["crash", "infra"])));
    // A decision that reads an unrecorded query is unknown, not guessed.
    let pipeline = std::fs::read_to_string(crate::bundled::root().join("pipelines/rca.yaml")).unwrap();
    let needs = "needs: [peers, siblings, tests.history, workspace, rcas.of_root]";
    assert!(pipeline.contains(needs));
    project.file(
        "p/rca.yaml",
        pipeline.replace(needs, "needs: [peers, siblings, tests.history, workspace, rcas.of_root, rcas.recent]"),
    );
    let head = "fn triage(params, vars) {";
    project.file(
        "s/agents/triage.rhai",
        bundled.replace(head, &format!("{head}\n    let recent = params.needs.rcas_recent.len();")),
    );
    let args = ["replay", "latest", "--scripts", "s", "--pipeline", "p/rca.yaml", "--format", "json"];
    let unknown = project.asterisk(&args).exits(0).json();
    let places: Vec<_> = unknown["unknown"].as_array().unwrap().iter().map(|one| (&one["case"], &one["node"])).collect();
    assert_eq!(places, [(&json!("880101"), &json!("triage")), (&json!("880502"), &json!("triage"))]);
}

/// An edited effect script: what steps would have written is compared, and no step behind a flip.
#[test]
fn effects_are_reevaluated() {
    let project = Project::new();
    project.asterisk(&["run", "--case", "880101", "--case", "880502"]).exits(0);
    let bundled = std::fs::read_to_string(crate::bundled::root().join("scripts/effects/rca.rhai")).unwrap();
    assert!(
        project.asterisk(&["replay", "latest", "--format", "json"]).exits(0).json()["effects"].as_array().unwrap().is_empty()
    );
    // The same text in another form writes the same.
    project.file("asterisk.yaml", "scripts: s\n");
    project.file("s/effects/rca.rhai", format!("// A note.\n{bundled}"));
    assert!(
        project.asterisk(&["replay", "latest", "--format", "json"]).exits(0).json()["effects"].as_array().unwrap().is_empty()
    );
    let edited = bundled.replace("\"triaged\"", "\"looked at\"");
    assert_ne!(edited, bundled);
    project.file("s/effects/rca.rhai", edited);
    let replayed = project.asterisk(&["replay", "latest", "--format", "json"]).exits(0).json();
    let effects = replayed["effects"].as_array().unwrap();
    let reported: Vec<_> = effects.iter().map(|one| (one["case"].as_str().unwrap(), one["node"].as_str().unwrap())).collect();
    assert_eq!(reported, [("880101", "triage"), ("880502", "triage")]);
    insta::assert_snapshot!("replay_effects", project.asterisk(&["replay", "latest"]).exits(0).text());
    // After a flip, the walk does not reach that step with the recorded state.
    let flipped = project.asterisk(&["replay", "latest", "--set", "recall_uncertain=0.0", "--format", "json"]).exits(0).json();
    assert_eq!(flipped["effects"].as_array().unwrap().len(), 2 - flipped["flips"].as_array().unwrap().len().min(2), "{flipped}");
}

#[test]
fn a_failing_verdict_rule_is_reported() {
    let project = walked();
    let waits = std::fs::read_to_string(repository().join("scripts/verdicts/waits.rhai")).unwrap();
    let broken = waits.replacen(
        "fn bare_timeout(evidence, context, vars) {",
        "fn bare_timeout(evidence, context, vars) {\n    throw \"no\";",
        1,
    );
    project.file("broken/verdicts/waits.rhai", broken);
    let again = project.asterisk(&["replay", "--scripts", "broken"]).exits(0);
    let said = "warning: rule V40 (pipelines/rca.yaml:";
    assert!(again.stderr.contains(said) && again.stderr.contains("failed in 16 cases"), "{}", again.text());
    let json = project.asterisk(&["replay", "--scripts", "broken", "--format", "json"]).exits(0).json();
    assert_eq!(json["verdicts"]["failed_rules"][0]["cases"], 16, "{json}");
    let ran = project.asterisk(&["run", "--no-recall", "--scripts", "broken", "--format", "json"]).exits(0);
    assert!(
        ran.stderr.contains(said)
            && ran.stderr.contains("in all 16 cases in which it was evaluated (first 880101) and was ignored"),
        "{}",
        ran.text()
    );
    assert_eq!(ran.json()["failed_rules"][0]["id"], "V40");
    // Rules are selected by id or name, ignoring case; signatures are distinguished from rules.
    let asked = |what: &str| project.asterisk(&["explain", "latest", "--case", "880201", "--why-not", what]);
    for rule in ["v12", "race-in-product"] {
        assert!(asked(rule).ok().stdout.contains("V12"), "{rule}");
    }
    assert!(asked("tls-expired").exits(2).stderr.contains("is a signature, which matched no line"));
    assert!(asked("race-in-produkt").exits(2).stderr.contains("`race-in-product`"));
}
