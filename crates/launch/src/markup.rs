//! Removes markup from texts meant for a web page: formatting tags, entities, ReportPortal's Markdown marker.
//!
//! Only formatting tags are removed. `<button>`, `Vec<u8>` or `<anonymous>` in an error are its subject.

use std::borrow::Cow;

/// ReportPortal's prefix of a log in Markdown.
const MARKDOWN: &str = "!!!MARKDOWN_MODE!!!";

/// The maximum length of a tag, in bytes.
const MAX_TAG: usize = 2048;

/// Block tags.
const BLOCKS: [&str; 23] = [
    "blockquote",
    "body",
    "br",
    "details",
    "div",
    "dl",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "hr",
    "html",
    "ol",
    "p",
    "pre",
    "summary",
    "table",
    "tbody",
    "thead",
    "ul",
];

/// Inline tags.
const INLINES: [&str; 21] = [
    "a", "abbr", "b", "big", "center", "code", "em", "font", "i", "img", "kbd", "mark", "q", "s", "samp", "small", "span",
    "strong", "sub", "sup", "u",
];

/// Named entities that occur in practice; others are left as they are.
const ENTITIES: [(&str, &str); 20] = [
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("ndash", "–"),
    ("mdash", "—"),
    ("hellip", "…"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("bull", "•"),
    ("times", "×"),
    ("deg", "°"),
    ("rarr", "→"),
    ("larr", "←"),
];

/// Removes formatting markup.
pub(super) fn strip(text: &str) -> Cow<'_, str> {
    let (text, markdown) = match text.trim_start().strip_prefix(MARKDOWN) {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let text = if markdown { Cow::Owned(unfence(text)) } else { Cow::Borrowed(text) };
    if text.contains(['<', '&']) { Cow::Owned(Stripper::new(&text).run()) } else { text }
}

/// Removes the fences of code blocks.
fn unfence(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("```")).collect::<Vec<_>>().join("\n")
}

/// The character of an entity; `body` is the part between `&` and `;`.
pub(super) fn entity(body: &str) -> Option<Cow<'static, str>> {
    if let Some(number) = body.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        };
        return code.ok().and_then(char::from_u32).filter(|&ch| ch != '\0').map(|ch| Cow::Owned(ch.to_string()));
    }
    ENTITIES.iter().find(|(name, _)| *name == body).map(|(_, text)| Cow::Borrowed(*text))
}

/// A formatting tag.
struct MarkupTag<'t> {
    name: String,
    closing: bool,
    attributes: &'t str,
    length: usize,
}

struct Stripper<'t> {
    text: &'t str,
    out: String,
    /// For each one-letter tag seen, whether the text has its closing tag.
    closed: [Option<bool>; 26],
    /// The target of the open link, and the offset of its text in `out`.
    link: Option<(&'t str, usize)>,
    /// Terminators not found in the rest of the text.
    unterminated: Vec<&'static str>,
}

impl<'t> Stripper<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, out: String::with_capacity(text.len()), closed: [None; 26], link: None, unterminated: Vec::new() }
    }

    fn run(mut self) -> String {
        let mut rest = self.text;
        while let Some(at) = rest.find(['<', '&']) {
            self.out.push_str(&rest[..at]);
            rest = &rest[at..];
            let length = if rest.starts_with('&') { self.reference(rest) } else { self.tag(rest) };
            rest = &rest[length..];
        }
        self.out.push_str(rest);
        self.out
    }

    /// Reads an entity at `&`; returns the number of bytes read.
    fn reference(&mut self, rest: &str) -> usize {
        let body = rest[1..].bytes().take(10).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
        let known = rest[1 + body..].starts_with(';').then(|| entity(&rest[1..=body])).flatten();
        match known {
            Some(text) => {
                self.out.push_str(&text);
                body + 2
            }
            None => self.keep('&'),
        }
    }

    /// Reads a tag at `<`; returns the number of bytes read.
    fn tag(&mut self, rest: &'t str) -> usize {
        if let Some(length) = self.hidden(rest, "<!--", "-->") {
            return length;
        }
        let Some(tag) = parse(rest) else { return self.keep('<') };
        if tag.name == "script" || tag.name == "style" {
            let end = if tag.name == "script" { "</script>" } else { "</style>" };
            return self.hidden(rest, "<", end).unwrap_or(tag.length);
        }
        if tag.name.len() == 1 && tag.name != "p" && !self.has_closing(&tag.name) {
            return self.keep('<');
        }
        self.show(&tag);
        tag.length
    }

    fn show(&mut self, tag: &MarkupTag<'t>) {
        match tag.name.as_str() {
            "a" if tag.closing => {
                if let Some((target, from)) = self.link.take()
                    && !self.out[from..].contains(target)
                {
                    self.out.push_str(" (");
                    self.out.push_str(target);
                    self.out.push(')');
                }
            }
            "a" => {
                self.link = attribute(tag.attributes, "href").filter(|to| to.starts_with("http")).map(|to| (to, self.out.len()));
            }
            "img" => self.out.push_str(attribute(tag.attributes, "alt").unwrap_or_default()),
            "td" | "th" => self.out.push_str(if tag.closing { "" } else { "\t" }),
            "li" | "dt" | "dd" if !tag.closing => {
                self.break_line();
                self.out.push_str("- ");
            }
            "tr" | "li" | "dt" | "dd" => self.break_line(),
            "br" => self.out.push('\n'),
            name if BLOCKS.contains(&name) => self.break_line(),
            _ => {}
        }
    }

    fn break_line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn keep(&mut self, ch: char) -> usize {
        self.out.push(ch);
        ch.len_utf8()
    }

    /// The length of an invisible range from `start` to `end`.
    fn hidden(&mut self, rest: &str, start: &str, end: &'static str) -> Option<usize> {
        if !rest.starts_with(start) || self.unterminated.contains(&end) {
            return None;
        }
        let found = rest.find(end).map(|at| at + end.len());
        if found.is_none() {
            self.unterminated.push(end);
        }
        found
    }

    /// Whether the text closes the one-letter tag somewhere: `<b>` alone may be a type parameter.
    fn has_closing(&mut self, name: &str) -> bool {
        let letter = usize::from(name.as_bytes()[0].wrapping_sub(b'a'));
        let text = self.text;
        self.closed.get_mut(letter).is_some_and(|known| *known.get_or_insert_with(|| text.contains(&format!("</{name}>"))))
    }
}

