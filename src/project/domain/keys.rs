//! The keys of a vocabulary.

use crate::form::{Form, FormKey, ValueForm};

/// A vocabulary.
pub(super) const DOMAIN: Form = Form {
    what: "a vocabulary",
    keys: &[
        FormKey::new("extends", ValueForm::Text, "The vocabulary that this one adds to, by name."),
        FormKey::new(
            "include",
            ValueForm::List(&ValueForm::Text),
            "Files of signatures that are added: `data/signatures/NAME.yaml` each.",
        ),
        FormKey::new("description", ValueForm::Text, "What it is for, in a sentence."),
        FormKey::required(
            "defects",
            ValueForm::Entries(&ValueForm::Map(&DEFECT)),
            "The verdicts an investigation may come to, by code.",
        ),
        FormKey::required("categories", ValueForm::Entries(&ValueForm::Map(&CATEGORY)), "The kinds of symptoms, by name."),
        FormKey::required("severities", ValueForm::Records(&SEVERITY, "name"), "How bad a failure may be, worst first."),
        FormKey::new(
            "markers",
            ValueForm::Entries(&ValueForm::List(&ValueForm::Pattern(0))),
            "Lists of patterns that signatures refer to by name; what a vocabulary lists is added to what it extends.",
        ),
        FormKey::new("signatures", ValueForm::Records(&SIGNATURE, "id"), "What failures look like, and what they then are."),
        FormKey::new(
            "components",
            ValueForm::Entries(&ValueForm::Map(&COMPONENT)),
            "The parts of the product and its tests, by name.",
        ),
        FormKey::new("repositories", ValueForm::Entries(&ValueForm::Map(&REPOSITORY)), "The repositories, by name."),
        FormKey::new(
            "roles",
            ValueForm::Entries(&ValueForm::Pattern(0)),
            "For a category, what the name or purpose of a repository of its kind says.",
        ),
        FormKey::new("red_herrings", ValueForm::List(&ValueForm::Map(&RED_HERRING)), "What looks guilty and is not."),
        FormKey::new(
            "component_attributes",
            ValueForm::List(&ValueForm::Text),
            "Attributes of a case or launch that name the component outright.",
        ),
        FormKey::new(
            "version_attributes",
            ValueForm::List(&ValueForm::Pattern(0)),
            "Attributes that name a version of what was tested.",
        ),
        FormKey::new("glossary", ValueForm::Entries(&ValueForm::Text), "Words of the trade and what they mean, for prompts."),
    ],
    ..Form::PLAIN
};

const DEFECT: Form = Form {
    what: "a defect",
    keys: &[
        FormKey::required("name", ValueForm::Text, "What people call it."),
        FormKey::required("means", ValueForm::Text, "What it says of the failure."),
        FormKey::new("aliases", ValueForm::List(&ValueForm::Text), "Other codes that are read as this one."),
        FormKey::new(
            "issue_type",
            ValueForm::Text,
            "What ReportPortal calls it: the locator of a defect type of the project; without one nothing is written back there.",
        ),
        FormKey::new("undecided", ValueForm::Bool, "It says that nobody knows yet."),
        FormKey::required(
            "category",
            ValueForm::Name("categories"),
            "The category to name where no evidence speaks for another.",
        ),
    ],
    ..Form::PLAIN
};

const CATEGORY: Form = Form {
    what: "a category",
    keys: &[
        FormKey::required("defect", ValueForm::Name("defects"), "What such a symptom usually turns out to be."),
        FormKey::required("means", ValueForm::Text, "What it says of the failure."),
    ],
    ..Form::PLAIN
};

const SEVERITY: Form = Form {
    what: "a severity",
    keys: &[
        FormKey::required("name", ValueForm::Text, "Its name."),
        FormKey::required("priority", ValueForm::Text, "The priority that a ticket of it gets."),
    ],
    ..Form::PLAIN
};

