//! The keys of a domain.

use asterisk_form::{Form, FormKey, ValueForm};

/// The form of a domain.
pub(super) const DOMAIN: Form = Form {
    what: "a domain",
    keys: &[
        FormKey::new("extends", ValueForm::Text, "The domain that this one extends, by name."),
        FormKey::new(
            "include",
            ValueForm::List(&ValueForm::Text),
            "Files of signatures to include: `data/signatures/NAME.yaml` each.",
        ),
        FormKey::new("description", ValueForm::Text, "Its purpose, in a sentence."),
        FormKey::required("defects", ValueForm::Entries(&ValueForm::Map(&DEFECT)), "The possible defects, by code."),
        FormKey::required("categories", ValueForm::Entries(&ValueForm::Map(&CATEGORY)), "The kinds of symptoms, by name."),
        FormKey::required("severities", ValueForm::Records(&SEVERITY, "name"), "The severities of failures, worst first."),
        FormKey::new(
            "markers",
            ValueForm::Entries(&ValueForm::List(&ValueForm::Pattern(0))),
            "Lists of patterns that signatures refer to by name; a domain appends to those it extends.",
        ),
        FormKey::new("topic", ValueForm::Text, "The topic of the signatures of this file that name none themselves."),
        FormKey::new("signatures", ValueForm::Records(&SIGNATURE, "id"), "Signatures of known failures."),
        FormKey::new(
            "components",
            ValueForm::Entries(&ValueForm::Map(&COMPONENT)),
            "The parts of the product and its tests, by name.",
        ),
        FormKey::new("repositories", ValueForm::Entries(&ValueForm::Map(&REPOSITORY)), "The repositories, by name."),
        FormKey::new(
            "roles",
            ValueForm::Entries(&ValueForm::Pattern(0)),
            "A pattern of the name or purpose of its repositories, by category.",
        ),
        FormKey::new(
            "red_herrings",
            ValueForm::List(&ValueForm::Map(&RED_HERRING)),
            "Repositories and messages to ignore as causes.",
        ),
        FormKey::new(
            "component_attributes",
            ValueForm::List(&ValueForm::Text),
            "Attributes of a case or launch that name the component.",
        ),
        FormKey::new(
            "priors",
            ValueForm::Entries(&ValueForm::Number(-20.0, 20.0)),
            "The prior log-odds of defects, which replace those of the pipeline's `verdict`: how frequent each defect is here.",
        ),
        FormKey::new(
            "version_attributes",
            ValueForm::List(&ValueForm::Pattern(0)),
            "Attributes with the version that was tested.",
        ),
        FormKey::new("glossary", ValueForm::Entries(&ValueForm::Text), "Terms of the domain with their meanings, for prompts."),
    ],
    ..Form::PLAIN
};

const DEFECT: Form = Form {
    what: "a defect",
    keys: &[
        FormKey::required("name", ValueForm::Text, "Its display name."),
        FormKey::required("means", ValueForm::Text, "What it means for the failure."),
        FormKey::new("aliases", ValueForm::List(&ValueForm::Text), "Other codes for the same defect."),
        FormKey::new(
            "issue_type",
            ValueForm::Text,
            "The locator of a defect type of the ReportPortal project; without one, nothing is written back there.",
        ),
        FormKey::new("undecided", ValueForm::Bool, "Whether the defect is not decided yet."),
        FormKey::required("category", ValueForm::Name("categories"), "The category, unless evidence supports another."),
        FormKey::new(
            "colour",
            ValueForm::Word(&["red", "orange", "olive", "teal", "sky", "blue", "purple", "pink", "grey"]),
            "Its colour in reports; grey without one.",
        ),
    ],
    ..Form::PLAIN
};

const CATEGORY: Form = Form {
    what: "a category",
    keys: &[
        FormKey::required("defect", ValueForm::Name("defects"), "The usual defect of such a symptom."),
        FormKey::required("means", ValueForm::Text, "What it means for the failure."),
    ],
    ..Form::PLAIN
};

const SEVERITY: Form = Form {
    what: "a severity",
    keys: &[
        FormKey::required("name", ValueForm::Text, "Its name."),
        FormKey::required("priority", ValueForm::Text, "The priority of its tickets."),
    ],
    ..Form::PLAIN
};

