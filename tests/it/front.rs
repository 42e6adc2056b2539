//! Setting up and checking a project: `init`, `config`, `doctor`, `doc --schema`, `graph`, and behaviour in a pipe.

use crate::cli::commands;
use crate::docs::shell;
use crate::harness::{Project, repository};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn files_written_by_init_are_used_and_never_overwritten() {
    let project = Project::new();
    let first = project.asterisk(&["init", "mine", "--format", "json"]).exits(0).json();
    let written: BTreeSet<&str> = first["written"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    for path in [
        "asterisk.yaml",
        "pipelines/rca.yaml",
        "schemas/pipeline.schema.json",
        "scripts/rules/rca.rhai",
        "scripts/data/elements.yaml",
        "templates/recall.md",
    ] {
        assert!(written.contains(path), "{path}");
    }
    // The written files equal the bundled ones, so a run is the same; and changes are used.
    let run = |dir: &str, args: &str| {
        shell(&project, &format!("cd {dir} && asterisk run --dry-run --format json {args}")).exits(0).json()
    };
    assert_eq!(run("mine", "")["cases"], run(".", "")["cases"]);
    let rules = project.read("mine/scripts/rules/rca.rhai");
    project.file("mine/pipelines/rca.yaml", project.read("mine/pipelines/rca.yaml").replace("start: recall", "start: report"));
    let nodes = run("mine", "--input none")["cases"][0]["nodes"].clone();
    assert_eq!(nodes[0], "report");
    let again = shell(&project, "asterisk init mine").exits(2);
    assert!(
        again.stderr.contains("`pipelines/rca.yaml` would be overwritten") && again.stderr.contains("--force"),
        "{}",
        again.text()
    );
    assert_eq!(project.read("mine/scripts/rules/rca.rhai"), rules);
    shell(&project, "asterisk init mine --only scripts").exits(0);
    shell(&project, "asterisk init mine --force").exits(0);
    assert!(project.read("mine/pipelines/rca.yaml").contains("start: recall"));
    // Only a part of it, next to an existing project file.
    let some = project.asterisk(&["init", "--only", "templates"]).exits(0);
    assert!(project.root().join("templates/recall.md").exists() && !project.root().join("scripts").exists());
    assert!(!some.stderr.contains("is unchanged") && project.read("asterisk.yaml").is_empty(), "{}", some.text());
    project.file("asterisk.yaml", "templates: mine/templates\n");
    let some = project.asterisk(&["init", "--only", "templates"]).exits(0);
    assert!(some.stderr.contains("to use the new files, add: templates: templates"), "{}", some.text());
}

#[test]
fn settings_show_their_origin() {
    let project = Project::with(&[
        ("asterisk.yaml", "# mine\nscripts: heuristics\nvars:\n  recall_hit: 0.7\n"),
        ("heuristics/rules/x.rhai", ""),
        (".config/asterisk/config.yaml", "scripts: elsewhere\nstore: all.db\nvars: { recall_hit: 0.1, recall_uncertain: 0.2 }\n"),
    ]);
    let origins = |args: &str| {
        let found = shell(&project, &format!("asterisk {args}")).exits(0).json();
        let one = |setting: &Value| {
            let at = &setting["origin"];
            let file = at["file"].as_str().map(|file| format!("{}:{}", file.trim_start_matches("[DIR]/"), at["line"]));
            let from = file.or(at["name"].as_str().map(str::to_owned)).unwrap_or("default".to_owned());
            (setting["name"].as_str().unwrap().to_owned(), format!("{} {from}", setting["value"]))
        };
        found["settings"].as_array().unwrap().iter().map(one).collect::<std::collections::BTreeMap<_, _>>()
    };
    let found = origins("config --format json");
    assert_eq!(found["scripts"], "\"[DIR]/heuristics\" asterisk.yaml:2");
    assert_eq!(found["store"], "\"[DIR]/.config/asterisk/all.db\" .config/asterisk/config.yaml:2");
    assert_eq!(found["vars.recall_hit"], "0.7 asterisk.yaml:4");
    assert_eq!(found["vars.recall_uncertain"], "0.2 .config/asterisk/config.yaml:3");
    assert_eq!(found["out"], "\"[DIR]/.asterisk/investigations\" default");
    let found = origins("config --format json --set recall_hit=0.5 --store here.db --color never");
    assert_eq!((&*found["vars.recall_hit"], &*found["store"]), ("0.5 --set", "\"here.db\" --store"));
    assert_eq!(found["color"], "\"never\" --color");
    let found = shell(&project, "ASTERISK_STORE=v.db asterisk config --origin").exits(0);
    assert!(found.stdout.contains("ASTERISK_STORE") && found.stdout.contains("asterisk.yaml:2"), "{}", found.text());
    // The user's own file applies, and its errors are reported.
    shell(&project, "asterisk run --input none").exits(0);
    assert!(project.root().join(".config/asterisk/all.db").exists());
    project.file(".config/asterisk/config.yaml", "scirpts: x\n");
    let wrong = project.asterisk(&["status"]).exits(3);
    assert!(wrong.stderr.contains("did you mean `scripts`?") && wrong.stderr.contains("config.yaml:1:1"), "{}", wrong.text());
}

#[test]
fn the_doctor_finds_what_is_wrong() {
    let project = Project::new();
    let fine = project.asterisk(&["doctor", "--format", "json"]).exits(0).json();
    assert_eq!((&fine["wrong"], &fine["schema_version"]), (&json!(0), &json!(1)));
    assert!(fine["files"].as_array().unwrap().iter().all(|file| file["origin"] == "bundled"));
    project.asterisk(&["run", "--input", "none"]).exits(0);
    project.asterisk(&["doctor"]).exits(0);
    project.file("asterisk.yaml", "scripts: mine\nworkspace: { repositories: [{ name: shop, path: nowhere }] }\n");
    project.file("mine/rules/rca.rhai", fs::read(repository().join("scripts/rules/rca.rhai")).unwrap());
    project.file("mine/rules/rcca.rhai", "");
    project.file("mine/lib/something_of_my_own.rhai", "");
    project.file("mine/agents/recal.rhia", "");
    let found = shell(&project, "ASTERISK_STROE=x asterisk doctor --format json").exits(1).json();
    let wrong: BTreeSet<(&str, &str)> = found["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["state"] == "wrong")
        .map(|check| (check["name"].as_str().unwrap(), check["help"].as_str().unwrap_or_default()))
        .collect();
    let expected = [
        ("scripts/rules/rcca.rhai", "did you mean `rules/rca.rhai`?"),
        ("scripts/agents/recal.rhia", "did you mean `agents/recall.rhai`?"),
        ("shop", "set its `path` under `workspace` in asterisk.yaml"),
        ("ASTERISK_STROE", "did you mean `ASTERISK_STORE`?"),
    ];
    assert_eq!(wrong, expected.into());
    let note =
        |name: &str| found["checks"].as_array().unwrap().iter().any(|check| check["name"] == name && check["state"] == "note");
    assert!(note("scripts/lib/something_of_my_own.rhai"), "{found}");
    let shown = project.asterisk(&["doctor", "--files"]).exits(1).stdout;
    assert!(shown.contains("replaces the bundled one") && shown.contains("WRONG"), "{shown}");
    // A pipeline that does not link, a store that is none.
    project.file("asterisk.yaml", "pipelines: own\n");
    project.file("own/odd.yaml", "pipeline: odd\nnodes: [{name: a}]\nedges: [{id: x, from: a, to: b}]\nstart: a\ndone: _done\n");
    let found = project.asterisk(&["doctor", "--store", "own/odd.yaml"]).exits(1).stdout;
    assert!(found.contains("does not link") && found.contains("is not a store"), "{found}");
}

/// The part of JSON Schema 2020-12 that the schemas use; a keyword it does not know is a failure of the test.
struct Validator(Value);

impl Validator {
    fn is_valid(&self, value: &Value) -> bool {
        self.check(value).is_ok()
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        self.at(&self.0, value, "$")
    }

    fn at(&self, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
        let Value::Object(keywords) = schema else { panic!("{path}: a schema is a map: {schema}") };
        let fits = |schema: &Value| self.at(schema, value, path).is_ok();
        let number = |word: &Value| word.as_f64().unwrap();
        for (keyword, word) in keywords {
            let good = match keyword.as_str() {
                "$schema" | "$comment" | "title" | "description" | "default" | "examples" | "format" | "$defs" | "then"
                | "else" => true,
                "$ref" => {
                    let target = word.as_str().unwrap().strip_prefix('#').unwrap();
                    self.at(self.0.pointer(target).unwrap_or_else(|| panic!("{target} is not there")), value, path)?;
                    true
                }
                "type" => match word {
                    Value::Array(words) => words.iter().any(|word| is(word, value)),
                    word => is(word, value),
                },
                "enum" => word.as_array().unwrap().contains(value),
                "pattern" => value.as_str().is_none_or(|text| regex::Regex::new(word.as_str().unwrap()).unwrap().is_match(text)),
                "minimum" => value.as_f64().is_none_or(|value| value >= number(word)),
                "maximum" => value.as_f64().is_none_or(|value| value <= number(word)),
                "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= word.as_u64().unwrap()),
                "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= word.as_u64().unwrap()),
                "uniqueItems" => {
                    value.as_array().is_none_or(|items| (1..items.len()).all(|at| !items[..at].contains(&items[at])))
                }
                "items" => {
                    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.at(word, item, &format!("{path}[{at}]"))?;
                    }
                    true
                }
                "required" => value
                    .as_object()
                    .is_none_or(|map| word.as_array().unwrap().iter().all(|key| map.contains_key(key.as_str().unwrap()))),
                "properties" => {
                    for (key, inner) in value.as_object().into_iter().flatten() {
                        word.get(key).map_or(Ok(()), |schema| self.at(schema, inner, &format!("{path}.{key}")))?;
                    }
                    true
                }
                "additionalProperties" => {
                    let known = |key: &str| keywords.get("properties").is_some_and(|known| known.get(key).is_some());
                    for (key, inner) in value.as_object().into_iter().flatten().filter(|(key, _)| !known(key)) {
                        match word {
                            Value::Bool(false) => return Err(format!("{path}: no key `{key}`")),
                            schema => self.at(schema, inner, &format!("{path}.{key}"))?,
                        }
                    }
                    true
                }
                "not" => !fits(word),
                "anyOf" => word.as_array().unwrap().iter().any(fits),
                "allOf" => word.as_array().unwrap().iter().all(fits),
                "propertyNames" => value
                    .as_object()
                    .is_none_or(|map| map.keys().all(|key| self.at(word, &Value::from(key.as_str()), path).is_ok())),
                "oneOf" => word.as_array().unwrap().iter().filter(|schema| fits(schema)).count() == 1,
                "if" => {
                    let branch = keywords.get(if fits(word) { "then" } else { "else" });
                    branch.map_or(Ok(()), |schema| self.at(schema, value, path))?;
                    true
                }
                _ => panic!("{path}: the keyword `{keyword}` is not known here"),
            };
            if !good {
                return Err(format!("{path}: {keyword} {word} does not hold of {value}"));
            }
        }
        Ok(())
    }
}

fn is(word: &Value, value: &Value) -> bool {
    match word.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        other => panic!("{other} is not a type"),
    }
}

