//! Where a cursor is in a YAML text that may be half typed: the keys around it, and what is written of the key or value so far.

use asterisk_diag::Span;
use serde_json::Value;

/// A step from a value to one in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum YamlStep {
    Key(String),
    Item,
}

/// Where a cursor is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct YamlContext {
    /// The steps to the map that a key is typed in, or to the value.
    pub(super) path: Vec<YamlStep>,
    /// Whether a key is typed, and not a value.
    pub(super) is_key: bool,
    /// What is typed so far, without an opening quote.
    pub(super) typed: Span,
    /// The keys of the same map before the cursor.
    pub(super) present: Vec<String>,
}

impl YamlContext {
    /// The key whose value is typed.
    pub(super) fn key(&self) -> Option<&str> {
        self.path.iter().rev().find_map(|step| match step {
            YamlStep::Key(key) => Some(key.as_str()),
            YamlStep::Item => None,
        })
    }
}

/// A map or list in the block style.
struct Block {
    indent: usize,
    step: YamlStep,
    /// The keys before it in its map.
    before: Vec<String>,
}

/// A map or list in braces or brackets.
enum Flow {
    Map { key: Option<String>, before: Vec<String> },
    List,
}

/// Where an offset is; `None` within a comment or a block of text.
pub(super) fn context(text: &str, offset: usize) -> Option<YamlContext> {
    let mut scan = YamlScan { blocks: Vec::new(), flows: Vec::new(), literal: None, quote: None };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let last = offset < end || (offset == end && !line.ends_with('\n'));
        if last {
            return scan.cursor(text, at, offset.min(end));
        }
        scan.line(line.trim_end_matches(['\n', '\r']));
        at = end;
    }
    scan.cursor(text, at, offset.max(at).min(text.len()))
}

struct YamlScan {
    blocks: Vec<Block>,
    flows: Vec<Flow>,
    /// The indentation that the lines of a block of text exceed.
    literal: Option<usize>,
    quote: Option<char>,
}

impl YamlScan {
    fn line(&mut self, line: &str) {
        if self.in_literal(line) {
            return;
        }
        let rest = if self.flows.is_empty() && self.quote.is_none() { self.block(line).map(|(rest, _)| rest) } else { Some(0) };
        let Some(rest) = rest else { return };
        let (_, value) = self.flow(line, rest);
        let plain = value.trim();
        if self.flows.is_empty() && self.quote.is_none() && plain.starts_with(['|', '>']) {
            self.literal = Some(
                self.blocks.iter().rev().find(|block| matches!(block.step, YamlStep::Key(_))).map_or(0, |block| block.indent),
            );
        }
    }

    fn in_literal(&mut self, line: &str) -> bool {
        let Some(indent) = self.literal else { return false };
        if line.trim().is_empty() || indent_of(line) > indent {
            return true;
        }
        self.literal = None;
        false
    }

    /// Follows the dashes and the key that begin a line. Returns where its value begins, and whether there is a key; `None` for a comment or
    /// nothing.
    fn block(&mut self, line: &str) -> Option<(usize, bool)> {
        let mut at = indent_of(line);
        let mut rest = &line[at..];
        if rest.is_empty() || rest.starts_with('#') || rest.starts_with("---") {
            return None;
        }
        while rest == "-" || rest.starts_with("- ") {
            while self.blocks.last().is_some_and(|top| top.indent > at || (top.indent == at && top.step == YamlStep::Item)) {
                self.blocks.pop();
            }
            self.blocks.push(Block { indent: at, step: YamlStep::Item, before: Vec::new() });
            let after = rest[1..].len() - rest[1..].trim_start().len();
            at += 1 + after;
            rest = &line[at..];
            if after == 0 {
                break;
            }
        }
        let Some((key, length)) = key_of(rest) else {
            return Some((at, false));
        };
        let mut before = Vec::new();
        while self.blocks.last().is_some_and(|top| top.indent >= at) {
            if let Some(Block { indent, step: YamlStep::Key(key), before: keys }) = self.blocks.pop()
                && indent == at
            {
                before = keys;
                before.push(key);
            }
        }
        self.blocks.push(Block { indent: at, step: YamlStep::Key(key), before });
        Some((at + length, true))
    }

