//! Formatting prompt templates.
//!
//! The text around expressions and tags is output, and stays as it is. Inside of `{{ }}`, `{% %}` and `{# #}`, one space separates the content from
//! the delimiters.

use crate::format::FormatError;

/// Formats a template.
pub fn format_template(text: &str) -> Result<String, FormatError> {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    // Inside of a raw block, where only its end is a tag.
    let mut raw = false;
    while let Some(start) = text[at..].find('{').map(|found| at + found) {
        let close = match &text.as_bytes()[start..] {
            [b'{', b'{', ..] if !raw => "}}",
            [b'{', b'%', ..] => "%}",
            [b'{', b'#', ..] if !raw => "#}",
            _ => {
                out.push_str(&text[at..=start]);
                at = start + 1;
                continue;
            }
        };
        let Some(end) = end_of(&text[start + 2..], close).map(|end| start + 2 + end) else {
            if raw {
                out.push_str(&text[at..=start]);
                at = start + 1;
                continue;
            }
            let message = format!("`{}` is not closed", &text[start..start + 2]);
            return Err(FormatError::Syntax { start, end: start + 2, message });
        };
        let (opening, content, closing) = parts(&text[start + 2..end]);
        let tag = content.trim();
        if raw && !(close == "%}" && tag == "endraw") {
            out.push_str(&text[at..=start]);
            at = start + 1;
            continue;
        }
        raw = close == "%}" && tag == "raw";
        out.push_str(&text[at..start + 2]);
        out.push_str(opening);
        out.push_str(&inner(content));
        out.push_str(closing);
        out.push_str(close);
        at = end + 2;
    }
    out.push_str(&text[at..]);
    Ok(out)
}

/// Where the content of a tag ends, before its closing delimiter. Strings may contain it; comments do not contain strings.
fn end_of(text: &str, close: &str) -> Option<usize> {
    if close == "#}" {
        return text.find(close);
    }
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match (quote, char) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(open), _) if open == char => quote = None,
            (None, '"' | '\'') => quote = Some(char),
            // `}}` may also close a map before the delimiter: `{{ {"a": {}}}}`.
            (None, _) if text[at..].starts_with(close) && !(close == "}}" && is_in_map(&text[..at])) => return Some(at),
            _ => {}
        }
    }
    None
}

/// Whether more braces are open than closed, outside of strings.
fn is_in_map(text: &str) -> bool {
    let (mut quote, mut depth) = (None, 0_i32);
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(open), _) if open == char => quote = None,
            (None, '"' | '\'') => quote = Some(char),
            (None, '{') => depth += 1,
            (None, '}') => depth -= 1,
            _ => {}
        }
    }
    depth > 0
}

/// The signs of white space control at both ends, and what is between them.
fn parts(inner: &str) -> (&str, &str, &str) {
    let opening = usize::from(inner.starts_with(['-', '+']));
    let closing = usize::from(inner.len() > opening && inner.ends_with(['-', '+']));
    (&inner[..opening], &inner[opening..inner.len() - closing], &inner[inner.len() - closing..])
}

/// The content with one space at both ends; content of several lines keeps its own.
fn inner(content: &str) -> String {
    let trimmed = content.trim();
    let pad = |blank: &str| if blank.contains('\n') { blank.to_owned() } else { " ".to_owned() };
    if trimmed.is_empty() {
        return pad(content);
    }
    let start = &content[..content.len() - content.trim_start().len()];
    let end = &content[content.trim_end().len()..];
    format!("{}{trimmed}{}", pad(start), pad(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_tags_change() {
        for (before, after) in [
            ("a {{b}} c {{  d|e  }}", "a {{ b }} c {{ d|e }}"),
            ("{%if x%}\n  y\n{%- endif-%}", "{% if x %}\n  y\n{%- endif -%}"),
            ("{#a#} {##}", "{# a #} {# #}"),
            ("{{ \"}}\" }} {{'%}'}}", "{{ \"}}\" }} {{ '%}' }}"),
            ("{{ {\"a\": 1}.a }}", "{{ {\"a\": 1}.a }}"),
            ("{{\n  a\n}}", "{{\n  a\n}}"),
            ("{% raw %}{{a}}{%b%}{% endraw %}{{a}}", "{% raw %}{{a}}{%b%}{% endraw %}{{ a }}"),
            ("# {a} { {b} }  \n\n\n\ttext", "# {a} { {b} }  \n\n\n\ttext"),
        ] {
            assert_eq!(format_template(before).as_deref(), Ok(after), "{before}");
            assert_eq!(format_template(after).as_deref(), Ok(after), "{before}");
        }
        assert!(matches!(format_template("a {{ b"), Err(FormatError::Syntax { start: 2, end: 4, .. })));
    }

    proptest! {
        #[test]
        fn formatting_twice_changes_nothing(text in "[ab {}%#\"'\n+\\-]{0,30}") {
            if let Ok(once) = format_template(&text) {
                prop_assert_eq!(format_template(&once), Ok(once.clone()));
                let plain = |text: &str| text.replace(' ', "");
                prop_assert_eq!(plain(&once), plain(&text));
            }
        }
    }
}
