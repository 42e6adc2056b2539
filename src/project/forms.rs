//! The forms of data files: reading of texts and stack frames, elements, personas, learned weights.

use crate::diag::Span;
use crate::form::{Form, FormKey, FormReader, ReadPattern, ValueForm};
use crate::script::Pattern;

/// Reads data files, with the pattern syntax of scripts.
pub(super) type DataReader<'a> = FormReader<'a, Pattern>;

impl ReadPattern for Pattern {
    fn read_pattern(text: &str) -> Result<Self, (String, Span)> {
        Self::read(text).map_err(|fault| (fault.message, fault.span))
    }

    fn groups(&self) -> usize {
        Self::groups(self)
    }
}

/// The form of a data file, by its stem. Other files are the user's and have no form.
pub(super) fn of(stem: &str) -> Option<&'static Form> {
    match stem {
        "evidence" => Some(&super::evidence::EVIDENCE),
        "reading" => Some(&READING),
        "frames" => Some(&FRAMES),
        "elements" => Some(&ELEMENTS),
        "personas" => Some(&PERSONAS),
        "learned" => Some(&LEARNED),
        _ => None,
    }
}

const PATTERN: ValueForm = ValueForm::Pattern(0);
const PATTERNS: ValueForm = ValueForm::List(&ValueForm::Pattern(0));
const CATCHING: ValueForm = ValueForm::List(&ValueForm::Pattern(1));

const READING: Form = Form {
    what: "the file for reading texts",
    keys: &[
        FormKey::required("details", PATTERN, "The lines after a failed check."),
        FormKey::required("values", PATTERN, "A failed check that has both values."),
        FormKey::required("retries", ValueForm::Text, "The attribute of a case with the number of retries."),
        FormKey::required("stop_words", ValueForm::List(&ValueForm::Text), "Words that do not distinguish failures."),
        FormKey::required("test_ids", CATCHING, "The id of a test in its name."),
        FormKey::required("setup_names", PATTERN, "Names of tests that are a setup."),
        FormKey::required("code", ValueForm::Map(&CODE), "Which parts of a failure are searched in the code."),
    ],
    ..Form::PLAIN
};

const CODE: Form = Form {
    what: "`code`",
    keys: &[
        FormKey::required("names", PATTERN, "Identifiers."),
        FormKey::required("kinds", PATTERN, "Identifiers that are mere types of errors."),
        FormKey::required("words", PATTERN, "Words in the constant parts of a message."),
        FormKey::required("defines", PATTERN, "Lines that define a name."),
    ],
    ..Form::PLAIN
};

const FRAMES: Form = Form {
    what: "the file for reading stack frames",
    keys: &[
        FormKey::required("checkouts", CATCHING, "Prefixes of paths where a machine checks code out."),
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
        FormKey::required("pod_suffix", PATTERN, "The suffix that a cluster appends to the name of a program."),
        FormKey::required(
            "culprit_categories",
            ValueForm::List(&ValueForm::Name("categories")),
            "The categories in which a line may name the culprit.",
        ),
        FormKey::required("culprits", CATCHING, "The culprit in a line."),
        FormKey::required("no_programs", PATTERN, "Words in such a place that are no program."),
        FormKey::required(
            "reaching",
            ValueForm::List(&ValueForm::Name("categories")),
            "The categories in which something was not reached.",
        ),
        FormKey::required("addresses", PATTERNS, "The unreachable address in a line."),
        FormKey::required("chance_port", PATTERN, "A port that was assigned at random."),
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
        FormKey::required("cycles", ValueForm::Map(&CYCLES), "Which element strengthens or overcomes which."),
    ],
    ..Form::PLAIN
};

const ELEMENT: Form = Form {
    what: "an element",
    keys: &[
        FormKey::required("speed", ValueForm::Text, "Its pace."),
        FormKey::required("max_loops", ValueForm::Whole(0, 1000), "The maximum number of loops."),
        FormKey::required("convergence_threshold", SHARE, "The confidence it requires."),
        FormKey::required("shortcut_affinity", SHARE, "Its tendency to take shortcuts."),
        FormKey::required("evidence_depth", ValueForm::Whole(0, 1000), "The number of pieces of evidence it gathers."),
        FormKey::required("failure_mode", ValueForm::Text, "How it fails."),
        FormKey::new("colour", ValueForm::Text, "Its colour in pictures."),
    ],
    ..Form::PLAIN
};

/// The names of an element's traits.
pub(super) fn traits() -> impl Iterator<Item = &'static str> {
    ELEMENT.keys.iter().map(|key| key.name).filter(|name| *name != "colour")
}

const DERIVED: Form = Form {
    what: "a derived element",
    keys: &[
        FormKey::required("from", ValueForm::Text, "The element it is derived from."),
        FormKey::required("fewer_loops", ValueForm::Number(0.0, 1000.0), "How many fewer loops the most accurate walker makes."),
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
        FormKey::required("to", ValueForm::Text, "The other element; the same one, if it goes with any."),
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
        FormKey::new("pipeline", ValueForm::Text, "The pipeline whose verdict the weights are of; any by default."),
        FormKey::new(
            "priors",
            WEIGHTS,
            "The log-odds of defects before any rule speaks, by code; they replace the declared ones.",
        ),
        FormKey::new(
            "weights",
            ValueForm::Entries(&WEIGHTS),
            "By the id of a rule or signature, what it adds to the log-odds of defects, by code; the rest stays as declared.",
        ),
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
        FormKey::new("colour", ValueForm::Text, "The name of its colour, its signature."),
        FormKey::new("hex", ValueForm::Text, "That colour, as `#rrggbb`."),
        FormKey::new("element", ValueForm::Text, "Its element (`asterisk show elements`)."),
        FormKey::new("position", ValueForm::Text, "Its position; one of `positions`."),
        FormKey::new("side", ValueForm::Word(&["light", "shadow"]), "Whether it investigates the cause or contests it."),
        FormKey::new("home", ValueForm::Text, "Its home zone."),
        FormKey::new("stickiness", ValueForm::Whole(0, 3), "How strongly it stays in that zone: 0 (free) to 3 (exclusive)."),
        FormKey::new(
            "affinities",
            ValueForm::Entries(&ValueForm::Number(-1.0, 1.0)),
            "Its affinity to nodes, by name; 0 by default.",
        ),
        FormKey::new("tags", ValueForm::List(&ValueForm::Text), "Its characteristics."),
        FormKey::new("preamble", ValueForm::Text, "Its introduction in prompts."),
        FormKey::new("via", ValueForm::List(&ValueForm::Text), "Its answerers, tried in this order."),
        FormKey::new(
            "masks",
            ValueForm::List(&ValueForm::Text),
            "The masks it adds to the nodes they are for (`masks/NAME.rhai`).",
        ),
    ],
    ..Form::PLAIN
};
