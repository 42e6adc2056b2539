//! The keys of pipeline files.

use super::graph::{DEFAULT_MAX_STEPS, TEAM_MAX_STEPS};
use super::{foreach, schema_words, vars};
use asterisk_form::{DefaultValue, Form, FormKey, MayBeEmpty, ValueForm};
use serde_json::{Value, json};

const STRICT: Form = Form { empty: MayBeEmpty::Collections, ..Form::PLAIN };

const TEXT: ValueForm = ValueForm::Text;
const TEXTS: ValueForm = ValueForm::List(&ValueForm::Text);
const FLAG: ValueForm = ValueForm::Bool;

/// A non-negative integer without an upper bound.
const COUNT: ValueForm = ValueForm::Whole(0, i64::MAX);

#[expect(clippy::cast_possible_wrap, reason = "both are small")]
const STEPS: DefaultValue = DefaultValue::Whole(DEFAULT_MAX_STEPS as i64);
#[expect(clippy::cast_possible_wrap, reason = "both are small")]
const TEAM_STEPS: DefaultValue = DefaultValue::Whole(TEAM_MAX_STEPS as i64);
#[expect(clippy::cast_possible_wrap, reason = "it is small")]
const BRANCHES: DefaultValue = DefaultValue::Whole(foreach::CONCURRENCY as i64);

pub(super) const PIPELINE: Form = Form {
    what: "a pipeline",
    keys: &[
        FormKey::new("pipeline", TEXT, "Its name; commands accept it in place of the file.")
            .sometimes("missing-name", "the pipeline needs a name"),
        FormKey::new("description", ValueForm::Label, "Its purpose."),
        FormKey::new(
            "vars",
            ValueForm::Custom(vars_schema),
            "Settings that its rules see as `vars`: each a default, or `{ default, type, min, max, values, doc }`; `--set NAME=VALUE` and the project file change them.",
        ),
        FormKey::new(
            "phases",
            ValueForm::List(&ValueForm::FirstMatching(&[ValueForm::Map(&PHASE), TEXTS])),
            "Lists of nodes, optionally named: within a wave, no case enters a later phase before all have left the earlier ones.",
        ),
        FormKey::new(
            "clusters",
            ValueForm::Map(&CLUSTERS),
            "Groups similar cases before a phase: the first of each cluster walks the phase before the others.",
        ),
        FormKey::new("zones", ValueForm::Entries(&ValueForm::Map(&ZONE)), "Groups of nodes, by name."),
        FormKey::new("nodes", ValueForm::NonEmptyList(&ValueForm::Map(&NODE)), "The steps; each is answered with an artifact."),
        FormKey::new(
            "edges",
            ValueForm::NonEmptyList(&ValueForm::Map(&EDGE)),
            "The edges between them. Those of a node are tried in file order; the first that fires is taken.",
        ),
        FormKey::new("start", TEXT, "The node where walks begin.").sometimes("missing-start", "the pipeline needs a start"),
        FormKey::new("done", TEXT, "The name of the end, usually `_done`; it cannot be the name of a node.")
            .sometimes("missing-done", "the pipeline does not name its end (`done`)"),
        FormKey::new("max_steps", COUNT, "The maximum number of steps of a walk; 0 for no limit.").default_value(STEPS),
        FormKey::new("thermal", ValueForm::Map(&THERMAL), "The maximum total time of the answers of a case, in milliseconds."),
        FormKey::new(
            "deadline",
            TEXT,
            "The var with the time limit of a case in milliseconds. It bounds every answer, except that of a script that alone answers its node.",
        ),
        FormKey::new(
            "on_rule_error",
            ValueForm::Word(&["stop", "skip"]),
            "The effect of a rule that throws: stop the walk, or treat the edge as not fired.",
        )
        .default_value(DefaultValue::Text("stop")),
        FormKey::new(
            "team",
            ValueForm::Map(&TEAM),
            "The walkers, which are personas or defined here, and the script that chooses one of them for every step.",
        ),
        FormKey::new(
            "verdict",
            ValueForm::Map(&VERDICT),
            "How the defect of a case is decided from its evidence: rules that support or oppose defects.",
        ),
        FormKey::new(
            "roots",
            ValueForm::List(&ValueForm::Map(&ROOT_RULE)),
            "Rules that return the root of a failure as a key. The first rule that returns one decides; cases with equal keys have one cause.",
        ),
        FormKey::new(
            "policy",
            POLICY_OR_FILE,
            "Thresholds, timeouts, retries and councils by category, and the budget; or the path of a file with them, relative to this one.",
        ),
        FormKey::new("memory", ValueForm::Entries(&ValueForm::Any), "Values that tasks may read; `--mem` overrides them."),
        FormKey::new("counters", TEXTS, "Counters that its rules read and the enclosing walk maintains, if it is a subpipeline."),
        FormKey::new(
            "report",
            ValueForm::Script,
            "The function that summarizes a case for the report: fn summary(params, vars).",
        ),
        FormKey::new(
            "result",
            ValueForm::Script,
            "The function that returns the artifact of a node that walks this pipeline: fn name(walk, vars), where `walk` is `{ context, error, node }`. It is also called if a node was not answered: `error` is then a map `{ kind, message }`. By default, the result is the last artifact, and such a failure is one of the case.",
        ),
    ],
    ..STRICT
};

