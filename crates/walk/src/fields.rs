//! The fields that scripts and templates are given: the one table for reading, checking and explaining.

use asterisk_base::model::{Field, Kind, Shape};
use asterisk_evidence::NAME_KINDS;
use std::sync::Arc;

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// Anything.
    Any,
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// A text.
    Text,
    /// One of these texts, or none: the empty text.
    Words(&'static [&'static str]),
    /// A text that the project knows, or none.
    Known(KnownWords),
    /// A list of texts.
    Texts,
    /// A list. Of maps, if the table has the group `GROUP.FIELD[]`; of anything otherwise.
    List,
    /// A list of two numbers.
    Pair,
    /// A map. With the fields of the group `GROUP.FIELD`, if the table has it; of anything otherwise.
    Map,
    /// A map of texts by arbitrary names.
    TextMap,
    /// A map of whole numbers by arbitrary names.
    WholeMap,
}

/// Texts that depend on the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownWords {
    /// The ids of the signatures of the domain.
    Signatures,
    /// The topics of the signatures of the domain, and the empty text.
    Topics,
    /// The codes of the defects of the domain.
    Defects,
    /// The nodes of the pipeline.
    Nodes,
    /// The stems of the data files.
    Data,
}

impl FieldType {
    /// The name in documentation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Flag => "true or false",
            Self::Whole => "whole number",
            Self::Number => "number",
            Self::Text | Self::Words(_) | Self::Known(_) => "text",
            Self::Texts | Self::List | Self::Pair => "list",
            Self::Map | Self::TextMap | Self::WholeMap => "map",
        }
    }
}

/// A field that every value of its group has, unless it is optional.
#[derive(Clone, Copy, Debug)]
pub struct DocumentedField {
    pub name: &'static str,
    pub kind: FieldType,
    pub doc: &'static str,
    /// Whether a value may lack it: reading it there fails.
    pub optional: bool,
}

/// A group of parameters.
#[derive(Clone, Copy, Debug)]
pub struct FieldGroup {
    pub name: &'static str,
    pub doc: &'static str,
    /// Its fields; if empty, any field is allowed.
    pub fields: &'static [DocumentedField],
}

const ANY: FieldType = FieldType::Any;
const FLAG: FieldType = FieldType::Flag;
const WHOLE: FieldType = FieldType::Whole;
const NUMBER: FieldType = FieldType::Number;
const TEXT: FieldType = FieldType::Text;
const TEXTS: FieldType = FieldType::Texts;
const LIST: FieldType = FieldType::List;
const MAP: FieldType = FieldType::Map;
const SOURCES: FieldType = FieldType::Words(&["error", "log"]);
const OWNERS: FieldType = FieldType::Words(&["product", "test", "library", "runtime"]);
const LANGUAGES: FieldType =
    FieldType::Words(&["jvm", "python", "go", "js", "rust", "native", "dotnet", "ruby", "php", "perl", "other"]);
const LEVELS: FieldType = FieldType::Words(&["debug", "info", "warn", "error", "fatal"]);
const QUOTES: FieldType = FieldType::Words(&["title", "source", "context", "help"]);
const CHECKS: FieldType = FieldType::Words(&["equal", "order", "contains", "snapshot", "throws", "condition"]);
const SIGNATURE: FieldType = FieldType::Known(KnownWords::Signatures);
const TOPIC: FieldType = FieldType::Known(KnownWords::Topics);
const DEFECT: FieldType = FieldType::Known(KnownWords::Defects);
const NODE: FieldType = FieldType::Known(KnownWords::Nodes);

const fn field(name: &'static str, kind: FieldType, doc: &'static str) -> DocumentedField {
    DocumentedField { name, kind, doc, optional: false }
}

const fn optional(name: &'static str, kind: FieldType, doc: &'static str) -> DocumentedField {
    DocumentedField { name, kind, doc, optional: true }
}

const fn group(name: &'static str, doc: &'static str, fields: &'static [DocumentedField]) -> FieldGroup {
    FieldGroup { name, doc, fields }
}

