//! Validates a template before it is parsed: templates show values and do not compute.
//!
//! The parser, the code generator and values recurse, and nothing limits the memory of values. So tags are short, nesting is
//! limited, and no value can be larger than those it is made of.

use super::filters;
use asterisk_diag::{Diagnostic, Diagnostics, Source, Span, did_you_mean};

/// The maximum bytes of a template.
const MAX_BYTES: usize = 256 * 1024;
/// The maximum words and symbols of a tag.
const MAX_WORDS: usize = 200;
/// The maximum nesting of tags; each `elif` is nested in the `if` before it.
const MAX_DEPTH: usize = 32;

/// All tags.
const TAGS: [&str; 9] = ["for", "else", "endfor", "if", "elif", "endif", "include", "break", "continue"];
/// Words that are not values.
const KEYWORDS: [&str; 8] = ["in", "and", "or", "not", "if", "else", "is", "include"];

/// Reports what a template must not contain. A valid template is parsed and rendered within limits.
pub(super) fn check(source: &Source, found: &mut Diagnostics) {
    let text = source.text();
    if text.len() > MAX_BYTES {
        let message = format!("this template has {} bytes, more than {MAX_BYTES}", text.len());
        found.push(limit(source, Span::default(), message).help("split it, and `include` the parts"));
        return;
    }
    let mut depths: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('{').map(|found| at + found) {
        at = match text.as_bytes().get(start + 1) {
            Some(b'#') => text[start + 2..].find("#}").map_or(text.len(), |end| start + 2 + end + 2),
            Some(b'{') => ScannedTag::read(source, start, "}}").check(found),
            Some(b'%') => {
                let tag = ScannedTag::read(source, start, "%}");
                tag.check_keyword(&mut depths, found);
                tag.check(found)
            }
            _ => start + 1,
        };
    }
}

fn limit(source: &Source, span: Span, message: impl Into<std::borrow::Cow<'static, str>>) -> Diagnostic {
    Diagnostic::error("template/limit", message.into()).label(source, span, "here")
}

/// The last unclosed `for` or `if` of a text, and which of the two it is.
pub(super) fn unclosed(text: &str) -> Option<(Span, &'static str)> {
    let mut open: Vec<(Span, &'static str)> = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("{%").map(|found| at + found) {
        let end = text[start..].find("%}").map_or(text.len(), |end| start + end + 2);
        let inner = text[start + 2..].trim_start_matches(['-', '+']).trim_start();
        let word = inner.split(|ch: char| !ch.is_ascii_alphanumeric()).next().unwrap_or_default();
        match word {
            "for" => open.push((Span::new(start, end), "for")),
            "if" => open.push((Span::new(start, end), "if")),
            "endfor" | "endif" => drop(open.pop()),
            _ => {}
        }
        at = end;
    }
    open.pop()
}

/// `{{ .. }}` or `{% .. %}`.
struct ScannedTag<'a> {
    source: &'a Source,
    /// Its words, strings and symbols; of a tag that is too long, only the first ones.
    words: Vec<Span>,
    start: usize,
    end: usize,
}

/// The purpose of an open bracket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenBracket {
    /// Arguments of a call.
    Call,
    /// An index.
    Index,
    /// A list literal.
    List,
    /// An expression in parentheses.
    Group,
}

impl<'a> ScannedTag<'a> {
    fn read(source: &'a Source, start: usize, close: &str) -> Self {
        let text = source.text();
        let mut words = Vec::new();
        let mut at = start + 2;
        while let Some(ch) = text[at..].chars().next() {
            if words.len() > MAX_WORDS {
                break;
            }
            let length = match ch {
                _ if ch.is_whitespace() => {
                    at += ch.len_utf8();
                    continue;
                }
                _ if text[at..].starts_with(close) => {
                    return Self { source, words, start, end: at + close.len() };
                }
                '"' | '\'' => string_length(&text[at..], ch),
                _ if is_word(ch) => text[at..].find(|ch| !is_word(ch)).unwrap_or(text.len() - at),
                _ => ch.len_utf8(),
            };
            words.push(Span::new(at, at + length));
            at += length;
        }
        Self { source, words, start, end: text.len() }
    }

