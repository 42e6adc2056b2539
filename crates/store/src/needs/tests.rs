//! Tests of the queries as a whole.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::fixture::{Backend, StoreFixture, at, effects, launch, rca, review, step, symptom};
use crate::{RunFindings, RunJournal, RunStatus};
use asterisk_base::model::{Case, Effect, Launch};
use asterisk_walk::{Journal, PEERS};
use rstest::rstest;
use serde_json::json;

fn answer_to(needs: &StoreQueries, name: &str, launch: &Launch, case: &Case) -> Value {
    needs.query(name, &QuerySubject::new(launch, case)).unwrap()
}

/// The queries of the registry that the store answers; the workspace answers the others.
fn ours() -> impl Iterator<Item = &'static asterisk_walk::Query> {
    NEEDS.iter().filter(|need| !need.name.starts_with("workspace.") && need.name != PEERS)
}

fn everything(needs: &StoreQueries, launch: &Launch) -> Vec<Value> {
    let names = ours().map(|need| need.name);
    names.flat_map(|name| launch.cases.iter().map(move |case| answer_to(needs, name, launch, case))).collect()
}

fn needs(fixture: &StoreFixture, run: &str) -> StoreQueries {
    StoreQueries::new(&fixture.store, run, json!([])).unwrap()
}

fn ids(answer: &Value) -> Vec<i64> {
    answer.as_array().unwrap().iter().map(|item| item["id"].as_i64().unwrap()).collect()
}

fn link(symptom: i64, rca: i64, confidence: f64) -> Effect<i64> {
    Effect::LinkSymptomRca { symptom, rca, confidence }
}

/// A first run whose cases find a symptom and a root cause each.
fn first_run(fixture: &StoreFixture, launch: &Launch) -> RunJournal {
    let journal = fixture.begin("first", launch);
    for (case, id) in launch.cases.iter().zip(1..) {
        let found = symptom(id, &case.name, &case.error_message);
        journal.commit(effects(&case.id, vec![found, rca(100 + id, "why"), link(id, 100 + id, 0.5)])).unwrap();
    }
    journal
}

#[rstest]
fn every_query_of_the_registry_has_an_answer_and_no_other(
    #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
) {
    if backend.is_missing() {
        return;
    }
    let fixture = StoreFixture::on(backend);
    let launch = launch(2);
    let _run = fixture.begin("r", &launch);
    for needs in [needs(&fixture, "r"), StoreQueries::without_store(json!([]))] {
        for need in ours() {
            let answer = answer_to(&needs, need.name, &launch, &launch.cases[0]);
            let known = match need.name {
                "cluster" | "tests.history" | "roots.said" => None,
                "reviews" => Some(2),
                name => Some(usize::from(name == "siblings")),
            };
            assert_eq!(answer.as_array().map(Vec::len), known, "{}", need.name);
        }
        let about = QuerySubject::new(&launch, &launch.cases[0]);
        let why = needs.query("symptoms.similiar", &about).expect_err("a slip");
        assert!(why.contains("did you mean `symptoms.similar`?"), "{why}");
    }
    assert!(StoreQueries::new(&fixture.store, "nobody", json!([])).is_err());
}

