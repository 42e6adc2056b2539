//! The verdict of a case as it was recorded: what matched, and what would have changed it.

use super::explanation::{diagnosed, lines};
use super::params::{RecordedGroup, VerdictInputs};
use super::recorded::Decisions;
use super::selection::{CaseList, StepQuery, StepSelection, find, refused};
use super::steps::{JournalStep, damaged};
use asterisk_base::model::Kind;
use asterisk_diag::{Diagnostic, did_you_mean};
use asterisk_project::{LinkSettings, Project};
use asterisk_script::check::CheckedParameter;
use asterisk_script::probe::{Miss, Outline, OutlineLine, Probes, Recorder, RecordingScope, explanatory};
use asterisk_script::{Library, ScriptFunction, View};
use asterisk_session::{Session, SessionError};
use asterisk_walk::{EventBody, Name, Plan, SpokenRule, TERMS, Verdict, VerdictFunction, VerdictPlan, WALK};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The list of the domain that fields of answers name defects of.
const DEFECTS: &str = "defects";

/// The verdict of a case.
#[derive(Clone, Debug, Serialize)]
pub struct CaseVerdict {
    /// The run.
    pub run: String,
    /// The case.
    pub case: String,
    /// Its name.
    pub name: String,
    /// The path of the step that it was made for.
    pub step: String,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The recorded verdict, where other texts or vars made this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedDefect>,
    /// The defect that an agent, a canned answer or a person declared, which replaces that of the rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared: Option<DeclaredDefect>,
    /// The defect that the report names, if that is another one: of a duplicate, that of its cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported: Option<RecordedDefect>,
    /// Where the weights of rules and signatures are set, by id, if that is not where they are written: learned weights.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub weights_at: BTreeMap<String, String>,
    /// The words that weigh most, if words have weights here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<WordWeight>,
    /// The verdicts without one of the rules.
    pub flips: Vec<VerdictFlip>,
    /// Why it is not the defect that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<WhyNot>,
    /// What the rule that was asked about made of the case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleTrial>,
    /// The first unmatched lines of the failure: candidates for a new rule or signature.
    pub unread: Vec<UnreadLine>,
    /// The functions of the rules that matched, by the rule's id; none if the recorded texts cannot be linked any more.
    pub functions: BTreeMap<String, String>,
    /// The names of the defects, by code.
    #[serde(skip)]
    pub defects: BTreeMap<String, String>,
}

/// What a recorded verdict came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordedDefect {
    /// The defect.
    pub defect: String,
    /// Its probability.
    pub probability: f64,
}

/// What a word of the evidence adds to a defect.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WordWeight {
    /// The word.
    pub word: String,
    /// The defect that it weighs most for or against.
    pub defect: String,
    /// What it adds to the log-odds of that.
    pub weight: f64,
}

/// The most words that are listed.
const WORDS: usize = 3;

/// The words of a verdict that weigh most.
fn words(verdict: &Verdict, plan: &VerdictPlan) -> Vec<WordWeight> {
    let spoken = verdict.spoke.iter().filter(|rule| rule.id == TERMS).flat_map(|rule| &rule.words);
    let weight = |word: &Name| {
        let weights = &plan.terms.get(word.as_str())?.weights;
        let (defect, weight) = weights.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        let weight = (weight * plan.term_strength * 1000.0).round() / 1000.0;
        Some(WordWeight { word: word.to_string(), defect: defect.to_string(), weight })
    };
    let mut words: Vec<WordWeight> = spoken.filter_map(weight).collect();
    words.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    words.truncate(WORDS);
    words
}

/// A project with a plan of it, by which the recorded evidence is judged again.
pub type OtherTexts<'a> = (&'a Arc<Project>, &'a Arc<Plan>);

/// A line of the evidence that no rule or signature of the verdict matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreadLine {
    /// Its id.
    pub id: String,
    /// Its text.
    pub text: String,
}

/// A defect in an answer that no script gave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeclaredDefect {
    /// The defect.
    pub defect: String,
    /// Who declared it: the name of an agent, else the kind of answerer.
    pub by: String,
    /// The step's path.
    pub step: String,
    /// The node.
    pub node: String,
    /// What the rules of the verdict give it; nothing if they do not decide about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
}