    fn word(&self, at: usize) -> &'a str {
        self.words.get(at).map_or("", |span| self.source.slice(*span))
    }

    /// Checks the keyword and nesting of the tag. `depths` are the nesting depths within each open tag.
    fn check_keyword(&self, depths: &mut Vec<usize>, found: &mut Diagnostics) {
        let first = usize::from(matches!(self.word(0), "-" | "+"));
        let (keyword, span) = (self.word(first), self.words.get(first).copied().unwrap_or(Span::new(self.start, self.start + 2)));
        let known = TAGS.contains(&keyword);
        if !known && !keyword.is_empty() {
            let message = format!("`{keyword}` is not available in templates");
            let help = "templates only support `for`, `if` and `include`; compute values in a script";
            found.push(Diagnostic::error("template/tag", message).label(self.source, span, "here").help(help));
        }
        match keyword {
            "for" | "if" => depths.push(1),
            "elif" => {
                if let Some(depth) = depths.last_mut() {
                    *depth += 1;
                }
            }
            "endfor" | "endif" => drop(depths.pop()),
            _ => {}
        }
        if depths.iter().sum::<usize>() == MAX_DEPTH + 1 && matches!(keyword, "for" | "if" | "elif") {
            let message = format!("tags are nested more than {MAX_DEPTH} deep here");
            found.push(limit(self.source, span, message).help("`include` a part, or prepare the values in a script"));
        }
        if keyword == "for" && (first + 1..self.words.len()).any(|at| self.word(at) == "recursive" && self.word(at - 1) != ".") {
            found.push(limit(self.source, span, "recursive loops are not supported"));
        }
    }

    /// Checks its words; returns where the text continues.
    fn check(&self, found: &mut Diagnostics) -> usize {
        if self.words.len() > MAX_WORDS {
            let message = format!("this tag has more than {MAX_WORDS} tokens");
            found.push(limit(self.source, Span::new(self.start, self.start + 2), message).help("split it"));
            return self.source.text().len(); // the end of the tag is unknown
        }
        if let Some(next) = self.next_tag() {
            let (tag, close) = (&self.source.text()[self.start..self.start + 2], if self.is_value() { "}}" } else { "%}" });
            let error = Diagnostic::error("template/syntax", format!("this `{tag}` is never closed"));
            let error = error.label(self.source, Span::new(self.start, self.start + 2), "opened here");
            found.push(error.help(format!("close it with `{close}`")));
            return next;
        }
        let mut open: Vec<OpenBracket> = Vec::new();
        let head = self.words.iter().position(|span| self.source.slice(*span) == "in").unwrap_or(0);
        for at in 0..self.words.len() {
            if let Err(message) = self.check_word(at, head, &mut open) {
                let help = "templates cannot build values: write them one after another, or compute them in a script";
                found.push(limit(self.source, self.words[at], message).help(help));
                return self.end;
            }
            if at > 0 && self.word(at - 1) == "|" && !filters::NAMES.contains(&self.word(at)) {
                let name = self.word(at);
                found.push(
                    Diagnostic::error("template/filter", format!("unknown filter `{name}`"))
                        .label(self.source, self.words[at], "here")
                        .maybe_help(did_you_mean(name, filters::NAMES.iter().copied())),
                );
            }
        }
        self.end
    }

    fn is_value(&self) -> bool {
        self.source.text()[self.start..].starts_with("{{")
    }

    /// The start of another tag inside this one, which is then unclosed.
    fn next_tag(&self) -> Option<usize> {
        let begins = |span: &&Span| {
            let rest = &self.source.text()[span.start..];
            self.source.slice(**span) == "{" && (rest.starts_with("{{") || rest.starts_with("{%"))
        };
        self.words.iter().find(begins).map(|span| span.start)
    }

    /// Checks a word; `head` is the end of a loop's variables.
    fn check_word(&self, at: usize, head: usize, open: &mut Vec<OpenBracket>) -> Result<(), String> {
        let (word, before) = (self.word(at), at.checked_sub(1).map_or("", |before| self.word(before)));
        let after_value = (before.ends_with(is_word) && !KEYWORDS.contains(&before)) || before.ends_with(['"', '\'', ')', ']']);
        let constant = |word: &str| word.starts_with(|ch: char| ch.is_ascii_digit() || "\"'-.,]".contains(ch));
        if open.last() == Some(&OpenBracket::List) && !constant(word) {
            return Err("a list can only contain numbers and strings here".into());
        }
        match word {
            "(" => open.push(if after_value { OpenBracket::Call } else { OpenBracket::Group }),
            "[" => open.push(if after_value { OpenBracket::Index } else { OpenBracket::List }),
            ")" | "]" => drop(open.pop()),
            "{" if self.word(at + 1) == "}" => {}
            "{" => return Err("templates cannot create maps".into()),
            "," => match open.last() {
                Some(OpenBracket::Call | OpenBracket::List) => {}
                None if at < head && matches!(self.word(usize::from(matches!(self.word(0), "-" | "+"))), "for") => {}
                _ => return Err("templates cannot create lists of values".into()),
            },
            "+" if at == 0 || at + 1 == self.words.len() => {} // keeps white space
            "+" | "~" | "*" => return Err(format!("the operator `{word}` is not available in templates")),
            _ => {}
        }
        Ok(())
    }
}

