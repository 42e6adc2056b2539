//! Reviews of answers: their form, and reading what an advisor returned.

use super::name::Name;
use asterisk_base::model::{Field, Kind, Shape};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// The form of a review.
pub(super) static REVIEW: LazyLock<Arc<Shape>> = LazyLock::new(|| {
    let texts = || Kind::List(Box::new(Kind::Text { one_of: Vec::new() }));
    let severity = ["low", "medium", "high"].map(str::to_owned).to_vec();
    let fields = [
        ("score", Kind::Number { min: Some(0.0), max: Some(1.0) }),
        ("approved", Kind::Bool),
        ("summary", Kind::Text { one_of: Vec::new() }),
        ("suggestions", texts()),
        ("critical_issues", texts()),
        ("severity", Kind::Text { one_of: severity }),
    ];
    let field = |(name, kind): (&str, Kind)| Field { name: name.into(), kind, required: ["score", "approved"].contains(&name) };
    Arc::new(Shape { name: "review".into(), fields: fields.into_iter().map(field).collect(), sparse: false })
});

/// An advisor's review of an answer.
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

/// Validates the review of an answerer by its form, and returns the errors.
pub fn validate_review(review: &Value) -> Vec<String> {
    REVIEW.check(review).iter().map(ToString::to_string).collect()
}

/// Reads what an advisor returned; the error says what it is instead.
pub(super) fn review(advisor: &Name, said: &Value) -> Result<AdvisorReview, String> {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_a_review_is_refused() {
        let of = |said: Value| review(&"A".into(), &said).map(|review| review.score);
        assert_eq!(of(json!({ "score": 1, "approved": true })), Ok(1.0));
        for said in [json!(1), json!({ "approved": true }), json!({ "score": 2, "approved": true }), json!({ "score": 1 })] {
            assert!(of(said.clone()).is_err(), "{said}");
        }
    }
}
