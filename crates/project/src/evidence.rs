//! The rules for extracting evidence, from a project's data: `data/evidence.yaml` and the signatures of the domain.

use asterisk_base::model::Hash;
use asterisk_evidence::{EvidenceReader, EvidenceRules, FrameLanguage, FrameOwner, MaskRule, Masker, OwnerRule, SignatureSpec};
use asterisk_form::{Form, FormKey, ValueForm};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const PATTERNS: ValueForm = ValueForm::List(&ValueForm::Pattern(0));
const OWNERS: &[&str] = &["product", "test", "library", "runtime"];
const LANGUAGES: &[&str] = &["jvm", "python", "go", "js", "rust", "native", "dotnet", "ruby", "php", "perl", "other"];

/// The form of `data/evidence.yaml`.
pub(super) const EVIDENCE: Form = Form {
    what: "the evidence file",
    keys: &[
        FormKey::required(
            "owners",
            ValueForm::List(&ValueForm::Map(&OWNER)),
            "The owner of a frame's code; the first matching rule applies.",
        ),
        FormKey::required("namespace", ValueForm::Pattern(0), "The prefix of class names shared by the code of a project."),
        FormKey::required("maker", ValueForm::Pattern(0), "The prefix of class names shared by all projects of a vendor."),
        FormKey::new("masking", ValueForm::Records(&MASKING, "id"), "What to mask in addition to known secret formats."),
    ],
    ..Form::PLAIN
};

const OWNER: Form = Form {
    what: "an owner rule",
    keys: &[
        FormKey::new("id", ValueForm::Text, "Its id, which extending files use to change it."),
        FormKey::required("owner", ValueForm::Word(OWNERS), "The owner."),
        FormKey::new("languages", ValueForm::List(&ValueForm::Word(LANGUAGES)), "The languages it applies to; all by default."),
        FormKey::new("paths", PATTERNS, "Patterns of the file, with forward slashes."),
        FormKey::new("functions", PATTERNS, "Patterns of the function with its class and package."),
        FormKey::new("unless_own", ValueForm::Bool, "Whether it applies only to code outside the package of the test."),
    ],
    ..Form::PLAIN
};

const MASKING: Form = Form {
    what: "a masking rule",
    keys: &[
        FormKey::required("id", ValueForm::Text, "Its name."),
        FormKey::required("pattern", ValueForm::Pattern(0), "The pattern; its first group is masked, or the whole match."),
    ],
    ..Form::PLAIN
};

/// Creates the reader of the data files `evidence` and `reading`, and the domain; `places` are the locations of signatures.
pub(super) fn reader([file, domain, reading]: [&Value; 3], places: &BTreeMap<String, String>) -> EvidenceReader {
    let fixtures = &reading["setup_names"];
    let herrings = domain["red_herrings"].as_array().into_iter().flatten();
    let rules = EvidenceRules {
        owners: file["owners"].as_array().into_iter().flatten().map(owner).collect(),
        namespace: text(&file["namespace"]),
        maker: text(&file["maker"]),
        signatures: domain["signatures"].as_array().into_iter().flatten().map(|item| signature(item, places)).collect(),
        ignored: herrings.map(|herring| text(&herring["message"])).filter(|pattern| !pattern.is_empty()).collect(),
        fixtures: text(fixtures),
    };
    let address = Hash::of_json(&json!([file, domain["signatures"], domain["red_herrings"], places, fixtures]));
    EvidenceReader::new(rules, address)
}

/// Creates the masker from `data/evidence.yaml`.
pub(super) fn masker(file: &Value) -> Masker {
    let rules = file["masking"].as_array().into_iter().flatten();
    let rules: Vec<MaskRule> = rules.map(|rule| MaskRule { id: text(&rule["id"]), pattern: text(&rule["pattern"]) }).collect();
    // Invalid patterns have been rejected by the form of the data.
    Masker::new(&rules).unwrap_or_default()
}

/// A reader for a single signature, to test its examples. `signature` is as in a domain.
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
    OwnerRule {
        owner: rule["owner"]
            .as_str()
            .and_then(|name| FrameOwner::ALL.iter().find(|(known, _)| *known == name))
            .map(|(_, owner)| *owner),
        languages: texts(&rule["languages"]).iter().filter_map(|name| FrameLanguage::named(name)).collect(),
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
        topic: text(&item["topic"]),
        patterns: texts(&item["patterns"]),
        subject: text(&item["subject"]),
        unless_text: text(&item["unless_text"]),
        unless_line: text(&item["unless_line"]),
        pick_last: item["pick"] == "last",
        weak: item["weak"] == true,
        setup: item["setup"] == true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_form_match_those_of_the_reader() {
        assert_eq!(OWNERS, FrameOwner::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        assert_eq!(LANGUAGES, FrameLanguage::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }
}