#[test]
fn files_match_their_schemas() {
    let project = Project::new();
    let validator = |kind: &str| Validator(project.asterisk(&["doc", "--schema", kind]).exits(0).json());
    let yaml = |text: &str| {
        let source = asterisk_diag::Source::new("x.yaml", text);
        asterisk_form::yaml::parse(&source).unwrap().to_json()
    };
    let pipeline = validator("pipeline");
    let entries = |dir: &Path| fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let mut files = entries(&repository().join("pipelines"));
    files.extend(entries(&repository().join("pipelines/gallery")).iter().flat_map(|dir| entries(dir)));
    for file in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "yaml")) {
        let text = fs::read_to_string(file).unwrap();
        assert_eq!(pipeline.check(&yaml(&text)), Ok(()), "{}", file.display());
    }
    let stages = "stages: [{ name: Page, agent: PageAgent, advisor: PageAdvisor, task: write, timeout: 3, cache: false }]\n";
    assert!(pipeline.is_valid(&yaml(stages)));
    for (from, to) in [("agent:", "agnet:"), ("timeout: 3", "timeout: long"), ("stages: [", "edges: []\nstages: [")] {
        assert!(!pipeline.is_valid(&yaml(&stages.replace(from, to))), "{to}");
    }
    let good = "pipeline: p\nnodes: [{name: a, schema: {x: bool, y?: [int], z: {type: number, min: 0}, w: {enum: [b]}}}]\n\
                edges: [{id: e, from: a, to: _done}]\nstart: a\ndone: _done\n";
    assert!(pipeline.is_valid(&yaml(good)));
    // What the reader refuses by form, the schema refuses.
    for (from, to) in [
        ("pipeline: p", "pipelin: p"),
        ("name: a,", "nmae: a,"),
        ("x: bool", "x: boo"),
        ("[int]", "[int, int]"),
        ("start: a\n", ""),
        ("id: e,", ""),
        ("to: _done}", "to: _done, rule: r.rhai}"),
        ("to: _done}", "to: _done, rule: r.rhai#f, condition: 'true'}"),
        ("start: a\n", "start: a\nmax_steps: -1\n"),
        ("min: 0", "mn: 0"),
    ] {
        let bad = good.replace(from, to);
        assert!(bad != good && !pipeline.is_valid(&yaml(&bad)), "{bad}");
        project.file("bad.yaml", &bad);
        project.asterisk(&["run", "bad.yaml", "--input", "none", "--dry-run", "--via", "stub"]);
        assert_ne!(project.asterisk(&["graph", "bad.yaml"]).code, Some(0).filter(|_| !bad.contains("r.rhai}")), "{bad}");
    }
    let settings = validator("project");
    let template = shell(&project, "asterisk init t --only config && cat t/asterisk.yaml").exits(0).stdout;
    let template = template.split_once('#').unwrap().1;
    assert!(settings.is_valid(&yaml(&format!("#{template}"))));
    assert!(settings.is_valid(&yaml("workspace: { repositories: [{ name: a, path: b }] }\nvars: { x: 1 }\n")));
    assert!(
        !settings.is_valid(&yaml("workspace: { repositories: [{ path: b }] }\n")) && !settings.is_valid(&yaml("script: x\n"))
    );
}

