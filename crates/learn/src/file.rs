//! The data files with fitted weights.

use super::features::WeightOf;
use super::folds::FoldsBy;
use super::report::{LearnReport, LearnedWeight};
use asterisk_base::model::visible;
use asterisk_diag::counted;
use std::fmt::Write as _;

/// The least move of a weight that is written: weights are rounded to a hundredth.
const MOVED: f64 = 0.005;

/// Words with a smaller weight than this are not written: of those fitted with the rules, and of those fitted alone.
const TERM: f64 = 0.1;
const TERM_ALONE: f64 = 0.03;
/// The least weight of a word for one of its defects, where words are fitted alone.
const SAID: f64 = 0.015;

/// Renders `learned.yaml`: the changed weights next to their hand-set values, with a header on the training data and the quality of the
/// fit. Words that were fitted alone are rendered as `terms.yaml`.
pub fn learned_file(report: &LearnReport) -> String {
    let mut text = header(report);
    if report.terms_alone {
        text.push_str("# Used as `data/terms.yaml` below the directory of scripts.\n");
        terms(&mut text, report);
        return text;
    }
    text.push_str(
        "# Used as `data/learned.yaml` below the directory of scripts; without the file, the declared weights apply.\n",
    );
    let _ = writeln!(text, "pipeline: {}", scalar(&report.pipeline));
    if let Some(temperature) = report.temperature {
        let _ = writeln!(text, "temperature: {temperature}");
    }
    let moved = || report.weights.iter().filter(|weight| weight.moved() >= MOVED);
    let priors: Vec<&LearnedWeight> = moved().filter(|weight| weight.of == WeightOf::Prior).collect();
    if !priors.is_empty() {
        let _ = writeln!(text, "priors: {} # {}", map(&priors), was(&priors));
    }
    let rules = moved().filter(|weight| matches!(weight.of, WeightOf::Rule | WeightOf::Signature));
    section(&mut text, "weights", rules, unit(report));
    let terms = moved().filter(|weight| weight.of == WeightOf::Term && weight.moved() >= TERM);
    section(&mut text, "terms", terms, unit(report));
    text
}

/// Writes the words that were fitted alone, each with its support.
fn terms(text: &mut String, report: &LearnReport) {
    let words: Vec<&[LearnedWeight]> = (report.weights.chunk_by(|one, other| one.id == other.id))
        .filter(|of_one| of_one.iter().any(|weight| weight.fitted.abs() >= TERM_ALONE))
        .collect();
    text.push_str(if words.is_empty() { "terms: {}\n" } else { "terms:\n" });
    for of_one in words {
        let said: Vec<&LearnedWeight> = of_one.iter().filter(|weight| weight.fitted.abs() >= SAID).collect();
        let _ = writeln!(text, "  {}: {} # {}", scalar(&of_one[0].id), map(&said), support(&of_one[0], unit(report)));
    }
}

/// What the weights are fitted to, and how good they are on held-out cases.
fn header(report: &LearnReport) -> String {
    let what = if report.terms_alone { "words" } else { "the verdict" };
    let mut text = format!("# Weights of {what} of the pipeline `{}`, fitted by `asterisk learn`.\n", report.pipeline);
    let of = if report.cases == report.written { String::new() } else { format!(" of {}", report.written) };
    let cases = counted(report.cases, "case", "cases");
    let from: Vec<String> = report.from.iter().map(|from| comment(&from.from)).collect();
    let (lambda, half_life) = (report.lambda, report.half_life_days);
    let _ = writeln!(text, "# From {}: {cases}{of}, lambda {lambda}, half-life {half_life} days.", from.join(", "));
    match &report.folds {
        Some(folds) => {
            let (before, now) =
                (&folds.hand_set, if report.temperature.is_some() { &folds.fitted_tempered } else { &folds.fitted });
            let [one, many] = unit(report);
            let groups = counted(folds.groups, one, many);
            let what = if report.terms_alone { "without words -> with words" } else { "hand-set -> fitted" };
            let _ = writeln!(text, "# On {} folds of {groups}, {what}:", folds.folds);
            let _ = writeln!(
                text,
                "#   right {:.2} -> {:.2} ({} decidable), mean recall {:.2} -> {:.2}, log loss {:.3} -> {:.3}, Brier {:.3} -> {:.3}",
                before.right,
                now.right,
                now.decidable,
                before.mean_recall,
                now.mean_recall,
                before.log_loss,
                now.log_loss,
                before.brier,
                now.brier
            );
            if !report.is_better() {
                text.push_str("#   These weights are not better beyond noise.\n");
            }
        }
        None => text.push_str("# All cases are in one fold: the quality on other cases is unknown.\n"),
    }
    if let Some(bar) = &report.review_bar {
        let _ = writeln!(
            text,
            "# Held-out verdicts at {} or more were right in {:.0} % of {}: the var `review_bar` may be set to that.",
            bar.confidence,
            100.0 * bar.right,
            counted(bar.verdicts, "case", "cases")
        );
    }
    text
}

