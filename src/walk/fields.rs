//! The fields that scripts and templates are given: the one table for reading, checking and explaining.

use crate::evidence::NAME_KINDS;

/// A field that every value of its group has.
#[derive(Clone, Copy, Debug)]
pub struct DocumentedField {
    pub name: &'static str,
    /// Its type, for documentation.
    pub kind: &'static str,
    pub doc: &'static str,
}

/// A group of parameters.
#[derive(Clone, Copy, Debug)]
pub struct FieldGroup {
    pub name: &'static str,
    pub doc: &'static str,
    /// Its fields; if empty, any field is allowed.
    pub fields: &'static [DocumentedField],
}

const fn field(name: &'static str, kind: &'static str, doc: &'static str) -> DocumentedField {
    DocumentedField { name, kind, doc }
}

const fn group(name: &'static str, doc: &'static str, fields: &'static [DocumentedField]) -> FieldGroup {
    FieldGroup { name, doc, fields }
}

/// The fields of `state`.
pub const STATE: &[DocumentedField] = &[
    field("chance", "number", "from 0 up to 1; the same whenever this step is walked again"),
    field("confidence", "number", "that of the artifact, or else the last one that the walk had"),
    field("context", "map", "what rules put there (`context:` of a verdict), and `item` in a node with `foreach:`"),
    field("elapsed_s", "number", "seconds since the walk began"),
    field("handoffs", "whole number", "how often another walker took over"),
    field("history", "list", "the steps so far, as maps `{ at, edge, node, outcome }`; outcome is the edge"),
    field(
        "loops",
        "map",
        "how often each counter was counted: of an edge with `loop: true`, by its id or its `counter:`; 0 for others",
    ),
    field("node", "text", "the node"),
    field("steps", "whole number", "how many steps the walk has taken"),
    field("walker", "map", "who walks: `{ element, name, stickiness, traits, zone }`; empty in a walk without a team"),
];

