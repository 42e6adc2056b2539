//! Token usage: measured if the agent reports it, else estimated.

use super::settings::Price;
use asterisk_walk::TokenUsage;

/// Estimates the tokens of a text: one for every four bytes.
pub(super) fn estimate(text: &str) -> u64 {
    text.len() as u64 / 4
}

/// Reported tokens of prompt and answer.
pub(super) type MeasuredTokens = (Option<u64>, Option<u64>);

/// Token usage and cost of an answer; counts that are not `measured` are estimated.
pub(super) fn taken(prompt: &str, answer: &str, measured: MeasuredTokens, price: Price) -> TokenUsage {
    let (prompt, answer) = (measured.0.unwrap_or_else(|| estimate(prompt)), measured.1.unwrap_or_else(|| estimate(answer)));
    #[expect(clippy::cast_precision_loss, reason = "money for people")]
    let cost = (prompt as f64 * price.prompt + answer as f64 * price.answer) / 1e6;
    TokenUsage { prompt, answer, estimated: measured.0.is_none() || measured.1.is_none(), cost }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_measured_is_estimated_and_marked() {
        let price = Price { prompt: 3.0, answer: 15.0 };
        let found = taken("12345678", "123", (None, None), price);
        assert_eq!((found.prompt, found.answer, found.estimated), (2, 0, true));
        let found = taken("", "", (Some(14_000), Some(1_400)), price);
        assert!(!found.estimated && (found.cost - 0.063).abs() < 1e-12, "{found:?}");
        assert!(taken("", "abcd", (Some(1), None), price).estimated);
    }
}
