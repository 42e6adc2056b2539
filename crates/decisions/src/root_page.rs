//! The root of a case, as a page of lines for a terminal.

use super::explanation::short;
use super::page::{PageLine, TextPage, Tone};
use super::root::{CaseRoot, RootComparison};
use asterisk_base::model::canonical;
use asterisk_walk::Root;
use serde_json::Value;

/// The page, at most the given number of characters wide.
pub fn root_page(found: &CaseRoot, width: usize) -> Vec<PageLine> {
    let mut page = TextPage::new(width);
    page.text(Tone::Head, "", 2, format!("{}  {}", found.case, found.name).trim_end());
    page.text(Tone::Quiet, "", 2, &format!("run {}, root found for step {}", found.run, found.step));
    page.blank();
    root(&mut page, &found.root);
    if found.other_cases > 0 {
        let more = found.other_cases - found.others.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let said = format!("same cause as {}{more}", found.others.join(", "));
        page.text(Tone::Plain, "  ", 4, &said);
    } else if found.root.is_known() {
        page.text(Tone::Plain, "  ", 4, "no other case of the run has this root");
    }
    for failed in &found.root.failed {
        page.text(Tone::Bad, "  ", 4, &format!("{} ({}) failed: {}", failed.id, failed.at, short(&failed.error)));
    }
    if let Some(with) = &found.with {
        comparison(&mut page, found, with);
    }
    page.lines
}

fn root(page: &mut TextPage, root: &Root) {
    if !root.is_known() {
        page.text(Tone::Plain, "  ", 4, "no rule gives it a root: it is a separate cause");
        return;
    }
    if !root.rule.is_empty() {
        let scope = if root.scope == "launch" { ", in this launch only" } else { "" };
        page.text(Tone::Good, "  ", 4, &format!("{}: {}", root.rule, root.name));
        page.text(Tone::Plain, "    ", 6, &short(&root.because));
        page.text(Tone::Plain, "    ", 6, &key(Some(&root.parts)));
        page.text(Tone::Quiet, "    ", 6, &format!("{}, right {:.0} % of the time{scope}", root.at, 100.0 * root.confidence));
    }
    if root.consequence {
        page.text(Tone::Plain, "    ", 6, "such a failure is only a consequence of another one");
    }
    match root.by.as_str() {
        "merged" => page.text(Tone::Plain, "  ", 4, "a person merged it with another cause (asterisk rca merge)"),
        "split" => page.text(Tone::Plain, "  ", 4, "a person split it off (asterisk rca split)"),
        _ => {}
    }
    page.text(Tone::Quiet, "  ", 4, &format!("key {}", root.key));
}

fn comparison(page: &mut TextPage, found: &CaseRoot, with: &RootComparison) {
    page.blank();
    let said = if with.same { "same cause as" } else { "different cause from" };
    page.text(Tone::Head, "", 2, format!("{said} {}  {}", with.case, with.name).trim_end());
    for rule in &with.rules {
        let tone = if rule.same { Tone::Good } else { Tone::Plain };
        let alike = if rule.same { ": the same key" } else { "" };
        page.text(tone, "  ", 4, &format!("{} {}{alike}", rule.id, rule.name));
        for (at, case) in [&found.case, &with.case].into_iter().enumerate() {
            let decides = if rule.decides[at] { ", which decides" } else { "" };
            page.text(Tone::Plain, "    ", 6, &format!("{case}: {}{decides}", key(rule.keys[at].as_ref())));
        }
    }
    if !with.same && with.rules.iter().any(|rule| rule.same) {
        let said = "a rule gives both the same key, but an earlier rule decides for one of them";
        page.text(Tone::Plain, "  ", 4, said);
    }
}

fn key(parts: Option<&Value>) -> String {
    match parts {
        None | Some(Value::Null) => "no key".to_owned(),
        Some(Value::String(text)) => short(text),
        Some(Value::Object(parts)) => {
            let text = |value: &Value| value.as_str().map_or_else(|| canonical(value), str::to_owned);
            short(&parts.iter().map(|(name, value)| format!("{name} {}", text(value))).collect::<Vec<_>>().join(", "))
        }
        Some(other) => short(&canonical(other)),
    }
}
