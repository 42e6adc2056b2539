//! The table of readers, and those that are called directly.

use crate::engine::{Target, Tries};
use crate::outside;
use crate::samples::{files, journal, texts};
use asterisk::config::{CommandLine, resolve};
use asterisk_adapters::agent::{AgentSignal, BatchManifest, RunDir, StepFiles, StubAnswers, open, parse, unwrapped};
use asterisk_base::clock::Timestamp;
use asterisk_base::environment::Environment;
use asterisk_base::model::{CommandErrors, CommandJoin, Effect, Handle, Hash, read_command_line};
use asterisk_calibrate::{count_cases, count_results};
use asterisk_diag::{Allow, Comments, Diagnostics, Source};
use asterisk_evidence::{EvidenceReader, EvidenceRules, FailureTexts, SignatureSpec, required_literals};
use asterisk_files::{Area, FileOrigin};
use asterisk_form::yaml;
use asterisk_launch::{LaunchMerger, decode};
use asterisk_lint::{Baseline, Config};
use asterisk_project::{LinkSettings, Project, Sources, read_data};
use asterisk_prompt::Templates;
use asterisk_script::{FunctionRef, Library, LibraryInputs, Pattern, ScriptLimits};
use asterisk_session::{ProjectText, SessionError, count_labelled};
use asterisk_walk::{Event, Request, WalkState};
use serde_json::json;
use std::io;
use std::sync::OnceLock;
use std::time::Duration;

