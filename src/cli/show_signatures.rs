//! `asterisk show signatures`: the known failures of the domain, and how often each matched.

use crate::ui::{OutputFormat, Ui, plain};
use asterisk_decisions::{SignatureHits, signature_hits};
use asterisk_diag::counted;
use asterisk_diag::{Diagnostic, did_you_mean};
use asterisk_project::AnswererNames;
use asterisk_session::{Session, SessionError};
use serde_json::{Value, json};

/// Prints all signatures in a table, or one of them in full.
pub(super) fn signatures(ui: &Ui, session: &Session, id: Option<&str>) -> Result<(), SessionError> {
    let project = session.project(None, AnswererNames::Others)?;
    let data = session.data()?;
    let domain = &data.get("domain").unwrap_or(&Value::Null);
    let mut hits = signature_hits(session)?;
    let all = domain["signatures"].as_array().into_iter().flatten();
    let mut all: Vec<(Value, SignatureHits)> = all
        .map(|signature| {
            let mut signature = signature.clone();
            let id = text(&signature["id"]).to_owned();
            signature["at"] = json!(project.plan.evidence.signature(&id).map_or("", |spec| &spec.at));
            if text(&signature["defect"]).is_empty() {
                signature["defect"] = domain["categories"][text(&signature["category"])]["defect"].clone();
            }
            (signature, hits.remove(&id).unwrap_or_default())
        })
        .collect();
    if let Some(id) = id {
        let ids: Vec<String> = all.iter().map(|(signature, _)| text(&signature["id"]).to_owned()).collect();
        all.retain(|(signature, _)| text(&signature["id"]) == id);
        if all.is_empty() {
            let help = did_you_mean(id, ids.iter().map(String::as_str));
            let help = help.unwrap_or_else(|| "asterisk show signatures lists them".to_owned());
            let domain = text(&domain["name"]);
            let message = format!("unknown signature `{id}` in the domain `{domain}`");
            return Err(SessionError::BadRequest(Box::new(Diagnostic::error("input/unknown", message).help(help))));
        }
    }
    if ui.format() == OutputFormat::Json {
        let list: Vec<Value> = all.iter().map(|(signature, hits)| json!({ "signature": signature, "hits": hits })).collect();
        ui.json(&json!({ "schema_version": 1, "domain": domain["name"], "signatures": list }));
    } else if id.is_some() {
        for (signature, hits) in &all {
            one(ui, signature, hits);
        }
    } else {
        let mut table = ui.table(&["signature", "title", "category, defect", "sure", "hits"]);
        for (signature, hits) in &all {
            let cell = |key: &str| text(&signature[key]);
            let verdict = format!("{} {}", cell("category"), cell("defect"));
            let hits = if hits.cases == 0 { String::new() } else { hits.cases.to_string() };
            table.row([cell("id"), cell("title"), &verdict, &signature["certainty"].to_string(), &hits]);
        }
        for column in [0, 3, 4] {
            table.no_wrap(column);
        }
        ui.out(&table.text());
    }
    Ok(())
}

fn one(ui: &Ui, signature: &Value, hits: &SignatureHits) {
    let cell = |key: &str| text(&signature[key]);
    let mut lines = vec![format!("{}: {}", cell("id"), cell("title"))];
    let add = |name: &str, value: &str, lines: &mut Vec<String>| {
        if !value.is_empty() {
            let wrapped = textwrap::wrap(value, ui.width().saturating_sub(13).max(20));
            lines.extend(wrapped.iter().enumerate().map(|(at, line)| match at {
                0 => format!("  {name:<10} {line}"),
                _ => format!("  {:<10} {line}", ""),
            }));
        }
    };
    let list = |name: &str, key: &str, lines: &mut Vec<String>| {
        for (at, value) in signature[key].as_array().into_iter().flatten().enumerate() {
            add(if at == 0 { name } else { "" }, text(value), lines);
        }
    };
    add("written at", cell("at"), &mut lines);
    let verdict = format!(
        "{}, {}, {}, certainty {}",
        cell("category"),
        cell("defect"),
        cell("severity"),
        signature["certainty"].as_f64().unwrap_or_default()
    );
    add("verdict", &verdict, &mut lines);
    let weights = signature["weights"].as_object().into_iter().flatten();
    let weights: Vec<String> = weights.map(|(defect, weight)| format!("{defect} {weight}")).collect();
    let group = match cell("group") {
        "" => String::new(),
        group => format!(" (group {group})"),
    };
    if !weights.is_empty() {
        add("weights", &format!("{}{group}", weights.join(", ")), &mut lines);
    }
    add("means", cell("means"), &mut lines);
    list("patterns", "patterns", &mut lines);
    add("subject", cell("subject"), &mut lines);
    add("title of", cell("title_of"), &mut lines);
    for (name, key) in [("not on", "unless_line"), ("not with", "unless_text")] {
        add(name, cell(key), &mut lines);
    }
    let flags = signature.as_object().into_iter().flatten().filter(|(_, value)| **value == true);
    let flags: Vec<String> = flags.map(|(name, _)| name.replace('_', " ")).collect();
    add("also", &flags.join(", "), &mut lines);
    list("accepts", "accepts", &mut lines);
    list("rejects", "rejects", &mut lines);
    for key in ["next", "next_framed", "next_unframed"] {
        list(&key.replace('_', " ")[..key.len().min(10)], key, &mut lines);
    }
    let seen = match hits.cases {
        0 => "in no recorded failure".to_owned(),
        cases => format!("in {}", counted(cases, "recorded failure, the latest:", "recorded failures, the latest:")),
    };
    add("matched", &seen, &mut lines);
    for sighting in &hits.latest {
        add("", &format!("run {} case {}: {}", sighting.run, sighting.case, sighting.text), &mut lines);
    }
    ui.out(&plain(&lines.join("\n")));
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
