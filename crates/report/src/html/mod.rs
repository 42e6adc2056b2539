//! The report as a single page: `report.html`, self-contained, readable without a network and without scripts.
//!
//! The page is a template (`page.html`, with `head.html` and `parts.html`): [`view`] selects and limits the content, [`charts`] computes layouts, and the
//! template renders them. Unlike prompt templates it escapes all values for HTML, so it has an environment of its own.
//! Foreign text never occurs in a style, a script or an address.

mod charts;
mod over_time;
mod view;

use super::RunReport;
use super::text::clean;
use asterisk_diag::Diagnostic;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, Error, Output, State, UndefinedBehavior, escape_formatter};
use serde::Serialize;

/// Files of the template, by name.
const FILES: &[(&str, &str)] = &[
    ("head.html", include_str!("head.html")),
    ("page.html", include_str!("page.html")),
    ("parts.html", include_str!("parts.html")),
    ("page.css", include_str!("page.css")),
    ("page.js", include_str!("page.js")),
];

/// Renders `report.html`.
pub fn html(report: &RunReport) -> Result<String, Box<Diagnostic>> {
    render("page.html", &[], &view::HtmlPage::of(report))
}

/// Renders a page of another tool in the same style: a template that may include `head.html` and `page.css`, and import `parts.html`.
pub fn page(template: &'static str, values: &impl Serialize) -> Result<String, Box<Diagnostic>> {
    render("other.html", &[("other.html", template)], values)
}

fn render(name: &str, more: &[(&'static str, &'static str)], values: &impl Serialize) -> Result<String, Box<Diagnostic>> {
    let mut environment = environment().map_err(|error| failed(&error))?;
    for (name, text) in more {
        environment.add_template(name, text).map_err(|error| failed(&error))?;
    }
    let template = environment.get_template(name).map_err(|error| failed(&error))?;
    template.render(Value::from(minijinja::value::Serde(values))).map_err(|error| failed(&error))
}

fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    // Style and script are static and contain no data.
    environment.set_auto_escape_callback(|name| if name.ends_with(".html") { AutoEscape::Html } else { AutoEscape::None });
    environment.set_formatter(formatter);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()?);
    environment.add_filter("fixed", |value: f64, digits: usize| format!("{value:.digits$}"));
    for (name, text) in FILES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

/// Writes a value: cleaned, then escaped. Slashes are not escaped, which would make paths several times as long.
fn formatter(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    match value.as_str() {
        Some(text) if !value.is_safe() => {
            let text = clean(text);
            let parts = text.split_inclusive(['&', '<', '>', '"', '\'']);
            let written = parts.into_iter().try_for_each(|part| {
                let escaped = match part.as_bytes().last() {
                    Some(b'&') => "&amp;",
                    Some(b'<') => "&lt;",
                    Some(b'>') => "&gt;",
                    Some(b'"') => "&quot;",
                    Some(b'\'') => "&#39;",
                    _ => return out.write_str(part),
                };
                out.write_str(&part[..part.len() - 1])?;
                out.write_str(escaped)
            });
            Ok(written?)
        }
        _ => escape_formatter(out, state, value),
    }
}

#[allow(clippy::unnecessary_box_returns)] // as everywhere that a diagnostic is an error
fn failed(error: &Error) -> Box<Diagnostic> {
    let place = error.name().map_or(String::new(), |name| format!(" ({name}:{})", error.line().unwrap_or(0)));
    Box::new(Diagnostic::error("report/page", format!("the page of the report cannot be written{place}: {error}")))
}