#[rstest]
fn answers_have_the_documented_shape(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
    if backend.is_missing() {
        return;
    }
    let fixture = StoreFixture::on(backend);
    let mut launch = launch(2);
    launch.cases[1].suite = "suite".into();
    let first = first_run(&fixture, &launch);
    first.commit(effects("c2", vec![Effect::LinkRca { id: 101, name: None }])).unwrap();
    let _second = fixture.begin("second", &launch);
    let repositories = json!([{"name": "a", "path": "b", "purpose": "c", "branch": "d"}]);
    let needs = StoreQueries::new(&fixture.store, "second", repositories.clone()).unwrap();
    let case = &launch.cases[0];
    let similar = answer_to(&needs, "symptoms.similar", &launch, case);
    let expected = json!({"id": 1, "test": "test number 1", "error": case.error_message, "category": "timeout", "component": "",
        "score": 1.0, "occurrences": 1, "first_seen": at(0), "last_seen": at(0), "same_run": false, "launches": 1,
        "versions": [], "earlier": null, "why": {"name": {"alike": 1.0, "weight": 0.4},
            "error": {"alike": 1.0, "weight": 0.6, "common": ["error", "abcdefghabcdefgh"]}}});
    assert_eq!(similar[0], expected);
    let linked = answer_to(&needs, "rcas.of_symptom", &launch, case);
    let expected = json!({"id": 101, "symptom": 1, "title": "title of 101", "message": "why", "defect_type": "pb",
        "component": "driver", "status": "open", "confidence": 0.5, "reviewed": false, "same_run": false, "status_since": null, "status_by": "",
        "overturned": false, "replaced": false, "by": "", "earlier": null, "launches": 1, "versions": []});
    assert_eq!(linked[0], expected);
    let recent = answer_to(&needs, "rcas.recent", &launch, case);
    let expected = |id: i64, cases: i64| {
        json!({"id": id, "title": format!("title of {id}"), "message": "why",
        "defect_type": "pb", "component": "driver", "status": "open", "confidence": 0.75, "cases": cases, "same_run": false, "status_since": null,
            "earlier": null, "launches": 1, "versions": []})
    };
    assert_eq!(recent, json!([expected(102, 1), expected(101, 2)]));
    let other = &launch.cases[1];
    let expected = json!([{"id": "c2", "name": other.name, "suite": "suite", "error_message": other.error_message,
        "recall_key": "key 2", "same_error": false}]);
    assert_eq!(answer_to(&needs, "siblings", &launch, case), expected);
    assert_eq!(answer_to(&needs, "workspace", &launch, case), repositories);
}

#[rstest]
fn the_same_recall_key_comes_first_then_the_likeness_of_words(
    #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
) {
    if backend.is_missing() {
        return;
    }
    let fixture = StoreFixture::on(backend);
    let known = launch(4);
    let journal = fixture.begin("first", &known);
    for (case, id, test, error) in [
        ("c1", 11, "unlike in words", "nothing in common"),
        ("c2", 12, "ptp sync recovers", "clock lost lock after 12 ms"),
        ("c3", 13, "ptp sync starts", "clock never found its lock"),
        ("c4", 14, "node reboots", "image pull failed"),
    ] {
        journal.commit(effects(case, vec![symptom(id, test, error)])).unwrap();
    }
    let case = Case {
        id: "x".into(),
        name: "ptp sync recovers".into(),
        error_message: "clock lost lock after 99 ms".into(),
        recall_key: "key 1".into(),
        ..Case::default()
    };
    let launch = Launch { cases: vec![case], ..Launch::default() };
    let _second = fixture.begin("second", &launch);
    let answer = answer_to(&needs(&fixture, "second"), "symptoms.similar", &launch, &launch.cases[0]);
    assert_eq!(ids(&answer), [11, 12, 13]);
    let scores: Vec<f64> = answer.as_array().unwrap().iter().map(|item| item["score"].as_f64().unwrap()).collect();
    assert!((scores[0] - 1.0).abs() < f64::EPSILON && (scores[1] - 0.99).abs() < f64::EPSILON && scores[2] < 0.9, "{scores:?}");
}

