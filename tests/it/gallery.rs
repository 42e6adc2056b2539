//! Mistakes that people make, each with the resulting error. The snapshots are reviewed; an unhelpful error is fixed in the host.

use crate::harness::Project;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const PIPELINE: &str = "\
pipeline: door
vars: { sure: 0.8, most: 2, colour: red }
nodes:
  - name: look
    prompt: look.md
    schema: { category: string, confidence: { type: number, min: 0, max: 1 }, tags: [string], owner?: string }
    needs: [siblings]
    effect: effects/door.rhai#look
  - name: knock
    schema: { answered: bool, times: int }
edges:
  - id: D1
    from: look
    to: knock
    rule: rules/door.rhai#unsure
  - id: D2
    from: look
    to: _done
    condition: confidence >= vars.sure
  - id: D3
    from: look
    to: knock
  - id: D4
    from: knock
    to: look
    loop: true
    condition: state.loops.D4 < vars.most && !answered
  - id: D5
    from: knock
    to: _done
start: look
done: _done
";

const RULES: &str = "\
/// Too unsure to go in.
fn unsure(artifact, state, vars) {
    artifact.confidence < vars.sure && artifact.tags.len() == 0
}
";

const LOOK: &str = "\
fn look(params, vars) {
    #{ category: \"wood\", confidence: 0.5, tags: [] }
}
";
const KNOCK: &str = "fn knock(params, vars) { #{ answered: true, times: 1 } }\n";
const EFFECT: &str = "fn look(artifact, params) { [#{ effect: \"note\", text: artifact.category }] }\n";
const TEMPLATE: &str = "# {{ failure.name }}\n\n{% for tag in prior.look.tags %}\n- {{ tag }}\n{% endfor %}\n";

const FILES: &[(&str, &str)] = &[
    ("asterisk.yaml", "scripts: scripts\npipelines: pipelines\ntemplates: templates\n"),
    ("pipelines/door.yaml", PIPELINE),
    ("scripts/rules/door.rhai", RULES),
    ("scripts/agents/look.rhai", LOOK),
    ("scripts/agents/knock.rhai", KNOCK),
    ("scripts/effects/door.rhai", EFFECT),
    ("templates/look.md", TEMPLATE),
    (
        "launch.json",
        "{\"run_id\": \"1\", \"name\": \"doors\", \"failure_list\": [{\"id\": \"c1\", \"name\": \"opens\", \"status\": \"FAILED\"}]}",
    ),
    (
        "answers.json",
        "{\"*\": {\"look\": [{\"category\": \"wood\", \"confidence\": 0.9, \"tags\": []}], \"knock\": [{\"answered\": true, \"times\": 1}]}}",
    ),
];

const RUN: &str = "run door --dry-run --input none";
const RULE: &str = "scripts/rules/door.rhai";
const DOOR: &str = "pipelines/door.yaml";
const AGENT: &str = "scripts/agents/look.rhai";
const PAGE: &str = "templates/look.md";

/// The edits (from, to in the file of the base project; an empty `from` is the whole file), and the command to run.
struct Mistake {
    name: &'static str,
    edits: &'static [(&'static str, &'static str, &'static str)],
    command: &'static str,
}

