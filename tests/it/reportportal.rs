//! ReportPortal: launches fetched from a real server on the loopback that answers in its published formats, and findings
//! written back.

use crate::harness::{Project, Ran};
use crate::server::{Seen, Server, private, says, says_json};
use crate::shared::{shared, shared_json};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

const TOKEN: &str = "rp-very-secret-77";

/// The items of the launch: a suite, three tests that failed, one of them with a step that shows the reason.
fn items() -> Vec<Value> {
    let test = |id: u64, name: &str, more: Value| {
        let mut item = json!({
            "id": id, "uuid": format!("u-{id}"), "name": name, "type": "STEP", "status": "FAILED", "launchId": 7, "hasChildren": false,
            "hasStats": true, "parent": 100, "path": format!("100.{id}"), "startTime": 1_771_104_069_000_u64 + id,
            "endTime": 1_771_104_070_000_u64 + id, "attributes": [{ "key": "lane", "value": "a" }],
            "pathNames": { "launchPathName": { "name": "shop-nightly", "number": 3 }, "itemPaths": [{ "id": 100, "name": "Cart" }] },
            "issue": { "issueType": "ti001", "autoAnalyzed": false, "ignoreAnalyzer": false, "externalSystemIssues": [] },
        });
        item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        item
    };
    vec![
        json!({ "id": 100, "name": "Cart", "type": "SUITE", "status": "FAILED", "launchId": 7, "hasChildren": true, "hasStats": true, "path": "100" }),
        test(101, "adds up", json!({})),
        test(102, "empties", json!({})),
        test(103, "pays", json!({ "status": "INTERRUPTED" })),
    ]
}

fn page(all: &[Value], path: &str, size: usize) -> String {
    let query = |key: &str| path.split(['?', '&']).find_map(|pair| pair.strip_prefix(&format!("{key}=")).map(str::to_owned));
    let number: usize = query("page.page").unwrap().parse().unwrap();
    let content: Vec<&Value> = all.iter().skip((number - 1) * size).take(size).collect();
    let pages = all.len().div_ceil(size);
    says_json(
        &json!({ "content": content, "page": { "number": number, "size": size, "totalElements": all.len(), "totalPages": pages } }),
    )
}

fn log(item: &str) -> Vec<Value> {
    let message = match item {
        "101" => "panicked at src/cart.rs:42: index out of bounds: the len is 0",
        "102" => "java.net.UnknownHostException: db.lab.example: Name or service not known",
        _ => "timeout: no answer from payment within 30 s",
    };
    let of = item.parse::<u64>().unwrap() * 10;
    let entry = |id: u64, text: &str| json!({ "id": of + id, "time": 1_771_104_069_500_u64, "message": text, "level": "ERROR", "itemId": item.parse::<u64>().unwrap() });
    vec![entry(1, message), entry(2, "\u{1b}[31mgiving up\u{1b}[0m")]
}

/// A ReportPortal with one project and one launch, two items to a page.
pub(crate) fn portal(seen: &Seen) -> String {
    if seen.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
        return says(
            "401 Unauthorized",
            "",
            &json!({ "errorCode": 4001, "message": format!("no access with {:?}", seen.header("authorization")) }).to_string(),
        );
    }
    let (path, _) = seen.path.split_once('?').unwrap_or((&seen.path, ""));
    match (seen.method.as_str(), path) {
        ("GET", "/api/v1/shop/launch/7" | "/api/v1/shop/launch/uuid/a1-b2") => says_json(&json!({
            "id": 7, "uuid": "a1-b2", "name": "shop-nightly", "number": 3, "status": "FAILED", "startTime": "2026-02-14T21:21:09Z",
            "endTime": "2026-02-14T21:41:09Z", "statistics": { "executions": { "total": 9, "passed": 6, "failed": 3 } },
            "attributes": [{ "key": "version", "value": "4.2", "system": false }],
        })),
        ("GET", "/api/v1/shop/item") => page(&items(), &seen.path, 2),
        ("GET", "/api/v1/shop/log") => {
            let of =
                |key: &str| seen.path.split(&format!("{key}=")).nth(1).map(|rest| rest.split('&').next().unwrap().to_owned());
            let items = of("filter.in.item").or_else(|| of("filter.eq.item")).unwrap().replace("%2C", ",");
            page(&items.split(',').flat_map(log).collect::<Vec<_>>(), &seen.path, 300)
        }
        ("PUT", "/api/v1/shop/item") => {
            let issues: Vec<Value> = seen.body["issues"].as_array().unwrap().iter().map(|one| one["issue"].clone()).collect();
            says_json(&json!(issues))
        }
        _ => says(
            "404 Not Found",
            "",
            &json!({ "errorCode": 40410, "message": "Launch not found. Did you use correct Launch ID?" }).to_string(),
        ),
    }
}

