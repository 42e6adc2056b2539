//! The names in templates: the templates that they include, and the parameters that they show.

use super::names::{FileNames, NameKind, ProjectName};
use asterisk_diag::{Source, Span};

/// The names of a template.
pub(super) fn of_template(source: &Source) -> FileNames {
    let mut names = FileNames { whole: true, ..FileNames::default() };
    let text = source.text();
    for tag in tags(text) {
        let inside = source.slice(tag);
        let mut words = inside.split_whitespace();
        if matches!(words.next(), Some("include" | "import" | "from" | "extends"))
            && let Some((start, end)) = quoted(inside)
        {
            let name = ProjectName::new(NameKind::Template, "", &inside[start..end]);
            names.mention(name, Span::new(tag.start + start, tag.start + end));
        }
        for (start, path) in paths(inside) {
            let (Some((root, rest)), at) = (path.split_once('.'), tag.start + start) else { continue };
            let end = at + path.len();
            let last = rest.rsplit('.').next().unwrap_or(rest);
            let name = match (root, rest) {
                ("vars", _) => ProjectName::new(NameKind::Var, super::names::ANYWHERE, rest),
                ("prior", _) if !rest.contains('.') => ProjectName::new(NameKind::Node, super::names::ANYWHERE, rest),
                _ => ProjectName::new(NameKind::Field, "", format!("params.{path}")),
            };
            names.mention(name, Span::new(end - last.len(), end));
        }
    }
    names
}

/// The insides of `{{ .. }}` and `{% .. %}`.
pub(super) fn tags(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(['{']).map(|start| at + start) {
        let close = match text.get(start..start + 2) {
            Some("{{") => "}}",
            Some("{%") => "%}",
            Some("{#") => {
                at = text[start..].find("#}").map_or(text.len(), |end| start + end + 2);
                continue;
            }
            _ => {
                at = start + 1;
                continue;
            }
        };
        let end = text[start + 2..].find(close).map_or(text.len(), |end| start + 2 + end);
        found.push(Span::new(start + 2, end));
        at = (end + 2).min(text.len());
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    found
}

/// The first text in quotes.
fn quoted(text: &str) -> Option<(usize, usize)> {
    let start = text.find(['"', '\''])?;
    let quote = text[start..].chars().next()?;
    let end = text[start + 1..].find(quote)?;
    Some((start + 1, start + 1 + end))
}

/// Names joined by dots, with where they begin. Those in quotes are left out.
fn paths(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut quote: Option<char> = None;
    let mut start: Option<usize> = None;
    for (at, char) in text.char_indices().chain([(text.len(), ' ')]) {
        let in_path = char.is_ascii_alphanumeric() || char == '_' || char == '.';
        match quote {
            Some(open) if char == open => quote = None,
            None if char == '"' || char == '\'' => quote = Some(char),
            None if in_path => {
                start.get_or_insert(at);
                continue;
            }
            _ => {}
        }
        if let Some(start) = start.take() {
            let path = text[start..at].trim_end_matches('.');
            if path.contains('.') && path.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                found.push((start, path));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_hold_paths_and_includes() {
        let source =
            Source::new("a.md", "{% include 'b.md' %}\n{{ failure.name | upper }} {# vars.x #} {{ vars.most }} {{ 1.5 }} {{ x");
        let found: Vec<String> =
            of_template(&source).mentions.iter().map(|one| format!("{:?} {}", one.name.kind, source.slice(one.span))).collect();
        assert_eq!(found, ["Template b.md", "Field name", "Var most"]);
    }
}
