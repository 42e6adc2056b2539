//! Gates: advisors review an answer, and their votes decide whether it passes.

use super::name::Name;
use super::sourced::Sourced;
use crate::diag::{Diagnostic, Source, Span};
use crate::pipeline::CouncilDecision;
use crate::script::{ScriptFunction, View};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most issues, and the most suggestions, that a decision keeps.
const MOST_ISSUES: usize = 10;
/// From how many issues on they are severe.
const SEVERE: usize = 5;

/// A linked gate.
#[derive(Clone, Debug)]
pub struct GatePlan {
    pub advisors: Vec<AdvisorPlan>,
    /// How the votes of a council decide; a single advisor decides alone.
    pub council: Option<CouncilDecision>,
    /// The least score.
    pub threshold: Sourced<f64>,
    /// Where the advisors are named.
    pub from: Name,
    /// The gate, or the advisor, in the pipeline.
    pub place: (Source, Span),
}

/// An advisor of a gate.
#[derive(Clone, Debug)]
pub struct AdvisorPlan {
    pub name: Name,
    pub weight: f64,
    /// Called with `(output, task, context)`.
    pub function: ScriptFunction,
}

/// What an advisor says of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AdvisorReview {
    pub advisor: Name,
    /// In [0, 1].
    pub score: f64,
    pub approved: bool,
    #[serde(default)]
    pub summary: String,
    #[serde(default)]
    pub suggestions: Vec<String>,
    #[serde(default)]
    pub critical_issues: Vec<String>,
    #[serde(default)]
    pub severity: String,
}

/// The decision of a gate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GateDecision {
    /// The score: that of the advisor, or of the council, rounded to hundredths.
    pub score: f64,
    /// Whether the advisor, or the council, approves.
    pub approved: bool,
    /// Whether the answer passes: it is approved, and its score reaches the threshold.
    pub passed: bool,
    pub threshold: f64,
    /// Where the threshold is from.
    pub from: Name,
    /// How the council decided: `majority` or `average`; empty for a single advisor.
    pub decision: String,
    pub summary: String,
    pub suggestions: Vec<String>,
    pub critical_issues: Vec<String>,
    pub severity: String,
    pub reviews: Vec<AdvisorReview>,
}

impl GatePlan {
    /// Asks an advisor. Fails if its script throws, or returns something else.
    pub fn ask(advisor: &AdvisorPlan, output: &View, task: &View, context: &View) -> Result<AdvisorReview, Box<Diagnostic>> {
        let said = advisor.function.value(&[output, task, context])?;
        review(&advisor.name, &said).map_err(|what| {
            let message = format!("the advisor `{}` returned {what}", advisor.name);
            let help = "return #{ score: 0.9, approved: true, summary: \"...\", suggestions: [], critical_issues: [], severity: \"low\" }";
            let mut diagnostic = Diagnostic::error("advisor/return", message).help(help);
            if let Some((source, span)) = advisor.function.definition() {
                diagnostic = diagnostic.label(&source, span, "returned from here");
            }
            Box::new(diagnostic)
        })
    }

    /// Decides by what the advisors said, in their order.
    pub fn decide(&self, reviews: Vec<AdvisorReview>) -> GateDecision {
        let weights: Vec<f64> = self.advisors.iter().map(|advisor| advisor.weight).collect();
        decide(self.council, &weights, &self.threshold, reviews)
    }
}