pub(crate) fn project(server: &Server) -> Project {
    let project = Project::new();
    project
        .file("asterisk.yaml", format!("reportportal: {{ url: '{}/api', project: shop, token: {{ file: key }} }}\n", server.url));
    let key = project.file("key", format!("{TOKEN}\n"));
    private(&key, 0o600);
    project
}

/// The output, without the address, which differs each time.
fn summary(ran: &Ran, server: &Server) -> String {
    ran.text().replace(&server.url, "http://SERVER")
}

fn sent(server: &Server) -> Vec<Value> {
    server.seen().into_iter().filter(|seen| seen.method == "PUT").map(|seen| seen.body).collect()
}

#[track_caller]
fn no_token(project: &Project, text: &str) {
    assert!(!text.contains(TOKEN), "{text}");
    for (path, bytes) in project.tree() {
        let there = bytes.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes());
        assert!(!there || path == "key", "{path}");
    }
}

#[test]
fn a_fetched_launch_is_recorded_and_never_fetched_again() {
    let server = Server::answering(portal);
    let project = project(&server);
    let ran = project.asterisk(&["run", "--launch", "7", "--format", "json"]).exits(0);
    let cases: Vec<String> =
        ran.json()["cases"].as_array().unwrap().iter().map(|case| case["case"].as_str().unwrap().to_owned()).collect();
    assert_eq!(cases, ["101", "102", "103"]);
    let asked = server.seen();
    assert!(asked[1].path.contains("filter.eq.launchId=7") && asked[1].path.contains("page.page=1"), "{asked:?}");
    assert!(asked[2].path.contains("page.page=2"), "{asked:?}");
    assert_eq!(asked.len(), 1 + 2 + 1, "a launch, its two pages, three logs at once: {asked:?}");
    no_token(&project, &ran.text());
    // From here on the store is enough.
    let all = project.asterisk(&["report", "latest", "--format", "json"]).exits(0).json();
    assert_eq!(all["launch"]["name"], "shop-nightly");
    assert_eq!(all["launch"]["attributes"]["version"], "4.2");
    assert_eq!(all["cases"][0]["suite"], "Cart");
    for args in [&["replay", "latest"][..], &["run", "--resume", "latest"], &["explain", "latest", "--case", "101"]] {
        let ran = project.asterisk(args);
        assert!(ran.code.is_some_and(|code| code <= 1), "{}", ran.text());
    }
    assert_eq!(server.seen().len(), asked.len());
    let run = project.asterisk(&["run", "--launch", "a1-b2", "--dry-run", "--format", "json"]).exits(0);
    assert_eq!(run.json()["cases"].as_array().unwrap().len(), 3, "also by its uuid");
    assert_eq!(project.asterisk(&["status", "--format", "json"]).json()["runs"].as_array().unwrap().len(), 1);
}

/// A real launch, fetched page by page, is what the file of it is.
#[test]
fn a_fetched_launch_equals_the_launch_file() {
    let (Some(file), Some(whole), Some(list)) = (
        shared("data/envelope_33195_4.21.json"),
        shared_json("data/envelope_33195_4.21.json"),
        shared_json("data/items_33195_failed.json"),
    ) else {
        return;
    };
    let server = Server::answering(move |seen| match &seen.path {
        path if path.contains("/launch/") => {
            let mut launch = whole.clone();
            let pairs =
                launch["attributes"].as_object().unwrap().iter().map(|(key, value)| json!({ "key": key, "value": value }));
            launch["attributes"] = pairs.collect();
            launch["id"] = json!(33195);
            launch.as_object_mut().unwrap().retain(|key, _| !["failure_list", "run_id", "git"].contains(&key.as_str()));
            says_json(&launch)
        }
        path if path.contains("/item") => page(list["content"].as_array().unwrap(), path, 5),
        path => page(&[], path, 50),
    });
    let report = |args: &[&str]| {
        let project = Project::with(&[("asterisk.yaml", &format!("reportportal: {{ url: '{}', project: ptp }}\n", server.url))]);
        project.asterisk(&[&["run", "--format", "json"], args].concat()).exits(0);
        project.asterisk(&["report", "latest", "--format", "json"]).exits(0).json()
    };
    assert_eq!(report(&["--launch", "33195"]), report(&["--input", file.to_str().unwrap()]));
}

