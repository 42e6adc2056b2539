//! Helpers for walking scripts and data files.

use asterisk_diag::{Source, Span};
use asterisk_form::yaml::{Yaml, YamlKind};
use asterisk_script::Unit;
use asterisk_script::tree::{self, CallExpr, Expr, Function, Node, Position, Stmt};
use compact_str::CompactString;

/// The location of a function's name.
pub(super) fn name_of(unit: &Unit, function: &Function) -> (Source, Span) {
    unit.definition(&function.head).unwrap_or_else(|| unit.locate(Span::default()))
}

/// Whether a function has the parameters of a rule.
pub(super) fn takes_rule_inputs(function: &Function) -> bool {
    function.params.iter().map(CompactString::as_str).eq(["artifact", "state", "vars"])
}

/// Visits the calls by name in a list of statements, with the positions of the names; operators are excluded.
pub(super) fn calls<'t>(statements: &'t [Stmt], mut visit: impl FnMut(&'t CallExpr, Position)) {
    tree::each(statements, &mut |node| match node {
        Node::Expr(Expr::Call(call, at) | Expr::Method(call, at)) if !call.operator => visit(call, *at),
        _ => {}
    });
}

/// The string literals of a script with their spans; of interpolated ones, the literal parts.
pub(super) fn strings(unit: &Unit) -> Vec<(String, Source, Span)> {
    let mut found = Vec::new();
    unit.tree().each(|node| {
        if let Node::Expr(Expr::Text(text, at)) = node
            && let Some((source, span)) = unit.token(*at)
        {
            found.push((text.to_string(), source, span));
        }
    });
    found.sort_by_key(|(_, _, span)| span.start);
    found.dedup_by_key(|(_, _, span)| span.start);
    found
}

/// The text of a function from its keyword to its closing brace.
pub(super) fn text_of<'u>(unit: &'u Unit, function: &Function) -> &'u str {
    let script = unit.script();
    let start = unit.tokens().offset(script, function.head.start);
    let lexemes = unit.tokens().lexemes();
    let from = lexemes.partition_point(|lexeme| lexeme.span.start < start);
    let mut depth = 0_i32;
    for lexeme in &lexemes[from..] {
        match &script[lexeme.span.start..lexeme.span.end] {
            "{" | "#{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &script[start..lexeme.span.end];
        }
    }
    &script[start.min(script.len())..]
}

/// The strings of a data file, each with its span.
pub(super) fn texts(source: &Source, yaml: &Yaml) -> Vec<(String, Source, Span)> {
    match &yaml.kind {
        YamlKind::Text(text) => vec![(text.value.clone(), source.clone(), yaml.span)],
        YamlKind::List(items) => items.iter().flat_map(|item| texts(source, item)).collect(),
        // The examples of a signature are not part of its logic.
        YamlKind::Map(entries) => {
            let rules = entries.iter().filter(|entry| !matches!(entry.key.as_str(), "accepts" | "rejects"));
            rules.flat_map(|entry| texts(source, &entry.value)).collect()
        }
        _ => Vec::new(),
    }
}

/// The alternatives of a pattern, each with the flags of the whole; the pattern itself if it has none.
pub(super) fn alternatives(pattern: &str) -> Vec<String> {
    let body = pattern.strip_prefix("(?").and_then(|rest| rest.split_once(')'));
    let is_flags = |flags: &str| !flags.is_empty() && flags.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
    let (flags, body) = match body {
        Some((flags, body)) if is_flags(flags) => (format!("(?{flags})"), body),
        _ => (String::new(), pattern),
    };
    let (mut depth, mut class, mut escaped) = (0_usize, false, false);
    let mut found = vec![flags.clone()];
    for c in body.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '(' if !class => depth += 1,
            ')' if !class => depth = depth.saturating_sub(1),
            '|' if !class && depth == 0 => {
                found.push(flags.clone());
                continue;
            }
            _ => {}
        }
        if let Some(last) = found.last_mut() {
            last.push(c);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alternatives_of_a_pattern_are_those_outside_of_groups() {
        assert_eq!(alternatives("a(b|c)|[|]d|e\\|f"), ["a(b|c)", "[|]d", "e\\|f"]);
        assert_eq!(alternatives("(?i)a|b"), ["(?i)a", "(?i)b"]);
        assert_eq!(alternatives("(?:a|b)c"), ["(?:a|b)c"]);
    }
}
