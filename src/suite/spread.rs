//! Work on several threads whose results come in the order of the jobs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The stack of a thread that runs tests, in bytes: more than any limit lets scripts use.
const STACK: usize = 32 << 20;

/// Does every job, as many at once as the machine has processors.
pub(super) fn spread<J: Sync, R: Send>(jobs: &[J], work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::default();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else { break };
            let result = work(job);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len()).max(1);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            // Without a thread of its own the work is done here.
            if std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).is_err() {
                work();
            }
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_jobs() {
        let jobs: Vec<usize> = (0..500).collect();
        let doubled: Vec<usize> = jobs.iter().map(|job| job * 2).collect();
        assert_eq!(spread(&jobs, |job| job * 2), doubled);
        assert_eq!(spread(&[] as &[usize], |job| *job), Vec::<usize>::new());
    }
}