/// A rule or signature without which the verdict would be another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerdictFlip {
    /// Its id.
    pub without: String,
    /// The defect that it would be.
    pub defect: String,
    /// The probability of the most probable defect then.
    pub probability: f64,
}

/// Why a verdict is not a defect.
#[derive(Clone, Debug, Serialize)]
pub struct WhyNot {
    /// The defect.
    pub defect: String,
    /// Its probability.
    pub probability: f64,
    /// How much log-odds it lacks to the most probable one; 0 if it is that one.
    pub lacks: f64,
    /// Whether it is the most probable, and only too improbable to be said.
    pub undecided: bool,
    /// The rules that support it in general and said nothing here; empty if the recorded texts cannot be read.
    pub silent: Vec<SilentRule>,
}

/// A rule of the verdict, evaluated again on what it was given.
#[derive(Clone, Debug, Serialize)]
pub struct RuleTrial {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub at: String,
    /// Its function.
    pub function: String,
    /// What it asks, in the words of its function's comment.
    pub asks: String,
    /// Its strength; nothing if it is silent.
    pub strength: Option<f64>,
    /// The reason it gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The comparisons that made it silent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<Miss>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "diagnosed")]
    pub error: Option<Box<Diagnostic>>,
    /// The expressions evaluated, with their values.
    #[serde(serialize_with = "lines")]
    pub values: Vec<OutlineLine>,
}

/// A rule that said nothing.
#[derive(Clone, Debug, Serialize)]
pub struct SilentRule {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub at: String,
    /// What it would add at full strength.
    pub weight: f64,
    /// Its function: `verdicts/frames.rhai#test_threw`.
    pub function: String,
    /// What it asks, in the words of its function's comment.
    pub asks: String,
    /// Whether the evidence has anything of what it reads.
    pub applies: bool,
    /// Whether it reads more than lines, and the evidence has some of that.
    pub near: bool,
}

/// What there is to show.
#[derive(Clone, Debug)]
pub enum FoundVerdict {
    /// Of a case.
    Case(Box<CaseVerdict>),
    /// The cases, of which one must be named.
    Cases(CaseList),
}

/// The verdict of the requested case, and why it is not the defect `why_not`, or the result of the rule with that id. An error if
/// the case does not exist or no verdict of it was recorded.
pub fn verdict(session: &Session, asked: &StepQuery, why_not: Option<&str>) -> Result<FoundVerdict, SessionError> {
    let decisions = Decisions::open(session)?;
    match find(&decisions, asked)? {
        StepSelection::Cases(list) => Ok(FoundVerdict::Cases(list)),
        StepSelection::Case { run, case, steps } => {
            Ok(FoundVerdict::Case(Box::new(decisions.verdict(&run, &case, &steps, None, why_not)?)))
        }
    }
}