/// The kind of a YAML file of the repository, for `doc --schema`.
fn kind_of(path: &Path) -> String {
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let parents: Vec<String> = path.ancestors().skip(1).filter(|path| path.file_stem().is_some()).map(name).collect();
    match (&*name(path), &*parents[0]) {
        ("asterisk", _) => "project".to_owned(),
        (_, "domains") => "domain".to_owned(),
        (_, "scenarios") => "scenario".to_owned(),
        (_, "scorecards") => "scorecard".to_owned(),
        (stem, "data") => stem.to_owned(),
        (_, "signatures") => "signatures".to_owned(),
        _ => "pipeline".to_owned(),
    }
}

/// The YAML files below a directory.
fn yaml_files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(yaml_files(&path));
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_bundled_file_matches_its_schema_and_broken_ones_do_not() {
    let project = Project::new();
    let written = project.asterisk(&["init", "--only", "schemas", "--format", "json"]).exits(0).json();
    let schemas: BTreeMap<String, Validator> = written["written"]
        .as_array()
        .unwrap()
        .iter()
        .map(|path| path.as_str().unwrap())
        .map(|path| {
            let kind = path.strip_prefix("schemas/").unwrap().strip_suffix(".schema.json").unwrap();
            let text = project.read(path);
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), project.asterisk(&["doc", "--schema", kind]).ok().json());
            (kind.to_owned(), Validator(serde_json::from_str(&text).unwrap()))
        })
        .collect();
    let parse = |path: &Path, text: &str| {
        let source = asterisk_diag::Source::new(path.display().to_string(), text);
        asterisk_form::yaml::parse(&source).unwrap().to_json()
    };
    let mut kinds = BTreeSet::new();
    for path in ["pipelines", "scripts/data", "examples"].iter().flat_map(|dir| yaml_files(&repository().join(dir))) {
        let kind = kind_of(&path);
        let value = parse(&path, &fs::read_to_string(&path).unwrap());
        let schema = &schemas[&kind];
        assert_eq!(schema.check(&value), Ok(()), "{}", path.display());
        let mut more = value.clone();
        more["nosuchkey"] = json!(1);
        assert!(!schema.is_valid(&more), "{}", path.display());
        // These hold anything.
        let keys = value.as_object().unwrap().keys().filter(|key| !["shared_advisors", "lint"].contains(&key.as_str()));
        for key in keys {
            let mut wrong = value.clone();
            wrong[key] = json!([[[true]]]);
            assert!(!schema.is_valid(&wrong), "{}: {key}", path.display());
        }
        kinds.insert(kind);
    }
    let unused: Vec<&String> = schemas.keys().filter(|kind| !kinds.contains(*kind)).collect();
    assert_eq!(unused, ["learned", "pipeline-policy"], "kinds without a bundled file");
    for (kind, text, good) in [
        ("learned", "temperature: 1.5\nweights: { V1: { pb001: 0.5 } }\n", true),
        ("learned", "temperature: 100\n", false),
        ("pipeline-policy", "version: 1\nretries: { default: 2 }\n", true),
        ("pipeline-policy", "retries: { default: two }\n", false),
        // A file that extends another one may have any of its keys, and says where entries go.
        ("pipeline", "extends: rca\n", true),
        ("pipeline", "extends: rca\nedges: [{ id: H1, remove: true }, { id: X, after: H2, from: recall }]\n", true),
        ("pipeline", "extends: rca\nnodes: [{ name: a, after: recall }, { name: b, after: [a] }]\n", true),
        ("pipeline", "extends: rca\ndeadline: { remove: true }\nverdict: { rules: [{ id: V1, remove: true }] }\n", true),
        ("pipeline", "extends: landing\nstages: [{ name: Page, task: write }]\npolicy: { budget: { remove: true } }\n", true),
        ("pipeline", "extends: rca\nvars: { recall_hit: 0.7 }\n", true),
        ("pipeline", "extends: rca\nedgse: []\n", false),
        ("pipeline", "extends: rca\nedges: [{ id: H1, remove: 1 }]\n", false),
        ("pipeline", "extends: rca\nmax_steps: none\n", false),
        ("evidence", "extends: evidence\nowners: [{ id: a, owner: product, paths: [b], before: c }]\n", true),
        ("evidence", "owners: [{ id: a, owner: product, paths: [b] }]\n", false),
        ("scorecard", "extends: rca\nmetrics: [{ id: M1, threshold: 0.5 }]\n", true),
        // These two extend the bundled ones without saying so.
        ("teams", "teams: { light: { walkers: [Herald] } }\n", true),
        ("teams", "teams: { light: { wakers: [Herald] } }\n", false),
        ("policy", "agents: { Page: { script: \"agents/page.rhai#page\" } }\n", true),
        ("policy", "agents: { Page: { script: page } }\n", false),
        ("signatures", "topic: a\nsignatures: [{ id: b }]\n", false),
        ("domain", "extends: generic\nsignatures: [{ id: b, certainty: 0.5 }]\n", true),
    ] {
        assert_eq!(schemas[kind].is_valid(&parse(Path::new(kind), text)), good, "{kind}: {text}");
    }
}

