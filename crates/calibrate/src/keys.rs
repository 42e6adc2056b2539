//! The keys of scenarios and of results.

use asterisk_form::{Form, FormKey, MayBeEmpty, ValueForm};

const TEXTS: ValueForm = ValueForm::List(&ValueForm::Text);
const SHARE: ValueForm = ValueForm::Number(0.0, 1.0);

/// The form of a scenario: cases, and what is true of them.
pub(super) const SCENARIO: Form = Form {
    what: "a scenario",
    keys: &[
        FormKey::required("name", ValueForm::Text, "Its name."),
        FormKey::new("description", ValueForm::Label, "What its cases have in common."),
        FormKey::new("domain", ValueForm::Label, "The domain of its cases, unless the command names one."),
        FormKey::new("rcas", ValueForm::Records(&CAUSE, "id"), "The true root causes."),
        FormKey::new("symptoms", ValueForm::Records(&SYMPTOM, "id"), "The symptoms that the causes show."),
        FormKey::required("cases", ValueForm::Records(&CASE, "id"), "The failures, in chronological order."),
        FormKey::new("workspace", ValueForm::Map(&WORKSPACE), "The repositories searched for causes."),
        FormKey::new("dry_capped_metrics", TEXTS, "The ids of metrics without a threshold when answers are canned."),
    ],
    empty: MayBeEmpty::All,
    ..Form::PLAIN
};

const CAUSE: Form = Form {
    what: "a root cause",
    keys: &[
        FormKey::required("id", ValueForm::Text, "Its id; cases refer to it."),
        FormKey::required("defect_type", ValueForm::Text, "The code of its defect."),
        FormKey::new("title", ValueForm::Label, "Its title."),
        FormKey::new("description", ValueForm::Label, "What happened, and why."),
        FormKey::new("category", ValueForm::Label, "The category of its symptoms."),
        FormKey::new("component", ValueForm::Label, "The faulty component."),
        FormKey::new("affected_versions", TEXTS, "The affected versions."),
        FormKey::new("jira_id", ValueForm::Label, "Its ticket."),
        FormKey::new("required_keywords", TEXTS, "Words that a good message contains."),
        FormKey::new("keyword_threshold", ValueForm::Whole(0, 1000), "The number of them that suffices; by default all."),
        FormKey::new("relevant_repos", TEXTS, "The faulty repositories."),
        FormKey::new("fix_prs", TEXTS, "The changes that fixed it."),
        FormKey::new("smoking_gun", ValueForm::Label, "A description of the evidence."),
        FormKey::new("verified", ValueForm::Bool, "Whether a person confirmed it."),
    ],
    empty: MayBeEmpty::All,
    ..Form::PLAIN
};

const SYMPTOM: Form = Form {
    what: "a symptom",
    keys: &[
        FormKey::required("id", ValueForm::Text, "Its id."),
        FormKey::new("name", ValueForm::Label, "Its name."),
        FormKey::new("error_pattern", ValueForm::Label, "What its errors look like."),
        FormKey::new("component", ValueForm::Label, "The component that shows it."),
        FormKey::new("maps_to_rca", ValueForm::Label, "The id of its root cause."),
    ],
    empty: MayBeEmpty::All,
    ..Form::PLAIN
};

