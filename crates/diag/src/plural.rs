//! A count with its noun.

use std::fmt::Display;

/// Formats a count with the singular or plural noun: `1 case`, `0 cases`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let word = if count == N::from(1) { one } else { many };
    format!("{count} {word}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_all_else_plural() {
        assert_eq!([counted(0_usize, "case", "cases"), counted(1_u64, "case", "cases")], ["0 cases", "1 case"]);
        assert_eq!(counted(-1_i64, "case", "cases"), "-1 cases");
    }
}
