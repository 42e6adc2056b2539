//! The forms of data files: reading of texts and stack frames, elements, personas, learned weights; their JSON Schemas.

use asterisk_diag::Span;
use asterisk_form::{Form, FormKey, FormReader, ReadPattern, ValueForm};
use asterisk_script::Pattern;
use serde_json::Value;

/// Reads data files, with the pattern syntax of scripts.
pub(super) type DataReader<'a> = FormReader<'a, DataPattern>;

/// A pattern of a data file.
#[derive(Clone, Debug)]
pub(super) struct DataPattern(pub(super) Pattern);

impl ReadPattern for DataPattern {
    fn read_pattern(text: &str) -> Result<Self, (String, Span)> {
        Pattern::read(text).map(Self).map_err(|fault| (fault.message, fault.span))
    }

    fn groups(&self) -> usize {
        self.0.groups()
    }
}

/// The data files that have a form, by their stems. Other files are the user's, without a form.
const FILES: &[(&str, &Form)] = &[
    ("evidence", &super::evidence::EVIDENCE),
    ("reading", &READING),
    ("frames", &FRAMES),
    ("roots", &ROOTS),
    ("elements", &ELEMENTS),
    ("personas", &PERSONAS),
    ("recall", &RECALL),
    ("learn", &LEARN),
    ("learned", &LEARNED),
    ("terms", &TERMS),
    ("tracker", &TRACKER),
    ("ci", &CI),
    ("policy", &super::policy_file::POLICY_FILE),
];

/// The form of a data file, by its stem.
pub(super) fn of(stem: &str) -> Option<&'static Form> {
    if stem.starts_with(SCORECARDS) {
        return Some(&SCORECARD);
    }
    FILES.iter().find(|(known, _)| *known == stem).map(|(_, form)| *form)
}

/// The JSON Schema (2020-12) of a kind of data file: a stem, `scorecard` or `teams`.
pub fn data_schema(kind: &str) -> Option<Value> {
    let form = match kind {
        "scorecard" => &SCORECARD,
        // Teams are checked where they are used.
        "teams" => &super::teams::TEAMS_FILE,
        stem => of(stem)?,
    };
    let title = format!("Asterisk data: {}", form.what.split_once(' ').map_or(form.what, |(_, noun)| noun));
    let complete = asterisk_form::json_schema(&title, form);
    let partial = asterisk_form::of_form(form);
    // These two files extend the bundled ones without saying so.
    let implied = ["policy", "teams"].contains(&kind);
    Some(if implied { asterisk_form::extending(complete, &partial) } else { asterisk_form::extensible(complete, &partial) })
}

/// The kinds of data files that have a schema.
pub fn data_kinds() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(stem, _)| *stem).chain(["scorecard", "teams"])
}

/// The form of `data/recall.yaml`. Its bounds are alternatives, so that absent ones are not filled in: they never apply.
const RECALL: Form = Form {
    what: "the file of recall settings",
    keys: &[
        FormKey::new(
            "dormant",
            ValueForm::FirstMatching(&[ValueForm::Map(&DORMANT)]),
            "When a symptom counts as dormant, so that its return is a regression; whichever comes first.",
        ),
        FormKey::new(
            "flaky",
            ValueForm::FirstMatching(&[ValueForm::Map(&FLAKY)]),
            "When a test counts as flaky, by its outcomes in the latest launches of its name.",
        ),
        FormKey::required("reviews", ValueForm::Map(&REVIEWS), "The initial confidence in root causes that a person reviewed."),
    ],
    ..Form::PLAIN
};

const DORMANT: Form = Form {
    what: "`dormant`",
    keys: &[
        FormKey::new("days", ValueForm::Number(0.0, 36_500.0), "After this many days."),
        FormKey::new("launches", ValueForm::Whole(0, 1_000_000), "After this many later launches of the same name."),
    ],
    ..Form::PLAIN
};

const FLAKY: Form = Form {
    what: "`flaky`",
    keys: &[
        FormKey::new("retried", ValueForm::Whole(0, 1_000_000), "It passed when retried in this many launches."),
        FormKey::new("commits", ValueForm::Whole(0, 1_000_000), "It passed and failed on this many commits."),
        FormKey::new("flips", ValueForm::Whole(0, 1_000_000), "It flipped between passed and failed this many times."),
        FormKey::new("launches", ValueForm::Whole(0, 1_000_000), "The minimum number of launches for `flips` to count."),
    ],
    ..Form::PLAIN
};