/// The evidence document: the document itself, then each map in it, by its path below `params`.
pub const EVIDENCE: &[FieldGroup] = &[
    group(
        "evidence",
        "what the failure's texts say, read once for the case; `asterisk show evidence RUN --case C` shows it",
        &[
            field("checks", "list", "assertions that failed: `evidence.checks[]`"),
            field("exceptions", "list", "exceptions that lines name, in the order of the text: `evidence.exceptions[]`"),
            field("frames", "list", "stack frames, the root cause's first, innermost first: `evidence.frames[]`"),
            field("headline", "text", "the first line that says something; empty if none does"),
            field("lines", "list", "the lines that count: `evidence.lines[]`"),
            field("matches", "list", "the signatures that matched, in the order of the domain: `evidence.matches[]`"),
            field("names", "map", "what the lines name, by kind: `evidence.names`"),
            field("quoted", "list", "lines that do not count, being titles, source code or context: `evidence.quoted[]`"),
        ],
    ),
    group(
        "evidence.lines[]",
        "a line that counts",
        &[
            field("at", "text", "the timestamp that it begins with, as written; absent without one"),
            field("id", "text", "`e12` is line 12 of the error, `l3` line 3 of the log"),
            field("level", "text", "the level that it names: `debug`, `info`, `warn`, `error`, `fatal`; absent without one"),
            field("number", "whole number", "its number in the text, from 1"),
            field("source", "text", "the text that it is of: `error` or `log`"),
            field("text", "text", "what it says, without marks of a tool (pytest's `E`)"),
        ],
    ),
    group(
        "evidence.quoted[]",
        "a line that a tool only quotes",
        &[
            field(
                "kind",
                "text",
                "why it does not count: `title` (the test's own name), `source` (source code), `context` (of a difference)",
            ),
            field("number", "whole number", "its number in the text, from 1"),
            field("source", "text", "the text that it is of: `error` or `log`"),
            field("text", "text", "the line"),
        ],
    ),
    group(
        "evidence.exceptions[]",
        "an exception that a line names",
        &[
            field("kind", "text", "its type, as written"),
            field("line", "text", "the id of the line"),
            field("message", "text", "what follows the type; empty if nothing does"),
        ],
    ),
    group(
        "evidence.frames[]",
        "a stack frame",
        &[
            field("function", "text", "the function, with class or package where the tool writes them; empty if it writes none"),
            field(
                "language",
                "text",
                "the way it is written: `jvm`, `python`, `go`, `js`, `rust`, `native`, `dotnet`, `ruby`, `php`, `perl`, `other`",
            ),
            field("line", "whole number", "the line in the file, from 1; 0 if it is not said"),
            field("number", "whole number", "the number of its line in the text, from 1"),
            field("owner", "text", "whose code it is, by `data/evidence.yaml`: `product`, `test`, `library`, `runtime`"),
            field("path", "text", "the file, with forward slashes; empty if only the function is known"),
            field("source", "text", "the text that it stands in: `error` or `log`"),
            field("trace", "whole number", "the stack that it is of, from 0; the root cause's is the first"),
        ],
    ),
    group(
        "evidence.checks[]",
        "an assertion that failed",
        &[
            field("expected", "text", "what was expected, as written; empty if it is not said"),
            field("found", "text", "what was found, as written; empty if it is not said"),
            field("kind", "text", "what it asked for: `equal`, `order`, `contains`, `snapshot`, `throws`, `condition`"),
            field("line", "text", "the id of the line that it is read from"),
        ],
    ),
    group(
        "evidence.names",
        "what the lines name: lists of texts by kind, each text once; kinds that are not named are absent",
        NAMES,
    ),
    group(
        "evidence.matches[]",
        "a signature that matched",
        &[
            field("at", "text", "where the signature is written: `data/signatures/network.yaml:12`"),
            field("id", "text", "the signature's id"),
            field("index", "whole number", "its place in the list of the domain, from 0"),
            field("line", "text", "the id of the line that counts: the error's if one matched there, else the log's"),
            field("lines", "whole number", "on how many lines it matched"),
            field("log_text", "text", "what the log's line says, where both texts have one; empty otherwise"),
            field("pattern", "whole number", "which of the signature's patterns matched, from 0"),
            field("routine", "true or false", "whether only lines of the log matched that report how things normally go"),
            field("source", "text", "the text that the line is of: `error` or `log`"),
            field("span", "list", "where in the line: two byte offsets"),
            field("subject", "text", "what the line is about, by the signature's `subject`; empty without one"),
            field("text", "text", "what the line says"),
        ],
    ),
];

/// The kinds of names that lines are read for.
const NAMES: &[DocumentedField] = &{
    let mut fields = [field("", "list", ""); NAME_KINDS.len()];
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
        "which defect the case is, by the rules under `verdict:` of the pipeline, made once for the case; `asterisk explain RUN --case C --verdict` shows it; without such rules nothing is decided and all is empty",
        &[
            field("decided", "true or false", "whether the most probable defect is probable enough to be said"),
            field("defect", "text", "the most probable defect, or the undecided one"),
            field("failed", "list", "rules that failed, which count as silent: `verdict.failed[]`"),
            field("floor", "number", "the least probability of a decided verdict, from 0 to 1"),
            field("hypotheses", "list", "the defects, the most probable first: `verdict.hypotheses[]`"),
            field("probability", "number", "that of the most probable defect, from 0 to 1, decided or not"),
            field("spoke", "list", "the rules and signatures that spoke, rules first: `verdict.spoke[]`"),
            field("temperature", "number", "what the log-odds were divided by before they became probabilities; absent for 1"),
            field("undecided", "text", "the defect that is said where nothing is decided"),
        ],
    ),
    group(
        "verdict.hypotheses[]",
        "a defect with its probability",
        &[
            field("defect", "text", "its code"),
            field("prior", "number", "its log-odds before any rule spoke"),
            field("probability", "number", "its probability, from 0 to 1"),
            field("score", "number", "its log-odds"),
        ],
    ),
    group(
        "verdict.spoke[]",
        "a rule or a signature that spoke",
        &[
            field("about", "list", "the ids of the lines of the evidence that it is about"),
            field("at", "text", "where it is written: `pipelines/rca.yaml:12`"),
            field("because", "text", "why it spoke; empty if it gives no reason"),
            field("counted", "true or false", "whether it counts: of a group the strongest does"),
            field("group", "text", "its group; empty if it has none"),
            field("id", "text", "its id"),
            field("name", "text", "the name of the rule, or the title of the signature"),
            field("signature", "true or false", "whether it is a signature"),
            field("strength", "number", "how strongly it spoke, from 0 to 1"),
            field("weights", "map", "what it adds to the log-odds of defects at full strength, by code"),
            field("words", "list", "of `terms`: the words with weights that the evidence has; absent otherwise"),
        ],
    ),
    group(
        "verdict.failed[]",
        "a rule that failed",
        &[field("at", "text", "where it is written"), field("error", "text", "the error"), field("id", "text", "its id")],
    ),
    group(
        "context",
        "what the rules of a verdict are given beside `evidence` and `vars`",
        &[
            field("data", "map", "the same as `params.data`"),
            field("env", "map", "the same as `params.env`"),
            field("envelope", "map", "the same as `params.envelope`"),
            field("failure", "map", "the same as `params.failure`"),
            field("git", "map", "the same as `params.git`"),
            field("needs", "map", "the results of the queries under `needs:` of the verdict, with dots turned to underscores"),
            field("taxonomy", "map", "the same as `params.taxonomy`"),
        ],
    ),
];