#[test]
fn a_busy_or_unavailable_server_is_retried() {
    let mut count = 0;
    let server = Server::answering(move |seen| {
        count += 1;
        match count {
            1 => says("500 Internal Server Error", "", "oops"),
            2 => says("429 Too Many Requests", "Retry-After: 0\r\n", "slow down"),
            _ => portal(seen),
        }
    });
    let project = project(&server);
    project.asterisk(&["run", "--launch", "7", "--dry-run", "--format", "json"]).exits(0);
    let paths: Vec<String> = server.seen().iter().take(3).map(|seen| seen.path.clone()).collect();
    assert_eq!(paths, ["/api/v1/shop/launch/7"; 3]);
}

#[test]
fn endless_pages_are_not_followed() {
    let server = Server::answering(|seen| {
        if seen.path.contains("/item") {
            return says_json(
                &json!({ "content": items(), "page": { "number": 1, "size": 4, "totalElements": 4, "totalPages": u64::MAX } }),
            );
        }
        portal(seen)
    });
    let ran = project(&server).asterisk(&["run", "--launch", "7", "--dry-run", "--format", "json"]).exits(0);
    assert_eq!(ran.json()["cases"].as_array().unwrap().len(), 3);
    assert_eq!(server.seen().iter().filter(|seen| seen.path.contains("/item")).count(), 2, "the second added nothing");
}

/// Logs are requested together. If a server does not support that, or does not name the item of an entry, they are requested one by one, and one chatty item
/// does not cost the others theirs; the result is the same.
#[test]
fn logs_are_fetched_in_one_request_or_separately() {
    let items: Vec<Value> = (1..=45)
        .map(|id| json!({ "id": id, "name": format!("t{id}"), "type": "STEP", "status": "FAILED", "launchId": 7, "hasChildren": false }))
        .collect();
    let entries = |item: u64| {
        // The first has far more than are kept, the others one or two.
        let many = if item == 1 { 3000 } else { 1 + item % 2 };
        (0..many).map(move |n| json!({ "id": item * 10_000 + n, "message": format!("e{item}-{n}"), "level": "ERROR", "itemId": item, "time": n }))
    };
    let said = |how: &'static str| {
        let items = items.clone();
        let server = Server::answering(move |seen| {
            let of = |key: &str| {
                seen.path.split(&format!("{key}=")).nth(1).map(|rest| rest.split('&').next().unwrap().replace("%2C", ","))
            };
            if seen.path.contains("/launch/") {
                return says_json(&json!({ "id": 7, "name": "many", "status": "FAILED" }));
            }
            if seen.path.contains("/item?") {
                return page(&items, &seen.path, 200);
            }
            assert!(seen.path.len() < 1500, "{}", seen.path);
            if how == "refuses" && of("filter.in.item").is_some() {
                return says("400 Bad Request", "", "{\"message\": \"no such filter\"}");
            }
            let asked = of("filter.in.item").or_else(|| of("filter.eq.item")).unwrap();
            let mut all: Vec<Value> = asked.split(',').flat_map(|id| entries(id.parse().unwrap())).collect();
            all.sort_by_key(|entry| entry["time"].as_u64());
            if how == "hides" && of("filter.in.item").is_some() {
                for entry in &mut all {
                    entry.as_object_mut().unwrap().remove("itemId");
                }
            }
            let size: usize = of("page.size").unwrap().parse().unwrap();
            page(&all, &seen.path, size)
        });
        let project = project(&server);
        let ran = project.asterisk(&["run", "--launch", "7", "--format", "json"]).exits(0);
        let asked = server.seen().iter().filter(|seen| seen.path.contains("/log?")).count();
        let rca = project.read(&format!(".asterisk/investigations/{}/rca.json", ran.json()["run"].as_str().unwrap()));
        (serde_json::from_str::<Value>(&rca).unwrap()["cases"].clone(), asked)
    };
    let (together, few) = said("knows");
    let (apart, many) = said("refuses");
    let (hidden, _) = said("hides");
    assert!(together == apart && together == hidden);
    assert_eq!(together.as_array().unwrap().len(), 45);
    // Three requests for 45 items, but for those that the chatty one came before.
    assert_eq!((few, many), (4 + 2 + 19, 1 + 45));
}

