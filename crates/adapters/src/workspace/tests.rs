//! Tests of the three queries over small repositories with fixed authors and dates.

#![allow(clippy::unwrap_used)]

use super::*;
use asterisk_base::model::{Case, Launch, LaunchCheckout};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Start of the launch: 2026-02-14T12:00:00Z.
const BEGAN: i64 = 1_771_070_400;
const DAY: i64 = 86_400;

/// A project with one repository, `clock`.
struct WorkspaceFixture {
    dir: tempfile::TempDir,
    repositories: Value,
    launch: Launch,
}

impl WorkspaceFixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("clock")).unwrap();
        let launch = Launch { started_at: Some(Timestamp::from_millis(BEGAN * 1000)), ..Launch::default() };
        Self { dir, repositories: json!([{"name": "clock", "path": "clock", "purpose": "", "branch": ""}]), launch }
    }

    /// With a history: the failing line was committed two days before the launch, and a later commit follows it.
    fn with_history() -> Self {
        let fixture = Self::new();
        fixture.git(&["init", "-q", "-b", "main"], 0);
        fixture.commit(30, "Begin", &[("src/servo.rs", "fn offset() {\n    1\n}\n"), ("doc/x.md", "x\n")]);
        fixture.commit(9, "Explain", &[("doc/x.md", "the offset\n")]);
        fixture.commit(2, "Read the offset from the wire", &[("src/servo.rs", "fn offset() {\n    read().unwrap()\n}\n")]);
        fixture.commit(-1, "Mend it", &[("src/servo.rs", "fn offset() {\n    read().unwrap_or(0)\n}\n")]);
        fixture
    }

    fn repo(&self) -> std::path::PathBuf {
        self.dir.path().join("clock")
    }

    /// Runs git with a date of `days` before the launch.
    fn git(&self, args: &[&str], days: i64) -> String {
        let at = format!("{} +0000", BEGAN - days * DAY);
        let mut git = Command::new("git");
        git.arg("-C").arg(self.repo()).args(["-c", "user.name=Ada Clock", "-c", "user.email=ada@example.com"]).args(args);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        git.env("GIT_AUTHOR_DATE", &at).env("GIT_COMMITTER_DATE", &at);
        let output = git.output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.repo().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self, days: i64, subject: &str, files: &[(&str, &str)]) -> String {
        for (path, text) in files {
            self.write(path, text);
        }
        self.git(&["add", "-A"], 0);
        self.git(&["commit", "-q", "-m", subject], days);
        self.git(&["rev-parse", "HEAD"], 0)
    }

    /// The answer for the repository, for these paths and terms.
    fn query_answer(&self, query: &str, paths: &[&str], terms: &[&str]) -> Value {
        let prior = json!({"resolve": {"selected_repos": [
            {"name": "clock", "path": "/", "branch": "--all", "focus_paths": paths, "focus_terms": terms},
        ]}});
        let workspace = Workspace::new(self.dir.path(), &self.repositories, &Variables::of_process());
        let case = Case::default();
        let about = QuerySubject { prior: &prior, ..QuerySubject::new(&self.launch, &case) };
        let answer = workspace.query(query, &about).unwrap();
        assert_eq!(workspace.query(query, &about).unwrap(), answer, "asked again");
        answer[0].clone()
    }
}

fn notes(answer: &Value) -> String {
    answer["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect::<Vec<_>>().join("; ")
}

fn column<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap()).collect()
}

