//! The verdict of a case: which defect it is, decided by weighted rules over its evidence, and its confidence.
//!
//! Each rule that matches adds its weights, times its strength, to the log-odds of defects; so does each signature that matched.
//! Of the rules and signatures of one group only the strongest counts, since they are the same evidence. The softmax of the sums
//! are the probabilities (`docs/changing-rules.md`, "Verdicts").

use super::content::Content;
use super::name::Name;
use super::queries::Query;
use asterisk_base::model::words::split_words;
use asterisk_base::model::{Hash, Kind};
use asterisk_diag::Diagnostic;
use asterisk_script::probe::frame;
use asterisk_script::{RuleStrength, ScriptFunction, View};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Log-odds by defect, in the order written.
pub type DefectWeights = Vec<(Name, f64)>;

/// How verdicts are made: a linked `verdict:` section with the signatures of the domain.
#[derive(Clone, Debug)]
pub struct VerdictPlan {
    /// The defects to decide between, with their log-odds before any rule matches.
    pub priors: DefectWeights,
    /// The defect that is said where nothing is decided.
    pub undecided: Name,
    /// The least probability of a decided verdict, in [0, 1].
    pub floor: f64,
    /// The queries whose results the rules read.
    pub needs: Vec<&'static Query>,
    /// How strongly a signature that matched matches; fully without.
    pub strength: Option<ScriptFunction>,
    /// The rules, in file order.
    pub rules: Vec<VerdictFunction>,
    /// What signatures say, by id.
    pub signatures: BTreeMap<String, SignatureWeights>,
    /// What words of the evidence say, by word.
    pub terms: BTreeMap<String, TermWeights>,
    /// How much words count in addition to rules and signatures, in [0, 1].
    pub term_strength: f64,
    /// The temperature: what the log-odds are divided by before they become probabilities; `None` for 1.
    pub temperature: Option<f64>,
    /// The fitted temperature of `learned.yaml`, which replaces the one of the pipeline.
    pub fitted_temperature: Option<f64>,
    /// The address of the learned weights that replace declared ones, if any.
    pub learned: Option<Hash>,
    /// Where the learned weights of a rule or signature are written, by its id.
    pub learned_at: BTreeMap<String, Name>,
    /// The vars of the pipeline that it is of.
    pub vars: Content,
    /// The address of the data that verdicts depend on.
    pub data: Hash,
    /// The address of what rules are and read, without weights, groups and priors: where it is the same, the same rules match as
    /// strongly.
    pub functions: Hash,
    /// The address of all of this: verdicts of the same evidence by the same address are the same.
    pub address: Hash,
}

/// A rule of a verdict.
#[derive(Clone, Debug)]
pub struct VerdictFunction {
    /// The id.
    pub id: Name,
    /// The displayed name.
    pub name: Name,
    /// Its group, if it has one.
    pub group: Option<Name>,
    /// What it adds at full strength.
    pub weights: DefectWeights,
    /// Where it is written: `file:line`.
    pub at: Name,
    /// The function.
    pub function: ScriptFunction,
}

/// What a signature adds to a defect.
#[derive(Clone, Debug, PartialEq)]
pub struct SignatureWeights {
    /// Its title.
    pub title: Name,
    /// Its group.
    pub group: Name,
    /// What it adds at full strength; nothing if the place of the failure decides.
    pub weights: DefectWeights,
}

/// What a word adds to a defect.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TermWeights {
    /// What it adds where a line of the evidence has the word.
    pub weights: DefectWeights,
    /// Where it is written: `file:line`.
    pub at: Name,
}

/// The id of the combined rule for the words of the evidence.
pub const TERMS: &str = "terms";

/// The verdict of a case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The defect: the most probable, or the undecided one.
    pub defect: Name,
    /// The defect that is said where nothing is decided.
    pub undecided: Name,
    /// Whether it is probable enough to be decided.
    pub decided: bool,
    /// The least probability of a decided verdict.
    pub floor: f64,
    /// The probability of the most probable defect, in [0, 1].
    pub probability: f64,
    /// The temperature that the log-odds were divided by; `None` for 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The defects, the most probable first.
    pub hypotheses: Vec<Hypothesis>,
    /// The rules and signatures that matched, rules first.
    pub spoke: Vec<SpokenRule>,
    /// The rules that failed.
    pub failed: Vec<FailedRule>,
}

