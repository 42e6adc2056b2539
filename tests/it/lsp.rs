//! `asterisk lsp`: a client's messages, and what comes back.

use crate::harness::{Project, repository};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const PIPELINE: &str = "pipeline: shop\ndescription: finds out what failed\nvars:\n  enough: { default: 0.8, type: number, min: 0, max: 1, doc: \"The minimum score.\" }\n\
    nodes:\n  - { name: look, prompt: look.md, schema: { score: number, words: [string] } }\n  - { name: check, script: \"agents/look.rhai#look\" }\n\
    edges:\n  - { id: E1, from: look, to: check, rule: \"rules/shop.rhai#sure\" }\n  - { id: E2, from: look, to: _done, condition: \"artifact.score < vars.enough\" }\n  \
    - { id: E3, from: check, to: _done }\nstart: look\ndone: _done\n";
const RULES: &str = "//! The rules of the shop.\n\nimport \"lib/shop\" as shop;\n\n/// Whether the score suffices.\nfn sure(artifact, state, vars) {\n    \
    let score = shop::doubled(artifact.score);\n    if score < vars.enough * 2 { return false; }\n    #{ because: `score ${score}` }\n}\n";
const LIB: &str = "//! Arithmetic.\n\n/// Twice a number.\nfn doubled(number) {\n    number * 2.0\n}\n";
const TESTS: &str = "//! Tests of the rules.\n\n/// A score that suffices.\nfn test_sure() {\n    let got = verdict(\"rules/shop.rhai#sure\", #{ pipeline: \"shop\", artifact: #{ score: 0.9 }, vars: #{ enough: 0.8 } });\n    \
    assert(got.fired);\n    assert_eq(decide(\"look\", #{ pipeline: \"shop\", artifact: #{ score: 0.9 } }).edge, \"E1\");\n}\n";
const AGENT: &str =
    "//! Answers.\n\n/// An answer.\nfn look(params, vars) {\n    #{ score: 0.9, words: words(params.failure.name) }\n}\n";
const TEMPLATE: &str = "Look at {{ failure.name | code }}, at least {{ vars.enough }}.\n";
const SETTINGS: &str = "";

/// A project with a pipeline, rules, a test and a template.
fn shop() -> Project {
    Project::with(&[
        ("asterisk.yaml", SETTINGS),
        ("pipelines/shop.yaml", PIPELINE),
        ("scripts/rules/shop.rhai", RULES),
        ("scripts/rules/shop_test.rhai", TESTS),
        ("scripts/lib/shop.rhai", LIB),
        ("scripts/agents/look.rhai", AGENT),
        ("templates/look.md", TEMPLATE),
    ])
}

/// A client that says everything before it reads.
struct Client<'p> {
    project: &'p Project,
    input: String,
    texts: BTreeMap<String, String>,
    asked: i64,
}

/// What the server said.
struct Heard {
    answers: BTreeMap<i64, Value>,
    notes: Vec<Value>,
}

impl<'p> Client<'p> {
    fn new(project: &'p Project) -> Self {
        let mut client = Self { project, input: String::new(), texts: BTreeMap::new(), asked: 0 };
        let root = format!("file://{}", project.root().display());
        client.ask(
            "initialize",
            json!({ "processId": null, "rootUri": root, "capabilities": {}, "initializationOptions": { "batch": true } }),
        );
        client.note("initialized", json!({}));
        client
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("a string");
    }

