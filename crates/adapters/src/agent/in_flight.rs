//! Gate that refuses answers until as many workers pull steps concurrently as requested.

/// Counts steps in flight and waiting workers. A batch lasts from the first step in flight until none is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InFlightGate {
    /// Requested number of concurrent workers; up to 1, no answer is refused.
    pub desired: usize,
    /// Steps in flight.
    pub in_flight: usize,
    /// Maximum number of steps in flight during this batch.
    pub batch_peak: usize,
    /// Workers waiting for a step.
    pub pullers: usize,
    /// Maximum number of workers that ever waited at once.
    pub peak_pullers: usize,
    /// Whether a worker of this batch found no step: no higher concurrency is possible.
    pub exempt: bool,
}

impl InFlightGate {
    /// A gate for a requested concurrency.
    pub fn new(desired: usize) -> Self {
        Self { desired, ..Self::default() }
    }

    /// Whether answers are accepted.
    pub fn is_open(&self) -> bool {
        self.desired <= 1 || self.exempt || self.batch_peak >= self.desired || self.peak_pullers >= self.desired
    }

    /// Warning for a worker that receives a step: fewer workers are active than requested.
    pub fn warning(&self) -> Option<String> {
        let Self { desired, in_flight, .. } = *self;
        (desired > 1 && in_flight < desired).then(|| {
            format!("{in_flight} of {desired} steps are in flight: have {} more workers call get_next_step", desired - in_flight)
        })
    }

    /// A worker starts to wait.
    pub(super) fn wait(&mut self) {
        self.pullers += 1;
        self.peak_pullers = self.peak_pullers.max(self.pullers);
    }

    /// A worker stops waiting.
    pub(super) fn wait_over(&mut self) {
        self.pullers = self.pullers.saturating_sub(1);
    }

    /// A step was assigned to a worker.
    pub(super) fn give(&mut self) {
        self.in_flight += 1;
        self.batch_peak = self.batch_peak.max(self.in_flight);
    }

    /// A worker found no step.
    pub(super) fn note_empty(&mut self) {
        self.exempt = true;
    }

    /// A step is no longer in flight.
    pub(super) fn release(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if self.in_flight == 0 {
            (self.batch_peak, self.exempt) = (0, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_taken_once_enough_are_at_work() {
        let open = |desired, batch_peak, peak_pullers, exempt| {
            InFlightGate { desired, batch_peak, peak_pullers, exempt, ..InFlightGate::default() }.is_open()
        };
        assert!(open(1, 0, 0, false) && open(0, 0, 0, false));
        assert!(!open(4, 1, 1, false));
        assert!(open(4, 4, 1, false) && open(4, 1, 4, false) && open(4, 1, 1, true));
    }

    #[test]
    fn a_batch_ends_when_nothing_is_in_flight() {
        let mut gate = InFlightGate::new(2);
        gate.give();
        assert!(!gate.is_open());
        assert_eq!(gate.warning().expect("there"), "1 of 2 steps are in flight: have 1 more workers call get_next_step");
        gate.note_empty();
        assert!(gate.is_open());
        gate.release();
        gate.give();
        assert!(!gate.is_open(), "each batch for itself");
        gate.give();
        assert!(gate.is_open() && gate.warning().is_none());
    }
}