/// The form of a case.
pub(super) const CASE: Form = Form {
    what: "a case",
    keys: &[
        FormKey::required("id", ValueForm::Text, "Its id."),
        FormKey::new("project", ValueForm::Label, "The project of the failure; each project has its own memory."),
        FormKey::new("ecosystem", ValueForm::Label, "The language or tool of the test."),
        FormKey::new("version", ValueForm::Label, "The version that was tested."),
        FormKey::new("job", ValueForm::Label, "The job that ran the test."),
        FormKey::new("suite", ValueForm::Label, "The suite of the test."),
        FormKey::new("test_name", ValueForm::Label, "The name of the test."),
        FormKey::new("test_id", ValueForm::Label, "The id of the test."),
        FormKey::new("error_message", ValueForm::Label, "The error."),
        FormKey::new("log_snippet", ValueForm::Label, "The log."),
        FormKey::new(
            "launch",
            ValueForm::Label,
            "The launch file that the failure is in, relative to the scenario; cases of one file are analysed together.",
        ),
        FormKey::new("case", ValueForm::Label, "Which failure of the launch, by id or name; the first by default."),
        FormKey::new("symptom_id", ValueForm::Label, "The id of its symptom."),
        FormKey::new("rca_id", ValueForm::Label, "The id of its root cause; without one, it has none."),
        FormKey::new("defect_type", ValueForm::Label, "The code of its defect, if it names no root cause."),
        FormKey::new("component", ValueForm::Label, "The faulty component, if it names no root cause."),
        FormKey::new("category", ValueForm::Label, "The category of the symptom, if it names no root cause."),
        FormKey::new("group", ValueForm::Label, "The group of failures of its launch with one cause."),
        FormKey::new("decidable", ValueForm::Bool, "Whether its text is sufficient to decide; `true` by default."),
        FormKey::new(
            "hold_out",
            ValueForm::Bool,
            "Whether it was not used to write rules; such cases are also scored separately.",
        ),
        FormKey::new("expected_path", TEXTS, "The codes of the nodes that its walk should visit."),
        FormKey::new("expected_recall", ValueForm::Map(&RECALL), "The correct recall."),
        FormKey::new("expected_triage", ValueForm::Map(&TRIAGE), "The correct triage."),
        FormKey::new("expected_resolve", ValueForm::Map(&RESOLVE), "The correct repositories."),
        FormKey::new("expected_invest", ValueForm::Map(&INVESTIGATION), "The correct investigation."),
        FormKey::new("expected_correlate", ValueForm::Map(&CORRELATION), "The correct correlation."),
        FormKey::new("expected_review", ValueForm::Map(&REVIEW), "The correct review."),
        FormKey::new("expect_recall_hit", ValueForm::Bool, "Whether it should be recalled as a known failure."),
        FormKey::new("expect_skip", ValueForm::Bool, "Whether its investigation should be skipped."),
        FormKey::new("expect_cascade", ValueForm::Bool, "Whether it is a consequence of another failure."),
        FormKey::new("expected_loops", ValueForm::Whole(0, 100), "How often the investigation should loop."),
        FormKey::new("expected_verdict", ValueForm::Label, "The correct decision of the court."),
        FormKey::new("rp_launch_id", ValueForm::Any, "The number of its launch in ReportPortal."),
        FormKey::new("rp_item_id", ValueForm::Any, "The number of its item in ReportPortal."),
    ],
    empty: MayBeEmpty::All,
    ..Form::PLAIN
};

const RECALL: Form = Form {
    what: "the expected recall",
    keys: &[FormKey::new("match", ValueForm::Bool, "Whether it is known."), FormKey::new("confidence", SHARE, "The confidence.")],
    empty: MayBeEmpty::All,
    ..Form::PLAIN
};

const TRIAGE: Form = Form {
    what: "the expected triage",
    keys: &[
        FormKey::new("symptom_category", ValueForm::Label, "The category."),
        FormKey::new("severity", ValueForm::Label, "The severity."),
        FormKey::new("defect_type_hypothesis", ValueForm::Label, "The suspected defect."),
        FormKey::new("candidate_repos", TEXTS, "The suspected repositories."),
        FormKey::new("skip_investigation", ValueForm::Bool, "Whether no investigation is needed."),
        FormKey::new("cascade_suspected", ValueForm::Bool, "Whether it is a consequence of another failure."),
        FormKey::new("clock_skew_suspected", ValueForm::Bool, "Whether timestamps are unreliable."),
        FormKey::new("data_quality_notes", ValueForm::Label, "The problem with the texts."),
    ],
    empty: MayBeEmpty::All,
    ..Form::PLAIN
};

const RESOLVE: Form = Form {
    what: "the expected repositories",
    keys: &[FormKey::new("selected_repos", ValueForm::Records(&SELECTED, "name"), "The repositories.")],
    empty: MayBeEmpty::All,
    ..Form::PLAIN
};

const SELECTED: Form = Form {
    what: "a repository",
    keys: &[
        FormKey::required("name", ValueForm::Text, "Its name."),
        FormKey::new("reason", ValueForm::Label, "Why it is inspected."),
    ],
    empty: MayBeEmpty::All,
    ..Form::PLAIN
};