const REVIEWS: Form = Form {
    what: "`reviews`",
    keys: &[
        FormKey::required("approve", SHARE, "The confidence in root causes that a person approved."),
        FormKey::required("overturn", SHARE, "The confidence in those that a person gave."),
        FormKey::required("counted", ValueForm::Whole(1, 1_000_000), "The number of reviews as which these shares count."),
    ],
    ..Form::PLAIN
};

/// The form of `data/tracker.yaml`.
const TRACKER: Form = Form {
    what: "the file of issue fields",
    keys: &[
        FormKey::required(
            "issue_types",
            ValueForm::Entries(&ValueForm::Text),
            "Issue type by defect code; `default` for all others.",
        ),
        FormKey::required("labels", ValueForm::List(&ValueForm::Text), "Labels of every issue."),
        FormKey::required(
            "version_keys",
            ValueForm::List(&ValueForm::Text),
            "Launch attributes that name the affected version; the first one present is used.",
        ),
        FormKey::required("environment_keys", ValueForm::List(&ValueForm::Text), "Attributes that name the environment."),
        FormKey::required("summary_length", ValueForm::Whole(1, 100_000), "The maximum length of an issue summary."),
    ],
    ..Form::PLAIN
};

/// The form of `data/ci.yaml`.
const CI: Form = Form {
    what: "the file of CI annotations",
    keys: &[FormKey::required(
        "levels",
        ValueForm::Entries(&ValueForm::Word(&["error", "warning", "notice"])),
        "The level of an annotation, by defect code; `default` applies to all others.",
    )],
    ..Form::PLAIN
};

/// How the stems of scorecards begin: they are files of `data/scorecards/`.
pub(super) const SCORECARDS: &str = "scorecards_";

/// The form of `data/scorecards/NAME.yaml`.
pub const SCORECARD: Form = Form {
    what: "a scorecard",
    keys: &[
        FormKey::required("scorecard", ValueForm::Text, "Its name."),
        FormKey::new("description", ValueForm::Text, "What it scores, in a sentence."),
        FormKey::required("pipeline", ValueForm::Text, "The name of the pipeline whose walks it scores."),
        FormKey::required(
            "primary",
            ValueForm::Text,
            "The id of the metric that decides whether a case is right; comparisons count cases by it.",
        ),
        FormKey::required(
            "result",
            ValueForm::Script,
            "The function of a walk and the project's data that returns the result that metrics read.",
        ),
        FormKey::new(
            "answers",
            ValueForm::Script,
            "The function of a case and of `{ rca }`, the stored root cause of its cause's first case, that returns the canned answers of each node, for `--via stub`.",
        ),
        FormKey::required(
            "pass",
            ValueForm::Script,
            "The function of a direction, a value and a threshold that returns whether the value passes.",
        ),
        FormKey::required("metrics", ValueForm::Records(&METRIC, "id"), "The metrics, in display order."),
        FormKey::new("tables", ValueForm::Records(&METRIC_TABLE, "id"), "Tables shown next to the metrics."),
    ],
    ..Form::PLAIN
};

const METRIC: Form = Form {
    what: "a metric",
    keys: &[
        FormKey::required("id", ValueForm::Text, "Its id."),
        FormKey::required("name", ValueForm::Text, "Its name."),
        FormKey::new("tier", ValueForm::Text, "The group it is shown in."),
        FormKey::required(
            "direction",
            ValueForm::Word(&["higher", "lower", "around", "shown"]),
            "Which values are good; `shown` is never judged.",
        ),
        FormKey::new("threshold", ValueForm::Number(-1e9, 1e9), "The value that it is compared with."),
        FormKey::new("weight", ValueForm::Number(0.0, 1.0), "Its weight in metrics of metrics."),
        FormKey::new(
            "over",
            ValueForm::Word(&["cases", "results", "launches", "metrics", "runs"]),
            "What it aggregates: cases (the default), results (including those of cases that are not in the scenario), launches with several cases, the other metrics, or the values of all runs.",
        ),
        FormKey::new(
            "tally",
            ValueForm::Script,
            "The function of the truth and the result (of lists of them, over launches) that returns the numbers to add, or `()`.",
        ),
        FormKey::required(
            "formula",
            ValueForm::Script,
            "The function of the sums (of `[{ id, value, weight }]`, over metrics; of a map of values each, over runs) that returns the value, `{ value, enforced }`, or `()` for not applicable.",
        ),
    ],
    ..Form::PLAIN
};