/// A defect with its probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hypothesis {
    /// The defect.
    pub defect: Name,
    /// Its probability.
    pub probability: f64,
    /// Its log-odds before any rule matches.
    pub prior: f64,
    /// Its log-odds.
    pub score: f64,
}

/// A rule or signature that matched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpokenRule {
    /// The id of the rule, or of the signature.
    pub id: Name,
    /// The name of the rule, or the title of the signature.
    pub name: Name,
    /// Whether it is a signature.
    pub signature: bool,
    /// Its group; empty if it has none.
    pub group: Name,
    /// Where it is written: `file:line`.
    pub at: Name,
    /// How strongly it matched, in (0, 1].
    pub strength: f64,
    /// Its weights at full strength.
    pub weights: BTreeMap<Name, f64>,
    /// Whether it counts: no other rule of its group is stronger.
    pub counted: bool,
    /// Why; empty if it gives no reason.
    pub because: String,
    /// The ids of the lines that it is about.
    pub about: Vec<String>,
    /// The words with weights that the evidence has, for [`TERMS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<Name>,
}

/// A rule that failed, which counts as silent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FailedRule {
    /// The rule.
    pub id: Name,
    /// Where it is written.
    pub at: Name,
    /// The error.
    pub error: String,
}

impl SpokenRule {
    /// What it adds to the log-odds of a defect.
    pub fn contribution(&self, defect: &str) -> f64 {
        self.weights.get(defect).map_or(0.0, |weight| weight * self.strength)
    }

    /// The size of its largest contribution.
    fn weight(&self) -> f64 {
        self.weights.values().map(|weight| (weight * self.strength).abs()).fold(0.0, f64::max)
    }
}

impl VerdictPlan {
    /// The verdict of a case. `evidence` and `context` are what rules see.
    pub fn judge(&self, evidence: &View, context: &View) -> Verdict {
        let null = View::null();
        let vars = self.vars.view().unwrap_or(&null);
        let mut verdict = self.verdict(Verdict::default());
        for rule in &self.rules {
            let spoken = |said: RuleStrength| SpokenRule {
                id: rule.id.clone(),
                name: rule.name.clone(),
                signature: false,
                group: rule.group.clone().unwrap_or_default(),
                at: rule.at.clone(),
                strength: rounded(said.strength),
                weights: rule.weights.iter().cloned().collect(),
                counted: true,
                because: said.because.unwrap_or_default(),
                about: said.about,
                words: Vec::new(),
            };
            let said = frame("verdict rule", &rule.id, || rule.function.weigh(&[evidence, context, vars]));
            verdict.take(said.map(|said| said.map(spoken)), &rule.id, &rule.at);
        }
        for found in evidence.get("matches").as_ref().map_or(&[][..], View::items) {
            self.signature(found, (evidence, context, vars), &mut verdict);
        }
        verdict.spoke.extend(self.terms(evidence));
        verdict.decide(&self.priors);
        verdict
    }

    /// The result of a rule for a case; `None` if the id is unknown.
    pub fn ask(&self, id: &str, evidence: &View, context: &View) -> Option<Result<Option<RuleStrength>, Box<Diagnostic>>> {
        let rule = self.rules.iter().find(|rule| *rule.id == *id)?;
        let null = View::null();
        Some(rule.function.weigh(&[evidence, context, self.vars.view().unwrap_or(&null)]))
    }

