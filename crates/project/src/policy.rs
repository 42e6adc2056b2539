//! Links policies: the current settings, the agents and advisors of `data/policy.yaml`, and what surrounds each node.

use super::DataFiles;
use super::linked_pipeline::ProjectLinker;
use super::settings::SCRIPT;
use asterisk_base::model::{Hash, Kind};
use asterisk_diag::{Diagnostic, Diagnostics, Source, Span, did_you_mean};
use asterisk_form::yaml;
use asterisk_pipeline::{
    self as pipeline, Council, NodeIx, NodePolicy, Pipeline, PipelineNode, PolicyRules, PolicySetting, Spanned, TaskPart,
    TaskText, stage_reference,
};
use asterisk_prompt::Templates;
use asterisk_script::check::CheckedParameter;
use asterisk_script::{ScriptFunction, View};
use asterisk_walk::{AdvisorPlan, Content, CouncilPlan, GatePlan, Name, PolicyBudget, PolicyPlan, Sourced, StepPolicy, TaskPlan};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// How the names of settings of a policy begin among the vars that are set from outside.
pub const POLICY_PREFIX: &str = "policy.";
/// How the names of values of memory begin there.
pub const MEMORY_PREFIX: &str = "mem.";
/// The stem of the data file.
pub(super) const STEM: &str = "policy";
/// The category of what has none, and the entry of a policy for categories without one.
const DEFAULT: &str = "default";
/// What a cached answer depends on if its script hands all parameters on.
const HANDED_ON: [&str; 6] = ["memory", "previous_content", "review", "stage", "stages", "data"];

/// The settings of a current policy, by path.
type Settings = BTreeMap<String, Sourced<Value>>;

/// The data files, parsed and as texts.
#[derive(Clone, Copy)]
pub(super) struct PolicyData<'a> {
    pub(super) files: &'a DataFiles,
    pub(super) sources: &'a [Source],
    /// The texts that pipelines refer to, with policy files by [`pipeline::policy_key`].
    pub(super) texts: &'a BTreeMap<String, Source>,
    /// Why some of them are missing.
    pub(super) missing: &'a BTreeMap<String, Diagnostic>,
}

/// Whether a name set from outside is of the policy or of memory, and no var.
pub fn is_policy(name: &str) -> bool {
    name.starts_with(POLICY_PREFIX) || name.starts_with(MEMORY_PREFIX)
}

/// Links the policy of a pipeline; nothing if neither it nor any of its nodes has one.
pub(super) fn of_pipeline(
    pipeline: &Pipeline,
    data: PolicyData<'_>,
    set: &Map<String, Value>,
    found: &mut Diagnostics,
) -> Option<PolicyPlan> {
    let written = pipeline.policy.file.is_some() || !pipeline.policy.settings.is_empty();
    let used = pipeline.stages || written || pipeline.nodes.iter().any(|node| node.policy.is_some());
    used.then(|| plan(pipeline, set, settings(pipeline, data, set, found)))
}

/// The current settings: those of the pipeline or its policy file, under those of a preset, under those set from outside.
fn settings(pipeline: &Pipeline, data: PolicyData<'_>, set: &Map<String, Value>, found: &mut Diagnostics) -> Settings {
    let mut settings = Settings::new();
    let of_file = pipeline.policy.file.as_ref().and_then(|file| policy_file(pipeline, file, data, found));
    let (source, rules) = of_file.as_ref().map_or((&pipeline.source, &pipeline.policy), |(source, rules)| (source, rules));
    lay(&mut settings, rules, "");
    let flag = set.get("policy.preset");
    let file = flag.and_then(|preset| Some((preset["name"].as_str()?, preset["text"].as_str()?)));
    let named = flag.and_then(Value::as_str).map(|name| (name, None));
    let named = named.or_else(|| rules.preset.as_ref().map(|name| (name.as_str(), Some((source, name.span)))));
    match (file, named) {
        (Some((name, text)), _) => {
            let source = Source::new(name, text);
            match yaml::parse(&source) {
                Ok(tree) => {
                    let (rules, faults) = pipeline::read_policy(&source, &tree, "", false);
                    found.extend(faults);
                    lay(&mut settings, &rules, "preset");
                }
                Err(faults) => found.extend(faults),
            }
        }
        (None, Some((name, span))) => match preset(name, data.sources) {
            Some(rules) => lay(&mut settings, &rules, &format!("preset `{name}`")),
            None => found.push(unknown_preset(name, span, data.files)),
        },
        (None, None) => {}
    }
    overlay(&mut settings, set, found);
    settings
}