/// The long form of a var.
pub(super) const VAR: Form = Form {
    what: "a var",
    keys: &[
        FormKey::new("default", ValueForm::Any, "Its default value.").named("missing-key", "a var needs a `default`"),
        FormKey::new("type", ValueForm::Word(vars::TYPES), "Its type; by default that of its default value."),
        FormKey::new("min", ValueForm::Number(f64::MIN, f64::MAX), "The minimum value."),
        FormKey::new("max", ValueForm::Number(f64::MIN, f64::MAX), "The maximum value."),
        FormKey::new("values", ValueForm::NonEmptyList(&TEXT), "The allowed values."),
        FormKey::new("doc", TEXT, "Its purpose."),
    ],
    ..STRICT
};

pub(super) const PHASE: Form = Form {
    what: "a phase",
    keys: &[
        FormKey::new(
            "name",
            TEXT,
            "Its name in batch manifests; by default that of its last node. Several phases may share a name.",
        )
        .sometimes("missing-key", "`name` of a phase is empty"),
        FormKey::new("nodes", TEXTS, "Its nodes, by name.").named("missing-key", "a phase needs `nodes`"),
    ],
    ..STRICT
};

pub(super) const CLUSTERS: Form = Form {
    what: "the clusters",
    keys: &[
        FormKey::new("before", TEXT, "A node of the phase before which clusters are formed.")
            .named("missing-key", "`clusters` needs `before`"),
        FormKey::new(
            "by",
            ValueForm::Script,
            "The function that returns the key of a case; cases with equal keys form a cluster.",
        )
        .named("missing-key", "`clusters` needs `by`"),
        FormKey::new("most", ValueForm::Whole(2, 1000), "The maximum number of cases in a cluster.")
            .default_value(DefaultValue::Whole(3)),
    ],
    ..STRICT
};

pub(super) const ZONE: Form = Form {
    what: "a zone",
    keys: &[
        FormKey::new("nodes", TEXTS, "Its nodes, by name."),
        FormKey::new("element", TEXT, "Its element (`asterisk show elements`)."),
        FormKey::new(
            "stickiness",
            ValueForm::Whole(0, 3),
            "How strongly a walker is kept in the zone, 0 (free) to 3 (exclusive).",
        )
        .default_value(DefaultValue::Whole(0)),
    ],
    ..STRICT
};

pub(super) const THERMAL: Form = Form {
    what: "the thermal budget",
    keys: &[
        FormKey::new("warning_ms", COUNT, "The total at which one warning is issued; 0 for none."),
        FormKey::new("ceiling_ms", COUNT, "The total at which the case takes no further step and fails with `limit`."),
    ],
    ..STRICT
};

/// The form of a team.
pub const TEAM: Form = Form {
    what: "a team",
    keys: &[
        FormKey::new(
            "walkers",
            ValueForm::NonEmptyList(&ValueForm::FirstMatching(&[ValueForm::Entries(&ValueForm::Any), TEXT])),
            "Names of personas (`asterisk show personas`), or maps with the keys of a persona.",
        ),
        FormKey::new("scheduler", TEXT, "The script that chooses the walker: fn select(ctx).")
            .named("missing-key", "`team` needs a `scheduler`")
            .examples(&["schedulers/affinity.rhai"]),
        FormKey::new("max_steps", COUNT, "The maximum number of steps of a walk; 0 for no limit.").default_value(TEAM_STEPS),
    ],
    ..STRICT
};