    /// The verdict with the weights, groups and priors of this plan, and the strengths of another with the same
    /// [`functions`](Self::functions).
    pub fn weigh_again(&self, other: &Verdict) -> Verdict {
        let mut verdict = self.verdict(other.clone());
        for spoken in &mut verdict.spoke {
            if !spoken.words.is_empty() {
                let words = std::mem::take(&mut spoken.words);
                *spoken = self.matched_terms(words, std::mem::take(&mut spoken.about));
                continue;
            }
            let (group, weights) = if spoken.signature {
                let known = self.signatures.get(spoken.id.as_str());
                (known.map(|known| known.group.clone()), known.map(|known| &known.weights))
            } else {
                let known = self.rules.iter().find(|rule| rule.id == spoken.id);
                (known.and_then(|known| known.group.clone()), known.map(|known| &known.weights))
            };
            spoken.group = group.unwrap_or_default();
            spoken.weights = weights.into_iter().flatten().cloned().collect();
        }
        verdict.spoke.retain(|spoken| spoken.id != TERMS || spoken.words.len() >= FEWEST_TERMS);
        verdict.decide(&self.priors);
        verdict
    }

    /// A verdict with what this plan sets for all.
    fn verdict(&self, of: Verdict) -> Verdict {
        Verdict { undecided: self.undecided.clone(), floor: self.floor, temperature: self.temperature, ..of }
    }

    /// The words of the evidence that have weights match as one, about the lines that have the weightiest.
    fn terms(&self, evidence: &View) -> Option<SpokenRule> {
        if self.terms.is_empty() || self.term_strength <= 0.0 {
            return None;
        }
        let said: Vec<(Name, String)> = evidence_terms(evidence, |word| self.terms.contains_key(word));
        let words = said.iter().map(|(word, _)| word.clone()).collect();
        let mut spoken = self.matched_terms(words, Vec::new());
        let by_weight = self.by_weight(&spoken.words);
        let lines = by_weight.iter().take(SHOWN_TERMS).filter_map(|word| said.iter().find(|(known, _)| known == *word));
        for (_, line) in lines {
            if !spoken.about.contains(line) {
                spoken.about.push(line.clone());
            }
        }
        Some(spoken).filter(|spoken| spoken.words.len() >= FEWEST_TERMS)
    }

    /// What these words say together, of those that have weights.
    fn matched_terms(&self, words: Vec<Name>, about: Vec<String>) -> SpokenRule {
        let words: Vec<Name> = words.into_iter().filter(|word| self.terms.contains_key(word.as_str())).collect();
        let mut weights: BTreeMap<Name, f64> = BTreeMap::new();
        for (defect, weight) in words.iter().flat_map(|word| &self.terms[word.as_str()].weights) {
            *weights.entry(defect.clone()).or_default() += weight;
        }
        for weight in weights.values_mut() {
            *weight = rounded(*weight);
        }
        let by_weight = self.by_weight(&words);
        let shown: Vec<&str> = by_weight.iter().take(SHOWN_TERMS).map(|word| word.as_str()).collect();
        let more = by_weight.len() - shown.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let at = by_weight.first().map(|word| self.terms[word.as_str()].at.clone());
        SpokenRule {
            id: TERMS.into(),
            name: "words".into(),
            signature: false,
            group: Name::default(),
            at: at.unwrap_or_default(),
            strength: self.term_strength,
            weights,
            counted: true,
            because: format!("{}{more}", shown.join(", ")),
            about,
            words,
        }
    }

    /// The verdict with all of these words noted, so that [`weigh_again`](Self::weigh_again) can give weights to any of them.
    #[must_use]
    pub fn with_words(&self, mut verdict: Verdict, words: Vec<Name>) -> Verdict {
        let spoke = verdict.spoke.iter().position(|spoken| spoken.id == TERMS);
        let about = spoke.map_or_else(Vec::new, |at| verdict.spoke.remove(at).about);
        verdict.spoke.push(SpokenRule { words: words.clone(), ..self.matched_terms(words, about) });
        verdict
    }