/// Reads the policy file of a pipeline.
fn policy_file(
    pipeline: &Pipeline,
    file: &Spanned<String>,
    data: PolicyData<'_>,
    found: &mut Diagnostics,
) -> Option<(Source, PolicyRules)> {
    let name = pipeline::policy_path(&pipeline.source, file);
    let key = pipeline::policy_key(&name);
    let Some(source) = data.texts.get(&key) else {
        let reason = data.missing.get(&key);
        let message = reason.map_or_else(|| format!("the policy file `{name}` does not exist"), |reason| reason.message.clone());
        let error = Diagnostic::error("project/no-policy-file", message).label(&pipeline.source, file.span, "named here");
        found.push(error.help("a policy file is named by its path, relative to the pipeline's"));
        return None;
    };
    match yaml::parse(source) {
        Ok(tree) => {
            let (rules, faults) = pipeline::read_policy(source, &tree, "pipelines", false);
            found.extend(faults);
            Some((source.clone(), rules))
        }
        Err(faults) => {
            found.extend(faults);
            None
        }
    }
}

/// Lays the settings from outside over the others.
fn overlay(settings: &mut Settings, set: &Map<String, Value>, found: &mut Diagnostics) {
    for (name, value) in set {
        let Some(path) = name.strip_prefix(POLICY_PREFIX).filter(|path| *path != "preset") else { continue };
        match checked(path, value) {
            Ok(()) => drop(settings.insert(path.to_owned(), Sourced { value: value.clone(), from: "--set".into() })),
            Err(diagnostic) => found.push(*diagnostic),
        }
    }
}

/// Lays a policy over the settings so far.
fn lay(settings: &mut Settings, rules: &PolicyRules, of: &str) {
    for (path, PolicySetting { value, at }) in &rules.settings {
        let from = if of.is_empty() { at.as_str().into() } else { format!("{of}, {at}").into() };
        settings.insert(path.clone(), Sourced { value: value.clone(), from });
    }
}

/// A preset of `data/policy.yaml`.
fn preset(name: &str, sources: &[Source]) -> Option<PolicyRules> {
    let source = sources.iter().find(|source| source.name().rsplit_once('.').is_some_and(|(stem, _)| stem == STEM))?;
    let tree = yaml::parse(source).ok()?;
    // Its form has been checked with the file's.
    Some(pipeline::read_policy(source, tree.get("presets")?.get(name)?, "data", true).0)
}

fn unknown_preset(name: &str, place: Option<(&Source, Span)>, files: &DataFiles) -> Diagnostic {
    let known = entries(files, "presets");
    let mut error = Diagnostic::error("project/unknown-preset", format!("unknown preset `{name}`"));
    if let Some((source, span)) = place {
        error = error.label(source, span, "named here");
    }
    let all = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let help = format!("presets in `data/policy.yaml` of the scripts: {all}; a file with a policy is named by its path");
    error.help(match did_you_mean(name, known) {
        Some(hint) => format!("{hint}; {help}"),
        None => help,
    })
}

/// The names of the entries of a key of `data/policy.yaml`.
fn entries<'a>(files: &'a DataFiles, key: &str) -> Vec<&'a str> {
    let entries = files.get(STEM).and_then(|file| file[key].as_object());
    entries.into_iter().flat_map(Map::keys).map(String::as_str).collect()
}

/// Checks a setting given from outside: its path and the type of its value.
fn checked(path: &str, value: &Value) -> Result<(), Box<Diagnostic>> {
    const KEYS: [&str; 6] = ["score_thresholds", "timeouts", "retries", "budget", "fail_fast", "cache"];
    const BUDGET: [&str; 5] = ["max_stages", "max_artifacts_bytes", "max_runtime_sec", "max_tokens", "max_cost"];
    let error = |message: String, help: String| Err(Box::new(Diagnostic::error("project/policy", message).help(help)));
    let (key, entry) = path.split_once('.').unwrap_or((path, ""));
    let fits = match key {
        "score_thresholds" | "timeouts" if !entry.is_empty() => value.as_f64().is_some_and(|number| number >= 0.0),
        "retries" if !entry.is_empty() => value.as_u64().is_some(),
        "budget" if BUDGET.contains(&entry) => value.as_f64().is_some_and(|number| number > 0.0),
        "fail_fast" | "cache" if entry.is_empty() => value.is_boolean(),
        "budget" => {
            let hint = did_you_mean(entry, BUDGET).unwrap_or_else(|| format!("a budget has {}", BUDGET.join(", ")));
            return error(format!("unknown key `{path}` in a policy"), hint);
        }
        _ => {
            let known = "write policy.score_thresholds.CATEGORY, policy.timeouts.CATEGORY, policy.retries.CATEGORY, \
                         policy.budget.NAME, policy.fail_fast or policy.cache";
            return error(
                format!("unknown key `{path}` in a policy"),
                did_you_mean(key, KEYS).unwrap_or_else(|| known.to_owned()),
            );
        }
    };
    if fits {
        return Ok(());
    }
    error(
        format!("`policy.{path}` cannot be set to {value}"),
        "give a number, or for `fail_fast` and `cache` true or false".into(),
    )
}