/// The state: the document itself, then each map in it.
pub const STATE: &[FieldGroup] = &[
    group(
        "state",
        "the state of the walk, as rules see it",
        &[
            field("chance", NUMBER, "a random number from 0 up to 1, the same in every replay of the step"),
            field("confidence", NUMBER, "that of the artifact, or the last one of the walk"),
            field("context", MAP, "what rules put there (`context:` of a verdict), and `item` in a node with `foreach:`"),
            field("elapsed_s", NUMBER, "seconds since the walk began"),
            field("handoffs", WHOLE, "the number of changes of walker"),
            field("history", LIST, "the steps so far, as maps `{ at, edge, node, outcome }`; outcome is the edge"),
            field(
                "loops",
                FieldType::WholeMap,
                "the value of each counter: of an edge with `loop: true`, by its id or its `counter:`; 0 for others",
            ),
            field("node", TEXT, "the node"),
            field("steps", WHOLE, "the number of steps of the walk so far"),
            field("walker", MAP, "the walker: `{ element, name, stickiness, traits, zone }`; empty in a walk without a team"),
        ],
    ),
    group(
        "state.history[]",
        "a step that was taken",
        &[
            field("at", TEXT, "when, in RFC 3339"),
            field("edge", TEXT, "the id of the edge that was taken"),
            field("node", NODE, "the node"),
            field("outcome", TEXT, "the same as `edge`"),
        ],
    ),
    group(
        "state.walker",
        "the walker; empty in a walk without a team",
        &[
            field("element", TEXT, "its element"),
            field("name", TEXT, "its name"),
            field("stickiness", WHOLE, "how strongly it keeps a case, from 0"),
            field("traits", MAP, "the traits of its element, by name"),
            field("zone", TEXT, "the zone of the node"),
        ],
    ),
];

