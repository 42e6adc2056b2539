//! The forms of the data files that come with the program: how texts and stack frames are read, elements and personas.

use super::form::{Form, Holds, Key};

/// The form of a data file by its stem. Others are the user's, and free.
pub(super) fn of(stem: &str) -> Option<&'static Form> {
    match stem {
        "reading" => Some(&READING),
        "frames" => Some(&FRAMES),
        "elements" => Some(&ELEMENTS),
        "personas" => Some(&PERSONAS),
        _ => None,
    }
}

const PATTERN: Holds = Holds::Pattern(0);
const PATTERNS: Holds = Holds::List(&Holds::Pattern(0));
const CATCHING: Holds = Holds::List(&Holds::Pattern(1));

const READING: Form = Form {
    what: "the file of how texts are read",
    keys: &[
        Key::required("focus", PATTERNS, "How a tool marks the lines that matter."),
        Key::required("source_line", PATTERN, "A line of source code."),
        Key::required("routine", PATTERN, "Lines that report how things normally go."),
        Key::required("log_errors", PATTERN, "How a log marks a line as an error's."),
        Key::required("frame_lines", PATTERN, "Lines that frame a message without being one."),
        Key::required("details", PATTERN, "What follows a failed check."),
        Key::required("values", PATTERN, "A check that gives both values."),
        Key::required("retries", Holds::Text, "The attribute of a case that says how often it was tried again."),
        Key::required("stop_words", Holds::List(&Holds::Text), "Words that tell nothing of which failure it is."),
        Key::required("test_ids", CATCHING, "How the name of a test gives its id."),
        Key::required("setup_names", PATTERN, "What a test is called that is a setup."),
        Key::required("code", Holds::Map(&CODE), "What of a failure is looked for in the code."),
    ],
};

const CODE: Form = Form {
    what: "`code`",
    keys: &[
        Key::required("names", PATTERN, "Names as programs write them."),
        Key::required("kinds", PATTERN, "Names that are mere kinds of errors."),
        Key::required("words", PATTERN, "Words as they stand in a message between what varies."),
        Key::required("defines", PATTERN, "How a line reads that defines a name."),
    ],
};

const FRAMES: Form = Form {
    what: "the file of how stack frames are written",
    keys: &[
        Key::required("formats", Holds::List(&Holds::Map(&FORMAT)), "One frame a match, tried in this order."),
        Key::required("innermost_cause", Holds::Text, "The frames of the innermost cause stand after the last of these."),
        Key::required("checkouts", CATCHING, "Beginnings that only say where a machine checks code out."),
        Key::required("foreign", PATTERNS, "Frames of languages, runners and libraries."),
        Key::required("namespace", PATTERN, "The beginning of a package that says whose it is."),
        Key::required("tests", PATTERNS, "What belongs to the test and not to the product."),
        Key::required("components", CATCHING, "What of a path is the component."),
        Key::required("generic", PATTERNS, "Directories that say nothing of the component."),
        Key::required("generic_files", PATTERNS, "File names that say nothing of the component."),
        Key::required("test_affixes", PATTERNS, "What a test's file or class has around the name of what it tests."),
        Key::required("log_tags", CATCHING, "How a line of a log says which program wrote it."),
        Key::required("pod_suffix", PATTERN, "What a cluster puts behind the name of a program."),
        Key::required("culprit_categories", Holds::List(&Holds::Name("categories")), "Where a line may name who is to blame."),
        Key::required("culprits", CATCHING, "How a line names who is to blame."),
        Key::required("no_programs", PATTERN, "What stands in such a place without being a program."),
        Key::required("reaching", Holds::List(&Holds::Name("categories")), "The categories in which something was not reached."),
        Key::required("addresses", PATTERNS, "How a line says what was not reached."),
        Key::required("chance_port", PATTERN, "A port that a machine gave at random."),
        Key::required("peers", CATCHING, "Where a connection wanted to go."),
        Key::required("local", PATTERN, "Hosts that are the machine itself."),
    ],
};

const FORMAT: Form = Form {
    what: "a format",
    keys: &[
        Key::required("language", Holds::Text, "Whose frames they are."),
        Key::required("line", PATTERN, "A frame."),
        Key::new("parts", Holds::Pattern(2), "Its file and its line."),
        Key::new("class", Holds::Pattern(3), "Its class, file and line, where the path is a package."),
        Key::new("innermost", Holds::Word(&["first", "last"]), "Which end of a trace is the innermost."),
    ],
};