/// The policy of a whole pipeline by its settings.
fn plan(pipeline: &Pipeline, set: &Map<String, Value>, settings: Settings) -> PolicyPlan {
    let mut memory = pipeline.memory.clone();
    let given = set.iter().filter_map(|(name, value)| Some((name.strip_prefix(MEMORY_PREFIX)?.to_owned(), value.clone())));
    memory.extend(given);
    let values = memory.iter().map(|(name, value)| (name.clone(), View::of(value, &Kind::Any, "params.memory")));
    let memory = Content::new(View::map("params.memory", values, View::null()));
    let count = |name: &str| sourced(&settings, &format!("budget.{name}"), Value::as_u64);
    let number = |name: &str| sourced(&settings, &format!("budget.{name}"), Value::as_f64);
    PolicyPlan {
        memory,
        budget: PolicyBudget {
            max_stages: count("max_stages"),
            max_artifacts_bytes: count("max_artifacts_bytes"),
            max_runtime_sec: number("max_runtime_sec"),
            max_tokens: count("max_tokens"),
            max_cost: number("max_cost"),
        },
        fail_fast: settings.get("fail_fast").is_some_and(|setting| setting.value == json!(true)),
        settings: settings.into_iter().collect(),
    }
}

/// A setting of the wanted type.
fn sourced<T>(settings: &Settings, path: &str, of: fn(&Value) -> Option<T>) -> Option<Sourced<T>> {
    let setting = settings.get(path)?;
    Some(Sourced { value: of(&setting.value)?, from: setting.from.clone() })
}

/// The current settings for one node, apart from its advisors.
struct NodeSettings {
    threshold: Sourced<f64>,
    timeout: Sourced<f64>,
    max_retries: Sourced<u64>,
    cache: Sourced<bool>,
}

/// Decides the settings of a node: `min_score` and `timeout` of the node over the policy of its category over the defaults, and retries of
/// the policy over those of the node (`docs/decisions/0015-policy-precedence.md`).
fn node_settings(pipeline: &Pipeline, node: &NodePolicy, settings: &Settings, files: &DataFiles) -> NodeSettings {
    let category = category(node);
    let of_category = |key: &str| {
        let path = [format!("{key}.{category}"), format!("{key}.{DEFAULT}")];
        path.into_iter().find(|path| settings.contains_key(path)).unwrap_or_default()
    };
    let file = files.get(STEM).cloned().unwrap_or_default();
    let at = |span: Span| Name::from(format!("pipelines/{}", pipeline.source.place(span.start)));
    let default = |key: &str| {
        let from = Name::from("the defaults of data/policy.yaml");
        Sourced { value: file["defaults"][key].as_f64().unwrap_or_default(), from }
    };
    let agent = node.agent.as_ref().and_then(|agent| {
        let value = file["agents"][agent.as_str()]["min_score"].as_f64().filter(|score| *score > 0.0)?;
        Some(Sourced { value, from: format!("the agent `{}` of data/policy.yaml", **agent).into() })
    });
    let own = node.gate.as_ref().and_then(|gate| gate.min_score.as_ref());
    let threshold = own
        .map(|own| Sourced { value: own.value, from: at(own.span) })
        .or_else(|| sourced(settings, &of_category("score_thresholds"), Value::as_f64))
        .or(agent)
        .unwrap_or_else(|| default("min_score"));
    let timeout = node
        .timeout
        .as_ref()
        .map(|own| Sourced { value: own.value, from: at(own.span) })
        .or_else(|| sourced(settings, &of_category("timeouts"), Value::as_f64))
        .unwrap_or_else(|| default("timeout"));
    let max_retries = sourced(settings, &of_category("retries"), Value::as_u64)
        .or_else(|| node.max_retries.as_ref().map(|own| Sourced { value: own.value, from: at(own.span) }))
        .unwrap_or_else(|| {
            let value = file["defaults"]["max_retries"].as_u64().unwrap_or_default();
            Sourced { value, from: "the defaults of data/policy.yaml".into() }
        });
    let never = sourced(settings, "cache", Value::as_bool).filter(|cache| !cache.value);
    let own = node.cache.as_ref().map(|own| Sourced { value: own.value, from: at(own.span) });
    let cache = never.or(own).unwrap_or(Sourced { value: true, from: Name::default() });
    NodeSettings { threshold, timeout, max_retries, cache }
}

