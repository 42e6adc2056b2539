//! `data/policy.yaml`: the agents and advisors that pipelines of stages name, and presets of policies.

use crate::form::{Form, FormKey, ValueForm};
use crate::pipeline::POLICY;

/// The form of `data/policy.yaml`.
pub(super) const POLICY_FILE: Form = Form {
    what: "the file of agents, advisors and presets",
    keys: &[
        FormKey::required("defaults", ValueForm::Map(&DEFAULTS), "What holds where nothing else is said."),
        FormKey::new("agents", ValueForm::Entries(&ValueForm::Map(&AGENT)), "The agents, by name."),
        FormKey::new("advisors", ValueForm::Entries(&ValueForm::Map(&ADVISOR)), "The advisors, by name."),
        FormKey::new("presets", ValueForm::Entries(&ValueForm::Map(&POLICY)), "Policies that `--preset` names."),
    ],
    ..Form::PLAIN
};

const DEFAULTS: Form = Form {
    what: "the defaults",
    keys: &[
        FormKey::required("min_score", ValueForm::Number(0.0, 1.0), "The least score of an answer."),
        FormKey::required("max_retries", ValueForm::Whole(0, 1000), "How often an answer is requested again."),
        FormKey::required("timeout", ValueForm::Number(0.0, f64::MAX), "How long an answer may take, in seconds."),
        FormKey::new(
            "council",
            ValueForm::Script,
            "The function that decides by the reviews of several advisors: fn council(question).",
        ),
    ],
    ..Form::PLAIN
};

const AGENT: Form = Form {
    what: "an agent",
    keys: &[
        FormKey::required("script", ValueForm::Script, "The function that answers: fn name(params, vars)."),
        FormKey::new("version", ValueForm::Text, "Its version; another one makes what is cached invalid."),
        FormKey::new("min_score", ValueForm::Number(0.0, 1.0), "The least score of its answers."),
        FormKey::new("via", ValueForm::List(&ValueForm::Text), "Who answers instead of the script, in the order to be tried."),
        FormKey::new("description", ValueForm::Text, "What it does."),
    ],
    ..Form::PLAIN
};

const ADVISOR: Form = Form {
    what: "an advisor",
    keys: &[
        FormKey::new("script", ValueForm::Script, "The function that reviews: fn review(output, task, context)."),
        FormKey::new("via", ValueForm::List(&ValueForm::Text), "Who reviews instead of the script, in the order to be tried."),
        FormKey::new("description", ValueForm::Text, "What it looks at; answerers are told."),
    ],
    ..Form::PLAIN
};
