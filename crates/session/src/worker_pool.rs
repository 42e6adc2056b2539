//! The worker pool: the same threads from the first case to the last.
//!
//! A thread that searches with a regex for the first time makes a cache that stays with the regex. Fresh threads for every batch
//! would leave behind a multiple of what those caches take.

use asterisk_script::probe::ThreadContext;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The stack of a thread, in bytes: deep script expressions are evaluated recursively.
const STACK: usize = 64 << 20;

/// The number of items that each thread takes at a time where results are wanted in order.
const STRETCH: usize = 64;

/// Worker threads, started on first use.
#[derive(Debug)]
pub struct WorkerPool {
    count: usize,
    /// `None` if the system gives no threads: the work is then done by the caller.
    pool: OnceLock<Option<ThreadPool>>,
}

impl WorkerPool {
    /// A pool of `count` threads, at least one.
    pub fn new(count: usize) -> Self {
        Self { count: count.max(1), pool: OnceLock::new() }
    }

    /// A pool with a thread per processor.
    pub fn all() -> Self {
        Self::new(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// The number of its threads.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    fn pool(&self) -> Option<&ThreadPool> {
        let build = || ThreadPoolBuilder::new().num_threads(self.count).stack_size(STACK).build().ok();
        self.pool.get_or_init(build).as_ref()
    }

    /// Runs `work` on every thread concurrently. Returns whether none panicked.
    pub(super) fn each(&self, work: impl Fn() + Sync) -> bool {
        let panicked = AtomicBool::new(false);
        let work = || {
            if catch_unwind(AssertUnwindSafe(&work)).is_err() {
                panicked.store(true, Ordering::Relaxed);
            }
        };
        match self.pool() {
            Some(pool) => {
                let context = ThreadContext::here();
                pool.broadcast(|_| context.within(work));
            }
            None => work(),
        }
        !panicked.into_inner()
    }

    /// Maps the items concurrently; the results are in their order.
    pub fn map<T: Sync, R: Send>(&self, items: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
        match self.pool() {
            Some(pool) => {
                let context = ThreadContext::here();
                let make = |item| context.within(|| make(item));
                pool.install(|| items.par_iter().with_max_len(1).map(make).collect())
            }
            None => items.iter().map(make).collect(),
        }
    }

    /// Maps the items concurrently and passes the results on in order, a chunk at a time, until the first error.
    pub fn in_order<T: Sync, R: Send, E: Send>(
        &self,
        items: &[T],
        make: impl Fn(&T) -> Result<R, E> + Sync,
        mut take: impl FnMut(R) -> Result<(), E>,
    ) -> Result<(), E> {
        for stretch in items.chunks(STRETCH * self.count) {
            self.map(stretch, &make).into_iter().try_for_each(|made| take(made?))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::Mutex;

    #[test]
    fn results_are_ordered_and_end_at_an_error() {
        let items: Vec<usize> = (0..1000).collect();
        let mut seen = Vec::new();
        let double = |item: &usize| if *item < 700 { Ok(item * 2) } else { Err(*item) };
        let end = WorkerPool::new(3).in_order(&items, double, |made| {
            seen.push(made);
            Ok(())
        });
        assert_eq!(end, Err(700));
        assert_eq!(seen, (0..700).map(|item| item * 2).collect::<Vec<_>>());
        assert_eq!(WorkerPool::all().map(&[] as &[usize], |item| *item), Vec::<usize>::new());
    }

    #[test]
    fn threads_are_reused() {
        let (pool, threads) = (WorkerPool::new(2), Mutex::new(HashSet::new()));
        let note = || {
            threads.lock().expect("no panic").insert(std::thread::current().id());
        };
        for _ in 0..20 {
            assert!(pool.each(note));
            pool.map(&[1, 2, 3], |_| note());
        }
        assert_eq!(threads.lock().expect("no panic").len(), 2);
        assert!(!pool.each(|| panic!("a bug")), "it is told");
        assert!(pool.each(|| ()), "and they go on");
    }
}