impl Decisions {
    /// The last verdict of a case with these steps, or what other texts make of the same evidence, and why it is not the defect
    /// `why_not`, or what the rule of that id made of it.
    pub fn verdict(
        &self,
        run: &str,
        case: &str,
        steps: &[JournalStep],
        other: Option<OtherTexts<'_>>,
        why_not: Option<&str>,
    ) -> Result<CaseVerdict, SessionError> {
        let Some((path, mut verdict)) = self.recorded_verdict(run, case)? else {
            let message = format!("no verdict of the case `{case}` was recorded");
            let help = "a verdict is made for the first step whose answerer reads its parameters, in a pipeline with `verdict:`";
            return Err(refused("input/no-verdict", message, Some(help.into())));
        };
        let mut recorded = None;
        if let Some((_, plan)) = other {
            let VerdictInputs { case, params, needs } = self.verdict_inputs(run, case)?;
            let Some(made) = params.verdict_by(&case, plan, &needs) else {
                let message = format!("the pipeline `{}` has no `verdict:`", *plan.pipeline.name);
                return Err(refused("input/no-verdict", message, None));
            };
            recorded = Some(RecordedDefect { defect: verdict.defect.to_string(), probability: verdict.probability });
            verdict = made;
        }
        let taxonomy = self.of_step(run, steps, &path).and_then(|project| project.plan.taxonomy.view().map(View::json));
        let names = taxonomy.as_ref().and_then(|taxonomy| taxonomy["defects"].as_object()).into_iter().flatten();
        let defects = names.filter_map(|(code, defect)| Some((code.clone(), defect["name"].as_str()?.to_owned()))).collect();
        let name = self.record().store().case(run, case)?.name;
        let flips = flips(&verdict);
        let step = path.to_string();
        let (run, case) = (run.to_owned(), case.to_owned());
        let declared = self.declared(&run, &case, steps, &verdict)?;
        let unread = unread(&self.evidence_of(&run, &case)?, &verdict);
        let plan = match other {
            Some((_, plan)) => plan.verdict.clone(),
            None => self.of_step(&run, steps, &step).and_then(|project| project.plan.verdict.clone()),
        };
        let functions = plan.iter().flat_map(|plan| &plan.rules).filter(|rule| verdict.spoke.iter().any(|one| one.id == rule.id));
        let functions = functions.map(|rule| (rule.id.to_string(), rule.function.key())).collect();
        let weights_at = plan.iter().flat_map(|plan| &plan.learned_at);
        let weights_at = weights_at.filter(|(id, _)| verdict.spoke.iter().any(|one| one.id == id.as_str()));
        let weights_at = weights_at.map(|(id, at)| (id.clone(), at.to_string())).collect();
        let words = plan.as_ref().map_or_else(Vec::new, |plan| words(&verdict, plan));
        let reported = if declared.is_some() { None } else { self.reported(&run, &case, &verdict)? };
        let mut found = CaseVerdict {
            reported,
            weights_at,
            words,
            run,
            case,
            name,
            step,
            verdict,
            recorded,
            declared,
            flips,
            why_not: None,
            rule: None,
            unread,
            functions,
            defects,
        };
        if let Some(asked) = why_not {
            found.rule = self.trial(&found, steps, other, asked)?;
            if found.rule.is_none() {
                found.why_not = Some(self.why_not(&found, steps, other, asked)?);
            }
        }
        Ok(found)
    }

    /// The last verdict that was recorded of a case, with the path of the step that it was made for.
    pub(super) fn recorded_verdict(&self, run: &str, case: &str) -> Result<Option<(Name, Verdict)>, SessionError> {
        let events = self.record().store().events(run, case)?.into_iter().rev();
        let made = events.into_iter().find_map(|(_, event)| match event.what {
            EventBody::Verdict { verdict, .. } => Some((event.path, verdict.hash())),
            _ => None,
        });
        let Some((path, hash)) = made else { return Ok(None) };
        let text = self.record().store().blob(&hash)?.ok_or_else(|| damaged(format!("the content {hash} is missing")))?;
        let verdict =
            serde_json::from_str(&text).map_err(|error| damaged(format!("the verdict of `{case}` cannot be read: {error}")))?;
        Ok(Some((path, verdict)))
    }

    /// The defect that the stored finding of a case names, if it is another one than that of the verdict.
    fn reported(&self, run: &str, case: &str, verdict: &Verdict) -> Result<Option<RecordedDefect>, SessionError> {
        let Some(last) = self.record().texts(run)?.pop() else { return Ok(None) };
        let finding = self.record().store().findings(run, last.revision)?.remove(case).unwrap_or_default();
        let defect = finding["defect_type"].as_str().filter(|defect| !defect.is_empty() && *defect != verdict.defect.as_str());
        let probability = finding["confidence"].as_f64().unwrap_or_default();
        Ok(defect.map(|defect| RecordedDefect { defect: defect.to_owned(), probability }))
    }

    /// The last defect that an answer declares which no script gave.
    fn declared(
        &self,
        run: &str,
        case: &str,
        steps: &[JournalStep],
        verdict: &Verdict,
    ) -> Result<Option<DeclaredDefect>, SessionError> {
        for (_, event) in self.record().store().events(run, case)?.into_iter().rev() {
            let EventBody::NodeExit { node, artifact, by, agent, .. } = event.what else { continue };
            if matches!(by.as_str(), "script" | WALK) {
                continue;
            }
            let Some(project) = self.of_step(run, steps, &event.path) else { continue };
            let Some(plan) = project.plan.of_path(&event.path) else { continue };
            let Some(spec) = plan.pipeline.node(&node).map(|node| plan.pipeline.at(node)) else { continue };
            let fields: Vec<&str> =
                spec.known.iter().filter(|field| field.list == DEFECTS).map(|field| field.path.as_str()).collect();
            if fields.is_empty() {
                continue;
            }
            let hash = artifact.hash();
            let text = self.record().store().blob(&hash)?.ok_or_else(|| damaged(format!("the content {hash} is missing")))?;
            let artifact: Value = serde_json::from_str(&text).unwrap_or_default();
            let said = |path: &&str| {
                path.split('.').fold(&artifact, |value, part| &value[part]).as_str().filter(|said| !said.is_empty())
            };
            let Some(defect) = fields.iter().find_map(said) else { continue };
            return Ok(Some(DeclaredDefect {
                defect: defect.to_owned(),
                by: agent.map_or_else(|| by.to_string(), |agent| agent.via.to_string()),
                step: event.path.to_string(),
                node: node.to_string(),
                probability: verdict.hypotheses.iter().find(|one| one.defect == defect).map(|one| one.probability),
            }));
        }
        Ok(None)
    }