#[test]
fn an_interrupted_fetch_leaves_nothing() {
    let (waits, waiting) = std::sync::mpsc::channel();
    let server = Server::answering(move |seen| {
        if seen.path.contains("/log") {
            waits.send(()).unwrap();
            // Never answers.
            loop {
                std::thread::park();
            }
        }
        portal(seen)
    });
    let project = project(&server);
    let mut child = project.start(&["run", "--launch", "7"]);
    waiting.recv().unwrap();
    crate::tools::interrupt(child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!project.root().join(".asterisk").exists());
}

#[test]
fn errors_show_a_remedy_and_no_token() {
    let mut all = String::new();
    let mut tell = |project: &Project, server: &Server, args: &[&str], code: i32| {
        let ran = project.asterisk(args).exits(code);
        no_token(project, &ran.text());
        assert!(!project.root().join(".asterisk/asterisk.db").exists(), "nothing was recorded");
        let command = args.join(" ").replace(&server.url, "http://SERVER");
        let _ = write!(all, "$ asterisk {command}\n{}\n", summary(&ran, server));
    };
    let run = &["run", "--launch", "7"][..];
    let server = Server::answering(portal);
    let good = project(&server);
    tell(&good, &server, &["run", "--launch", "8"], 2);
    good.file("key", "another\n");
    tell(&good, &server, run, 4);
    private(&good.root().join("key"), 0o644);
    let ran = good.asterisk(run).exits(2);
    assert!(ran.text().contains("chmod 600"), "{}", ran.text());
    good.file("asterisk.yaml", format!("reportportal: {{ url: '{}', project: shop }}\n", server.url));
    tell(&good, &server, run, 4);
    good.file("asterisk.yaml", "");
    tell(&good, &server, run, 2);
    tell(&good, &server, &["run", "--launch", "7", "--reportportal-url", &server.url], 2);
    good.file("asterisk.yaml", format!("reportportal: {{ url: '{}', project: shop, token: {TOKEN} }}\n", server.url));
    let ran = good.asterisk(run).exits(3);
    assert!(ran.text().contains("is written in the file"), "{}", ran.text());
    for answer in ["{\"id\": 7, \"name\": ", "<html><body>Sign in</body></html>"] {
        let server = Server::new(&[&says("200 OK", "", answer)]);
        tell(&project(&server), &server, run, 3);
    }
    let server = Server::answering(|seen| if seen.path.contains("/item") { says_json(&json!([])) } else { portal(seen) });
    tell(&project(&server), &server, run, 3);
    let server = Server::new(&[&says("302 Found", "Location: http://127.0.0.1:9/\r\n", "")]);
    tell(&project(&server), &server, run, 4);
    insta::assert_snapshot!(all);
}

/// A project in which the launch was analysed, case 101 was approved by a person and 102 overturned.
fn reviewed(server: &Server) -> Project {
    let project = project(server);
    project.asterisk(&["run", "--launch", "7", "--format", "json"]).exits(0);
    project.asterisk(&["review", "101", "approve"]).exits(0);
    let why = "the lab's DNS was down";
    project.asterisk(&["review", "102", "overturn", "--defect-type", "en001", "--message", why]).exits(0);
    project
}

