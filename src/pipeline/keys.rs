//! The keys of pipeline files.

use super::graph::{DEFAULT_MAX_STEPS, TEAM_MAX_STEPS};
use super::{foreach, schema_words, vars};
use crate::form::{DefaultValue, Form, FormKey, MayBeEmpty, ValueForm};
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
        FormKey::new("pipeline", TEXT, "Its name; commands take it for the file.")
            .sometimes("missing-name", "the pipeline has no name"),
        FormKey::new("description", ValueForm::Label, "What it is for."),
        FormKey::new(
            "vars",
            ValueForm::Custom(vars_schema),
            "Settings that its rules see as `vars`: each a default, or `{ default, type, min, max, values, doc }`; `--set NAME=VALUE` and the project file change them.",
        ),
        FormKey::new(
            "phases",
            ValueForm::List(&ValueForm::FirstMatching(&[ValueForm::Map(&PHASE), TEXTS])),
            "Lists of nodes, each perhaps with a name: within a wave no case enters a later phase before all have left the earlier ones.",
        ),
        FormKey::new(
            "clusters",
            ValueForm::Map(&CLUSTERS),
            "Cases that are alike, before a phase: the first of each cluster walks the phase ahead of the others.",
        ),
        FormKey::new("zones", ValueForm::Entries(&ValueForm::Map(&ZONE)), "Groups of nodes, by name."),
        FormKey::new("nodes", ValueForm::NonEmptyList(&ValueForm::Map(&NODE)), "The steps: each is answered with an artifact."),
        FormKey::new(
            "edges",
            ValueForm::NonEmptyList(&ValueForm::Map(&EDGE)),
            "The edges between them. Those of a node are tried in file order; the first that fires is taken.",
        ),
        FormKey::new("start", TEXT, "The node where walks begin.").sometimes("missing-start", "the pipeline has no start"),
        FormKey::new("done", TEXT, "The name of the end, usually `_done`; no node may have it.")
            .sometimes("missing-done", "the pipeline has no name for its end"),
        FormKey::new("max_steps", COUNT, "The most steps a walk may take; 0 is no cap.").default_value(STEPS),
        FormKey::new(
            "thermal",
            ValueForm::Map(&THERMAL),
            "How long the answers of a case may take, all together, in milliseconds.",
        ),
        FormKey::new(
            "deadline",
            TEXT,
            "The var that says how long a case may take, in milliseconds: no answer is waited for longer, but that of a script that alone answers its node.",
        ),
        FormKey::new(
            "on_rule_error",
            ValueForm::Word(&["stop", "skip"]),
            "What a rule that throws does: stop the walk, or count as not fired.",
        )
        .default_value(DefaultValue::Text("stop")),
        FormKey::new(
            "team",
            ValueForm::Map(&TEAM),
            "Who may walk: personas and walkers of your own, and the script that chooses one of them for every step.",
        ),
        FormKey::new(
            "verdict",
            ValueForm::Map(&VERDICT),
            "How the defect of a case is decided from its evidence: rules that each speak for or against some defects.",
        ),
        FormKey::new(
            "roots",
            ValueForm::List(&ValueForm::Map(&ROOT_RULE)),
            "What one fix would mend: rules that each may give a failure a key. The first that does decides; cases with equal keys are one cause.",
        ),
        FormKey::new(
            "policy",
            POLICY_OR_FILE,
            "Thresholds, timeouts, retries and councils by category, and the budget; or the file that has them, relative to this one.",
        ),
        FormKey::new("memory", ValueForm::Entries(&ValueForm::Any), "Values that tasks may read, unless `--mem` gives others."),
        FormKey::new("counters", TEXTS, "Counters that its rules read and the enclosing walk maintains, if it is a subpipeline."),
        FormKey::new("report", ValueForm::Script, "The function that sums a case up for the report: fn summary(params, vars)."),
    ],
    ..STRICT
};

/// The long form of a var.
pub(super) const VAR: Form = Form {
    what: "a var",
    keys: &[
        FormKey::new("default", ValueForm::Any, "Its value unless it is set.").named("missing-key", "a var has no `default`"),
        FormKey::new("type", ValueForm::Word(vars::TYPES), "Its type; that of its default without."),
        FormKey::new("min", ValueForm::Number(f64::MIN, f64::MAX), "The least number it may be set to."),
        FormKey::new("max", ValueForm::Number(f64::MIN, f64::MAX), "The greatest number it may be set to."),
        FormKey::new("values", ValueForm::NonEmptyList(&TEXT), "The texts it may be set to."),
        FormKey::new("doc", TEXT, "What it is for."),
    ],
    ..STRICT
};

