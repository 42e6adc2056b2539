//! Gates: advisors review an answer. A single advisor decides by its score; the votes of several are counted by the script that
//! `defaults.council` of `scripts/data/policy.yaml` names, `lib/policy.rhai#council`.

use super::name::Name;
use super::review::{AdvisorReview, REVIEW, review};
use super::sourced::Sourced;
use asterisk_diag::{Diagnostic, Source, Span};
use asterisk_pipeline::CouncilDecision;
use asterisk_script::{ScriptFunction, View};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A linked gate.
#[derive(Clone, Debug)]
pub struct GatePlan {
    pub advisors: Vec<AdvisorPlan>,
    /// How the reviews of several advisors decide; a single advisor decides alone.
    pub council: Option<CouncilPlan>,
    /// The least score.
    pub threshold: Sourced<f64>,
    /// Where the advisors are named.
    pub from: Name,
    /// The gate, or the advisor, in the pipeline.
    pub place: (Source, Span),
}

/// How a council decides.
#[derive(Clone, Debug)]
pub struct CouncilPlan {
    pub decision: CouncilDecision,
    /// Called with a map: `reviews`, `decision`, `min_score`, `weights`, `gate_threshold`. Returns `score`, `approved`, `gate`, `severity`,
    /// `critical_issues`, `suggestions`.
    pub function: ScriptFunction,
}

/// An advisor of a gate.
#[derive(Clone, Debug)]
pub struct AdvisorPlan {
    pub name: Name,
    pub weight: f64,
    /// Called with `(output, task, context)`; nothing if answerers alone review.
    pub function: Option<ScriptFunction>,
    /// The answerers that review instead, in the order to be tried.
    pub via: Vec<Name>,
    /// What it looks at, for answerers.
    pub description: String,
}

impl AdvisorPlan {
    /// Whether answerers review, and not its script alone.
    pub fn is_answered(&self) -> bool {
        !self.via.is_empty()
    }
}

/// The object of an advisor's review.
#[derive(Clone, Copy)]
pub struct ReviewInquiry<'a> {
    pub advisor: &'a AdvisorPlan,
    /// The answer.
    pub output: &'a View,
    /// The text of the node's task.
    pub task: &'a View,
    /// The parameters of the answer.
    pub context: &'a View,
}

/// The decision of a gate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GateDecision {
    /// The advisor's score, or the council's rounded to hundredths.
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

impl ReviewInquiry<'_> {
    /// The review of the advisor's script. Fails if there is none, it throws, or returns something else.
    pub fn scripted(&self) -> Result<AdvisorReview, Box<Diagnostic>> {
        let AdvisorPlan { name, function, .. } = self.advisor;
        let Some(function) = function else {
            let error = Diagnostic::error("advisor/no-script", format!("the advisor `{name}` needs a script"));
            return Err(Box::new(
                error.help("set it in `data/policy.yaml` of the scripts: `script: advisors/FILE.rhai#FUNCTION`"),
            ));
        };
        let said = function.value(&[self.output, self.task, self.context])?;
        review(name, &said).map_err(|what| {
            let message = format!("the advisor `{name}` returned {what}");
            let help = "return #{ score: 0.9, approved: true, summary: \"...\", suggestions: [], critical_issues: [], severity: \"low\" }";
            let mut diagnostic = Diagnostic::error("advisor/return", message).help(help);
            if let Some((source, span)) = function.definition() {
                diagnostic = diagnostic.label(&source, span, "returned from here");
            }
            Box::new(diagnostic)
        })
    }

    /// The review that an answerer gave.
    pub fn answered(&self, by: &str, said: &Value) -> Result<AdvisorReview, Box<Diagnostic>> {
        review(&self.advisor.name, said).map_err(|what| {
            let message = format!("the answer of `{by}` as the advisor `{}` is {what}", self.advisor.name);
            Box::new(Diagnostic::error("advisor/return", message).help(format!("a review is {}", REVIEW.outline())))
        })
    }
}

impl GatePlan {
    /// Decides by the reviews, in the order of the advisors. Fails if the script of a council throws, or returns something else.
    pub fn decide(&self, reviews: Vec<AdvisorReview>) -> Result<GateDecision, Box<Diagnostic>> {
        let Sourced { value: threshold, from } = self.threshold.clone();
        let mut made = GateDecision { threshold, from, ..GateDecision::default() };
        match (&self.council, reviews.as_slice()) {
            (Some(council), reviews) => self.by_council(council, reviews, &mut made)?,
            (None, reviews) => {
                let only = reviews.first().cloned().unwrap_or_default();
                (made.score, made.approved, made.severity) = (only.score, only.approved, only.severity);
                (made.suggestions, made.critical_issues, made.summary) = (only.suggestions, only.critical_issues, only.summary);
                made.passed = made.approved && made.score >= threshold;
            }
        }
        made.reviews = reviews;
        Ok(made)
    }

    /// Asks the script of the council.
    fn by_council(
        &self,
        council: &CouncilPlan,
        reviews: &[AdvisorReview],
        made: &mut GateDecision,
    ) -> Result<(), Box<Diagnostic>> {
        let weights: Map<String, Value> =
            self.advisors.iter().map(|advisor| (advisor.name.to_string(), json!(advisor.weight))).collect();
        let question = json!({
            "reviews": reviews, "decision": council.decision.word(), "min_score": made.threshold, "weights": weights,
            "gate_threshold": made.threshold,
        });
        let answer = council.function.value(&[&View::plain(&question, "question")])?;
        let (Some(score), Some(approved), Some(passed)) =
            (answer["score"].as_f64(), answer["approved"].as_bool(), answer["gate"].as_bool())
        else {
            let message = format!("the council's function returned {answer}");
            let help =
                "return #{ score: 0.9, approved: true, gate: true, severity: \"low\", critical_issues: [], suggestions: [] }";
            let mut diagnostic = Diagnostic::error("advisor/council", message).help(help);
            if let Some((source, span)) = council.function.definition() {
                diagnostic = diagnostic.label(&source, span, "returned from here");
            }
            return Err(Box::new(diagnostic));
        };
        (made.score, made.approved, made.passed) = (score, approved, passed);
        answer["severity"].as_str().unwrap_or("low").clone_into(&mut made.severity);
        let texts = |key: &str| answer[key].as_array().into_iter().flatten().map(text).collect();
        (made.suggestions, made.critical_issues) = (texts("suggestions"), texts("critical_issues"));
        council.decision.word().clone_into(&mut made.decision);
        let summarised = reviews.iter().filter(|review| !review.summary.is_empty());
        let summaries: Vec<String> = summarised.map(|review| format!("{}: {}", review.advisor, review.summary)).collect();
        made.summary = summaries.join("; ");
        Ok(())
    }
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

    #[test]
    fn a_single_advisor_decides_by_its_own_score() {
        let threshold = Sourced { value: 0.85, from: "here".into() };
        let place = (Source::new("p.yaml", ""), Span::default());
        let gate = GatePlan { advisors: Vec::new(), council: None, threshold, from: "here".into(), place };
        let review = AdvisorReview { advisor: "A".into(), score: 0.846, approved: true, ..AdvisorReview::default() };
        let made = gate.decide(vec![review]).unwrap();
        assert!(made.approved && !made.passed);
        assert_eq!(made.reasons(), "A approved it with 0.846; the threshold is 0.85 (here)");
    }
}