#[test]
fn the_log_has_the_commits_before_the_launch_that_touched_a_path() {
    let fixture = WorkspaceFixture::with_history();
    let answer = fixture.query_answer("workspace.log", &["src/servo.rs:2"], &[]);
    assert_eq!(column(&answer["commits"], "subject"), ["Read the offset from the wire", "Begin"]);
    let first = &answer["commits"][0];
    assert_eq!(
        (&first["date"], &first["age_days"], &first["author"], &first["files"]),
        (&json!("2026-02-12T12:00:00Z"), &json!(2.0), &json!("Ada Clock"), &json!(["src/servo.rs"]))
    );
    assert_eq!((&answer["commit"], &answer["at"], &answer["branch"]), (&first["hash"], &json!("head"), &json!("main")));
    assert_eq!(notes(&answer), "");
    let answer = fixture.query_answer("workspace.log", &[], &[]);
    assert_eq!(column(&answer["commits"], "subject").len(), 3, "without a path, all");
    let answer = fixture.query_answer("workspace.log", &["nowhere.rs:1"], &[]);
    assert_eq!((&answer["commits"], notes(&answer).as_str()), (&json!([]), "`nowhere.rs:1` is not in it"));
}

#[test]
fn blame_names_the_last_change_of_the_line_under_test() {
    let fixture = WorkspaceFixture::with_history();
    let answer = fixture.query_answer("workspace.blame", &["/ci/checkout/clock/src/servo.rs:2", "doc/x.md"], &[]);
    assert_eq!(column(&answer["lines"], "text"), ["fn offset() {", "    read().unwrap()", "}"]);
    let line = &answer["lines"][1];
    assert_eq!((&line["path"], &line["line"], &line["focus"]), (&json!("src/servo.rs"), &json!(2), &json!(true)));
    assert_eq!((&line["subject"], &line["age_days"]), (&json!("Read the offset from the wire"), &json!(2.0)));
    assert_eq!((&answer["lines"][0]["subject"], &answer["lines"][0]["boundary"]), (&json!("Begin"), &json!(true)));
    let answer = fixture.query_answer("workspace.blame", &["src/servo.rs:99"], &[]);
    assert!(notes(&answer).contains("servo.rs"), "{answer}");
}