/// The formatting tag at the start of `rest`, if there is one.
fn parse(rest: &str) -> Option<MarkupTag<'_>> {
    let inner = rest.strip_prefix('<')?;
    let (inner, closing) = inner.strip_prefix('/').map_or((inner, false), |inner| (inner, true));
    let name_end = inner.bytes().take(12).take_while(u8::is_ascii_alphanumeric).count();
    let raw_name = &inner[..name_end];
    let name = raw_name.to_ascii_lowercase();
    let known = BLOCKS.contains(&name.as_str())
        || INLINES.contains(&name.as_str())
        || ["dd", "dt", "li", "script", "style", "td", "th", "tr"].contains(&name.as_str());
    // A single capital letter is more likely a type parameter than a tag.
    if !known || (name.len() == 1 && raw_name != name) {
        return None;
    }
    let after = &inner[name_end..];
    let end =
        after.bytes().take(MAX_TAG).position(|byte| matches!(byte, b'<' | b'>')).filter(|at| after[*at..].starts_with('>'))?;
    let attributes = after[..end].strip_suffix('/').unwrap_or(&after[..end]);
    let plain = attributes.trim().is_empty();
    // `<code, T>` and `<span: 3>` are not tags; attributes follow white space and have values.
    if !plain && (closing || !attributes.starts_with(char::is_whitespace) || !attributes.contains('=')) {
        return None;
    }
    let length = rest.len() - after.len() + end + 1;
    Some(MarkupTag { name, closing, attributes, length })
}

/// The value of a quoted attribute.
fn attribute<'t>(attributes: &'t str, name: &str) -> Option<&'t str> {
    let (_, after) = attributes.split_once(&format!("{name}="))?;
    let quote = after.chars().next().filter(|ch| matches!(ch, '"' | '\''))?;
    after[1..].split_once(quote).map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markup_is_stripped_and_lookalikes_are_kept() {
        let table = [
            ("plain", "plain"),
            ("<b>bold</b> and <span style=\"color: red\">red</span>", "bold and red"),
            ("one<br>two<br/>three", "one\ntwo\nthree"),
            ("<p>first</p><p>second</p>", "first\nsecond\n"),
            ("<ul><li>one</li><li>two</li></ul>", "- one\n- two\n"),
            ("<table><tr><td>a</td><td>b</td></tr></table>", "\ta\tb\n"),
            ("see <a href=\"https://x.test/1\">LARD-1</a>.", "see LARD-1 (https://x.test/1)."),
            ("<a href='https://x.test/1'>https://x.test/1</a>", "https://x.test/1"),
            ("a <!-- hidden --> b", "a  b"),
            ("a <script>alert('<b>')</script>b", "a b"),
            ("<img src='x.png' alt='the page'>", "the page"),
            ("1 &lt; 2 &amp;&amp; 3 &gt; 2 &quot;x&quot; &#39;y&#x27;", "1 < 2 && 3 > 2 \"x\" 'y'"),
            ("&amp;lt; stays escaped once", "&lt; stays escaped once"),
            ("&lt;b&gt; is text", "<b> is text"),
            ("a & b; &unknown; &#xFFFFFFF; &#0;", "a & b; &unknown; &#xFFFFFFF; &#0;"),
            ("Vec<u8>, Option<T>, HashMap<A, B>, Foo<b>", "Vec<u8>, Option<T>, HashMap<A, B>, Foo<b>"),
            ("<module> <nil> <anonymous> <button id=\"x\">", "<module> <nil> <anonymous> <button id=\"x\">"),
            ("if a <b && c> d", "if a <b && c> d"),
            ("x <code", "x <code"),
            ("!!!MARKDOWN_MODE!!!\n```rust\nlet x = 1;\n```\nend", "\nlet x = 1;\nend"),
            ("<DIV>Upper</DIV>", "Upper\n"),
        ];
        for (text, wanted) in table {
            assert_eq!(strip(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn unterminated_markup_takes_linear_time() {
        for piece in ["<!--", "<script>", "<b>", "<a href=", "&#", "<", "<p "] {
            let text = piece.repeat(100_000);
            assert!(strip(&text).len() <= text.len());
        }
    }

    proptest! {
        #[test]
        fn stripping_never_panics(text in "(<|>|/|&|;|#|x|a|b|br|span|href=|\"|'|é| |!--|--|\n){0,60}") {
            let stripped = strip(&text);
            prop_assert!(stripped.len() <= text.len() * 2 + 8);
        }
    }
}