/// The root: the document.
pub const ROOT: &[FieldGroup] = &[group(
    "root",
    "what the failure has in common with the others of its cause, by the rules under `roots:` of the pipeline, found once for the case; `asterisk explain RUN --case C --root` shows it; without such rules, or where none gives a key, all is empty",
    &[
        field("about", "list", "the ids of the lines of the evidence that it is about"),
        field("at", "text", "where the rule is written: `pipelines/rca.yaml:12`"),
        field("because", "text", "why it gives this key; empty if it gives no reason"),
        field("by", "text", "what a person said that replaced the key: `merged`, `split`; empty without that"),
        field("confidence", "number", "how often failures to which the rule gives equal keys are one cause, from 0 to 1"),
        field("consequence", "true or false", "whether such a failure only follows from another one"),
        field("failed", "list", "rules that failed before it, which count as silent: maps `{ id, at, error }`"),
        field("key", "text", "the key: failures with equal keys are one cause; empty if none is known"),
        field("name", "text", "the name of the rule"),
        field("parts", "any", "what the rule gave as the key, a text or a map; nothing without a rule"),
        field("rule", "text", "the id of the rule; empty if none gave a key"),
        field("scope", "text", "where equal keys mean one cause: `always`, or `launch`: within one launch only"),
    ],
)];

