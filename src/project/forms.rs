//! The forms of the data files that come with the program: how texts and stack frames are read, elements and personas.

use crate::diag::Span;
use crate::form::{Form, FormKey, FormReader, ReadPattern, ValueForm};
use crate::script::Pattern;

/// Reads data files, whose patterns are those of scripts.
pub(super) type DataReader<'a> = FormReader<'a, Pattern>;

impl ReadPattern for Pattern {
    fn read_pattern(text: &str) -> Result<Self, (String, Span)> {
        Self::read(text).map_err(|fault| (fault.message, fault.span))
    }

    fn groups(&self) -> usize {
        Self::groups(self)
    }
}

/// The form of a data file by its stem. Others are the user's, and free.
pub(super) fn of(stem: &str) -> Option<&'static Form> {
    match stem {
        "evidence" => Some(&super::evidence::EVIDENCE),
        "reading" => Some(&READING),
        "frames" => Some(&FRAMES),
        "elements" => Some(&ELEMENTS),
        "personas" => Some(&PERSONAS),
        _ => None,
    }
}

const PATTERN: ValueForm = ValueForm::Pattern(0);
const PATTERNS: ValueForm = ValueForm::List(&ValueForm::Pattern(0));
const CATCHING: ValueForm = ValueForm::List(&ValueForm::Pattern(1));

const READING: Form = Form {
    what: "the file of how texts are read",
    keys: &[
        FormKey::required("details", PATTERN, "What follows a failed check."),
        FormKey::required("values", PATTERN, "A check that gives both values."),
        FormKey::required("retries", ValueForm::Text, "The attribute of a case that says how often it was tried again."),
        FormKey::required("stop_words", ValueForm::List(&ValueForm::Text), "Words that tell nothing of which failure it is."),
        FormKey::required("test_ids", CATCHING, "How the name of a test gives its id."),
        FormKey::required("setup_names", PATTERN, "What a test is called that is a setup."),
        FormKey::required("code", ValueForm::Map(&CODE), "What of a failure is looked for in the code."),
    ],
    ..Form::PLAIN
};

const CODE: Form = Form {
    what: "`code`",
    keys: &[
        FormKey::required("names", PATTERN, "Names as programs write them."),
        FormKey::required("kinds", PATTERN, "Names that are mere kinds of errors."),
        FormKey::required("words", PATTERN, "Words as they stand in a message between what varies."),
        FormKey::required("defines", PATTERN, "How a line reads that defines a name."),
    ],
    ..Form::PLAIN
};

const FRAMES: Form = Form {
    what: "the file of how stack frames are written",
    keys: &[
        FormKey::required("checkouts", CATCHING, "Beginnings that only say where a machine checks code out."),
        FormKey::required("tests", PATTERNS, "What belongs to the test and not to the product."),
        FormKey::required("components", CATCHING, "What of a path is the component."),
        FormKey::required("generic", PATTERNS, "Directories that say nothing of the component."),
        FormKey::required("generic_files", PATTERNS, "File names that say nothing of the component."),
        FormKey::required("test_affixes", PATTERNS, "What a test's file or class has around the name of what it tests."),
        FormKey::required("log_tags", CATCHING, "How a line of a log says which program wrote it."),
        FormKey::required("pod_suffix", PATTERN, "What a cluster puts behind the name of a program."),
        FormKey::required(
            "culprit_categories",
            ValueForm::List(&ValueForm::Name("categories")),
            "Where a line may name who is to blame.",
        ),
        FormKey::required("culprits", CATCHING, "How a line names who is to blame."),
        FormKey::required("no_programs", PATTERN, "What stands in such a place without being a program."),
        FormKey::required(
            "reaching",
            ValueForm::List(&ValueForm::Name("categories")),
            "The categories in which something was not reached.",
        ),
        FormKey::required("addresses", PATTERNS, "How a line says what was not reached."),
        FormKey::required("chance_port", PATTERN, "A port that a machine gave at random."),
        FormKey::required("peers", CATCHING, "Where a connection wanted to go."),
        FormKey::required("local", PATTERN, "Hosts that are the machine itself."),
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
            "Elements that depend on how accurate a walker has been.",
        ),
        FormKey::required("cycles", ValueForm::Map(&CYCLES), "What strengthens and what overcomes what."),
    ],
    ..Form::PLAIN
};

