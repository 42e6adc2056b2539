//! Links `verdict:`: its rules, and the weights of the domain's signatures.

use super::case_rules::CaseKinds;
use super::linked_pipeline::ProjectLinker;
use super::{DataFiles, ProjectData};
use asterisk_base::model::{Deferred, Hash};
use asterisk_diag::{Diagnostic, Diagnostics, did_you_mean};
use asterisk_pipeline::{DefectWeight, VerdictRules};
use asterisk_script::ScriptFunction;
use asterisk_script::check::ReturnedValue;
use asterisk_walk::{Content, DefectWeights, Name, Query, SignatureWeights, VerdictFunction, VerdictPlan};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

impl ProjectLinker<'_> {
    /// Links the pipeline's verdict, if it has one. What it takes from bundled data is taken when the verdict is first needed.
    pub(super) fn verdict(
        &self,
        data: &Arc<ProjectData>,
        vars: &Content,
        found: &mut Diagnostics,
    ) -> Option<Deferred<VerdictPlan>> {
        let written = self.pipeline.verdict.as_ref()?;
        let needs: Vec<&'static Query> = written.needs.iter().filter_map(|need| self.need(need, found)).collect();
        let strength = written.signatures.as_ref().and_then(|reference| self.function(reference, 4, found));
        let mut rules = Vec::with_capacity(written.rules.len());
        let kinds = CaseKinds::new();
        for rule in &written.rules {
            let Some(function) = self.function(&rule.rule, 3, found) else { continue };
            self.check_rule(&function, (data, &kinds), ReturnedValue::Strength, found);
            rules.push(VerdictFunction {
                id: rule.id.as_str().into(),
                name: rule.name.as_str().into(),
                group: rule.group.as_ref().map(|group| Name::from(group.as_str())),
                weights: weights(&rule.weights),
                at: format!("pipelines/{}", self.pipeline.source.place(rule.span.start)).into(),
                function,
            });
        }
        let functions = VerdictFunctions { needs, strength, rules };
        if data.trusted && self.pipeline.source.is_bundled() {
            let (name, written, data, vars) = (self.pipeline.name.value.clone(), written.clone(), Arc::clone(data), vars.clone());
            return Some(Deferred::new(move || functions.weigh((&name, &written), &data, &vars, &mut Diagnostics::new())));
        }
        self.check_defects(written, &data.files, found);
        Some(Deferred::ready(functions.weigh((&self.pipeline.name, written), data, vars, found)))
    }

    /// Defects that the domain does not know are most likely typos.
    fn check_defects(&self, written: &VerdictRules, files: &DataFiles, found: &mut Diagnostics) {
        let Some(known) = domain_defects(files) else { return };
        for defect in written.priors.iter().map(|prior| &prior.defect).chain([&written.undecided]) {
            if known.contains_key(defect.as_str()) {
                continue;
            }
            let message = format!("unknown defect `{}`", **defect);
            let error = Diagnostic::error("project/unknown-defect", message).label(&self.pipeline.source, defect.span, "");
            found.push(error.maybe_help(did_you_mean(defect, known.keys().map(String::as_str))));
        }
    }
}

/// The functions of a verdict, before the project's data gives them their weights.
struct VerdictFunctions {
    needs: Vec<&'static Query>,
    strength: Option<ScriptFunction>,
    rules: Vec<VerdictFunction>,
}

impl VerdictFunctions {
    /// The verdict of the pipeline of that name, with the weights that data gives it.
    fn weigh(
        self,
        (pipeline, written): (&str, &VerdictRules),
        data: &ProjectData,
        vars: &Content,
        found: &mut Diagnostics,
    ) -> VerdictPlan {
        let Self { needs, strength, rules } = self;
        let priors = priors(&written.priors, &data.files);
        let mut plan = VerdictPlan {
            signatures: signatures(&data.files, &priors),
            priors,
            undecided: written.undecided.as_str().into(),
            floor: 0.0,
            needs,
            strength,
            rules,
            terms: BTreeMap::new(),
            term_strength: 1.0,
            temperature: None,
            fitted_temperature: None,
            learned: None,
            learned_at: BTreeMap::new(),
            vars: Content::new(asterisk_script::View::null()),
            data: Hash::of_json(&json!([data.evidence.address(), data.content.hash()])),
            functions: Hash::of(b""),
            address: Hash::of(b""),
        };
        if let Some(terms) = data.terms.as_ref().filter(|_| written.terms.is_some()) {
            if let Some(known) = domain_defects(&data.files) {
                terms.check_defects(known, found);
            }
            terms.apply(&mut plan);
        }
        if let Some(learned) = &data.learned {
            learned.apply(&mut plan, pipeline, found);
        }
        with_vars(&plan, written, vars)
    }
}

/// The defects of the domain, by code; `None` without a domain.
fn domain_defects(files: &DataFiles) -> Option<&Map<String, Value>> {
    files.get("domain")?["defects"].as_object()
}

/// The least temperature: at 0 there would be no probabilities.
const COLDEST: f64 = 0.01;