const SIGNATURE: Form = Form {
    what: "a signature",
    keys: &[
        FormKey::required(
            "id",
            ValueForm::Text,
            "Its name; one that the extended vocabulary has as well changes that one, key by key.",
        ),
        FormKey::required("title", ValueForm::Text, "What it stands for, as the title of a report."),
        FormKey::required("category", ValueForm::Name("categories"), "The category of the failure."),
        FormKey::new("defect", ValueForm::Name("defects"), "The defect; the category's own if left out."),
        FormKey::required("certainty", ValueForm::Number(0.0, 1.0), "How sure one may be of the cause from such a line alone."),
        FormKey::required("severity", ValueForm::Text, "How bad it is: the name of a severity."),
        FormKey::new("patterns", ValueForm::List(&ValueForm::Pattern(0)), "What the line looks like, in any letter case."),
        FormKey::new(
            "markers",
            ValueForm::List(&ValueForm::Name("markers")),
            "Lists of patterns under `markers` that count as its own.",
        ),
        FormKey::new("skip", ValueForm::Bool, "An investigation would find nothing in any repository."),
        FormKey::new("setup", ValueForm::Bool, "The test did not get to run: something before it failed."),
        FormKey::new("clock_skew", ValueForm::Bool, "Timestamps cannot be trusted."),
        FormKey::new(
            "by_frame",
            ValueForm::Bool,
            "The place decides: in the test's code the test is to blame, in the product's the product.",
        ),
        FormKey::new("symptom", ValueForm::Bool, "A consequence by nature: whatever else is as certain outranks it."),
        FormKey::new("weak", ValueForm::Bool, "It counts only where the line is an error's, not in a log."),
        FormKey::new("unless_retried", ValueForm::Bool, "It does not count when the test was tried again and failed each time."),
        FormKey::new("unless_text", ValueForm::Pattern(0), "It does not count where the text has this."),
        FormKey::new("unless_line", ValueForm::Pattern(0), "It does not count where the line has this."),
        FormKey::new("subject", ValueForm::Pattern(1), "What the line is about: the first group."),
        FormKey::new("title_of", ValueForm::Text, "The title where the subject is known, which `{subject}` stands for."),
        FormKey::new("component", ValueForm::Text, "What failed, where the line does not name it: `disk`, `memory`."),
        FormKey::new("accepts", ValueForm::List(&ValueForm::Text), "Lines that it matches; `asterisk lint` checks them."),
        FormKey::new(
            "rejects",
            ValueForm::List(&ValueForm::Text),
            "Lines that look alike and that it does not match; `asterisk lint` checks them.",
        ),
        FormKey::new("pick", ValueForm::Word(&["first", "last"]), "Which of several lines that match is the telling one."),
        FormKey::required("means", ValueForm::Text, "What a person should know."),
        FormKey::new(
            "next",
            ValueForm::List(&ValueForm::Text),
            "What a person should do; `{values}` stands for what a check compared.",
        ),
        FormKey::new("next_framed", ValueForm::List(&ValueForm::Text), "The same, where a stack frame is known."),
        FormKey::new("next_unframed", ValueForm::List(&ValueForm::Text), "The same, where no stack frame is known."),
    ],
    ..Form::PLAIN
};

const COMPONENT: Form = Form {
    what: "a component",
    keys: &[
        FormKey::new("purpose", ValueForm::Text, "What it does."),
        FormKey::new(
            "patterns",
            ValueForm::List(&ValueForm::Pattern(0)),
            "What names it in tests, errors and logs, in any letter case; its own name if left out.",
        ),
        FormKey::new("paths", ValueForm::List(&ValueForm::Pattern(0)), "The paths of its code and of its tests."),
        FormKey::new("repositories", ValueForm::List(&ValueForm::Name("repositories")), "Where its code is, most likely first."),
    ],
    ..Form::PLAIN
};

const REPOSITORY: Form = Form {
    what: "a repository",
    keys: &[
        FormKey::new("purpose", ValueForm::Text, "What it holds."),
        FormKey::new(
            "role",
            ValueForm::Name("categories"),
            "The category whose failures have their cause in it; what its purpose says if left out.",
        ),
        FormKey::new(
            "aliases",
            ValueForm::List(&ValueForm::Text),
            "Other names of the same repository: forks, mirrors, downstream copies.",
        ),
        FormKey::new("paths", ValueForm::List(&ValueForm::Pattern(0)), "The paths by which a file is known to be of it."),
        FormKey::new("focus", ValueForm::List(&ValueForm::Text), "Where in it to begin."),
    ],
    ..Form::PLAIN
};

const RED_HERRING: Form = Form {
    what: "a red herring",
    keys: &[
        FormKey::new(
            "repository",
            ValueForm::Name("repositories"),
            "A repository that is never looked at for its name or purpose alone.",
        ),
        FormKey::new("message", ValueForm::Pattern(0), "Lines that are no evidence of anything."),
        FormKey::required("reason", ValueForm::Text, "Why it is not to blame."),
    ],
    ..Form::PLAIN
};