/// The lists of a domain that `known` may name.
pub(super) const KNOWN: &[&str] = &["defects", "categories"];

pub(super) const NODE: Form = Form {
    what: "a node",
    id: Some("name"),
    keys: &[
        FormKey::new("name", TEXT, "Its name, unique in the pipeline.").named("node-name-missing", "a node needs a name"),
        FormKey::new("code", TEXT, "A short code, used in reports, paths and signals."),
        FormKey::new("element", TEXT, "Its element (`asterisk show elements`)."),
        FormKey::new("family", TEXT, "The base name of its responder and prompt, if they are not given; its name by default."),
        FormKey::new("prompt", TEXT, "The template of its prompt, relative to the templates."),
        FormKey::new("artifact", TEXT, "The file name of its artifact."),
        FormKey::new("confidence", TEXT, "The field with the confidence of the artifact."),
        FormKey::new(
            "schema",
            ValueForm::Custom(fields_ref),
            "The schema of its artifact: fields and their types; `?` after a name makes a field optional.",
        ),
        FormKey::new(
            "known",
            ValueForm::Entries(&ValueForm::Word(KNOWN)),
            "Fields of its artifact (dotted paths) whose values must be among the domain's `defects` or `categories`; an empty string is allowed.",
        )
        .examples(&["{ defect_type: defects, human_override.defect_type: defects }"]),
        FormKey::new("needs", ValueForm::Distinct("duplicate-need"), "The queries it reads; they run before the step."),
        FormKey::new(
            "masks",
            ValueForm::Distinct("duplicate-mask"),
            "Scripts around the step, the outermost first: fn pre(ctx), fn post(ctx, artifact).",
        )
        .examples(&["[\"masks/recall.rhai\"]"]),
        FormKey::new(
            "accept",
            ValueForm::Script,
            "The function that an answer passes before the schema: fn name(artifact, vars). It returns the artifact, possibly normalised, or a list of complaints, with which the answer is sent back.",
        ),
        FormKey::new("effect", ValueForm::Script, "The function that turns its artifact into writes: fn name(artifact, params)."),
        FormKey::new(
            "script",
            ValueForm::Script,
            "The function that answers it instead of its family's responder: fn name(params, vars).",
        ),
        FormKey::new(
            "via",
            ValueForm::FirstMatching(&[ValueForm::Distinct("duplicate-via"), TEXT]),
            "Its answerers, tried in this order: `script`, `manual`, or names from `agents:` in asterisk.yaml.",
        )
        .examples(&["manual", "[\"claude\", \"script\"]"]),
        FormKey::new(
            "tool",
            ValueForm::Matching("^[^/]+/.+$"),
            "The tool that produces its artifact, of a server under `mcp_servers:` in asterisk.yaml; `workdir/call` makes the call described by the arguments in the working directory of a goal.",
        )
        .examples(&["notes/find"]),
        FormKey::new(
            "arguments",
            ValueForm::Expression,
            "The arguments of `tool`, a map: an expression over the groups of `params` (`#{ text: failure.name }`), or fn name(params, vars).",
        ),
        FormKey::new(
            "judge",
            ValueForm::Script,
            "Judges each call of `tool` before it is made: fn name(call, context) returns `#{ verdict, because, law }` with the verdict `allow`, `refuse` or `approve` (a person must approve). A node that calls `workdir/call` needs one.",
        )
        .examples(&["policy/tools.rhai#judge"]),
        FormKey::new(
            "pipeline",
            TEXT,
            "The pipeline walked in place of this node, by file stem or name; its last artifact becomes the node's.",
        ),
        FormKey::new(
            "foreach",
            ValueForm::Expression,
            "The items to run the node for, each in its own branch: an expression over the groups of `params` (`prior.a.list`), or fn name(params, vars).",
        ),
        FormKey::new(
            "do",
            TEXT,
            "The pipeline walked for each item of `foreach`; by default the node itself is answered for each.",
        ),
        FormKey::new(
            "merge",
            ValueForm::FirstMatching(&[ValueForm::Script, ValueForm::Word(&["append", "first", "latest", "best"])]),
            "How the artifacts of the branches are merged: a word, or fn name(branches, vars).",
        )
        .default_value(DefaultValue::Text("append")),
        FormKey::new(
            "on_error",
            ValueForm::Word(&["cancel", "collect"]),
            "The effect of a failed branch: fail the case, or omit the branch.",
        )
        .default_value(DefaultValue::Text("cancel")),
        FormKey::new("concurrency", ValueForm::Whole(1, 256), "The maximum number of concurrent branches.").default_value(BRANCHES),
        FormKey::new(
            "after",
            ValueForm::Distinct("duplicate-after"),
            "The nodes it waits for, in a pipeline without edges; nodes that wait for none run in parallel.",
        ),
        FormKey::new("fallback", TEXT, "The target if none of its edges fires; without it, that is an error."),
        FormKey::new("agent", TEXT, "The agent that answers it: a name of `data/policy.yaml`, or a function."),
        FormKey::new("task", ValueForm::Label, "The task, available as `params.task`; `{Node.content}` and `{name}` are replaced."),
        FormKey::new("category", TEXT, "Its category, which selects settings of the policy."),
        FormKey::new("timeout", SECONDS, "The timeout of the answer in seconds."),
        FormKey::new(
            "retry",
            ValueForm::FirstMatching(&[ValueForm::Map(&RETRY), ValueForm::Whole(0, 1000)]),
            "The number of retries after a timeout, an invalid answer or a rejection: a number, or `{ attempts, backoff, on }`.",
        )
        .examples(&["2", "{ attempts: 2, backoff: 0.5, on: [rejection] }"]),
        FormKey::new("cache", FLAG, "Whether its answer may come from the cache.").default_value(DefaultValue::Flag(true)),
        FormKey::new(
            "gate",
            ValueForm::FirstMatching(&[ValueForm::Map(&GATE), TEXT]),
            "The review that its answer must pass: an advisor, or `{ advisors, decision, weights, min_score }`.",
        )
        .examples(&["CodeReviewAdvisor", "{ advisors: [A, B], decision: average, min_score: 0.9 }"]),
    ],
    ..STRICT
};