    fn note(&mut self, method: &str, params: impl Into<Value>) {
        let params: Value = params.into();
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn ask(&mut self, method: &str, params: impl Into<Value>) -> i64 {
        let params: Value = params.into();
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn uri(&self, path: &str) -> String {
        format!("file://{}", self.project.root().join(path).display())
    }

    /// Opens a file, with another text than that on disk if one is given.
    fn open(&mut self, path: &str, text: Option<&str>) {
        let text = text.map_or_else(|| self.project.read(path), str::to_owned);
        let document = json!({ "uri": self.uri(path), "languageId": "rhai", "version": 1, "text": text });
        self.texts.insert(path.to_owned(), text);
        self.note("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&mut self, path: &str, text: &str) {
        let document = json!({ "uri": self.uri(path), "version": 2 });
        self.texts.insert(path.to_owned(), text.to_owned());
        self.note("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [{ "text": text }] }));
    }

    /// The parameters of a request at the first occurrence of some words, and an offset into them.
    fn at(&self, path: &str, words: &str, into: usize) -> Value {
        let text = &self.texts[path];
        let offset = text.find(words).unwrap_or_else(|| panic!("no `{words}` in {path}")) + into;
        let before = &text[..offset];
        let line = before.matches('\n').count();
        let character = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        json!({ "textDocument": { "uri": self.uri(path) }, "position": { "line": line, "character": character } })
    }

    fn of(&self, path: &str) -> Value {
        json!({ "textDocument": { "uri": self.uri(path) } })
    }

    /// Every request about a document and a place in it.
    fn everything(&mut self, path: &str, words: &str, into: usize) -> Vec<(&'static str, i64)> {
        let (of, at) = (self.of(path), self.at(path, words, into));
        let with = |base: &Value, more: Value| {
            let mut all = base.as_object().expect("a map").clone();
            all.extend(more.as_object().expect("a map").clone());
            Value::Object(all)
        };
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 999, "character": 0 } });
        let options = json!({ "tabSize": 4, "insertSpaces": true });
        let requests = [
            ("textDocument/completion", at.clone()),
            ("textDocument/hover", at.clone()),
            ("textDocument/signatureHelp", at.clone()),
            ("textDocument/definition", at.clone()),
            ("textDocument/references", with(&at, json!({ "context": { "includeDeclaration": true } }))),
            ("textDocument/documentHighlight", at.clone()),
            ("textDocument/documentSymbol", of.clone()),
            ("workspace/symbol", json!({ "query": "su" })),
            ("textDocument/foldingRange", of.clone()),
            ("textDocument/semanticTokens/full", of.clone()),
            ("textDocument/semanticTokens/range", with(&of, json!({ "range": range }))),
            ("textDocument/inlayHint", with(&of, json!({ "range": range }))),
            ("textDocument/codeLens", of.clone()),
            ("textDocument/codeAction", with(&of, json!({ "range": range, "context": { "diagnostics": [] } }))),
            (
                "textDocument/inlineValue",
                with(&of, json!({ "range": range, "context": { "frameId": 1, "stoppedLocation": range } })),
            ),
            ("textDocument/formatting", with(&of, json!({ "options": options }))),
            ("textDocument/rangeFormatting", with(&of, json!({ "range": range, "options": options }))),
        ];
        requests.into_iter().map(|(method, params)| (method, self.ask(method, params))).collect()
    }

    /// Ends the session and reads what the server said.
    fn heard(mut self) -> Heard {
        self.ask("shutdown", Value::Null);
        self.note("exit", Value::Null);
        let ran = self.project.call(&["lsp"]).reading(&self.input).ran().ok();
        let mut heard = Heard { answers: BTreeMap::new(), notes: Vec::new() };
        let mut rest = ran.stdout.as_str();
        // The harness shortens paths, so that the lengths do not hold.
        while let Some((_, after)) = rest.split_once("\r\n\r\n") {
            let mut messages = serde_json::Deserializer::from_str(after).into_iter::<Value>();
            let message = messages.next().expect("a message").expect("JSON");
            rest = &after[messages.byte_offset()..];
            match (message["method"].is_null(), message["id"].as_i64()) {
                (true, Some(id)) => drop(heard.answers.insert(id, message)),
                _ => heard.notes.push(message),
            }
        }
        heard
    }
}

impl Heard {
    fn result(&self, id: i64) -> &Value {
        let answer = &self.answers[&id];
        assert!(answer["error"].is_null(), "{answer}");
        &answer["result"]
    }

    fn labels(&self, id: i64) -> Vec<&str> {
        self.result(id)["items"].as_array().expect("items").iter().filter_map(|item| item["label"].as_str()).collect()
    }

