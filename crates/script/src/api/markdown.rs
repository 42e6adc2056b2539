//! Markdown to HTML.

use super::HostFn;
use super::args::{HostFnResult, MAX_TEXT, fail};
use crate::guard::{charge, check_memory};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, html};
use std::collections::BTreeMap;

const GROUP: &str = "markdown";

/// The host functions of this group.
pub(super) const TABLE: &[HostFn] = &[HostFn {
    name: "markdown_to_html",
    signature: "markdown_to_html(text: string) -> string",
    group: GROUP,
    doc: "The HTML of a Markdown text (CommonMark with tables, strikethrough, task lists and footnotes). Headings get an `id` made of \
          their words, and a number where one is there already. HTML in the text is escaped, and links go to `http`, `https`, \
          `mailto` or a place on the site, so a text from outside cannot script the page.",
    example: r##"markdown_to_html("# A title\n\n*one* & <b>two</b>")"##,
    result: r#""<h1 id=\"a-title\">A title</h1>\n<p><em>one</em> &amp; &lt;b&gt;two&lt;/b&gt;</p>\n""#,
    bind: |engine, name| {
        engine.register_fn(name, |text: &str| to_html(text));
    },
}];

fn to_html(text: &str) -> HostFnResult<String> {
    charge(text.len().saturating_mul(8))?;
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_FOOTNOTES;
    let mut events: Vec<Event<'_>> = Parser::new_ext(text, options).map(sanitize).collect();
    name_headings(&mut events);
    check_memory()?;
    let mut out = String::with_capacity(text.len() * 3 / 2);
    html::push_html(&mut out, events.into_iter());
    if out.len() > MAX_TEXT {
        return fail(format!("the page would be longer than {MAX_TEXT} bytes; cut the text into pages"));
    }
    Ok(out)
}

/// Turns raw HTML into text and disables links that could run a script.
fn sanitize(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: safe_url(dest_url), title, id })
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Image { link_type, dest_url: safe_url(dest_url), title, id })
        }
        event => event,
    }
}

fn safe_url(url: CowStr<'_>) -> CowStr<'_> {
    let scheme = url.split([':', '/', '?', '#']).next().filter(|scheme| url[scheme.len()..].starts_with(':'));
    let known = |scheme: &str| ["http", "https", "mailto"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    if scheme.is_none_or(known) { url } else { "#".into() }
}

/// Gives every heading an `id`, unique on the page.
fn name_headings(events: &mut [Event<'_>]) {
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    let mut at = 0;
    while at < events.len() {
        let begin = at;
        at += 1;
        if !matches!(&events[begin], Event::Start(Tag::Heading { .. })) {
            continue;
        }
        let mut words = String::new();
        while at < events.len() && !matches!(&events[at], Event::End(pulldown_cmark::TagEnd::Heading(_))) {
            if let Event::Text(text) | Event::Code(text) = &events[at] {
                words.push_str(text);
            }
            at += 1;
        }
        let slug = slug(&words);
        let count = used.entry(slug.clone()).or_default();
        *count += 1;
        let unique = if *count == 1 { slug } else { format!("{slug}-{count}") };
        let level = match &events[begin] {
            Event::Start(Tag::Heading { level, .. }) => *level,
            _ => HeadingLevel::H1,
        };
        events[begin] = Event::Start(Tag::Heading { level, id: Some(unique.into()), classes: Vec::new(), attrs: Vec::new() });
    }
}

/// The words of a heading in lower case, joined by `-`.
fn slug(text: &str) -> String {
    let words: Vec<String> =
        text.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    if words.is_empty() { "section".to_owned() } else { words.join("-") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn headings_have_unique_ids() {
        let html = to_html("## Café au *lait*\n\n## Café au lait\n\n## !").unwrap();
        for id in ["id=\"café-au-lait\"", "id=\"café-au-lait-2\"", "id=\"section\""] {
            assert!(html.contains(id), "{html}");
        }
    }

    #[test]
    fn html_and_script_links_are_disabled() {
        let html =
            to_html("<script>x</script>\n\n[a](javascript:x) [b](JavaScript:x) ![c](data:x) [d](a/b:c) [e](HTTPS://x)").unwrap();
        assert!(!html.contains("<script") && !html.to_lowercase().contains("javascript:") && !html.contains("data:"), "{html}");
        assert!(html.contains("href=\"a/b:c\"") && html.contains("href=\"HTTPS://x\""), "{html}");
    }

    #[test]
    fn tables_and_lists_are_rendered() {
        let html = to_html("| a |\n|---|\n| 1 |\n\n- [x] done\n\n~~gone~~").unwrap();
        assert!(html.contains("<table>") && html.contains("type=\"checkbox\"") && html.contains("<del>gone</del>"), "{html}");
    }

    #[test]
    fn the_output_is_bounded() {
        assert!(to_html(&"&\n\n".repeat(100_000)).is_err());
    }
}
