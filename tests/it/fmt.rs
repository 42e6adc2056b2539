//! `asterisk fmt`: files are formatted in place, nothing else changes, and scripts mean the same to Rhai afterwards.

use crate::harness::{Project, repository};
use asterisk_diag::Source;
use asterisk_script::Unit;
use asterisk_syntax::rhai::format_rhai;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

const WRONG: &str = "fn  f( x ){ x+1 }\n";
const RIGHT: &str = "fn f(x) { x + 1 }\n";

fn project() -> Project {
    Project::with(&[
        ("scripts/lib/a.rhai", WRONG),
        ("scripts/lib/b.rhai", RIGHT),
        ("scripts/lib/c.rhai", "fn f( {\n"),
        ("scripts/data/d.yaml", "a:   {b: 1}\n"),
        ("templates/t.md", "{{a}}  {{ b }}\n"),
    ])
}

#[test]
fn files_are_formatted_in_place() {
    let project = project();
    let ran = project.asterisk(&["fmt"]).exits(1);
    assert!(ran.stderr.contains("3 files changed, 1 unchanged, 1 with errors"), "{}", ran.text());
    assert!(ran.stderr.contains("fmt/syntax") && ran.stderr.contains("c.rhai"), "{}", ran.text());
    for (path, text) in [
        ("scripts/lib/a.rhai", RIGHT),
        ("scripts/lib/b.rhai", RIGHT),
        ("scripts/lib/c.rhai", "fn f( {\n"),
        ("scripts/data/d.yaml", "a: { b: 1 }\n"),
        ("templates/t.md", "{{ a }}  {{ b }}\n"),
    ] {
        assert_eq!(project.read(path), text, "{path}");
    }
    project.file("scripts/lib/c.rhai", RIGHT);
    assert!(project.asterisk(&["fmt"]).exits(0).stderr.contains("0 files changed, 5 unchanged"));
}

#[test]
fn a_check_writes_nothing() {
    let project = project();
    let before = project.tree();
    project.file("scripts/lib/c.rhai", RIGHT);
    let ran = project.asterisk(&["fmt", "--check", "scripts/lib/a.rhai", "scripts/lib/b.rhai"]).exits(1);
    assert_eq!(ran.stdout, "scripts/lib/a.rhai\n");
    let ran = project.asterisk(&["fmt", "--diff", "scripts/lib"]).exits(0);
    let wanted = "--- a/scripts/lib/a.rhai\n+++ b/scripts/lib/a.rhai\n@@ -1 +1 @@\n-fn  f( x ){ x+1 }\n+fn f(x) { x + 1 }\n";
    assert_eq!(ran.stdout, wanted);
    project.asterisk(&["fmt", "--check", "scripts/lib/b.rhai"]).exits(0);
    project.file("scripts/lib/c.rhai", "fn f( {\n");
    assert_eq!(project.tree(), before);
}

#[test]
fn json_lists_every_file() {
    let project = project();
    let ran = project.asterisk(&["fmt", "--check", "--format", "json", "scripts/lib"]).exits(1);
    let wanted = json!({
        "schema_version": 1, "changed": 1, "unchanged": 1, "failed": 1,
        "files": [
            { "file": "scripts/lib/a.rhai", "changed": true },
            { "file": "scripts/lib/b.rhai", "changed": false },
            { "file": "scripts/lib/c.rhai", "changed": false, "error": ran.json()["files"][2]["error"] },
        ],
    });
    assert_eq!(ran.json(), wanted);
    assert_eq!(ran.json()["files"][2]["error"]["code"], "fmt/syntax");
}

#[test]
fn standard_input_is_formatted_to_standard_output() {
    let project = Project::new();
    assert_eq!(project.asterisk_reading(&["fmt", "-"], WRONG).ok().stdout, RIGHT);
    let args = ["fmt", "-", "--stdin-name", "p.yaml"];
    assert_eq!(project.asterisk_reading(&args, "a:  [ 1 ]\n").ok().stdout, "a: [1]\n");
    let ran = project.asterisk_reading(&["fmt", "-"], "fn f( {").exits(1);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("stdin.rhai"), "{}", ran.text());
    let ran = project.asterisk_reading(&["fmt", "-", "--stdin-name", "a.txt"], WRONG).exits(2);
    assert!(ran.stderr.contains("fmt/request"), "{}", ran.text());
}

#[test]
fn a_range_of_lines_is_formatted() {
    let project = Project::with(&[("scripts/lib/a.rhai", "let a=1;\nlet b=2;\nlet c=3;\n"), ("scripts/lib/b.rhai", RIGHT)]);
    project.asterisk(&["fmt", "--range", "2:2", "scripts/lib/a.rhai"]).exits(0);
    assert_eq!(project.read("scripts/lib/a.rhai"), "let a=1;\nlet b = 2;\nlet c=3;\n");
    project.asterisk(&["fmt", "--range", "2:2", "scripts/lib"]).exits(2);
    project.asterisk(&["fmt", "--range", "2", "scripts/lib/a.rhai"]).exits(2);
}

#[cfg(unix)]
#[test]
fn a_file_keeps_its_permissions_and_links() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::with(&[("scripts/lib/a.rhai", WRONG)]);
    let path = project.root().join("scripts/lib/a.rhai");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    project.asterisk(&["fmt"]).exits(0);
    assert_eq!(project.read("scripts/lib/a.rhai"), RIGHT);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

fn scripts(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scripts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rhai") {
            found.push(path);
        }
    }
}

/// What Rhai reads, without places and the names of closures, which depend on them.
fn meaning(path: &Path, text: &str) -> String {
    let unit = Unit::read(&Source::new("a.rhai", text)).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
    let places = regex::Regex::new(r"\b\d+:\d+\b|anon\$[0-9a-f]+").unwrap();
    places.replace_all(&format!("{:?}", unit.tree()), "").into_owned()
}

#[test]
fn a_formatted_script_means_the_same_to_rhai() {
    let mut found = Vec::new();
    for area in ["scripts", "tests/fixtures", "examples"] {
        scripts(&repository().join(area), &mut found);
    }
    assert!(found.len() > 200, "{}", found.len());
    for path in found {
        let text = fs::read_to_string(&path).unwrap();
        let formatted = format_rhai(&text).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
        assert_eq!(meaning(&path, &text), meaning(&path, &formatted), "{}", path.display());
    }
}
