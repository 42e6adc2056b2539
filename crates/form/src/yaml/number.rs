//! Types unquoted scalars by the YAML 1.2 core schema, strictly.

/// The type of an unquoted scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Plain {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A number that neither JSON nor a script can represent: not finite, or an integer beyond 64 bits.
    Unholdable,
    Text,
}

/// Types an unquoted scalar.
pub(super) fn plain(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Plain::Null,
        "true" | "True" | "TRUE" => return Plain::Bool(true),
        "false" | "False" | "FALSE" => return Plain::Bool(false),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Plain::Unholdable;
    }
    if let Some((radix, digits)) = text.strip_prefix("0x").map(|d| (16, d)).or(text.strip_prefix("0o").map(|d| (8, d))) {
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
            return Plain::Text;
        }
        return i64::from_str_radix(digits, radix).map_or(Plain::Unholdable, Plain::Int);
    }
    if is_whole(unsigned) {
        return text.parse().map_or(Plain::Unholdable, Plain::Int);
    }
    if is_float(unsigned) {
        return text.parse().ok().filter(|value: &f64| value.is_finite()).map_or(Plain::Unholdable, Plain::Float);
    }
    Plain::Text
}

/// Digits without a leading zero.
fn is_whole(text: &str) -> bool {
    text == "0" || (!text.is_empty() && !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit()))
}

/// `1.`, `.5`, `1.5`, `1e3`, `1.5e-3`; no leading zero in the integer part.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if exponent.is_some_and(|exponent| exponent.is_empty() || !digits(exponent)) {
        return false;
    }
    match mantissa.split_once('.') {
        Some((whole, fraction)) => digits(fraction) && (is_whole(whole) || (whole.is_empty() && !fraction.is_empty())),
        None => is_whole(mantissa) && exponent.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_schema_strictly() {
        for (text, is) in [
            ("~", Plain::Null),
            ("true", Plain::Bool(true)),
            ("FALSE", Plain::Bool(false)),
            ("yes", Plain::Text),
            ("on", Plain::Text),
            ("tRue", Plain::Text),
            ("0", Plain::Int(0)),
            ("-7", Plain::Int(-7)),
            ("+7", Plain::Int(7)),
            ("007", Plain::Text),
            ("1_000", Plain::Text),
            ("0x1F", Plain::Int(31)),
            ("0x", Plain::Text),
            ("0o17", Plain::Int(15)),
            ("0b1", Plain::Text),
            ("9223372036854775807", Plain::Int(i64::MAX)),
            ("-9223372036854775808", Plain::Int(i64::MIN)),
            ("9223372036854775808", Plain::Unholdable),
            ("0.80", Plain::Float(0.8)),
            (".5", Plain::Float(0.5)),
            ("1.", Plain::Float(1.0)),
            ("1e3", Plain::Float(1000.0)),
            ("-1.5E-1", Plain::Float(-0.15)),
            ("1e999", Plain::Unholdable),
            ("1e", Plain::Text),
            (".", Plain::Text),
            ("1.2.3", Plain::Text),
            ("00.5", Plain::Text),
            (".nan", Plain::Unholdable),
            ("-.inf", Plain::Unholdable),
            ("-", Plain::Text),
            ("12:30", Plain::Text),
        ] {
            assert_eq!(plain(text), is, "{text}");
        }
    }
}
