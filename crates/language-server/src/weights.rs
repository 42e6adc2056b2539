//! Weights of verdict rules and signatures in their files: how far each is from changing a verdict.

use super::project_file::{FileLanguage, ProjectFile};
use asterisk_decisions::{TippingPoint, WeightTip, WeightTips};
use asterisk_diag::Span;
use asterisk_form::yaml::{self, Yaml, YamlKind};
use std::fmt::Write as _;

/// The maximum number of tipping points in a tooltip, for each direction.
const SHOWN: usize = 5;

/// The maximum distance of a tipping point that is shown next to its weight, in log-odds.
const NEAR: f64 = 1.5;

/// A weight as it is written.
pub(super) struct WrittenWeight {
    /// The id of the rule or signature.
    pub(super) id: String,
    pub(super) defect: String,
    pub(super) weight: f64,
    /// The number.
    pub(super) span: Span,
}

/// The weights of a pipeline's verdict, or of the signatures of a data file.
pub(super) fn weights(file: &ProjectFile) -> Vec<WrittenWeight> {
    let Ok(tree) = yaml::parse(file.source()) else { return Vec::new() };
    let (list, key) = match file.language {
        FileLanguage::Pipeline => (tree.get("verdict").and_then(|verdict| verdict.get("rules")), "for"),
        FileLanguage::Data => (tree.get("signatures"), "weights"),
        _ => (None, ""),
    };
    let mut found = Vec::new();
    for entry in list.and_then(Yaml::as_list).unwrap_or_default() {
        let id = entry.get("id").and_then(Yaml::as_text);
        let written = entry.get(key).and_then(Yaml::as_map);
        let (Some(id), Some(written)) = (id, written) else { continue };
        for weight in written {
            let defect = weight.key.value.clone();
            let number = of_number(&weight.value);
            found.extend(number.map(|number| WrittenWeight {
                id: id.to_owned(),
                defect,
                weight: number,
                span: weight.value.span,
            }));
        }
    }
    found
}

/// The number of a value.
#[expect(clippy::cast_precision_loss, reason = "numbers of settings are small")]
pub(super) fn of_number(value: &Yaml) -> Option<f64> {
    match value.kind {
        YamlKind::Int(number) => Some(number as f64),
        YamlKind::Float(number) => Some(number),
        _ => None,
    }
}

/// The hint after a weight and its tooltip; `None` if no weight near it changes a verdict, or if a learned weight replaces it.
pub(super) fn shown(written: &WrittenWeight, tips: &WeightTips) -> Option<(String, String)> {
    let tip = tips.get(&(written.id.clone(), written.defect.clone()))?;
    #[expect(clippy::float_cmp, reason = "both were read from the same text")]
    let counts = tip.weight == written.weight;
    let nearest = [tip.lower.first(), tip.higher.first()].into_iter().flatten();
    let nearest = nearest.filter(|point| (point.weight - tip.weight).abs() <= NEAR);
    let at: Vec<String> = nearest.map(|point| point.weight.to_string()).collect();
    (counts && !at.is_empty()).then(|| (format!("flips at {}", at.join(", ")), tooltip(written, tip)))
}

fn tooltip(written: &WrittenWeight, tip: &WeightTip) -> String {
    let cases = if tip.cases == 1 { "case" } else { "cases" };
    let mut text = format!("`{}` matched in {} {cases} of the latest run.\n", written.id, tip.cases);
    let mut side = |points: &[TippingPoint], word: &str| {
        if points.is_empty() {
            let _ = writeln!(text, "No {word} weight nearby changes a verdict.");
        }
        for point in points.iter().take(SHOWN) {
            let _ = writeln!(text, "{}: case {} becomes {} instead of {}", point.weight, point.case, point.to, point.from);
        }
        if points.len() > SHOWN {
            let _ = writeln!(text, "and {} more with {word} weights", points.len() - SHOWN);
        }
    };
    side(&tip.lower, "lower");
    side(&tip.higher, "higher");
    text.truncate(text.trim_end().len());
    text
}