/// All of them.
pub(crate) fn all() -> Vec<Target> {
    vec![
        Target {
            name: "launch",
            samples: || files(&["tests/fixtures/launches", "tests/fixtures/failures", "examples"], &["json", "xml"]),
            tries: Tries::Each { reads: launch, mib: 64, kib: 8 },
            few: 600,
            covers: &[
                "crates/launch/src/decode.rs",
                "crates/launch/src/detect.rs",
                "crates/launch/src/fields.rs",
                "crates/launch/src/foreign.rs",
                "crates/launch/src/head_keys.rs",
                "crates/launch/src/json_span.rs",
                "crates/launch/src/json_stream.rs",
                "crates/launch/src/junit.rs",
                "crates/launch/src/reportportal.rs",
                "crates/launch/src/room.rs",
                "crates/launch/src/stream.rs",
                "crates/launch/src/surrogates.rs",
                "crates/launch/src/xml.rs",
            ],
        },
        Target {
            name: "report-xml",
            samples: || {
                let named = ["mstest.trx", "nunit2.xml", "nunit3.xml", "xunit2.xml", "xunit3.xml", "testng.xml", "robot6.xml", "robot7.xml", "ctest-test.xml", "ctest-build.xml", "ctest-notes.xml", "catch2.xml"];
                files(&named.map(|name| format!("tests/fixtures/launches/{name}")).each_ref().map(String::as_str), &["xml", "trx"])
            },
            tries: Tries::Each { reads: launch, mib: 64, kib: 16 },
            few: 400,
            covers: &["crates/launch/src/catch2.rs", "crates/launch/src/ctest.rs", "crates/launch/src/nunit.rs", "crates/launch/src/robot.rs", "crates/launch/src/testng.rs", "crates/launch/src/trx.rs", "crates/launch/src/xunit.rs"],
        },
        Target {
            name: "report-lines",
            samples: || files(&["tests/fixtures/launches"], &["jsonl", "ndjson", "tap"]),
            tries: Tries::Each { reads: launch, mib: 64, kib: 16 },
            few: 400,
            covers: &[
                "crates/launch/src/bazel.rs",
                "crates/launch/src/cucumber_messages.rs",
                "crates/launch/src/go_test.rs",
                "crates/launch/src/json_events.rs",
                "crates/launch/src/libtest.rs",
                "crates/launch/src/lines.rs",
                "crates/launch/src/playwright_blob.rs",
                "crates/launch/src/pytest_log.rs",
                "crates/launch/src/tap.rs",
            ],
        },
        Target {
            name: "job-logs",
            samples: || files(&["crates/launch/fixtures/logs"], &["log"]),
            tries: Tries::Each { reads: launch, mib: 64, kib: 16 },
            few: 200,
            covers: &["crates/launch/src/gather.rs"],
        },
        Target {
            name: "report-json",
            samples: || {
                let named = [
                    "jest", "vitest", "playwright", "mocha", "mochawesome", "googletest", "pytest-report", "cucumber", "rspec", "xcresult-tests",
                    "ctrf", "k6-summary", "k6-handle-summary", "newman", "testcafe", "karate",
                ];
                files(&named.map(|name| format!("tests/fixtures/launches/{name}.json")).each_ref().map(String::as_str), &["json"])
            },
            tries: Tries::Each { reads: launch, mib: 64, kib: 16 },
            few: 400,
            covers: &[
                "crates/launch/src/ctrf.rs",
                "crates/launch/src/cucumber.rs",
                "crates/launch/src/googletest.rs",
                "crates/launch/src/jest.rs",
                "crates/launch/src/json_report.rs",
                "crates/launch/src/k6.rs",
                "crates/launch/src/karate.rs",
                "crates/launch/src/loose.rs",
                "crates/launch/src/mocha.rs",
                "crates/launch/src/mochawesome.rs",
                "crates/launch/src/newman.rs",
                "crates/launch/src/playwright.rs",
                "crates/launch/src/pytest_report.rs",
                "crates/launch/src/rspec.rs",
                "crates/launch/src/testcafe.rs",
                "crates/launch/src/xcresult.rs",
            ],
        },
        Target {
            name: "allure",
            samples: || files(&["tests/fixtures/launches/allure-results"], &["json"]),
            tries: Tries::Each { reads: allure, mib: 64, kib: 16 },
            few: 300,
            covers: &["crates/launch/src/allure.rs"],
        },
        Target {
            name: "yaml",
            samples: || files(&["pipelines", "scripts/data", "tests/fixtures/routes", "crates/lint/src/manual"], &["yaml"]),
            tries: Tries::Each { reads: read_yaml, mib: 64, kib: 32 },
            few: 600,
            covers: &["crates/form/src/yaml/build.rs", "crates/form/src/yaml/diagnose.rs"],
        },
        Target {
            name: "pipeline",
            samples: || files(&["pipelines", "tests/fixtures/routes", "crates/lint/src/manual"], &["yaml"]),
            tries: Tries::Each { reads: pipeline, mib: 256, kib: 256 },
            few: 250,
            covers: &["crates/pipeline/src/lib.rs", "crates/pipeline/src/read/schema.rs", "crates/form/src/yaml/scalar.rs"],
        },
        Target {
            name: "data",
            samples: || files(&["scripts/data"], &["yaml"]),
            tries: Tries::Each { reads: data, mib: 256, kib: 256 },
            few: 250,
            covers: &["crates/project/src/data.rs", "crates/project/src/domain/mod.rs", "crates/form/src/read.rs"],
        },
        Target {
            name: "config",
            samples: config_samples,
            tries: Tries::Each { reads: config, mib: 64, kib: 64 },
            few: 200,
            covers: &["src/config/project_file.rs", "src/config/settings.rs", "crates/lint/src/config.rs"],
        },
        Target {
            name: "set",
            samples: || texts(&["recall_hit=0.8", "name=\"x\"", "list=[1, {\"a\": null}]", "a=", "=1", "x=1e3"]),
            tries: Tries::Each { reads: set, mib: 16, kib: 64 },
            few: 200,
            covers: &["src/config/settings.rs"],
        },
        Target {
            name: "script",
            samples: || files(&["scripts", "tests/fixtures/routes/scripts", "crates/lint/src/manual"], &["rhai"]),
            tries: Tries::Each { reads: script, mib: 512, kib: 1024 },
            few: 150,
            covers: &["crates/base/src/model/text_pattern.rs", "crates/script/src/parse.rs", "crates/script/src/pattern.rs", "crates/script/src/engine.rs", "crates/script/src/panic_guard.rs", "crates/script/src/unit.rs"],
        },
        Target {
            name: "lint",
            samples: || files(&["crates/lint/src/manual", "tests/fixtures/routes/scripts"], &["rhai", "yaml", "md"]),
            tries: Tries::Each { reads: lint, mib: 1024, kib: 2048 },
            few: 60,
            covers: &["src/serve/reading.rs"],
        },
        Target {
            name: "template",
            samples: || files(&["templates", "crates/lint/src/manual"], &["md"]),
            tries: Tries::Each { reads: template, mib: 256, kib: 1024 },
            few: 250,
            covers: &["crates/prompt/src/template.rs", "crates/prompt/src/scan.rs"],
        },
        Target {
            name: "artifact",
            samples: artifacts,
            tries: Tries::Each { reads: artifact, mib: 16, kib: 16 },
            few: 400,
            covers: &["crates/adapters/src/agent/artifact.rs", "crates/adapters/src/agent/wrapper.rs", "crates/session/src/pending.rs", "crates/session/src/answer_file.rs"],
        },
        Target {
            name: "signal",
            samples: || texts(&[SIGNAL, ERROR, MANIFEST]),
            tries: Tries::Each { reads: signal, mib: 16, kib: 16 },
            few: 400,
            covers: &["crates/adapters/src/agent/signal.rs", "crates/adapters/src/agent/manifest.rs"],
        },
        Target {
            name: "stub",
            samples: || texts(&[STUB, "{\"*\": {\"look\": [{}, null]}}"]),
            tries: Tries::Each { reads: stub, mib: 16, kib: 32 },
            few: 300,
            covers: &["crates/adapters/src/agent/stub.rs"],
        },
        Target {
            name: "effect",
            samples: effects,
            tries: Tries::Each { reads: effect, mib: 16, kib: 16 },
            few: 300,
            covers: &["crates/walk/src/step.rs", "crates/base/src/model/effect.rs", "crates/script-tests/src/test_host.rs"],
        },
        Target {
            name: "word",
            samples: || texts(&["rules/rca.rhai#recall_hit", "lib/x.rhai", "a.rhai#b#c", "(?i)time(d|s)? out", "^x{2,5}[a-z&&[^b]]\\b", "2026-02-14T21:21:09.5+01:00", "// lint: allow(a/b) because: x\n", "4/branch[2]/1"]),
            tries: Tries::Each { reads: word, mib: 64, kib: 64 },
            few: 400,
            covers: &["crates/script/src/reference.rs", "crates/diag/src/allow.rs", "crates/base/src/clock/time.rs"],
        },
        Target {
            name: "command-line",
            samples: || {
                texts(&[
                    "cd d && cat *.t < f | grep -c 'a b' 2>/dev/null; echo \"x\\\"y\" \\z # end",
                    "find . ! -name '*.md' -o -empty || ls -la >/dev/null 2>&1\n[ -f a ] && head -5 -- f",
                    "sed -n '1,2p' ./[a-z]* | sort -k2 | uniq -c; r\"m\" 1>&1 a\\\nb",
                ])
            },
            tries: Tries::Each { reads: command_line, mib: 16, kib: 64 },
            few: 600,
            covers: &["crates/base/src/model/command_line.rs"],
        },
        Target {
            name: "evidence",
            samples: || files(&["tests/fixtures/failures"], &["json"]),
            tries: Tries::Each { reads: evidence, mib: 256, kib: 64 },
            few: 200,
            covers: &["crates/evidence/src/signatures.rs"],
        },
        Target {
            name: "baseline",
            samples: || texts(&["{\n  \"schema_version\": 1,\n  \"findings\": [{ \"rule\": \"robustness/unused-variable\", \"fingerprint\": \"0a1b\", \"file\": \"rules/x.rhai\" }]\n}"]),
            tries: Tries::Each { reads: baseline, mib: 16, kib: 16 },
            few: 200,
            covers: &["src/cli/lint.rs"],
        },
        Target {
            name: "labelled",
            samples: || {
                texts(&[
                    "[{\"id\": \"a\", \"label\": \"pb001\", \"decidable\": true}, {\"id\": 7, \"defect\": \"en001\", \"launch\": \"x.json\"}]",
                    "cases:\n  - { id: a, project: p, defect: pb001, failure: { name: t, error_message: boom } }\nrcas: [{ id: R1, defect_type: pb001 }]\n",
                ])
            },
            tries: Tries::Each { reads: labelled, mib: 64, kib: 64 },
            few: 300,
            covers: &["crates/session/src/labelled.rs"],
        },
        Target {
            name: "scenario",
            samples: || {
                texts(&[
                    "name: a\nrcas: [{ id: R1, defect_type: pb001, required_keywords: [x] }]\ncases:\n  - { id: c, rca_id: R1, error_message: boom, expected_path: [F0], expected_recall: { match: true } }\n",
                    "{\"name\": \"a\", \"cases\": [{\"id\": \"c\", \"hold_out\": true}], \"workspace\": {\"repos\": [{\"name\": \"r\"}]}}",
                ])
            },
            tries: Tries::Each { reads: scenario, mib: 64, kib: 64 },
            few: 300,
            covers: &["crates/calibrate/src/scenario.rs"],
        },
        Target {
            name: "results",
            samples: || {
                texts(&[
                    "{\"case_id\": \"a\", \"actual_path\": [\"F0\"]}\n{\"case_id\": \"b\", \"actual_rca_id\": null}\n",
                    "{\"cases\": [{\"case_id\": \"a\"}]}",
                    "[{\"case_id\": \"a\", \"actual_skip\": true}]",
                ])
            },
            tries: Tries::Each { reads: results, mib: 64, kib: 64 },
            few: 300,
            covers: &["crates/calibrate/src/results.rs"],
        },
        Target {
            name: "journal",
            samples: journal,
            tries: Tries::Each { reads: events, mib: 64, kib: 64 },
            few: 150,
            covers: &["crates/store/src/read.rs", "crates/decisions/src/replay/recorded_walk.rs", "crates/walk/src/drive.rs", "crates/walk/src/foreach.rs", "crates/walk/src/content.rs"],
        },
    ]
    .into_iter()
    .chain(outside::all())
    .collect()
}