#[rstest]
fn answers_are_bounded(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
    if backend.is_missing() {
        return;
    }
    let fixture = StoreFixture::on(backend);
    let mut launch = launch(60);
    for case in &mut launch.cases {
        case.name = "one test".into();
        case.error_message = format!("timeout after {} s {}", case.id, "é".repeat(5000));
    }
    let journal = first_run(&fixture, &launch);
    for id in 1..=60 {
        journal.commit(effects("c1", vec![link(1, 100 + id, 0.25)])).unwrap();
    }
    let _second = fixture.begin("second", &launch);
    let needs = needs(&fixture, "second");
    let lists = ours().filter(|need| !["cluster", "tests.history", "roots.said"].contains(&need.name));
    let lengths = lists.map(|need| (need.name, answer_to(&needs, need.name, &launch, &launch.cases[0])));
    let lengths: Vec<_> = lengths.map(|(name, answer)| (name, answer.as_array().unwrap().len())).collect();
    let expected = [
        ("symptoms.similar", 10),
        ("rcas.of_symptom", 10),
        ("rcas.recent", 20),
        ("rcas.of_root", 0),
        ("siblings", 50),
        ("accuracy", 0),
        ("reviews", 2),
        ("memory.recall", 0),
        ("workspace", 0),
    ];
    assert_eq!(lengths, expected);
    let siblings = answer_to(&needs, "siblings", &launch, &launch.cases[0]);
    assert!(siblings.as_array().unwrap().iter().all(|other| other["same_error"] == true && other["id"] != "c1"));
    let chars = |siblings: &Value| siblings[0]["error_message"].as_str().unwrap().chars().count();
    assert_eq!(chars(&siblings), 201);
    launch.cases[0].error_message = "another".into();
    let others = answer_to(&needs, "siblings", &launch, &launch.cases[0]);
    assert_eq!((others.as_array().unwrap().len(), chars(&others)), (20, 201), "fewer of those with another error");
}

#[test]
fn siblings_with_the_same_error_come_first() {
    let mut launch = launch(4);
    for (case, error) in launch.cases.iter_mut().zip(["lost lock 1", "", "other", "lost lock 2"]) {
        case.error_message = error.into();
    }
    let needs = StoreQueries::without_store(json!([]));
    let of = |case: usize| {
        let answer = answer_to(&needs, "siblings", &launch, &launch.cases[case]);
        let summary = |other: &Value| format!("{} {}", other["id"].as_str().unwrap(), other["same_error"]);
        answer.as_array().unwrap().iter().map(summary).collect::<Vec<_>>()
    };
    assert_eq!(of(0), ["c4 true", "c2 false", "c3 false"]);
    assert_eq!(of(1), ["c1 false", "c3 false", "c4 false"], "no error is not the same as no error");
    let smaller = self::launch(2);
    assert_eq!(
        answer_to(&needs, "siblings", &smaller, &smaller.cases[0]).as_array().unwrap().len(),
        1,
        "another launch is noticed"
    );
}

#[rstest]
fn what_a_case_does_without_the_answer_of_a_query_is_not_recorded(#[values(Backend::File, Backend::Server)] backend: Backend) {
    if backend.is_missing() {
        return;
    }
    let fixture = StoreFixture::on(backend);
    let journal = fixture.begin("r", &launch(2));
    let queries = StoreQueries::new(&fixture.store, "r", json!([])).unwrap();
    let (store, snapshot) = queries.source.as_ref().unwrap();
    store.note_failed_read(snapshot.run, "c1", &StoreError::Unreachable("no route".into()));
    journal.commit(step("c2", 1)).unwrap();
    let refused = journal.commit(step("c1", 1)).expect_err("a query failed");
    assert!(refused.to_string().contains("no route"), "{refused}");
    assert!(fixture.store.events("r", "c1").unwrap().is_empty());
    journal.commit(step("c1", 1)).unwrap();
}