fn is_word(ch: char) -> bool {
    ch.is_alphanumeric() || ch == '_'
}

fn string_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, ch) in text.char_indices().skip(1) {
        match ch {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if ch == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<String> {
        let mut found = Diagnostics::new();
        check(&Source::new("t.md", text), &mut found);
        found.iter().map(|problem| format!("{} {}", problem.code, problem.message)).collect()
    }

    #[test]
    fn templates_that_show_values_are_accepted() {
        for text in [
            "a { b } {{ x.y | default(\"}}\", true) }} {# {{ a + b }} #}{%- if a in [\"x\", -1] and (b or not c) -%}{% elif d %}{% else %}{% endif %}",
            "{% for k, v in a.b | items %}{{ k[0][:160] }}{{ loop.index - 1 }}{% if not loop.last %}, {% endif %}{% endfor %}",
            "{% for x in y | default([]) %}{% break %}{% endfor %}{%+ include \"a.md\" +%}{{ x | default({}) }}",
            "{{ 'it\\'s' }} {{ x / 2 % 3 }} {{ f(a, b) if c else d }}",
        ] {
            assert_eq!(errors(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn templates_that_make_values_are_rejected() {
        for text in [
            "{{ x ~ x }}",
            "{{ x + x }}",
            "{{ x * 9 }}",
            "{{ 2 ** 9 }}",
            "{% for x in [x, x] %}{% endfor %}",
            "{% for x in (x, x) %}{% endfor %}",
            "{% for x in x, x %}{% endfor %}",
            "{{ {\"a\": x} }}",
            "{% for x in x recursive %}{% endfor %}",
        ] {
            assert!(errors(text).iter().all(|line| line.starts_with("template/limit ")) && errors(text).len() == 1, "{text}");
        }
        for tag in [
            "set x = 1",
            "- set x",
            "macro m()",
            "raw",
            "with x = 1",
            "call m()",
            "filter upper",
            "block b",
            "extends 'a'",
            "import 'a'",
        ] {
            assert!(errors(&format!("{{%{tag}%}}")).iter().any(|line| line.starts_with("template/tag ")), "{tag}");
        }
        for filter in ["format(1)", "batch(9)", "slice(9)", "pprint", "chain(x)", "zip(x)"] {
            assert!(
                errors(&format!("{{{{ x | {filter} }}}}")).iter().all(|line| line.starts_with("template/filter ")),
                "{filter}"
            );
        }
    }

    #[test]
    fn templates_that_are_too_long_or_too_deep_are_rejected() {
        for text in [
            "x".repeat(MAX_BYTES + 1),
            format!("{{{{ 1 {} }}}}", "- 1 ".repeat(100_000 / 2)),
            format!("{{{{ a{} }}}}", ".a".repeat(100_000)),
            format!("{{{{ a{} }}}}", "|e".repeat(100_000)),
            format!("{{{{ {}a }}}}", "not ".repeat(50_000)),
            format!("{{{{ {}a", "(".repeat(50_000)),
            "{% if a %}".repeat(10_000),
            format!("{{% if a %}}{}{{% endif %}}", "{% elif a %}".repeat(10_000)),
            "{% for a in a %}".repeat(10_000),
        ] {
            let lines = errors(&text);
            assert!(lines.len() == 1 && lines[0].starts_with("template/limit "), "{}: {lines:?}", &text[..20]);
        }
    }
}