#[test]
fn grep_finds_texts_that_mean_themselves() {
    let fixture = WorkspaceFixture::with_history();
    let answer = fixture.query_answer("workspace.grep", &[], &["offset", "read().unwrap()", "o.fset", "gone"]);
    let places: Vec<String> = answer["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| format!("{} {}:{}", found["term"].as_str().unwrap(), found["path"].as_str().unwrap(), found["line"]))
        .collect();
    assert_eq!(places, ["offset doc/x.md:1", "offset src/servo.rs:1", "read().unwrap() src/servo.rs:2"]);
    assert_eq!(answer["matches"][2]["text"], json!("    read().unwrap()"));
}

#[test]
fn the_launchs_commit_counts_then_the_branch_then_what_is_checked_out() {
    let mut fixture = WorkspaceFixture::with_history();
    fixture.git(&["branch", "release", "main~3"], 0);
    fixture.repositories[0]["branch"] = json!("release");
    let answer = fixture.query_answer("workspace.log", &["src/servo.rs"], &[]);
    assert_eq!(
        (&answer["at"], &answer["branch"], column(&answer["commits"], "subject")),
        (&json!("branch"), &json!("release"), vec!["Begin"])
    );
    fixture.launch.git = LaunchCheckout { commit: Some(fixture.git(&["rev-parse", "main"], 0)), ..LaunchCheckout::default() };
    let answer = fixture.query_answer("workspace.log", &["src/servo.rs"], &[]);
    assert_eq!((&answer["at"], column(&answer["commits"], "subject").len()), (&json!("launch"), 3));
    fixture.launch.git.commit = Some("0123456789".into());
    fixture.repositories[0]["branch"] = json!("nowhere");
    let answer = fixture.query_answer("workspace.log", &["src/servo.rs"], &[]);
    assert_eq!((&answer["at"], notes(&answer).contains("no branch `nowhere`")), (&json!("head"), true));
}

#[test]
fn what_is_missing_is_a_note() {
    let queries = ["workspace.log", "workspace.blame", "workspace.grep"];
    let all = |fixture: &WorkspaceFixture| -> Vec<String> {
        queries.iter().map(|query| notes(&fixture.query_answer(query, &["src/a.rs:1"], &["offset"]))).collect()
    };
    let mut fixture = WorkspaceFixture::new();
    assert!(all(&fixture).iter().all(|answers| answers.contains("not a git repository")));
    fixture.git(&["init", "-q"], 0);
    assert!(all(&fixture).iter().all(|answers| answers.contains("no commits yet")));
    fixture.repositories[0]["path"] = json!("gone");
    assert!(all(&fixture).iter().all(|answers| answers.contains("`gone` does not exist")));
    fixture.repositories[0]["path"] = json!("");
    assert!(all(&fixture).iter().all(|answers| answers.contains("sets no `path`")));
    fixture.repositories[0]["name"] = json!("other");
    assert!(all(&fixture).iter().all(|answers| answers.contains("names no such repository")));
    let fixture = WorkspaceFixture::with_history();
    fixture.git(&["checkout", "-q", "--detach"], 0);
    assert!(all(&fixture).iter().all(|answers| answers.contains("HEAD is detached")));
    let mut shallow = WorkspaceFixture::new();
    fs::remove_dir(shallow.repo()).unwrap();
    let from = format!("file://{}", fixture.repo().display());
    let to = shallow.repo().display().to_string();
    assert!(Command::new("git").args(["clone", "-q", "--depth", "1", &from, &to]).status().unwrap().success());
    let answers = all(&shallow);
    assert!(
        answers.iter().all(|answers| answers.contains("shallow") && answers.contains("newer than the launch")),
        "{answers:?}"
    );
    shallow.launch.started_at = None;
    assert!(all(&shallow).iter().all(|answers| answers.contains("is unknown")));
}

#[test]
fn a_directory_without_git_is_searched() {
    let fixture = WorkspaceFixture::new();
    fixture.write("src/a.rs", "one\noffset two\n");
    fixture.write("image.bin", "offset\0");
    fixture.write(".env", "offset secret\n");
    let answer = fixture.query_answer("workspace.grep", &[], &["offset"]);
    assert_eq!((column(&answer["matches"], "path"), &answer["matches"][0]["line"]), (vec!["src/a.rs"], &json!(2)));
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out() {
    let fixture = WorkspaceFixture::new();
    fs::write(fixture.dir.path().join("secret"), "offset of the secret\n").unwrap();
    fs::create_dir(fixture.dir.path().join("secrets")).unwrap();
    fs::write(fixture.dir.path().join("secrets/s.txt"), "offset of the secret\n").unwrap();
    std::os::unix::fs::symlink("../secret", fixture.repo().join("link.rs")).unwrap();
    std::os::unix::fs::symlink("../secrets", fixture.repo().join("links")).unwrap();
    fixture.write("a.rs", "offset\n");
    let look = |what: &str| {
        let answer = fixture.query_answer("workspace.grep", &["link.rs:1", "links/s.txt", "../secret"], &["offset"]);
        assert_eq!(column(&answer["matches"], "path"), ["a.rs"], "{what}");
        for query in ["workspace.log", "workspace.blame"] {
            let answer = fixture.query_answer(query, &["link.rs:1", "links/s.txt:1", "../secret:1", "/etc/passwd:1"], &[]);
            assert!(!answer.to_string().contains("of the secret") && !answer.to_string().contains("root:"), "{what}: {answer}");
        }
    };
    look("a directory");
    fixture.git(&["init", "-q"], 0);
    fixture.commit(3, "Links", &[]);
    look("a repository");
}

#[test]
fn names_are_not_options() {
    let mut fixture = WorkspaceFixture::with_history();
    fixture.commit(
        1,
        "Odd",
        &[("--output=pwned", "offset\n"), (":(glob)**", "offset\n"), ("-p.rs", "offset --open-files-in-pager\n")],
    );
    fixture.launch.git.commit = Some("--output=pwned".into());
    let before = fs::read_dir(fixture.dir.path()).unwrap().count();
    for branch in ["--output=pwned", "main --output=pwned", "main^{/x}", "@{u}", "../HEAD", "HEAD:doc/x.md"] {
        fixture.repositories[0]["branch"] = json!(branch);
        let answer = fixture.query_answer("workspace.log", &["--output=pwned", ":(glob)**", "-p.rs"], &[]);
        assert_eq!(
            (column(&answer["commits"], "subject"), notes(&answer).contains("no branch")),
            (vec!["Odd"], true),
            "{branch}"
        );
    }
    let answer = fixture.query_answer("workspace.blame", &["--output=pwned:1", "-p.rs:1", ":(glob)**:1"], &[]);
    assert_eq!(column(&answer["lines"], "subject"), ["Odd", "Odd", "Odd"]);
    let answer =
        fixture.query_answer("workspace.grep", &[], &["--open-files-in-pager", "-e offset", "-O./pwned.sh", "-f/etc/passwd"]);
    assert_eq!(column(&answer["matches"], "path"), ["-p.rs"]);
    assert_eq!(fs::read_dir(fixture.dir.path()).unwrap().count(), before);
}

#[cfg(unix)]
#[test]
fn nothing_of_a_checkout_is_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = WorkspaceFixture::with_history();
    let mark = fixture.dir.path().join("pwned");
    let program = fixture.repo().join("git");
    fs::write(&program, format!("#!/bin/sh\ntouch '{}'\n", mark.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let run = program.display().to_string();
    fixture.commit(1, "Odd", &[(".gitattributes", "* diff=evil filter=evil\n"), ("src/servo.rs", "fn offset() {\n    0\n}\n")]);
    for key in [
        "core.fsmonitor",
        "core.pager",
        "pager.log",
        "pager.blame",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.clean",
        "filter.evil.smudge",
        "gpg.program",
        "core.sshCommand",
        "core.askPass",
        "credential.helper",
        "alias.blame",
        "alias.rev-parse",
    ] {
        fixture.git(&["config", key, &run], 0);
    }
    fixture.git(&["config", "core.hooksPath", &fixture.repo().display().to_string()], 0);
    fixture.git(&["config", "log.showSignature", "true"], 0);
    drop(fs::remove_file(&mark));
    for query in ["workspace.log", "workspace.blame", "workspace.grep"] {
        let answer = fixture.query_answer(query, &["src/servo.rs:2"], &["offset"]);
        assert_eq!(notes(&answer), "", "{query}");
    }
    assert!(!mark.exists(), "a program of the checkout was run");
}

#[test]
fn objects_are_not_replaced_and_texts_cannot_draw() {
    let fixture = WorkspaceFixture::with_history();
    let odd = fixture.commit(
        1,
        "Odd \u{1b}[31m\u{1e}\u{1f}and\u{7f}plain",
        &[("src/servo.rs", "fn offset() {\n    \u{1b}]0;x\u{7}\n}\n")],
    );
    fixture.git(&["replace", &odd, "main~3"], 0);
    let answer = fixture.query_answer("workspace.log", &["src/servo.rs"], &[]);
    assert_eq!(column(&answer["commits"], "subject")[0], "Odd [31mandplain");
    let answer = fixture.query_answer("workspace.blame", &["src/servo.rs:2"], &[]);
    assert_eq!(answer["lines"][1]["text"], json!("    ]0;x"));
}

#[test]
fn a_directory_of_a_repository_is_a_repository_of_its_own() {
    let mut fixture = WorkspaceFixture::with_history();
    fixture.repositories[0]["path"] = json!("clock/src");
    let answer = fixture.query_answer("workspace.log", &["servo.rs:2", "doc/x.md"], &[]);
    assert_eq!((column(&answer["commits"], "subject").len(), &answer["commits"][0]["files"]), (2, &json!(["servo.rs"])));
    let answer = fixture.query_answer("workspace.grep", &[], &["offset"]);
    assert_eq!(column(&answer["matches"], "path"), ["servo.rs"], "siblings of it are not searched");
}

#[test]
fn the_check_says_what_is_there() {
    let fixture = WorkspaceFixture::with_history();
    let repositories = json!([{"name": "clock", "path": "clock", "branch": "main"}, {"name": "x", "path": "no/such"}]);
    let now = Timestamp::from_millis((BEGAN + DAY * 9) * 1000);
    let found = check(&Variables::of_process(), Path::new(fixture.dir.path()), &repositories, now);
    assert_eq!((found[0].there, found[0].branch.as_str(), found[0].commit.len(), found[0].notes.len()), (true, "main", 40, 0));
    assert_eq!((found[1].there, &found[1].notes[0][..]), (false, "`no/such` does not exist"));
}

/// The answer of `workspace.code` for an error, with tests recognised by their path.
fn code_answer(fixture: &WorkspaceFixture, name: &str, suite: &str, error: &str) -> Value {
    use asterisk_evidence::{EvidenceReader, EvidenceRules, FrameOwner, OwnerRule, PeerKeys};
    let tests = OwnerRule { owner: Some(FrameOwner::Test), paths: vec!["(?:^|/)tests?/".to_owned()], ..OwnerRule::default() };
    let rules = EvidenceRules { owners: vec![tests], ..EvidenceRules::default() };
    let reader = EvidenceReader::new(rules, Hash::of(b""));
    let keys = PeerKeys::default();
    let workspace = Workspace::new(fixture.dir.path(), &fixture.repositories, &Variables::of_process());
    let case = Case { name: name.into(), suite: suite.into(), error_message: error.into(), ..Case::default() };
    let evidence = Some(asterisk_walk::SubjectEvidence { reader: &reader, keys: &keys });
    workspace.query(CODE, &QuerySubject { evidence, ..QuerySubject::new(&fixture.launch, &case) }).unwrap()
}

const CART: &str = "class Cart:\n    def __init__(self, lines):\n        self.lines = lines\n\n    def total(self):\n        return len(self.lines)\n";
const CART_TEST: &str =
    "from shop.cart import Cart\n\ndef test_total():\n    cart = Cart([2, 3])\n    found = cart.total()\n    assert found == 5\n";

#[test]
fn a_failed_check_is_about_what_gave_it_its_value() {
    let mut fixture = WorkspaceFixture::new();
    fixture.git(&["init", "-q", "-b", "main"], 0);
    fixture.commit(30, "Add the test", &[("tests/test_cart.py", CART_TEST), ("src/shop/cart.py", "class Cart:\n    pass\n")]);
    fixture.commit(3, "Count lines", &[("src/shop/cart.py", CART), ("src/shop/other.py", "def total(x):\n    return x\n")]);
    let error = "/build/7/tests/test_cart.py:6: in test_total\n    assert found == 5\nE   assert 2 == 5";
    let answer = code_answer(&fixture, "test_total", "tests.test_cart", error);
    assert_eq!((&answer["known"], &answer["repo"], &answer["later"]), (&json!(true), &json!("clock"), &json!("product")));
    assert_eq!(
        answer["frames"],
        json!([{"source": "error", "number": 1, "path": "tests/test_cart.py", "line": 6, "function": "test_total"}])
    );
    let test = &answer["test"];
    assert_eq!(
        (&test["path"], &test["statement"], &test["begins"]),
        (&json!("tests/test_cart.py"), &json!("assert found == 5"), &json!(3))
    );
    let symbols: Vec<_> = column(&answer["symbols"], "name").into_iter().zip(column(&answer["symbols"], "path")).collect();
    assert_eq!(symbols, [("total", "src/shop/cart.py"), ("Cart", "src/shop/cart.py")]);
    assert_eq!((&answer["symbols"][0]["line"], &answer["symbols"][0]["changed"]["subject"]), (&json!(5), &json!("Count lines")));

    // Without the line, all of the test counts; without the project file, the repository around the project.
    let named = code_answer(&fixture, "test_total[3]", "tests.test_cart", "assert 2 == 5");
    assert_eq!((&named["test"]["exact"], column(&named["symbols"], "name").len()), (&json!(false), 2));
    fixture.repositories = json!([]);
    assert_eq!(code_answer(&fixture, "test_total", "tests.test_cart", error)["known"], false, "the project is in no repository");
    fs::rename(fixture.repo().join(".git"), fixture.dir.path().join(".git")).unwrap();
    fixture.repositories = json!([{"name": "clock", "path": "clock"}]);
    let answer = code_answer(&fixture, "test_total", "tests.test_cart", error);
    assert_eq!((&answer["symbols"][0]["name"], &answer["later"]), (&json!("total"), &json!("")), "{answer}");
}

/// The first symbol of the answer for a failure at a line of a test: its name, file and line.
#[track_caller]
fn first_symbol(files: &[(&str, &str)], name: &str, error: &str, expected: (&str, &str, i64)) {
    let mut fixture = WorkspaceFixture::new();
    fixture.git(&["init", "-q", "-b", "main"], 0);
    fixture.commit(3, "Begin", files);
    let of = |answer: &Value| {
        let first = &answer["symbols"][0];
        let text = |key: &str| first[key].as_str().unwrap_or_default().to_owned();
        (text("name"), text("path"), first["line"].as_i64().unwrap_or_default())
    };
    let answer = code_answer(&fixture, name, "", error);
    let (of_name, path, line) = of(&answer);
    assert_eq!((of_name.as_str(), path.as_str(), line), expected, "{answer:#}");
    // Without git, the same.
    fs::remove_dir_all(fixture.repo().join(".git")).unwrap();
    fixture.repositories = json!([{"name": "clock", "path": "clock"}]);
    let (of_name, path, line) = of(&code_answer(&fixture, name, "", error));
    assert_eq!((of_name.as_str(), path.as_str(), line), expected, "without git");
}

#[test]
fn a_request_is_about_what_answers_it() {
    let server = "const routes = {\n  '/authors': authors,\n};\napp.get('/books/:id', (request, response) => {\n  response.json(books[request.params.id]);\n});\n";
    let test = "test('an unknown book', async ({ request }) => {\n  const response = await request.get('/books/99');\n  expect(response.status()).toBe(404);\n});\n";
    let error = "Error: expect(received).toBe(expected)\n    at /x/tests/books.spec.js:3:29";
    first_symbol(
        &[("server/app.js", server), ("tests/books.spec.js", test)],
        "an unknown book",
        error,
        ("/books/99", "server/app.js", 4),
    );
}

#[test]
fn a_program_that_a_test_runs_is_of_the_product() {
    let helper = "ROOT=\"$(cd \"$BATS_TEST_DIRNAME/..\" && pwd)\"\nBACKUP=\"$ROOT/bin/backup\"\n";
    let test = "load helper\n\n@test \"unknown commands fail\" {\n  run \"$BACKUP\" frobnicate\n  [ \"$status\" -ne 0 ]\n}\n";
    first_symbol(
        &[("bin/backup", "#!/bin/sh\nexit 0\n"), ("test/helper.bash", helper), ("test/backup.bats", test)],
        "unknown commands fail",
        "(in test file test/backup.bats, line 5)\n  `[ \"$status\" -ne 0 ]' failed",
        ("backup", "bin/backup", 1),
    );
}

#[test]
fn a_helper_of_the_tests_is_not_the_definition_of_its_name() {
    let helper = "exports.visit = (day) => ({ day });\n";
    let test = "const { visit } = require('./helpers/clinic');\nconst { clean } = require('../src/phone');\ntest('cleans', () => {\n  const made = visit(3);\n  expect(clean(made)).toBe(3);\n});\n";
    first_symbol(
        &[
            ("src/repo.js", "exports.visit = function (day) {\n  return day;\n};\n"),
            ("src/phone.js", "exports.clean = function (x) {\n  return x;\n};\n"),
            ("tests/helpers/clinic.js", helper),
            ("tests/phone.test.js", test),
        ],
        "cleans",
        "Error\n    at /x/tests/phone.test.js:5:3",
        ("clean", "src/phone.js", 1),
    );
}

#[test]
fn what_the_definition_calls_and_was_changed_since_comes_first() {
    let fixture = WorkspaceFixture::new();
    fixture.git(&["init", "-q", "-b", "main"], 0);
    let views = "from shop.prices import price\n\ndef quote(hours):\n    if hours < 1:\n        return 0\n    total = price(hours)\n    rounded = round(total)\n    if rounded > 100:\n        return 100\n    return rounded\n";
    fixture.commit(
        30,
        "Begin",
        &[("src/shop/views.py", views), ("src/shop/prices.py", "def price(hours):\n    return hours * 20\n")],
    );
    let test = "from shop.views import quote\n\ndef test_quote():\n    assert quote(2) == 40\n\ndef test_other():\n    assert quote(3) == 60\n";
    fixture.commit(9, "Test it", &[("tests/test_quote.py", test)]);
    fixture.commit(3, "Charge less", &[("src/shop/prices.py", "def price(hours):\n    return hours * 10\n")]);
    let error = |line: u32| format!("tests/test_quote.py:{line}: in test\nE   assert 20 == 40");
    let answer = code_answer(&fixture, "test_quote", "tests.test_quote", &error(4));
    assert_eq!(
        (&answer["symbols"][0]["name"], &answer["later"], &answer["test"]["since"]),
        (&json!("price"), &json!("product"), &json!(["src/shop/prices.py"])),
        "{answer:#}"
    );
    // A check that was changed after the product: nothing was changed since.
    fixture.commit(1, "Expect more", &[("tests/test_quote.py", &test.replace("== 60", "== 70"))]);
    let answer = code_answer(&fixture, "test_other", "tests.test_quote", &error(7));
    assert_eq!(
        (&answer["symbols"][0]["name"], &answer["later"], &answer["test"]["since"]),
        (&json!("quote"), &json!("test"), &json!([])),
        "{answer:#}"
    );
}

#[test]
fn a_step_of_a_feature_is_about_what_its_definition_uses() {
    let steps = "from behave import then\n\nfrom library.loans import fine\n\n\n@then('the fine for {days:d} days is {cents:d} cents')\ndef step_fine(context, days, cents):\n    assert fine(days) == cents\n";
    let feature = "Feature: Loans\n  Scenario: Fines are capped\n    Then the fine for 90 days is 500 cents\n";
    first_symbol(
        &[
            ("src/library/loans.py", "LIMIT = 3\n\ndef fine(days):\n    return days * 10\n"),
            ("tests/loans.feature", feature),
            ("tests/steps/loan_steps.py", steps),
        ],
        "Fines are capped",
        "Failing step: Then the fine for 90 days is 500 cents\nLocation: tests/loans.feature:3\nASSERT FAILED: ",
        ("fine", "src/library/loans.py", 3),
    );
}

#[test]
fn fixtures_of_other_files_and_wrappers_are_followed() {
    let conftest =
        "import pytest\n\nfrom shop.cart import make_cart\n\n@pytest.fixture\ndef filled():\n    return make_cart([1])\n";
    let test = "def test_total(filled):\n    assert filled == 3\n";
    first_symbol(
        &[
            ("src/shop/cart.py", "from shop.lines import build_lines\n\ndef make_cart(n):\n    return build_lines(n)\n"),
            ("src/shop/lines.py", "def build_lines(n):\n    found = []\n    return found\n"),
            ("tests/conftest.py", conftest),
            ("tests/test_total.py", test),
        ],
        "test_total",
        "tests/test_total.py:2: in test_total\n    assert filled == 3\nE   assert [] == 3",
        ("build_lines", "src/shop/lines.py", 1),
    );
}

#[test]
fn code_that_is_not_there_is_unknown() {
    let fixture = WorkspaceFixture::with_history();
    let answer = code_answer(&fixture, "test_total", "tests.test_cart", "tests/test_cart.py:6: AssertionError");
    assert_eq!((&answer["known"], &answer["symbols"]), (&json!(false), &json!([])));
}
