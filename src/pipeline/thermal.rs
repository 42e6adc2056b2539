//! `thermal:`: how long the answers of a case may take, all together.

/// What a case may spend, in milliseconds: the sum of the times that its answered steps took. A step that fails costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thermal {
    /// From how much on it is told, once; 0 for never.
    pub warning_ms: u64,
    /// From how much on the case takes no further step. `None` for no end; 0 ends it after its first step.
    pub ceiling_ms: Option<u64>,
}

impl Thermal {
    /// Whether it is to be told that the sum went from `before` to `now`.
    pub fn warns(self, before: u64, now: u64) -> bool {
        self.warning_ms > 0 && before < self.warning_ms && now >= self.warning_ms
    }

    /// Whether a sum is too much.
    pub fn stops(self, spent: u64) -> bool {
        self.ceiling_ms.is_some_and(|ceiling| spent >= ceiling)
    }
}
