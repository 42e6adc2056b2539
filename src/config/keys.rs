//! The keys of `asterisk.yaml` and of the user's own file.

use crate::agent::AnswererKind;
use crate::form::{DefaultValue, Form, FormKey, MayBeEmpty, ValueForm};
use crate::lint::{self, OptionDefault};
use serde_json::{Map, Value, json};

/// Maps in which a key without a value counts as absent.
const OPEN: Form = Form { empty: MayBeEmpty::All, ..Form::PLAIN };
const TEXT: ValueForm = ValueForm::Text;
const TEXTS: ValueForm = ValueForm::List(&ValueForm::Text);
const COUNT: ValueForm = ValueForm::Whole(1, 1024);
const BYTES: ValueForm = ValueForm::Whole(1, 64 << 20);
/// A program with its arguments, or the program alone.
const COMMAND: ValueForm = ValueForm::FirstMatching(&[ValueForm::NonEmptyList(&ValueForm::Text), ValueForm::Text]);
/// A time with its unit, or a number of seconds.
const TIME: ValueForm = ValueForm::Custom(time);

/// Where a secret is; never the secret.
const PLACE: ValueForm = ValueForm::Hidden(&SECRET);
/// The kinds of agents.
const KINDS: ValueForm = ValueForm::Word(&{
    let mut names = [""; AnswererKind::NAMES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = AnswererKind::NAMES[at].0;
        at += 1;
    }
    names
});

fn time() -> Value {
    json!({ "type": ["string", "number"] })
}

const fn key(name: &'static str, holds: ValueForm, doc: &'static str) -> FormKey {
    FormKey::new(name, holds, doc)
}

const fn time_key(name: &'static str, usual: &'static str, doc: &'static str) -> FormKey {
    FormKey::new(name, TIME, doc).default_value(DefaultValue::Text(usual)).examples(&["500ms", "30s", "10m"])
}

pub(super) const PROJECT: Form = Form {
    what: "the project file",
    later: &["report"],
    keys: &[
        key("scripts", TEXT, "A directory laid over the bundled scripts, file by file; relative to this file."),
        key("pipelines", TEXT, "A directory laid over the bundled pipelines."),
        key("templates", TEXT, "A directory laid over the bundled prompt templates."),
        key("store", TEXT, "Where everything about runs is kept."),
        key("domain", TEXT, "The vocabulary to go by."),
        key("vars", ValueForm::Entries(&ValueForm::Any), "Vars for every pipeline that has them; `--set` goes before."),
        key("workspace", ValueForm::Map(&WORKSPACE), "The repositories that failures may come from."),
        key("lint", ValueForm::Custom(lint), "Levels and options of the linter's rules (`asterisk lint --list`)."),
        key(
            "observers",
            TEXTS,
            "Who looks on at every run, as `--observe` has it: KIND or KIND=FILE, files relative to this file.",
        ),
        key(
            "agents",
            ValueForm::Entries(&ValueForm::Map(&AGENT)),
            "Who may be asked outside of the program, by name: `--via NAME`, or `via:` of a node.",
        ),
        key(
            "mcp_servers",
            ValueForm::Entries(&ValueForm::Map(&SERVER)),
            "The servers whose tools nodes may call, by name: `tool: NAME/TOOL` of a node.",
        ),
        key("reportportal", ValueForm::Map(&PORTAL), "Where launches are fetched from, and what was found is written back to."),
    ],
    ..Form::PLAIN
};

pub(super) const WORKSPACE: Form = Form {
    what: "`workspace`",
    keys: &[key("repositories", ValueForm::List(&ValueForm::Map(&REPOSITORY)), "The repositories.")],
    ..Form::PLAIN
};

pub(super) const REPOSITORY: Form = Form {
    what: "a repository",
    id: Some("name"),
    keys: &[
        key("name", TEXT, "Its name.").named("missing-name", "a repository needs a `name`"),
        key("path", TEXT, "Its checkout, relative to this file."),
        key("purpose", TEXT, "What it is for, in the words that failures use: the choice of a repository goes by them."),
        key("branch", TEXT, "The branch to look at."),
    ],
    ..Form::PLAIN
};

pub(super) const AGENT: Form = Form {
    what: "an agent",
    keys: &[
        key("kind", KINDS, "What it is; its name says so if this is not there."),
        key(
            "command",
            COMMAND,
            "Of `exec`: the program with its arguments. The prompt comes on its standard input, the answer is the JSON object on its standard output.",
        )
        .examples(&["[\"claude\", \"-p\", \"--output-format\", \"json\"]"]),
        key("url", TEXT, "Of `http`: the address above /chat/completions.")
            .examples(&["https://api.openai.com/v1", "http://127.0.0.1:11434/v1"]),
        key("model", TEXT, "Of `http`: the model's name."),
        key(
            "secret",
            PLACE,
            "Of `http`: where the secret is that it wants. Of `exec`: a variable that the command is told though others name it.",
        ),
        time_key("timeout", "10m", "How long one answer may take."),
        key("retry", ValueForm::Map(&RETRY), "How often it is asked again."),
        key("breaker", ValueForm::Map(&BREAKER), "When it is left alone for a while."),
        key("concurrency", COUNT, "How many may ask it at once; any number if this is not there."),
        key("price", ValueForm::Map(&PRICE), "US dollars for a million tokens."),
        key("max_bytes", BYTES, "The most bytes of an answer.").default_value(DefaultValue::Whole(4 << 20)),
        key("answer", TEXT, "The field of what it says that holds the answer, as a path; the whole if this is not there.")
            .examples(&["result"]),
        key("tokens", ValueForm::Map(&TOKENS), "The fields that say how many tokens it took; estimated without them."),
        key(
            "dir",
            TEXT,
            "Of `file` and `batch-file`: the directory in which each run has one for its signals; that which runs write to if this is not there.",
        )
        .examples(&["signals"]),
        time_key("poll", "500ms", "Of `file` and `batch-file`: how often it is looked for the answer."),
        key("size", COUNT, "Of `batch-file`: the most requests of a batch.").default_value(DefaultValue::Whole(4)),
        time_key("claim", "5m", "Of `batch-file`: how long a claim to a request holds without an answer."),
    ],
    ..OPEN
};