pub(super) const EDGE: Form = Form {
    what: "an edge",
    id: Some("id"),
    keys: &[
        FormKey::new("id", TEXT, "Its id, unique in the pipeline.").named("edge-id-missing", "an edge needs an id"),
        FormKey::new("name", ValueForm::Label, "Its name in reports."),
        FormKey::new(
            "from",
            ValueForm::Reference,
            "The node it comes from; `\"*\"` makes it a guard, tried after every node's own edges.",
        ),
        FormKey::new("to", ValueForm::Reference, "Where it goes: a node, or the end."),
        FormKey::new("targets", TEXTS, "The targets its rule may choose from, in addition to `to`."),
        FormKey::new("shortcut", FLAG, "Whether it skips steps of the regular path.").default_value(DefaultValue::Flag(false)),
        FormKey::new("loop", FLAG, "Whether it goes back: taking it increments its counter.")
            .default_value(DefaultValue::Flag(false)),
        FormKey::new(
            "counter",
            ValueForm::Matching("^[A-Za-z_][A-Za-z0-9_]*$"),
            "The counter that it increments, which rules read as `state.loops.NAME`; its id by default.",
        ),
        FormKey::new("advisory", FLAG, "Whether it only adds context and never routes.").default_value(DefaultValue::Flag(false)),
        FormKey::new(
            "parallel",
            FLAG,
            "Whether it is taken together with all other parallel edges of its node that fire, until their branches join.",
        )
        .default_value(DefaultValue::Flag(false)),
        FormKey::new("rule", ValueForm::Script, "The function that decides whether it fires: fn name(artifact, state, vars)."),
        FormKey::new(
            "condition",
            ValueForm::Expression,
            "An expression that decides instead: fields of the artifact by name, `artifact`, `state`, `vars`.",
        ),
        FormKey::new("context", ValueForm::Entries(&ValueForm::Any), "What it adds to the context of the walk."),
    ],
    ..STRICT
};

/// Log-odds by defect.
const WEIGHTS: ValueForm = ValueForm::Entries(&ValueForm::Number(-20.0, 20.0));