    /// Follows braces, brackets and quotes from a place in a line. Returns where what stands last begins, and its text.
    fn flow<'l>(&mut self, line: &'l str, from: usize) -> (usize, &'l str) {
        let mut start = from;
        let mut escaped = false;
        for (at, char) in line[from..].char_indices().map(|(at, char)| (from + at, char)) {
            if let Some(quote) = self.quote {
                if escaped {
                    escaped = false;
                } else if char == '\\' && quote == '"' {
                    escaped = true;
                } else if char == quote {
                    self.quote = None;
                }
                continue;
            }
            let blank = line[start..at].trim().is_empty();
            match char {
                '#' if at == 0 || line[..at].ends_with(' ') => {
                    return (start, &line[start..at]);
                }
                '"' | '\'' if blank => self.quote = Some(char),
                '{' if blank => {
                    self.flows.push(Flow::Map { key: None, before: Vec::new() });
                    start = at + 1;
                }
                '[' if blank => {
                    self.flows.push(Flow::List);
                    start = at + 1;
                }
                '}' | ']' if !self.flows.is_empty() => {
                    self.flows.pop();
                    start = at + 1;
                }
                ',' if !self.flows.is_empty() => {
                    if let Some(Flow::Map { key, before }) = self.flows.last_mut() {
                        before.extend(key.take());
                    }
                    start = at + 1;
                }
                ':' if line[at + 1..].starts_with(' ') || at + 1 == line.len() => {
                    if let Some(Flow::Map { key, .. }) = self.flows.last_mut() {
                        *key = Some(line[start..at].trim().trim_matches(['"', '\'']).to_owned());
                        start = at + 1;
                    }
                }
                _ => {}
            }
        }
        (start, &line[start..])
    }

    fn cursor(mut self, text: &str, line_start: usize, offset: usize) -> Option<YamlContext> {
        let line = &text[line_start..offset];
        if self.in_literal(line) && !line.trim().is_empty() {
            return None;
        }
        let outside = self.flows.is_empty() && self.quote.is_none();
        let indent = indent_of(line);
        let (rest, has_key) = if !outside {
            (0, true)
        } else if line.trim().is_empty() {
            // A new line: its indentation determines the map.
            while self.blocks.last().is_some_and(|top| top.indent > indent) {
                self.blocks.pop();
            }
            (line.len(), false)
        } else {
            self.block(line)?
        };
        let (start, written) = self.flow(line, rest);
        if line[start..].contains(" #") || (line.trim_start().starts_with('#')) {
            return None;
        }
        let lead = written.len() - written.trim_start().len();
        let mut from = line_start + start + lead;
        if text[from..offset].starts_with(['"', '\'']) {
            from += 1;
        }
        let typed = Span::new(from.min(offset), offset);
        if let Some(last) = self.flows.last() {
            let is_key = matches!(last, Flow::Map { key: None, .. });
            let present = match last {
                Flow::Map { before, .. } => before.clone(),
                Flow::List => Vec::new(),
            };
            let mut path: Vec<YamlStep> = self.blocks.iter().map(|block| block.step.clone()).collect();
            for flow in &self.flows {
                match flow {
                    Flow::Map { key, .. } => path.extend(key.clone().map(YamlStep::Key)),
                    Flow::List => path.push(YamlStep::Item),
                }
            }
            return Some(YamlContext { path, is_key, typed, present });
        }
        if has_key {
            let path = self.blocks.iter().map(|block| block.step.clone()).collect();
            return Some(YamlContext { path, is_key: false, typed, present: Vec::new() });
        }
        // A key of the map at this indentation, or an item of a list that may be a text.
        let column = from - line_start;
        let mut present = Vec::new();
        while let Some(top) = self.blocks.last() {
            let is_sibling = top.indent >= column && top.step != YamlStep::Item;
            if !is_sibling {
                break;
            }
            if let Some(Block { indent, step: YamlStep::Key(key), before }) = self.blocks.pop()
                && indent == column
            {
                present = before;
                present.push(key);
            }
        }
        let path: Vec<YamlStep> = self.blocks.iter().map(|block| block.step.clone()).collect();
        Some(YamlContext { path, is_key: true, typed, present })
    }
}