const METRIC_TABLE: Form = Form {
    what: "a table",
    keys: &[
        FormKey::required("id", ValueForm::Text, "Its id."),
        FormKey::required("title", ValueForm::Text, "Its title."),
        FormKey::required("columns", ValueForm::List(&ValueForm::Text), "Its columns, as keys of the rows."),
        FormKey::required("tally", ValueForm::Script, "As for a metric."),
        FormKey::required("rows", ValueForm::Script, "The function of the sums that returns the rows, a list of maps."),
        FormKey::new(
            "matrix",
            ValueForm::List(&ValueForm::Text),
            "Shows it as a matrix: the columns of its rows, of its columns and of its values.",
        ),
        FormKey::new(
            "curve",
            ValueForm::List(&ValueForm::Text),
            "Draws it as a curve of shares: the columns of the horizontal axis, the vertical axis and the number of cases.",
        ),
    ],
    ..Form::PLAIN
};

const PATTERN: ValueForm = ValueForm::Pattern(0);
const PATTERNS: ValueForm = ValueForm::List(&ValueForm::Pattern(0));
const CATCHING: ValueForm = ValueForm::List(&ValueForm::Pattern(1));

const READING: Form = Form {
    what: "the file for reading error texts",
    keys: &[
        FormKey::required("details", PATTERN, "The lines that follow a failed check."),
        FormKey::required("values", PATTERN, "A failed check that has both values."),
        FormKey::required("retries", ValueForm::Text, "The attribute of a case with the number of retries."),
        FormKey::required("stop_words", ValueForm::List(&ValueForm::Text), "Words that do not distinguish failures."),
        FormKey::required("test_ids", CATCHING, "The id of a test in its name."),
        FormKey::required("setup_names", PATTERN, "Names of tests that are set-ups."),
        FormKey::required("code", ValueForm::Map(&CODE), "Which parts of a failure are searched in the code."),
    ],
    ..Form::PLAIN
};

const CODE: Form = Form {
    what: "`code`",
    keys: &[
        FormKey::required("names", PATTERN, "Identifiers."),
        FormKey::required("kinds", PATTERN, "Identifiers that are only error types."),
        FormKey::required("words", PATTERN, "Words in the constant parts of a message."),
        FormKey::required("defines", PATTERN, "Lines that define a name."),
    ],
    ..Form::PLAIN
};

const ROOTS: Form = Form {
    what: "the file of roots",
    keys: &[
        FormKey::required(
            "machine",
            ValueForm::List(&ValueForm::Map(&ROOT_KIND)),
            "Resources of the machine that all tests need.",
        ),
        FormKey::required("lost", ValueForm::List(&ValueForm::Map(&NAMED_ROOT)), "Named machines that may fail."),
        FormKey::required("crashes", ValueForm::List(&ValueForm::Text), "Signatures of crashes reported in a log."),
        FormKey::required("named", ValueForm::List(&ValueForm::Map(&NAMED_ROOT)), "Named resources that tests need."),
        FormKey::required("addressed", ValueForm::List(&ValueForm::Map(&ROOT_KIND)), "The failure of a service at an address."),
        FormKey::required("addresses", CATCHING, "The host in a line, and its port if given."),
        FormKey::required("localhost", PATTERN, "Names of the machine itself."),
        FormKey::required("chance_port", PATTERN, "A port that was assigned at random."),
        FormKey::required("no_name", PATTERN, "Words in the place of a name that are not names."),
        FormKey::required("titles", PATTERN, "Lines that only name the test and its location."),
        FormKey::required("not_run", PATTERN, "Messages of runners about tests that did not run."),
        FormKey::required("comparing", PATTERN, "Words of checks that compare values."),
        FormKey::required("message_after", PATTERN, "The text before the message of an error."),
        FormKey::required("varying", PATTERN, "Parts of a message that differ between failures."),
        FormKey::required("anonymous", PATTERN, "Functions that do not indicate where something happened."),
    ],
    ..Form::PLAIN
};

