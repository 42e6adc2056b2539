//! The bundled pipelines of stages, run for real: their results are complete, and work in a browser, Python and other programs.

use crate::harness::{Project, repository};
use std::io::{Read as _, Write as _};
use std::process::Command;

/// The files of a run by their names below its directory.
struct Made {
    project: Project,
    files: Vec<(String, Vec<u8>)>,
}

impl Made {
    /// Runs a pipeline of the gallery with values of memory and further arguments.
    fn of(project: Project, pipeline: &str, args: &[&str]) -> Self {
        let run = [&["run", pipeline], args].concat();
        project.asterisk(&run).exits(0);
        let marker = "/manifest.json";
        let tree = project.tree();
        let (path, _) = tree.iter().find(|(path, _)| path.ends_with(marker)).unwrap();
        let root = format!("{}/", path.strip_suffix(marker).unwrap());
        let below = |(path, bytes): &(String, Vec<u8>)| Some((path.strip_prefix(&root)?.to_owned(), bytes.clone()));
        let files = tree.iter().filter_map(below).collect();
        Self { project, files }
    }

    fn bytes(&self, name: &str) -> &[u8] {
        let names: Vec<&str> = self.files.iter().map(|(name, _)| name.as_str()).collect();
        &self.files.iter().find(|(found, _)| found == name).unwrap_or_else(|| panic!("no {name} in {names:?}")).1
    }

    fn text(&self, name: &str) -> &str {
        std::str::from_utf8(self.bytes(name)).unwrap()
    }

    /// The names and the bytes of the files in a ZIP.
    fn unzipped(&self, name: &str) -> Vec<(String, Vec<u8>)> {
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(self.bytes(name))).unwrap();
        let count = archive.len();
        let read = |at| {
            let mut file = archive.by_index(at).unwrap();
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            (file.name().unwrap().into_owned(), bytes)
        };
        (0..count).map(read).collect()
    }
}

const BRAND: &str = r##"product_idea="Coffee shop" brand="BlueBean" primary_color="#0ea5e9" tone="minimal" font_family="Inter""##;

/// Prints the skipped parts, past the test runner's capture.
fn skipped(what: &str) {
    std::io::stderr().write_all(format!("SKIPPED: {what}\n").as_bytes()).unwrap();
}

fn has(program: &str) -> bool {
    Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap().status.success()
}

#[test]
fn the_production_demo_packs_everything() {
    let made = Made::of(Project::new(), "idea-to-zip-production", &["--mem", BRAND]);
    let packed = made.unzipped("Package ZIP/package.zip");
    for name in [
        "product_definition.md",
        "index.html",
        "styles.css",
        "lint_report.md",
        "a11y_report.md",
        "README.md",
        "SUMMARY.md",
        "MANIFEST.txt",
    ] {
        assert!(packed.iter().any(|(found, bytes)| found == name && !bytes.is_empty()), "{name}: {packed:?}");
    }
    let (_, page) = packed.iter().find(|(name, _)| name == "index.html").unwrap();
    assert_eq!(page, made.bytes("Code Skeleton/index.html"));
    for name in ["product_definition.md", "index.html", "styles.css", "lint_report.md", "a11y_report.md"] {
        assert!(made.text("Documentation/README.md").contains(name), "{name}");
    }
    assert!(made.text("Static Lint/lint_report.md").contains("Total: 0 errors and 0 warnings in 1 page."));
    assert!(made.text("Accessibility Audit/a11y_report.md").contains("Total: 0 errors and 0 warnings in 1 page."));
}

#[test]
fn the_production_demo_is_a_page_of_the_brand() {
    let made = Made::of(Project::new(), "idea-to-zip-production", &["--mem", BRAND]);
    let (page, sheet) = (made.text("Code Skeleton/index.html"), made.text("Code Skeleton/styles.css"));
    assert!(page.starts_with("<!doctype html>") && page.contains("BlueBean") && page.contains("Coffee shop"));
    assert!(sheet.contains("--brand: #0ea5e9;") && sheet.contains("\"Inter\""));
    // The same memory makes the same files.
    let again = Made::of(Project::new(), "idea-to-zip-production", &["--mem", BRAND]);
    assert_eq!(again.bytes("Package ZIP/package.zip"), made.bytes("Package ZIP/package.zip"));
}