/// The text of the list item around a byte that has a `from` or a `name`: an edge or a node of a pipeline; empty if there is none.
pub(super) fn item_at(text: &str, offset: usize) -> &str {
    let mut line = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let mut most = usize::MAX;
    loop {
        let own = &text[line..];
        let indent = indent_of(own);
        if indent < most && own[indent..].starts_with("- ") {
            let mut end = line;
            for next in own.split_inclusive('\n') {
                if end > line && !next.trim().is_empty() && indent_of(next) <= indent {
                    break;
                }
                end += next.len();
            }
            let item = &text[line..end];
            if value_in(item, "from").or(value_in(item, "name")).is_some() {
                return item;
            }
            most = indent;
        }
        if line == 0 {
            return "";
        }
        line = text[..line - 1].rfind('\n').map_or(0, |at| at + 1);
    }
}

/// The first word after a key in the text of an item.
pub(super) fn value_in<'t>(item: &'t str, key: &str) -> Option<&'t str> {
    item.match_indices(key).find_map(|(at, _)| {
        let starts = item[..at].ends_with([' ', '{', ',', '\n']);
        let value = item[at + key.len()..].strip_prefix(':').filter(|_| starts)?.trim_start_matches([' ', '"', '\'', '[']);
        let end = value.find(|c: char| !c.is_alphanumeric() && !"_-*.".contains(c)).unwrap_or(value.len());
        (end > 0).then(|| &value[..end])
    })
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The key that begins a text, and the length up to and with its colon.
fn key_of(text: &str) -> Option<(String, usize)> {
    let (raw, after) = match text.chars().next()? {
        quote @ ('"' | '\'') => {
            let end = text[1..].find(quote)? + 2;
            (&text[1..end - 1], end)
        }
        '{' | '[' | '|' | '>' | '&' | '*' | '!' => return None,
        _ => {
            let end = text.find(": ").or_else(|| text.ends_with(':').then(|| text.len() - 1))?;
            (&text[..end], end)
        }
    };
    if raw.contains(" #") {
        return None;
    }
    let rest = text[after..].trim_start();
    let colon = after + (text[after..].len() - rest.len());
    (rest.starts_with(": ") || rest == ":").then(|| (raw.trim().to_owned(), colon + 1))
}

/// The schemas that may describe the value at a path.
pub(super) fn schemas_at<'s>(root: &'s Value, path: &[YamlStep]) -> Vec<&'s Value> {
    let mut here = alternatives(root, root, 0);
    for step in path {
        let mut next = Vec::new();
        for schema in here {
            let inner = match step {
                YamlStep::Key(key) => schema["properties"].get(key).or_else(|| {
                    let patterns = schema["patternProperties"].as_object().and_then(|all| all.values().next());
                    patterns.or_else(|| schema.get("additionalProperties").filter(|more| more.is_object()))
                }),
                YamlStep::Item => schema.get("items").filter(|items| items.is_object()),
            };
            next.extend(inner.into_iter().flat_map(|inner| alternatives(root, inner, 0)));
        }
        here = next;
    }
    here
}