    /// The recorded evidence of a case; null without any.
    fn evidence_of(&self, run: &str, case: &str) -> Result<Value, SessionError> {
        Ok(match self.group(run, case, "evidence")? {
            RecordedGroup::Of(_, value) => value,
            RecordedGroup::Lacking | RecordedGroup::NoParams => Value::Null,
        })
    }

    /// The project that a step used; nothing if its texts cannot be linked any more.
    fn of_step(&self, run: &str, steps: &[JournalStep], path: &str) -> Option<Arc<Project>> {
        let step = steps.iter().find(|step| *step.path == *path)?;
        self.project(run, step, Probes::None).ok()
    }

    /// Evaluates a rule again, observed; nothing if there is not a rule of this id, or if the recorded texts cannot be linked any
    /// more.
    fn trial(
        &self,
        found: &CaseVerdict,
        steps: &[JournalStep],
        other: Option<OtherTexts<'_>>,
        id: &str,
    ) -> Result<Option<RuleTrial>, SessionError> {
        let step = steps.iter().find(|step| *step.path == *found.step);
        let project = match other {
            Some((project, _)) => {
                let settings = LinkSettings { probes: Probes::All, ..project.settings.clone() };
                Some(Arc::new(Project::link(project.sources.clone(), settings)?))
            }
            None => step.and_then(|step| self.project(&found.run, step, Probes::All).ok()),
        };
        let Some(project) = project else { return Ok(None) };
        let with_vars = other.map(|(_, plan)| project.plan_of(&found.step, &plan.vars)).transpose()?.flatten();
        let whole = with_vars.filter(|plan| plan.verdict.is_some()).unwrap_or_else(|| Arc::clone(&project.plan));
        let Some(plan) = &whole.verdict else { return Ok(None) };
        let named = |rule: &&VerdictFunction| rule.id.eq_ignore_ascii_case(id) || rule.name.eq_ignore_ascii_case(id);
        let Some(rule) = plan.rules.iter().find(named) else { return Ok(None) };
        let VerdictInputs { case, params, needs } = self.verdict_inputs(&found.run, &found.case)?;
        let mut recorder = Recorder::new(RecordingScope::Values);
        let said = recorder.watch(|| params.ask_rule(&case, &whole, &needs, &rule.id));
        let (said, error) = match said {
            Some(Ok(said)) => (said, None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        let outline = Outline::new(project.library.probed());
        let (mut values, mut missed) = (Vec::new(), Vec::new());
        // The evidence is read before, and masks may be scripts.
        if let Some(evaluation) = recorder.evaluations().last() {
            values = explanatory(outline.lines(evaluation));
            if error.is_none() {
                values.extend(outline.unreached(evaluation));
                missed = if said.is_none() { outline.misses(evaluation) } else { Vec::new() };
            }
        }
        Ok(Some(RuleTrial {
            id: rule.id.to_string(),
            name: rule.name.to_string(),
            at: rule.at.to_string(),
            function: rule.function.key(),
            asks: first_sentence(rule.function.doc()),
            strength: said.as_ref().map(|said| said.strength),
            because: said.and_then(|said| said.because),
            missed,
            error,
            values,
        }))
    }

    fn why_not(
        &self,
        found: &CaseVerdict,
        steps: &[JournalStep],
        other: Option<OtherTexts<'_>>,
        defect: &str,
    ) -> Result<WhyNot, SessionError> {
        let verdict = &found.verdict;
        let project = match other {
            Some((project, _)) => Some(Arc::clone(project)),
            None => self.of_step(&found.run, steps, &found.step),
        };
        let plan = other.map_or_else(|| project.as_ref().map(|project| &project.plan), |(_, plan)| Some(plan));
        let plan = plan.and_then(|plan| plan.verdict.as_deref());
        let Some(asked) = verdict.hypotheses.iter().find(|one| one.defect == defect) else {
            let defects = || verdict.hypotheses.iter().map(|one| one.defect.as_str());
            if plan.is_some_and(|plan| plan.signatures.contains_key(defect)) {
                let spoke = verdict.spoke.iter().any(|rule| rule.signature && rule.id == defect);
                let said = if spoke { "matched; the verdict lists it" } else { "matched no line of evidence" };
                let message = format!("`{defect}` is a signature, which {said}");
                let help = format!("asterisk show signatures {defect} lists its patterns; `:try TEXT` in the REPL tests a line");
                return Err(refused("input/no-rule", message, Some(help)));
            }
            let rules = plan.iter().flat_map(|plan| &plan.rules).flat_map(|rule| [&*rule.id, &*rule.name]);
            let message = format!("unknown defect or rule `{defect}`");
            let help = did_you_mean(defect, defects().chain(rules)).unwrap_or_else(|| {
                let defects = defects().collect::<Vec<_>>().join(", ");
                format!("the defects are {defects}; or give the id or name of a rule under `verdict:` of the pipeline")
            });
            return Err(refused("input/unknown-defect", message, Some(help)));
        };
        let best = verdict.hypotheses.first().map_or(0.0, |best| best.score);
        let mut silent: Vec<SilentRule> = Vec::new();
        if let (Some(project), Some(plan)) = (&project, plan) {
            let evidence = self.evidence_of(&found.run, &found.case)?;
            let spoke = |id: &str| verdict.spoke.iter().any(|rule| rule.id == id);
            for rule in plan.rules.iter().filter(|rule| !spoke(&rule.id)) {
                let weight = rule.weights.iter().find(|(code, weight)| *code == defect && *weight > 0.0);
                let (id, name, at) = (rule.id.to_string(), rule.name.to_string(), rule.at.to_string());
                let (function, asks) = (rule.function.key(), first_sentence(rule.function.doc()));
                let Some((_, weight)) = weight else { continue };
                let (applies, near) = applies(&project.library, &rule.function, &evidence);
                silent.push(SilentRule { id, name, at, weight: *weight, function, asks, applies, near });
            }
            let rank = |rule: &SilentRule| (rule.applies, rule.near);
            silent.sort_by(|a, b| rank(b).cmp(&rank(a)).then(b.weight.total_cmp(&a.weight)));
        }
        let lacks = ((best - asked.score) * 1e6).round() / 1e6;
        Ok(WhyNot {
            defect: defect.to_owned(),
            probability: asked.probability,
            lacks,
            undecided: lacks == 0.0 && !verdict.decided,
            silent,
        })
    }
}

/// Each rule without which the verdict would be another, the closest to certainty first.
fn flips(verdict: &Verdict) -> Vec<VerdictFlip> {
    let counted = verdict.spoke.iter().filter(|rule| rule.counted);
    let flip = |rule: &SpokenRule| {
        let other = verdict.without(|one| one.id == rule.id);
        let (defect, probability) = (other.defect.to_string(), other.probability);
        (other.defect != verdict.defect).then(|| VerdictFlip { without: rule.id.to_string(), defect, probability })
    };
    counted.filter_map(flip).collect()
}

/// How many unmatched lines are listed.
const UNREAD: usize = 6;

/// The first lines that nothing matched, those of the error ahead of all others.
fn unread(evidence: &Value, verdict: &Verdict) -> Vec<UnreadLine> {
    let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let lines: Vec<&Value> = evidence["lines"].as_array().into_iter().flatten().collect();
    let of_error = |line: &Value| line["source"] == "error";
    let (error, other): (Vec<&Value>, Vec<&Value>) = lines.into_iter().partition(|line| of_error(line));
    let lines: Vec<UnreadLine> =
        error.into_iter().chain(other).map(|line| UnreadLine { id: text(line, "id"), text: text(line, "text") }).collect();
    let spoken = |line: &UnreadLine| verdict.spoke.iter().any(|rule| rule.about.contains(&line.id));
    // A log often repeats what the error says.
    let mut seen: HashSet<String> = lines.iter().filter(|line| spoken(line)).map(|line| line.text.trim().to_owned()).collect();
    lines.into_iter().filter(|line| !spoken(line) && seen.insert(line.text.trim().to_owned())).take(UNREAD).collect()
}

/// Whether the evidence has anything of what a rule reads (true for one that reads other inputs only), and whether that is more than lines.
fn applies(library: &Library, function: &ScriptFunction, evidence: &Value) -> (bool, bool) {
    let inputs = ["evidence", "context", "vars"].map(|name| CheckedParameter { name, kind: &Kind::Any });
    let has = |part: &str| match evidence.get(part) {
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(entries)) => entries.values().any(|entry| entry.as_array().is_none_or(|items| !items.is_empty())),
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Bool(set)) => *set,
        Some(other) => !other.is_null(),
        None => false,
    };
    let reads = library.check(function, &inputs).reads;
    let parts = reads.iter().filter_map(|read| {
        let rest = read.path.strip_prefix("evidence")?;
        Some(rest.trim_start_matches('.').split(['.', '[']).next().unwrap_or_default())
    });
    let parts: Vec<&str> = parts.collect();
    let near = parts.iter().any(|part| !matches!(*part, "" | "lines") && has(part));
    (near || parts.is_empty() || parts.iter().any(|part| part.is_empty() || has(part)), near)
}

