//! What failures of a launch have in common: the same however the run is walked, and available to every answerer.

use crate::harness::Project;
use serde_json::Value;
use std::fmt::Write as _;

/// A launch of failures that share one port, one set-up and one exception, and an unrelated one.
fn launch() -> String {
    let mut cases = String::new();
    let mut case = |suite: &str, name: &str, error: &str| {
        let _ = write!(cases, "<testcase classname=\"{suite}\" name=\"{name}\"><failure>{error}</failure></testcase>");
    };
    for at in 0..12 {
        let suite = format!("shop.Pay{}Test", at % 3);
        case(&suite, &format!("pays {at}"), &format!("dial tcp 10.0.0.5:5432: connect: connection refused (try {at})"));
    }
    case("shop.StockTest", "setUp", "OSError: [Errno 28] No space left on device");
    for at in 0..3 {
        case("shop.StockTest", &format!("counts {at}"), "failed in setup: fixture 'db' failed");
    }
    case("com.shop.CartTest", "adds", "java.lang.IllegalStateException: empty\n\tat com.shop.Cart.total(Cart.java:9)");
    case("com.shop.ViewTest", "shows", "java.lang.IllegalStateException: closed\n\tat com.shop.Cart.total(Cart.java:12)");
    case("shop.LoneTest", "stands alone", "the shelf is blue");
    format!("<testsuites><testsuite name=\"shop\">{cases}</testsuite></testsuites>")
}

/// The recorded input of the triage of a case.
#[track_caller]
fn peers(project: &Project, case: &str) -> Value {
    let repl = project.asterisk_reading(&["repl", "--run", "latest", "--case", case], ":at triage\n:full params.needs.peers");
    let shown = repl.exits(0).stdout;
    let list = shown.rfind("\n[").unwrap_or_else(|| panic!("no list: {shown}"));
    serde_json::from_str(&shown[list..]).unwrap()
}

fn ids(project: &Project) -> Vec<String> {
    let report = project.asterisk(&["report", "--format", "json"]).ok().json();
    report["cases"].as_array().unwrap().iter().map(|case| case["case"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn peers_do_not_depend_on_how_a_run_is_walked() {
    let walked = |parallel: &str, keep: &str| {
        let project = Project::with(&[("launch.xml", &launch())]);
        let args = ["run", "--input", "launch.xml", "--files", "never", "--parallel", parallel];
        project.call(&args).env("ASTERISK_KEEP_CASES", keep).ran().exits(0);
        project
    };
    // In memory, and read from the store case by case.
    let (one, other) = (walked("1", "2000"), walked("3", "0"));
    let ids = ids(&one);
    for case in ["pays 0", "setUp", "counts 1", "adds", "stands alone"] {
        let id = ids.iter().find(|id| id.ends_with(case)).unwrap();
        assert_eq!(peers(&one, id), peers(&other, id), "{case}");
    }
    let of = |case: &str, kind: &str| {
        let all = peers(&one, ids.iter().find(|id| id.ends_with(case)).unwrap());
        all.as_array().unwrap().iter().filter(|peer| peer["kind"] == kind).cloned().collect::<Vec<_>>()
    };
    let error = &of("pays 0", "error")[0];
    assert_eq!((&error["count"], &error["suites"]), (&Value::from(12), &Value::from(3)));
    assert_eq!(error["cases"].as_array().unwrap().len(), 8);
    let address = &of("pays 0", "name")[0];
    assert_eq!((address["of"].as_str(), address["key"].as_str()), (Some("address"), Some("10.0.0.5:5432")));
    let fixture = &of("counts 1", "fixture")[0];
    assert_eq!((fixture["key"].as_str(), &fixture["count"]), (Some("shop.StockTest"), &Value::from(4)));
    assert_eq!(fixture["origin"]["headline"], "OSError: [Errno 28] No space left on device");
    let matches = fixture["origin"]["matches"].as_array().unwrap();
    assert!(matches.iter().any(|found| found["id"] == "disk-full"), "{matches:?}");
    let exception = &of("adds", "exception")[0];
    assert_eq!(exception["key"], "java.lang.IllegalStateException at com.shop.Cart.total (com/shop/Cart.java)");
    assert_eq!(of("stands alone", "headline"), Vec::<Value>::new());
}