pub(super) const VERDICT: Form = Form {
    what: "the verdict",
    keys: &[
        FormKey::new("priors", WEIGHTS, "The defects to decide between, with their prior log-odds.")
            .named("missing-key", "`verdict` needs `priors`"),
        FormKey::new("undecided", TEXT, "The defect of an undecided verdict.")
            .named("missing-key", "`verdict` needs `undecided`"),
        FormKey::new("floor", TEXT, "The var with the minimum probability of a decided verdict.")
            .named("missing-key", "`verdict` needs a `floor`"),
        FormKey::new(
            "temperature",
            TEXT,
            "The var with the temperature that divides log-odds before they become probabilities (1 by default); below 1, probabilities are more extreme.",
        ),
        FormKey::new(
            "terms",
            TEXT,
            "The var with the weight of the words of `data/terms.yaml` relative to the rules, 0 to 1; without it, only learned words count.",
        ),
        FormKey::new(
            "needs",
            ValueForm::Distinct("duplicate-need"),
            "The queries whose results the rules read as `context.needs`.",
        ),
        FormKey::new(
            "signatures",
            ValueForm::Script,
            "The strength of a matching signature, 0 to 1; 1 by default: fn name(found, evidence, context, vars).",
        ),
        FormKey::new(
            "rules",
            ValueForm::List(&ValueForm::Map(&VERDICT_RULE)),
            "The rules, in addition to the signatures of the domain.",
        ),
    ],
    ..STRICT
};

pub(super) const VERDICT_RULE: Form = Form {
    what: "a rule of the verdict",
    id: Some("id"),
    keys: &[
        FormKey::new("id", TEXT, "Its id, unique in the pipeline.").named("missing-key", "a rule of the verdict needs an `id`"),
        FormKey::new("name", ValueForm::Label, "Its name in reports."),
        FormKey::new("group", TEXT, "Its theme: of all rules and signatures of a group, only the strongest counts."),
        FormKey::new(
            "for",
            WEIGHTS,
            "What it adds to the log-odds of defects at full strength; a negative weight opposes a defect.",
        )
        .named("missing-key", "a rule of the verdict needs `for`"),
        FormKey::new(
            "rule",
            ValueForm::Script,
            "The function that decides whether it matches: fn name(evidence, context, vars).",
        )
        .named("missing-key", "a rule of the verdict needs a `rule`"),
    ],
    ..STRICT
};

pub(super) const ROOT_RULE: Form = Form {
    what: "a rule of roots",
    id: Some("id"),
    keys: &[
        FormKey::new("id", TEXT, "Its id, unique in the pipeline.").named("missing-key", "a rule of roots needs an `id`"),
        FormKey::new("name", ValueForm::Label, "Its name in reports."),
        FormKey::new("rule", ValueForm::Script, "The function that returns the key: fn name(evidence, context, vars).")
            .named("missing-key", "a rule of roots needs a `rule`"),
        FormKey::new(
            "confidence",
            ValueForm::Number(0.0, 1.0),
            "The measured rate at which failures with equal keys have one cause.",
        )
        .named("missing-key", "a rule of roots needs a `confidence`"),
        FormKey::new(
            "scope",
            ValueForm::Word(&["always", "launch"]),
            "Where equal keys mean one cause: across launches, or only within one launch.",
        )
        .default_value(DefaultValue::Text("always")),
        FormKey::new(
            "consequence",
            FLAG,
            "Whether such a failure is only a consequence of another one; its cause is linked to that one and keeps its own key.",
        )
        .default_value(DefaultValue::Flag(false)),
    ],
    ..STRICT
};

const SECONDS: ValueForm = ValueForm::Number(0.0, f64::MAX);

const SCORE: ValueForm = ValueForm::Number(0.0, f64::MAX);

/// The form of a policy: of `policy:`, of a preset, or a file of its own.
pub const POLICY: Form = Form {
    what: "a policy",
    keys: &[
        FormKey::new("version", ValueForm::Any, "The version of this form: 1."),
        FormKey::new("preset", TEXT, "The preset of `data/policy.yaml` whose settings override these; `--preset` names another."),
        FormKey::new(
            "score_thresholds",
            ValueForm::Entries(&SCORE),
            "The minimum score of an answer, by category; `default` applies to all other categories.",
        ),
        FormKey::new(
            "thresholds",
            ValueForm::Entries(&SCORE),
            "An alias of `score_thresholds`; `overall` is an alias of `default`.",
        ),
        FormKey::new("timeouts", ValueForm::Entries(&SECONDS), "The timeout of an answer in seconds, by category."),
        FormKey::new("retries", ValueForm::Entries(&ValueForm::Whole(0, 1000)), "The number of retries, by category."),
        FormKey::new(
            "advisors",
            ValueForm::Entries(&ValueForm::FirstMatching(&[ValueForm::Map(&COUNCIL), MEMBERS])),
            "The reviewers that replace a node's own advisor, by category; `council` applies to all other categories.",
        ),
        FormKey::new("budget", ValueForm::Map(&BUDGET), "The budget of a run, checked after each node."),
        FormKey::new("fail_fast", FLAG, "Whether the first failed node ends the run.").default_value(DefaultValue::Flag(false)),
        FormKey::new("cache", FLAG, "Whether answers are taken from the cache.").default_value(DefaultValue::Flag(true)),
    ],
    ..Form::PLAIN
};