fn first_sentence(doc: &str) -> String {
    let line = doc.split_whitespace().collect::<Vec<_>>().join(" ");
    line.split_once(". ").map_or(line.trim_end_matches('.'), |(first, _)| first).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_diag::Source;
    use asterisk_script::{FunctionRef, LibraryInputs};
    use serde_json::json;

    #[test]
    fn lines_without_a_match_begin_with_those_of_the_error() {
        let line = |id: &str, source: &str| json!({ "id": id, "source": source, "text": format!("text {id}") });
        let evidence = json!({ "lines": [line("l1", "log"), line("e1", "error"), line("e2", "error")] });
        let spoke = asterisk_walk::SpokenRule {
            id: "V1".into(),
            name: "".into(),
            signature: false,
            group: "".into(),
            at: "".into(),
            strength: 1.0,
            weights: BTreeMap::new(),
            counted: true,
            because: String::new(),
            about: vec!["e1".into()],
            words: Vec::new(),
        };
        let verdict = Verdict { spoke: vec![spoke], ..Verdict::default() };
        let ids: Vec<String> = unread(&evidence, &verdict).into_iter().map(|line| line.id).collect();
        assert_eq!(ids, ["e2", "l1"]);
        assert!(unread(&Value::Null, &verdict).is_empty());
    }

    #[test]
    fn rules_apply_where_the_evidence_has_what_they_read() {
        let script = "\
/// Frames.
fn frames(evidence, context, vars) { evidence.frames.len() > 1 }
/// Both.
fn both(evidence, context, vars) { evidence.frames.len() > 1 && evidence.lines.any(|line| line.text == `x`) }
/// Neither.
fn neither(evidence, context, vars) { context.needs.siblings.len() > 1 }
/// All.
fn all(evidence, context, vars) { help(evidence) }
private fn help(any) { any.keys().len() > 1 }
";
        let scripts = vec![Source::new("verdicts/v.rhai", script)];
        let library = Library::link(LibraryInputs { scripts, ..LibraryInputs::default() }, None).expect("links");
        let evidence = json!({ "frames": [], "lines": [{ "text": "x" }] });
        let function = |name: &str| {
            let function = FunctionRef::parse(&format!("verdicts/v.rhai#{name}")).expect("a reference");
            library.function(&function, 3).expect("is there")
        };
        let applies = |name: &str| applies(&library, &function(name), &evidence);
        let expected = [(false, false), (true, false), (true, false), (true, false)];
        assert_eq!(["frames", "both", "neither", "all"].map(applies), expected);
        let with_frames = json!({ "frames": [1], "lines": [] });
        assert_eq!(super::applies(&library, &function("frames"), &with_frames), (true, true));
        assert_eq!(first_sentence("It is\nso. And so."), "It is so");
    }
}