#[rstest]
fn a_run_sees_the_store_as_it_was_when_it_began(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
    if backend.is_missing() {
        return;
    }
    let fixture = StoreFixture::on(backend);
    let launch = launch(4);
    let first = first_run(&fixture, &launch);
    let second = fixture.begin("second", &launch);
    let before = everything(&needs(&fixture, "second"), &launch);
    assert!(before.iter().any(|answer| ids_len(answer) > 1));
    let kept = needs(&fixture, "second");
    assert_eq!(everything(&kept, &launch), before);

    // Every kind of fact, by the run itself, by an older run and by a newer one.
    let third = fixture.begin("third", &launch);
    for (journal, base) in [(&second, 1000), (&first, 2000), (&third, 3000)] {
        for (case, n) in launch.cases.iter().zip(1..) {
            let update =
                Effect::UpdateRca { id: 100 + n, message: Some("new".into()), defect_type: None, status: Some("x".into()) };
            let more = vec![
                symptom(n, &case.name, "described anew"),
                symptom(base + n, &case.name, &case.error_message),
                Effect::MarkSeen { id: 1 },
                Effect::LinkSymptom { id: 2, name: None },
                rca(base + 100 + n, "new"),
                Effect::LinkRca { id: 101, name: None },
                update,
                link(n, 100 + n, 0.9),
                link(n, base + 100 + n, 0.9),
                link(base + n, 101, 0.9),
            ];
            journal.commit(effects(&case.id, more)).unwrap();
        }
    }
    assert_eq!(everything(&kept, &launch), before);
    assert_eq!(everything(&needs(&fixture, "second"), &launch), before, "nothing was in memory");

    second.conclude(RunStatus::Paused, at(9), RunFindings::default()).unwrap();
    drop(second);
    let _resumed = fixture.store.journal("second").unwrap();
    assert_eq!(everything(&needs(&fixture, "second"), &launch), before, "a resume changes nothing");

    first.conclude(RunStatus::Done, at(9), RunFindings::default()).unwrap();
    let _fourth = fixture.begin("fourth", &launch);
    assert_ne!(everything(&needs(&fixture, "fourth"), &launch), before, "a new run sees all of it");
}

fn ids_len(answer: &Value) -> usize {
    answer.as_array().map_or(0, Vec::len)
}

#[rstest]
fn what_a_later_run_sees_does_not_depend_on_the_order_of_arrival(
    #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
) {
    if backend.is_missing() {
        return;
    }
    let launch = {
        let mut launch = launch(12);
        for (case, n) in launch.cases.iter_mut().zip(0_usize..) {
            case.name = format!("test {}", n % 2);
            case.error_message = format!("error {} of a kind", "ab".repeat(n % 3 + 1));
            case.recall_key = format!("key {}", n % 4);
        }
        launch
    };
    let seen = |order: &[usize]| {
        let fixture = StoreFixture::on(backend);
        // Known before, so that parallel cases can all refer to it.
        let zeroth = fixture.begin("zeroth", &launch);
        zeroth.commit(effects("c7", vec![symptom(50, "test 0", "e"), rca(51, "m")])).unwrap();
        let first = fixture.begin("first", &launch);
        for step in 0..3 {
            for &at in order {
                let case = &launch.cases[at];
                let n = i64::try_from(at).unwrap();
                let update =
                    Effect::UpdateRca { id: 51, message: Some(format!("as {at} says")), defect_type: None, status: None };
                let step = match step {
                    0 => {
                        vec![symptom(n % 5 + 1, &format!("{} {at}", case.name), &case.error_message), Effect::MarkSeen { id: 50 }]
                    }
                    1 => vec![
                        rca(100 + n, &format!("cause {at}")),
                        link(n % 5 + 1, 100 + n, 0.5),
                        link(50, 51, 1.0 / f64::from(u8::try_from(at).unwrap() + 2)),
                    ],
                    _ => vec![update, Effect::LinkRca { id: 51, name: None }],
                };
                first.commit(effects(&case.id, step)).unwrap();
            }
        }
        let _second = fixture.begin("second", &launch);
        everything(&needs(&fixture, "second"), &launch)
    };
    let forward: Vec<usize> = (0..12).collect();
    let expected = seen(&forward);
    let backward: Vec<usize> = (0..12).rev().collect();
    let mixed = [5, 11, 0, 7, 3, 9, 1, 10, 2, 8, 4, 6];
    for order in [&backward[..], &mixed] {
        assert_eq!(seen(order), expected, "{order:?}");
    }
}