    /// The words, the weightiest first; of equals the one that came first.
    fn by_weight<'w>(&self, words: &'w [Name]) -> Vec<&'w Name> {
        let weight = |word: &Name| {
            let known = self.terms.get(word.as_str()).into_iter().flat_map(|known| &known.weights);
            known.map(|(_, weight)| weight.abs()).fold(0.0, f64::max)
        };
        let mut words: Vec<&Name> = words.iter().collect();
        words.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        words
    }

    fn signature(&self, found: &View, (evidence, context, vars): (&View, &View, &View), verdict: &mut Verdict) {
        let text = |key: &str| found.get(key).and_then(|value| value.as_str().map(Name::from)).unwrap_or_default();
        let (id, at) = (text("id"), text("at"));
        let Some(known) = self.signatures.get(id.as_str()).filter(|known| !known.weights.is_empty()) else { return };
        let said = match &self.strength {
            Some(strength) => frame("signature", &id, || strength.weigh(&[found, evidence, context, vars])),
            None => Ok(Some(RuleStrength { strength: 1.0, because: None, about: Vec::new() })),
        };
        let spoken = |said: RuleStrength| SpokenRule {
            name: known.title.clone(),
            signature: true,
            group: known.group.clone(),
            strength: rounded(said.strength),
            weights: known.weights.iter().cloned().collect(),
            counted: true,
            because: said.because.unwrap_or_else(|| text("text").into()),
            about: if said.about.is_empty() { vec![text("line").into()] } else { said.about },
            words: Vec::new(),
            id: id.clone(),
            at: at.clone(),
        };
        verdict.take(said.map(|said| said.map(spoken)), &id, &at);
    }
}

impl Verdict {
    fn take(&mut self, said: Result<Option<SpokenRule>, Box<Diagnostic>>, id: &Name, at: &Name) {
        match said {
            Ok(spoken) => self.spoke.extend(spoken),
            Err(error) => self.failed.push(FailedRule { id: id.clone(), at: at.clone(), error: error.to_string() }),
        }
    }

    /// Decides by what matched: which rule of each group counts, the sums in the order of declaration, and their softmax. Results
    /// are rounded to a millionth, so that they are the same on every machine.
    fn decide(&mut self, priors: &[(Name, f64)]) {
        self.count();
        let score = |(defect, prior): &(Name, f64)| {
            let counted = self.spoke.iter().filter(|rule| rule.counted);
            counted.fold(*prior, |sum, rule| sum + rule.contribution(defect))
        };
        let scores: Vec<f64> = priors.iter().map(score).collect();
        let top = scores.iter().copied().fold(f64::MIN, f64::max);
        let temperature = self.temperature.unwrap_or(1.0);
        let odds: Vec<f64> = scores.iter().map(|score| libm::exp((score - top) / temperature)).collect();
        let total: f64 = odds.iter().sum();
        let hypothesis = |((defect, prior), (score, odds)): (&(Name, f64), (f64, f64))| Hypothesis {
            defect: defect.clone(),
            probability: rounded(odds / total),
            prior: *prior,
            score: rounded(score),
        };
        self.hypotheses = priors.iter().zip(scores.into_iter().zip(odds)).map(hypothesis).collect();
        // Stable: of equals the one declared first is first.
        self.hypotheses.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        let best = self.hypotheses.first();
        self.probability = best.map_or(0.0, |best| best.probability);
        self.decided = best.is_some() && self.probability >= self.floor;
        self.defect = best.filter(|_| self.decided).map_or_else(|| self.undecided.clone(), |best| best.defect.clone());
    }

    /// The verdict without these rules and signatures. Another rule of their groups may count instead.
    #[must_use]
    pub fn without(&self, silent: impl Fn(&SpokenRule) -> bool) -> Self {
        let mut other = self.clone();
        other.spoke.retain(|rule| !silent(rule));
        let priors: Vec<(Name, f64)> = self.hypotheses.iter().map(|one| (one.defect.clone(), one.prior)).collect();
        other.decide(&priors);
        other
    }

    /// The verdict if a rule or signature that matched had another weight for a defect. Another rule of its group may count instead.
    #[must_use]
    pub fn with_weight(&self, id: &str, defect: &str, weight: f64) -> Self {
        let mut other = self.clone();
        for rule in other.spoke.iter_mut().filter(|rule| rule.id == *id) {
            rule.weights.insert(defect.into(), weight);
        }
        let priors: Vec<(Name, f64)> = self.hypotheses.iter().map(|one| (one.defect.clone(), one.prior)).collect();
        other.decide(&priors);
        other
    }

