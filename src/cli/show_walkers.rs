//! `asterisk show elements|personas|cycles|masks`: walkers and masks.

use crate::ui::{CellPaint, OutputFormat, Ui};
use asterisk_diag::{Diagnostic, did_you_mean};
use asterisk_project::AnswererNames;
use asterisk_script::LinkedScript;
use asterisk_session::{Session, SessionError};
use asterisk_store::WalkerAccuracy;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Prints the elements with their traits, or one of them.
pub(super) fn elements(ui: &Ui, session: &Session, name: Option<&str>) -> Result<(), SessionError> {
    let data = file(session, "elements")?;
    let derived = |record: &Value| derived(record, &data["elements"]);
    let plain = entries(&data["elements"]).map(|(name, traits)| (name.clone(), traits.clone()));
    let all: Vec<(String, Value)> =
        plain.chain(entries(&data["derived"]).map(|(name, record)| (name.clone(), derived(record)))).collect();
    let chosen = named("element", name, &all)?;
    if ui.format() == OutputFormat::Json {
        let of = |group: &str| data[group].as_object().into_iter().flatten();
        let shown = |key: &str| chosen.iter().any(|(name, _)| name == key);
        let group =
            |group: &str| of(group).filter(|(name, _)| shown(name)).map(|(k, v)| (k.clone(), v.clone())).collect::<Map<_, _>>();
        ui.json(&json!({ "schema_version": 1, "elements": group("elements"), "derived": group("derived") }));
        return Ok(());
    }
    let mut table = ui.table(&["element", "speed", "max loops", "convergence", "shortcuts", "evidence", "fails by"]);
    for (name, traits) in &chosen {
        let colour = CellPaint::of(text(&traits["colour"]).as_str());
        let keys = ["speed", "max_loops", "convergence_threshold", "shortcut_affinity", "evidence_depth", "failure_mode"];
        table.painted(std::iter::once((name.clone(), colour)).chain(keys.map(|key| (text(&traits[key]), CellPaint::none()))));
    }
    ui.out(&table.text());
    if chosen.iter().any(|(name, _)| data["derived"].get(name.as_str()).is_some()) {
        ui.out("a: how accurate it has been, 0 to 1");
    }
    Ok(())
}

/// The traits of a derived element, as formulas of the accuracy `a`.
fn derived(record: &Value, elements: &Value) -> Value {
    let mut traits = elements[text(&record["from"]).as_str()].clone();
    traits["max_loops"] = json!(format!("max(0, {} - floor({}a))", traits["max_loops"], record["fewer_loops"]));
    traits["convergence_threshold"] =
        json!(format!("{} + {} (1 - a)", traits["convergence_threshold"], record["more_convergence"]));
    for key in ["failure_mode", "colour"] {
        traits[key] = record[key].clone();
    }
    traits
}

/// Prints the personas, or one of them, with how often their answers were confirmed in review.
pub(super) fn personas(ui: &Ui, session: &Session, name: Option<&str>) -> Result<(), SessionError> {
    let data = file(session, "personas")?;
    let list = data["personas"].as_array().into_iter().flatten();
    let all: Vec<(String, Value)> = list.map(|persona| (text(&persona["name"]), persona.clone())).collect();
    let chosen = named("persona", name, &all)?;
    let measured = session.knowledge()?.walker_accuracy()?;
    let of = |name: &str| measured.iter().filter(|one| one.walker == name).collect::<Vec<_>>();
    if ui.format() == OutputFormat::Json {
        let list = chosen.iter().map(|(name, persona)| {
            let mut persona = persona.clone();
            persona["measured"] = json!(of(name));
            persona
        });
        let list: Vec<Value> = list.collect();
        ui.json(&json!({ "schema_version": 1, "personas": list, "positions": data["positions"] }));
        return Ok(());
    }
    let colours = session.element_colours()?;
    if name.is_some() {
        for (name, persona) in &chosen {
            one(ui, persona, &of(name));
        }
        return Ok(());
    }
    let mut table = ui.table(&["persona", "colour", "element", "position", "side", "home", "stickiness", "strongest at"]);
    for (name, persona) in &chosen {
        let own = CellPaint::of(&text(&persona["hex"]));
        let element = text(&persona["element"]);
        let of_element = colours.get(&element).map_or_else(CellPaint::none, |colour| CellPaint::of(colour));
        let rest = ["position", "side", "home", "stickiness"].map(|key| (text(&persona[key]), CellPaint::none()));
        let first = [(name.clone(), own), (text(&persona["colour"]), own), (element, of_element)];
        table.painted(first.into_iter().chain(rest).chain([(strongest(persona, 3), CellPaint::none())]));
    }
    ui.out(&table.text());
    Ok(())
}

fn one(ui: &Ui, persona: &Value, measured: &[&WalkerAccuracy]) {
    let mut table = ui.table(&[&text(&persona["name"]), ""]);
    let own = CellPaint::of(&text(&persona["hex"]));
    for key in ["colour", "hex", "element", "position", "side", "home", "stickiness"] {
        let paint = if key == "colour" || key == "hex" { own } else { CellPaint::none() };
        table.painted([(key.to_owned(), CellPaint::none()), (text(&persona[key]), paint)]);
    }
    table.row(["affinities".to_owned(), strongest(persona, usize::MAX)]);
    for key in ["tags", "masks", "preamble"] {
        let list = |value: &Value| value.as_array().map(|list| list.iter().map(text).collect::<Vec<_>>().join(", "));
        table.row([key.to_owned(), list(&persona[key]).unwrap_or_else(|| text(&persona[key]))]);
    }
    let stood = |one: &&WalkerAccuracy| format!("{}: {} of {}", one.node, one.stood, one.reviewed);
    if !measured.is_empty() {
        table.row(["confirmed".to_owned(), measured.iter().map(stood).collect::<Vec<_>>().join(", ")]);
    }
    ui.out(&table.text());
    if !measured.is_empty() {
        ui.out(&format!("\nmeasured values, for `data/personas.yaml`:\n{}", as_measured(measured)));
    }
}