const SIGNATURE: Form = Form {
    what: "a signature",
    keys: &[
        FormKey::required(
            "id",
            ValueForm::Text,
            "Its id; it overrides the keys of a signature with the same id in the extended domain.",
        ),
        FormKey::required("title", ValueForm::Text, "Its title in a report."),
        FormKey::required("category", ValueForm::Name("categories"), "The category of the failure."),
        FormKey::new("defect", ValueForm::Name("defects"), "The defect; by default that of the category."),
        FormKey::new(
            "weights",
            ValueForm::Entries(&ValueForm::Number(-20.0, 20.0)),
            "What it adds to the log-odds of defects, by code, or 0; by default the log-odds of its certainty for its defect, or nothing if `owner` decides.",
        ),
        FormKey::new(
            "group",
            ValueForm::Text,
            "Its theme: of all signatures and rules of a group, only the strongest counts; its category by default.",
        ),
        FormKey::new(
            "topic",
            ValueForm::Text,
            "Its topic, for rules: `network`, `assertions`; by default the `topic` of its file.",
        ),
        FormKey::required("certainty", ValueForm::Number(0.0, 1.0), "The certainty of the cause from such a line alone."),
        FormKey::required("severity", ValueForm::Text, "The name of its severity."),
        FormKey::new("patterns", ValueForm::List(&ValueForm::Pattern(0)), "Patterns of the line, case-insensitive."),
        FormKey::new(
            "markers",
            ValueForm::List(&ValueForm::Name("markers")),
            "Names of lists under `markers` whose patterns it also uses.",
        ),
        FormKey::new("skip", ValueForm::Bool, "Whether investigating repositories would not help."),
        FormKey::new("setup", ValueForm::Bool, "Whether the test did not run, because something before it failed."),
        FormKey::new("clock_skew", ValueForm::Bool, "Whether timestamps are unreliable."),
        FormKey::new(
            "by_frame",
            ValueForm::Bool,
            "Whether the location decides: in the test's code the test is the cause, in the product's the product.",
        ),
        FormKey::new(
            "symptom",
            ValueForm::Bool,
            "Whether it is a consequence by nature: any other signature with the same certainty takes precedence.",
        ),
        FormKey::new("weak", ValueForm::Bool, "Whether it applies only to errors, not to logs."),
        FormKey::new("unless_retried", ValueForm::Bool, "It does not apply if the test was retried and failed each time."),
        FormKey::new("unless_text", ValueForm::Pattern(0), "It does not apply if the text matches this."),
        FormKey::new("unless_line", ValueForm::Pattern(0), "It does not apply if the line matches this."),
        FormKey::new("subject", ValueForm::Pattern(1), "The subject of the line: the first group."),
        FormKey::new("title_of", ValueForm::Text, "The title if the subject is known, as `{subject}`."),
        FormKey::new("component", ValueForm::Text, "The failed component, if the line does not name it: `disk`, `memory`."),
        FormKey::new("accepts", ValueForm::List(&ValueForm::Text), "Lines that it matches; `asterisk lint` checks them."),
        FormKey::new(
            "rejects",
            ValueForm::List(&ValueForm::Text),
            "Similar lines that it does not match; `asterisk lint` checks them.",
        ),
        FormKey::new("pick", ValueForm::Word(&["first", "last"]), "Which of several matching lines is used."),
        FormKey::required("means", ValueForm::Text, "An explanation for readers."),
        FormKey::new(
            "next",
            ValueForm::List(&ValueForm::Text),
            "The next steps; `{values}` is replaced by the values that a check compared.",
        ),
        FormKey::new("next_framed", ValueForm::List(&ValueForm::Text), "The next steps if a stack frame is known."),
        FormKey::new("next_unframed", ValueForm::List(&ValueForm::Text), "The next steps if no stack frame is known."),
    ],
    ..Form::PLAIN
};

const COMPONENT: Form = Form {
    what: "a component",
    keys: &[
        FormKey::new("purpose", ValueForm::Text, "Its purpose."),
        FormKey::new(
            "patterns",
            ValueForm::List(&ValueForm::Pattern(0)),
            "Patterns of its name in tests, errors and logs, case-insensitive; its own name by default.",
        ),
        FormKey::new("paths", ValueForm::List(&ValueForm::Pattern(0)), "The paths of its code and of its tests."),
        FormKey::new(
            "repositories",
            ValueForm::List(&ValueForm::Name("repositories")),
            "The repositories with its code, most likely first.",
        ),
    ],
    ..Form::PLAIN
};

const REPOSITORY: Form = Form {
    what: "a repository",
    keys: &[
        FormKey::new("purpose", ValueForm::Text, "Its contents."),
        FormKey::new(
            "role",
            ValueForm::Name("categories"),
            "The category of failures caused in it; derived from its purpose by default.",
        ),
        FormKey::new(
            "aliases",
            ValueForm::List(&ValueForm::Text),
            "Aliases of the repository: forks, mirrors, downstream copies.",
        ),
        FormKey::new("paths", ValueForm::List(&ValueForm::Pattern(0)), "Patterns of the paths of its files."),
        FormKey::new("focus", ValueForm::List(&ValueForm::Text), "Where to start in it."),
    ],
    ..Form::PLAIN
};

const RED_HERRING: Form = Form {
    what: "a red herring",
    keys: &[
        FormKey::new(
            "repository",
            ValueForm::Name("repositories"),
            "A repository that is never inspected for its name or purpose alone.",
        ),
        FormKey::new("message", ValueForm::Pattern(0), "Lines that are not evidence."),
        FormKey::required("reason", ValueForm::Text, "Why it is not the cause."),
    ],
    ..Form::PLAIN
};
