//! The tags of a template, each with its enclosing conditions and loops.

use asterisk_diag::{Source, Span};

/// The kind of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagKind {
    /// `{{ value }}`
    Value,
    /// `{% statement %}`
    Statement,
}

/// A tag.
#[derive(Clone, Debug)]
pub(super) struct TemplateTag {
    pub(super) sort: TagKind,
    /// The content, trimmed, without whitespace control dashes.
    pub(super) inner: String,
    /// The span of the content.
    pub(super) span: Span,
    /// The enclosing conditions; an `else` has those of its `if`.
    pub(super) conditions: Vec<String>,
    /// The enclosing loops: the variable, and the list it iterates over.
    pub(super) loops: Vec<(String, String)>,
}

/// An open block.
enum OpenTag {
    If(String),
    For(Vec<(String, String)>),
}

/// The tags in order, without comments.
pub(super) fn tags(source: &Source) -> Vec<TemplateTag> {
    let text = source.text();
    let (mut found, mut open) = (Vec::<TemplateTag>::new(), Vec::<OpenTag>::new());
    let mut at = 0;
    while let Some(start) = text[at..].find('{').map(|start| at + start) {
        let Some((sort, close)) = (match text.as_bytes().get(start + 1) {
            Some(b'{') => Some((Some(TagKind::Value), "}}")),
            Some(b'%') => Some((Some(TagKind::Statement), "%}")),
            Some(b'#') => Some((None, "#}")),
            _ => None,
        }) else {
            at = start + 1;
            continue;
        };
        let Some(end) = text[start + 2..].find(close).map(|end| start + 2 + end) else { break };
        at = end + 2;
        let Some(sort) = sort else { continue };
        let trim = |c: char| c.is_whitespace() || c == '-' || c == '+';
        let raw = &text[start + 2..end];
        let inner = raw.trim_matches(trim);
        let from = start + 2 + (raw.len() - raw.trim_start_matches(trim).len());
        let word = inner.split_whitespace().next().unwrap_or_default();
        if sort == TagKind::Statement && matches!(word, "endif" | "endfor") {
            open.pop();
        }
        let mut tag = TemplateTag {
            sort,
            inner: inner.to_owned(),
            span: Span::new(from, from + inner.len()),
            conditions: Vec::new(),
            loops: Vec::new(),
        };
        for one in &open {
            match one {
                OpenTag::If(condition) => tag.conditions.push(condition.clone()),
                OpenTag::For(variables) => tag.loops.extend(variables.iter().cloned()),
            }
        }
        if sort == TagKind::Statement {
            match word {
                "if" => open.push(OpenTag::If(inner.to_owned())),
                "elif" => {
                    if let Some(OpenTag::If(condition)) = open.last_mut() {
                        *condition = format!("{condition} {inner}");
                    }
                }
                "for" => open.push(OpenTag::For(variables(inner))),
                _ => {}
            }
        }
        found.push(tag);
    }
    found
}

/// `for a in x.y | items` returns `a` and `x.y`.
fn variables(inner: &str) -> Vec<(String, String)> {
    let Some((names, rest)) = inner["for".len()..].split_once(" in ") else { return Vec::new() };
    let of = paths(rest).into_iter().next().map(|(path, _)| path).unwrap_or_default();
    names.split(',').map(|name| (name.trim().to_owned(), format!("{of}[]"))).collect()
}

/// The paths (`failure.name`) in an expression, with their offsets; string literals, filters and keywords are excluded.
pub(super) fn paths(expression: &str) -> Vec<(String, usize)> {
    const WORDS: &[&str] =
        &["in", "is", "not", "and", "or", "if", "else", "elif", "for", "defined", "include", "true", "false", "none"];
    let mut found = Vec::new();
    let mut chars = expression.char_indices().peekable();
    let mut before = ' ';
    while let Some((start, ch)) = chars.next() {
        if ch == '"' || ch == '\'' {
            while chars.next().is_some_and(|(_, other)| other != ch) {}
        } else if ch.is_alphabetic() || ch == '_' {
            let mut end = start + ch.len_utf8();
            while let Some((at, next)) = chars.next_if(|(_, next)| next.is_alphanumeric() || *next == '_' || *next == '.') {
                end = at + next.len_utf8();
            }
            let word = expression[start..end].trim_end_matches('.');
            if before != '|' && !WORDS.contains(&word) {
                found.push((word.to_owned(), start));
            }
        }
        if !ch.is_whitespace() {
            before = ch;
        }
    }
    found
}

/// The filters of an expression.
pub(super) fn filters(expression: &str) -> Vec<&str> {
    expression
        .split('|')
        .skip(1)
        .map(|rest| rest.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
        .collect()
}

impl TemplateTag {
    /// Replaces loop variables in a path by the lists they iterate over.
    pub(super) fn resolve(&self, path: &str) -> String {
        let mut path = path.to_owned();
        for (name, of) in self.loops.iter().rev() {
            let (root, rest) = path.split_once('.').map_or((path.as_str(), ""), |(root, rest)| (root, rest));
            if root == name {
                path = if rest.is_empty() { of.clone() } else { format!("{of}.{rest}") };
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_their_enclosing_blocks() {
        let text = "{# {{ no }} #}{% for r in a.b | items %}{% if r.x is defined %}{{ r.x.y | code }}{% else %}{{- z -}}{% endif %}{% endfor %}{{ last }}";
        let found = tags(&Source::new("t.md", text));
        let values: Vec<&TemplateTag> = found.iter().filter(|tag| tag.sort == TagKind::Value).collect();
        let shown = |tag: &TemplateTag| format!("{} <{}>", tag.inner, tag.conditions.join(";"));
        assert_eq!(
            values.iter().map(|tag| shown(tag)).collect::<Vec<_>>(),
            ["r.x.y | code <if r.x is defined>", "z <if r.x is defined>", "last <>"]
        );
        assert_eq!(values[0].resolve("r.x.y"), "a.b[].x.y");
        assert_eq!(&text[values[1].span.start..values[1].span.end], "z");
        assert_eq!(paths("a.b | default(\"c.d\") if e else f.g"), [("a.b".into(), 0), ("e".into(), 24), ("f.g".into(), 31)]);
        assert_eq!(filters("a | default(1) | code"), ["default", "code"]);
    }
}