#[rstest]
fn answers_stay_the_same_while_others_write(#[values(Backend::File, Backend::Server)] backend: Backend) {
    if backend.is_missing() {
        return;
    }
    let fixture = StoreFixture::on(backend);
    let launch = launch(6);
    let _first = first_run(&fixture, &launch);
    let second = fixture.begin("second", &launch);
    let expected = everything(&needs(&fixture, "second"), &launch);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for n in 0..100 {
                let found = symptom(1000 + n, "test number 1", "error abcdefgh");
                let more = vec![found, rca(5000 + n, "x"), link(1, 5000 + n, 1.0), Effect::MarkSeen { id: 1 }];
                second.commit(effects(&format!("c{}", n % 6 + 1), more)).unwrap();
            }
        });
        while !writer.is_finished() {
            assert_eq!(everything(&needs(&fixture, "second"), &launch), expected);
        }
    });
}

/// An answer as texts: ids, with a `+` for records of the case's own run.
fn answer_ids(needs: &StoreQueries, name: &str, launch: &Launch, case: usize) -> Vec<String> {
    let answer = answer_to(needs, name, launch, &launch.cases[case]);
    let summary = |row: &Value| format!("{}{}", row["id"], if row["same_run"] == true { "+" } else { "" });
    answer.as_array().unwrap().iter().map(summary).collect()
}

#[rstest]
fn after_a_barrier_a_case_sees_what_the_cases_before_it_wrote(
    #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
) {
    if backend.is_missing() {
        return;
    }
    for order in [[0, 1, 2, 3], [3, 1, 0, 2]] {
        let fixture = StoreFixture::on(backend);
        let mut launch = launch(4);
        for case in &mut launch.cases {
            case.name = "one test".into();
            case.error_message = "lost lock".into();
            case.recall_key = "one key".into();
        }
        // Known before: a symptom with its cause.
        let earlier = fixture.begin("earlier", &launch);
        earlier.commit(effects("c1", vec![symptom(9, "one test", "lost it"), rca(90, "why"), link(9, 90, 0.5)])).unwrap();
        let journal = fixture.begin("r", &launch);
        let mut needs = needs(&fixture, "r");
        for at in order {
            let case = &launch.cases[at];
            let n = i64::try_from(at).unwrap();
            let found = vec![symptom(50, &case.name, &case.error_message), Effect::MarkSeen { id: 9 }, rca(100 + n, "cause")];
            journal.commit(effects(&case.id, found)).unwrap();
            journal.commit(effects(&case.id, vec![link(50, 100 + n, 0.75), link(9, 100 + n, 0.75)])).unwrap();
        }
        for case in 0..4 {
            assert_eq!(answer_ids(&needs, "symptoms.similar", &launch, case), ["9"], "nothing before the barrier");
            assert_eq!(answer_ids(&needs, "rcas.recent", &launch, case), ["90"]);
        }
        let barrier = fixture.store.all_events("r").unwrap().pop().unwrap().0;
        let later = Effect::UpdateRca { id: 100, message: Some("too late".into()), defect_type: None, status: None };
        journal.commit(effects("c1", vec![later, rca(200, "too late")])).unwrap();
        let other = fixture.begin("other", &launch);
        other.commit(effects("c1", vec![rca(300, "of another run"), Effect::MarkSeen { id: 50 }])).unwrap();
        needs.advance(barrier, Vec::new());
        let all = |name: &str| (0..4).map(|case| answer_ids(&needs, name, &launch, case).join(" ")).collect::<Vec<_>>();
        assert_eq!(all("symptoms.similar"), ["9", "9 50+", "9 50+", "9 50+"], "{order:?}");
        assert_eq!(all("rcas.recent"), ["90", "90 100+", "90 100+ 101+", "90 100+ 101+ 102+"], "{order:?}");
        assert_eq!(all("rcas.of_symptom"), ["90", "100+ 90", "100+ 101+ 90", "100+ 101+ 102+ 90"], "{order:?}");
        let last = answer_to(&needs, "symptoms.similar", &launch, &launch.cases[3]);
        // The launch is the same: its first failure was counted before.
        assert_eq!((&last[0]["occurrences"], &last[1]["occurrences"]), (&json!(3), &json!(3)));
        let recent = answer_to(&needs, "rcas.recent", &launch, &launch.cases[3]);
        assert!(recent.as_array().unwrap().iter().all(|rca| rca["message"] != "too late"), "{recent}");
    }
}

