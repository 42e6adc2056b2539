//! `thermal:`: the time budget for the answers of a case.

/// The time budget of a case in milliseconds, for the total duration of its answered steps. A step that fails costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thermal {
    /// The total at which one warning is issued; 0 for none.
    pub warning_ms: u64,
    /// The total at which the case takes no further step. `None` for no limit; 0 stops it after its first step.
    pub ceiling_ms: Option<u64>,
}

impl Thermal {
    /// Whether a warning is due when the total rises from `before` to `now`.
    pub fn warns(self, before: u64, now: u64) -> bool {
        self.warning_ms > 0 && before < self.warning_ms && now >= self.warning_ms
    }

    /// Whether a total exceeds the budget.
    pub fn stops(self, spent: u64) -> bool {
        self.ceiling_ms.is_some_and(|ceiling| spent >= ceiling)
    }
}
