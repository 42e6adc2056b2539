//! Manual pages: prose, a bad example that the rule reports, and its corrected version.
//!
//! A page is the Markdown file `manual/CATEGORY/RULE.md`. The fenced blocks of the bad example follow a line `Bad:`, those of the
//! good one a line `Good:`. The word after a fence's language is the file (`pipelines/example.yaml`); by default it is the file of
//! that language in [`AROUND`]. Files that an example does not show are taken from there.
//!
//! A line `# ... PART, PART` is replaced by parts of the pipeline in [`AROUND`], each of which begins with `# part: PART`. A
//! character reference (`&#x202e;`) is replaced by a character that would be invisible in the file.

/// The project around the examples.
pub(super) const AROUND: &[(&str, &str)] = &[
    ("pipelines/example.yaml", include_str!("manual/example.yaml")),
    ("scripts/rules/example.rhai", include_str!("manual/example.rhai")),
    ("templates/example.md", include_str!("manual/example.md")),
    ("pipelines/team.yaml", include_str!("manual/team.yaml")),
    ("scripts/schedulers/example.rhai", include_str!("manual/scheduler.rhai")),
];

/// The page as shown, with its references expanded.
pub(super) fn expanded(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    for line in page.lines() {
        match line.strip_prefix("# ... ") {
            Some(names) => names.split(", ").flat_map(part).for_each(|line| push_line(&mut text, line)),
            None => push_line(&mut text, line),
        }
    }
    text
}

/// The lines of a part of the example pipeline.
fn part(name: &str) -> impl Iterator<Item = &'static str> {
    let begins = format!("# part: {name}");
    AROUND[0].1.lines().skip_while(move |line| *line != begins).skip(1).take_while(|line| !line.starts_with("# part: "))
}

fn push_line(text: &mut String, line: &str) {
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("&#x") {
        text.push_str(before);
        let read = after.split_once(';').and_then(|(digits, after)| {
            let ch = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            Some((ch, after))
        });
        match read {
            Some((ch, after)) => {
                text.push(ch);
                rest = after;
            }
            None => {
                text.push_str("&#x");
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text.push('\n');
}

/// A file of an example.
#[cfg(test)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExampleFile {
    pub(super) path: String,
    pub(super) text: String,
}

/// The files after a heading (`Bad`, `Good`) of an expanded page.
#[cfg(test)]
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