/// Values of a walker for the file of personas: its affinities and its accuracy, by how often its answers were confirmed.
fn as_measured(measured: &[&WalkerAccuracy]) -> String {
    #[expect(clippy::cast_precision_loss, reason = "at most 500 cases are counted")]
    let share = |stood: i64, reviewed: i64| format!("{:.2}", stood as f64 / reviewed.max(1) as f64);
    let affinities: Vec<String> =
        measured.iter().map(|one| format!("{}: {}", one.node, share(one.stood, one.reviewed))).collect();
    let sum = |of: fn(&WalkerAccuracy) -> i64| measured.iter().map(|one| of(one)).sum();
    let accuracy = share(sum(|one| one.stood), sum(|one| one.reviewed));
    format!("    affinities: {{ {} }}\n    accuracy: {accuracy}", affinities.join(", "))
}

/// The nodes with the highest affinity of a persona, best first.
fn strongest(persona: &Value, most: usize) -> String {
    let mut all: Vec<(&String, f64)> =
        entries(&persona["affinities"]).map(|(node, n)| (node, n.as_f64().unwrap_or(0.0))).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all.iter().take(most).map(|(node, affinity)| format!("{node} {affinity}")).collect::<Vec<_>>().join(", ")
}

/// Prints the cycles, or one of them.
pub(super) fn cycles(ui: &Ui, session: &Session, name: Option<&str>) -> Result<(), SessionError> {
    let data = file(session, "elements")?;
    let all: Vec<(String, Value)> = entries(&data["cycles"]).map(|(name, steps)| (name.clone(), steps.clone())).collect();
    let chosen = named("cycle", name, &all)?;
    if ui.format() == OutputFormat::Json {
        let cycles: BTreeMap<&String, &Value> = chosen.iter().map(|(name, steps)| (name, steps)).collect();
        ui.json(&json!({ "schema_version": 1, "cycles": cycles }));
        return Ok(());
    }
    let colours = session.element_colours()?;
    let paint =
        |element: &str| (element.to_owned(), colours.get(element).map_or_else(CellPaint::none, |colour| CellPaint::of(colour)));
    let mut table = ui.table(&["cycle", "from", "to", "meaning"]);
    for (name, steps) in chosen.iter().rev() {
        for step in steps.as_array().into_iter().flatten() {
            let (from, to) = (paint(&text(&step["from"])), paint(&text(&step["to"])));
            table.painted([(name.clone(), CellPaint::none()), from, to, (text(&step["meaning"]), CellPaint::none())]);
        }
    }
    ui.out(&table.text());
    Ok(())
}

/// Prints the masks, or one of them.
pub(super) fn masks(ui: &Ui, session: &Session, name: Option<&str>) -> Result<(), SessionError> {
    let project = session.whole_project(None, AnswererNames::Others)?;
    let mask = |file: &LinkedScript| {
        let stem = file.path().strip_prefix("masks/")?.strip_suffix(".rhai")?;
        let doc = |name: &str| file.functions().find(|function| function.name == name).map(|function| function.doc.clone());
        let constant = |name: &str| project.library.constant(file.path(), name).unwrap_or_else(|| json!([]));
        let entry = json!({
            "name": stem, "path": file.path(), "nodes": constant("NODES"), "needs": constant("NEEDS"), "pre": doc("pre"),
            "post": doc("post"),
        });
        Some((stem.to_owned(), entry))
    };
    let all: Vec<(String, Value)> = project.library.files().filter_map(mask).collect();
    let chosen = named("mask", name, &all)?;
    if ui.format() == OutputFormat::Json {
        let list: Vec<&Value> = chosen.iter().map(|(_, mask)| mask).collect();
        ui.json(&json!({ "schema_version": 1, "masks": list }));
        return Ok(());
    }
    let mut table = ui.table(&["mask", "for", "brings", "before the step", "after it"]);
    for (name, mask) in &chosen {
        let list = |key: &str| mask[key].as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join(", ");
        let summary = |key: &str| text(&mask[key]).lines().next().unwrap_or_default().to_owned();
        table.row([name.clone(), list("nodes"), list("needs"), summary("pre"), summary("post")]);
    }
    ui.out(&table.text());
    Ok(())
}

/// Selects the entry with a name, ignoring case, or all.
pub(super) fn named<T: Clone>(what: &str, name: Option<&str>, all: &[(String, T)]) -> Result<Vec<(String, T)>, SessionError> {
    let Some(name) = name else { return Ok(all.to_vec()) };
    let lower = name.to_lowercase();
    if let Some(one) = all.iter().find(|(known, _)| known.to_lowercase() == lower) {
        return Ok(vec![one.clone()]);
    }
    let lowered: Vec<&str> = all.iter().map(|(known, _)| known.as_str()).collect();
    let known = format!("there are {}", lowered.join(", "));
    let hint = did_you_mean(name, lowered).unwrap_or(known);
    Err(SessionError::BadRequest(Box::new(Diagnostic::error("input/unknown", format!("unknown {what} `{name}`")).help(hint))))
}

fn file(session: &Session, stem: &str) -> Result<Value, SessionError> {
    let mut data = session.data()?;
    let missing = || Diagnostic::error("input/no-data", format!("unknown data file `{stem}`"));
    data.remove(stem).ok_or_else(|| SessionError::BadRequest(Box::new(missing())))
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
