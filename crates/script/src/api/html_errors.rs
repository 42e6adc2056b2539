//! Syntax errors of an HTML page, with line numbers.

use html5ever::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use rhai::{Dynamic, Map};
use std::cell::RefCell;

/// The maximum number of errors reported.
const MAX_ERRORS: usize = 100;

/// Elements without an end tag.
const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr", "param"];

/// Elements whose end tag may be left out.
const OPTIONAL_END: &[&str] = &[
    "html", "head", "body", "li", "dt", "dd", "p", "rt", "rp", "optgroup", "option", "colgroup", "caption", "thead", "tbody",
    "tfoot", "tr", "td", "th",
];

/// Elements in which any element may close itself.
const FOREIGN: &[&str] = &["svg", "math"];

/// Returns the syntax errors of a page in order, as `#{ line, message }`.
pub(super) fn errors(html: &str) -> Vec<Map> {
    let tokenizer = Tokenizer::new(SyntaxChecker::default(), TokenizerOpts { exact_errors: true, ..TokenizerOpts::default() });
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    // The tokenizer pauses after every script, where a browser would run it.
    while let TokenizerResult::Script(()) = tokenizer.feed(&input) {}
    tokenizer.end();
    let mut page = tokenizer.sink.page.into_inner();
    for (line, name) in std::mem::take(&mut page.open) {
        if !OPTIONAL_END.contains(&name.as_str()) {
            page.report(line, format!("<{name}> is never closed"));
        }
    }
    page.errors.sort_by_key(|(line, _)| *line);
    page.errors.truncate(MAX_ERRORS);
    let error = |(line, message): (u64, String)| {
        let line = Dynamic::from(i64::try_from(line).unwrap_or(i64::MAX));
        [("line".into(), line), ("message".into(), message.into())].into_iter().collect()
    };
    page.errors.into_iter().map(error).collect()
}

#[derive(Default)]
struct SyntaxPage {
    errors: Vec<(u64, String)>,
    /// The open elements, outermost first, each with its line.
    open: Vec<(u64, String)>,
    doctype: bool,
    begun: bool,
}

impl SyntaxPage {
    fn report(&mut self, line: u64, message: impl Into<String>) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push((line, message.into()));
        }
    }

    fn is_foreign(&self) -> bool {
        self.open.iter().any(|(_, name)| FOREIGN.contains(&name.as_str()))
    }

    /// Reports a page that does not begin with its doctype.
    fn begin(&mut self, line: u64) {
        if !self.begun && !self.doctype {
            self.report(line, "no <!doctype html> at the beginning");
        }
        self.begun = true;
    }

    fn start(&mut self, tag: &Tag, line: u64) -> TokenSinkResult<()> {
        let name = tag.name.as_ref();
        let foreign = self.is_foreign() || FOREIGN.contains(&name);
        if tag.self_closing && !foreign && !VOID.contains(&name) {
            self.report(line, format!("<{name}/> does not close itself; write <{name}></{name}>"));
        }
        if VOID.contains(&name) || (foreign && tag.self_closing) {
            return TokenSinkResult::Continue;
        }
        self.open.push((line, name.to_owned()));
        match name {
            _ if foreign => TokenSinkResult::Continue,
            "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => TokenSinkResult::RawData(RawKind::Rawtext),
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            _ => TokenSinkResult::Continue,
        }
    }

    fn end(&mut self, tag: &Tag, line: u64) -> TokenSinkResult<()> {
        let name = tag.name.as_ref();
        if VOID.contains(&name) {
            self.report(line, format!("</{name}>: <{name}> takes no end tag"));
            return TokenSinkResult::Continue;
        }
        let Some(at) = self.open.iter().rposition(|(_, open)| open == name) else {
            self.report(line, format!("</{name}> closes nothing"));
            return TokenSinkResult::Continue;
        };
        for (opened, inner) in self.open.split_off(at).into_iter().skip(1) {
            if !OPTIONAL_END.contains(&inner.as_str()) {
                self.report(opened, format!("<{inner}> is not closed before </{name}> in line {line}"));
            }
        }
        if name == "script" && !self.is_foreign() { TokenSinkResult::Script(()) } else { TokenSinkResult::Continue }
    }
}

#[derive(Default)]
struct SyntaxChecker {
    page: RefCell<SyntaxPage>,
}

impl TokenSink for SyntaxChecker {
    type Handle = ();

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<()> {
        let mut page = self.page.borrow_mut();
        match token {
            Token::DoctypeToken(doctype) => {
                page.doctype = true;
                if page.begun {
                    page.report(line, "the doctype is not at the beginning");
                } else if doctype.force_quirks || doctype.name.as_deref() != Some("html") || doctype.public_id.is_some() {
                    page.report(line, "the doctype is not <!doctype html>");
                }
            }
            Token::TagToken(tag) => {
                page.begin(line);
                return match tag.kind {
                    TagKind::StartTag => page.start(&tag, line),
                    TagKind::EndTag => page.end(&tag, line),
                };
            }
            Token::CharacterTokens(text) if !text.trim().is_empty() => page.begin(line),
            Token::ParseError(message) => page.report(line, message),
            Token::EOFToken => page.begin(line),
            Token::CharacterTokens(_) | Token::CommentToken(_) | Token::NullCharacterToken => {}
        }
        TokenSinkResult::Continue
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.page.borrow().is_foreign()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(html: &str) -> Vec<String> {
        errors(html).iter().map(|error| format!("{}: {}", error["line"], error["message"])).collect()
    }

    #[test]
    fn a_valid_page_is_accepted() {
        let page = "<!doctype html>\n<html lang=en><head><title>a < b</title><style>a > b {}</style>\n\
                    <script>if (a < b && c) {}</script></head>\n<body><ul><li>x<li>y</ul><p>one<p>two<br>\n\
                    <svg><path d='M0 0'/><title>t</title></svg><img src=a alt=''></body></html>";
        assert_eq!(found(page), Vec::<String>::new());
    }

    #[test]
    fn elements_close_in_order() {
        assert_eq!(
            found("<!doctype html><b><i>\nx</b></i>\n<section>\n</br><div/></section>"),
            [
                "1: <i> is not closed before </b> in line 2",
                "2: </i> closes nothing",
                "4: </br>: <br> takes no end tag",
                "4: <div/> does not close itself; write <div></div>",
                "4: <div> is not closed before </section> in line 4",
            ]
        );
    }

    #[test]
    fn a_page_begins_with_its_doctype() {
        assert_eq!(found("<p>x"), ["1: no <!doctype html> at the beginning"]);
        assert_eq!(found("")[0], "1: no <!doctype html> at the beginning");
        assert_eq!(found("<!doctype svg><p>x"), ["1: the doctype is not <!doctype html>"]);
        assert!(found("x<!doctype html>").contains(&"1: the doctype is not at the beginning".to_owned()));
    }

    #[test]
    fn malformed_tags_are_reported_with_their_line() {
        let reported = found("<!doctype html>\n<p a=1 a=2>x</p>\n<p b='");
        assert!(
            reported.iter().any(|line| line.starts_with("2: ")) && reported.iter().any(|line| line.starts_with("3: ")),
            "{reported:?}"
        );
    }

    #[test]
    fn the_number_of_errors_is_bounded() {
        assert_eq!(found(&"</b>".repeat(1000)).len(), MAX_ERRORS);
    }
}