/// The evidence document: the document itself, then each map in it, by its path below `params`.
pub const EVIDENCE: &[FieldGroup] = &[
    group(
        "evidence",
        "the evidence extracted from the failure, once per case; `asterisk show evidence RUN --case C` shows it",
        &[
            field("checks", LIST, "assertions that failed: `evidence.checks[]`"),
            field("exceptions", LIST, "exceptions that lines name, in the order of the text: `evidence.exceptions[]`"),
            field("frames", LIST, "stack frames, the root cause's first, innermost first: `evidence.frames[]`"),
            field("headline", TEXT, "the first informative line; empty if there is none"),
            field("lines", LIST, "the lines that count: `evidence.lines[]`"),
            field("matches", LIST, "the signatures that matched, in the order of the domain: `evidence.matches[]`"),
            field("names", MAP, "what the lines name, by kind: `evidence.names`"),
            field("quoted", LIST, "lines that are not evidence (titles, source code, context): `evidence.quoted[]`"),
        ],
    ),
    group(
        "evidence.lines[]",
        "a line that counts",
        &[
            optional("at", TEXT, "the timestamp that it begins with, as written; absent without one"),
            field("id", TEXT, "`e12` is line 12 of the error, `l3` line 3 of the log"),
            optional("level", LEVELS, "the level that it names: `debug`, `info`, `warn`, `error`, `fatal`; absent without one"),
            field("number", WHOLE, "its number in the text, from 1"),
            field("source", SOURCES, "its text: `error` or `log`"),
            field("text", TEXT, "its content, without prefixes of a tool (pytest's `E`)"),
        ],
    ),
    group(
        "evidence.quoted[]",
        "a line that is only quoted by a tool",
        &[
            field(
                "kind",
                QUOTES,
                "why it is not evidence: `title` (the test's own name), `source` (source code), `context` (of a difference), `help` (a list of options)",
            ),
            field("number", WHOLE, "its number in the text, from 1"),
            field("source", SOURCES, "its text: `error` or `log`"),
            field("text", TEXT, "the line"),
        ],
    ),
    group(
        "evidence.exceptions[]",
        "an exception named in a line",
        &[
            field("kind", TEXT, "its type, as written"),
            field("line", TEXT, "the id of the line"),
            field("message", TEXT, "what follows the type; empty if nothing does"),
        ],
    ),
    group(
        "evidence.frames[]",
        "a stack frame",
        &[
            field("function", TEXT, "the function, with class or package where the tool writes them; empty if it writes none"),
            field(
                "language",
                LANGUAGES,
                "its notation: `jvm`, `python`, `go`, `js`, `rust`, `native`, `dotnet`, `ruby`, `php`, `perl`, `other`",
            ),
            field("line", WHOLE, "the line in the file, from 1; 0 if unknown"),
            field("number", WHOLE, "the number of its line in the text, from 1"),
            field("owner", OWNERS, "whose code it is, by `data/evidence.yaml`: `product`, `test`, `library`, `runtime`"),
            field("path", TEXT, "the file, with forward slashes; empty if only the function is known"),
            field("source", SOURCES, "its text: `error` or `log`"),
            field("trace", WHOLE, "its stack, from 0; the root cause's is the first"),
        ],
    ),
    group(
        "evidence.checks[]",
        "an assertion that failed",
        &[
            field("expected", TEXT, "the expected value, as written; empty if not given"),
            field("found", TEXT, "the actual value, as written; empty if not given"),
            field("kind", CHECKS, "the kind of check: `equal`, `order`, `contains`, `snapshot`, `throws`, `condition`"),
            field("line", TEXT, "the id of its line"),
        ],
    ),
    group(
        "evidence.names",
        "the names in the lines: lists of strings by kind, without duplicates; empty kinds are absent",
        NAMES,
    ),
    group(
        "evidence.matches[]",
        "a signature that matched",
        &[
            field(
                "at",
                TEXT,
                "where the signature is defined: `data/signatures/network.yaml:12`; for display, rules cannot read it",
            ),
            field("id", SIGNATURE, "the signature's id"),
            field("index", WHOLE, "its place in the list of the domain, from 0"),
            field("line", TEXT, "the id of the line used: the error's if one matched there, otherwise the log's"),
            field("lines", WHOLE, "the number of matching lines"),
            field("log_text", TEXT, "the log's line, if both texts matched; empty otherwise"),
            field("pattern", WHOLE, "which of the signature's patterns matched, from 0"),
            field("routine", FLAG, "whether only routine lines of the log matched"),
            field("source", SOURCES, "the text that the line is of: `error` or `log`"),
            field("span", FieldType::Pair, "the match in the line: two byte offsets"),
            field("subject", TEXT, "the subject of the line, by the signature's `subject`; empty without one"),
            field("text", TEXT, "the content of the line"),
            field(
                "topic",
                TOPIC,
                "the topic of the signature, by `topic` in its file: `network`, `assertions`; empty without one",
            ),
        ],
    ),
];

/// The kinds of names that lines are read for.
const NAMES: &[DocumentedField] = &{
    let mut fields = [optional("", TEXTS, ""); NAME_KINDS.len()];
    let mut at = 0;
    while at < fields.len() {
        (fields[at].name, fields[at].doc) = NAME_KINDS[at];
        at += 1;
    }
    fields
};