const ROOT_KIND: Form = Form {
    what: "a root",
    keys: &[
        FormKey::required("kind", ValueForm::Text, "What the failures have in common."),
        FormKey::required("signatures", ValueForm::List(&ValueForm::Text), "Ids of signatures."),
    ],
    ..Form::PLAIN
};

const NAMED_ROOT: Form = Form {
    what: "a root with a name",
    keys: &[
        FormKey::required("kind", ValueForm::Text, "What the failures have in common."),
        FormKey::required("signatures", ValueForm::List(&ValueForm::Text), "Ids of signatures."),
        FormKey::required("part", ValueForm::Word(&["whole", "file", "last"]), "The part of the name that counts."),
        FormKey::new("quoted", ValueForm::Pattern(1), "The name in a line of source that the error quotes."),
    ],
    ..Form::PLAIN
};

const FRAMES: Form = Form {
    what: "the file for reading stack frames",
    keys: &[
        FormKey::required("checkouts", CATCHING, "Prefixes of paths where a machine checks out code."),
        FormKey::required("tests", PATTERNS, "Paths that belong to the test, not to the product."),
        FormKey::required("components", CATCHING, "The component in a path."),
        FormKey::required("generic", PATTERNS, "Directories that do not indicate the component."),
        FormKey::required("generic_files", PATTERNS, "File names that do not indicate the component."),
        FormKey::required(
            "test_affixes",
            PATTERNS,
            "Prefixes and suffixes of a test's file or class around the name of what it tests.",
        ),
        FormKey::required("log_tags", CATCHING, "The program that wrote a line of a log."),
        FormKey::required("pod_suffix", PATTERN, "The suffix that a cluster appends to program names."),
        FormKey::required(
            "culprit_categories",
            ValueForm::List(&ValueForm::Name("categories")),
            "The categories in which a line may name the culprit.",
        ),
        FormKey::required("culprits", CATCHING, "The culprit in a line."),
        FormKey::required("no_programs", PATTERN, "Words in such a place that are not programs."),
        FormKey::required("peers", CATCHING, "The target of a connection."),
        FormKey::required("local", PATTERN, "Names of the local host."),
    ],
    ..Form::PLAIN
};

const ELEMENTS: Form = Form {
    what: "the file of elements",
    keys: &[
        FormKey::required("elements", ValueForm::Entries(&ValueForm::Map(&ELEMENT)), "The elements, by name."),
        FormKey::new(
            "derived",
            ValueForm::Entries(&ValueForm::Map(&DERIVED)),
            "Elements that depend on the accuracy of a walker.",
        ),
        FormKey::new(
            "speeds",
            ValueForm::Entries(&ValueForm::Map(&SPEED)),
            "What a speed means for the answers of a walker, by name.",
        ),
        FormKey::required("cycles", ValueForm::Map(&CYCLES), "Which element strengthens or overcomes which."),
    ],
    ..Form::PLAIN
};

const ELEMENT: Form = Form {
    what: "an element",
    keys: &[
        FormKey::required("speed", ValueForm::Text, "Its speed."),
        FormKey::required("max_loops", ValueForm::Whole(0, 1000), "The maximum number of loops."),
        FormKey::required("convergence_threshold", SHARE, "The confidence it requires."),
        FormKey::required("shortcut_affinity", SHARE, "Its tendency to take shortcuts."),
        FormKey::required("evidence_depth", ValueForm::Whole(0, 1000), "The number of pieces of evidence it gathers."),
        FormKey::required("failure_mode", ValueForm::Text, "How it fails."),
        FormKey::new("colour", ValueForm::Text, "Its colour in pictures."),
    ],
    ..Form::PLAIN
};

const SPEED: Form = Form {
    what: "a speed",
    keys: &[
        FormKey::new("timeout", SECONDS, "The time for an answer, in seconds."),
        FormKey::new("model", ValueForm::Text, "The model, by its name in `models:` of an agent."),
    ],
    ..Form::PLAIN
};

/// The time for an answer: up to a day; 0 if it is not set.
const SECONDS: ValueForm = ValueForm::Number(0.0, 86_400.0);

