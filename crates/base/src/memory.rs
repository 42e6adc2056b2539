//! The program's allocator, which counts for each thread what it has allocated and not freed.
//!
//! A limit on the memory of a script call has to hold whatever the script keeps its values in, so it is read where all memory
//! comes from. A binary that runs scripts declares the allocator ([`Allocator`]); the self-test of the script engine fails in
//! one that does not.

use alloc_metrics::MetricAlloc;
use mimalloc::MiMalloc;

/// The allocator to declare as `#[global_allocator]`. `mimalloc` gives memory back to the system and to other threads: a run over
/// a hundred thousand cases reads its launch on one thread and walks on others.
pub type Allocator = MetricAlloc<MiMalloc>;

/// Makes the allocator.
pub const fn allocator() -> Allocator {
    MetricAlloc::new(MiMalloc)
}

/// The bytes that this thread has allocated, less those it has freed. Memory that was allocated by another thread and freed by
/// this one counts as freed here, so the figure may be negative: only the difference between two readings means something.
pub fn held() -> isize {
    alloc_metrics::thread_metrics().allocated_bytes
}

#[cfg(test)]
mod tests {
    use super::held;
    use std::hint::black_box;

    #[test]
    fn each_thread_counts_its_own_bytes() {
        let before = held();
        let bytes = black_box(vec![0_u8; 1 << 20]);
        assert_eq!(held() - before, 1 << 20);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let before = held();
                let bytes = black_box(vec![0_u8; 1 << 20]);
                (held() - before, bytes)
            });
            let (counted, theirs) = other.join().expect("ends");
            assert_eq!(counted, 1 << 20);
            let mine = held();
            drop(theirs);
            assert_eq!(mine - held(), 1 << 20, "it is counted where it is freed");
        });
        drop(bytes);
    }
}
