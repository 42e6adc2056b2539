//! The JSON Schema of the project file, for editors: made from the very lists of keys that the reader goes by.

use super::project_file::{KNOWN, REPOSITORY, WORKSPACE};
use super::{agents, reportportal, servers};
use crate::agent::AnswererKind;
use crate::lint::{self, OptionDefault};
use crate::pipeline::described;
use serde_json::{Map, Value, json};

type DescribedKey = (&'static str, &'static str, Value);

/// The schema of `asterisk.yaml` and of the user's own file (JSON Schema 2020-12).
pub fn json_schema() -> Value {
    let mut schema = described(KNOWN, &top());
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("An Asterisk project file");
    // A file in which everything is commented out is one too.
    schema["type"] = json!(["object", "null"]);
    schema["$defs"] = json!({ "text": { "type": "string", "pattern": "\\S" } });
    schema
}

fn text() -> Value {
    json!({ "$ref": "#/$defs/text" })
}

fn top() -> Vec<DescribedKey> {
    let mut workspace = described(WORKSPACE, &workspace());
    workspace["type"] = json!(["object", "null"]);
    let mut portal = described(reportportal::KEYS, &reportportal());
    portal["type"] = json!(["object", "null"]);
    vec![
        ("scripts", "A directory laid over the bundled scripts, file by file; relative to this file.", text()),
        ("pipelines", "A directory laid over the bundled pipelines.", text()),
        ("templates", "A directory laid over the bundled prompt templates.", text()),
        ("store", "Where everything about runs is kept.", text()),
        ("domain", "The vocabulary to go by.", text()),
        ("vars", "Vars for every pipeline that has them; `--set` goes before.", json!({ "type": ["object", "null"] })),
        ("workspace", "The repositories that failures may come from.", workspace),
        (
            "observers",
            "Who looks on at every run, as `--observe` has it: KIND or KIND=FILE, files relative to this file.",
            json!({ "type": ["array", "null"], "items": text() }),
        ),
        (
            "agents",
            "Who may be asked outside of the program, by name: `--via NAME`, or `via:` of a node.",
            json!({ "type": ["object", "null"], "additionalProperties": described(agents::KEYS, &agent()) }),
        ),
        ("reportportal", "Where launches are fetched from, and what was found is written back to.", portal),
        (
            "mcp_servers",
            "The servers whose tools nodes may call, by name: `tool: NAME/TOOL` of a node.",
            json!({ "type": ["object", "null"], "additionalProperties": described(servers::KEYS, &server()) }),
        ),
        ("lint", "Levels and options of the linter's rules (`asterisk lint --list`).", lint()),
    ]
}

fn lint() -> Value {
    let levels: Vec<&str> = lint::LintLevel::NAMES.iter().map(|(name, _)| *name).collect();
    let (mut ids, mut options) = (Map::new(), Map::new());
    for rule in lint::rules() {
        ids.insert(rule.id.to_owned(), json!({ "description": rule.summary, "enum": levels }));
        ids.entry(rule.category()).or_insert_with(|| json!({ "description": "All rules of this category.", "enum": levels }));
        if rule.options.is_empty() {
            continue;
        }
        let option = |option: &lint::RuleOption| {
            let (kind, default) = match option.default {
                OptionDefault::Int(number) => (json!({ "type": "integer" }), json!(number)),
                OptionDefault::Texts(texts) => (json!({ "type": "array", "items": { "type": "string" } }), json!(texts)),
            };
            let mut schema = kind;
            schema["description"] = json!(option.doc);
            schema["default"] = default;
            (option.name.to_owned(), schema)
        };
        let properties: Map<String, Value> = rule.options.iter().map(option).collect();
        options.insert(rule.id.to_owned(), json!({ "type": "object", "properties": properties, "additionalProperties": false }));
    }
    let map = |properties: Map<String, Value>| json!({ "type": ["object", "null"], "properties": properties, "additionalProperties": false });
    let mut schema = described(
        lint::KEYS,
        &[
            ("levels", "How bad findings are taken to be, by rule or category.", map(ids)),
            ("options", "What rules go by.", map(options)),
        ],
    );
    schema["type"] = json!(["object", "null"]);
    schema
}

fn time(default: &str) -> Value {
    json!({ "type": ["string", "number"], "examples": ["500ms", "30s", "10m"], "default": default })
}

fn agent() -> Vec<DescribedKey> {
    let kinds: Vec<&str> = AnswererKind::NAMES.iter().map(|(name, _)| *name).collect();
    let count = |default: i64| json!({ "type": "integer", "minimum": 1, "default": default });
    vec![
        ("kind", "What it is; its name says so if this is not there.", json!({ "enum": kinds })),
        (
            "command",
            "Of `exec`: the program with its arguments. The prompt comes on its standard input, the answer is the JSON object on its standard output.",
            json!({ "anyOf": [text(), { "type": "array", "items": { "type": "string" }, "minItems": 1 }],
                    "examples": [["claude", "-p", "--output-format", "json"]] }),
        ),
        (
            "url",
            "Of `http`: the address above /chat/completions.",
            json!({ "type": "string", "examples": ["https://api.openai.com/v1", "http://127.0.0.1:11434/v1"] }),
        ),
        ("model", "Of `http`: the model's name.", text()),
        (
            "secret",
            "Of `http`: where the secret is that it wants. Of `exec`: a variable that the command is told though others name it.",
            described(agents::SECRET, &secret()),
        ),
        ("timeout", "How long one answer may take.", time("10m")),
        ("retry", "How often it is asked again.", described(agents::RETRY, &retry())),
        ("breaker", "When it is left alone for a while.", described(agents::BREAKER, &breaker())),
        (
            "concurrency",
            "How many may ask it at once; any number if this is not there.",
            json!({ "type": "integer", "minimum": 1 }),
        ),
        ("price", "US dollars for a million tokens.", described(agents::PRICE, &price())),
        ("max_bytes", "The most bytes of an answer.", count(4 << 20)),
        (
            "answer",
            "The field of what it says that holds the answer, as a path; the whole if this is not there.",
            json!({ "type": "string", "examples": ["result"] }),
        ),
        ("tokens", "The fields that say how many tokens it took; estimated without them.", described(agents::TOKENS, &tokens())),
        (
            "dir",
            "Of `file` and `batch-file`: the directory in which each run has one for its signals; that which runs write to if this is not there.",
            json!({ "type": "string", "examples": ["signals"] }),
        ),
        ("poll", "Of `file` and `batch-file`: how often it is looked for the answer.", time("500ms")),
        ("size", "Of `batch-file`: the most requests of a batch.", count(4)),
        ("claim", "Of `batch-file`: how long a claim to a request holds without an answer.", time("5m")),
    ]
}