pub(super) const PHASE: Form = Form {
    what: "a phase",
    keys: &[
        FormKey::new(
            "name",
            TEXT,
            "What batch manifests call it; that of its last node without. Several phases may share a name.",
        )
        .sometimes("missing-key", "`name` of a phase is empty"),
        FormKey::new("nodes", TEXTS, "Its nodes, by name.").named("missing-key", "a phase has no `nodes`"),
    ],
    ..STRICT
};

pub(super) const CLUSTERS: Form = Form {
    what: "the clusters",
    keys: &[
        FormKey::new("before", TEXT, "A node of the phase before which clusters are formed.")
            .named("missing-key", "`clusters` has no `before`"),
        FormKey::new("by", ValueForm::Script, "The function that gives a case its key; cases of one key are alike.")
            .named("missing-key", "`clusters` has no `by`"),
        FormKey::new("most", ValueForm::Whole(2, 1000), "The most cases of a cluster.").default_value(DefaultValue::Whole(3)),
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
        FormKey::new("ceiling_ms", COUNT, "From how much on the case takes no further step, and fails with `limit`."),
    ],
    ..STRICT
};

pub(super) const TEAM: Form = Form {
    what: "a team",
    keys: &[
        FormKey::new(
            "walkers",
            ValueForm::NonEmptyList(&ValueForm::FirstMatching(&[ValueForm::Entries(&ValueForm::Any), TEXT])),
            "Names of personas (`asterisk show personas`), or maps with the keys of a persona.",
        ),
        FormKey::new("scheduler", TEXT, "The script that chooses: fn select(ctx).")
            .named("missing-key", "`team` has no `scheduler`")
            .examples(&["schedulers/affinity.rhai"]),
        FormKey::new("max_steps", COUNT, "The most steps a walk may take; 0 is no cap.").default_value(TEAM_STEPS),
    ],
    ..STRICT
};

/// The lists of a domain that `known` may name.
pub(super) const KNOWN: &[&str] = &["defects", "categories"];