#[test]
fn new_files_name_their_schemas_to_editors() {
    let project = Project::new();
    let head = |path: &str| project.read(path).lines().next().unwrap().to_owned();
    project.asterisk(&["new", "pipeline", "alone"]).exits(0);
    assert!(!head("pipelines/alone.yaml").contains("schema"));
    project.asterisk(&["init", "--only", "config,schemas", "--force"]).exits(0);
    assert_eq!(head("asterisk.yaml"), "# yaml-language-server: $schema=schemas/project.schema.json");
    for (kind, name, file, schema) in [
        ("pipeline", "nightly", "pipelines/nightly.yaml", "../schemas/pipeline"),
        ("domain", "shop", "scripts/data/domains/shop.yaml", "../../../schemas/domain"),
        ("signature", "cable", "scripts/data/signatures/cable.yaml", "../../../schemas/signatures"),
        ("owner-rule", "own", "scripts/data/evidence.yaml", "../../schemas/evidence"),
    ] {
        project.asterisk(&["new", kind, name]).exits(0);
        assert_eq!(head(file), format!("# yaml-language-server: $schema={schema}.schema.json"));
    }
    project.asterisk(&["new", "pipeline", "mine", "--from", "rca"]).exits(0);
    assert!(head("pipelines/mine.yaml").ends_with("pipeline.schema.json"));
    project.asterisk(&["graph", "mine"]).exits(0);
}

