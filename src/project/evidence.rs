//! The rules that evidence is read by, of a project's data: `data/evidence.yaml` and the signatures of the domain.

use crate::evidence::{EvidenceReader, EvidenceRules, FrameLanguage, FrameOwner, MaskRule, Masker, OwnerRule, SignatureSpec};
use crate::form::{Form, FormKey, ValueForm};
use crate::model::Hash;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const PATTERNS: ValueForm = ValueForm::List(&ValueForm::Pattern(0));
const OWNERS: &[&str] = &["product", "test", "library", "runtime"];
const LANGUAGES: &[&str] = &["jvm", "python", "go", "js", "rust", "native", "dotnet", "ruby", "php", "other"];

/// The form of `data/evidence.yaml`.
pub(super) const EVIDENCE: Form = Form {
    what: "the file of how evidence is read",
    keys: &[
        FormKey::required("owners", ValueForm::List(&ValueForm::Map(&OWNER)), "Whose code a frame is; the first rule that fits."),
        FormKey::required("namespace", ValueForm::Pattern(0), "The beginning of a class's name that code of one maker shares."),
        FormKey::required("masking", ValueForm::Records(&MASKING, "id"), "Secrets and personal data, which are starred."),
    ],
    ..Form::PLAIN
};

const OWNER: Form = Form {
    what: "a rule of owners",
    keys: &[
        FormKey::required("owner", ValueForm::Word(OWNERS), "Whose code it is."),
        FormKey::new("languages", ValueForm::List(&ValueForm::Word(LANGUAGES)), "The languages it is for; all if left out."),
        FormKey::new("paths", PATTERNS, "Patterns of the file, with forward slashes."),
        FormKey::new("functions", PATTERNS, "Patterns of the function with its class and package."),
        FormKey::new("unless_own", ValueForm::Bool, "It fits only code outside of the package of the test."),
    ],
    ..Form::PLAIN
};

const MASKING: Form = Form {
    what: "a rule of masking",
    keys: &[
        FormKey::required("id", ValueForm::Text, "Its name."),
        FormKey::required("pattern", ValueForm::Pattern(0), "What it looks like; the first group is starred, or all of it."),
    ],
    ..Form::PLAIN
};

/// Makes the reader. `data` are the data files by stem, with the domain; `places` says where each signature is written.
pub(super) fn reader(data: &Map<String, Value>, places: &BTreeMap<String, String>) -> EvidenceReader {
    let none = Value::Null;
    let (file, domain) = (data.get("evidence").unwrap_or(&none), data.get("domain").unwrap_or(&none));
    let herrings = domain["red_herrings"].as_array().into_iter().flatten();
    let rules = EvidenceRules {
        owners: file["owners"].as_array().into_iter().flatten().map(owner).collect(),
        namespace: text(&file["namespace"]),
        signatures: domain["signatures"].as_array().into_iter().flatten().map(|item| signature(item, places)).collect(),
        ignored: herrings.map(|herring| text(&herring["message"])).filter(|pattern| !pattern.is_empty()).collect(),
    };
    let address = Hash::of_json(&json!([file, domain["signatures"], domain["red_herrings"], places]));
    EvidenceReader::new(rules, address)
}

/// Makes the masker of `data/evidence.yaml`.
pub(super) fn masker(data: &Map<String, Value>) -> Masker {
    let rules = data.get("evidence").and_then(|file| file["masking"].as_array()).into_iter().flatten();
    let rules: Vec<MaskRule> = rules.map(|rule| MaskRule { id: text(&rule["id"]), pattern: text(&rule["pattern"]) }).collect();
    // The forms of the data have refused what does not compile.
    Masker::new(&rules).unwrap_or_default()
}

/// A reader that knows one signature and nothing else, for trying its examples. `signature` is as a domain has it.
pub fn signature_reader(signature: &Value) -> EvidenceReader {
    let rules = EvidenceRules { signatures: vec![self::signature(signature, &BTreeMap::new())], ..EvidenceRules::default() };
    EvidenceReader::new(rules, Hash::of_json(signature))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

fn owner(rule: &Value) -> OwnerRule {
    let named = |name: &str| FrameLanguage::ALL.iter().find(|(known, _)| *known == name).map(|(_, language)| *language);
    OwnerRule {
        owner: rule["owner"]
            .as_str()
            .and_then(|name| FrameOwner::ALL.iter().find(|(known, _)| *known == name))
            .map(|(_, owner)| *owner),
        languages: texts(&rule["languages"]).iter().filter_map(|name| named(name)).collect(),
        paths: texts(&rule["paths"]),
        functions: texts(&rule["functions"]),
        unless_own: rule["unless_own"] == true,
    }
}

fn signature(item: &Value, places: &BTreeMap<String, String>) -> SignatureSpec {
    let id = text(&item["id"]);
    SignatureSpec {
        at: places.get(&id).cloned().unwrap_or_default(),
        id,
        patterns: texts(&item["patterns"]),
        subject: text(&item["subject"]),
        unless_text: text(&item["unless_text"]),
        unless_line: text(&item["unless_line"]),
        pick_last: item["pick"] == "last",
        weak: item["weak"] == true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_form_are_those_of_the_reader() {
        assert_eq!(OWNERS, FrameOwner::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        assert_eq!(LANGUAGES, FrameLanguage::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }
}