pub(super) const NODE: Form = Form {
    what: "a node",
    id: Some("name"),
    keys: &[
        FormKey::new("name", TEXT, "Its name, unique in the pipeline.").named("node-name-missing", "a node has no name"),
        FormKey::new("code", TEXT, "A short code for people, paths and signals."),
        FormKey::new("element", TEXT, "Its element (`asterisk show elements`)."),
        FormKey::new("family", TEXT, "What names its responder and its prompt when they are not given; its name by default."),
        FormKey::new("prompt", TEXT, "The template of its prompt, below the templates."),
        FormKey::new("artifact", TEXT, "The file name of its artifact."),
        FormKey::new("confidence", TEXT, "The field that holds the artifact's confidence."),
        FormKey::new(
            "schema",
            ValueForm::Custom(fields_ref),
            "The form of its artifact: fields and their types; `?` after a name makes a field optional.",
        ),
        FormKey::new(
            "known",
            ValueForm::Entries(&ValueForm::Word(KNOWN)),
            "Fields of its artifact, with dots within fields, whose texts must be of the domain's `defects` or `categories`; an empty text may stand.",
        )
        .examples(&["{ defect_type: defects, human_override.defect_type: defects }"]),
        FormKey::new("needs", ValueForm::Distinct("duplicate-need"), "The queries whose results it reads, run before the step."),
        FormKey::new(
            "masks",
            ValueForm::Distinct("duplicate-mask"),
            "Scripts around the step, the outermost first: fn pre(ctx), fn post(ctx, artifact).",
        )
        .examples(&["[\"masks/recall.rhai\"]"]),
        FormKey::new("effect", ValueForm::Script, "The function that turns its artifact into writes: fn name(artifact, params)."),
        FormKey::new(
            "script",
            ValueForm::Script,
            "The function that answers it instead of its family's responder: fn name(params, vars).",
        ),
        FormKey::new(
            "via",
            ValueForm::FirstMatching(&[ValueForm::Distinct("duplicate-via"), TEXT]),
            "Who answers it, in the order to be tried: `script`, `manual`, or a name of `agents:` in asterisk.yaml.",
        )
        .examples(&["manual", "[\"claude\", \"script\"]"]),
        FormKey::new(
            "tool",
            ValueForm::Matching("^[^/]+/.+$"),
            "The tool that is called for its artifact, of a server that `mcp_servers:` in asterisk.yaml sets up; `workdir/call` makes the call that its arguments describe, in the working directory of a goal.",
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
            "Judges each call of `tool` before it is made: fn name(call, context) gives `#{ verdict, because, law }` with the verdict `allow`, `refuse` or `approve` (a person has to say yes). A node that calls `workdir/call` needs one.",
        )
        .examples(&["policy/tools.rhai#judge"]),
        FormKey::new(
            "pipeline",
            TEXT,
            "The pipeline that is walked as this node, by file stem or name: its last artifact is the node's.",
        ),
        FormKey::new(
            "foreach",
            ValueForm::Expression,
            "The items it is taken for, each in a branch of its own: an expression over the groups of `params` (`prior.a.list`), or fn name(params, vars).",
        ),
        FormKey::new(
            "do",
            TEXT,
            "The pipeline that is walked for each item of `foreach`; without it the node is answered for each.",
        ),
        FormKey::new(
            "merge",
            ValueForm::FirstMatching(&[ValueForm::Script, ValueForm::Word(&["append", "first", "latest", "best"])]),
            "What makes one artifact of those of the branches: a word, or fn name(branches, vars).",
        )
        .default_value(DefaultValue::Text("append")),
        FormKey::new(
            "on_error",
            ValueForm::Word(&["cancel", "collect"]),
            "What a branch that fails does: fail the case, or be left out.",
        )
        .default_value(DefaultValue::Text("cancel")),
        FormKey::new("concurrency", ValueForm::Whole(1, 256), "How many branches are taken at once.").default_value(BRANCHES),
        FormKey::new(
            "after",
            ValueForm::Distinct("duplicate-after"),
            "The nodes it waits for, in a pipeline without edges: those that wait for none any more are taken beside each other.",
        ),
        FormKey::new("fallback", TEXT, "Where a walk goes when none of its edges fires; without it, that is an error."),
        FormKey::new("agent", TEXT, "The agent that answers it: a name of `data/policy.yaml`, or a function."),
        FormKey::new("task", ValueForm::Label, "What is to be done, as `params.task`; `{Node.content}` and `{name}` are filled in."),
        FormKey::new("category", TEXT, "Its category, for which the policy has settings."),
        FormKey::new("timeout", SECONDS, "How long the answer may take, in seconds."),
        FormKey::new(
            "retry",
            ValueForm::FirstMatching(&[ValueForm::Map(&RETRY), ValueForm::Whole(0, 1000)]),
            "How often it is answered again after a timeout, an invalid answer or a rejection: a number, or `{ attempts, backoff, on }`.",
        )
        .examples(&["2", "{ attempts: 2, backoff: 0.5, on: [rejection] }"]),
        FormKey::new("cache", FLAG, "Whether its answer may come from the cache.").default_value(DefaultValue::Flag(true)),
        FormKey::new(
            "gate",
            ValueForm::FirstMatching(&[ValueForm::Map(&GATE), TEXT]),
            "The review that its answer has to pass: an advisor, or `{ advisors, decision, weights, min_score }`.",
        )
        .examples(&["CodeReviewAdvisor", "{ advisors: [A, B], decision: average, min_score: 0.9 }"]),
    ],
    ..STRICT
};