/// Decides by reviews and the weights of those who made them.
pub fn decide(
    council: Option<CouncilDecision>,
    weights: &[f64],
    threshold: &Sourced<f64>,
    reviews: Vec<AdvisorReview>,
) -> GateDecision {
    let Sourced { value: least, from } = threshold.clone();
    let mut made = GateDecision { threshold: least, from, ..GateDecision::default() };
    match (council, reviews.as_slice()) {
        (None, [only]) => {
            (made.score, made.approved, made.severity) = (only.score, only.approved, only.severity.clone());
            (made.suggestions, made.critical_issues) = (only.suggestions.clone(), only.critical_issues.clone());
            made.summary.clone_from(&only.summary);
        }
        (council, reviews) => {
            let council = council.unwrap_or_default();
            let votes = reviews.iter().filter(|review| review.approved && review.score >= least).count();
            let mean = mean(reviews, if council == CouncilDecision::Average { weights } else { &[] });
            made.score = (mean * 100.0).round() / 100.0;
            made.approved = match council {
                CouncilDecision::Majority => votes > reviews.len() / 2,
                CouncilDecision::Average => !reviews.is_empty() && mean >= least,
            };
            council.word().clone_into(&mut made.decision);
            let all = |of: fn(&AdvisorReview) -> &Vec<String>| reviews.iter().flat_map(of).take(MOST_ISSUES).cloned().collect();
            (made.suggestions, made.critical_issues) = (all(|review| &review.suggestions), all(|review| &review.critical_issues));
            let severity = match made.critical_issues.len() {
                0 => "low",
                issues if issues < SEVERE => "medium",
                _ => "high",
            };
            severity.clone_into(&mut made.severity);
            let said = |review: &AdvisorReview| format!("{}: {}", review.advisor, review.summary);
            made.summary = reviews.iter().filter(|review| !review.summary.is_empty()).map(said).collect::<Vec<_>>().join("; ");
        }
    }
    made.passed = made.approved && made.score >= least;
    made.reviews = reviews;
    made
}

/// The mean of the scores by weight; weights that sum to nothing do not count.
fn mean(reviews: &[AdvisorReview], weights: &[f64]) -> f64 {
    let weight = |at: usize| weights.get(at).copied().unwrap_or(1.0);
    let total: f64 = (0..reviews.len()).map(weight).sum();
    if reviews.is_empty() {
        return 0.0;
    }
    if total <= 0.0 {
        return mean(reviews, &[]);
    }
    reviews.iter().enumerate().map(|(at, review)| weight(at) * review.score).sum::<f64>() / total
}