/// A policy, or the file that has it.
const POLICY_OR_FILE: ValueForm = ValueForm::FirstMatching(&[ValueForm::Map(&POLICY), TEXT]);

/// Advisors: names, or maps with a name and a weight.
const MEMBERS: ValueForm = ValueForm::List(&ValueForm::FirstMatching(&[ValueForm::Map(&MEMBER), TEXT]));

pub(super) const COUNCIL: Form = Form {
    what: "a council",
    keys: &[
        FormKey::new("list", MEMBERS, "Its advisors: names of `data/policy.yaml`, or functions."),
        FormKey::new(
            "decision",
            ValueForm::Word(&["majority", "average"]),
            "Whether more than half of the advisors, or the weighted mean of their scores, decides.",
        )
        .default_value(DefaultValue::Text("majority")),
        FormKey::new("weights", ValueForm::Entries(&SCORE), "Weights by advisor; 1 for the others."),
    ],
    ..Form::PLAIN
};

pub(super) const MEMBER: Form = Form {
    what: "an advisor",
    id: Some("name"),
    keys: &[FormKey::required("name", TEXT, "Its name."), FormKey::new("weight", SCORE, "Its weight in the mean of the scores.")],
    ..Form::PLAIN
};

pub(super) const BUDGET: Form = Form {
    what: "a budget",
    keys: &[
        FormKey::new("max_stages", ValueForm::Whole(1, i64::MAX), "The maximum number of answered nodes."),
        FormKey::new("max_runtime_sec", ValueForm::Number(f64::MIN_POSITIVE, f64::MAX), "The maximum time of a run in seconds."),
        FormKey::new("max_artifacts_bytes", ValueForm::Whole(1, i64::MAX), "The maximum total size of artifacts in bytes."),
        FormKey::new("max_bytes", ValueForm::Whole(1, i64::MAX), "An alias of `max_artifacts_bytes`."),
        FormKey::new("max_tokens", ValueForm::Whole(1, i64::MAX), "The maximum number of tokens that agents may use."),
        FormKey::new("max_cost", ValueForm::Number(f64::MIN_POSITIVE, f64::MAX), "The maximum cost of agents in dollars."),
    ],
    ..Form::PLAIN
};

pub(super) const RETRY: Form = Form {
    what: "the retries",
    keys: &[
        FormKey::new("attempts", ValueForm::Whole(0, 1000), "The number of retries."),
        FormKey::new("backoff", SECONDS, "The wait before the first retry in seconds; it doubles for each further one."),
        FormKey::new(
            "on",
            ValueForm::List(&ValueForm::Word(&["timeout", "invalid_output", "rejection"])),
            "What causes a retry; everything by default.",
        ),
    ],
    ..STRICT
};

pub(super) const GATE: Form = Form {
    what: "a gate",
    keys: &[
        FormKey::new("advisor", TEXT, "The advisor that reviews the answer: a name of `data/policy.yaml`, or a function."),
        FormKey::new("advisors", MEMBERS, "Several advisors."),
        FormKey::new("decision", ValueForm::Word(&["majority", "average"]), "How the votes of several become a decision.")
            .default_value(DefaultValue::Text("majority")),
        FormKey::new("weights", ValueForm::Entries(&SCORE), "Weights by advisor; 1 for the others."),
        FormKey::new("min_score", SCORE, "The minimum score, regardless of the policy."),
    ],
    ..STRICT
};