pub(super) const EDGE: Form = Form {
    what: "an edge",
    id: Some("id"),
    keys: &[
        FormKey::new("id", TEXT, "Its id, unique in the pipeline.").named("edge-id-missing", "an edge has no id"),
        FormKey::new("name", ValueForm::Label, "What people call it."),
        FormKey::new(
            "from",
            ValueForm::Reference,
            "The node it comes from; `\"*\"` makes it a guard, tried after every node's own edges.",
        ),
        FormKey::new("to", ValueForm::Reference, "Where it goes: a node, or the end."),
        FormKey::new("targets", TEXTS, "What its rule may choose from besides `to`."),
        FormKey::new("shortcut", FLAG, "Whether it skips steps of the regular path.").default_value(DefaultValue::Flag(false)),
        FormKey::new("loop", FLAG, "Whether it goes back: taking it increments its counter.")
            .default_value(DefaultValue::Flag(false)),
        FormKey::new(
            "counter",
            ValueForm::Matching("^[A-Za-z_][A-Za-z0-9_]*$"),
            "The counter that taking it adds one to, which rules read as `state.loops.NAME`; its id by default.",
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
        FormKey::new("context", ValueForm::Entries(&ValueForm::Any), "What taking it adds to the walk's context."),
    ],
    ..STRICT
};

/// Log-odds by defect.
const WEIGHTS: ValueForm = ValueForm::Entries(&ValueForm::Number(-20.0, 20.0));

pub(super) const VERDICT: Form = Form {
    what: "the verdict",
    keys: &[
        FormKey::new("priors", WEIGHTS, "The defects to decide between, with their log-odds before any rule speaks.")
            .named("missing-key", "`verdict` has no `priors`"),
        FormKey::new("undecided", TEXT, "The defect that is said where nothing is decided.")
            .named("missing-key", "`verdict` has no `undecided`"),
        FormKey::new("floor", TEXT, "The var that holds the least probability of a decided verdict.")
            .named("missing-key", "`verdict` has no `floor`"),
        FormKey::new(
            "temperature",
            TEXT,
            "The var that holds what log-odds are divided by before they become probabilities (1 without): below 1, verdicts are surer.",
        ),
        FormKey::new(
            "terms",
            TEXT,
            "The var that holds how much the words of `data/terms.yaml` count beside the rules, 0 to 1; without it, learned words alone count.",
        ),
        FormKey::new(
            "needs",
            ValueForm::Distinct("duplicate-need"),
            "The queries whose results the rules read as `context.needs`.",
        ),
        FormKey::new(
            "signatures",
            ValueForm::Script,
            "How strongly a signature that matched speaks, 0 to 1; always fully without: fn name(found, evidence, context, vars).",
        ),
        FormKey::new("rules", ValueForm::List(&ValueForm::Map(&VERDICT_RULE)), "The rules, beside the signatures of the domain."),
    ],
    ..STRICT
};

pub(super) const VERDICT_RULE: Form = Form {
    what: "a rule of the verdict",
    id: Some("id"),
    keys: &[
        FormKey::new("id", TEXT, "Its id, unique in the pipeline.").named("missing-key", "a rule of the verdict has no `id`"),
        FormKey::new("name", ValueForm::Label, "What people call it."),
        FormKey::new("group", TEXT, "Its theme: of all rules and signatures of a group, only the strongest counts."),
        FormKey::new(
            "for",
            WEIGHTS,
            "What it adds to the log-odds of defects at full strength; a negative weight speaks against one.",
        )
        .named("missing-key", "a rule of the verdict has no `for`"),
        FormKey::new("rule", ValueForm::Script, "The function that decides whether it speaks: fn name(evidence, context, vars).")
            .named("missing-key", "a rule of the verdict has no `rule`"),
    ],
    ..STRICT
};

pub(super) const ROOT_RULE: Form = Form {
    what: "a rule of roots",
    id: Some("id"),
    keys: &[
        FormKey::new("id", TEXT, "Its id, unique in the pipeline.").named("missing-key", "a rule of roots has no `id`"),
        FormKey::new("name", ValueForm::Label, "What people call it."),
        FormKey::new("rule", ValueForm::Script, "The function that gives the key: fn name(evidence, context, vars).")
            .named("missing-key", "a rule of roots has no `rule`"),
        FormKey::new(
            "confidence",
            ValueForm::Number(0.0, 1.0),
            "How often failures to which it gives equal keys are one cause, as measured.",
        )
        .named("missing-key", "a rule of roots has no `confidence`"),
        FormKey::new(
            "scope",
            ValueForm::Word(&["always", "launch"]),
            "Where equal keys mean one cause: from one launch to the next, or within one launch only.",
        )
        .default_value(DefaultValue::Text("always")),
        FormKey::new(
            "consequence",
            FLAG,
            "Whether such a failure only follows from another one: its cause is linked to that one, and keeps its own key.",
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
            "The least score of an answer, by category; `default` is for categories without one.",
        ),
        FormKey::new("thresholds", ValueForm::Entries(&SCORE), "The same; `overall` is the same as `default`."),
        FormKey::new("timeouts", ValueForm::Entries(&SECONDS), "How long an answer may take, by category, in seconds."),
        FormKey::new(
            "retries",
            ValueForm::Entries(&ValueForm::Whole(0, 1000)),
            "How often an answer is requested again, by category.",
        ),
        FormKey::new(
            "advisors",
            ValueForm::Entries(&ValueForm::FirstMatching(&[ValueForm::Map(&COUNCIL), MEMBERS])),
            "Who reviews answers instead of a node's own advisor, by category; `council` is for categories without one.",
        ),
        FormKey::new("budget", ValueForm::Map(&BUDGET), "What a run may take; it is compared after each node."),
        FormKey::new("fail_fast", FLAG, "Whether the first node that fails ends the run.")
            .default_value(DefaultValue::Flag(false)),
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
        FormKey::new("max_stages", ValueForm::Whole(1, i64::MAX), "The most nodes that may be answered."),
        FormKey::new("max_runtime_sec", ValueForm::Number(f64::MIN_POSITIVE, f64::MAX), "How long a run may take, in seconds."),
        FormKey::new("max_artifacts_bytes", ValueForm::Whole(1, i64::MAX), "The most bytes of all artifacts together."),
        FormKey::new("max_bytes", ValueForm::Whole(1, i64::MAX), "The same."),
        FormKey::new("max_tokens", ValueForm::Whole(1, i64::MAX), "The most tokens that agents may use."),
        FormKey::new("max_cost", ValueForm::Number(f64::MIN_POSITIVE, f64::MAX), "The most that agents may cost, in dollars."),
    ],
    ..Form::PLAIN
};

pub(super) const RETRY: Form = Form {
    what: "the retries",
    keys: &[
        FormKey::new("attempts", ValueForm::Whole(0, 1000), "How often an answer is requested again."),
        FormKey::new("backoff", SECONDS, "The wait before the first of them, in seconds; each further one waits twice as long."),
        FormKey::new(
            "on",
            ValueForm::List(&ValueForm::Word(&["timeout", "invalid_output", "rejection"])),
            "What it is requested again for; everything by default.",
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
        FormKey::new("min_score", SCORE, "The least score, whatever the policy says."),
    ],
    ..STRICT
};

/// A file of stages: the form of policy pipelines.
pub(super) const STAGES: Form = Form {
    what: "a pipeline of stages",
    keys: &[
        FormKey::new("pipeline", TEXT, "Its name; the name of the file without."),
        FormKey::new("name", TEXT, "The same."),
        FormKey::new("description", ValueForm::Label, "What it is for."),
        FormKey::new("project_mode", TEXT, "A note for people."),
        FormKey::new(
            "policy",
            POLICY_OR_FILE,
            "Thresholds, timeouts, retries and councils by category, and the budget; or the file that has them, relative to this one.",
        ),
        FormKey::new("memory", ValueForm::Entries(&ValueForm::Any), "Values that tasks may read, unless `--mem` gives others."),
        FormKey::new("stages", ValueForm::NonEmptyList(&ValueForm::Map(&STAGE)), "The stages: each is answered by an agent."),
        FormKey::new(
            "dependencies",
            ValueForm::Entries(&ValueForm::FirstMatching(&[TEXTS, TEXT])),
            "Which stages a stage waits for, by name, beside its own `depends_on`.",
        ),
        FormKey::new("shared_advisors", ValueForm::Any, "A note for people."),
        FormKey::new("report", ValueForm::Script, "The function that sums a case up for the report: fn summary(params, vars)."),
    ],
    ..STRICT
};

pub(super) const STAGE: Form = Form {
    what: "a stage",
    id: Some("name"),
    keys: &[
        FormKey::new("name", TEXT, "Its name, unique in the pipeline.").named("node-name-missing", "a stage has no name"),
        FormKey::new("agent", TEXT, "Who answers it: a name of `data/policy.yaml`, or a function.")
            .named("missing-key", "a stage has no `agent`"),
        FormKey::new("advisor", TEXT, "Who reviews the answer: a name of `data/policy.yaml`, or a function.")
            .named("missing-key", "a stage has no `advisor`"),
        FormKey::new("task", ValueForm::Label, "What is to be done; `{Stage.content}` and `{name}` are filled in."),
        FormKey::new("category", TEXT, "Its category, for which the policy has settings."),
        FormKey::new("max_retries", ValueForm::Whole(0, 1000), "How often it is answered again, unless the policy says."),
        FormKey::new("depends_on", ValueForm::Distinct("duplicate-after"), "The stages it waits for."),
        FormKey::new("min_score", SCORE, "The least score, whatever the policy says."),
        FormKey::new("timeout", SECONDS, "How long the answer may take, in seconds."),
        FormKey::new(
            "retry",
            ValueForm::FirstMatching(&[ValueForm::Map(&RETRY), ValueForm::Whole(0, 1000)]),
            "As that of a node.",
        ),
        FormKey::new("cache", FLAG, "Whether its answer may come from the cache.").default_value(DefaultValue::Flag(true)),
        FormKey::new(
            "via",
            ValueForm::FirstMatching(&[ValueForm::Distinct("duplicate-via"), TEXT]),
            "Who answers it instead of the agent's script, as that of a node.",
        ),
        FormKey::new("description", ValueForm::Label, "A note for people."),
        FormKey::new("input", ValueForm::Any, "A note for people."),
        FormKey::new("output", ValueForm::Any, "A note for people."),
    ],
    ..STRICT
};

/// A map of vars. A value that is a map with a `default` is the long form.
fn vars_schema() -> Value {
    let long = json!({ "if": { "type": "object", "required": ["default"] }, "then": crate::form::of_form(&VAR) });
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
