//! Inputs that are rejected: the message and the location of the label.

use super::super::{InputError, LaunchMerger, MAX_BYTES, read};
use super::text;
use asterisk_diag::Diagnostic;
use std::io::Read;

/// Rejected inputs: the text, the code, `line:column` of the label, the message after `x:line:column: `.
const REFUSALS: [(&str, &str, &str, &str); 36] = [
    ("", "ingest/empty", "1:1", "x is empty"),
    ("\u{feff} \n", "ingest/empty", "1:1", "x is empty"),
    ("{}", "ingest/format", "1:1", "x is not a test report; it looks like an empty JSON object"),
    ("[]", "ingest/format", "1:1", "x is not a test report; it looks like an empty JSON list"),
    ("[1]", "ingest/format", "1:2", "x is not a test report; it looks like a JSON list of something other than test items"),
    ("{\n \"b\": 1, \"a\": 2}", "ingest/format", "1:1", "x is not a test report; it looks like a JSON object with `a`, `b`"),
    (
        "{\"version\": \"2.1.0\",\n \"runs\": []}",
        "ingest/format",
        "2:2",
        "x is not a test report; it looks like a SARIF report of a static analyser",
    ),
    ("{\"a\":1}\n{\"b\":1}\n", "ingest/format", "1:1", "x is not a test report; it looks like a stream of JSON lines"),
    (
        "{\"errorCode\": 4003, \"message\": \"You do not have enough permissions.\"}",
        "ingest/format",
        "1:2",
        "x is not a test report; it looks like an error response of the ReportPortal API",
    ),
    (
        "{\"rcas\": [], \"symptoms\": [], \"cases\": []}",
        "ingest/format",
        "1:2",
        "x is not a test report; it looks like a calibration scenario",
    ),
    (
        "[{\"id\": 1, \"name\": \"l\", \"status\": \"FAILED\", \"uuid\": \"u\", \"statistics\": {}, \"mode\": \"DEFAULT\"}]",
        "ingest/format",
        "1:76",
        "x is not a test report; it looks like a list of ReportPortal launches",
    ),
    (
        "{\"content\": [{\"id\": 1, \"name\": \"l\", \"status\": \"FAILED\", \"uuid\": \"u\", \"statistics\": {}, \"mode\": \"DEFAULT\"}], \"page\": {}}",
        "ingest/format",
        "1:88",
        "x is not a test report; it looks like a list of ReportPortal launches",
    ),
    (
        "<Site BuildName='b'><Configure/></Site>",
        "ingest/format",
        "1:1",
        "x is not a test report; it looks like a CTest file without tests",
    ),
    (
        "{\"run_id\": 1, \"name\": \"n\", \"failure_list\": [\n {\"id\": 1, \"name\"",
        "ingest/truncated",
        "2:17",
        "the JSON ends before it is complete",
    ),
    ("{\"run_id\": 1,, }", "ingest/json-syntax", "1:14", "this is not valid JSON: key must be a string"),
    ("{\"run_id\": 1, \"name\": \"n\", \"failure_lsit\": []}", "ingest/missing", "1:28", "the launch lacks `failure_list`"),
    ("{\"name\": \"n\", \"failure_list\": []}", "ingest/missing", "1:1", "the launch lacks `run_id`"),
    ("{\"run_id\": 1, \"name\": null, \"failure_list\": []}", "ingest/missing", "1:15", "`name` of the launch is null"),
    (
        "{\"run_id\": 1, \"name\": \"n\", \"failure_list\": {}}",
        "ingest/type",
        "1:44",
        "`failure_list` is an object, but should be a list",
    ),
    (
        "{\"run_id\": [], \"name\": \"n\", \"failure_list\": []}",
        "ingest/type",
        "1:12",
        "`run_id` is a list, but should be a whole number or a non-empty string",
    ),
    (
        "{\"run_id\": 1, \"name\": \"n\", \"failure_list\": [\n {\"id\": 1, \"name\": \"a\", \"status\": \"FAILED\"},\n {\"id\": 2, \"status\": \"FAILED\"}]}",
        "ingest/missing",
        "3:2",
        "`failure_list[1]` lacks `name`",
    ),
    (
        "{\"run_id\": 1, \"name\": \"n\", \"failure_list\": [7]}",
        "ingest/type",
        "1:45",
        "`failure_list[0]` is a number, but should be an object",
    ),
    (
        "{\"run_id\": 1, \"name\": \"n\", \"failure_list\": [{\"id\": 1, \"name\": \"a\", \"status\": \"F\", \"error_message\": {}}]}",
        "ingest/type",
        "1:100",
        "`failure_list[0].error_message` is an object, but should be a string",
    ),
    (
        "{\"run_id\": 1, \"name\": \"n\", \"startTime\": true, \"failure_list\": []}",
        "ingest/type",
        "1:41",
        "`startTime` is a boolean, but should be milliseconds since 1970 or an RFC 3339 time",
    ),
    (
        "<!DOCTYPE html>\n<html><body>Sign in</body></html>",
        "ingest/format",
        "1:1",
        "x is not a test report; it looks like a web page",
    ),
    ("<a/>", "ingest/format", "1:1", "x is not a test report; it looks like XML with the root element `a`"),
    (
        "<?xml version=\"1.0\"?>\n<!DOCTYPE t [<!ENTITY a \"&b;&b;\">]>\n<testsuite/>",
        "ingest/doctype",
        "2:1",
        "the XML has a document type with entities, which is rejected: they could expand without limit",
    ),
    ("<testsuites>\n <testsuite name=\"a\">\n", "ingest/truncated", "2:21", "the XML ends before `<testsuite>` is closed"),
    (
        "<testsuite>\n <testcase name=\"a",
        "ingest/truncated",
        "2:2",
        "the XML ends too soon: attribute value not closed: `\"` not found before end of input",
    ),
    (
        "<testsuite>\n</testsuites>",
        "ingest/xml-syntax",
        "2:1",
        "this is not valid XML: `</testsuites>` where `</testsuite>` should be",
    ),
    (
        "<testsuite>\n <testcase>&bomb;</testcase></testsuite>",
        "ingest/xml-syntax",
        "2:12",
        "this is not valid XML: the unknown entity `&bomb;`",
    ),
    ("<testsuite name='&x;'/>", "ingest/xml-syntax", "1:1", "this is not valid XML: the unknown entity `&x;`"),
    ("<testsuite name=a/>", "ingest/xml-syntax", "1:1", "this is not valid XML: an attribute without quotes"),
    ("<testsuite/>\nand a log", "ingest/xml-syntax", "2:1", "this is not valid XML: text outside of the root element"),
    ("hello", "ingest/format", "1:1", "x is not a test report; it looks like plain text"),
    ("ab\0c", "ingest/format", "1:3", "x is not a test report; it looks like binary data"),
];

