//! The keys of `asterisk.yaml` and of the user's own file.

use asterisk_adapters::agent::AnswererKind;
use asterisk_form::{DefaultValue, Form, FormKey, MayBeEmpty, ValueForm};
use asterisk_lint::{self as lint, OptionDefault};
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
        key("scripts", TEXT, "A directory overlaid on the bundled scripts, file by file; relative to this file."),
        key("pipelines", TEXT, "A directory overlaid on the bundled pipelines."),
        key("templates", TEXT, "A directory overlaid on the bundled prompt templates."),
        key("store", TEXT, "The database that stores runs: a file, or `postgres://USER@HOST/DATABASE?project=NAME`."),
        key("domain", TEXT, "The domain to use."),
        key("vars", ValueForm::Entries(&ValueForm::Any), "Vars for every pipeline that declares them; `--set` takes precedence."),
        key("workspace", ValueForm::Map(&WORKSPACE), "The repositories that may cause failures."),
        key("lint", ValueForm::Custom(lint), "Levels and options of the linter's rules (`asterisk lint --list`)."),
        key(
            "observers",
            TEXTS,
            "The observers of every run, as for `--observe`: KIND or KIND=FILE, with files relative to this file.",
        ),
        key(
            "agents",
            ValueForm::Entries(&ValueForm::Map(&AGENT)),
            "External answerers by name, for `--via NAME` or `via:` of a node.",
        ),
        key(
            "mcp_servers",
            ValueForm::Entries(&ValueForm::Map(&SERVER)),
            "MCP servers by name; nodes call their tools with `tool: NAME/TOOL`.",
        ),
        key(
            "reportportal",
            ValueForm::Map(&PORTAL),
            "The ReportPortal server that launches are fetched from and results are pushed to.",
        ),
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
        key("path", TEXT, "The path of its checkout, relative to this file."),
        key("purpose", TEXT, "Its purpose, in words that failures use; the choice of a repository is based on them."),
        key("branch", TEXT, "The branch to inspect."),
    ],
    ..Form::PLAIN
};

pub(super) const AGENT: Form = Form {
    what: "an agent",
    keys: &[
        key("kind", KINDS, "The kind of answerer; by default the agent's name, if that is a kind."),
        key(
            "command",
            COMMAND,
            "Of `exec`: the program with its arguments. It reads the prompt from standard input and writes the answer, a JSON object, to standard output.",
        )
        .examples(&["[\"claude\", \"-p\", \"--output-format\", \"json\"]"]),
        key("url", TEXT, "Of `http`: the base URL, without /chat/completions.")
            .examples(&["https://api.openai.com/v1", "http://127.0.0.1:11434/v1"]),
        key("model", TEXT, "Of `http`: the name of the model. Of `exec`: the value of `ASTERISK_MODEL`."),
        key(
            "models",
            ValueForm::Entries(&TEXT),
            "The model of walkers, by what they call it (`small`, `medium` and `large` in `data/elements.yaml`); `model` for any other.",
        ),
        key(
            "secret",
            PLACE,
            "Of `http`: where the API key is stored. Of `exec`: a variable that is passed to the command although another agent uses it as a secret.",
        ),
        time_key("timeout", "10m", "The timeout of an answer."),
        key("retry", ValueForm::Map(&RETRY), "How failed requests are retried."),
        key("breaker", ValueForm::Map(&BREAKER), "When requests are suspended after failures."),
        key("concurrency", COUNT, "The maximum number of concurrent requests; unlimited by default."),
        key("price", ValueForm::Map(&PRICE), "Prices in US dollars."),
        key("max_bytes", BYTES, "The maximum size of an answer in bytes.").default_value(DefaultValue::Whole(4 << 20)),
        key("answer", TEXT, "The path of the field that contains the answer; the whole output by default.")
            .examples(&["result"]),
        key("tokens", ValueForm::Map(&TOKENS), "The fields with the number of tokens used; estimated by default."),
        key(
            "dir",
            TEXT,
            "Of `file` and `batch-file`: the directory in which each run has a subdirectory for its signals; the output directory of runs by default.",
        )
        .examples(&["signals"]),
        time_key("poll", "500ms", "Of `file` and `batch-file`: the interval at which the answer is polled for."),
        key("size", COUNT, "Of `batch-file`: the maximum number of requests in a batch.").default_value(DefaultValue::Whole(4)),
        time_key("claim", "5m", "Of `batch-file`: how long a claimed request is reserved without an answer."),
    ],
    ..OPEN
};