const INVESTIGATION: Form = Form {
    what: "the expected investigation",
    keys: &[
        FormKey::new("rca_message", ValueForm::Label, "The message."),
        FormKey::new("defect_type", ValueForm::Label, "The defect."),
        FormKey::new("component", ValueForm::Label, "The component."),
        FormKey::new("convergence_score", SHARE, "The confidence."),
        FormKey::new("evidence_refs", TEXTS, "The evidence."),
    ],
    empty: MayBeEmpty::All,
    ..Form::PLAIN
};

const CORRELATION: Form = Form {
    what: "the expected correlation",
    keys: &[
        FormKey::new("is_duplicate", ValueForm::Bool, "Whether it has the same cause as an earlier case."),
        FormKey::new("confidence", SHARE, "The confidence."),
        FormKey::new("cross_version_match", ValueForm::Bool, "Whether other versions are affected."),
    ],
    empty: MayBeEmpty::All,
    ..Form::PLAIN
};

const REVIEW: Form = Form {
    what: "the expected review",
    keys: &[FormKey::new("decision", ValueForm::Label, "The decision.")],
    empty: MayBeEmpty::All,
    ..Form::PLAIN
};

const WORKSPACE: Form = Form {
    what: "the workspace",
    keys: &[FormKey::new("repos", ValueForm::Records(&REPOSITORY, "name"), "The repositories.")],
    empty: MayBeEmpty::All,
    ..Form::PLAIN
};

const REPOSITORY: Form = Form {
    what: "a repository",
    keys: &[
        FormKey::required("name", ValueForm::Text, "Its name."),
        FormKey::new("path", ValueForm::Label, "Its checkout, used if it exists."),
        FormKey::new("purpose", ValueForm::Label, "Its contents."),
        FormKey::new("branch", ValueForm::Label, "Its branch."),
        FormKey::new("relevant_to_rcas", TEXTS, "The ids of the causes in it."),
        FormKey::new("is_red_herring", ValueForm::Bool, "Whether it is a red herring."),
    ],
    empty: MayBeEmpty::All,
    ..Form::PLAIN
};

/// The form of what a walk came to; other keys of a result are ignored.
pub(super) const RESULT: Form = Form {
    what: "a result",
    keys: &[
        FormKey::required("case_id", ValueForm::Text, "The id of the case."),
        FormKey::new("actual_path", TEXTS, "The codes of the nodes."),
        FormKey::new("actual_defect_type", ValueForm::Label, "The defect."),
        FormKey::new("actual_category", ValueForm::Label, "The category."),
        FormKey::new("actual_recall_hit", ValueForm::Bool, "Whether it was recalled."),
        FormKey::new("actual_skip", ValueForm::Bool, "Whether the investigation was skipped."),
        FormKey::new("actual_cascade", ValueForm::Bool, "Whether a cascade was suspected."),
        FormKey::new("actual_selected_repos", TEXTS, "The repositories."),
        FormKey::new("actual_evidence_refs", ValueForm::List(&ValueForm::Label), "The evidence."),
        FormKey::new("actual_rca_id", ValueForm::Whole(0, i64::MAX), "The stored root cause."),
        FormKey::new("actual_rca_message", ValueForm::Label, "The message."),
        FormKey::new("actual_component", ValueForm::Label, "The component."),
        FormKey::new("actual_convergence", ValueForm::Number(0.0, 1.0), "The confidence of the investigation."),
        FormKey::new("actual_loops", ValueForm::Whole(0, i64::MAX), "How often it looped."),
        FormKey::new("prompt_tokens_total", ValueForm::Whole(0, i64::MAX), "The tokens of its prompts."),
        FormKey::new("confidence", ValueForm::Number(0.0, 1.0), "The confidence of the conclusion."),
        FormKey::new("decided", ValueForm::Bool, "Whether the conclusion names a defect."),
        FormKey::new("cause_key", ValueForm::Label, "The key shared by cases of one cause."),
        FormKey::new("title", ValueForm::Label, "The title of the conclusion."),
        FormKey::new("court_activated", ValueForm::Bool, "Whether the court tried it."),
        FormKey::new("court_verdict", ValueForm::Label, "The decision of the court."),
        FormKey::new("court_flipped", ValueForm::Bool, "Whether the court changed the defect."),
        FormKey::new("court_final_defect", ValueForm::Label, "The defect after the court."),
        FormKey::new("court_remands", ValueForm::Whole(0, i64::MAX), "How often the court sent it back."),
    ],
    empty: MayBeEmpty::All,
    ..Form::PLAIN
};