#[test]
fn every_flag_of_every_command_is_documented() {
    let project = Project::new();
    let mut undocumented = Vec::new();
    for command in commands(&project) {
        let help = crate::docs::help(&command);
        assert!(!help.starts_with("Usage") && (help.contains("\nExample") || command.contains(' ')), "{command}");
        let lines: Vec<&str> = help.lines().collect();
        for (ix, line) in lines.iter().enumerate().filter(|(_, line)| line.trim_start().starts_with('-')) {
            if !line.starts_with("  ") || line.starts_with("        ") {
                continue;
            }
            // Its description is indented on the next line.
            if !lines.get(ix + 1).is_some_and(|next| next.starts_with("          ") && !next.trim().is_empty()) {
                undocumented.push(format!("{command}: {line}"));
            }
        }
        // Everything that prints data prints it for programs too.
        let for_programs =
            help.contains("json") || help.contains("\nCommands:") || ["dap", "lsp", "repl", "serve", "tour"].contains(&&*command);
        assert!(for_programs, "{command} lacks --format json");
    }
    assert!(undocumented.is_empty(), "{undocumented:?}");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let project = Project::new();
    for command in
        ["doc", "show data --format json", "graph rca --format svg", "completions bash", "doc --schema pipeline", "run --dry-run"]
    {
        let ran = shell(&project, &format!("asterisk {command} | head -c 10"));
        assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)), "{command}");
    }
}

