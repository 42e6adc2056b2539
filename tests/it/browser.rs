//! The page of a report in a browser: its size and speed, the filters, phones, dark mode, and without scripts. Without Chromium, these
//! tests are skipped with a message, unless `ASTERISK_TEST_NEEDS_CHROMIUM` is set in a CI job.

use crate::harness::Project;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// Debian's package and others; `ASTERISK_TEST_CHROMIUM` names another program.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("ASTERISK_TEST_CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut places = std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name)));
    let found = named.filter(|path| path.is_file()).or_else(|| places.find(|path| path.is_file()));
    if found.is_none() {
        let needed = ["CI", "ASTERISK_TEST_NEEDS_CHROMIUM"].iter().all(|name| std::env::var_os(name).is_some());
        assert!(!needed, "no Chromium is there, and ASTERISK_TEST_NEEDS_CHROMIUM is set");
        eprintln!("SKIPPED: no Chromium is there (apt-get install chromium, or set ASTERISK_TEST_CHROMIUM)");
    }
    found
}

const PIPELINE: &str = "pipeline: p\nnodes: [{ name: a }]\nedges: [{ id: E, from: a, to: _done }]\nreport: reports/p.rhai#summary\n\
                        start: a\ndone: _done\n";

/// A summary from the attributes of the case.
const SUMMARY: &str = r#"
fn summary(params, vars) {
    let of = params.failure.attributes;
    #{
        title: `Failure ${of.cause} of the service`, cause: of.cause, defect_type: of.defect, defect_name: params.taxonomy.defects[of.defect].name,
        category: "crash", component: "checkout", owners: [of.owner], confidence: 0.75, severity: "high",
        location: #{ path: `src/shop/part${of.cause}.py`, line: 10 },
        summary: `The service returned an error while it processed order ${of.cause}, and the test expected a receipt.`,
        evidence: [`log: ERROR order ${of.cause} was rejected`, `error: KeyError: 'price' in part ${of.cause}`],
        next_steps: [`Open src/shop/part${of.cause}.py:10.`, "Compare the order with one that was accepted.", "Read the log of the service."],
        gaps: ["the log of the service"],
    }
}
"#;

/// A page with this number of failures, each with a cause and a long stack of its own, except that the last two share one.
fn page(project: &Project, failures: usize) -> String {
    project.file("asterisk.yaml", "scripts: s\n");
    project.file("p.yaml", PIPELINE);
    project.file("s/reports/p.rhai", SUMMARY);
    project.file("stub.json", r#"{"*": {"a": [{}]}}"#);
    let case = |index: usize| {
        let cause = index.min(failures - 2);
        let mut error = format!(
            "AssertionError: assert 'receipt {index} paid' == 'receipt {index} open'\nTraceback (most recent call last):\n"
        );
        for frame in 0..20 {
            let _ = writeln!(
                error,
                "  File \"/home/runner/work/shop/src/shop/part{cause}/layer{frame}.py\", line {}, in process_order_{frame}\n    return \
                 self.next.process(order, customer=customer, discount=None)",
                frame + 10
            );
        }
        let defect = ["pb001", "au001", "en001"][cause % 3];
        json!({ "id": format!("tests/test_part{index}.py::test_order_{index}"), "name": format!("test_order_{index}"), "status": "FAILED",
                "error_message": error,
                "attributes": { "cause": cause.to_string(), "defect": defect, "owner": format!("@team-{}", cause % 4) } })
    };
    let launch = json!({ "run_id": "1", "name": "large", "failure_list": (0..failures).map(case).collect::<Vec<_>>() });
    project.file("launch.json", launch.to_string());
    project.asterisk(&["run", "p.yaml", "--input", "launch.json", "--stub", "stub.json", "--files", "never"]).exits(0);
    project.asterisk(&["report", "latest", "--format", "html"]).exits(0).stdout
}

/// What a browser does with a page.
struct Visit<'a> {
    /// The width of the window, in pixels.
    width: usize,
    /// Whether the page's own script is blocked.
    blocked: bool,
    dark: bool,
    /// A JavaScript expression, evaluated when the page is loaded.
    script: &'a str,
}