    /// The diagnostics of a file that were published last: their codes.
    fn diagnostics(&self, path: &str) -> Vec<&str> {
        let published = |note: &&Value| {
            note["method"] == "textDocument/publishDiagnostics"
                && note["params"]["uri"].as_str().is_some_and(|uri| uri.ends_with(path))
        };
        let last = self.notes.iter().rfind(published).expect("diagnostics");
        last["params"]["diagnostics"].as_array().expect("a list").iter().filter_map(|one| one["code"].as_str()).collect()
    }
}

/// The texts after a workspace edit, by path.
fn edited(project: &Project, edit: &Value) -> BTreeMap<String, String> {
    let changes = edit["changes"].as_object().expect("changes");
    let root = "file://[DIR]/";
    let file = |(uri, edits): (&String, &Value)| {
        let path = uri.strip_prefix(root).expect("a file of the project").to_owned();
        let mut text = project.read(&path);
        let offset = |at: &Value| {
            let (line, column) = (at["line"].as_u64().expect("a line"), at["character"].as_u64().expect("a column"));
            let start: usize = text.split_inclusive('\n').take(usize::try_from(line).expect("small")).map(str::len).sum();
            start + usize::try_from(column).expect("small")
        };
        let edits = edits.as_array().expect("edits").iter();
        let mut spans: Vec<(usize, usize, String)> = edits
            .map(|edit| {
                (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]), edit["newText"].as_str().expect("text").into())
            })
            .collect();
        spans.sort();
        for (start, end, new) in spans.iter().rev() {
            text.replace_range(*start..*end, new);
        }
        (path, text)
    };
    changes.iter().map(file).collect()
}

#[test]
fn completion_knows_roles_types_and_names() {
    let project = shop();
    let mut client = Client::new(&project);
    let rules = "scripts/rules/shop.rhai";
    client.open(rules, None);
    let mut typed = |before: &str, insert: &str| {
        let text = RULES.replace(before, &format!("{before}{insert}"));
        client.change(rules, &text);
        let at = client.at(rules, &format!("{before}{insert}"), before.len() + insert.len());
        client.ask("textDocument/completion", at)
    };
    let start = "fn sure(artifact, state, vars) {\n";
    let artifact = typed(start, "    artifact.");
    let vars = typed(start, "    if vars.en");
    let history = typed(start, "    for step in state.history { step.");
    let item = typed(start, "    artifact.words.filter(|word| word.");
    let namespace = typed(start, "    shop::");
    let local = typed("    let score = shop::doubled(artifact.score);\n", "    sc");
    let import = typed("//! The rules of the shop.\n\n", "import \"lib/sh");
    let pipeline = "pipelines/shop.yaml";
    client.open(pipeline, None);
    let mut typed = |insert: &str| {
        client.change(pipeline, &PIPELINE.replace("edges:\n", &format!("edges:\n{insert}\n")));
        let at = client.at(pipeline, insert, insert.len());
        client.ask("textDocument/completion", at)
    };
    let key = typed("  - { id: E0, fr");
    let node = typed("  - { id: E0, from: lo");
    let rule = typed("  - { id: E0, from: look, rule: \"rules/shop");
    let condition = typed("  - { id: E0, from: look, condition: \"artifact.");
    let of_other_node = typed("  - { id: E0, from: check, condition: \"artifact.");
    client.open("templates/look.md", Some("{{ failure. }}"));
    let at = client.at("templates/look.md", "failure.", 8);
    let template = client.ask("textDocument/completion", at);
    let heard = client.heard();
    let has = |id: i64, labels: &[&str]| {
        let found = heard.labels(id);
        assert!(labels.iter().all(|label| found.contains(label)), "{labels:?} in {found:?}");
    };
    has(artifact, &["score", "words"]);
    assert!(!heard.labels(of_other_node).contains(&"score"), "{:?}", heard.labels(of_other_node));
    has(vars, &["enough"]);
    has(history, &["node", "edge", "outcome"]);
    has(item, &["to_lower", "contains"]);
    assert_eq!(heard.labels(namespace), ["doubled"]);
    has(local, &["score", "artifact", "sure", "regex_find"]);
    has(import, &["lib/shop"]);
    has(key, &["from", "to", "rule"]);
    assert!(!heard.labels(key).contains(&"id"), "it is there already");
    assert_eq!(heard.labels(node), ["check", "look"]);
    has(rule, &["rules/shop.rhai#sure"]);
    has(condition, &["score"]);
    has(template, &["name", "error_message"]);
}

