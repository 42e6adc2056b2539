//! A number with what it counts.

use std::fmt::Display;

/// A number with the word for one or for many: `1 case`, `0 cases`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let word = if count == N::from(1) { one } else { many };
    format!("{count} {word}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_from_none_and_many() {
        assert_eq!([counted(0_usize, "case", "cases"), counted(1_u64, "case", "cases")], ["0 cases", "1 case"]);
        assert_eq!(counted(-1_i64, "case", "cases"), "-1 cases");
    }
}