/// The parameter groups available to templates, responders and effects.
pub const GROUPS: &[FieldGroup] = &[
    group(
        "answer",
        "what is to be answered",
        &[field("shape", "text", "the form of the answer, from the node's `schema:`; empty without one")],
    ),
    group("bindings", "the ids that the store gave to what the effects of this walk named, by the name they gave it", &[]),
    group(
        "data",
        "the data files by stem (`data/words.yaml` is `data.words`), and the vocabulary in force as `data.domain`",
        &[],
    ),
    group("env", "the attributes of the launch, by name", &[]),
    group(
        "envelope",
        "the launch",
        &[
            field("attributes", "map", "its attributes, by name"),
            field("cases", "whole number", "how many failures it has"),
            field("name", "text", "its name"),
            field("notes", "list", "what was left out or cut when it was read"),
            field("number", "whole number", "its number; nothing if it has none"),
            field("run_id", "text", "its id where it comes from"),
            field("status", "text", "how it ended, as its source words it; nothing if nobody says"),
            field("totals", "map", "how many tests ran, by outcome: `total`, `passed`, `failed`, `skipped`"),
        ],
    ),
    group("evidence", EVIDENCE[0].doc, EVIDENCE[0].fields),
    group(
        "failure",
        "the failed case",
        &[
            field("attributes", "map", "its attributes, by name"),
            field("duration_s", "number", "how long it took, in seconds; nothing if nobody says"),
            field("error_message", "text", "the error"),
            field("file", "text", "the file that the test is in; empty if nobody says"),
            field("id", "text", "its id where it comes from"),
            field("log_cut", "true or false", "whether the log was longer than is kept"),
            field("log_snippet", "text", "its log, or what is kept of it"),
            field("name", "text", "the name of the test"),
            field("recall_key", "text", "what failures have in common that are taken for the same one"),
            field("source_defect", "text", "the kind of defect that its source says it is; empty if none"),
            field("status", "text", "how it ended, in the words of its source"),
            field("suite", "text", "what the test stands in: suite, class, parent; empty if unknown"),
        ],
    ),
    group(
        "git",
        "the version that was tested, as far as the launch says",
        &[
            field("branch", "text", "the branch"),
            field("commit", "text", "the commit"),
            field("remote", "text", "the address of the repository"),
        ],
    ),
    group("history", "the same as `state.history`", &[]),
    group(
        "identity",
        "which step this is",
        &[
            field("case", "text", "the case's id"),
            field("code", "text", "the node's code (`F0`); empty without one"),
            field("node", "text", "the node"),
            field("path", "text", "the step's path in the record"),
            field("pipeline", "text", "the pipeline"),
            field("run", "text", "the run's id"),
        ],
    ),
    group("memory", "the values of `memory:` and `--mem`, by name; of nodes with `task:`, `agent:` or `gate:` alone", &[]),
    group("meta", "what masks hand on to each other, by name", &[]),
    group("needs", "the results of the reads that the node declares in `needs:`, with dots turned to underscores", &[]),
    group(
        "persona",
        "the walker: `{ name, colour, element, position, side, tags, preamble }`; empty in a walk without a team",
        &[],
    ),
    group(
        "previous_content",
        "the content of the answer before, in a further attempt, else `()`; of nodes with `task:`, `agent:` or `gate:` alone",
        &[],
    ),
    group("prior", "the last artifact of each node that was taken, by the node's name", &[]),
    group(
        "review",
        "what the gate said of the answer before, in a further attempt, else `()`; of nodes with `task:`, `agent:` or `gate:` alone",
        &[],
    ),
    group("root", ROOT[0].doc, ROOT[0].fields),
    group("siblings", "the result of the read `siblings`, if the node declares it", &[]),
    group(
        "stage",
        "the node that is answered; of nodes with `task:`, `agent:` or `gate:` alone",
        &[
            field("attempt", "whole number", "the attempt, from 1"),
            field("category", "text", "the category of the node; `default` without one"),
            field("name", "text", "the name of the node"),
        ],
    ),
    group(
        "stages",
        "what the nodes before left, by name: `content`, `artifacts`, `metadata`, `score`, `approved`, `previous_content`, `review`; of nodes with `task:`, `agent:` or `gate:` alone",
        &[],
    ),
    group("state", "the state of the walk, as rules see it (`asterisk doc state`)", STATE),
    group("task", "the text of the task; of nodes with `task:`, `agent:` or `gate:` alone", &[]),
    group("taxonomy", "`defects`, `categories` and `severities` of the vocabulary in force", &[]),
    group(
        "timestamps",
        "when things happened, in RFC 3339",
        &[
            field("case_started_at", "text", "when the case began; nothing if nobody says"),
            field("launch_ended_at", "text", "when the launch ended; nothing if nobody says"),
            field("launch_started_at", "text", "when the launch began; nothing if nobody says"),
            field("now", "text", "when the step began"),
        ],
    ),
    group(
        "urls",
        "where to look in a browser; empty if nobody says",
        &[field("item", "text", "the case"), field("launch", "text", "the launch")],
    ),
    group("vars", "the vars in force, by name (`asterisk doc vars`)", &[]),
    group("verdict", VERDICT[0].doc, VERDICT[0].fields),
    group(
        "workspace",
        "what the project file says of the sources",
        &[field("repositories", "list", "maps `{ name, path, purpose, branch }`")],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{
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
                    Value::Array(_) => field.kind == "list",
                    Value::Object(_) => field.kind == "map",
                    Value::String(_) => field.kind == "text",
                    Value::Bool(_) => field.kind == "true or false",
                    _ => field.kind == "whole number",
                };
                assert!(fits && !field.doc.is_empty(), "{}.{}", group.name, field.name);
            }
        }
        assert_eq!(EVIDENCE.len() - 1, EVIDENCE[0].fields.iter().filter(|field| field.kind != "text").count());
    }
}