/// A schema without references, and what it combines.
fn alternatives<'s>(root: &'s Value, schema: &'s Value, depth: usize) -> Vec<&'s Value> {
    if depth > 8 {
        return Vec::new();
    }
    let mut all = vec![schema];
    if let Some(to) = schema["$ref"].as_str().and_then(|to| to.strip_prefix('#')).and_then(|to| root.pointer(to)) {
        all.extend(alternatives(root, to, depth + 1));
    }
    for either in ["then", "else"] {
        all.extend(schema.get(either).into_iter().flat_map(|one| alternatives(root, one, depth + 1)));
    }
    for several in ["anyOf", "oneOf", "allOf"] {
        for one in schema[several].as_array().into_iter().flatten() {
            all.extend(alternatives(root, one, depth + 1));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The context at the bar.
    fn at(text: &str) -> Option<String> {
        let offset = text.find('|').expect("a bar");
        let text = text.replacen('|', "", 1);
        let found = context(&text, offset)?;
        let path: Vec<String> = found
            .path
            .iter()
            .map(|step| match step {
                YamlStep::Key(key) => key.clone(),
                YamlStep::Item => "-".into(),
            })
            .collect();
        let what = if found.is_key { "key" } else { "value" };
        Some(format!(
            "{what} {:?} of {}{}",
            &text[found.typed.start..found.typed.end],
            path.join("."),
            if found.present.is_empty() { String::new() } else { format!(" after {}", found.present.join(",")) }
        ))
    }

    #[test]
    fn keys_and_values_are_told_apart() {
        let cases = [
            ("|", "key \"\" of "),
            ("no|", "key \"no\" of "),
            ("a: 1\nb|", "key \"b\" of  after a"),
            ("edges:\n  - id: H1\n    fr|", "key \"fr\" of edges.- after id"),
            ("edges:\n  - id: H1\n    |", "key \"\" of edges.- after id"),
            ("edges:\n- id: H1\n  from: tri|", "value \"tri\" of edges.-.from"),
            ("edges:\n  - { id: H1, from: tri|", "value \"tri\" of edges.-.from after id"),
            ("edges:\n  - { id: H1, fr|", "key \"fr\" of edges.- after id"),
            ("edges:\n  - { id: H1, rule: \"rules/rca.rhai#|", "value \"rules/rca.rhai#\" of edges.-.rule after id"),
            ("vars:\n  a:\n    { default: 1,\n      ty|", "key \"ty\" of vars.a after default"),
            ("nodes: [{ name: a }, { na|", "key \"na\" of nodes.-"),
            ("a:\n  b: [x, y|", "value \"y\" of a.b.-"),
            ("a: 'it: is {' \nb: |", "value \"\" of b"),
            ("a: |\n", "value \"\" of a"),
        ];
        for (text, expected) in cases {
            assert_eq!(at(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn comments_and_blocks_have_no_keys() {
        let offset = |text: &str| context(text, text.len());
        assert_eq!(offset("a: 1 # co"), None);
        assert_eq!(offset("# co"), None);
        assert_eq!(offset("a: >\n  b: c"), None);
        assert_eq!(offset("a: >\n  b: c\nd: e").map(|found| found.is_key), Some(false));
    }

    #[test]
    fn the_item_around_a_byte_is_found() {
        let text = "nodes:\n  - { name: look }\n  - name: ask\n    masks:\n      - m.rhai\nedges:\n  - { id: D1, from: look,\n      condition: \"x\" }\n";
        let from = |part: &str| {
            let item = item_at(text, text.find(part).expect("a part"));
            (value_in(item, "from"), value_in(item, "name"))
        };
        assert_eq!(from("look }"), (None, Some("look")));
        assert_eq!(from("m.rhai"), (None, Some("ask")));
        assert_eq!(from("\"x\""), (Some("look"), None));
        assert_eq!(item_at("- x\n", 2), "");
    }

    proptest! {
        #[test]
        fn any_text_has_a_context_or_none(text in "[a-c:{}\\[\\]\"'#|>, \n-]{0,60}", at in 0usize..60) {
            let at = at.min(text.len());
            if let Some(found) = context(&text, at) {
                prop_assert!(found.typed.end == at && found.typed.start <= at);
            }
            prop_assert!(item_at(&text, at).len() <= text.len());
        }
    }
}