    /// Of each group, the strongest counts; of equals the first.
    fn count(&mut self) {
        let mut strongest: BTreeMap<Name, usize> = BTreeMap::new();
        for (at, rule) in self.spoke.iter().enumerate().filter(|(_, rule)| !rule.group.is_empty()) {
            let first = strongest.entry(rule.group.clone()).or_insert(at);
            if rule.weight() > self.spoke[*first].weight() {
                *first = at;
            }
        }
        for (at, rule) in self.spoke.iter_mut().enumerate() {
            rule.counted = rule.group.is_empty() || strongest.get(&rule.group) == Some(&at);
        }
    }

    /// The document that scripts read.
    pub fn view(&self) -> View {
        View::of(&json!(self), &Kind::Any, "params.verdict")
    }
}

/// How many words a verdict names as its reason.
const SHOWN_TERMS: usize = 6;
/// The fewest words that match: a single one is not text.
const FEWEST_TERMS: usize = 2;
/// The shortest word that is a term.
const SHORTEST_TERM: usize = 4;
/// The most lines of an evidence document that are read for terms: its error comes first.
const TERM_LINES: usize = 200;

/// Whether evidence can have this word as a term: one word in lower case, long enough and without digits.
pub fn is_term(word: &str) -> bool {
    let long = word.chars().count() >= SHORTEST_TERM && !word.contains(char::is_numeric);
    long && word == word.to_lowercase() && split_words(word).eq([word])
}

/// The words of the lines that count, each with the id of the first line that has it, in order: letters only, since numbers and ids
/// differ from failure to failure. They are the lines of the error; where it has none, those of the log. Only those words are
/// listed that `wanted` accepts.
pub fn evidence_terms(evidence: &View, wanted: impl Fn(&str) -> bool) -> Vec<(Name, String)> {
    let lines = evidence.get("lines");
    let lines = lines.as_ref().map_or(&[][..], View::items);
    let of_error = |line: &&View| line.get("source").is_some_and(|source| source.as_str() == Some("error"));
    let only_error = lines.iter().any(|line| of_error(&line));
    let mut seen = BTreeSet::new();
    let mut terms = Vec::new();
    for line in lines.iter().filter(|line| !only_error || of_error(line)).take(TERM_LINES) {
        let (id, text) = (line.get("id"), line.get("text"));
        let [id, text] = [&id, &text].map(|value| value.as_ref().and_then(View::as_str).unwrap_or_default());
        for word in split_words(text).filter(|word| word.len() >= SHORTEST_TERM) {
            let word = if word.contains(char::is_uppercase) { Cow::Owned(word.to_lowercase()) } else { Cow::Borrowed(word) };
            if wanted(&word) && is_term(&word) && !seen.contains(&*word) {
                terms.push((word.as_ref().into(), id.to_owned()));
                seen.insert(word.into_owned());
            }
        }
    }
    terms
}