/// The verdict: the document itself, then each map in it; and what its rules see of the case.
pub const VERDICT: &[FieldGroup] = &[
    group(
        "verdict",
        "the verdict of the case by the rules under `verdict:` of the pipeline, computed once per case; `asterisk explain RUN --case C --verdict` shows it; without such rules it is undecided and all fields are empty",
        &[
            field("decided", FLAG, "whether the verdict is decided: the most probable defect reaches the floor"),
            field("defect", DEFECT, "the most probable defect, or the undecided one"),
            field("failed", LIST, "rules that failed and were ignored: `verdict.failed[]`"),
            field("floor", NUMBER, "the minimum probability of a decided verdict, from 0 to 1"),
            field("hypotheses", LIST, "the defects, the most probable first: `verdict.hypotheses[]`"),
            field("probability", NUMBER, "that of the most probable defect, from 0 to 1, decided or not"),
            field("spoke", LIST, "the rules and signatures that matched, rules first: `verdict.spoke[]`"),
            optional("temperature", NUMBER, "the temperature that divided the log-odds; absent for 1"),
            field("undecided", DEFECT, "the defect of an undecided verdict"),
        ],
    ),
    group(
        "verdict.hypotheses[]",
        "a defect with its probability",
        &[
            field("defect", DEFECT, "its code"),
            field("prior", NUMBER, "its prior log-odds"),
            field("probability", NUMBER, "its probability, from 0 to 1"),
            field("score", NUMBER, "its log-odds"),
        ],
    ),
    group(
        "verdict.spoke[]",
        "a rule or a signature that matched",
        &[
            field("about", TEXTS, "the ids of the lines of the evidence that it is about"),
            field("at", TEXT, "where it is defined: `pipelines/rca.yaml:12`"),
            field("because", TEXT, "why it matched; empty if it gives no reason"),
            field("counted", FLAG, "whether it counts: of a group the strongest does"),
            field("group", TEXT, "its group; empty if it has none"),
            field("id", TEXT, "its id"),
            field("name", TEXT, "the name of the rule, or the title of the signature"),
            field("signature", FLAG, "whether it is a signature"),
            field("strength", NUMBER, "its strength, from 0 to 1"),
            field("weights", MAP, "what it adds to the log-odds of defects at full strength, by code"),
            optional("words", LIST, "of `terms`: the weighted words found in the evidence; absent otherwise"),
        ],
    ),
    group(
        "verdict.failed[]",
        "a rule that failed",
        &[field("at", TEXT, "where it is defined"), field("error", TEXT, "the error"), field("id", TEXT, "its id")],
    ),
    group(
        "context",
        "the input of verdict rules in addition to `evidence` and `vars`",
        &[
            field("data", MAP, "the same as `params.data`"),
            field("env", MAP, "the same as `params.env`"),
            field("envelope", MAP, "the same as `params.envelope`"),
            field("failure", MAP, "the same as `params.failure`"),
            field("git", MAP, "the same as `params.git`"),
            field("needs", MAP, "the results of the queries under `needs:` of the verdict, with dots turned to underscores"),
            field("taxonomy", MAP, "the same as `params.taxonomy`"),
        ],
    ),
];

/// The code that a failure is about: the document itself, then each map in it.
const CODE: &[FieldGroup] = &[
    group(
        "code",
        "the code that the failure is about, by the query `workspace.code` of the verdict; `known: false` without a checkout that has its files",
        &[
            field("commit", TEXT, "the commit that was read; empty without version control"),
            field("frames", LIST, "where the files of stack frames are in the repository: `code.frames[]`"),
            field("known", FLAG, "whether a checkout has any of it"),
            field(
                "later",
                FieldType::Words(&["product", "test", "together"]),
                "which changed last, the first symbol (`product`) or the failed statement (`test`); empty if unknown",
            ),
            field("repo", TEXT, "the repository"),
            field(
                "symbols",
                LIST,
                "definitions of the product that the failed statement uses, the nearest first: `code.symbols[]`",
            ),
            field(
                "test",
                ANY,
                "the statement of the test that failed, as a map `code.test`; nothing if unknown. `outside`: whether its values may come from a program that is run, or a server; `since`: files of the product that were changed after it, nothing if unknown",
            ),
        ],
    ),
    group(
        "code.frames[]",
        "a stack frame whose file is in the repository",
        &[
            field("function", TEXT, "the definition around the line; empty if none is"),
            field("line", WHOLE, "the line, from 1; 0 if unknown"),
            field("number", WHOLE, "the number of the frame's line in its text, from 1"),
            field("path", TEXT, "the file, relative to the repository"),
            field("source", SOURCES, "its text: `error` or `log`"),
        ],
    ),
    group(
        "code.symbols[]",
        "a definition of the product",
        &[
            field("called", FLAG, "whether it is called"),
            optional(
                "changed",
                ANY,
                "the last commit of its lines, as a map `{ commit, date, age_days, author, subject }`; only of the first, if known",
            ),
            field("distance", WHOLE, "0 in the failed statement, 1 in what gives its variables their values, and so on"),
            optional("ends", WHOLE, "its last line; only of the first"),
            field("line", WHOLE, "its first line, from 1"),
            field("name", TEXT, "its name"),
            field("path", TEXT, "the file, relative to the repository"),
            field("used", WHOLE, "the line of the test that uses it"),
        ],
    ),
];

