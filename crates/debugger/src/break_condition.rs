//! What a breakpoint adds to its place: a count of hits, a message with expressions.

/// When a breakpoint stops, by the number of times that it was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HitCondition {
    Equal(u64),
    Over(u64),
    AtLeast(u64),
    Below(u64),
    AtMost(u64),
    /// Every n-th time.
    Every(u64),
}

impl HitCondition {
    /// Reads `> 3`, `>= 3`, `< 3`, `<= 3`, `== 3`, `= 3`, `3` and `% 3`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let digits = text.find(|ch: char| ch.is_ascii_digit()).unwrap_or(text.len());
        let (operator, number) = text.split_at(digits);
        let wrong = || format!("`{text}` is not a hit condition: write `> 3`, `== 2` or `% 5`");
        let number: u64 = number.trim().parse().map_err(|_| wrong())?;
        match operator.trim() {
            "" | "=" | "==" => Ok(Self::Equal(number)),
            ">" => Ok(Self::Over(number)),
            ">=" => Ok(Self::AtLeast(number)),
            "<" => Ok(Self::Below(number)),
            "<=" => Ok(Self::AtMost(number)),
            "%" if number > 0 => Ok(Self::Every(number)),
            _ => Err(wrong()),
        }
    }

    /// Whether the hit with this number, from 1, stops.
    pub(crate) fn holds(self, hit: u64) -> bool {
        match self {
            Self::Equal(number) => hit == number,
            Self::Over(number) => hit > number,
            Self::AtLeast(number) => hit >= number,
            Self::Below(number) => hit < number,
            Self::AtMost(number) => hit <= number,
            Self::Every(number) => hit.is_multiple_of(number),
        }
    }
}

/// A part of a log message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MessagePart {
    Text(String),
    Expression(String),
}

/// The parts of a log message: `{expression}` is evaluated; `\{` is a brace. Braces within an expression are balanced.
pub(crate) fn message_parts(message: &str) -> Vec<MessagePart> {
    let (mut parts, mut text) = (Vec::new(), String::new());
    let mut rest = message.chars();
    while let Some(ch) = rest.next() {
        match ch {
            '\\' => match rest.next() {
                Some(escaped @ ('{' | '}' | '\\')) => text.push(escaped),
                other => text.extend(std::iter::once('\\').chain(other)),
            },
            '{' => {
                let (mut expression, mut depth) = (String::new(), 1);
                for ch in rest.by_ref() {
                    match ch {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                    expression.push(ch);
                }
                if depth > 0 {
                    text.push('{');
                    text.push_str(&expression);
                } else {
                    parts.push(MessagePart::Text(std::mem::take(&mut text)));
                    parts.push(MessagePart::Expression(expression));
                }
            }
            ch => text.push(ch),
        }
    }
    parts.push(MessagePart::Text(text));
    parts.retain(|part| *part != MessagePart::Text(String::new()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_condition_counts() {
        let hits = |text: &str| {
            HitCondition::parse(text).map(|condition| (1..7).filter(|hit| condition.holds(*hit)).collect::<Vec<_>>())
        };
        for (text, expected) in [
            ("> 3", vec![4, 5, 6]),
            (">=3", vec![3, 4, 5, 6]),
            ("<2", vec![1]),
            ("<= 2", vec![1, 2]),
            ("== 2", vec![2]),
            ("5", vec![5]),
            (" % 3 ", vec![3, 6]),
        ] {
            assert_eq!(hits(text), Ok(expected), "{text}");
        }
        for wrong in ["", "x", "> x", "% 0", "3 4", "99999999999999999999"] {
            assert!(hits(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_log_message_has_texts_and_expressions() {
        let text = |text: &str| MessagePart::Text(text.into());
        let expression = |text: &str| MessagePart::Expression(text.into());
        assert_eq!(message_parts("n is {n + 1}!"), [text("n is "), expression("n + 1"), text("!")]);
        assert_eq!(message_parts(r"\{n} {#{a: 1}.a}"), [text("{n} "), expression("#{a: 1}.a")]);
        assert_eq!(message_parts("{open"), [text("{open")]);
        assert_eq!(message_parts(""), []);
    }
}
