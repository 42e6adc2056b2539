//! Resampling with a flat memory: the Poisson bootstrap. Each cluster of cases counts in each resample as often as a Poisson variable of
//! mean 1 says, which approaches drawing clusters with replacement, and needs no second pass over the cases.
//!
//! A weight depends on the cluster's name and the resample alone: the same for any order of cases, and for two packs of scripts that are
//! compared.

use asterisk_base::model::Hash;

/// The cumulative probabilities of a Poisson variable of mean 1.
const CUMULATIVE: [f64; 8] = [
    0.367_879_441_171_442_3,
    0.735_758_882_342_884_7,
    0.919_698_602_928_605_8,
    0.981_011_843_123_846_2,
    0.996_340_153_172_656_3,
    0.999_405_815_182_418_3,
    0.999_916_758_850_712,
    0.999_989_750_803_325_3,
];

/// How often a cluster counts in each resample.
#[derive(Clone, Debug, Default)]
pub(super) struct ResampleWeights {
    /// What the weights are made of.
    seed: u64,
    weights: Vec<f64>,
}

impl ResampleWeights {
    /// The weights of a cluster in `count` resamples.
    pub(super) fn of(cluster: &str, count: usize) -> Self {
        let hash = Hash::of(cluster.as_bytes());
        let seed = hash.bytes().iter().take(8).fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
        let mut state = seed;
        let weights = (0..count).map(|_| {
            let share = share(next(&mut state));
            // Of all weights, 8 and more have a probability of one in 100 000.
            CUMULATIVE.iter().filter(|below| share >= **below).fold(0.0, |weight, _| weight + 1.0)
        });
        Self { seed, weights: weights.collect() }
    }

    /// The number of resamples.
    pub(super) fn count(&self) -> usize {
        self.weights.len()
    }

    /// What the weights are made of: as good as the cluster's name.
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// The weights, in the order of the resamples.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }
}

/// The 90 % interval of resampled values; `None` of fewer than twenty.
pub(super) fn interval(values: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1).filter(|last| *last >= 19)?;
    // At a twentieth from either end.
    Some([values[last / 20], values[last - last / 20]])
}

/// The next number of the generator `SplitMix64`.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A number in `[0, 1)`.
#[expect(clippy::cast_precision_loss, reason = "53 bits are what a float holds")]
fn share(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_of_the_cluster_with_mean_and_variance_1() {
        let of = |name: &str| ResampleWeights::of(name, 20_000).weights().to_vec();
        assert_eq!(of("a"), of("a"));
        assert_ne!(of("a"), of("b"));
        let weights = of("a");
        let mean = weights.iter().sum::<f64>() / 20_000.0;
        let variance = weights.iter().map(|weight| (weight - mean) * (weight - mean)).sum::<f64>() / 20_000.0;
        assert!((mean - 1.0).abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }

    #[test]
    fn an_interval_leaves_a_twentieth_at_either_end() {
        assert_eq!(interval((0..101).map(f64::from)), Some([5.0, 95.0]));
        assert_eq!(interval((0..10).map(f64::from)), None);
    }
}