/// The root: the document.
pub const ROOT: &[FieldGroup] = &[group(
    "root",
    "the root of the failure by the rules under `roots:` of the pipeline, computed once per case; `asterisk explain RUN --case C --root` shows it; without such rules, or if none returns a key, all fields are empty",
    &[
        field("about", TEXTS, "the ids of the lines of the evidence that it is about"),
        field("at", TEXT, "where the rule is defined: `pipelines/rca.yaml:12`"),
        field("because", TEXT, "why it gives this key; empty if it gives no reason"),
        field("by", FieldType::Words(&["merged", "split"]), "how a person replaced the key: `merged`, `split`; empty otherwise"),
        field("confidence", NUMBER, "the rate at which failures with equal keys have one cause, from 0 to 1"),
        field("consequence", FLAG, "whether such a failure is only a consequence of another one"),
        field("failed", LIST, "rules that failed before it and were ignored: maps `{ id, at, error }`"),
        field("key", TEXT, "the key: failures with equal keys have one cause; empty if unknown"),
        field("name", TEXT, "the name of the rule"),
        field("parts", ANY, "the key as returned by the rule, a string or a map; nothing without a rule"),
        field("rule", TEXT, "the id of the rule; empty if none returned a key"),
        field(
            "scope",
            FieldType::Words(&["always", "launch"]),
            "where equal keys mean one cause: `always`, or `launch`: within one launch only",
        ),
    ],
)];

