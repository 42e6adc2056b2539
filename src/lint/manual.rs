//! Manual pages: prose, then examples that are found and the same mended.
//!
//! A page is Markdown. Behind a line `Found:` stand the fences of the bad example, behind `Mended:` those of the good one; the
//! word after the language is the file (`pipelines/example.yaml`), and without one it is the file of that language in
//! [`AROUND`]. What an example does not show is taken from there.

/// The project that the examples stand in.
pub(super) const AROUND: &[(&str, &str)] = &[
    ("pipelines/example.yaml", include_str!("manual/example.yaml")),
    ("scripts/rules/example.rhai", include_str!("manual/example.rhai")),
    ("templates/example.md", include_str!("manual/example.md")),
    ("pipelines/team.yaml", include_str!("manual/team.yaml")),
    ("scripts/schedulers/example.rhai", include_str!("manual/scheduler.rhai")),
];

/// A file of an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExampleFile {
    pub(super) path: String,
    pub(super) text: String,
}

/// An example of a page: the files behind a heading (`Found`, `Mended`).
pub(super) fn example(page: &str, heading: &str) -> Vec<ExampleFile> {
    let Some(rest) = page.split(&format!("\n{heading}:\n")).nth(1) else { return Vec::new() };
    let mut files = Vec::new();
    let mut lines = rest.lines();
    while let Some(line) = lines.next() {
        if line.ends_with(':') && !line.starts_with(' ') && !line.contains(' ') {
            break; // the next heading
        }
        let Some(head) = line.strip_prefix("```") else { continue };
        let (language, name) = head.split_once(' ').unwrap_or((head, ""));
        let path = match (language, name) {
            ("yaml", "") => AROUND[0].0,
            ("rhai", "") => AROUND[1].0,
            (_, "") => AROUND[2].0,
            (_, name) => name,
        };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        files.push(ExampleFile { path: path.to_owned(), text: text.join("\n") + "\n" });
    }
    files
}