/// Errors point into the text.
fn sound(found: &Diagnostics) {
    for one in found {
        assert!(!one.message.is_empty());
        for label in &one.labels {
            assert!(label.source.text().get(label.span.start..label.span.end).is_some(), "{:?} of {}", label.span, one.message);
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A size at which inputs are read as a stream.
const STREAMED: u64 = 5 << 20;

fn launch(bytes: &[u8]) {
    match decode("x", bytes).and_then(|source| asterisk_launch::read(&source)) {
        Ok(launch) => {
            let clean = |text: &str| text.chars().all(|ch| matches!(ch, '\n' | '\t') || !ch.is_control());
            for case in &launch.cases {
                assert!(clean(&case.name) && clean(&case.error_message) && clean(&case.log_snippet.text_or_error()), "{case:?}");
            }
        }
        Err(found) => sound(&found),
    }
    let mut streamed = LaunchMerger::default();
    if streamed.add_input("x", Some(STREAMED), || Ok(bytes)).is_ok() {
        streamed.finish();
    }
}

/// One file among whole ones.
fn allure(bytes: &[u8]) {
    let mut merger = LaunchMerger::default();
    let whole = include_str!("../fixtures/launches/allure-results/1a-result.json");
    assert!(merger.add(&Source::new("r/1a-result.json", whole)).is_ok());
    if let Ok(source) = decode("r/x-result.json", bytes) {
        match merger.add(&source) {
            Ok(()) => drop(merger.finish()),
            Err(found) => sound(&found),
        }
    }
}

fn read_yaml(bytes: &[u8]) {
    match yaml::parse(&Source::new("x.yaml", text(bytes))) {
        Ok(tree) => drop(tree.to_json()),
        Err(found) => sound(&found),
    }
}

fn sources(pipeline: &str) -> Sources {
    Sources {
        scripts: vec![Source::new("rules/example.rhai", include_str!("../../crates/lint/src/manual/example.rhai"))],
        templates: vec![Source::new("example.md", include_str!("../../crates/lint/src/manual/example.md"))],
        data: Vec::new(),
        pipeline: Source::new("x.yaml", pipeline),
        subpipelines: std::collections::BTreeMap::new(),
        missing: std::collections::BTreeMap::new(),
        bundle: None,
    }
}

fn pipeline(bytes: &[u8]) {
    let text = text(bytes);
    if let Ok(pipeline) = asterisk_pipeline::parse(&Source::new("x.yaml", text.as_str())) {
        drop(asterisk_pipeline::json_schema());
        drop(pipeline);
    }
    match Project::link(sources(&text), LinkSettings::default()) {
        Ok(project) => sound(&project.warnings),
        Err(found) => sound(&found),
    }
}

fn data(bytes: &[u8]) {
    for (name, domain) in
        [("words.yaml", None), ("personas.yaml", None), ("teams.yaml", None), ("domains/mine.yaml", Some("mine"))]
    {
        if let Err(found) = read_data(&[Source::new(name, text(bytes))], domain) {
            sound(&found);
        }
    }
}

fn config_samples() -> Vec<Vec<u8>> {
    texts(&[
        "store: runs.db\nscripts: scripts\nvars: { recall_hit: 0.9 }\nparallel: 3\nobservers: [log, 'jsonl=events.jsonl']\nretention: { days: 3 }\n",
        "agents:\n  model: { kind: http, url: 'http://localhost/v1', model: tiny, secret: { file: key }, retry: { attempts: 2, wait: 10ms } }\n  own: { kind: exec, command: [./a.sh], timeout: 2m, tokens: { in: usage.in, out: u } }\n",
        "mcp_servers:\n  notes: { command: [./notes.sh], env: { KEY: { env: NOTES_KEY } } }\n  web: { url: 'https://example.com/mcp' }\nreportportal: { url: 'https://rp.example.com/api', project: shop, token: { env: RP } }\n",
        "workspace:\n  repositories:\n    - { name: a, path: repos/a, branch: main, purpose: the product }\nlint: { levels: { robustness/unused-variable: off }, options: { robustness/deep-nesting: { most: 4 } } }\n",
    ])
}

fn config(bytes: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("asterisk.yaml"), bytes).unwrap();
    match resolve(CommandLine::default(), dir.path(), &Environment::default()) {
        Ok(resolved) => drop(resolved.settings),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn set(bytes: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    let given = CommandLine { set: vec![text(bytes)], ..CommandLine::default() };
    if let Err(error) = resolve(given, dir.path(), &Environment::default()) {
        assert!(!error.to_string().is_empty());
    }
}

/// Few operations, to test their limits.
fn limits() -> ScriptLimits {
    ScriptLimits { operations: 20_000, time: Duration::from_secs(60), ..ScriptLimits::default() }
}

/// The bundled libraries, which scripts may import.
fn bundled() -> &'static (Vec<Source>, Library) {
    static BUNDLED: OnceLock<(Vec<Source>, Library)> = OnceLock::new();
    BUNDLED.get_or_init(|| {
        let dir = crate::harness::repository().join("scripts/lib");
        let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let name = |path: &std::path::Path| format!("lib/{}", path.file_name().unwrap().to_str().unwrap());
        let own = paths.iter().filter(|path| path.is_file() && !path.to_str().unwrap().ends_with("_test.rhai"));
        let scripts: Vec<Source> = own.map(|path| Source::new(name(path), std::fs::read_to_string(path).unwrap())).collect();
        let library =
            Library::link(LibraryInputs { scripts: scripts.clone(), limits: limits(), ..LibraryInputs::default() }, None);
        (scripts, library.unwrap_or_else(|found| panic!("{found}")))
    })
}

fn script(bytes: &[u8]) {
    const PATH: &str = "rules/x.rhai";
    let (scripts, before) = bundled();
    let mut scripts = scripts.clone();
    scripts.push(Source::new(PATH, text(bytes)));
    let library = match Library::link(LibraryInputs { scripts, limits: limits(), ..LibraryInputs::default() }, Some(before)) {
        Ok(library) => library,
        Err(found) => return sound(&found),
    };
    let artifact = json!({
        "match": true, "confidence": 0.85, "label": "é", "n": 3, "list": ["x", "y"], "empty": [], "nothing": null,
        "repos": [{"name": "a", "score": 0.2}, {"name": "b", "score": 0.9}], "nested": {"a": {"b": 7}},
    });
    let functions: Vec<_> = library.file(PATH).unwrap().functions().cloned().collect();
    for public in functions.iter().take(4) {
        let Ok(reference) = FunctionRef::parse(&format!("{PATH}#{}", public.name)) else { continue };
        let Ok(function) = library.function(&reference, public.params.len()) else { continue };
        if let Err(problem) = function.call_json(&vec![artifact.clone(); public.params.len()]) {
            assert!(!problem.code.ends_with("/panic"), "{problem}");
            sound(&Diagnostics::from(*problem));
        }
    }
}

/// The text as each kind of text in a small project.
fn lint(bytes: &[u8]) {
    let text = text(bytes);
    let around = [
        (Area::Pipelines, "example.yaml", include_str!("../../crates/lint/src/manual/example.yaml")),
        (Area::Scripts, "rules/example.rhai", include_str!("../../crates/lint/src/manual/example.rhai")),
        (Area::Templates, "example.md", include_str!("../../crates/lint/src/manual/example.md")),
    ];
    for replaced in 0..around.len() {
        let of = |(at, (area, path, own)): (usize, &(Area, &str, &str))| ProjectText {
            area: *area,
            source: Source::new(*path, if at == replaced { text.as_str() } else { own }),
            shown: (*path).to_owned(),
            origin: FileOrigin::Embedded,
            requested: true,
        };
        let texts: Vec<ProjectText> = around.iter().enumerate().map(of).collect();
        let input = asterisk_lint::LintInput {
            texts: &texts,
            settings: &LinkSettings::default(),
            config: &Config::default(),
            cases: &[],
        };
        for finding in asterisk_lint::lint(input).findings {
            sound(&Diagnostics::from(finding.diagnostic));
        }
    }
}

fn template(bytes: &[u8]) {
    let params = json!({
        "identity": { "case": "c1", "node": "look", "run": "r" }, "case": { "name": "a test", "error_message": "x\n```\ny", "log_snippet": "z" },
        "prior": { "recall": { "match": true, "confidence": 0.5 } }, "vars": { "n": 3 }, "launch": { "name": "l", "attributes": {} },
        "list": [1, 2, 3], "context": {}, "taxonomy": { "defects": [] },
    });
    match Templates::compile([Source::new("x.md", text(bytes))]) {
        Ok(templates) => {
            let rendered = templates.get("x.md").unwrap().render(&params);
            if let Err(problem) = rendered {
                sound(&Diagnostics::from(*problem));
            }
        }
        Err(found) => sound(&found),
    }
}

fn artifacts() -> Vec<Vec<u8>> {
    texts(&[
        "{\"found\": true, \"why\": \"x\", \"n\": [1, 2.5, {\"a\": null}]}",
        "{\"dispatch_id\": 7, \"data\": {\"found\": false}}",
        "Sure!\n```json\n{\"found\": true}\n```\nand `{\"found\": false}`",
        "{\"dispatch_id\": 9007199254740993, \"data\": null}",
    ])
}

fn artifact(bytes: &[u8]) {
    drop(open(bytes, 7));
    if let Ok(value) = parse(&text(bytes)) {
        drop(unwrapped(value));
    }
}

const SIGNAL: &str = r#"{"status": "waiting", "dispatch_id": 4611686018427387904, "case_id": "c1", "step": "T1_LOOK", "prompt_path": "/p", "artifact_path": "/a", "timestamp": "2026-02-14T21:21:09Z"}"#;
const ERROR: &str = r#"{"status": "error", "dispatch_id": 7, "error": "out of ideas", "timestamp": "whenever", "case_id": "c1"}"#;
const MANIFEST: &str = r#"{"batch_id": 3, "status": "pending", "phase": "look", "total": 1, "created_at": "2026-02-14T21:21:09Z", "updated_at": "2026-02-14T21:21:09Z", "briefing_path": "/b", "signals": [{"case_id": "c1", "signal_path": "/s", "status": "claimed"}]}"#;
const STUB: &str = r#"{"x": {"look": [{"n": 7}, {"n": 1.5e3}]}, "*": {"close": [{}]}}"#;

/// A directory that has the input as every file.
struct Only<'b>(&'b [u8]);

impl RunDir for Only<'_> {
    fn places(&self, _request: &Request<'_>) -> StepFiles {
        unreachable!("no answerer is called")
    }
    fn path(&self, name: &str) -> String {
        name.to_owned()
    }
    fn write(&self, _name: &str, _text: &str) -> io::Result<()> {
        Ok(())
    }
    fn read(&self, _name: &str, most: usize) -> io::Result<Option<Vec<u8>>> {
        Ok(Some(self.0[..self.0.len().min(most)].to_vec()))
    }
    fn remove(&self, _name: &str) -> io::Result<()> {
        Ok(())
    }
    fn change_count(&self) -> u64 {
        0
    }
    fn dispatch_id(&self, request: i64) -> io::Result<i64> {
        Ok(request)
    }
    fn mark_answered(&self, _request: i64) {}
    fn mark_pending(&self, _request: &Request<'_>) -> io::Result<()> {
        Ok(())
    }
    fn wait(&self, _seen: u64, _most: Duration) {}
}

fn signal(bytes: &[u8]) {
    if let Some(signal) = AgentSignal::parse(bytes) {
        // What can be read can be written, and is the same then.
        assert_eq!(AgentSignal::parse(signal.text().as_bytes()).map(|again| again.text()), Some(signal.text()));
    }
    drop(BatchManifest::read(&Only(bytes)));
}

fn stub(bytes: &[u8]) {
    match StubAnswers::parse(&Source::new("stub.json", text(bytes))) {
        Ok(stub) => assert!(stub.nodes().count() <= bytes.len()),
        Err(problem) => sound(&Diagnostics::from(*problem)),
    }
}

fn effects() -> Vec<Vec<u8>> {
    texts(&[
        "{\"effect\": \"mark_seen\", \"id\": 1}",
        "{\"effect\": \"symptom\", \"name\": \"x\", \"category\": \"timeout\", \"id\": {\"new\": 1}}",
        "[{\"effect\": \"link\", \"symptom\": 3, \"rca\": {\"ref\": 2}, \"confidence\": 0.5}]",
    ])
}

fn effect(bytes: &[u8]) {
    if let Ok(value) = parse(&text(bytes)) {
        for value in value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice) {
            drop(serde_json::from_value::<Effect<Handle>>(value.clone()));
        }
    }
}