#[test]
fn inputs_that_are_not_launches_are_rejected() {
    for (input, code, place, message) in REFUSALS {
        let found = read(&text(input)).expect_err(input);
        let first: &Diagnostic = found.iter().next().unwrap();
        assert_eq!(first.to_string(), format!("x:{place}: {message}"), "{input}");
        assert_eq!(first.code, code, "{input}");
        assert!(first.help.is_some() || code == "ingest/type", "{input} gets no help");
    }
}

#[test]
fn everything_wrong_is_reported_at_once() {
    let found =
        read(&text(r#"{"name": 1, "number": [], "failure_list": [{}, {"id": 1, "name": "n", "status": []}]}"#)).unwrap_err();
    let found: Vec<String> = found.iter().map(|one| one.message.clone()).collect();
    let expected = [
        "the launch lacks `run_id`",
        "`number` is a list, but should be a whole number",
        "`failure_list[0]` lacks `id`",
        "`failure_list[0]` lacks `name`",
        "`failure_list[0]` lacks `status`",
        "`failure_list[1].status` is a list, but should be a string",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_misspelt_key_is_labelled() {
    let found = read(&text("{\"run_id\": 1, \"name\": \"n\", \"failure_lsit\": []}")).unwrap_err();
    let label = found.iter().next().unwrap().primary().unwrap();
    assert_eq!(
        (label.source.slice(label.span), label.text.as_str()),
        ("\"failure_lsit\"", "is this meant to be `failure_list`?")
    );
}

#[test]
fn the_message_of_the_api_is_passed_on() {
    let found = read(&text(r#"{"errorCode": 40010, "message": "Project 'x' not found"}"#)).unwrap_err();
    let help = found.iter().next().unwrap().help.clone().unwrap();
    assert_eq!(help, "the API responded: Project 'x' not found; retry with a valid token, project and launch id");
}

#[test]
fn input_without_bounds_is_refused() {
    let deep = "<testsuite>".repeat(100_000);
    let attributes: Vec<String> = (0..300).map(|number| format!(" a{number}=''")).collect();
    for (input, code) in [
        (deep, "ingest/too-deep"),
        (format!("<testsuite{}/>", attributes.concat()), "ingest/too-large"),
        ("{\"a\":".repeat(100_000), "ingest/too-deep"),
    ] {
        assert_eq!(read(&text(&input)).unwrap_err().iter().next().unwrap().code, code);
    }
    // Devices have no end; only their beginning is read.
    for endless in [0, b'y', 0xa7] {
        let read = LaunchMerger::default().add_input("x", None, || Ok(Read::take(std::io::repeat(endless), 1 << 20)));
        assert!(
            matches!(read, Err(InputError::Wrong(found)) if found.iter().next().unwrap().code == "ingest/format"),
            "{endless}"
        );
    }
    let large = LaunchMerger::default().add_input("x", Some(MAX_BYTES + 1), || Ok(&b""[..]));
    assert!(matches!(large, Err(InputError::Wrong(found)) if found.iter().next().unwrap().code == "ingest/too-large"));
}