fn category(node: &NodePolicy) -> &str {
    node.category.as_ref().map_or(DEFAULT, |category| category.as_str())
}

/// The policy of a pipeline with settings from outside overlaid on it. A preset may be named only when a pipeline is linked.
pub(super) fn with_settings(
    pipeline: &Pipeline,
    whole: &PolicyPlan,
    set: &Map<String, Value>,
) -> Result<PolicyPlan, Diagnostics> {
    let mut settings: Settings = whole.settings.iter().cloned().collect();
    let mut found = Diagnostics::new();
    overlay(&mut settings, set, &mut found);
    let made = plan(pipeline, set, settings);
    found.into_result(made)
}

/// A step's policy with other settings from outside; its advisors stay.
pub(super) fn resettled(
    pipeline: &Pipeline,
    node: &PipelineNode,
    policy: &StepPolicy,
    whole: &PolicyPlan,
    files: &DataFiles,
) -> StepPolicy {
    let Some(written) = node.policy.as_deref() else { return policy.clone() };
    let settings: Settings = whole.settings.iter().cloned().collect();
    let NodeSettings { threshold, timeout, max_retries, cache } = node_settings(pipeline, written, &settings, files);
    let gate = policy.gate.clone().map(|gate| GatePlan { threshold, ..gate });
    StepPolicy { timeout, max_retries, cache, gate, ..policy.clone() }
}

