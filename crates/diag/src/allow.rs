//! `// TOOL: allow(id) reason`: comments that suppress a finding of a tool.

use super::{Source, Span};

/// How comments are written in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comments {
    /// `// ..` and `/* .. */`.
    Slashes,
    /// `# ..`.
    Hash,
    /// `{# .. #}`.
    Template,
}

/// An id in an allow.
#[derive(Clone, Debug)]
pub struct Allow {
    /// The text that contains it.
    pub source: Source,
    /// The whole comment.
    pub comment: Span,
    /// The id in it.
    pub id: Span,
    /// Whether it is the only id of its comment.
    pub alone: bool,
    /// What is written behind the ids; empty if nothing is.
    pub reason: String,
    /// What it is about, as bytes: the line it ends or, if nothing else is on its own, the next one that is not a comment.
    pub lines: Span,
}

impl Allow {
    /// All allows of a text. A mark is what they begin with behind the sign of a comment, the opening parenthesis included;
    /// one inside of a text literal (`quoted` says of a byte whether it is) is none, and neither is one that a comment mentions.
    pub fn find(source: &Source, mark: &str, comments: Comments, quoted: impl Fn(usize) -> bool) -> Vec<Self> {
        let marks = source.text().match_indices(mark).map(|(at, _)| at).filter(|at| !quoted(*at));
        marks.flat_map(|at| read(source, comments, at, at + mark.len())).collect()
    }

    /// The id.
    pub fn id(&self) -> &str {
        self.source.slice(self.id)
    }

    /// Whether it allows what has this id and begins at a byte of its text. One without a reason allows nothing.
    pub fn covers(&self, id: &str, at: usize) -> bool {
        self.lines.start <= at && at <= self.lines.end && !self.reason.is_empty() && self.id() == id
    }
}

impl Comments {
    /// The sign of a comment that a text ends with.
    fn opened(self, before: &str) -> Option<&'static str> {
        let signs: &[&str] = match self {
            Self::Template => &["{#"],
            Self::Slashes => &["//", "/*"],
            Self::Hash => &["#"],
        };
        signs.iter().find(|sign| before.trim_end().trim_end_matches('-').ends_with(**sign)).copied()
    }

    /// Whether a line is nothing but a comment.
    fn fill(self, line: &str) -> bool {
        match self {
            Self::Template => line.starts_with("{#") && line.ends_with("#}"),
            Self::Slashes => line.starts_with("//"),
            Self::Hash => line.starts_with('#'),
        }
    }
}

/// The allows of the comment whose mark is there, and whose ids begin `inside`.
fn read(source: &Source, comments: Comments, at: usize, inside: usize) -> Vec<Allow> {
    let all = source.text();
    let line_start = all[..at].rfind('\n').map_or(0, |start| start + 1);
    let line_end = all[at..].find('\n').map_or(all.len(), |end| at + end);
    let Some(sign) = comments.opened(&all[line_start..at]) else { return Vec::new() };
    let start = all[line_start..at].rfind(sign).map_or(at, |start| line_start + start);
    // One that a comment mentions is not one.
    let before = &all[line_start..start];
    let in_comment = before.split('"').step_by(2).any(|part| part.contains(sign)) || before.ends_with('/');
    if in_comment && comments != Comments::Template {
        return Vec::new();
    }
    let Some(close) = all[inside..line_end].find(')').map(|close| inside + close) else { return Vec::new() };
    let rest = &all[close + 1..line_end];
    let (reason, end) = if comments == Comments::Template {
        let end = rest.find("#}").unwrap_or(rest.len());
        (rest[..end].trim().trim_end_matches('-').trim(), close + 1 + (end + 2).min(rest.len()))
    } else {
        (rest.trim().trim_end_matches("*/").trim(), line_end)
    };
    let own_line = all[line_start..start].trim().is_empty() && all[end..line_end].trim().is_empty();
    let lines = if own_line { next_line(all, line_end, comments) } else { Span::new(line_start, line_end) };
    let ids: Vec<&str> = all[inside..close].split(',').collect();
    let allow = |id: &&str| {
        let from = id.as_ptr() as usize - all.as_ptr() as usize + (id.len() - id.trim_start().len());
        Allow {
            source: source.clone(),
            comment: Span::new(start, end),
            id: Span::new(from, from + id.trim().len()),
            alone: ids.len() == 1,
            reason: reason.to_owned(),
            lines,
        }
    };
    ids.iter().map(allow).collect()
}

/// The next line that says something.
fn next_line(all: &str, from: usize, comments: Comments) -> Span {
    let mut start = (from + 1).min(all.len());
    while start < all.len() {
        let end = all[start..].find('\n').map_or(all.len(), |end| start + end);
        let line = all[start..end].trim();
        if !line.is_empty() && !comments.fill(line) {
            return Span::new(start, end);
        }
        start = end + 1;
    }
    Span::new(all.len(), all.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The allows of a text, each as its id, its reason, and what it is about.
    fn of(text: &str, comments: Comments) -> Vec<String> {
        let source = Source::new("a", text);
        let shown = |allow: &Allow| format!("{} | {} | {}", allow.id(), allow.reason, source.slice(allow.lines));
        Allow::find(&source, "tool: allow(", comments, |at| text[..at].ends_with("\"// ")).iter().map(shown).collect()
    }

    #[test]
    fn an_allow_is_about_its_line_or_the_next_that_says_something() {
        assert_eq!(of("a // tool: allow(x) why\nb", Comments::Slashes), ["x | why | a // tool: allow(x) why"]);
        assert_eq!(of("// tool: allow(x, y) why\n\n// more\n b\nc", Comments::Slashes), ["x | why |  b", "y | why |  b"]);
        assert_eq!(of("/* tool: allow(x) why */\n#{ a: 1 }", Comments::Slashes), ["x | why | #{ a: 1 }"]);
        assert_eq!(of("# tool: allow(x)\n# more\na: 1", Comments::Hash), ["x |  | a: 1"]);
        assert_eq!(of("{#- tool: allow(x) why -#}\n{# more #}\na", Comments::Template), ["x | why | a"]);
        assert_eq!(of("// tool: allow(x) why\n", Comments::Slashes), ["x | why | "]);
    }

    #[test]
    fn a_mention_of_one_is_not_one() {
        for text in [
            "/// tool: allow(x) why",
            "// `// tool: allow(x) why`",
            "tool: allow(x) why",
            "\"// tool: allow(x)\"",
            "// tool: allow(x",
        ] {
            assert_eq!(of(text, Comments::Slashes), [""; 0], "{text}");
        }
    }

    #[test]
    fn an_allow_covers_its_id_in_its_lines_if_it_has_a_reason() {
        let source = Source::new("a", "a // tool: allow(x) why\nb // tool: allow(x)\n");
        let found = Allow::find(&source, "tool: allow(", Comments::Slashes, |_| false);
        assert!(found[0].covers("x", 0) && !found[0].covers("y", 0) && !found[0].covers("x", 24));
        assert!(!found[1].covers("x", 24), "it says no reason");
    }
}
