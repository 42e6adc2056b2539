//! The keys of a vocabulary.

use crate::project::form::{Form, Holds, Key};

/// A vocabulary.
pub(super) const DOMAIN: Form = Form {
    what: "a vocabulary",
    keys: &[
        Key::new("extends", Holds::Text, "The vocabulary that this one adds to, by name."),
        Key::new("description", Holds::Text, "What it is for, in a sentence."),
        Key::required("defects", Holds::Entries(&Holds::Map(&DEFECT)), "The verdicts an investigation may come to, by code."),
        Key::required("categories", Holds::Entries(&Holds::Map(&CATEGORY)), "The kinds of symptoms, by name."),
        Key::required("severities", Holds::Records(&SEVERITY, "name"), "How bad a failure may be, worst first."),
        Key::new(
            "markers",
            Holds::Entries(&Holds::List(&Holds::Pattern(0))),
            "Lists of patterns that signatures refer to by name; what a vocabulary lists is added to what it extends.",
        ),
        Key::required("signatures", Holds::Records(&SIGNATURE, "id"), "What failures look like, and what they then are."),
        Key::new("components", Holds::Entries(&Holds::Map(&COMPONENT)), "The parts of the product and its tests, by name."),
        Key::new("repositories", Holds::Entries(&Holds::Map(&REPOSITORY)), "The repositories, by name."),
        Key::new(
            "roles",
            Holds::Entries(&Holds::Pattern(0)),
            "For a category, what the name or purpose of a repository of its kind says.",
        ),
        Key::new("red_herrings", Holds::List(&Holds::Map(&RED_HERRING)), "What looks guilty and is not."),
        Key::new(
            "component_attributes",
            Holds::List(&Holds::Text),
            "Attributes of a case or launch that name the component outright.",
        ),
        Key::new("version_attributes", Holds::List(&Holds::Pattern(0)), "Attributes that name a version of what was tested."),
        Key::new("telling", Holds::List(&Holds::Pattern(0)), "What a line of a log has in it when it is worth a look."),
        Key::new("glossary", Holds::Entries(&Holds::Text), "Words of the trade and what they mean, for prompts."),
    ],
};

const DEFECT: Form = Form {
    what: "a defect",
    keys: &[
        Key::required("name", Holds::Text, "What people call it."),
        Key::required("means", Holds::Text, "What it says of the failure."),
        Key::new("aliases", Holds::List(&Holds::Text), "Other codes that are read as this one."),
        Key::new(
            "issue_type",
            Holds::Text,
            "What ReportPortal calls it: the locator of a defect type of the project; without one nothing is written back there.",
        ),
        Key::new("undecided", Holds::Bool, "It says that nobody knows yet."),
        Key::required("category", Holds::Name("categories"), "The category to name where no evidence speaks for another."),
    ],
};

const CATEGORY: Form = Form {
    what: "a category",
    keys: &[
        Key::required("defect", Holds::Name("defects"), "What such a symptom usually turns out to be."),
        Key::required("means", Holds::Text, "What it says of the failure."),
    ],
};

const SEVERITY: Form = Form {
    what: "a severity",
    keys: &[
        Key::required("name", Holds::Text, "Its name."),
        Key::required("priority", Holds::Text, "The priority that a ticket of it gets."),
    ],
};

const SIGNATURE: Form = Form {
    what: "a signature",
    keys: &[
        Key::required("id", Holds::Text, "Its name; one that the extended vocabulary has as well changes that one, key by key."),
        Key::required("title", Holds::Text, "What it stands for, as the title of a report."),
        Key::required("category", Holds::Name("categories"), "The category of the failure."),
        Key::new("defect", Holds::Name("defects"), "The defect; the category's own if left out."),
        Key::required("certainty", Holds::Number(0.0, 1.0), "How sure one may be of the cause from such a line alone."),
        Key::required("severity", Holds::Text, "How bad it is: the name of a severity."),
        Key::new(
            "near",
            Holds::List(&Holds::Text),
            "Words in small letters, of which a text has one wherever a pattern matches; only for speed.",
        ),
        Key::new("patterns", Holds::List(&Holds::Pattern(0)), "What the line looks like, in any letter case."),
        Key::new("markers", Holds::List(&Holds::Name("markers")), "Lists of patterns under `markers` that count as its own."),
        Key::new("skip", Holds::Bool, "An investigation would find nothing in any repository."),
        Key::new("setup", Holds::Bool, "The test did not get to run: something before it failed."),
        Key::new("clock_skew", Holds::Bool, "Timestamps cannot be trusted."),
        Key::new(
            "by_frame",
            Holds::Bool,
            "The place decides: in the test's code the test is to blame, in the product's the product.",
        ),
        Key::new("symptom", Holds::Bool, "A consequence by nature: whatever else is as certain outranks it."),
        Key::new("weak", Holds::Bool, "It counts only where the line is an error's, not in a log."),
        Key::new("unless_retried", Holds::Bool, "It does not count when the test was tried again and failed each time."),
        Key::new("unless_text", Holds::Pattern(0), "It does not count where the text has this."),
        Key::new("unless_line", Holds::Pattern(0), "It does not count where the line has this."),
        Key::new("pick", Holds::Word(&["first", "last"]), "Which of several lines that match is the telling one."),
        Key::required("means", Holds::Text, "What a person should know."),
        Key::new("next", Holds::List(&Holds::Text), "What a person should do; `{values}` stands for what a check compared."),
        Key::new("next_framed", Holds::List(&Holds::Text), "The same, where a stack frame is known."),
        Key::new("next_unframed", Holds::List(&Holds::Text), "The same, where no stack frame is known."),
    ],
};

const COMPONENT: Form = Form {
    what: "a component",
    keys: &[
        Key::new("purpose", Holds::Text, "What it does."),
        Key::new(
            "patterns",
            Holds::List(&Holds::Pattern(0)),
            "What names it in tests, errors and logs, in any letter case; its own name if left out.",
        ),
        Key::new("paths", Holds::List(&Holds::Pattern(0)), "The paths of its code and of its tests."),
        Key::new("repositories", Holds::List(&Holds::Name("repositories")), "Where its code is, most likely first."),
    ],
};

const REPOSITORY: Form = Form {
    what: "a repository",
    keys: &[
        Key::new("purpose", Holds::Text, "What it holds."),
        Key::new(
            "role",
            Holds::Name("categories"),
            "The category whose failures have their cause in it; what its purpose says if left out.",
        ),
        Key::new("aliases", Holds::List(&Holds::Text), "Other names of the same repository: forks, mirrors, downstream copies."),
        Key::new("paths", Holds::List(&Holds::Pattern(0)), "The paths by which a file is known to be of it."),
        Key::new("focus", Holds::List(&Holds::Text), "Where in it to begin."),
    ],
};

const RED_HERRING: Form = Form {
    what: "a red herring",
    keys: &[
        Key::new(
            "repository",
            Holds::Name("repositories"),
            "A repository that is never looked at for its name or purpose alone.",
        ),
        Key::new("message", Holds::Pattern(0), "Lines that are no evidence of anything."),
        Key::required("reason", Holds::Text, "Why it is not to blame."),
    ],
};
