//! What scripts and templates are given, field by field: the one table for reading, checking and explaining.

/// A field that every value of its group has.
#[derive(Clone, Copy, Debug)]
pub struct DocumentedField {
    /// Its name.
    pub name: &'static str,
    /// Its type, for people.
    pub kind: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// A group of parameters.
#[derive(Clone, Copy, Debug)]
pub struct FieldGroup {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub doc: &'static str,
    /// All of its fields; without fields, it may have any.
    pub fields: &'static [DocumentedField],
}

const fn field(name: &'static str, kind: &'static str, doc: &'static str) -> DocumentedField {
    DocumentedField { name, kind, doc }
}

const fn group(name: &'static str, doc: &'static str, fields: &'static [DocumentedField]) -> FieldGroup {
    FieldGroup { name, doc, fields }
}

/// The fields of the state of a walk.
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

/// The groups of parameters that templates, responders and effects may name.
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
    group(
        "evidence",
        "what the failure's texts say, read once: `asterisk doc evidence`",
        &[
            field("checks", "list", "assertions: maps `{ kind, expected, found, line }`"),
            field("exceptions", "list", "exceptions that lines name: maps `{ kind, message, line }`"),
            field(
                "frames",
                "list",
                "stack frames, the root cause's first, innermost first: maps `{ trace, language, function, path, line, owner, source, number }`",
            ),
            field("headline", "text", "the first line that says something"),
            field(
                "lines",
                "list",
                "the lines that count: maps `{ id, source, number, text }`, with `level` and `at` where a line has them",
            ),
            field(
                "matches",
                "list",
                "the signatures that matched: maps `{ id, index, at, line, source, text, pattern, span, subject, log_text, routine, lines }`",
            ),
            field("names", "map", "what the lines name, by kind: lists of texts"),
            field(
                "quoted",
                "list",
                "lines that do not count, being titles, source code or context: maps `{ source, number, kind, text }`",
            ),
        ],
    ),
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
    group("meta", "what masks hand on to each other, by name", &[]),
    group("needs", "the results of the reads that the node declares in `needs:`, with dots turned to underscores", &[]),
    group(
        "persona",
        "the walker: `{ name, colour, element, position, side, tags, preamble }`; empty in a walk without a team",
        &[],
    ),
    group("prior", "the last artifact of each node that was taken, by the node's name", &[]),
    group("siblings", "the result of the read `siblings`, if the node declares it", &[]),
    group("state", "the state of the walk, as rules see it (`asterisk doc state`)", STATE),
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
    group(
        "workspace",
        "what the project file says of the sources",
        &[field("repositories", "list", "maps `{ name, path, purpose, branch }`")],
    ),
];