fn reportportal() -> Vec<DescribedKey> {
    vec![
        (
            "url",
            "Its address, as far as the host.",
            json!({ "type": "string", "pattern": "^https?://", "examples": ["https://reportportal.example.com"] }),
        ),
        ("project", "The project.", text()),
        ("token", "Where the API key is.", described(agents::SECRET, &secret())),
    ]
}

fn server() -> Vec<DescribedKey> {
    let place = described(agents::SECRET, &secret());
    vec![
        (
            "command",
            "The program with its arguments, which speaks MCP over its standard input and output.",
            json!({ "anyOf": [text(), { "type": "array", "items": { "type": "string" }, "minItems": 1 }],
                    "examples": [["uvx", "mcp-server-git"]] }),
        ),
        (
            "env",
            "Of a `command`: variables of its environment, beside those that there are; a secret by where it is.",
            json!({ "type": "object", "additionalProperties": { "anyOf": [{ "type": "string" }, place] } }),
        ),
        ("url", "Where it is, over streamable HTTP.", json!({ "type": "string", "examples": ["http://127.0.0.1:8700/mcp"] })),
        ("secret", "Of a `url`: where the token is that it wants.", described(agents::SECRET, &secret())),
        ("timeout", "How long a call may take.", time("60s")),
        ("retry", "How often a call is made again.", described(agents::RETRY, &retry())),
        ("breaker", "When it is left alone for a while.", described(agents::BREAKER, &breaker())),
        (
            "concurrency",
            "How many calls may be under way; any number if this is not there.",
            json!({ "type": "integer", "minimum": 1 }),
        ),
        ("max_bytes", "The most bytes of an answer.", json!({ "type": "integer", "minimum": 1, "default": 4 << 20 })),
    ]
}

fn secret() -> Vec<DescribedKey> {
    vec![
        ("env", "The environment variable that has it.", json!({ "type": "string", "examples": ["OPENAI_API_KEY"] })),
        ("file", "The file that has it, which its owner alone may read (mode 0600).", json!({ "type": "string" })),
    ]
}

fn retry() -> Vec<DescribedKey> {
    vec![
        (
            "attempts",
            "How many attempts a step has; answers that are not accepted count.",
            json!({ "type": "integer", "minimum": 1, "default": 3 }),
        ),
        ("wait", "How long to wait after a first failure; twice as long after each further one.", time("1s")),
        ("most", "The longest wait.", time("60s")),
    ]
}

fn breaker() -> Vec<DescribedKey> {
    vec![
        ("failures", "After so many failures in a row.", json!({ "type": "integer", "minimum": 1, "default": 5 })),
        ("rest", "For so long; then one request probes it.", time("30s")),
    ]
}

fn price() -> Vec<DescribedKey> {
    let number = |default: i64| json!({ "type": "number", "minimum": 0, "default": default });
    vec![("in", "Of prompts.", number(3)), ("out", "Of answers.", number(15))]
}

fn tokens() -> Vec<DescribedKey> {
    let path = |example: &str| json!({ "type": "string", "examples": [example] });
    vec![("in", "Of the prompt.", path("usage.input_tokens")), ("out", "Of the answer.", path("usage.output_tokens"))]
}

fn workspace() -> Vec<DescribedKey> {
    let mut one = described(REPOSITORY, &repository());
    one["required"] = json!(["name"]);
    vec![("repositories", "The repositories.", json!({ "type": "array", "items": one }))]
}

fn repository() -> Vec<DescribedKey> {
    vec![
        ("name", "Its name.", text()),
        ("path", "Its checkout, relative to this file.", text()),
        ("purpose", "What it is for, in the words that failures use: the choice of a repository goes by them.", text()),
        ("branch", "The branch to look at.", text()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_reader_is_described() {
        for (keys, entries) in [
            (KNOWN, top()),
            (WORKSPACE, workspace()),
            (REPOSITORY, repository()),
            (agents::KEYS, agent()),
            (servers::KEYS, server()),
            (agents::RETRY, retry()),
            (reportportal::KEYS, reportportal()),
            (agents::BREAKER, breaker()),
            (agents::PRICE, price()),
            (agents::TOKENS, tokens()),
        ] {
            let missing: Vec<&&str> = keys.iter().filter(|key| !entries.iter().any(|(name, ..)| name == *key)).collect();
            assert!(missing.is_empty(), "{missing:?}");
        }
    }
}