const fn slip(name: &'static str, edits: &'static [(&'static str, &'static str, &'static str)]) -> Mistake {
    Mistake { name, edits, command: RUN }
}

const fn asked(name: &'static str, command: &'static str) -> Mistake {
    Mistake { name, edits: &[], command }
}

const MISTAKES: &[Mistake] = &[
    // The text of scripts.
    slip("brace_missing", &[(RULE, "== 0\n}", "== 0\n")]),
    slip("paren_missing", &[(RULE, "vars) {", "vars {")]),
    slip("semicolon_missing", &[(RULE, "    artifact.conf", "    let n = artifact.tags.len()\n    n == 0 && artifact.conf")]),
    slip("string_open", &[(AGENT, "\"wood\"", "\"wood")]),
    slip("assignment_for_comparison", &[(RULE, "== 0", "= 0")]),
    slip("and_in_words", &[(RULE, "&&", "and")]),
    slip("not_in_words", &[(RULE, "artifact.tags.len() == 0", "not artifact.tags.contains(\"x\")")]),
    slip("three_equals", &[(RULE, "== 0", "=== 0")]),
    slip(
        "python_colon",
        &[(RULE, "    artifact.confidence", "    if artifact.confidence < 0.1: return true\n    artifact.confidence")],
    ),
    slip("python_def", &[(RULE, "fn unsure", "def unsure")]),
    slip(
        "else_if_in_one",
        &[(
            RULE,
            "    artifact.confidence",
            "    if artifact.confidence < 0.1 { return true; } elif artifact.confidence > 2.0 { return false; }\n    artifact.confidence",
        )],
    ),
    slip("map_without_hash", &[(AGENT, "#{ category", "{ category")]),
    slip("single_quotes", &[(AGENT, "\"wood\"", "'wood'")]),
    slip("null_of_other_languages", &[(RULE, "artifact.tags.len() == 0", "artifact.owner == null")]),
    slip(
        "several_functions_broken",
        &[(
            RULE,
            "",
            "fn unsure(artifact, state, vars) {\n    artifact.confidence <\n}\n\nfn second(x) {\n    let = 5;\n}\n\nfn third(x) {\n    y + 1\n}\n",
        )],
    ),
    slip("function_twice", &[(RULE, "/// Too", "fn unsure(a, b, c) { true }\n/// Too")]),
    slip("print", &[(RULE, "    artifact.conf", "    print(artifact);\n    artifact.conf")]),
    slip("time", &[(RULE, "artifact.tags.len() == 0", "timestamp() > 5")]),
    // Names.
    slip("variable_misspelt", &[(RULE, "artifact.conf", "artefact.conf")]),
    slip("field_misspelt", &[(RULE, "artifact.confidence", "artifact.confidance")]),
    slip("var_misspelt", &[(RULE, "vars.sure", "vars.shure")]),
    slip("state_misspelt", &[(RULE, "artifact.tags.len() == 0", "state.loop.D4 > 1")]),
    slip("function_misspelt", &[(RULE, "artifact.tags.len()", "artifact.tags.lenght()")]),
    slip("function_of_python", &[(RULE, "artifact.tags.len()", "len(artifact.tags, 1)")]),
    slip("function_of_javascript", &[(RULE, "artifact.tags.len() == 0", "artifact.category.includes(\"wood\")")]),
    slip("constant_in_a_function", &[(RULE, "/// Too", "const LEAST = 0.5;\n/// Too"), (RULE, "vars.sure", "LEAST")]),
    slip("counter_misspelt", &[(RULE, "artifact.tags.len() == 0", "state.loops.D44 == 0")]),
    // Kinds of values.
    slip("number_with_text", &[(RULE, "artifact.tags.len() == 0", "artifact.category > 3")]),
    slip("text_with_number", &[(RULE, "artifact.confidence < vars.sure", "artifact.confidence < \"high\"")]),
    slip("wrong_argument", &[(RULE, "artifact.tags.len() == 0", "artifact.confidence.contains(\"x\")")]),
    slip("too_few_arguments", &[(RULE, "artifact.tags.len() == 0", "artifact.category.replace(\"x\") == \"\"")]),
    slip("write_to_the_artifact", &[(RULE, "    artifact.conf", "    artifact.confidence = 1.0;\n    artifact.conf")]),
    slip("past_the_end_of_a_list", &[(RULE, "artifact.tags.len() == 0", "artifact.tags[3] == \"x\"")]),
    slip("division_by_nothing", &[(RULE, "artifact.tags.len() == 0", "1 / artifact.tags.len() > 0")]),
    // What functions return.
    slip("rule_returns_text", &[(RULE, "    artifact.confidence < vars.sure && artifact.tags.len() == 0", "    \"yes\"")]),
    slip(
        "rule_returns_unknown_key",
        &[(
            RULE,
            "    artifact.confidence < vars.sure && artifact.tags.len() == 0",
            "    #{ to: true, becuase: \"it is open\" }",
        )],
    ),
    slip(
        "rule_returns_unknown_target",
        &[(RULE, "    artifact.confidence < vars.sure && artifact.tags.len() == 0", "    #{ to: \"knok\" }")],
    ),
    slip("rule_with_two_parameters", &[(RULE, "artifact, state, vars", "artifact, state")]),
    slip("artifact_of_another_form", &[(AGENT, "confidence: 0.5", "confidence: \"half\"")]),
    slip("artifact_lacks_a_field", &[(AGENT, ", tags: []", "")]),
    slip("responder_returns_nothing", &[(AGENT, "#{ category: \"wood\", confidence: 0.5, tags: [] }", "let x = 1;")]),
    slip("effect_unknown", &[("scripts/effects/door.rhai", "\"note\"", "\"notes\"")]),
    slip("throws", &[(RULE, "    artifact.confidence <", "    throw \"no idea\";\n    artifact.confidence <")]),
    // Limits.
    slip("endless_loop", &[(RULE, "    artifact.conf", "    loop { }\n    artifact.conf")]),
    slip(
        "endless_recursion",
        &[(RULE, "/// Too", "fn again(n) { again(n + 1) + 1 }\n/// Too"), (RULE, "artifact.tags.len()", "again(0)")],
    ),
    // Imports.
    slip(
        "import_missing",
        &[(RULE, "/// Too", "import \"lib/dor\" as lib;\n/// Too"), ("scripts/lib/door.rhai", "", "fn f() { 1 }")],
    ),
    slip(
        "import_in_a_circle",
        &[
            (RULE, "/// Too", "import \"lib/a\" as a;\n/// Too"),
            ("scripts/lib/a.rhai", "", "import \"lib/b\" as b;\n"),
            ("scripts/lib/b.rhai", "", "import \"lib/a\" as a;\n"),
        ],
    ),
    slip("import_of_elsewhere", &[(RULE, "/// Too", "import \"../../etc/passwd\" as lib;\n/// Too")]),
    slip(
        "import_not_named",
        &[
            (RULE, "/// Too", "import \"lib/door\";\n/// Too"),
            ("scripts/lib/door.rhai", "", "fn f() { 1 }"),
            (RULE, "artifact.tags.len()", "door::f()"),
        ],
    ),
    slip(
        "imported_function_misspelt",
        &[
            (RULE, "/// Too", "import \"lib/door\" as lib;\n/// Too"),
            ("scripts/lib/door.rhai", "", "fn open(x) { 1 }"),
            (RULE, "artifact.tags.len()", "lib::opn(1)"),
        ],
    ),
    // Conditions in the pipeline.
    slip("condition_in_words", &[(DOOR, "confidence >= vars.sure", "confidence is above 0.8")]),
    slip("condition_field_misspelt", &[(DOOR, "confidence >= vars.sure", "confidense >= vars.sure")]),
    slip("condition_unfinished", &[(DOOR, "confidence >= vars.sure", "confidence >=")]),
    slip("condition_var_misspelt", &[(DOOR, "confidence >= vars.sure", "confidence >= vars.shure")]),
    slip("condition_text_without_quotes", &[(DOOR, "confidence >= vars.sure", "category == wood")]),
    // The pipeline.
    slip("key_misspelt", &[(DOOR, "    schema: { answered", "    shema: { answered")]),
    slip("node_misspelt", &[(DOOR, "from: look\n    to: knock\n    rule", "from: look\n    to: knok\n    rule")]),
    slip("start_misspelt", &[(DOOR, "start: look", "start: lok")]),
    slip("file_misspelt", &[(DOOR, "rules/door.rhai", "rules/dor.rhai")]),
    slip("reference_without_function", &[(DOOR, "rules/door.rhai#unsure", "rules/door.rhai")]),
    slip("rule_misspelt", &[(DOOR, "#unsure", "#unshure")]),
    slip("template_misspelt", &[(DOOR, "prompt: look.md", "prompt: lok.md")]),
    slip("need_misspelt", &[(DOOR, "[siblings]", "[sibling]")]),
    slip("type_misspelt", &[(DOOR, "answered: bool", "answered: boolean")]),
    slip("edge_id_twice", &[(DOOR, "id: D3", "id: D2")]),
    slip("tab_for_spaces", &[(DOOR, "    from: look\n    to: knock\n    rule", "\tfrom: look\n    to: knock\n    rule")]),
    slip("list_not_closed", &[(DOOR, "needs: [siblings]", "needs: [siblings")]),
    slip("family_without_responder", &[(DOOR, "  - name: knock\n", "  - name: knock\n    family: nock\n")]),
    // Templates.
    slip("template_parameter_misspelt", &[(PAGE, "failure.name", "failure.nam")]),
    slip("template_group_misspelt", &[(PAGE, "failure.name", "failur.name")]),
    slip("template_not_closed", &[(PAGE, "{% endfor %}\n", "")]),
    slip("template_filter_misspelt", &[(PAGE, "failure.name }}", "failure.name | uper }}")]),
    slip("template_braces", &[(PAGE, "failure.name }}", "failure.name }")]),
    // Data and settings.
    slip("data_not_closed", &[("scripts/data/words.yaml", "", "words: [a, b\n")]),
    slip("data_key_twice", &[("scripts/data/words.yaml", "", "words: 1\nwords: 2\n")]),
    slip("settings_key_misspelt", &[("asterisk.yaml", "templates: templates", "template: templates")]),
    slip("directory_missing", &[("asterisk.yaml", "scripts: scripts", "scripts: script")]),
    // The command line.
    asked("pipeline_misspelt", "run dor --dry-run --input none"),
    asked("set_misspelt", "run door --dry-run --input none --set shure=1"),
    asked("set_of_another_type", "run door --dry-run --input none --set sure=high"),
    asked("case_misspelt", "run door --dry-run --input launch.json --case c2"),
    asked("node_asked_misspelt", "eval route door --node lok"),
    asked("function_asked_misspelt", "eval call rules/door.rhai#unshure --pipeline door"),
    asked("arguments_of_a_call", "eval call rules/door.rhai#unsure --pipeline door --args [1]"),
    asked("vocabulary_misspelt", "run door --dry-run --input none --domain generik"),
    // Numbers with a comma, and vars of the project.
    slip("decimal_comma", &[(DOOR, "sure: 0.8", "sure: 0,80")]),
    slip("decimal_comma_on_a_line", &[(DOOR, "vars: { sure: 0.8, most: 2, colour: red }", "vars:\n  sure: 0,8\n  most: 2")]),
    slip(
        "decimal_comma_in_settings",
        &[("asterisk.yaml", "templates: templates\n", "templates: templates\nvars: { sure: 0,8 }\n")],
    ),
    slip("settings_var_misspelt", &[("asterisk.yaml", "templates: templates\n", "templates: templates\nvars: { shure: 0.8 }\n")]),
    slip(
        "settings_var_of_another_type",
        &[("asterisk.yaml", "templates: templates\n", "templates: templates\nvars: { sure: high }\n")],
    ),
    // What only the data knows.
    slip("element_misspelt", &[(DOOR, "    prompt: look.md", "    element: fyre\n    prompt: look.md")]),
    slip("trait_misspelt", &[(RULE, "artifact.tags.len() == 0", "state.walker.traits.evidence_dept == 2")]),
    slip(
        "persona_misspelt",
        &[(DOOR, "start: look", "team: { walkers: [Hrald], scheduler: schedulers/affinity.rhai }\nstart: look")],
    ),
    // Pipelines that run, but not as intended.
    slip("value_dropped", &[(RULE, "    artifact.conf", "    if artifact.tags.len() > 3 { false }\n    artifact.conf")]),
    slip(
        "interpolation_in_plain_quotes",
        &[(
            RULE,
            "    artifact.confidence < vars.sure && artifact.tags.len() == 0",
            "    #{ because: \"no tag for ${artifact.category}\" }",
        )],
    ),
    slip(
        "text_returned_on_one_way",
        &[(RULE, "    artifact.conf", "    if vars.sure > 1.0 { return \"knock\"; }\n    artifact.conf")],
    ),
    slip("script_in_utf_16", &[("scripts/lib/door.rhai", "", "f\0n\0 \0o\0p\0e\0n\0(\0)\0 \0{\0}\0")]),
    Mistake {
        name: "unknown_key_in_a_test",
        edits: &[(
            "scripts/rules/door_test.rhai",
            "",
            "fn test_unsure() {\n    let artifact = #{ confidense: 0.4, tags: [] };\n    \
             assert(verdict(\"rules/door.rhai#unsure\", #{ artifact: artifact, pipeline: \"door\" }).fired);\n}\n",
        )],
        command: "test --filter unsure",
    },
    // Indentation.
    slip("key_too_far_left", &[(DOOR, "    needs: [sib", "  needs: [sib")]),
    slip("key_too_far_right", &[(DOOR, "    schema: { answered", "      schema: { answered")]),
    slip("key_beside_its_column", &[(DOOR, "    prompt: look.md", "   prompt: look.md")]),
    slip("item_beside_its_column", &[(DOOR, "  - name: knock", "   - name: knock")]),
    slip("key_of_the_top_indented", &[(DOOR, "start: look", " start: look")]),
];

/// A mistake as a person sees it.
fn shown(mistake: &Mistake) -> String {
    let project = Project::with(FILES);
    for (path, from, to) in mistake.edits {
        let before = if from.is_empty() { String::new() } else { project.read(path) };
        assert!(from.is_empty() || before.contains(from), "{}: nothing to change in {path}", mistake.name);
        project.file(path, if from.is_empty() { (*to).to_owned() } else { before.replacen(from, to, 1) });
    }
    let args: Vec<&str> = mistake.command.split(' ').collect();
    let ran = project.asterisk(&args);
    let mut text = format!("$ asterisk {}\n", mistake.command);
    // The output of a run is tested elsewhere; this is about the mistake.
    let _ = write!(text, "exit {}\n{}", ran.code.unwrap_or(-1), ran.stderr);
    text
}

#[test]
fn every_mistake_is_shown_with_a_helpful_error() {
    let shown_all: Mutex<Vec<Option<String>>> = Mutex::new(MISTAKES.iter().map(|_| None).collect());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(mistake) = MISTAKES.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let at = MISTAKES.iter().position(|other| other.name == mistake.name).unwrap();
                    let text = shown(mistake);
                    shown_all.lock().unwrap()[at] = Some(text);
                }
            });
        }
    });
    let shown = shown_all.into_inner().unwrap();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots/gallery");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (at, (mistake, text)) in MISTAKES.iter().zip(&shown).enumerate() {
            insta::assert_snapshot!(format!("{:02}_{}", at + 1, mistake.name), text.as_deref().unwrap_or("not shown"));
        }
    });
}

#[test]
fn the_project_without_a_mistake_runs() {
    let project = Project::with(FILES);
    project.asterisk(&RUN.split(' ').collect::<Vec<_>>()).exits(0);
    project.asterisk(&["run", "door", "--dry-run", "--input", "launch.json", "--stub", "answers.json"]).exits(0);
}