const ELEMENT: Form = Form {
    what: "an element",
    keys: &[
        FormKey::required("speed", ValueForm::Text, "How it moves."),
        FormKey::required("max_loops", ValueForm::Whole(0, 1000), "How often it looks again."),
        FormKey::required("convergence_threshold", SHARE, "How sure it must be."),
        FormKey::required("shortcut_affinity", SHARE, "How readily it takes a shortcut."),
        FormKey::required("evidence_depth", ValueForm::Whole(0, 1000), "How many pieces of evidence it gathers."),
        FormKey::required("failure_mode", ValueForm::Text, "What it does wrong when it does wrong."),
        FormKey::new("colour", ValueForm::Text, "What pictures show it in."),
    ],
    ..Form::PLAIN
};

/// The names of what an element is like: its traits.
pub(super) fn traits() -> impl Iterator<Item = &'static str> {
    ELEMENT.keys.iter().map(|key| key.name).filter(|name| *name != "colour")
}

const DERIVED: Form = Form {
    what: "a derived element",
    keys: &[
        FormKey::required("from", ValueForm::Text, "The element it is derived from."),
        FormKey::required("fewer_loops", ValueForm::Number(0.0, 1000.0), "How many loops fewer the most accurate walker makes."),
        FormKey::required("more_convergence", SHARE, "How much surer the least accurate walker must be."),
        FormKey::required("failure_mode", ValueForm::Text, "What it does wrong when it does wrong."),
        FormKey::new("colour", ValueForm::Text, "What pictures show it in."),
    ],
    ..Form::PLAIN
};

const CYCLES: Form = Form {
    what: "`cycles`",
    keys: &[
        FormKey::required("generative", ValueForm::List(&ValueForm::Map(&STEP)), "What strengthens what."),
        FormKey::required("destructive", ValueForm::List(&ValueForm::Map(&STEP)), "What overcomes what."),
    ],
    ..Form::PLAIN
};

const STEP: Form = Form {
    what: "a step of a cycle",
    keys: &[
        FormKey::required("from", ValueForm::Text, "An element."),
        FormKey::required("to", ValueForm::Text, "The element it leads to; itself, if it goes with any."),
        FormKey::new("meaning", ValueForm::Text, "Why."),
    ],
    ..Form::PLAIN
};

const SHARE: ValueForm = ValueForm::Number(0.0, 1.0);

const PERSONAS: Form = Form {
    what: "the file of personas",
    keys: &[
        FormKey::new("positions", ValueForm::Entries(&ValueForm::Text), "The zone that each position plays in."),
        FormKey::required("personas", ValueForm::Records(&PERSONA, "name"), "The personas, in the order that breaks ties."),
    ],
    ..Form::PLAIN
};

const PERSONA: Form = Form { what: "a persona", keys: WALKER.keys, ..Form::PLAIN };

/// A walker of a pipeline's own: like a persona.
pub(super) const WALKER: Form = Form {
    what: "a walker of the team",
    keys: &[
        FormKey::required("name", ValueForm::Text, "What it is called."),
        FormKey::new("colour", ValueForm::Text, "The name of its colour, which it signs with."),
        FormKey::new("hex", ValueForm::Text, "That colour, as `#rrggbb`."),
        FormKey::new("element", ValueForm::Text, "Its element (`asterisk show elements`)."),
        FormKey::new("position", ValueForm::Text, "Where it plays; one of `positions`."),
        FormKey::new("side", ValueForm::Word(&["light", "shadow"]), "Whether it looks for the cause or contests it."),
        FormKey::new("home", ValueForm::Text, "The zone it feels at home in."),
        FormKey::new("stickiness", ValueForm::Whole(0, 3), "How strongly it keeps to that zone: 0 (free) to 3 (exclusive)."),
        FormKey::new(
            "affinities",
            ValueForm::Entries(&ValueForm::Number(-1.0, 1.0)),
            "How well nodes suit it, by name; none is 0.",
        ),
        FormKey::new("tags", ValueForm::List(&ValueForm::Text), "What it is like."),
        FormKey::new("preamble", ValueForm::Text, "What a prompt says of it."),
        FormKey::new("via", ValueForm::List(&ValueForm::Text), "Who answers what it is to answer, tried in this order."),
        FormKey::new(
            "masks",
            ValueForm::List(&ValueForm::Text),
            "The masks it brings to the nodes they are for (`masks/NAME.rhai`).",
        ),
    ],
    ..Form::PLAIN
};
