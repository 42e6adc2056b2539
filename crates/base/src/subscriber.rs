//! The subscriber of `tracing` that a thread reports to. There is none for the whole process: each call of the program has its own.

use tracing::dispatcher::{Dispatch, get_default, with_default};
use tracing::subscriber::NoSubscriber;
use tracing::{Level, Span, level_enabled};

/// Whether anything may subscribe to spans. A cheap test before work that only a subscriber needs.
pub fn may_exist() -> bool {
    level_enabled!(Level::ERROR)
}

/// The subscriber and the span of a thread, to be taken over by the threads that it starts.
pub struct Inherited(Option<(Dispatch, Span)>);

impl Inherited {
    /// Those of this thread.
    pub fn here() -> Self {
        let subscribed = |dispatch: &Dispatch| (!dispatch.is::<NoSubscriber>()).then(|| dispatch.clone());
        let dispatch = if may_exist() { get_default(subscribed) } else { None };
        Self(dispatch.map(|dispatch| (dispatch, Span::current())))
    }

    /// Does work on another thread as if on that one.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some((dispatch, span)) => with_default(dispatch, || span.in_scope(work)),
            None => work(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    /// Counts events, and remembers which spans are entered.
    #[derive(Default)]
    struct Counter {
        events: AtomicUsize,
        entered: Mutex<Vec<u64>>,
    }

    impl Subscriber for Counter {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(7)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, _: &Event<'_>) {
            self.events.fetch_add(1, Ordering::Relaxed);
        }
        fn enter(&self, span: &Id) {
            self.entered.lock().expect("no panic").push(span.into_u64());
        }
        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn threads_inherit_the_subscriber_and_the_span() {
        let within = |inherited: &Inherited| {
            std::thread::scope(|scope| drop(scope.spawn(|| inherited.within(|| tracing::info!("seen"))).join()));
        };
        within(&Inherited::here());
        let dispatch = Dispatch::new(Counter::default());
        with_default(&dispatch, || {
            let span = tracing::info_span!("span");
            within(&Inherited(Some((dispatch.clone(), span))));
            within(&Inherited::here());
            assert!(may_exist());
        });
        let counter = dispatch.downcast_ref::<Counter>().expect("the subscriber");
        assert_eq!(counter.events.load(Ordering::Relaxed), 2);
        assert_eq!(*counter.entered.lock().expect("no panic"), [7]);
    }
}