impl Visit<'_> {
    /// Opens the page in a frame of that width; windows cannot be as narrow as a phone.
    fn value(&self, chromium: &PathBuf, project: &Project, page: &str) -> Value {
        let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'nonce-probe'\">";
        let page = if self.blocked { page.replacen("<head>", &format!("<head>{policy}"), 1) } else { page.to_owned() };
        let probe = format!(
            "<script nonce=\"probe\">addEventListener(\"load\", () => {{ const panels = [...document.querySelectorAll(\"#causes > .panel\")]; \
             const get = (id) => document.getElementById(id); const shown = () => panels.filter((one) => one.offsetHeight > 0).length; \
             const enter = (id, value) => {{ get(id).value = value; get(id).dispatchEvent(new Event(\"input\", {{ bubbles: true }})); }}; \
             parent.postMessage(JSON.stringify({}), \"*\"); }});</script></body>",
            self.script
        );
        let outer = format!(
            "<!doctype html><iframe src=\"inner.html\" width=\"{}\" height=\"800\" style=\"border:0\"></iframe><script>addEventListener(\"message\", \
             (event) => {{ const out = document.createElement(\"pre\"); out.id = \"probe\"; out.textContent = encodeURIComponent(event.data); \
             document.body.append(out); }});</script>",
            self.width
        );
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("inner.html"), page.replacen("</body>", &probe, 1)).unwrap();
        std::fs::write(dir.path().join("outer.html"), outer).unwrap();
        let mut command = Command::new(chromium);
        command.args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--window-size=1400,900",
            "--virtual-time-budget=20000",
            "--dump-dom",
        ]);
        if self.dark {
            command.arg("--blink-settings=preferredColorScheme=0");
        }
        command.arg(format!("--user-data-dir={}", dir.path().join("profile").display()));
        command.arg(format!("file://{}", dir.path().join("outer.html").display())).env("HOME", project.root());
        let output = command.output().unwrap();
        let dom = String::from_utf8_lossy(&output.stdout);
        let found = dom.split_once("<pre id=\"probe\">").and_then(|(_, rest)| rest.split_once("</pre>"));
        let (found, _) = found.unwrap_or_else(|| panic!("the page did not answer\n{}", String::from_utf8_lossy(&output.stderr)));
        let bytes = found.split('%').enumerate().flat_map(|(at, part)| match at {
            0 => part.as_bytes().to_vec(),
            _ => [&[u8::from_str_radix(&part[..2], 16).unwrap()][..], &part.as_bytes()[2..]].concat(),
        });
        serde_json::from_slice(&bytes.collect::<Vec<_>>()).unwrap()
    }
}

const WIDE: Visit<'static> = Visit { width: 1200, blocked: false, dark: false, script: "" };

#[test]
fn a_page_of_300_failures_is_small_and_usable_at_once() {
    let project = Project::new();
    let html = page(&project, 300);
    assert!(html.len() <= 1_000_000, "{}", html.len());
    assert_eq!(html.matches("<details class=\"panel ").count(), 299);
    let Some(chromium) = chromium() else { return };
    let script = "(() => { const loaded = performance.now(); enter(\"text\", \"PART17\"); const first = shown(); const filtered = performance.now() - loaded; \
                  return { loaded, filtered, first }; })()";
    let seen = Visit { script, ..WIDE }.value(&chromium, &project, &html);
    // A second each, on a machine that does nothing else.
    assert!(seen["loaded"].as_f64().unwrap() < 5000.0 && seen["filtered"].as_f64().unwrap() < 5000.0, "{seen}");
    assert_eq!(seen["first"], 11, "17 and 170 to 179: {seen}");
}