#[test]
fn narrow_and_plain_terminals_are_served() {
    let project = Project::new();
    for command in ["run --dry-run", "show elements", "config --origin", "doctor", "show pipelines"] {
        let ran = shell(&project, &format!("COLUMNS=40 TERM=dumb asterisk {command}")).exits(0);
        // Paths and the names of tests are never broken.
        let is_whole = |line: &str| {
            line.contains(" cases, ") || line.trim_start().starts_with("case ") || line.split_whitespace().count() < 3
        };
        let long: Vec<&str> = ran.stdout.lines().filter(|line| line.chars().count() > 40 && !is_whole(line)).collect();
        assert!(long.is_empty(), "{command}: {long:#?}");
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{command}");
    }
}

/// The same words at any width, so nothing is broken; names of tests and paths are on one line, and the confidence is never left out.
#[test]
fn the_first_screen_fits_terminals_of_any_width() {
    let project = Project::new();
    let screens = [80, 120, 200].map(|width| {
        let ran = project.call(&["run", "--dry-run", "--cases"]).env("COLUMNS", width.to_string()).ran().exits(0);
        for line in ran.stdout.lines() {
            assert!(line.chars().count() <= width || line.trim_start().starts_with("case "), "{width}: {line}");
        }
        let one_line = ["case 880402 a card token expires after fifteen minutes", "at services/pricing/src/discount.rs:88"];
        assert!(one_line.iter().all(|text| ran.stdout.contains(text)), "{}", ran.text());
        assert_eq!(ran.stdout.matches("confidence 0.").count(), 10, "{}", ran.text());
        ran.stdout.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    });
    assert!(screens.iter().all(|screen| *screen == screens[0]));
}

/// Commands cannot be entered in a CI job.
#[test]
fn a_job_gets_no_interactive_hints() {
    let project = Project::new();
    let ran =
        |variables: &[(&str, &str)]| project.call(&["run", "--case", "880502"]).envs(variables.iter().copied()).ran().exits(0);
    let at_a_desk = ran(&[]);
    assert!(at_a_desk.stdout.ends_with("1 case needs review: asterisk review --next\n"), "{}", at_a_desk.text());
    let job = ran(&[("CI", "true")]);
    assert!(job.stdout.contains("\n1 case needs review\n") && !job.text().contains("asterisk review"), "{}", job.text());
    assert_eq!(project.read(".asterisk/.gitignore"), "*\n");
}