/// The names of an element's traits.
pub(super) fn traits() -> impl Iterator<Item = &'static str> {
    ELEMENT.keys.iter().map(|key| key.name).filter(|name| *name != "colour")
}

const DERIVED: Form = Form {
    what: "a derived element",
    keys: &[
        FormKey::required("from", ValueForm::Text, "The element it is derived from."),
        FormKey::required(
            "fewer_loops",
            ValueForm::Number(0.0, 1000.0),
            "The number of loops that the most accurate walker saves.",
        ),
        FormKey::required("more_convergence", SHARE, "How much more confidence the least accurate walker requires."),
        FormKey::required("failure_mode", ValueForm::Text, "How it fails."),
        FormKey::new("colour", ValueForm::Text, "Its colour in pictures."),
    ],
    ..Form::PLAIN
};

const CYCLES: Form = Form {
    what: "`cycles`",
    keys: &[
        FormKey::required("generative", ValueForm::List(&ValueForm::Map(&STEP)), "Which element strengthens which."),
        FormKey::required("destructive", ValueForm::List(&ValueForm::Map(&STEP)), "Which element overcomes which."),
    ],
    ..Form::PLAIN
};

const STEP: Form = Form {
    what: "a step of a cycle",
    keys: &[
        FormKey::required("from", ValueForm::Text, "An element."),
        FormKey::required("to", ValueForm::Text, "The other element; the element itself matches any."),
        FormKey::new("meaning", ValueForm::Text, "The reason."),
    ],
    ..Form::PLAIN
};

const SHARE: ValueForm = ValueForm::Number(0.0, 1.0);

const PERSONAS: Form = Form {
    what: "the file of personas",
    keys: &[
        FormKey::new("positions", ValueForm::Entries(&ValueForm::Text), "The zone of each position."),
        FormKey::required("personas", ValueForm::Records(&PERSONA, "name"), "The personas; their order breaks ties."),
    ],
    ..Form::PLAIN
};

/// The form of `data/learned.yaml`.
pub(super) const LEARNED: Form = Form {
    what: "the file of learned weights",
    keys: &[
        FormKey::new("pipeline", ValueForm::Text, "The pipeline whose verdict uses the weights; any by default."),
        FormKey::new("priors", WEIGHTS, "The prior log-odds of defects, by code; they replace the declared ones."),
        FormKey::new(
            "weights",
            ValueForm::Entries(&WEIGHTS),
            "What a rule or signature adds to the log-odds of defects, by its id and defect code; the rest stays as declared.",
        ),
        FormKey::new("terms", TERM_WEIGHTS, WORDS),
        FormKey::new(
            "temperature",
            ValueForm::Number(0.05, 20.0),
            "What the log-odds are divided by before they become probabilities; values above 1 make probabilities less extreme.",
        ),
    ],
    ..Form::PLAIN
};

/// The form of `data/terms.yaml`.
pub(super) const TERMS: Form =
    Form { what: "the file of words", keys: &[FormKey::required("terms", TERM_WEIGHTS, WORDS)], ..Form::PLAIN };

const TERM_WEIGHTS: ValueForm = ValueForm::Entries(&WEIGHTS);
const WORDS: &str = "What a word adds to the log-odds of defects if a line of the error contains it (of the log, without an error), by the word (four or more lower-case letters) and defect code.";

/// The form of `data/learn.yaml`.
pub(super) const LEARN: Form = Form {
    what: "the file of learning settings",
    keys: &[
        FormKey::required(
            "half_life_days",
            ValueForm::Number(1.0, 36_500.0),
            "The half-life of labels in days: after that time, a label counts half as much as the latest one.",
        ),
        FormKey::required("labels", ValueForm::Entries(&ValueForm::Number(0.0, 10.0)), "The weight of a label, by its source."),
        FormKey::required(
            "hold",
            ValueForm::Number(1e-3, 1e6),
            "The strength of the regularization towards the hand-set weights.",
        ),
        FormKey::required("hold_priors", ValueForm::Number(1e-3, 1e6), "The same, for priors."),
        FormKey::required("terms", ValueForm::Map(&LEARN_TERMS), "Which words become terms."),
        FormKey::required(
            "review_bar",
            ValueForm::Map(&LEARN_REVIEW_BAR),
            "The settings for the confidence from which verdicts need no review.",
        ),
    ],
    ..Form::PLAIN
};