#[test]
fn hover_and_navigation_cross_languages() {
    let project = shop();
    let mut client = Client::new(&project);
    let (rules, pipeline, tests) = ("scripts/rules/shop.rhai", "pipelines/shop.yaml", "scripts/rules/shop_test.rhai");
    for path in [rules, pipeline, tests] {
        client.open(path, None);
    }
    let function = client.ask("textDocument/hover", client.at(rules, "fn sure", 4));
    let field = client.ask("textDocument/hover", client.at(rules, "artifact.score", 10));
    let key = client.ask("textDocument/hover", client.at(pipeline, "nodes:", 2));
    let definition = client.ask("textDocument/definition", client.at(pipeline, "#sure", 2));
    let library = client.ask("textDocument/definition", client.at(rules, "doubled(", 2));
    let mut at = client.at(rules, "fn sure", 4);
    at["context"] = json!({ "includeDeclaration": true });
    let references = client.ask("textDocument/references", at);
    let mut at = client.at(pipeline, "id: E1", 5);
    at["context"] = json!({ "includeDeclaration": false });
    let edge = client.ask("textDocument/references", at);
    let signature = client.ask("textDocument/signatureHelp", client.at(rules, "(artifact.score)", 1));
    let heard = client.heard();
    let text = |id: i64| heard.result(id)["contents"]["value"].as_str().expect("a text").to_owned();
    assert!(
        text(function).contains("Whether the score suffices.") && text(function).contains("the rule of edge `E1`"),
        "{}",
        text(function)
    );
    assert!(text(field).contains("artifact.score: number"), "{}", text(field));
    assert!(text(key).contains("`nodes`"), "{}", text(key));
    let files = |id: i64| -> Vec<String> {
        let found = heard.result(id).as_array().expect("locations").iter();
        found.map(|one| one["uri"].as_str().expect("an address").rsplit('/').next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(files(definition), ["shop.rhai"]);
    assert_eq!(files(library), ["shop.rhai"]);
    assert_eq!(files(references), ["shop.rhai", "shop_test.rhai", "shop.yaml"]);
    assert_eq!(files(edge), ["shop_test.rhai"]);
    assert_eq!(heard.result(signature)["signatures"][0]["label"], "doubled(number)");
}

#[test]
fn renamed_projects_still_link_and_pass_their_tests() {
    for (path, words, into, new) in [
        ("scripts/rules/shop.rhai", "fn sure", 4, "certain"),
        ("scripts/rules/shop.rhai", "doubled(", 2, "twice"),
        ("scripts/rules/shop.rhai", "let score", 5, "value"),
        ("pipelines/shop.yaml", "  enough:", 4, "least"),
        ("pipelines/shop.yaml", "name: look", 7, "see"),
        ("pipelines/shop.yaml", "id: E1", 5, "X1"),
    ] {
        let project = shop();
        let mut client = Client::new(&project);
        client.open(path, None);
        let mut at = client.at(path, words, into);
        at["newName"] = json!(new);
        let asked = client.ask("textDocument/rename", at);
        let heard = client.heard();
        let texts = edited(&project, heard.result(asked));
        assert!(texts.values().all(|text| text.contains(new)), "{texts:?}");
        for (path, text) in texts {
            project.file(&path, text);
        }
        let linted = project.asterisk(&["lint"]);
        assert!(!linted.stdout.contains("error"), "{new}: {}", linted.stdout);
        project.asterisk(&["test", "rules/shop_test.rhai"]).ok();
    }
}

#[test]
fn renames_that_would_miss_or_clash_are_refused() {
    let project = shop();
    let mut client = Client::new(&project);
    let rules = "scripts/rules/shop.rhai";
    client.open(rules, None);
    let mut rename = |words: &str, into: usize, new: &str| {
        let mut at = client.at(rules, words, into);
        at["newName"] = json!(new);
        client.ask("textDocument/rename", at)
    };
    let word = rename("fn sure", 4, "let");
    let space = rename("fn sure", 4, "so sure");
    client.open("scripts/lib/shop.rhai", Some(&format!("{LIB}fn broken(")));
    let mut at = client.at(rules, "fn sure", 4);
    at["newName"] = json!("certain");
    let broken = client.ask("textDocument/rename", at);
    let heard = client.heard();
    let refused = |id: i64| heard.answers[&id]["error"]["message"].as_str().expect("an error").to_owned();
    assert_eq!(refused(word), "`let` is a reserved word");
    assert_eq!(refused(space), "`so sure` is not a valid name: use letters, digits and `_`");
    assert_eq!(refused(broken), "`scripts/lib/shop.rhai` has a syntax error, so mentions in it would be missed: fix it first");
}

#[test]
fn diagnostics_follow_what_is_typed() {
    let project = shop();
    let mut client = Client::new(&project);
    let rules = "scripts/rules/shop.rhai";
    client.open(rules, Some(&RULES.replace("artifact.score", "artifact.scor")));
    let first = client.ask("asterisk/state", json!({}));
    let mut at_slip = client.at(rules, "artifact.scor", 10);
    at_slip["range"] = json!({ "start": at_slip["position"], "end": at_slip["position"] });
    at_slip["context"] = json!({ "diagnostics": [] });
    let actions = client.ask("textDocument/codeAction", at_slip);
    client.change(rules, RULES);
    let second = client.ask("asterisk/state", json!({}));
    let heard = client.heard();
    let found = &heard.result(first)["findings"][0];
    assert_eq!([&found["file"], &found["rule"]], ["scripts/rules/shop.rhai", "correctness/unknown-field"]);
    let offered = heard.result(actions).as_array().unwrap();
    let titles: Vec<&str> = offered.iter().map(|action| action["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Change `scor` to `score`"], "an error of linking cannot be allowed");
    let edit = offered[0]["edit"]["changes"].as_object().unwrap().values().next().unwrap();
    assert_eq!(edit[0]["newText"], "score");
    assert_eq!(heard.result(second)["findings"], json!([]));
    assert_eq!(heard.diagnostics(rules), [""; 0]);
}

#[test]
fn half_typed_texts_are_answered() {
    let project = shop();
    let mut client = Client::new(&project);
    let mut asked = Vec::new();
    for (path, text) in [("scripts/rules/shop.rhai", RULES), ("pipelines/shop.yaml", PIPELINE), ("templates/look.md", TEMPLATE)] {
        client.open(path, None);
        for cut in (0..text.len()).step_by(23).filter(|cut| text.is_char_boundary(*cut)) {
            client.change(path, &text[..cut]);
            let whole = &text[..cut];
            asked.extend(client.everything(path, whole, cut));
        }
        client.change(path, &format!("{text}\n}}}} \"${{ [(|"));
        asked.extend(client.everything(path, text, text.len()));
    }
    let heard = client.heard();
    for (method, id) in asked {
        let answer = &heard.answers[&id];
        // A text with a syntax error is not formatted, and the error is returned.
        let is_refusal = method.ends_with("ormatting") && answer["error"]["code"] == -32803;
        assert!(answer["error"].is_null() || is_refusal, "{method}: {answer}");
    }
}

#[test]
fn an_unreadable_project_is_reported() {
    let project = shop();
    project.file("asterisk.yaml", "pipeline: [\n");
    let mut client = Client::new(&project);
    client.open("scripts/rules/shop.rhai", None);
    let asked = client.everything("scripts/rules/shop.rhai", "fn sure", 4);
    let state = client.ask("asterisk/state", json!({}));
    let heard = client.heard();
    for (_, id) in asked {
        heard.result(id);
    }
    assert_eq!(heard.result(state)["findings"][0]["rule"], "correctness/syntax");
    assert_eq!(heard.diagnostics("asterisk.yaml"), ["correctness/syntax"]);
}

/// What incremental changes leave is what a new server finds: 10 000 edits, each of a few random characters.
#[test]
fn edits_leave_what_a_cold_start_finds() {
    let project = shop();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % below as u64).unwrap_or_default()
    };
    let pieces = [
        "",
        "",
        "",
        "\n",
        "}",
        "{",
        "\"",
        "artifact.",
        "score",
        "vars.enough",
        "if ",
        "ä😀",
        "  - ",
        "id: E9",
        "#{",
        "||",
        "//",
        "`",
    ];
    let mut client = Client::new(&project);
    let paths = ["scripts/rules/shop.rhai", "pipelines/shop.yaml", "scripts/lib/shop.rhai", "templates/look.md"];
    for path in paths {
        client.open(path, None);
    }
    let mut version = 1;
    for _ in 0..10_000 {
        let path = paths[next(paths.len())];
        let mut text = client.texts[path].clone();
        let lines: Vec<&str> = text.split('\n').collect();
        let line = next(lines.len());
        let units = lines[line].encode_utf16().count();
        let (from, length) = (next(units + 1), next(4));
        let to = (from + length).min(units);
        let piece = if text.len() > 4_000 { "" } else { pieces[next(pieces.len())] };
        let byte = |column: usize| {
            let mut left = column;
            lines[line]
                .char_indices()
                .find(|(_, c)| {
                    let here = left < c.len_utf16();
                    left = left.saturating_sub(c.len_utf16());
                    here
                })
                .map_or(lines[line].len(), |(at, _)| at)
        };
        let start: usize = lines[..line].iter().map(|line| line.len() + 1).sum();
        let span = start + byte(from)..start + byte(to);
        text.replace_range(span, piece);
        version += 1;
        let position = |character: usize| json!({ "line": line, "character": character });
        let change = json!({ "range": { "start": position(from), "end": position(to) }, "text": piece });
        let document = json!({ "uri": client.uri(path), "version": version });
        client.note("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
        client.texts.insert(path.to_owned(), text);
    }
    let warm = client.ask("asterisk/state", json!({}));
    let texts = client.texts.clone();
    let warm = client.heard().result(warm).clone();
    let mut client = Client::new(&project);
    for (path, text) in &texts {
        client.open(path, Some(text));
    }
    let cold = client.ask("asterisk/state", json!({}));
    let cold = client.heard().result(cold).clone();
    assert_eq!(warm["findings"], cold["findings"]);
    assert_eq!(warm["names"], cold["names"]);
    assert!(!cold["findings"].as_array().expect("findings").is_empty());
}

#[test]
fn the_record_stands_beside_the_rules() {
    let project = Project::new();
    let (rules, pipeline) = ("scripts/rules/rca.rhai", "pipelines/rca.yaml");
    for path in [rules, pipeline] {
        project.file(path, std::fs::read(repository().join(path)).unwrap());
    }
    let ran = project.asterisk(&["run", "--format", "json"]).json();
    let case = ran["cases"][0]["case"].as_str().unwrap().to_owned();
    let mut client = Client::new(&project);
    client.open(rules, None);
    client.open(pipeline, None);
    client.ask("asterisk/selectCase", json!({ "run": "latest", "case": case }));
    client.ask("asterisk/state", json!({ "recorded": true }));
    let cases = client.ask("asterisk/cases", json!({}));
    let of = |client: &Client<'_>, path: &str| {
        let mut of = client.of(path);
        of["range"] = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 999, "character": 0 } });
        of["context"] = json!({ "diagnostics": [], "frameId": 0, "stoppedLocation": of["range"] });
        of
    };
    let (in_rules, in_pipeline) = (of(&client, rules), of(&client, pipeline));
    let hints = client.ask("textDocument/inlayHint", in_rules.clone());
    let outcomes = client.ask("textDocument/inlayHint", in_pipeline.clone());
    let values = client.ask("textDocument/inlineValue", in_rules.clone());
    let lenses = client.ask("textDocument/codeLens", client.of(pipeline));
    let actions = client.ask("textDocument/codeAction", in_pipeline.clone());
    let hover = client.ask("textDocument/hover", client.at(rules, "fn recall_miss", 4));
    let command = |name: &str, arguments: Value| json!({ "command": name, "arguments": arguments });
    let explained = client.ask("workspace/executeCommand", command("asterisk.explain", json!(["latest", case, "H2"])));
    let [of_edge, of_rule, of_root] =
        [json!(["latest", null, "H2"]), json!(["latest", null, "V1"]), json!(["latest", null, "R1"])]
            .map(|arguments| client.ask("workspace/executeCommand", command("asterisk.explain", arguments)));
    // Values follow their lines before they are evaluated again, and what is decided otherwise then is marked.
    let text = client.texts[rules].clone();
    client.change(rules, &format!("//! Moved.\n{text}"));
    let moved = client.ask("textDocument/inlayHint", in_rules.clone());
    client.change(rules, &text.replace("return #{ because: \"no known failure matches\" }", "return false"));
    client.ask("asterisk/state", json!({ "recorded": true }));
    let edited = client.ask("textDocument/inlayHint", in_rules);
    let turned = client.ask("textDocument/inlayHint", in_pipeline);
    client.change(rules, &text);
    // An edit that sends everybody elsewhere.
    let text = client.texts[pipeline].replace(
        "default: 0.80, type: number, min: 0, max: 1, doc: \"Minimum recall",
        "default: 0.80, type: number, min: 0, max: 1, doc: \"Least recall",
    );
    client.change(
        pipeline,
        &text.replace(
            "from: recall, to: triage, rule: \"rules/rca.rhai#recall_miss\"",
            "from: recall, to: review, rule: \"rules/rca.rhai#recall_miss\"",
        ),
    );
    client.ask("asterisk/state", json!({ "recorded": true }));
    let flips = client.ask("textDocument/codeLens", client.of(pipeline));
    let listed = client.ask("workspace/executeCommand", command("asterisk.showFlips", json!(["H2"])));
    let saved = client.ask("workspace/executeCommand", command("asterisk.saveTest", json!(["latest", case, "H2"])));
    let heard = client.heard();
    assert_eq!(heard.result(cases)["runs"][0]["cases"][0]["case"], case.as_str());
    let labels = |id: i64| -> Vec<String> {
        heard.result(id).as_array().unwrap().iter().map(|hint| hint["label"].as_str().unwrap().to_owned()).collect()
    };
    assert!(labels(hints).iter().any(|label| label.contains("artifact.match = false")), "{:?}", labels(hints));
    assert!(labels(outcomes).contains(&"fired".to_owned()), "{:?}", labels(outcomes));
    assert!(labels(outcomes).iter().any(|label| label.starts_with("flips at ")), "{:?}", labels(outcomes));
    let line = |id: i64| heard.result(id)[0]["position"]["line"].as_u64().unwrap();
    assert_eq!((labels(moved), line(moved)), (labels(hints), line(hints) + 1));
    assert!(!labels(edited).is_empty());
    assert!(labels(turned).iter().any(|label| label.contains(", recorded: ")), "{:?}", labels(turned));
    assert!(!heard.result(values).as_array().unwrap().is_empty());
    let titles = |id: i64, of: &str| -> Vec<String> {
        heard.result(id).as_array().unwrap().iter().filter_map(|one| one.pointer(of)?.as_str().map(str::to_owned)).collect()
    };
    let count = heard.result(cases)["runs"][0]["cases"].as_array().unwrap().len();
    assert!(
        titles(lenses, "/command/title").contains(&format!("fired {count} of {count}")),
        "{:?}",
        titles(lenses, "/command/title")
    );
    let offered = titles(actions, "/title");
    assert!(offered.contains(&"Save the last decision of `H2` as a test".to_owned()), "{offered:?}");
    assert!(offered.iter().any(|title| title.starts_with("Lower the weight of `V")), "{offered:?}");
    assert!(heard.result(hover)["contents"]["value"].as_str().unwrap().contains(&format!("`H2` fired {count} of {count}")));
    assert!(heard.result(explained).as_str().unwrap().contains("F0 recall"));
    for (list, part) in
        [(of_edge, format!("{count} of {count}")), (of_rule, "| matched 1 |".to_owned()), (of_root, "| decided `".to_owned())]
    {
        let list = heard.result(list).as_str().unwrap();
        assert!(list.contains(&part) && list.contains(&format!("({case})")), "{list}");
    }
    assert!(heard.result(cases)["runs"][0]["cases"][0]["title"].is_string(), "{}", heard.result(cases));
    assert!(
        titles(flips, "/command/title").iter().any(|title| title.ends_with("would flip")),
        "{:?}",
        titles(flips, "/command/title")
    );
    assert!(heard.result(listed).as_str().unwrap().contains(&case));
    let file = heard.result(saved).as_str().unwrap().replace("[DIR]", &project.root().display().to_string());
    assert!(std::fs::read_to_string(&file).unwrap().contains("fn test_"), "{file}");
}