#[rstest]
fn what_a_person_links_stands_whatever_runs_say_later(
    #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
) {
    if backend.is_missing() {
        return;
    }
    let fixture = StoreFixture::on(backend);
    let launch = launch(1);
    let first = first_run(&fixture, &launch);
    first.commit(review("c1", "human", vec![link(1, 101, 0.25)])).unwrap();
    let second = fixture.begin("second", &launch);
    second.commit(effects("c1", vec![rca(200, "another"), link(1, 200, 0.875), link(1, 101, 0.75)])).unwrap();
    let _third = fixture.begin("third", &launch);
    let links = answer_to(&needs(&fixture, "third"), "rcas.of_symptom", &launch, &launch.cases[0]);
    let told: Vec<_> = links.as_array().unwrap().iter().map(|rca| (&rca["id"], &rca["confidence"], &rca["reviewed"])).collect();
    assert_eq!(told, [(&json!(101), &json!(0.25), &json!(true)), (&json!(200), &json!(0.875), &json!(false))]);
}

#[rstest]
fn what_people_said_is_counted_and_what_they_took_back(
    #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
) {
    if backend.is_missing() {
        return;
    }
    let fixture = StoreFixture::on(backend);
    let launch = launch(3);
    let first = first_run(&fixture, &launch);
    let overturn = |symptom: i64, rca: i64| Effect::Overturn { symptom, rca, replaced: false };
    // Two approvals, one of which is corrected later; a script's word is none.
    first.commit(review("c1", "human", vec![link(1, 101, 0.9)])).unwrap();
    first.commit(review("c2", "human", vec![link(2, 102, 0.9)])).unwrap();
    first.commit(review("c3", "script", vec![link(3, 103, 0.9)])).unwrap();
    first.commit(review("c1", "human", vec![overturn(1, 101), rca(200, "right"), link(1, 200, 0.9)])).unwrap();
    let before = needs(&fixture, "first");
    assert_eq!(answer_to(&before, "reviews", &launch, &launch.cases[0])[0]["given"], 0, "a run's own facts do not count");
    let _second = fixture.begin("second", &launch);
    let told = answer_to(&needs(&fixture, "second"), "reviews", &launch, &launch.cases[0]);
    let expected =
        json!([{ "decision": "approve", "given": 2, "taken_back": 1 }, { "decision": "overturn", "given": 1, "taken_back": 0 }]);
    assert_eq!(told, expected);
}

#[rstest]
fn a_cause_that_reviews_took_from_every_case_is_not_recent(
    #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
) {
    if backend.is_missing() {
        return;
    }
    let fixture = StoreFixture::on(backend);
    let launch = launch(2);
    let first = first_run(&fixture, &launch);
    first.commit(effects("c2", vec![Effect::LinkRca { id: 101, name: None }])).unwrap();
    let overturn = |rca: i64| Effect::Overturn { symptom: 1, rca, replaced: false };
    let recent = |run: &str| {
        let _run = fixture.begin(run, &launch);
        ids(&answer_to(&needs(&fixture, run), "rcas.recent", &launch, &launch.cases[0]))
    };
    first.commit(review("c1", "human", vec![overturn(101)])).unwrap();
    assert_eq!(recent("second"), [102, 101], "another case has it still");
    first.commit(review("c2", "human", vec![overturn(101)])).unwrap();
    assert_eq!(recent("third"), [102]);
}