pub(super) const SERVER: Form = Form {
    what: "a server",
    keys: &[
        key("command", COMMAND, "The program with its arguments, which speaks MCP over its standard input and output.")
            .examples(&["[\"uvx\", \"mcp-server-git\"]"]),
        key(
            "env",
            ValueForm::Entries(&ValueForm::FirstMatching(&[ValueForm::Map(&SECRET), ValueForm::Label])),
            "Of a `command`: variables of its environment, beside those that there are; a secret by where it is.",
        ),
        key("url", TEXT, "Where it is, over streamable HTTP.").examples(&["http://127.0.0.1:8700/mcp"]),
        key("secret", PLACE, "Of a `url`: where the token is that it wants."),
        time_key("timeout", "60s", "How long a call may take."),
        key("retry", ValueForm::Map(&RETRY), "How often a call is made again."),
        key("breaker", ValueForm::Map(&BREAKER), "When it is left alone for a while."),
        key("concurrency", COUNT, "How many calls may be under way; any number if this is not there."),
        key("max_bytes", BYTES, "The most bytes of an answer.").default_value(DefaultValue::Whole(4 << 20)),
    ],
    ..OPEN
};

pub(super) const PORTAL: Form = Form {
    what: "`reportportal`",
    keys: &[
        key("url", ValueForm::Matching("^https?://"), "Its address, as far as the host.")
            .examples(&["https://reportportal.example.com"]),
        key("project", TEXT, "The project."),
        key("token", PLACE, "Where the API key is."),
    ],
    ..OPEN
};

pub(super) const SECRET: Form = Form {
    what: "the place of a secret",
    keys: &[
        key("env", TEXT, "The environment variable that has it.").examples(&["OPENAI_API_KEY"]),
        key("file", TEXT, "The file that has it, which its owner alone may read (mode 0600)."),
    ],
    ..OPEN
};

pub(super) const RETRY: Form = Form {
    what: "`retry`",
    keys: &[
        key("attempts", ValueForm::Whole(1, 100), "How many attempts a step has; answers that are not accepted count.")
            .default_value(DefaultValue::Whole(3)),
        time_key("wait", "1s", "How long to wait after a first failure; twice as long after each further one."),
        time_key("most", "60s", "The longest wait."),
    ],
    ..OPEN
};

pub(super) const BREAKER: Form = Form {
    what: "`breaker`",
    keys: &[
        key("failures", ValueForm::Whole(1, 1_000_000), "After so many failures in a row.").default_value(DefaultValue::Whole(5)),
        time_key("rest", "30s", "For so long; then one request probes it."),
    ],
    ..OPEN
};

const DOLLARS: ValueForm = ValueForm::Number(0.0, f64::MAX);

pub(super) const PRICE: Form = Form {
    what: "`price`",
    keys: &[
        key("in", DOLLARS, "Of prompts.").default_value(DefaultValue::Whole(3)),
        key("out", DOLLARS, "Of answers.").default_value(DefaultValue::Whole(15)),
    ],
    ..OPEN
};

pub(super) const TOKENS: Form = Form {
    what: "`tokens`",
    keys: &[
        key("in", TEXT, "Of the prompt.").examples(&["usage.input_tokens"]),
        key("out", TEXT, "Of the answer.").examples(&["usage.output_tokens"]),
    ],
    ..OPEN
};

/// The section of the linter, from its rules.
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
            let (mut schema, default) = match option.default {
                OptionDefault::Int(number) => (json!({ "type": "integer" }), json!(number)),
                OptionDefault::Texts(texts) => (json!({ "type": "array", "items": { "type": "string" } }), json!(texts)),
            };
            schema["description"] = json!(option.doc);
            schema["default"] = default;
            (option.name.to_owned(), schema)
        };
        let properties: Map<String, Value> = rule.options.iter().map(option).collect();
        options.insert(rule.id.to_owned(), json!({ "type": "object", "properties": properties, "additionalProperties": false }));
    }
    let map = |doc: &str, properties: Map<String, Value>| json!({ "type": ["object", "null"], "description": doc, "properties": properties, "additionalProperties": false });
    json!({
        "type": ["object", "null"],
        "properties": {
            "levels": map("How bad findings are taken to be, by rule or category.", ids),
            "options": map("What rules go by.", options),
        },
        "additionalProperties": false,
    })
}
