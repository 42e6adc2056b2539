//! Finds cases of a `switch` that can never match, since `switch` compares exactly, including types, and raises no error.
//!
//! The syntax tree keeps only hashes of the literals of cases, so they are read from the tokens. If tokens and tree disagree on
//! the number of cases, nothing is reported.

use super::findings;
use super::flow::TypeFlow;
use super::types::{Class, Type};
use super::value::TypedValue;
use crate::Unit;
use crate::tree::{Arm, Expr, Position};
use asterisk_base::model::Kind;
use asterisk_diag::Span;

/// The type of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Literal {
    Bool,
    Whole,
    Float,
    Character,
    Text,
}

impl Literal {
    fn of(token: &str) -> Option<Self> {
        let token = token.trim_start_matches('-');
        Some(match token.as_bytes().first()? {
            b'"' | b'`' => Self::Text,
            b'\'' => Self::Character,
            b'0'..=b'9' if token.starts_with("0x") || token.starts_with("0o") || token.starts_with("0b") => Self::Whole,
            b'0'..=b'9' if token.contains(['.', 'e', 'E']) => Self::Float,
            b'0'..=b'9' => Self::Whole,
            _ if token == "true" || token == "false" => Self::Bool,
            _ => return None,
        })
    }

    fn class(self) -> Class {
        match self {
            Self::Bool => Class::Bool,
            Self::Whole | Self::Float => Class::Number,
            Self::Character | Self::Text => Class::Text,
        }
    }
}

impl<'a> TypeFlow<'a> {
    /// Checks the literals of the cases against the type of the subject.
    pub(super) fn cases(&mut self, on: &TypedValue<'a>, arms: &[Arm], at: Position) {
        let Some(class) = on.ty.class().filter(|class| *class != Class::Unit) else { return };
        let unit = self.script().unit;
        for span in literals(unit, arms, at).unwrap_or_default() {
            let token = &unit.script()[span.start..span.end];
            let Some(literal) = Literal::of(token) else { continue };
            let help = match (on.ty, literal) {
                _ if literal.class() != class => None,
                (Type::Of(Kind::Number { .. }), Literal::Whole) => {
                    Some(format!("a number of an input is a float and a switch compares exactly: write `{token}.0`, or use `if`"))
                }
                (Type::Of(Kind::Int { .. }), Literal::Float) => Some(
                    "a whole number is not a float, and a switch compares exactly: write it without a point, or use `if`".into(),
                ),
                (Type::Of(Kind::Text { .. }), Literal::Character) => {
                    Some(format!("write it as a string: \"{}\"", token.trim_matches('\'')))
                }
                (Type::Of(Kind::Text { one_of }), Literal::Text) => {
                    let text = token.trim_matches(['"', '`']);
                    let known =
                        one_of.is_empty() || text.is_empty() || text.contains('\\') || one_of.iter().any(|known| known == text);
                    if !known {
                        let found = findings::never(&self.place_of(span), on, text, one_of);
                        self.report(found);
                    }
                    continue;
                }
                _ => continue,
            };
            let found = findings::no_case(&self.place_of(span), on, class, token, help);
            self.report(found);
        }
    }
}

/// The literals of the cases, without ranges.
fn literals(unit: &Unit, arms: &[Arm], at: Position) -> Option<Vec<Span>> {
    let text = unit.script();
    let from = unit.tokens().offset(text, at);
    let spans: Vec<Span> = unit.tokens().lexemes().iter().map(|lexeme| lexeme.span).filter(|span| span.start >= from).collect();
    let tokens: Vec<&str> = spans.iter().map(|span| &text[span.start..span.end]).collect();
    let arrows = arrows(&tokens)?;
    if arrows.len() != arms.len() {
        return None;
    }
    let mut found = Vec::new();
    for (&arrow, arm) in arrows.iter().zip(arms) {
        let mut end = arrow;
        if !matches!(arm.guard, Expr::Bool(_, at) if at.is_none()) {
            end = tokens[..arrow].iter().rposition(|token| *token == "if")?;
        }
        while let Some(last) = end.checked_sub(1) {
            let before = if tokens[last.checked_sub(1)?] == "-" { last.checked_sub(2)? } else { last.checked_sub(1)? };
            let (first, is_range) =
                if tokens[before].starts_with("..") { (before.checked_sub(2)?, true) } else { (before, false) };
            if !is_range {
                found.push(spans[last]);
            }
            if tokens[first] != "|" {
                break;
            }
            end = first;
        }
    }
    Some(found)
}

/// The indices of the arrows of the `switch` at the start of the tokens.
fn arrows(tokens: &[&str]) -> Option<Vec<usize>> {
    if tokens.first() != Some(&"switch") {
        return None;
    }
    let (mut depth, mut body) = (0_usize, None);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().skip(1) {
        match *token {
            "{" if depth == 0 && body.is_none() => body = Some(at),
            "(" | "[" | "{" | "#{" | "?[" => depth += 1,
            ")" | "]" | "}" if depth > 0 => depth -= 1,
            "}" => return Some(found),
            "=>" if depth == 0 => found.push(at),
            _ => {}
        }
    }
    None
}