/// The plan with the current vars.
pub(super) fn with_vars(plan: &VerdictPlan, written: &VerdictRules, vars: &Content) -> VerdictPlan {
    let number = |var: &str| vars.view()?.get(var)?.as_f64();
    let floor = number(&written.floor).unwrap_or(0.0);
    let by_hand = || written.temperature.as_ref().and_then(|var| number(var)).map(|temperature| temperature.max(COLDEST));
    let temperature = plan.fitted_temperature.or_else(by_hand);
    let term_strength = written.terms.as_ref().and_then(|var| number(var)).map_or(1.0, |share| share.clamp(0.0, 1.0));
    let function = |rule: &VerdictFunction| json!([rule.id, rule.function.hash(), rule.function.name()]);
    let mut functions = json!([
        plan.needs.iter().map(|need| need.name).collect::<Vec<_>>(),
        plan.strength.as_ref().map(|strength| (strength.hash(), strength.name())),
        plan.rules.iter().map(function).collect::<Vec<_>>(),
        vars.hash(),
        plan.data,
    ]);
    if let (Some(parts), false) = (functions.as_array_mut(), plan.terms.is_empty()) {
        parts.push(json!(plan.terms.keys().collect::<Vec<_>>()));
    }
    let functions = Hash::of_json(&functions);
    let rule = |rule: &VerdictFunction| json!([rule.group, rule.weights]);
    let weights = plan.rules.iter().map(rule).collect::<Vec<_>>();
    let mut parts = json!([functions, plan.priors, plan.undecided, weights]);
    if let (Some(parts), Some(learned)) = (parts.as_array_mut(), plan.learned) {
        // Signatures have learned weights too, which no data file declares.
        parts.push(json!(learned.to_string()));
    }
    if let (Some(parts), false) = (parts.as_array_mut(), plan.terms.is_empty()) {
        parts.push(plan.terms.iter().map(|(word, known)| json!([word, known.weights])).collect());
    }
    let address = Hash::of_json(&parts);
    VerdictPlan { floor, temperature, term_strength, vars: vars.clone(), functions, address, ..plan.clone() }
}

fn weights(written: &[DefectWeight]) -> DefectWeights {
    written.iter().map(|weight| (weight.defect.as_str().into(), weight.weight)).collect()
}

/// The priors of the pipeline, or those of the domain if it has any.
fn priors(written: &[DefectWeight], files: &DataFiles) -> DefectWeights {
    let mut all = weights(written);
    let own = files.get("domain").and_then(|domain| domain["priors"].as_object()).into_iter().flatten();
    for (defect, weight) in own.filter_map(|(defect, weight)| Some((defect, weight.as_f64()?))) {
        match all.iter_mut().find(|(known, _)| *known == **defect) {
            Some((_, prior)) => *prior = weight,
            None => all.push((defect.as_str().into(), weight)),
        }
    }
    all
}

/// What each signature of the domain adds to the defects to decide between, by id.
fn signatures(files: &DataFiles, priors: &DefectWeights) -> BTreeMap<String, SignatureWeights> {
    let Some(domain) = files.get("domain") else { return BTreeMap::new() };
    let text = |value: &Value| value.as_str().map_or_else(Name::default, Name::from);
    let signature = |item: &Value| {
        let category = text(&item["category"]);
        let group = Some(text(&item["group"])).filter(|group| !group.is_empty()).unwrap_or_else(|| category.clone());
        let mut weights = signature_weights(item, &domain["categories"][category.as_str()]);
        weights.retain(|(defect, _)| priors.iter().any(|(prior, _)| prior == defect));
        (item["id"].as_str().unwrap_or_default().to_owned(), SignatureWeights { title: text(&item["title"]), group, weights })
    };
    domain["signatures"].as_array().into_iter().flatten().map(signature).collect()
}

/// The weights of a signature; without any, the log-odds of its certainty for its defect. One that uses the place of the
/// failure does not contribute by itself: rules over frames do.
fn signature_weights(item: &Value, category: &Value) -> DefectWeights {
    // Without the key the form gives an empty map.
    if let Some(own) = item["weights"].as_object().filter(|own| !own.is_empty()) {
        let weight = |(defect, weight): (&String, &Value)| {
            Some((defect.as_str().into(), weight.as_f64().filter(|weight| *weight != 0.0)?))
        };
        return own.iter().filter_map(weight).collect();
    }
    let defect = item["defect"].as_str().filter(|defect| !defect.is_empty()).or_else(|| category["defect"].as_str());
    let (Some(defect), Some(certainty)) = (defect.filter(|_| item["by_frame"] != true), item["certainty"].as_f64()) else {
        return DefectWeights::new();
    };
    let certainty = certainty.clamp(0.01, 0.99);
    vec![(defect.into(), (libm::log(certainty / (1.0 - certainty)) * 100.0).round() / 100.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_without_weights_says_its_certainty() {
        let category = json!({ "defect": "en001" });
        let weights = |item: Value| signature_weights(&item, &category);
        assert_eq!(weights(json!({ "certainty": 0.9 })), [("en001".into(), 2.2)]);
        assert_eq!(weights(json!({ "certainty": 0.5, "defect": "au001" })), [("au001".into(), 0.0)]);
        assert_eq!(weights(json!({ "certainty": 1.0, "weights": {} })), [("en001".into(), 4.6)]);
        assert_eq!(weights(json!({ "certainty": 0.9, "by_frame": true })), DefectWeights::new());
        assert_eq!(weights(json!({ "certainty": 0.9, "weights": { "pb001": 0 } })), DefectWeights::new(), "it says nothing");
        let own = json!({ "certainty": 0.9, "by_frame": true, "weights": { "pb001": 0.5, "au001": -1 } });
        assert_eq!(weights(own), [("au001".into(), -1.0), ("pb001".into(), 0.5)]);
    }
}
