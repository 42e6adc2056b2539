//! Any input gives a valid launch or errors, in reasonable time.

use super::super::{LaunchMerger, TextLimits, cut, read};
use super::{example, fixture, read_all, text};
use asterisk_base::model::Launch;
use asterisk_diag::Source;
use proptest::prelude::*;
use std::collections::HashSet;

#[test]
fn a_large_launch_is_read_in_reasonable_time() {
    let items: Vec<String> = (0..20_000)
        .map(|number| {
            format!(r#"{{"id": "same", "path": "1.{number}", "parent": {number}, "name": "t{number}", "status": "FAILED", "startTime": "?", "hasChildren": true}}"#)
        })
        .collect();
    let launch = read(&text(&format!(r#"{{"run_id": 1, "name": "n", "failure_list": [{}]}}"#, items.join(",")))).unwrap();
    assert_eq!(launch.cases.len(), 20_000);
    assert_eq!(launch.notes.len(), 7, "{:?}", launch.notes);
    assert_eq!(launch.cases.last().unwrap().id, "same#20000");
}

/// Checks the invariants of every launch, whatever it was read from.
fn check(launch: &Launch) {
    let ids: HashSet<&str> = launch.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), launch.cases.len(), "ids are unique");
    for case in &launch.cases {
        assert!(!case.id.is_empty() && !case.name.contains('\n') && !case.recall_key.is_empty(), "{case:?}");
        for text in [case.error_message.as_str(), &case.log_snippet.text_or_error()].into_iter().chain(case.attributes.values()) {
            assert!(text.len() <= TextLimits::default().text);
            assert!(text.chars().all(|ch| matches!(ch, '\n' | '\t') || !ch.is_control()), "{text:?}");
        }
    }
}

fn samples() -> Vec<String> {
    let files = [
        "items-with-logs.json",
        "reportportal-levels.json",
        "surefire.xml",
        "nested.xml",
        "ctest.xml",
        "gotestsum.xml",
        "jest.xml",
        "playwright.xml",
        "pytest-reruns.xml",
        "googletest.xml",
        "phpunit.xml",
        "bazel.xml",
    ];
    let mut all: Vec<String> = files.map(|name| fixture(name).text().to_owned()).into();
    let pytest = example("pytest.xml");
    let launch = example("checkout-nightly.json");
    all.push(pytest.text().to_owned());
    all.push(launch.text().to_owned());
    all.extend(super::formats::FILES.map(|name| fixture(name).text().to_owned()));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn mutated_inputs_give_a_launch_or_errors(
        which in any::<proptest::sample::Index>(),
        edits in proptest::collection::vec((any::<proptest::sample::Index>(), 0_usize..30, "(|[<>&\"{}\\[\\],:]|null|\u{1b}\\[|\\\\u001b|é|&#27;|<b>|\\]\\]>){0,2}"), 1..6),
    ) {
        let mut samples = samples();
        let mut text = samples.swap_remove(which.index(samples.len()));
        for (at, length, insert) in edits {
            let start = cut::floor(&text, at.index(text.len() + 1));
            let end = cut::floor(&text, start + length).max(start);
            text.replace_range(start..end, &insert);
        }
        // Reading from memory and streaming give the same result.
        let mut streamed = LaunchMerger::default();
        let is_streamed = streamed.add_input("x", Some(u64::from(u32::MAX) >> 3), || Ok(text.as_bytes())).is_ok();
        prop_assert_eq!(is_streamed, read(&Source::new("x", text.as_str())).is_ok());
        match read(&Source::new("x", text)) {
            Ok(launch) => {
                check(&launch);
                prop_assert_eq!(streamed.finish(), launch);
            }
            Err(found) => {
                prop_assert!(found.has_errors());
                for label in found.iter().flat_map(|one| &one.labels) {
                    prop_assert!(label.source.text().get(label.span.start..label.span.end).is_some(), "{found}");
                }
            }
        }
    }

    #[test]
    fn any_texts_are_cleaned(error in any::<String>(), log in any::<String>(), names in proptest::collection::vec("[a-c]{1,2}", 1..8)) {
        let items: Vec<serde_json::Value> = names.iter().map(|name| {
            serde_json::json!({"id": name, "name": format!("{name}{log}"), "status": "FAILED", "error_message": error, "log_snippet": log.repeat(200), "attributes": {"a": error}})
        }).collect();
        let json = serde_json::json!({"run_id": "r", "name": "n", "failure_list": items}).to_string();
        let json = Source::new("x", json);
        check(&read(&json).map_err(|found| TestCaseError::fail(found.to_string()))?);
        let cases: Vec<String> = names.iter().map(|name| format!("<testcase name='{name}'><failure><![CDATA[{}]]></failure></testcase>", error.replace("]]>", ""))).collect();
        let xml = Source::new("y", format!("<testsuite>{}</testsuite>", cases.concat()));
        match read(&xml) {
            Ok(junit) => {
                check(&junit);
                check(&read_all(&[json.clone(), xml, json]));
            }
            Err(found) => prop_assert!(error.contains('\0'), "{found}"),
        }
    }
}
