//! Reads ReportPortal data: a launch with its failures, a page of items from the API, or a bare list of items.

use super::fields::{FieldNode, FieldReader};
use super::formats::{FormatRow, FormatSign, ReportInput};
use super::item;
use super::items::{FirstElement, ItemReader};
use super::json_span::{self, JsonStep};
use super::room::TextRoom;
use super::{InputPart, detect, json_stream};
use asterisk_base::model::{Launch, LaunchCheckout};
use asterisk_diag::{Diagnostics, Source};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

/// The required fields of a launch, as a help line.
const RULE: &str = "a launch needs `run_id`, `name` and `failure_list`";

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "ReportPortal",
    signs: &[FormatSign::Keys(&["failure_list|content|launchId"]), FormatSign::Element(&["id", "name", "status"])],
    is_json: true,
    read,
};

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    if input.is_held() { read_text(input.source, input.room) } else { read_stream(input.source, input.stream, input.room) }
}

/// Reads the text of a source.
fn read_text(source: &Source, room: &TextRoom) -> Result<InputPart, Diagnostics> {
    let body = &source.text()[json_span::body_start(source.text())..];
    let mut json = serde_json::Deserializer::from_str(body);
    let mut items = ItemReader::new(source, room);
    let read = json_stream::read(&mut json, &mut items).and_then(|header| json.end().map(|()| header));
    match read {
        Ok(header) => part(source, &header, items),
        Err(error) => Err(detect::json_lines(source, body).unwrap_or_else(|| json_span::syntax(source, &error)).into()),
    }
}

/// Reads a stream. Errors have no message: that requires the text.
fn read_stream(source: &Source, input: impl Read, room: &TextRoom) -> Result<InputPart, Diagnostics> {
    let mut json = serde_json::Deserializer::from_reader(input);
    let mut items = ItemReader::new(source, room);
    let header = json_stream::read(&mut json, &mut items).and_then(|header| json.end().map(|()| header));
    part(source, &header.map_err(|_| Diagnostics::new())?, items)
}

/// Detects the type of the text by its keys and the first element of its list. A list of items that name no launch has an empty
/// `run_id`.
fn part(source: &Source, header: &Value, items: ItemReader<'_>) -> Result<InputPart, Diagnostics> {
    if header.get("failure_list").is_some() {
        return launch(source, header, items);
    }
    let place: &[JsonStep<'_>] = &[JsonStep::Key("content"), JsonStep::Index(0)];
    if header.get("content").is_some() {
        match &items.first {
            Some(FirstElement::Other(Some(known))) => {
                return Err(detect::refuse(source, detect::key(source, place, *known), known.what, known.help).into());
            }
            Some(FirstElement::Item) => return page(header, items),
            Some(FirstElement::Log) => return Ok(logs(items)),
            _ if header.get("page").is_some() => return page(header, items),
            _ => {}
        }
    }
    if header.is_object() {
        return match detect::object(source, header) {
            Some(refusal) => Err(refusal.into()),
            // An envelope without its list gets an error with a did-you-mean.
            None => launch(source, header, items),
        };
    }
    match &items.first {
        Some(FirstElement::Item) => {
            let mut launch = Launch::default();
            let fields = of_items(&mut launch, items);
            fields.finish(Some(of_launch(launch, None)))
        }
        Some(FirstElement::Log) => Ok(logs(items)),
        Some(FirstElement::Other(known)) => Err(detect::element(source, *known).into()),
        None => {
            let what = if header.is_array() { "an empty JSON list" } else { "a bare JSON value" };
            Err(detect::refuse(source, json_span::locate(source.text(), &[]), what, detect::WANTED).into())
        }
    }
}

/// Reads a launch: `run_id`, `name` and `failure_list` are required, the rest is optional.
fn launch(source: &Source, header: &Value, items: ItemReader<'_>) -> Result<InputPart, Diagnostics> {
    let mut fields = FieldReader::new(source);
    let root = FieldNode::root(header);
    let run_id = fields.required_id(&root, "run_id", RULE);
    let name = fields.required_text(&root, "name", RULE);
    if root.get("failure_list").is_none() {
        fields.missing(&root, "failure_list", RULE);
    }
    let list = fields.list(&root, "failure_list").is_some();
    let mut launch = Launch {
        number: fields.integer(&root, "number"),
        status: fields.text(&root, "status").filter(|status| !status.trim().is_empty()),
        started_at: fields.time(&root, "startTime"),
        ended_at: fields.time(&root, "endTime"),
        git: git(&mut fields, &root),
        totals: totals(&mut fields, &root),
        ..Launch::default()
    };
    item::read_attributes(&mut fields, &root, &mut launch.attributes);
    fields.absorb(items.fill(&mut launch));
    let part = run_id.zip(name).filter(|_| list).map(|(run_id, name)| {
        (launch.run_id, launch.name) = (run_id, name);
        let failed = launch.totals.get("failed").copied().unwrap_or(0);
        let listed = launch.cases.len() as u64;
        if failed > listed {
            launch.notes.push(format!("the launch counts {failed} failed tests, but its list has {listed}"));
        }
        launch.notes.extend(fields.take_notes());
        of_launch(launch, None)
    });
    fields.finish(part)
}

/// Reads a page of items from the API: `{content: [...], page: {...}}`.
fn page(header: &Value, items: ItemReader<'_>) -> Result<InputPart, Diagnostics> {
    let count = |key| header.pointer(key).and_then(Value::as_u64);
    let page = count("/page/number").zip(count("/page/totalPages")).filter(|(_, pages)| *pages > 1);
    let mut launch = Launch::default();
    let fields = of_items(&mut launch, items);
    fields.finish(Some(of_launch(launch, page)))
}

fn of_launch(launch: Launch, page: Option<(u64, u64)>) -> InputPart {
    InputPart { only_failures: !launch.outcomes.has_passes(), launch, page, ..InputPart::default() }
}

/// A page of log entries: the texts of a launch that is given as well.
fn logs(items: ItemReader<'_>) -> InputPart {
    InputPart { logs: Some(items.logs), ..InputPart::default() }
}

/// Makes a launch of bare items, which give its id, name and number.
fn of_items<'s>(launch: &mut Launch, mut items: ItemReader<'s>) -> FieldReader<'s> {
    let (run_id, name, number) = std::mem::take(&mut items.launch);
    (launch.run_id, launch.name, launch.number) = (run_id.unwrap_or_default(), name.unwrap_or_default(), number);
    let mut fields = items.fill(launch);
    launch.notes.extend(fields.take_notes());
    fields
}

/// The counts of `statistics.executions`.
fn totals(fields: &mut FieldReader<'_>, root: &FieldNode<'_>) -> BTreeMap<String, u64> {
    let mut totals = BTreeMap::new();
    let Some(statistics) = fields.object(root, "statistics") else { return totals };
    let Some(executions) = fields.object(&statistics, "executions") else { return totals };
    for (outcome, count) in executions.value.as_object().into_iter().flatten() {
        if let Some(count) = count.as_u64() {
            totals.insert(outcome.clone(), count);
        }
    }
    totals
}

fn git(fields: &mut FieldReader<'_>, root: &FieldNode<'_>) -> LaunchCheckout {
    let Some(git) = fields.object(root, "git") else { return LaunchCheckout::default() };
    let mut text = |key| fields.text(&git, key).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    LaunchCheckout { branch: text("branch"), commit: text("commit"), remote: text("remote") }
}
