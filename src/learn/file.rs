//! The data file with fitted weights.

use super::features::WeightOf;
use super::report::{LearnReport, LearnedWeight};
use crate::model::{counted, visible};
use std::fmt::Write as _;

/// The least move of a weight that is written: weights are rounded to a hundredth.
const MOVED: f64 = 0.005;

/// The text of `learned.yaml`: the weights that moved, below what they were fitted to and how good they are.
pub fn learned_file(report: &LearnReport) -> String {
    let mut text = format!("# Weights of the verdict of the pipeline `{}`, fitted by `asterisk learn`.\n", report.pipeline);
    let of = if report.cases == report.written { String::new() } else { format!(" of {}", report.written) };
    let cases = counted(report.cases, "case", "cases");
    // A name may hold anything but must not end the comment.
    let from: String = visible(&report.from).chars().map(|ch| if ch.is_control() { ' ' } else { ch }).collect();
    let _ = writeln!(text, "# From {from}: {cases}{of}, lambda {}.", report.lambda);
    match &report.folds {
        Some(folds) => {
            let (before, now) = (&folds.hand_set, &folds.fitted);
            let projects = counted(folds.projects, "project", "projects");
            let _ = writeln!(text, "# On {} folds of {projects}, hand-set -> fitted:", folds.folds);
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
        }
        None => text.push_str("# All cases are in one fold: nothing tells how good these are on others.\n"),
    }
    text.push_str(
        "# In force as `data/learned.yaml` below the directory of scripts; without the file, the declared weights are.\n",
    );
    let _ = writeln!(text, "pipeline: {}", scalar(&report.pipeline));
    let moved = || report.weights.iter().filter(|weight| weight.moved() >= MOVED);
    let priors: Vec<String> = moved().filter(|weight| weight.of == WeightOf::Prior).map(entry).collect();
    if !priors.is_empty() {
        let _ = writeln!(text, "priors: {{ {} }}", priors.join(", "));
    }
    let mut last: Option<(WeightOf, &str)> = None;
    for weight in moved().filter(|weight| weight.of != WeightOf::Prior) {
        match last {
            None => text.push_str("weights:\n"),
            Some(last) if last == (weight.of, &weight.id) => {
                let _ = write!(text, ", {}", entry(weight));
                continue;
            }
            Some(_) => text.push_str(" }\n"),
        }
        let _ = write!(text, "  {}: {{ {}", scalar(&weight.id), entry(weight));
        last = Some((weight.of, &weight.id));
    }
    if last.is_some() {
        text.push_str(" }\n");
    }
    text
}

fn entry(weight: &LearnedWeight) -> String {
    format!("{}: {}", scalar(&weight.defect), weight.fitted)
}

/// A string of YAML, in quotes unless it is a plain word.
fn scalar(text: &str) -> String {
    let plain = text.starts_with(|ch: char| ch.is_ascii_alphabetic())
        && text.chars().all(|ch| ch.is_ascii_alphanumeric() || ch == '-' || ch == '_')
        && !["true", "false", "null"].contains(&text.to_ascii_lowercase().as_str());
    if plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::diag::Source;
    use crate::form::yaml;
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
            at: String::new(),
        };
        let report = LearnReport {
            pipeline: "t".into(),
            from: "a\nb.json".into(),
            written: 4,
            cases: 3,
            labels: BTreeMap::new(),
            left_out: Vec::new(),
            failed: BTreeMap::new(),
            lambda: 4.0,
            folds: None,
            weights: vec![
                weight(WeightOf::Prior, "", "d1", 0.0, -0.25),
                weight(WeightOf::Rule, "R1", "d1", 1.0, 1.0),
                weight(WeightOf::Rule, "R1", "d2", 1.0, 0.5),
                weight(WeightOf::Signature, "true", "d1", 1.0, 0.0),
                weight(WeightOf::Signature, "true", "d2", 1.0, 2.5),
            ],
            silent: 1,
        };
        let text = learned_file(&report);
        let tree = yaml::parse(&Source::new("learned.yaml", &*text)).unwrap().to_json();
        let weights = json!({ "R1": { "d2": 0.5 }, "true": { "d1": 0, "d2": 2.5 } });
        assert_eq!(tree, json!({ "pipeline": "t", "priors": { "d1": -0.25 }, "weights": weights }), "{text}");
    }
}
