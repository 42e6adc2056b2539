//! Reads a report that is one JSON document. Of one that is cut off or damaged, everything before that place is read, and a gap is
//! recorded.

use super::formats::ReportInput;
use super::launch_builder::LaunchBuilder;
use super::{InputPart, cut, json_span};
use asterisk_diag::{Code, Diagnostics};
use serde::de::DeserializeOwned;
use std::io::Read as _;

/// Reads a report; `fill` passes its tests to the builder.
pub(super) fn read<T: DeserializeOwned>(
    input: ReportInput<'_>,
    fill: impl FnOnce(T, &mut LaunchBuilder),
) -> Result<InputPart, Diagnostics> {
    let mut builder = input.builder();
    let name = input.source.name();
    if !input.is_held() {
        let report = serde_json::from_reader(input.stream).map_err(|_| Diagnostics::new())?;
        fill(report, &mut builder);
        return Ok(builder.finish(name));
    }
    let Some(source) = input.into_held() else { return Err(Diagnostics::new()) };
    let text = &source.text()[json_span::body_start(source.text())..];
    let error = match serde_json::from_str(text) {
        Ok(report) => {
            fill(report, &mut builder);
            return Ok(builder.finish(name));
        }
        Err(error) => error,
    };
    let found = json_span::syntax(source, &error);
    if found.is(Code::IngestTooDeep) {
        return Err(found.into());
    }
    let end = cut::floor(text, json_span::byte_offset(text, error.line(), error.column()));
    let Some((whole, ends)) = salvage(&text[..end]) else {
        return Err(found.into());
    };
    let Ok(report) = serde_json::from_reader(whole.as_bytes().chain(ends.as_bytes())) else { return Err(found.into()) };
    fill(report, &mut builder);
    if builder.is_empty() {
        return Err(found.into());
    }
    builder.cut_off(format!("{name}:{}: {}: what follows is missing", error.line(), found.message));
    Ok(builder.finish(name))
}

/// The part of a text up to the last bracket that closes in it, and the brackets to close after it.
fn salvage(text: &str) -> Option<(&str, String)> {
    let bytes = text.as_bytes();
    let mut open = Vec::new();
    let mut whole = None;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
            }
            b'{' => open.push('}'),
            b'[' => open.push(']'),
            b'}' | b']' => {
                open.pop();
                whole = Some((at + 1, open.len()));
            }
            _ => {}
        }
        at += 1;
    }
    let (end, depth) = whole?;
    Some((&text[..end], open[..depth].iter().rev().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_cut_off_ends_with_its_last_closed_bracket() {
        for (text, wanted) in [
            (r#"{"a": [{"b": 1}, {"b": "}]"#, Some(r#"{"a": [{"b": 1}]}"#)),
            (r#"{"a": [{"b": [1]}, {"b": "\"]"}, {"c": ["#, Some(r#"{"a": [{"b": [1]}, {"b": "\"]"}]}"#)),
            (r#"{"a": 1} x"#, Some(r#"{"a": 1}"#)),
            (r#"{"a": [1, "#, None),
        ] {
            let found = salvage(text).map(|(whole, ends)| format!("{whole}{ends}"));
            assert_eq!(found.as_deref(), wanted, "{text}");
        }
    }
}
