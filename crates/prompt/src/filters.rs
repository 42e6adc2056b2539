//! The filters of templates: the stock ones with results about as large as their input, and bounded replacements for the others.

#![allow(clippy::needless_pass_by_value)] // required by minijinja for keyword arguments

use super::budget::{charge, text_of};
use minijinja::value::Kwargs;
use minijinja::{Environment, Error, ErrorKind, State, Value};

/// All filters.
#[rustfmt::skip]
pub(super) const NAMES: [&str; 41] = [
    "abs", "bool", "capitalize", "code", "count", "d", "default", "dictsort", "e", "escape", "fence", "first", "float", "groupby", "indent", "int",
    "items", "join", "last", "length", "lines", "list", "lower", "map", "max", "min", "reject", "rejectattr", "replace",
    "reverse", "round", "select", "selectattr", "sort", "split", "string", "title", "tojson", "trim", "unique", "upper",
];

/// The maximum widths of `indent` and `tojson`.
const MAX_WIDTH: usize = 64;
const MAX_JSON_WIDTH: usize = 4;
/// Removes unbounded filters, and registers the bounded ones.
pub(super) fn register(environment: &mut Environment<'static>) {
    for name in ["batch", "slice", "format", "pprint", "chain", "zip", "sum", "attr", "safe"] {
        environment.remove_filter(name);
    }
    for name in ["debug", "namespace", "dict"] {
        environment.remove_global(name);
    }
    environment.add_filter("replace", replace);
    environment.add_filter("join", join);
    environment.add_filter("indent", indent);
    environment.add_filter("tojson", tojson);
    environment.add_filter("map", map);
    environment.add_filter("fence", super::quote::fence);
    environment.add_filter("code", super::quote::code);
}

fn replace(state: &mut State<'_, '_>, value: &Value, from: &str, to: &str) -> Result<String, Error> {
    let text = text_of(state, value)?;
    let growth = to.len().saturating_sub(from.len());
    charge(state, text.matches(from).count().saturating_mul(growth))?;
    Ok(text.replace(from, to))
}

fn join(state: &mut State<'_, '_>, value: &Value, by: Option<&str>, kwargs: Kwargs) -> Result<String, Error> {
    let by = by.or(kwargs.get::<Option<&str>>("d")?).unwrap_or("").to_owned();
    let attribute = kwargs.get::<Option<&str>>("attribute")?;
    kwargs.assert_all_used()?;
    let mut joined = String::new();
    for (at, item) in value.try_iter()?.enumerate() {
        if at > 0 {
            charge(state, by.len())?;
            joined.push_str(&by);
        }
        let item = match attribute {
            Some(path) => walk(&item, path)?,
            None => item,
        };
        joined.push_str(&text_of(state, &item)?);
    }
    Ok(joined)
}

/// Indents all lines but the first; optionally also the first and blank ones.
fn indent(
    state: &mut State<'_, '_>,
    value: &Value,
    width: Option<usize>,
    first: Option<bool>,
    kwargs: Kwargs,
) -> Result<String, Error> {
    let width = width.or(kwargs.get("width")?).unwrap_or(4);
    let first = first.or(kwargs.get("first")?).unwrap_or(false);
    let blank = kwargs.get::<Option<bool>>("blank")?.unwrap_or(false);
    kwargs.assert_all_used()?;
    if width > MAX_WIDTH {
        return Err(too_wide(MAX_WIDTH));
    }
    let text = text_of(state, value)?;
    charge(state, text.matches('\n').count().saturating_add(1).saturating_mul(width))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let space = " ".repeat(width);
    let lines = text.split('\n').enumerate().map(|(at, line)| {
        let bare = (at == 0 && !first) || (line.trim_end_matches('\r').is_empty() && !blank);
        if bare { line.to_owned() } else { format!("{space}{line}") }
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

fn tojson(state: &mut State<'_, '_>, value: &Value, indent: Option<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let indent = indent.or(kwargs.get("indent")?);
    if indent.as_ref().and_then(Value::as_usize).is_some_and(|width| width > MAX_JSON_WIDTH) {
        return Err(too_wide(MAX_JSON_WIDTH));
    }
    let json = minijinja::filters::tojson(value, indent, kwargs)?;
    charge(state, json.len().unwrap_or(0))?;
    Ok(json)
}

fn too_wide(widest: usize) -> Error {
    Error::new(ErrorKind::OutOfFuel, format!("this indents by more than {widest} columns"))
}

/// `map(attribute="a.b")`: the attribute of each item.
fn map(value: &Value, kwargs: Kwargs) -> Result<Vec<Value>, Error> {
    let path: &str = kwargs.get("attribute")?;
    kwargs.assert_all_used()?;
    value.try_iter()?.map(|item| walk(&item, path)).collect()
}

fn walk(item: &Value, path: &str) -> Result<Value, Error> {
    path.split('.').try_fold(item.clone(), |value, part| match part.parse::<usize>() {
        Ok(index) => value.get_item_by_index(index),
        Err(_) => value.get_attr(part),
    })
}

#[cfg(test)]
mod tests {
    use super::super::template::Templates;
    use asterisk_diag::Source;
    use serde_json::{Value, json};

    fn render(text: &str, params: &Value) -> Result<String, String> {
        let templates = Templates::compile([Source::new("t.md", text)]).map_err(|problems| problems.to_string())?;
        let template = templates.get("t.md").expect("there");
        template.render(params).map_err(|problem| format!("{} {}", problem.code, problem.message))
    }

    #[test]
    fn bounded_filters_behave_like_stock_ones() {
        let params = json!({"s": "a\n\nb\n", "l": [{"n": {"k": "x"}}, {"n": {"k": 2}}], "w": ["a", 1, true]});
        for (text, expected) in [
            ("{{ s|replace('a', 'cc')|replace('\n', '/') }}", "cc//b/"),
            ("{{ 12|replace('1', '3') }}", "32"),
            ("{{ w|join }} {{ w|join(', ') }} {{ w|join(d='-') }}", "a1True a, 1, True a-1-True"),
            ("{{ l|join('+', attribute='n.k') }}", "x+2"),
            ("{{ l|map(attribute='n.k')|join(' ') }}", "x 2"),
            (
                "{{ s|indent(2) }}|{{ s|indent(1, true, blank=true) }}|{{ s|indent(width=1, first=true) }}",
                "a\n\n  b| a\n \n b| a\n\n b",
            ),
            ("{{ l|tojson }} {{ w|tojson(1) }}", "[{\"n\": {\"k\": \"x\"}}, {\"n\": {\"k\": 2}}] [\n \"a\",\n 1,\n true\n]"),
        ] {
            assert_eq!(render(text, &params).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn unbounded_growth_is_rejected() {
        let params = json!({"s": "x".repeat(100_000), "l": [1, 2]});
        for text in [
            "{{ s|replace('x', s) }}",
            "{{ s|replace('', s) }}",
            "{{ range(100000)|join(s) }}",
            "{{ s|indent(5000000000) }}",
            "{{ l|tojson(5000000000) }}",
            "{{ l|tojson(indent=5000000000) }}",
            "{% for i in range(1000) %}{{ s|replace('x', 'yy')|length }}{% endfor %}",
            "{% for i in range(1000) %}{{ s }}{% endfor %}",
        ] {
            let error = render(text, &params).expect_err(text);
            assert!(error.starts_with("template/limit "), "{text}: {error}");
        }
        for text in ["{{ namespace() }}", "{{ dict(a=1) }}", "{{ debug() }}", "{{ l|map('default', s) }}"] {
            assert!(render(text, &params).is_err(), "{text}");
        }
    }
}