/// The parameter groups available to templates, responders and effects.
pub const GROUPS: &[FieldGroup] = &[
    group(
        "answer",
        "what is to be answered",
        &[field("shape", TEXT, "the schema of the answer, from the node's `schema:`; empty without one")],
    ),
    group("bindings", "the ids in the store of what the effects of this walk created, by the name given in `as:`", &[]),
    group("code", CODE[0].doc, CODE[0].fields),
    group("data", "the data files by stem (`data/words.yaml` is `data.words`), and the current domain as `data.domain`", &[]),
    group("env", "the attributes of the launch, by name", &[]),
    group(
        "envelope",
        "the launch",
        &[
            field("attributes", FieldType::TextMap, "its attributes, by name"),
            field("cases", WHOLE, "the number of its failures"),
            field("name", TEXT, "its name"),
            field("notes", TEXTS, "what was omitted or truncated when it was read"),
            field("number", WHOLE, "its number; nothing without one"),
            field("run_id", TEXT, "its id in its source"),
            field("status", TEXT, "its status in its source; nothing if unknown"),
            field("totals", FieldType::WholeMap, "the number of tests, by outcome: `total`, `passed`, `failed`, `skipped`"),
        ],
    ),
    group("evidence", EVIDENCE[0].doc, EVIDENCE[0].fields),
    group(
        "failure",
        "the failed case",
        &[
            field("attributes", FieldType::TextMap, "its attributes, by name"),
            field("duration_s", NUMBER, "its duration in seconds; nothing if unknown"),
            field("error_message", TEXT, "the error"),
            field("file", TEXT, "the file of the test; empty if unknown"),
            field("id", TEXT, "its id in its source"),
            field("log_cut", MAP, "which part of a longer log was kept; nothing if all of it"),
            field("log_snippet", TEXT, "its log, or the part that was kept"),
            field("name", TEXT, "the name of the test"),
            field("recall_key", TEXT, "the key shared by occurrences of the same failure"),
            field("source_defect", TEXT, "the defect type set in its source; empty without one"),
            field("status", TEXT, "its status in its source"),
            field("suite", TEXT, "the suite, class or parent of the test; empty if unknown"),
        ],
    ),
    group(
        "git",
        "the tested version, as far as it is known",
        &[
            field("branch", TEXT, "the branch"),
            field("commit", TEXT, "the commit"),
            field("remote", TEXT, "the address of the repository"),
        ],
    ),
    group("history", "the same as `state.history`", &[]),
    group(
        "identity",
        "the current step",
        &[
            field("case", TEXT, "the case's id"),
            field("code", TEXT, "the node's code (`F0`); empty without one"),
            field("node", TEXT, "the node"),
            field("path", TEXT, "the step's path in the record"),
            field("pipeline", TEXT, "the pipeline"),
            field("run", TEXT, "the run's id"),
        ],
    ),
    group("memory", "the values of `memory:` and `--mem`, by name; only for nodes with `task:`, `agent:` or `gate:`", &[]),
    group("meta", "values passed between masks, by name", &[]),
    group("needs", "the results of the queries that the node declares in `needs:`, with dots turned to underscores", &[]),
    group(
        "persona",
        "the walker: `{ name, colour, element, position, side, tags, preamble }`; empty in a walk without a team",
        &[],
    ),
    group(
        "previous_content",
        "the content of the previous answer, in a further attempt, else `()`; only for nodes with `task:`, `agent:` or `gate:`",
        &[],
    ),
    group("prior", "the last artifact of each visited node, by the node's name", &[]),
    group(
        "review",
        "the review of the previous answer, in a further attempt, else `()`; only for nodes with `task:`, `agent:` or `gate:`",
        &[],
    ),
    group("root", ROOT[0].doc, ROOT[0].fields),
    group("siblings", "the result of the query `siblings`, if the node declares it", &[]),
    group(
        "stage",
        "the node that is answered; only for nodes with `task:`, `agent:` or `gate:`",
        &[
            field("attempt", WHOLE, "the attempt, from 1"),
            field("category", TEXT, "the category of the node; `default` without one"),
            field("name", TEXT, "the name of the node"),
        ],
    ),
    group(
        "stages",
        "the results of earlier nodes, by name: `content`, `artifacts`, `metadata`, `score`, `approved`, `previous_content`, `review`; only for nodes with `task:`, `agent:` or `gate:`",
        &[],
    ),
    group("state", "the state of the walk, as rules see it (`asterisk doc state`)", STATE[0].fields),
    group("task", "the text of the task; only for nodes with `task:`, `agent:` or `gate:`", &[]),
    group("taxonomy", "`defects`, `categories` and `severities` of the current domain", &[]),
    group(
        "timestamps",
        "timestamps in RFC 3339",
        &[
            field("case_started_at", TEXT, "when the case began; nothing if unknown"),
            field("launch_ended_at", TEXT, "when the launch ended; nothing if unknown"),
            field("launch_started_at", TEXT, "when the launch began; nothing if unknown"),
            field("now", TEXT, "when the step began"),
        ],
    ),
    group("urls", "web addresses; empty if unknown", &[field("item", TEXT, "the case"), field("launch", TEXT, "the launch")]),
    group("vars", "the current vars, by name (`asterisk doc vars`)", &[]),
    group("verdict", VERDICT[0].doc, VERDICT[0].fields),
    group(
        "workspace",
        "the repositories of the project file",
        &[field("repositories", LIST, "maps `{ name, path, purpose, branch }`")],
    ),
];