const ELEMENTS: Form = Form {
    what: "the file of elements",
    keys: &[
        Key::required("elements", Holds::Entries(&Holds::Map(&ELEMENT)), "The elements, by name."),
        Key::new("derived", Holds::Entries(&Holds::Map(&DERIVED)), "Elements that depend on how accurate a walker has been."),
        Key::required("cycles", Holds::Map(&CYCLES), "What strengthens and what overcomes what."),
    ],
};

const ELEMENT: Form = Form {
    what: "an element",
    keys: &[
        Key::required("speed", Holds::Text, "How it moves."),
        Key::required("max_loops", Holds::Whole(0, 1000), "How often it looks again."),
        Key::required("convergence_threshold", SHARE, "How sure it must be."),
        Key::required("shortcut_affinity", SHARE, "How readily it takes a shortcut."),
        Key::required("evidence_depth", Holds::Whole(0, 1000), "How many pieces of evidence it gathers."),
        Key::required("failure_mode", Holds::Text, "What it does wrong when it does wrong."),
        Key::new("colour", Holds::Text, "What pictures show it in."),
    ],
};

/// The names of what an element is like: its traits.
pub(super) fn traits() -> impl Iterator<Item = &'static str> {
    ELEMENT.keys.iter().map(|key| key.name).filter(|name| *name != "colour")
}

const DERIVED: Form = Form {
    what: "a derived element",
    keys: &[
        Key::required("from", Holds::Text, "The element it is derived from."),
        Key::required("fewer_loops", Holds::Number(0.0, 1000.0), "How many loops fewer the most accurate walker makes."),
        Key::required("more_convergence", SHARE, "How much surer the least accurate walker must be."),
        Key::required("failure_mode", Holds::Text, "What it does wrong when it does wrong."),
        Key::new("colour", Holds::Text, "What pictures show it in."),
    ],
};

const CYCLES: Form = Form {
    what: "`cycles`",
    keys: &[
        Key::required("generative", Holds::List(&Holds::Map(&STEP)), "What strengthens what."),
        Key::required("destructive", Holds::List(&Holds::Map(&STEP)), "What overcomes what."),
    ],
};

const STEP: Form = Form {
    what: "a step of a cycle",
    keys: &[
        Key::required("from", Holds::Text, "An element."),
        Key::required("to", Holds::Text, "The element it leads to; itself, if it goes with any."),
        Key::new("meaning", Holds::Text, "Why."),
    ],
};

const SHARE: Holds = Holds::Number(0.0, 1.0);

const PERSONAS: Form = Form {
    what: "the file of personas",
    keys: &[
        Key::new("positions", Holds::Entries(&Holds::Text), "The zone that each position plays in."),
        Key::required("personas", Holds::Records(&PERSONA, "name"), "The personas, in the order that breaks ties."),
    ],
};

const PERSONA: Form = Form { what: "a persona", keys: WALKER.keys };

/// A walker of a pipeline's own: like a persona.
pub(super) const WALKER: Form = Form {
    what: "a walker of the team",
    keys: &[
        Key::required("name", Holds::Text, "What it is called."),
        Key::new("colour", Holds::Text, "The name of its colour, which it signs with."),
        Key::new("hex", Holds::Text, "That colour, as `#rrggbb`."),
        Key::new("element", Holds::Text, "Its element (`asterisk show elements`)."),
        Key::new("position", Holds::Text, "Where it plays; one of `positions`."),
        Key::new("side", Holds::Word(&["light", "shadow"]), "Whether it looks for the cause or contests it."),
        Key::new("home", Holds::Text, "The zone it feels at home in."),
        Key::new("stickiness", Holds::Whole(0, 3), "How strongly it keeps to that zone: 0 (free) to 3 (exclusive)."),
        Key::new("affinities", Holds::Entries(&Holds::Number(-1.0, 1.0)), "How well nodes suit it, by name; none is 0."),
        Key::new("tags", Holds::List(&Holds::Text), "What it is like."),
        Key::new("preamble", Holds::Text, "What a prompt says of it."),
        Key::new("via", Holds::List(&Holds::Text), "Who answers what it is to answer, tried in this order."),
        Key::new("masks", Holds::List(&Holds::Text), "The masks it brings to the nodes they are for (`masks/NAME.rhai`)."),
    ],
};