impl ProjectLinker<'_> {
    /// The agent that a node names: its script, and who answers instead.
    pub(super) fn agent_script(
        &self,
        node: &PipelineNode,
        files: &DataFiles,
        found: &mut Diagnostics,
    ) -> Option<(Option<ScriptFunction>, Vec<Name>)> {
        let agent = node.policy.as_ref()?.agent.as_ref()?;
        let script = self.named(agent, "agents", "agent", files, found);
        let function = script.and_then(|script| self.function(&script, 2, found));
        let entry = files.get(STEM).map(|file| file["agents"][agent.as_str()]["via"].clone()).unwrap_or_default();
        let known = |name: &&str| self.agents.is_none_or(|known| known.iter().any(|known| known == name));
        let via = entry.as_array().into_iter().flatten().filter_map(Value::as_str).filter(known).map(Name::from).collect();
        Some((function, via))
    }

    /// The reference to the function of an agent or advisor: a function, or a name of `data/policy.yaml`.
    fn named(
        &self,
        name: &Spanned<String>,
        key: &str,
        what: &str,
        files: &DataFiles,
        found: &mut Diagnostics,
    ) -> Option<Spanned<String>> {
        if name.contains(".rhai#") {
            return Some(name.clone());
        }
        let script = files.get(STEM).and_then(|file| file[key][name.as_str()]["script"].as_str());
        if let Some(script) = script {
            return Some(Spanned::new(script.to_owned(), name.span));
        }
        let answerers = self.agents.filter(|_| key == "advisors").into_iter().flatten().map(String::as_str);
        let hint = did_you_mean(name, entries(files, key).into_iter().chain(answerers));
        let error = Diagnostic::error(format!("project/unknown-{what}"), format!("unknown {what} `{}`", **name));
        let error =
            if name.span == Span::default() { error } else { error.label(&self.pipeline.source, name.span, "named here") };
        let or = if key == "advisors" { "; any answerer can be one (`asterisk config` lists them)" } else { "" };
        let help =
            format!("define it in `data/policy.yaml` of the scripts, or name its function: `{key}/FILE.rhai#FUNCTION`{or}");
        found.push(error.help(hint.map_or(help.clone(), |hint| format!("{hint}; {help}"))));
        None
    }

    /// Links what surrounds the answer of a node.
    pub(super) fn step_policy(
        &self,
        node: NodeIx,
        responder: Option<&ScriptFunction>,
        whole: &PolicyPlan,
        files: &DataFiles,
        found: &mut Diagnostics,
    ) -> Option<StepPolicy> {
        let spec = self.pipeline.at(node);
        let written = spec.policy.as_deref()?;
        let settings: Settings = whole.settings.iter().cloned().collect();
        let NodeSettings { threshold, timeout, max_retries, cache } = node_settings(self.pipeline, written, &settings, files);
        let agent: Name = written.agent.as_ref().unwrap_or(&spec.family).as_str().into();
        let entry = files.get(STEM).map(|file| file["agents"][agent.as_str()].clone()).unwrap_or_default();
        let sees = self.ancestors(node);
        let any = Kind::Any;
        let inputs = ["params", "vars"].map(|name| CheckedParameter { name, kind: &any });
        let reads =
            responder.map(|function| groups(self.library.check(function, &inputs).reads.iter().map(|read| read.path.as_str())));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a duration, not negative by its form")]
        let backoff_ms = (written.retry.backoff * 1000.0) as u64;
        Some(StepPolicy {
            category: category(written).into(),
            version: Hash::of_json(&json!([
                entry["version"],
                responder.map(|function| (function.hash(), function.name().to_owned()))
            ])),
            agent,
            reads,
            task: written.task.as_ref().and_then(|task| self.task(spec, task, whole, &sees, found)),
            timeout,
            max_retries,
            backoff_ms,
            on: written.retry.on.clone(),
            cache,
            gate: self.gate(spec, written, &settings, threshold, files, found),
            sees,
        })
    }

    /// Links the gate of a node: the council of its category, else its own.
    fn gate(
        &self,
        spec: &PipelineNode,
        written: &NodePolicy,
        settings: &Settings,
        threshold: Sourced<f64>,
        files: &DataFiles,
        found: &mut Diagnostics,
    ) -> Option<GatePlan> {
        let paths = [format!("advisors.{}", category(written)), format!("advisors.{DEFAULT}")];
        let of_policy = paths.iter().find_map(|path| settings.get(path));
        let own = written.gate.as_ref();
        let at = |span: Span| Name::from(format!("pipelines/{}", self.pipeline.source.place(span.start)));
        let (council, from) = match (of_policy, own) {
            (Some(setting), _) => (Council::of_json(&setting.value), setting.from.clone()),
            (None, Some(own)) => (own.council.clone(), at(own.span)),
            (None, None) => return None,
        };
        let advisor = |name: &Spanned<String>| {
            // A council of a preset names its advisors elsewhere: the node's gate is where they are missed.
            let place = if name.span == Span::default() { own.map_or(spec.name.span, |own| own.span) } else { name.span };
            let weight = council.weights.get(name.as_str()).copied().unwrap_or(1.0);
            self.advisor(&Spanned::new(name.value.clone(), place), weight, files, found)
        };
        let advisors: Vec<AdvisorPlan> = council.members.iter().filter_map(advisor).collect();
        let council = if of_policy.is_some() || council.members.len() > 1 {
            let place = own.map_or(spec.name.span, |own| own.span);
            let Some(script) = files.get(STEM).and_then(|file| file["defaults"]["council"].as_str()) else {
                let error = Diagnostic::error("project/council", "no council function is set");
                let help = "set it in `data/policy.yaml` of the scripts: `defaults: { council: lib/policy.rhai#council }`";
                found.push(error.label(&self.pipeline.source, place, "several advisors review here").help(help));
                return None;
            };
            let function = self.function(&Spanned::new(script.to_owned(), place), 1, found)?;
            Some(CouncilPlan { decision: council.decision, function })
        } else {
            None
        };
        if threshold.value > 1.0 {
            let message =
                format!("no score reaches the threshold of `{}`: it is {} ({})", *spec.name, threshold.value, threshold.from);
            let warning =
                Diagnostic::warning("project/threshold", message).label(&self.pipeline.source, spec.name.span, "never passes");
            found.push(warning.help("scores are from 0 to 1"));
        }
        let place = (self.pipeline.source.clone(), own.map_or(spec.name.span, |own| own.span));
        Some(GatePlan { advisors, council, threshold, from, place })
    }

    /// Links an advisor: a function, an entry of `data/policy.yaml` with a script or answerers, or an answerer.
    fn advisor(&self, name: &Spanned<String>, weight: f64, files: &DataFiles, found: &mut Diagnostics) -> Option<AdvisorPlan> {
        let entry = files.get(STEM).map(|file| file["advisors"][name.as_str()].clone()).unwrap_or_default();
        let plan = |function, via| AdvisorPlan {
            name: name.as_str().into(),
            weight,
            function,
            via,
            description: entry["description"].as_str().unwrap_or_default().to_owned(),
        };
        let is_known = |name: &str| self.agents.is_none_or(|known| known.iter().any(|known| known == name));
        if entry.is_null() && !name.contains(".rhai#") && **name != SCRIPT && is_known(name) {
            return Some(plan(None, vec![name.as_str().into()]));
        }
        let wanted: Vec<&str> = entry["via"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let via: Vec<Name> = wanted.iter().copied().filter(|name| is_known(name)).map(Name::from).collect();
        if entry.is_object() && entry["script"].as_str().is_none_or(str::is_empty) {
            if via.is_empty() {
                let message = format!("the advisor `{}` has no reviewer", **name);
                let help = if wanted.is_empty() {
                    "set `script:` or `via:` of its entry in `data/policy.yaml`".to_owned()
                } else {
                    format!("configure {} under `agents:` in asterisk.yaml, or set `script:` of the advisor", wanted.join(" or "))
                };
                let error = Diagnostic::error("project/no-reviewer", message);
                found.push(error.label(&self.pipeline.source, name.span, "named here").help(help));
                return None;
            }
            return Some(plan(None, via));
        }
        let script = self.named(name, "advisors", "advisor", files, found)?;
        Some(plan(Some(self.function(&script, 3, found)?), via))
    }

    /// Links the text of a task; names that nothing gives are warnings, and stay as they are.
    fn task(
        &self,
        spec: &PipelineNode,
        task: &TaskText,
        whole: &PolicyPlan,
        sees: &[Name],
        found: &mut Diagnostics,
    ) -> Option<TaskPlan> {
        if task.is_template() {
            let name = format!("the task of `{}`", *spec.name);
            let templates = Templates::compile([Source::new(&*name, task.text.value.clone())]);
            return match templates {
                Ok(templates) => templates.get(&name).cloned().map(TaskPlan::Template),
                Err(faults) => {
                    found.extend(faults);
                    None
                }
            };
        }
        let memory = whole.memory.view();
        let is_word = |name: &str| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
        for name in task.references().filter(|name| is_word(name)) {
            let names = sees.iter().map(Name::as_str).chain([spec.name.as_str()]);
            let known = memory.is_some_and(|memory| memory.present(name).is_some()) || stage_reference(name, names).is_some();
            if !known {
                let message = format!("the task of `{}` reads `{name}`, which is not defined and stays unreplaced", *spec.name);
                let given: Vec<&str> = memory.iter().flat_map(|memory| memory.entries()).map(|(name, _)| name).collect();
                let help = did_you_mean(name, given).unwrap_or_else(|| format!("set it: --mem {name}=..."));
                let warning = Diagnostic::warning("project/unknown-memory", message);
                found.push(warning.label(&self.pipeline.source, task.text.span, "read here").help(help));
            }
        }
        let mut parts = task.parts.clone();
        parts.retain(|part| !matches!(part, TaskPart::Text(text) if text.is_empty()));
        Some(TaskPlan::Parts(parts))
    }

    /// The nodes that a node waits for, directly or not, in file order.
    fn ancestors(&self, node: NodeIx) -> Vec<Name> {
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let mut open = vec![node];
        while let Some(next) = open.pop() {
            for before in &self.pipeline.at(next).after {
                if seen.insert(before.0) {
                    open.push(*before);
                }
            }
        }
        if !self.pipeline.waves() {
            // Where edges lead, any node may have been before.
            seen.extend((0..self.pipeline.nodes.len()).filter(|at| *at != node.0));
        }
        // In a cycle, which is reported, a node waits for itself.
        seen.into_iter().filter(|at| *at != node.0).map(|at| self.pipeline.nodes[at].name.as_str().into()).collect()
    }
}

/// The groups of parameters that a script may read, next to its task; those that a cached answer depends on.
fn groups<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<Box<str>> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for path in paths {
        let mut parts = path.split(['.', '[']);
        match (parts.next(), parts.next()) {
            (Some("params"), Some(group)) if group != "task" => drop(found.insert(group)),
            (Some("params"), None) => found.extend(HANDED_ON),
            (Some("vars"), _) => drop(found.insert("vars")),
            _ => {}
        }
    }
    found.into_iter().map(Into::into).collect()
}