/// Writes a section with one line per id.
fn section<'a>(text: &mut String, key: &str, weights: impl Iterator<Item = &'a LearnedWeight>, unit: [&str; 2]) {
    let weights: Vec<&LearnedWeight> = weights.collect();
    if !weights.is_empty() {
        let _ = writeln!(text, "{key}:");
    }
    for of_one in weights.chunk_by(|one, other| (one.of, &one.id) == (other.of, &other.id)) {
        let name = if of_one[0].name.is_empty() { String::new() } else { format!("{}, ", comment(&of_one[0].name)) };
        let because =
            if of_one[0].because.is_empty() { String::new() } else { format!(": {}", comment(&of_one[0].because.join(", "))) };
        let _ = writeln!(
            text,
            "  {}: {} # {name}{}, {}{because}",
            scalar(&of_one[0].id),
            map(of_one),
            was(of_one),
            support(of_one[0], unit)
        );
    }
}

/// How many cases a weight matched in.
fn support(weight: &LearnedWeight, [one, many]: [&str; 2]) -> String {
    format!("{} of {}", counted(weight.cases, "case", "cases"), counted(weight.groups, one, many))
}

/// The unit that is held out, singular and plural.
fn unit(report: &LearnReport) -> [&'static str; 2] {
    match report.folds.as_ref().map(|folds| folds.by) {
        Some(FoldsBy::Auto | FoldsBy::Project) => ["project", "projects"],
        Some(FoldsBy::Launch | FoldsBy::Time) => ["launch", "launches"],
        None => ["group", "groups"],
    }
}

fn map(weights: &[&LearnedWeight]) -> String {
    let entries: Vec<String> = weights.iter().map(|weight| entry(weight)).collect();
    format!("{{ {} }}", entries.join(", "))
}

/// The hand-set weights, with the intervals of the fitted ones.
fn was(weights: &[&LearnedWeight]) -> String {
    let list = |one: &dyn Fn(&LearnedWeight) -> String| weights.iter().map(|weight| one(weight)).collect::<Vec<_>>().join(", ");
    format!("was {}, +-{}", list(&|weight| weight.hand_set.to_string()), list(&|weight| weight.give_or_take.to_string()))
}

/// Sanitises a text for use in a comment.
fn comment(text: &str) -> String {
    visible(text).chars().map(|ch| if ch.is_control() { ' ' } else { ch }).collect()
}

fn entry(weight: &LearnedWeight) -> String {
    format!("{}: {}", scalar(&weight.defect), weight.fitted)
}

/// A string of YAML, in quotes unless it is a plain word.
fn scalar(text: &str) -> String {
    let plain = text.starts_with(|ch: char| ch.is_ascii_alphabetic())
        && text.chars().all(|ch| ch.is_ascii_alphanumeric() || ch == '-' || ch == '_')
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&text.to_ascii_lowercase().as_str());
    if plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{OriginCount, ReviewBar};
    use asterisk_diag::Source;
    use asterisk_form::yaml;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[test]
    fn what_moved_is_written() {
        let weight = |of, id: &str, defect: &str, hand_set, fitted| LearnedWeight {
            of,
            id: id.into(),
            name: String::new(),
            defect: defect.into(),
            hand_set,
            fitted,
            give_or_take: 0.5,
            cases: 3,
            groups: 2,
            labels_to_move: 4,
            because: vec!["a\nb".into()],
            at: String::new(),
        };
        let report = LearnReport {
            pipeline: "t".into(),
            terms_alone: false,
            from: vec![OriginCount { from: "a\nb.json".into(), written: 4, cases: 3, weight: 3.0 }],
            written: 4,
            cases: 3,
            labels: BTreeMap::new(),
            left_out: Vec::new(),
            failed_rules: asterisk_walk::RuleFailures::default(),
            lambda: 4.0,
            half_life_days: 180.0,
            folds: None,
            temperature: Some(1.25),
            review_bar: Some(ReviewBar { confidence: 0.8, verdicts: 20, right: 0.95 }),
            audit: Vec::new(),
            never_spoke: Vec::new(),
            weights: vec![
                weight(WeightOf::Prior, "", "d1", 0.0, -0.25),
                weight(WeightOf::Rule, "R1", "d1", 1.0, 1.0),
                weight(WeightOf::Rule, "R1", "d2", 1.0, 0.5),
                weight(WeightOf::Signature, "true", "d1", 1.0, 0.0),
                weight(WeightOf::Signature, "true", "d2", 1.0, 2.5),
                weight(WeightOf::Term, "no", "d1", 0.0, 1.5),
            ],
            silent: 1,
        };
        let text = learned_file(&report);
        let tree = yaml::parse(&Source::new("learned.yaml", &*text)).unwrap().to_json();
        let weights = json!({ "R1": { "d2": 0.5 }, "true": { "d1": 0, "d2": 2.5 } });
        let priors = json!({ "d1": -0.25 });
        let expected = json!({ "pipeline": "t", "temperature": 1.25, "priors": priors, "weights": weights, "terms": { "no": { "d1": 1.5 } } });
        assert_eq!(tree, expected, "{text}");
        assert!(text.contains("R1: { d2: 0.5 } # was 1, +-0.5, 3 cases of 2 groups: a b"), "{text}");
    }
}