/// To a millionth.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;

    fn rule(id: &str, group: &str, weights: &[(&str, f64)], strength: f64) -> SpokenRule {
        SpokenRule {
            id: id.into(),
            name: id.into(),
            signature: false,
            group: group.into(),
            at: "p.yaml:1".into(),
            strength,
            weights: weights.iter().map(|(defect, weight)| ((*defect).into(), *weight)).collect(),
            counted: true,
            because: String::new(),
            about: Vec::new(),
            words: Vec::new(),
        }
    }

    fn decided(spoke: Vec<SpokenRule>, floor: f64) -> Verdict {
        let priors = [("a".into(), 0.0), ("b".into(), 0.0)];
        let mut verdict = Verdict { spoke, undecided: "none".into(), floor, ..Verdict::default() };
        verdict.decide(&priors);
        verdict
    }

    #[test]
    fn the_softmax_of_the_sums_is_the_probability() {
        let verdict = decided(vec![rule("1", "", &[("a", 2.0)], 0.5), rule("2", "", &[("b", -1.0)], 1.0)], 0.5);
        assert_eq!((verdict.defect.as_str(), verdict.decided), ("a", true));
        // 1 / (1 + exp(-2))
        assert!((verdict.probability - 0.880_797).abs() < 1e-9, "{}", verdict.probability);
        assert_eq!(verdict.hypotheses.iter().map(|one| one.score).collect::<Vec<_>>(), [1.0, -1.0]);
    }

    #[test]
    fn of_a_group_the_strongest_counts() {
        let spoke = vec![
            rule("weak", "net", &[("a", 1.0)], 1.0),
            rule("strong", "net", &[("a", 2.0)], 1.0),
            rule("equal", "net", &[("b", 2.0)], 1.0),
            rule("alone", "", &[("b", 0.5)], 1.0),
        ];
        let verdict = decided(spoke, 0.5);
        let counted: Vec<&str> = verdict.spoke.iter().filter(|rule| rule.counted).map(|rule| rule.id.as_str()).collect();
        assert_eq!(counted, ["strong", "alone"]);
        assert!((verdict.hypotheses[0].score - 2.0).abs() < 1e-9);
    }

    #[test]
    fn below_the_floor_nothing_is_decided() {
        let verdict = decided(vec![rule("1", "", &[("a", 0.1)], 1.0)], 0.6);
        assert_eq!((verdict.defect.as_str(), verdict.decided), ("none", false));
        assert_eq!(verdict.hypotheses[0].defect, "a");
        let silent = decided(Vec::new(), 0.5);
        assert_eq!((silent.defect.as_str(), silent.probability), ("a", 0.5), "of equals the first");
    }

    #[test]
    fn a_temperature_lowers_the_confidence_in_the_same_defect() {
        let sure = decided(vec![rule("1", "", &[("a", 2.0)], 1.0)], 0.5);
        let mut tempered = Verdict { temperature: Some(2.0), ..sure.clone() };
        tempered.decide(&[("a".into(), 0.0), ("b".into(), 0.0)]);
        // 1 / (1 + exp(-1))
        assert!((tempered.probability - 0.731_059).abs() < 1e-9, "{}", tempered.probability);
        assert_eq!((tempered.defect, &tempered.hypotheses[0].score), (sure.defect, &2.0));
    }

    #[test]
    fn a_term_is_one_long_word_in_lower_case_without_digits() {
        assert!(is_term("selector") && is_term("naïve"));
        for no in ["oom", "Selector", "time-out", "utf8", "two words", ""] {
            assert!(!is_term(no), "{no}");
        }
    }

    #[test]
    fn terms_are_words_of_the_error_and_of_the_log_without_one() {
        let of = |lines: serde_json::Value| {
            let evidence = View::of(&json!({ "lines": lines }), &Kind::Any, "evidence");
            evidence_terms(&evidence, |_| true).into_iter().map(|(word, line)| format!("{word}@{line}")).collect::<Vec<_>>()
        };
        let error = json!({ "id": "e1", "source": "error", "text": "Reactor r2d2 drained: the reactor of bay 7" });
        let log = json!({ "id": "l4", "source": "log", "text": "Drained twice" });
        assert_eq!(of(json!([error, log])), ["reactor@e1", "drained@e1"]);
        assert_eq!(of(json!([log])), ["drained@l4", "twice@l4"]);
    }

    proptest! {
        #[test]
        fn probabilities_add_up_and_do_not_depend_on_silent_rules(
            weights in proptest::collection::vec((-20.0_f64..20.0, 0.01_f64..1.0, 0..3_usize), 0..12),
        ) {
            let groups = ["", "g", "h"];
            let spoke: Vec<SpokenRule> = weights
                .iter()
                .enumerate()
                .map(|(at, (weight, strength, group))| {
                    rule(&at.to_string(), groups[*group], &[(["a", "b"][at % 2], *weight)], *strength)
                })
                .collect();
            let verdict = decided(spoke, 0.5);
            let sum: f64 = verdict.hypotheses.iter().map(|one| one.probability).sum();
            prop_assert!((sum - 1.0).abs() < 1e-5);
            let again = verdict.without(|rule| !rule.counted);
            prop_assert_eq!(again.hypotheses, verdict.hypotheses);
        }
    }
}