/// What the summary of a case, `report:` of a pipeline, returns.
pub const FINDING: &[FieldGroup] = &[group(
    "finding",
    "the result of `report:` for a case; every field is optional",
    &[
        optional("advisories", TEXTS, "advisories (clock skew, cascades, ...)"),
        optional("alternatives", LIST, "other possible defects, most probable first"),
        optional(
            "by_rules",
            NUMBER,
            "the probability of the defect by the rules of the verdict, if the defect was declared instead of decided by them",
        ),
        optional("category", TEXT, "category of the failure"),
        optional("cause", TEXT, "cause key: cases with the same key share a cause"),
        optional("component", TEXT, "suspected component"),
        optional("confidence", NUMBER, "confidence, 0 to 1; absent without a conclusion"),
        optional("defect_name", TEXT, "name of the defect type"),
        optional("defect_type", DEFECT, "defect type code"),
        optional("evidence", TEXTS, "evidence for the conclusion"),
        optional("flaky", FLAG, "whether the test fails and passes without a change; such a cause is never a regression"),
        optional("follows", TEXT, "the case of the same launch that caused this failure; its cause is linked to that case's"),
        optional("gaps", TEXTS, "missing evidence"),
        optional("issue", MAP, "fields of an issue about the case, as the tracker names them"),
        optional("issue_type", TEXT, "locator of the defect type in ReportPortal; empty without one"),
        optional("level", FieldType::Words(&["error", "warning", "notice"]), "the level of the CI annotation"),
        optional("location", MAP, "the line of code that the failure points at"),
        optional("needs_review", TEXT, "why a person should review it; empty if none needs to"),
        optional("next_steps", TEXTS, "recommended actions, most useful first"),
        optional("owners", TEXTS, "the owners of the code that the failure is traced to"),
        optional("reasons", LIST, "the rules that decided the defect, weightiest first"),
        optional("regression", FLAG, "whether the cause is known to have been resolved before"),
        optional("review", MAP, "the review that approved the conclusion"),
        optional("root", MAP, "what the failures of the cause have in common"),
        optional("sections", LIST, "additional sections"),
        optional("severity", TEXT, "severity"),
        optional("stack", TEXTS, "stack frames, the root cause's first, innermost first; those of the product begin with `> `"),
        optional("summary", TEXT, "description in a few sentences"),
        optional("title", TEXT, "one-line description of the failure"),
    ],
)];

/// Maps within the groups above that belong to no other table.
const WITHIN: &[FieldGroup] = &[group(
    "failure.log_cut",
    "the kept part of a long log",
    &[field("kept", WHOLE, "the number of bytes kept"), field("was", WHOLE, "the original number of bytes")],
)];

/// Finds the texts that a project knows; none if any text may be one.
pub type ProjectWords<'a> = dyn Fn(KnownWords) -> Vec<String> + 'a;

/// The type of a documented group, for static checks: `evidence`, `state`, `failure`. A group without fields has any.
pub fn group_kind(name: &str, words: &ProjectWords<'_>) -> Kind {
    let Some(group) = find(name) else { return Kind::Any };
    if group.fields.is_empty() {
        return Kind::Any;
    }
    let field = |field: &DocumentedField| Field {
        name: field.name.into(),
        kind: field_kind(&format!("{name}.{}", field.name), field.kind, words),
        required: !field.optional,
    };
    let title = name.rsplit('.').next().unwrap_or(name).trim_end_matches("[]");
    Kind::Object(Arc::new(Shape { name: title.into(), fields: group.fields.iter().map(field).collect(), sparse: true }))
}

fn field_kind(path: &str, kind: FieldType, words: &ProjectWords<'_>) -> Kind {
    let text = |one_of| Kind::Text { one_of };
    let texts = || Box::new(text(Vec::new()));
    let whole = || Kind::Int { min: None, max: None };
    match kind {
        // Its items are always there, which a list cannot say.
        FieldType::Any | FieldType::Pair => Kind::Any,
        FieldType::Flag => Kind::Bool,
        FieldType::Whole => whole(),
        FieldType::Number => Kind::Number { min: None, max: None },
        FieldType::Text => text(Vec::new()),
        FieldType::Words(known) => text(known.iter().map(|word| (*word).to_owned()).collect()),
        FieldType::Known(known) => text(words(known)),
        FieldType::Texts => Kind::List(texts()),
        FieldType::List => Kind::List(Box::new(group_kind(&format!("{path}[]"), words))),
        FieldType::Map => match group_kind(path, words) {
            Kind::Any => Kind::Map(Box::new(Kind::Any)),
            kind => kind,
        },
        FieldType::TextMap => Kind::Map(texts()),
        FieldType::WholeMap => Kind::Map(Box::new(whole())),
    }
}