/// Half of the text as an error, half as a log.
fn evidence(bytes: &[u8]) {
    static READER: OnceLock<EvidenceReader> = OnceLock::new();
    let reader = READER.get_or_init(|| {
        let patterns = ["refused", r"\b(?:error|failed)\b:? .+", r"^\s*at .+", r"[^ ]+ != [^ ]+"];
        let signatures = patterns.iter().map(|pattern| SignatureSpec {
            id: (*pattern).to_owned(),
            patterns: vec![(*pattern).to_owned()],
            ..SignatureSpec::default()
        });
        EvidenceReader::new(EvidenceRules { signatures: signatures.collect(), ..EvidenceRules::default() }, Hash::of(b""))
    });
    let text = text(bytes);
    let middle = (text.len() / 2..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (error, log) = text.split_at(middle);
    let evidence = reader.read(FailureTexts { name: "a test", suite: "s", error, log });
    for found in &evidence.matches {
        let line = evidence.lines.iter().find(|line| line.id == found.line).unwrap();
        assert!(line.text.get(found.span[0]..found.span[1]).is_some(), "{found:?} in {line:?}");
    }
}

fn word(bytes: &[u8]) {
    let text = text(bytes);
    if let Err(problem) = FunctionRef::parse(&text) {
        sound(&Diagnostics::from(problem));
    }
    if let Ok(pattern) = Pattern::read(&text) {
        assert!(pattern.literal().is_none_or(|literal| pattern.prefixes().may_match_in(&literal.to_lowercase())), "{text:?}");
        assert!(!pattern.matches_nothing() || pattern.shortest() == 0, "{text:?}");
    }
    drop(required_literals(&text));
    drop(text.parse::<Timestamp>().map(|at| at.to_string()));
    for comments in [Comments::Slashes, Comments::Hash, Comments::Template] {
        drop(Allow::find(&Source::new("x", text.as_str()), "lint: allow(", comments, |_| false));
    }
}

/// A read value can be written in quotes, and reads the same.
fn command_line(bytes: &[u8]) {
    let Ok(commands) = read_command_line(&text(bytes)) else { return };
    let quoted = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
    let mut again = String::new();
    for (at, command) in commands.iter().enumerate() {
        again.push_str(match command.join {
            _ if at == 0 => "",
            CommandJoin::Then => ";",
            CommandJoin::And => "&&",
            CommandJoin::Or => "||",
            CommandJoin::Pipe => "|",
        });
        let words: Vec<String> = command.words.iter().map(|word| quoted(&word.text)).collect();
        again.push_str(&words.join(" "));
        if let Some(input) = &command.input {
            again.push_str(&[" < ", &quoted(input)].concat());
        }
        again.push_str(if command.silent { " >/dev/null" } else { "" });
        again.push_str(match command.errors {
            CommandErrors::Kept => "",
            CommandErrors::Dropped => " 2>/dev/null",
            CommandErrors::Joined => " 2>&1",
        });
    }
    if again.len() > 16 << 10 {
        return;
    }
    let Ok(mut read) = read_command_line(&again) else { panic!("{again:?} of {commands:?}") };
    // A word in quotes is not a pattern.
    for (words, before) in read.iter_mut().zip(&commands).flat_map(|(one, before)| one.words.iter_mut().zip(&before.words)) {
        words.pattern = before.pattern;
    }
    assert_eq!(read, commands, "{again:?}");
}

fn labelled(bytes: &[u8]) {
    counted(count_labelled(&Source::new("labelled.yaml", text(bytes))), bytes);
}

fn scenario(bytes: &[u8]) {
    counted(count_cases(&Source::new("scenario.yaml", text(bytes))), bytes);
}

fn results(bytes: &[u8]) {
    counted(count_results(&Source::new("results.jsonl", text(bytes))), bytes);
}

/// A reader finds at most as many items as bytes, or reports an error.
fn counted(read: Result<usize, SessionError>, bytes: &[u8]) {
    match read {
        Ok(found) => assert!(found <= bytes.len()),
        Err(SessionError::Texts(found)) => sound(&found),
        Err(other) => panic!("{other}"),
    }
}

fn baseline(bytes: &[u8]) {
    if let Ok(baseline) = serde_json::from_slice::<Baseline>(bytes) {
        baseline.apply(&mut Vec::new());
    }
}

/// Events as a damaged store could give them.
fn events(bytes: &[u8]) {
    let text = text(bytes);
    let events: Vec<Event> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let state = WalkState::fold(&events);
    drop((state.next_path(), state.is_over(), state.waits().is_some()));
}