const LEARN_TERMS: Form = Form {
    what: "`terms`",
    keys: &[
        TERM_HOLD,
        TERM_GROUPS,
        MOST_TERMS,
        FormKey::required("alone", ValueForm::Map(&LEARN_TERMS_ALONE), "The same, if only terms are fitted."),
        FormKey::new("skip", ValueForm::List(&ValueForm::Text), "Words that never become terms."),
    ],
    ..Form::PLAIN
};

const LEARN_TERMS_ALONE: Form = Form {
    what: "`alone`",
    keys: &[
        TERM_HOLD,
        TERM_GROUPS,
        MOST_TERMS,
        FormKey::required(
            "labels",
            ValueForm::Whole(2, 1_000_000),
            "The minimum number of labels of a defect; defects with fewer are left out.",
        ),
    ],
    ..Form::PLAIN
};

const TERM_HOLD: FormKey =
    FormKey::required("hold", ValueForm::Number(1e-3, 1e6), "The strength of the regularization of further terms towards 0.");
const TERM_GROUPS: FormKey = FormKey::required(
    "groups",
    ValueForm::Whole(1, 1_000_000),
    "The minimum number of projects (of launches, within a single project) that contain a term.",
);
const MOST_TERMS: FormKey = FormKey::required("most", ValueForm::Whole(1, 100_000), "The maximum number of terms.");

const LEARN_REVIEW_BAR: Form = Form {
    what: "`review_bar`",
    keys: &[
        FormKey::required("right", ValueForm::Number(0.0, 1.0), "The required share of right verdicts."),
        FormKey::required("cases", ValueForm::Whole(1, 1_000_000), "The minimum number of held-out cases for measuring it."),
    ],
    ..Form::PLAIN
};

const WEIGHTS: ValueForm = ValueForm::Entries(&ValueForm::Number(-20.0, 20.0));

const PERSONA: Form = Form { what: "a persona", keys: WALKER.keys, ..Form::PLAIN };

/// A walker defined by a pipeline, like a persona.
pub(super) const WALKER: Form = Form {
    what: "a walker of the team",
    keys: &[
        FormKey::required("name", ValueForm::Text, "Its name."),
        FormKey::new("colour", ValueForm::Text, "The name of its signature colour."),
        FormKey::new("hex", ValueForm::Text, "That colour, as `#rrggbb`."),
        FormKey::new("element", ValueForm::Text, "Its element (`asterisk show elements`)."),
        FormKey::new("position", ValueForm::Text, "Its position; one of `positions`."),
        FormKey::new("side", ValueForm::Word(&["light", "shadow"]), "Whether it investigates the cause or contests it."),
        FormKey::new("home", ValueForm::Text, "Its home zone."),
        FormKey::new("stickiness", ValueForm::Whole(0, 3), "How strongly it stays in that zone, from 0 (free) to 3 (exclusive)."),
        FormKey::new(
            "affinities",
            ValueForm::Entries(&ValueForm::Number(-1.0, 1.0)),
            "Its affinity to nodes, by name; 0 by default.",
        ),
        FormKey::new(
            "accuracy",
            SHARE,
            "Its accuracy so far, for the traits of a derived element; 0 by default, the most careful.",
        ),
        FormKey::new("tags", ValueForm::List(&ValueForm::Text), "Its characteristics."),
        FormKey::new("preamble", ValueForm::Text, "Its introduction in prompts."),
        FormKey::new("via", ValueForm::List(&ValueForm::Text), "Its answerers, tried in this order."),
        FormKey::new(
            "model",
            ValueForm::Text,
            "Its model, by the name in `models:` of an agent; by default that of its element's speed.",
        ),
        FormKey::new("timeout", SECONDS, "Its time for an answer, in seconds; by default that of its element's speed."),
        FormKey::new(
            "budget",
            ValueForm::Whole(1, 1_000_000_000),
            "The tokens that it may use for a case; from then on, steps of the case are for the other walkers.",
        ),
        FormKey::new(
            "masks",
            ValueForm::List(&ValueForm::Text),
            "The masks (`masks/NAME.rhai`) it adds to the nodes they apply to.",
        ),
    ],
    ..Form::PLAIN
};