#[test]
fn a_browser_takes_a_screenshot_of_the_page() {
    if !["chromium", "chromium-browser", "google-chrome"].iter().any(|name| has(name)) {
        return skipped("no Chromium is installed; no picture of a page was taken");
    }
    let script = repository().join("examples/gallery/screenshot.sh");
    let project = Project::new();
    let path = std::env::var("PATH").unwrap();
    let command = format!("[env, \"PATH={path}\", sh, \"{}\"]", script.display());
    project.file("asterisk.yaml", format!("agents:\n  screenshot: {{ kind: exec, command: {command}, timeout: 120s }}\n"));
    let made = Made::of(project, "idea-to-zip-production", &["--mem", BRAND]);
    let picture = made.bytes("Screenshot/screenshot.png");
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 20_000, "{} bytes", picture.len());
    let number = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap());
    assert_eq!((number(16), number(20)), (1280, 1600));
    assert!(made.unzipped("Package ZIP/package.zip").iter().any(|(name, bytes)| name == "screenshot.png" && bytes == picture));
}

#[test]
fn the_marketing_page_has_another_layout() {
    let made = Made::of(Project::new(), "idea-to-zip-marketing", &[]);
    assert!(made.text("Code Skeleton/index.html").contains("class=\"hero deep\""));
    let plain = Made::of(Project::new(), "idea-to-zip", &[]);
    assert!(!plain.text("Code Skeleton/index.html").contains("class=\"hero deep\""));
}

#[test]
fn the_service_passes_its_own_tests() {
    let memory = r#"service_name="Shelf" resource="story" fields="title:string!, year:integer, price:number, read:boolean""#;
    let made = Made::of(Project::new(), "api-service", &["--mem", memory]);
    assert!(made.text("API Design/openapi.json").contains("\"/stories/{id}\""));
    if !has("python3") {
        return skipped("no Python is installed; the service was not tested");
    }
    let dir = made.project.root().join("service");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("service.py"), made.bytes("Service/service.py")).unwrap();
    std::fs::write(dir.join("test_service.py"), made.bytes("Tests/test_service.py")).unwrap();
    let tested = Command::new("python3").args(["-m", "unittest"]).current_dir(&dir).output().unwrap();
    let said = String::from_utf8_lossy(&tested.stderr);
    assert!(tested.status.success() && said.contains("Ran 5 tests"), "{said}");
}

#[test]
fn a_table_is_cleaned() {
    let project = Project::new();
    let rows = "Id,Name,Joined,Score\n\
                1, Ada  Lovelace ,03.01.2025,\"1,250.5\"\n\
                2,Alan,2025-02-30,3\n\
                3,Grace,2025-02-03,3\n\
                3,Again,2025-02-04,4\n\
                4,Kay,2025/03/01,5\n\
                5,Mo,2025-03-02,6\n";
    project.file("table.csv", rows);
    let made = Made::of(project, "etl-pipeline", &["--mem", "csv=@table.csv"]);
    let clean =
        "id,name,joined,score\n1,Ada Lovelace,2025-01-03,1250.5\n3,Grace,2025-02-03,3\n4,Kay,2025-03-01,5\n5,Mo,2025-03-02,6\n";
    assert_eq!(made.text("Transform/clean.csv"), clean);
    let rejected = made.text("Validate/rejected.csv");
    assert!(
        rejected.contains("3,joined is not a valid date: 2025-02-30") && rejected.contains("5,the same as line 4"),
        "{rejected}"
    );
    assert_eq!(made.text("Extract/source.csv").trim_end(), rows.trim_end());
}

#[test]
fn markdown_becomes_a_site() {
    let project = Project::new();
    project
        .file("site.md", "=== index.md\n# Home\n\nSee [our teas](teas.md#green).\n\n=== teas.md\n# Teas\n\n## Green\n\nFresh.\n");
    let made = Made::of(
        project,
        "static-site",
        &["--mem", "pages=@site.md", "--mem", "site_name=Tea", "--mem", "address=https://tea.example"],
    );
    assert!(made.text("Site/index.html").contains("href=\"teas.html#green\""));
    assert!(made.text("Site/teas.html").contains("id=\"green\""));
    assert!(made.text("Site/sitemap.xml").contains("<loc>https://tea.example/teas.html</loc>"));
    assert!(made.text("Link Check/link_report.md").contains(", 0 dead."));
}

#[test]
fn presets_hold_for_the_gallery() {
    for preset in ["mvp-fast", "production", "research"] {
        Made::of(Project::new(), "idea-to-zip", &["--preset", preset]);
    }
}
