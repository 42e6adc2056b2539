//! The commented project file that `asterisk init` writes.

use asterisk_files::Area;

const TEXT: &str = include_str!("template.yaml");

/// The project file with the directories of these areas set; everything else is in comments.
pub fn template(areas: &[Area]) -> String {
    let set =
        |line: &str| areas.iter().any(|area| line.strip_prefix('#').is_some_and(|key| key == format!("{0}: {0}", area.name())));
    TEXT.lines().map(|line| if set(line) { &line[1..] } else { line }).fold(String::new(), |out, line| out + line + "\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::config::keys::PROJECT;
    use crate::config::project_file::read;
    use asterisk_diag::Source;

    #[test]
    fn every_key_is_there_and_all_of_them_work() {
        // Prose has a space after its `#`, a key has none; what follows a key that has a map keeps its indentation.
        let key = |line: &str| {
            line.strip_prefix('#').filter(|rest| !rest.starts_with(' ') || rest.starts_with("  ")).map(str::to_owned)
        };
        let whole: String = TEXT.lines().map(|line| key(line).unwrap_or_else(|| line.to_owned()) + "\n").collect();
        let source = Source::new("asterisk.yaml", whole.clone());
        read(&source).unwrap_or_else(|error| panic!("{error}\n{whole}"));
        for key in PROJECT.names() {
            assert!(whole.lines().any(|line| line.starts_with(&format!("{key}:"))), "{key} is missing");
        }
        let some = template(&[Area::Scripts, Area::Templates]);
        assert!(some.contains("\nscripts: scripts\n") && some.contains("\n#pipelines: pipelines\n"), "{some}");
        assert_eq!(read(&Source::new("x", some)).unwrap().templates.unwrap().value, "templates");
    }
}