/// Reads what an advisor returned; the error says what it is instead.
fn review(advisor: &Name, said: &Value) -> Result<AdvisorReview, String> {
    if !said.is_object() {
        return Err("no map".to_owned());
    }
    let Some(score) = said["score"].as_f64().filter(|score| (0.0..=1.0).contains(score)) else {
        return Err(match &said["score"] {
            Value::Null => "no `score`".to_owned(),
            other => format!("the score {other}, which is not from 0 to 1"),
        });
    };
    let Some(approved) = said["approved"].as_bool() else { return Err("no `approved` that is true or false".to_owned()) };
    let texts = |key: &str| match &said[key] {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => Ok(items.iter().map(text).collect()),
        other => Err(format!("`{key}` {other}, which is not a list")),
    };
    Ok(AdvisorReview {
        advisor: advisor.clone(),
        score,
        approved,
        summary: said["summary"].as_str().unwrap_or_default().to_owned(),
        suggestions: texts("suggestions")?,
        critical_issues: texts("critical_issues")?,
        severity: said["severity"].as_str().unwrap_or("low").to_owned(),
    })
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl GateDecision {
    /// Who gave which score against which threshold, in a sentence.
    pub fn reasons(&self) -> String {
        let who = |review: &AdvisorReview| {
            let verdict = if review.approved { "approved" } else { "rejected" };
            format!("{} {verdict} it with {}", review.advisor, review.score)
        };
        let votes = self.reviews.iter().map(who).collect::<Vec<_>>().join(", ");
        let rule = match self.decision.as_str() {
            "" => String::new(),
            decision => format!("; by {decision} the council gives {}", self.score),
        };
        let least = format!("the threshold is {} ({})", self.threshold, self.from);
        let why = if self.approved || self.score < self.threshold { least } else { format!("{least}, but it is not approved") };
        format!("{votes}{rule}; {why}")
    }

    /// What to change, one item a line.
    pub fn advice(&self) -> Vec<String> {
        self.critical_issues.iter().chain(&self.suggestions).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn the_decisions_of_the_vectors_hold() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let file = ["../shared", "../../shared"].map(|dir| root.join(dir).join("vectors/policy.json"));
        let Some(text) = file.iter().find_map(|path| std::fs::read_to_string(path).ok()) else {
            #[allow(clippy::print_stderr)]
            {
                eprintln!("SKIPPED: no ../shared/vectors/policy.json; the decisions of councils were not checked");
            }
            return;
        };
        let vectors: Value = serde_json::from_str(&text).unwrap();
        let records = vectors["council"].as_array().unwrap();
        assert!(records.len() >= 14);
        for record in records {
            let issues = |count: &Value, what: &str| vec![what.to_owned(); usize::try_from(count.as_u64().unwrap()).unwrap()];
            let of = |review: &Value| AdvisorReview {
                advisor: review["advisor"].as_str().unwrap().into(),
                score: review["score"].as_f64().unwrap(),
                approved: review["approved"].as_bool().unwrap(),
                suggestions: issues(&review["suggestions"], "s"),
                critical_issues: issues(&review["critical_issues"], "c"),
                ..AdvisorReview::default()
            };
            let reviews: Vec<AdvisorReview> = record["reviews"].as_array().unwrap().iter().map(of).collect();
            let weight = |review: &AdvisorReview| record["weights"][review.advisor.as_str()].as_f64().unwrap_or(1.0);
            let weights: Vec<f64> = reviews.iter().map(weight).collect();
            let council = CouncilDecision::of(record["decision"].as_str().unwrap());
            let threshold = Sourced { value: record["min_score"].as_f64().unwrap(), from: "here".into() };
            let made = decide(council, &weights, &threshold, reviews);
            let id = &record["id"];
            let expect = &record["expect"];
            assert_eq!(json!(made.score), expect["score"], "{id}");
            assert_eq!(
                (json!(made.approved), json!(made.severity)),
                (expect["approved"].clone(), expect["severity"].clone()),
                "{id}"
            );
            assert_eq!(json!(made.critical_issues.len()), expect["critical_issues"], "{id}");
            assert_eq!(json!(made.suggestions.len()), expect["suggestions"], "{id}");
            // Where the gate's threshold is not that of the votes, decision 31 makes them one.
            if record["gate_threshold"] == record["min_score"] {
                assert_eq!(json!(made.passed), expect["gate"], "{id}");
            }
        }
    }

    #[test]
    fn a_single_advisor_decides_by_its_own_score() {
        let threshold = Sourced { value: 0.85, from: "here".into() };
        let review = AdvisorReview { advisor: "A".into(), score: 0.846, approved: true, ..AdvisorReview::default() };
        let made = decide(None, &[1.0], &threshold, vec![review]);
        assert!(made.approved && !made.passed);
        assert_eq!(made.reasons(), "A approved it with 0.846; the threshold is 0.85 (here)");
    }

    #[test]
    fn weights_count_in_the_mean() {
        let of = |advisor: &str, score: f64| AdvisorReview {
            advisor: advisor.into(),
            score,
            approved: true,
            ..AdvisorReview::default()
        };
        let threshold = Sourced { value: 0.85, from: "here".into() };
        let both = || vec![of("A", 1.0), of("B", 0.7)];
        let score = |weights: &[f64]| decide(Some(CouncilDecision::Average), weights, &threshold, both()).score;
        let scores = [score(&[2.0, 1.0]), score(&[1.0, 1.0]), score(&[0.0, 0.0])];
        assert_eq!(scores.map(|score| score.to_string()), ["0.9", "0.85", "0.85"]);
    }

    #[test]
    fn what_is_no_review_is_refused() {
        let of = |said: Value| review(&"A".into(), &said).map(|review| review.score);
        assert_eq!(of(json!({ "score": 1, "approved": true })), Ok(1.0));
        for said in [json!(1), json!({ "approved": true }), json!({ "score": 2, "approved": true }), json!({ "score": 1 })] {
            assert!(of(said.clone()).is_err(), "{said}");
        }
    }
}