#[test]
fn causes_are_filtered_by_defect_owner_and_text() {
    let Some(chromium) = chromium() else { return };
    let project = Project::new();
    let html = page(&project, 13);
    let script = "(() => { const r = { closed: panels.every((one) => !one.open), all: shown() }; \
        enter(\"defect\", \"pb001\"); r.defect = panels.filter((one) => !one.hidden).map((one) => one.dataset.defect); \
        enter(\"owner\", \"@team-0\"); r.both = shown(); r.count = get(\"shown\").textContent; \
        enter(\"defect\", \"\"); enter(\"owner\", \"\"); enter(\"text\", \"test_order_12\"); r.text = shown(); \
        enter(\"text\", \"\"); get(\"open\").click(); r.opened = panels.filter((one) => one.open).length; \
        scrollTo(0, document.body.scrollHeight / 2); r.top = get(\"bar\").getBoundingClientRect().top; \
        r.last = [...document.querySelectorAll(\"main > section\")].pop().id; return r; })()";
    let seen = Visit { script, ..WIDE }.value(&chromium, &project, &html);
    let expected = json!({ "closed": true, "all": 12, "defect": vec!["pb001"; 4], "both": 1, "count": "1 of 12", "text": 1, "opened": 12,
                           "top": 0, "last": "glance" });
    assert_eq!(seen, expected);
    // The message, the values that differ, the output, and the colour of each defect, which data define.
    assert!(html.contains("<pre class=\"message\" dir=\"auto\">AssertionError: assert &#39;receipt "), "{html}");
    assert!(html.contains("<ins>") && html.contains("<del>") && html.contains("in process_order_19"), "{html}");
    for (code, colour) in [("pb001", "red"), ("au001", "blue"), ("en001", "orange")] {
        let of_code = format!("data-defect=\"{code}\"");
        let panels: Vec<&str> = html.split("<details class=\"panel ").skip(1).filter(|panel| panel.contains(&of_code)).collect();
        assert!(panels.len() == 4 && panels.iter().all(|panel| panel.starts_with(&format!("{colour}\""))), "{code}");
    }
}

#[test]
fn the_page_fits_a_phone_and_honours_dark_mode() {
    let Some(chromium) = chromium() else { return };
    let project = Project::new();
    let html = page(&project, 6);
    let script = "(() => { document.querySelectorAll(\"details\").forEach((one) => { one.open = true; }); \
        const inside = \"pre, .scroll, .curves\"; const wide = [...document.querySelectorAll(\"body *\")].filter((one) => !one.closest(inside) && \
        one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80)); \
        return { width: innerWidth, scrolls: document.documentElement.scrollWidth > innerWidth, wide, shown: shown() }; })()";
    let seen = Visit { width: 360, script, ..WIDE }.value(&chromium, &project, &html);
    assert_eq!(seen, json!({ "width": 360, "scrolls": false, "wide": [], "shown": 5 }));
    let background = [false, true].map(|dark| {
        let script = "getComputedStyle(document.body).backgroundColor";
        Visit { dark, script, ..WIDE }.value(&chromium, &project, &html)
    });
    assert_eq!(background, [json!("rgb(244, 245, 248)"), json!("rgb(15, 19, 26)")]);
}

#[test]
fn the_page_needs_no_script() {
    let Some(chromium) = chromium() else { return };
    let project = Project::new();
    let html = page(&project, 6);
    let script = "(() => { const bar = get(\"bar\").offsetHeight; const before = panels[0].offsetHeight; \
        panels[0].querySelector(\"summary\").click(); const cases = panels[0].querySelector(\".cases summary\"); cases.click(); \
        return { bar, all: shown(), opens: panels[0].offsetHeight > before + 100, cases: cases.parentElement.innerText.includes(\"test_order_\") }; })()";
    let seen = Visit { blocked: true, script, ..WIDE }.value(&chromium, &project, &html);
    assert_eq!(seen, json!({ "bar": 0, "all": 5, "opens": true, "cases": true }));
}