/// A file of stages: the form of policy pipelines.
pub(super) const STAGES: Form = Form {
    what: "a pipeline of stages",
    keys: &[
        FormKey::new("pipeline", TEXT, "Its name; by default that of the file."),
        FormKey::new("name", TEXT, "An alias of `pipeline`."),
        FormKey::new("description", ValueForm::Label, "Its purpose."),
        FormKey::new("project_mode", TEXT, "A comment."),
        FormKey::new(
            "policy",
            POLICY_OR_FILE,
            "Thresholds, timeouts, retries and councils by category, and the budget; or the path of a file with them, relative to this one.",
        ),
        FormKey::new("memory", ValueForm::Entries(&ValueForm::Any), "Values that tasks may read; `--mem` overrides them."),
        FormKey::new("stages", ValueForm::NonEmptyList(&ValueForm::Map(&STAGE)), "The stages: each is answered by an agent."),
        FormKey::new(
            "dependencies",
            ValueForm::Entries(&ValueForm::FirstMatching(&[TEXTS, TEXT])),
            "The stages that a stage waits for, by name, in addition to its own `depends_on`.",
        ),
        FormKey::new("shared_advisors", ValueForm::Any, "A comment."),
        FormKey::new(
            "report",
            ValueForm::Script,
            "The function that summarizes a case for the report: fn summary(params, vars).",
        ),
    ],
    ..STRICT
};

pub(super) const STAGE: Form = Form {
    what: "a stage",
    id: Some("name"),
    keys: &[
        FormKey::new("name", TEXT, "Its name, unique in the pipeline.").named("node-name-missing", "a stage needs a name"),
        FormKey::new("agent", TEXT, "Its agent: a name from `data/policy.yaml`, or a function.")
            .named("missing-key", "a stage needs an `agent`"),
        FormKey::new("advisor", TEXT, "Its advisor: a name from `data/policy.yaml`, or a function.")
            .named("missing-key", "a stage needs an `advisor`"),
        FormKey::new("task", ValueForm::Label, "The task; `{Stage.content}` and `{name}` are replaced."),
        FormKey::new("category", TEXT, "Its category, which selects settings of the policy."),
        FormKey::new("max_retries", ValueForm::Whole(0, 1000), "The number of retries, unless the policy sets it."),
        FormKey::new("depends_on", ValueForm::Distinct("duplicate-after"), "The stages it waits for."),
        FormKey::new("min_score", SCORE, "The minimum score, regardless of the policy."),
        FormKey::new("timeout", SECONDS, "The timeout of the answer in seconds."),
        FormKey::new("retry", ValueForm::FirstMatching(&[ValueForm::Map(&RETRY), ValueForm::Whole(0, 1000)]), "As for a node."),
        FormKey::new("cache", FLAG, "Whether its answer may come from the cache.").default_value(DefaultValue::Flag(true)),
        FormKey::new(
            "via",
            ValueForm::FirstMatching(&[ValueForm::Distinct("duplicate-via"), TEXT]),
            "Its answerers in place of the agent's script, as for a node.",
        ),
        FormKey::new("description", ValueForm::Label, "A comment."),
        FormKey::new("input", ValueForm::Any, "A comment."),
        FormKey::new("output", ValueForm::Any, "A comment."),
    ],
    ..STRICT
};

/// A map of vars. A value that is a map with a `default` is the long form.
fn vars_schema() -> Value {
    let long = json!({ "if": { "type": "object", "required": ["default"] }, "then": asterisk_form::of_form(&VAR) });
    json!({ "type": ["object", "null"], "additionalProperties": long })
}

fn fields_ref() -> Value {
    json!({ "$ref": "#/$defs/fields" })
}

/// The definitions of the schema language, which is recursive.
pub(super) fn schema_definitions() -> Value {
    json!({
        "fields": { "type": "object", "additionalProperties": { "$ref": "#/$defs/type" } },
        "type": schema_type(),
    })
}

/// A type of the schema language: a word, a list of one type, a map of fields, or the long form.
fn schema_type() -> Value {
    let inner = json!({ "$ref": "#/$defs/type" });
    json!({
        "description": "A type: a word, a list of one type, a map of fields, or `{ type: ..., ... }` with that type's options.",
        "oneOf": [
            { "enum": schema_words::WORDS },
            { "type": "array", "items": inner, "minItems": 1, "maxItems": 1 },
            {
                "type": "object",
                "if": { "anyOf": [{ "required": ["type"] }, { "required": ["enum"] }] },
                "then": {
                    "properties": {
                        "type": { "enum": schema_words::WORDS },
                        "enum": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
                        "min": { "type": "number" },
                        "max": { "type": "number" },
                        "items": inner,
                        "fields": fields_ref(),
                        "values": inner,
                    },
                    "additionalProperties": false,
                },
                "else": fields_ref(),
            },
        ],
    })
}