pub(super) const SERVER: Form = Form {
    what: "a server",
    keys: &[
        key("command", COMMAND, "The program with its arguments; it serves MCP over standard input and output.")
            .examples(&["[\"uvx\", \"mcp-server-git\"]"]),
        key(
            "env",
            ValueForm::Entries(&ValueForm::FirstMatching(&[ValueForm::Map(&SECRET), ValueForm::Label])),
            "Of a `command`: variables to add to its environment; secrets are given by their location.",
        ),
        key("url", TEXT, "Its URL, for streamable HTTP.").examples(&["http://127.0.0.1:8700/mcp"]),
        key("secret", PLACE, "Of a `url`: where its token is stored."),
        time_key("timeout", "60s", "The timeout of a call."),
        key("retry", ValueForm::Map(&RETRY), "How failed calls are retried."),
        key("breaker", ValueForm::Map(&BREAKER), "When requests are suspended after failures."),
        key("concurrency", COUNT, "The maximum number of concurrent calls; unlimited by default."),
        key("max_bytes", BYTES, "The maximum size of an answer in bytes.").default_value(DefaultValue::Whole(4 << 20)),
    ],
    ..OPEN
};

pub(super) const PORTAL: Form = Form {
    what: "`reportportal`",
    keys: &[
        key("url", ValueForm::Matching("^https?://"), "Its URL, up to the host.").examples(&["https://reportportal.example.com"]),
        key("project", TEXT, "The project."),
        key("token", PLACE, "Where the API key is stored."),
    ],
    ..OPEN
};

pub(super) const SECRET: Form = Form {
    what: "the location of a secret",
    keys: &[
        key("env", TEXT, "The environment variable that contains it.").examples(&["OPENAI_API_KEY"]),
        key("file", TEXT, "The file that contains it, readable only by its owner (mode 0600)."),
    ],
    ..OPEN
};

pub(super) const RETRY: Form = Form {
    what: "`retry`",
    keys: &[
        key("attempts", ValueForm::Whole(1, 100), "The number of attempts at a step, including rejected answers.")
            .default_value(DefaultValue::Whole(3)),
        time_key("wait", "1s", "The wait after the first failure; it doubles after each further one."),
        time_key("most", "60s", "The maximum wait."),
    ],
    ..OPEN
};

pub(super) const BREAKER: Form = Form {
    what: "`breaker`",
    keys: &[
        key("failures", ValueForm::Whole(1, 1_000_000), "The number of consecutive failures after which requests are suspended.")
            .default_value(DefaultValue::Whole(5)),
        time_key("rest", "30s", "How long they are suspended; then one request probes the service."),
    ],
    ..OPEN
};

const DOLLARS: ValueForm = ValueForm::Number(0.0, f64::MAX);

pub(super) const PRICE: Form = Form {
    what: "`price`",
    keys: &[
        key("in", DOLLARS, "Per million input tokens.").default_value(DefaultValue::Whole(3)),
        key("out", DOLLARS, "Per million output tokens.").default_value(DefaultValue::Whole(15)),
    ],
    ..OPEN
};

pub(super) const TOKENS: Form = Form {
    what: "`tokens`",
    keys: &[
        key("in", TEXT, "The field with the number of input tokens.").examples(&["usage.input_tokens"]),
        key("out", TEXT, "The field with the number of output tokens.").examples(&["usage.output_tokens"]),
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
            "levels": map("The severity of findings, by rule or category.", ids),
            "options": map("Options of rules.", options),
        },
        "additionalProperties": false,
    })
}
