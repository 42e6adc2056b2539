//! HTML: CSS selectors, and syntax errors.

use super::HostFn;
use super::args::{HostFnResult, MAX_ITEMS, MAX_TEXT, bounded, charged, fail};
use super::html_errors::errors;
use crate::guard::{charge, check_clock, check_memory};
use rhai::{Array, Dynamic, Map};
use scraper::{ElementRef, Html, Selector};

const GROUP: &str = "html";

/// The maximum nesting depth. A selector may visit all ancestors of an element.
const MAX_DEPTH: usize = 512;

/// The host functions of this group.
pub(super) const TABLE: &[HostFn] = &[
    HostFn {
        name: "html_select",
        signature: "html_select(html: string, selector: string) -> list of map",
        group: GROUP,
        doc: "The elements of a page that a CSS selector matches, in document order, each with its name, text (white space collapsed), \
              attributes and outer HTML. The page is parsed as browsers do, so any text is a page. `:not()`, `:is()` and `:has()` \
              work: `img:not([alt])` finds the images without an alternative text.",
        example: r#"html_select("<p><a href='/a'>To  <b>A</b></a></p>", "p > a[href]")"#,
        result: r#"[#{ name: "a", text: "To A", attributes: #{ href: "/a" }, html: "<a href=\"/a\">To  <b>A</b></a>" }]"#,
        bind: |engine, name| {
            engine.register_fn(name, |html: &str, selector: &str| select(html, selector));
        },
    },
    HostFn {
        name: "html_errors",
        signature: "html_errors(html: string) -> list of map",
        group: GROUP,
        doc: "What is wrong with the syntax of a page, each with its line: no doctype, malformed tags and entities, attributes given \
              twice, elements that are never closed or closed in the wrong order. Tags that HTML lets one leave out may be left out.",
        example: r#"html_errors("<!doctype html>\n<p>a\n<div>b")"#,
        result: r#"[#{ line: 3, message: "<div> is never closed" }]"#,
        bind: |engine, name| {
            engine.register_fn(name, |html: &str| {
                charge(html.len().saturating_mul(4))?;
                Ok::<_, Box<rhai::EvalAltResult>>(errors(html).into_iter().map(Dynamic::from_map).collect::<Array>())
            });
        },
    },
    HostFn {
        name: "html_escape",
        signature: "html_escape(text: string) -> string",
        group: GROUP,
        doc: "The text with `&`, `<`, `>` and quotes escaped, for use in the text or a quoted attribute of a page.",
        example: r#"html_escape("Tom & \"Jerry\" <3")"#,
        result: r#""Tom &amp; &quot;Jerry&quot; &lt;3""#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str| escape(charged(text)?));
        },
    },
];

fn select(html: &str, selector: &str) -> HostFnResult<Array> {
    let selector = match Selector::parse(selector) {
        Ok(parsed) => parsed,
        Err(error) => return fail(format!("`{selector}` is not a CSS selector: {error}; write for example `nav a[href], img`")),
    };
    // Parsing and walking a tree costs several times as much as reading the text.
    charge(html.len().saturating_mul(4))?;
    let page = Html::parse_document(html);
    check_memory()?;
    let mut depth = 0;
    let (mut found, mut size) = (Array::new(), 0);
    for edge in page.tree.root().traverse() {
        let node = match edge {
            ego_tree::iter::Edge::Open(node) => node,
            ego_tree::iter::Edge::Close(_) => {
                depth -= 1;
                continue;
            }
        };
        depth += 1;
        if depth > MAX_DEPTH {
            return fail(format!("the page has elements nested more than {MAX_DEPTH} deep; flatten it"));
        }
        let Some(element) = ElementRef::wrap(node) else { continue };
        check_clock()?;
        if !selector.matches(&element) {
            continue;
        }
        let (name, html) = (element.value().name(), element.html());
        size += html.len();
        if size > MAX_TEXT || found.len() == MAX_ITEMS {
            return fail(format!(
                "the selector matches more than {MAX_ITEMS} elements or {MAX_TEXT} bytes; write one that matches fewer"
            ));
        }
        charge(html.len())?;
        let attributes: Map = element.value().attrs().map(|(name, value)| (name.into(), value.into())).collect();
        let text = element.text().collect::<String>();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let fields: [(&str, Dynamic); 4] =
            [("name", name.into()), ("text", text.into()), ("attributes", Dynamic::from_map(attributes)), ("html", html.into())];
        found.push(Dynamic::from_map(fields.into_iter().map(|(key, value)| (key.into(), value)).collect()));
    }
    Ok(found)
}

/// Escapes the characters that are special in HTML.
pub(super) fn escape(text: &str) -> HostFnResult<String> {
    let mut out = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            ch => out.push(ch),
        }
    }
    bounded(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::tests::eval;
    use super::*;

    fn messages(html: &str, selector: &str) -> String {
        match select(html, selector) {
            Ok(found) => format!("{} found", found.len()),
            Err(error) => super::super::tests::fault(&error).message,
        }
    }

    #[test]
    fn elements_without_alternative_text_are_found() {
        let page = "<img src=a alt=''><img src=b><svg></svg>";
        assert_eq!(messages(page, "img:not([alt])"), "1 found");
        assert_eq!(messages(page, "body:has(svg)"), "1 found");
        assert_eq!(messages("", "html"), "1 found");
    }

    #[test]
    fn an_invalid_selector_is_rejected_with_an_example() {
        let message = messages("<p>", "p >");
        assert!(
            message.starts_with("`p >` is not a CSS selector: ") && message.ends_with("write for example `nav a[href], img`")
        );
    }

    #[test]
    fn depth_and_size_are_bounded() {
        assert!(messages(&"<div>".repeat(600), "b").contains("nested more than 512 deep"));
        assert!(messages(&"<i>x</i>".repeat(MAX_ITEMS + 1), "i").contains("matches more than 10000 elements"));
        let nested = format!("{}{}", "<div>".repeat(500), "x".repeat(4000));
        assert!(messages(&nested, "div").contains("write one that matches fewer"));
    }

    #[test]
    fn quotes_in_attributes_are_escaped() {
        assert_eq!(escape("'\"").unwrap(), "&#39;&quot;");
        assert!(eval("html_escape(1)").is_err());
    }
}