/// The documentation of a field by its path: `evidence.frames[].file`, `state.history`, `params.failure.name`. Groups of `params` and of
/// the context of verdicts are found below either.
pub fn documented_field(path: &str) -> Option<&'static DocumentedField> {
    let (group, name) = path.rsplit_once('.')?;
    let group = find(group).or_else(|| find(group.split_once('.')?.1))?;
    group.fields.iter().find(|field| field.name == name)
}

/// The documentation of a group by its path: `evidence`, `params.failure`, `evidence.frames[]`.
pub fn documented_group(path: &str) -> Option<&'static FieldGroup> {
    find(path).or_else(|| find(path.split_once('.')?.1))
}

fn find(name: &str) -> Option<&'static FieldGroup> {
    [STATE, EVIDENCE, VERDICT, CODE, ROOT, FINDING, GROUPS, WITHIN].into_iter().flatten().find(|group| group.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_evidence::{
        Check, CheckKind, Evidence, EvidenceFrame, EvidenceLine, FrameLanguage, FrameOwner, LineSource, NamedException, Names,
        QuoteKind, QuotedLine, SignatureMatch,
    };
    use serde_json::{Value, json};

    /// A document that has something everywhere.
    fn document() -> Value {
        let text = String::new;
        let source = LineSource::Error;
        let names = NAME_KINDS.iter().map(|(kind, _)| (*kind, vec![text()])).collect();
        json!(Evidence {
            lines: vec![EvidenceLine { id: text(), source, number: 1, text: text(), level: Some("info"), at: Some(text()) }],
            quoted: vec![QuotedLine { source, number: 1, kind: QuoteKind::Title, text: text() }],
            headline: text(),
            exceptions: vec![NamedException { kind: text(), message: text(), line: text() }],
            frames: vec![EvidenceFrame {
                trace: 0,
                language: FrameLanguage::Go,
                function: text(),
                path: text(),
                line: 1,
                owner: FrameOwner::Product,
                source,
                number: 1,
            }],
            checks: vec![Check { kind: CheckKind::Equal, expected: text(), found: text(), line: text() }],
            names: Names(names),
            matches: vec![SignatureMatch {
                id: text(),
                index: 0,
                topic: text(),
                at: text(),
                line: text(),
                source,
                text: text(),
                pattern: 0,
                span: [0, 0],
                subject: text(),
                log_text: text(),
                routine: false,
                lines: 1,
            }],
        })
    }

    #[test]
    fn every_field_of_the_evidence_document_is_explained() {
        let document = json!({ "evidence": document() });
        for group in EVIDENCE {
            let path = format!("/{}", group.name.replace("[]", ".0").replace('.', "/"));
            let found = document.pointer(&path).and_then(Value::as_object).unwrap_or_else(|| panic!("{path}"));
            let named: Vec<&str> = found.keys().map(String::as_str).collect();
            let told: Vec<&str> = group.fields.iter().map(|field| field.name).collect();
            assert_eq!(told, named, "{}", group.name);
            for field in group.fields {
                let fits = match &found[field.name] {
                    Value::Array(_) => field.kind.name() == "list",
                    Value::Object(_) => field.kind.name() == "map",
                    Value::String(_) => field.kind.name() == "text",
                    Value::Bool(_) => field.kind.name() == "true or false",
                    _ => field.kind.name() == "whole number",
                };
                assert!(fits && !field.doc.is_empty(), "{}.{}", group.name, field.name);
            }
        }
        assert_eq!(EVIDENCE.len() - 1, EVIDENCE[0].fields.iter().filter(|field| field.kind.name() != "text").count());
    }
}