#[test]
fn only_reviewed_cases_are_pushed_and_only_once() {
    let server = Server::answering(portal);
    let project = reviewed(&server);
    let asked = server.seen().len();
    let push = &["push", "latest", "--to", "reportportal"][..];
    let dry = project.asterisk(&["push", "--to", "reportportal", "--dry-run"]).exits(0);
    assert_eq!(server.seen().len(), asked, "a dry run sends nothing");
    let ran = project.asterisk(push).exits(0);
    let again = project.asterisk(push).exits(0);
    let bodies = sent(&server);
    let [body] = bodies.as_slice() else { panic!("{bodies:?}") };
    let issue = |at: usize| (&body["issues"][at]["testItemId"], &body["issues"][at]["issue"]);
    assert_eq!(body["issues"].as_array().unwrap().len(), 2);
    assert_eq!((issue(0).0, &issue(0).1["autoAnalyzed"]), (&json!(101), &json!(false)));
    assert_eq!((issue(1).0, &issue(1).1["issueType"]), (&json!(102), &json!("si001")), "the defect of the review");
    assert!(issue(1).1["comment"].as_str().unwrap().contains("DNS was down"), "{body}");
    assert!(issue(1).1.get("externalSystemIssues").is_none(), "existing tickets are kept");
    insta::assert_snapshot!([summary(&dry, &server), summary(&ran, &server), summary(&again, &server)].join("\n"));
    no_token(&project, &ran.text());
    // A changed review is pushed again.
    project.asterisk(&["review", "101", "overturn", "--defect-type", "au001", "--message", "the test counts wrong"]).exits(0);
    let ran = project.asterisk(&["push", "--to", "reportportal", "--format", "json"]).exits(0).json();
    let outcomes: Vec<(&str, &str)> = ran["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| (case["case"].as_str().unwrap(), case["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(outcomes, [("101", "sent"), ("102", "sent_before")]);
    assert_eq!(sent(&server)[1]["issues"][0]["issue"]["issueType"], "ab001");
    // Automatic approvals are pushed on request; cases that need review are not.
    let ran = project.asterisk(&["push", "--to", "reportportal", "--accept-auto", "--format", "json"]).exits(0).json();
    assert!(ran["cases"].as_array().unwrap().iter().all(|case| case["case"] != "103"), "{ran}");
    assert_eq!(sent(&server).len(), 2);
}

#[test]
fn nothing_is_pushed_before_a_review() {
    let server = Server::answering(portal);
    let project = project(&server);
    project.asterisk(&["run", "--launch", "7", "--format", "json"]).exits(0);
    let asked = server.seen().len();
    let mut all = String::new();
    for target in ["reportportal", "jira-json", "github-md"] {
        all.push_str(&project.asterisk(&["push", "--to", target]).exits(1).text());
    }
    assert_eq!(server.seen().len(), asked);
    insta::assert_snapshot!(all);
}

#[test]
fn a_rejected_item_does_not_block_others_and_no_item_reaches_another_launch() {
    let names = Arc::new(Mutex::new("shop-nightly"));
    let there = Arc::clone(&names);
    let server = Server::answering(move |seen| {
        let refuse = seen.method == "PUT" && seen.body.to_string().contains("\"testItemId\":102");
        if refuse {
            return says(
                "400 Bad Request",
                "",
                &json!({ "errorCode": 40042, "message": "Issue type 'si001' not found." }).to_string(),
            );
        }
        portal(seen).replace("shop-nightly", *there.lock().unwrap())
    });
    let project = reviewed(&server);
    let ran = project.asterisk(&["push", "--to", "reportportal"]).exits(4);
    insta::assert_snapshot!(summary(&ran, &server));
    assert_eq!(sent(&server).len(), 3, "together, then separately");
    // The one that was taken is not sent again.
    project.asterisk(&["push", "--to", "reportportal"]).exits(4);
    let last = sent(&server).pop().unwrap();
    assert_eq!(last["issues"].as_array().unwrap().len(), 1);
    *names.lock().unwrap() = "toys-nightly";
    let ran = project.asterisk(&["push", "--to", "reportportal"]).exits(2);
    assert!(ran.text().contains("is called `toys-nightly`"), "{}", ran.text());
    let ran = project.asterisk(&["push", "--to", "reportportal", "--reportportal-project", "toys"]).exits(2);
    assert!(ran.text().contains("came from the project `shop`"), "{}", ran.text());
}

#[test]
fn a_lost_response_is_retried_with_the_same_request() {
    let mut lost = 0;
    let server = Server::answering(move |seen| {
        lost += usize::from(seen.method == "PUT");
        if seen.method == "PUT" && lost == 1 { String::new() } else { portal(seen) }
    });
    let project = reviewed(&server);
    project.asterisk(&["push", "--to", "reportportal"]).exits(0);
    let bodies = sent(&server);
    assert_eq!((bodies.len(), &bodies[0]), (2, &bodies[1]));
    // Data that was sent but not recorded, as after a crash, is sent again, unchanged.
    let store = project.root().join(".asterisk/asterisk.db");
    rusqlite::Connection::open(store).unwrap().execute("DELETE FROM pushes", []).unwrap();
    project.asterisk(&["push", "--to", "reportportal"]).exits(0);
    assert_eq!(sent(&server)[2], bodies[0]);
}

#[test]
fn items_from_other_sources_are_not_pushed() {
    let server = Server::answering(portal);
    let project = project(&server);
    let junit =
        "<testsuite name='s'><testcase name='t' classname='c'><failure message='boom'>boom</failure></testcase></testsuite>";
    project.file("junit.xml", junit);
    let run = project.asterisk(&["run", "--input", "junit.xml", "--format", "json"]).exits(0).json();
    let case = run["cases"][0]["case"].as_str().unwrap();
    project.asterisk(&["review", case, "approve"]).exits(0);
    let ran = project.asterisk(&["push", "--to", "reportportal"]).exits(4);
    assert!(ran.text().contains("is not a ReportPortal item") && ran.text().contains("--to jira-json"), "{}", ran.text());
    assert!(server.seen().is_empty());
}

#[test]
fn drafts_only_contain_reviewed_cases() {
    let server = Server::answering(portal);
    let project = reviewed(&server);
    let mut all = String::new();
    for args in [
        &["push", "--to", "github-md"][..],
        &["push", "--to", "jira-json", "--dry-run", "--out", "drafts"],
        &["push", "--to", "jira-json", "--out", "drafts"],
        &["push", "--to", "jira-json", "--out", "drafts"],
    ] {
        let _ = write!(all, "$ asterisk {}\n{}\n", args.join(" "), project.asterisk(args).exits(0).text());
    }
    insta::assert_snapshot!(all);
    let json = project.asterisk(&["push", "--to", "jira-json", "--format", "json"]).exits(0).json();
    assert_eq!(
        (&json["schema_version"], &json["target"], &json["waiting"][0]["case"]),
        (&json!(1), &json!("jira-json"), &json!("103"))
    );
    for draft in json["drafts"].as_array().unwrap() {
        assert_eq!((&draft["draft"]["run"], &draft["draft"]["review"]), (&json["run"], &json!("human")));
        assert!(!draft["draft"].to_string().contains("103"), "{draft}");
        assert_eq!(draft["draft"]["attachments"], json!([]), "the pages include case 103");
    }
}

#[test]
fn settings_come_from_flags_then_the_environment_then_files() {
    let server = Server::answering(portal);
    let project = Project::new();
    project.file("asterisk.yaml", "reportportal: { url: 'https://other.example', project: toys, token: { env: NOT_THERE } }\n");
    let call = project.call(&["run", "--launch", "7", "--dry-run", "--reportportal-project", "shop", "--format", "json"]);
    call.env("ASTERISK_REPORTPORTAL_URL", &server.url).env("ASTERISK_REPORTPORTAL_TOKEN", TOKEN).ran().exits(0);
    let call = project.call(&["config", "--origin", "--format", "json"]);
    let ran = call.env("ASTERISK_REPORTPORTAL_URL", &server.url).env("ASTERISK_REPORTPORTAL_TOKEN", TOKEN).ran().exits(0);
    let settings = ran.json()["settings"].as_array().unwrap().clone();
    let of = |name: &str| settings.iter().find(|one| one["name"] == name).unwrap().clone();
    assert_eq!(of("reportportal.url")["origin"]["name"], "ASTERISK_REPORTPORTAL_URL");
    assert_eq!(of("reportportal.project")["origin"]["line"], 1);
    assert_eq!(of("reportportal.token")["value"], "(not shown)");
    assert!(!ran.text().contains(TOKEN));
}
