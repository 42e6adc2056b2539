//! Chance and ids derived from what they are for, never from the order of arrival (`docs/decisions/0011-derived-ids-and-chance.md`).

/// A number in `[0, 1)` that depends only on the run's seed, the case and the step's path.
#[allow(clippy::cast_precision_loss)]
pub fn chance(seed: u64, case: &str, path: &str) -> f64 {
    (digest(&seed.to_le_bytes(), &[case, path]) >> 11) as f64 / (1u64 << 53) as f64
}

/// A positive id below 2^53 (exact as a JSON number) that depends only on the words given.
pub fn derived_id(words: &[&str]) -> i64 {
    let bits = digest(b"id", words) >> 11;
    i64::try_from(bits.max(1)).unwrap_or(1)
}

fn digest(prefix: &[u8], words: &[&str]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(prefix);
    for word in words {
        hasher.update(&(word.len() as u64).to_le_bytes());
        hasher.update(word.as_bytes());
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_a_function_of_its_inputs_and_spreads() {
        assert_eq!(chance(1, "c", "3").to_bits(), chance(1, "c", "3").to_bits());
        assert_ne!(chance(1, "c", "3").to_bits(), chance(2, "c", "3").to_bits());
        let mean = (0..2000).map(|i| chance(7, "c", &i.to_string())).sum::<f64>() / 2000.0;
        assert!((0.47..0.53).contains(&mean), "{mean}");
        assert!((0..2000).all(|i| (0.0..1.0).contains(&chance(7, "c", &i.to_string()))));
    }

    #[test]
    fn words_are_kept_apart() {
        assert_ne!(derived_id(&["ab", "c"]), derived_id(&["a", "bc"]));
        assert!(derived_id(&["a"]) > 0 && derived_id(&["a"]) < 1 << 53);
    }
}
