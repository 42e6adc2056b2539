//! `data/policy.yaml`: the agents and advisors that pipelines of stages name, and presets of policies.

use asterisk_form::{Form, FormKey, ValueForm};
use asterisk_pipeline::POLICY;

/// The form of `data/policy.yaml`.
pub(super) const POLICY_FILE: Form = Form {
    what: "the file of agents, advisors and presets",
    keys: &[
        FormKey::required("defaults", ValueForm::Map(&DEFAULTS), "The defaults."),
        FormKey::new("agents", ValueForm::Entries(&ValueForm::Map(&AGENT)), "The agents, by name."),
        FormKey::new("advisors", ValueForm::Entries(&ValueForm::Map(&ADVISOR)), "The advisors, by name."),
        FormKey::new("presets", ValueForm::Entries(&ValueForm::Map(&POLICY)), "Policies that `--preset` names."),
    ],
    ..Form::PLAIN
};

const DEFAULTS: Form = Form {
    what: "the defaults",
    keys: &[
        FormKey::required("min_score", ValueForm::Number(0.0, 1.0), "The minimum score of an answer."),
        FormKey::required("max_retries", ValueForm::Whole(0, 1000), "The number of retries."),
        FormKey::required("timeout", ValueForm::Number(0.0, f64::MAX), "The timeout of an answer in seconds."),
        FormKey::new(
            "council",
            ValueForm::Script,
            "The function that combines the reviews of several advisors into a decision: fn council(question).",
        ),
    ],
    ..Form::PLAIN
};

const AGENT: Form = Form {
    what: "an agent",
    keys: &[
        FormKey::required("script", ValueForm::Script, "The function that answers: fn name(params, vars)."),
        FormKey::new("version", ValueForm::Text, "Its version; a change invalidates cached answers."),
        FormKey::new("min_score", ValueForm::Number(0.0, 1.0), "The minimum score of its answers."),
        FormKey::new(
            "via",
            ValueForm::List(&ValueForm::Text),
            "The answerers to use instead of the script, tried in this order.",
        ),
        FormKey::new("description", ValueForm::Text, "Its purpose."),
    ],
    ..Form::PLAIN
};

const ADVISOR: Form = Form {
    what: "an advisor",
    keys: &[
        FormKey::new("script", ValueForm::Script, "The function that reviews: fn review(output, task, context)."),
        FormKey::new(
            "via",
            ValueForm::List(&ValueForm::Text),
            "The answerers that review instead of the script, tried in this order.",
        ),
        FormKey::new("description", ValueForm::Text, "Its review criteria, which are shown to answerers."),
    ],
    ..Form::PLAIN
};
