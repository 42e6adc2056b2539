//! Enforces the limits of an evaluation, and catches its panics.
//!
//! Rhai's own operation limit does not count what closures do separately, and an error raised inside `sort` is swallowed. So
//! every operation of a call, wherever it happens, is counted here, and its stack depth is measured; once the call exceeds its
//! budget every further operation fails, and the call's result is discarded even if the script caught the error.
//!
//! At every operation the memory held by the call is compared with its limit, as counted by the allocator ([`memory::held`]), so
//! it counts however a script stores its values. Between two operations the memory can grow by one step of the language, which
//! copies at most one value; a host function that makes many copies calls [`check_memory`] between them. So a call never holds
//! much more than twice its limit. Memory that the host keeps beyond the call is allocated in [`apart`].

use super::fault::{self, ScriptFault};
use super::limits::ScriptLimits;
use super::panic_guard;
use asterisk_base::memory;
use rhai::{Dynamic, EvalAltResult, FnPtr, Position};
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// The clock is read once per this many operations: an operation may be a stock function working on a megabyte.
const STRIDE: u64 = 8;

/// A host function is charged one more operation per this many bytes.
const BYTES: usize = 64;

/// CPU time is only measured after this fraction of the limit has passed, since reading that clock costs a system call.
const UNMEASURED: u32 = 2;

/// A host function that works on this many bytes reads the clock.
const MANY: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq)]
enum ExceededLimit {
    Operations,
    Time,
    Memory,
    Text,
    Stack,
}

struct CallBudget {
    active: Cell<bool>,
    operations: Cell<u64>,
    /// The amount this thread may hold, as counted by [`memory::held`].
    memory: Cell<isize>,
    /// The share of that for the call.
    limit: Cell<isize>,
    /// When to compare the clocks next.
    deadline: Cell<Option<Instant>>,
    /// The time limit of a call, and the CPU time of the thread at which it is exhausted, once known.
    time: Cell<Duration>,
    /// What the caller allows, if less.
    allowed: Cell<Option<Duration>>,
    end: Cell<Option<Duration>>,
    /// The lowest address that the stack of this call may reach.
    floor: Cell<usize>,
    over: Cell<Option<ExceededLimit>>,
    /// The variables captured by closures. Kept until the call ends, then cleared one by one: a chain of closures of any length
    /// is dropped without recursion, and a cyclic one is not leaked.
    captured: RefCell<Vec<Dynamic>>,
}

impl CallBudget {
    /// Whether the call has exhausted its time. The first half of the limit is measured as wall-clock time, which is cheap to read; the
    /// second half as CPU time of the thread, so that a busy machine does not fail a call that computes little.
    fn late(&self) -> bool {
        self.deadline.get().is_some_and(|deadline| Instant::now() >= deadline) && self.is_used_up()
    }

    #[cold]
    fn is_used_up(&self) -> bool {
        let rest = self.time.get() / UNMEASURED;
        let Some(now) = thread_time() else {
            // Without a CPU clock, only wall-clock time is measured.
            return self.end.replace(Some(Duration::ZERO)).is_some() || !self.wait(rest);
        };
        let end = self.end.get().unwrap_or(now + rest);
        self.end.set(Some(end));
        let left = end.saturating_sub(now);
        left.is_zero() || !self.wait(left)
    }

    /// Compares the clocks again after this time; `false` if that is never.
    fn wait(&self, time: Duration) -> bool {
        self.deadline.set(Instant::now().checked_add(time));
        self.deadline.get().is_some()
    }

    fn is_full(&self) -> bool {
        memory::held() > self.memory.get()
    }
}

thread_local! {
    static BUDGET: CallBudget = const {
        CallBudget {
            active: Cell::new(false),
            operations: Cell::new(0),
            memory: Cell::new(0),
            limit: Cell::new(0),
            deadline: Cell::new(None),
            time: Cell::new(Duration::ZERO),
            allowed: Cell::new(None),
            end: Cell::new(None),
            floor: Cell::new(0),
            over: Cell::new(None),
            captured: RefCell::new(Vec::new()),
        }
    };
}

/// The reason why an evaluation stopped.
pub(crate) enum EvaluationStop {
    /// An error reported by Rhai.
    Error(Box<EvalAltResult>),
    /// The budget is exceeded; the error has the position where that was noticed, if it was.
    Over(ScriptFault, Option<Box<EvalAltResult>>),
    /// A panic inside Rhai or a host function.
    Panic(String),
}

/// Evaluates within the limits.
pub(crate) fn run<T>(
    limits: &ScriptLimits,
    evaluate: impl FnOnce() -> Result<T, Box<EvalAltResult>>,
) -> Result<T, EvaluationStop> {
    // A host function that calls a script again spends the budget of the enclosing call.
    if BUDGET.with(|budget| budget.active.get()) {
        return evaluate().map_err(EvaluationStop::Error);
    }
    BUDGET.with(|budget| {
        budget.active.set(true);
        budget.operations.set(limits.operations);
        budget.limit.set(isize::try_from(limits.memory).unwrap_or(isize::MAX));
        budget.memory.set(memory::held().saturating_add(budget.limit.get()));
        let time = budget.allowed.get().map_or(limits.time, |allowed| allowed.min(limits.time));
        budget.deadline.set(Instant::now().checked_add(time / UNMEASURED));
        budget.time.set(time);
        budget.end.set(None);
        budget.floor.set(stack_address().saturating_sub(limits.stack));
        budget.over.set(None);
    });
    let outcome = panic_guard::catch(evaluate);
    let over = BUDGET.with(|budget| {
        budget.active.set(false);
        for mut cell in budget.captured.take() {
            // Dropped after the lock is released, while every cell it may refer to is still in the list.
            let held = cell.write_lock::<Dynamic>().map(|mut inner| std::mem::take(&mut *inner));
            drop(held);
        }
        budget.over.get()
    });
    match (outcome, over) {
        (Err(panic), _) => Err(EvaluationStop::Panic(message_of(&*panic))),
        (Ok(outcome), Some(over)) => {
            let time = BUDGET.with(|budget| budget.time.get());
            Err(EvaluationStop::Over(over.fault(limits, time), outcome.err()))
        }
        (Ok(outcome), None) => outcome.map_err(EvaluationStop::Error),
    }
}

/// Runs work whose script calls may take at most this time each, if that is less than their limit.
pub fn within<T>(time: Duration, work: impl FnOnce() -> T) -> T {
    let before = BUDGET.with(|budget| budget.allowed.replace(Some(time)));
    let done = work();
    BUDGET.with(|budget| budget.allowed.set(before));
    done
}

/// Whether the budget of the current call is exceeded.
pub(crate) fn is_over() -> bool {
    BUDGET.with(|budget| budget.active.get() && budget.over.get().is_some())
}

/// Called by the engine at every operation; returns a value to stop once the budget is exceeded.
pub(crate) fn tick() -> Option<Dynamic> {
    BUDGET.with(|budget| {
        if !budget.active.get() {
            return None;
        }
        if budget.over.get().is_none() {
            let left = budget.operations.get();
            if left == 0 {
                budget.over.set(Some(ExceededLimit::Operations));
            } else {
                budget.operations.set(left - 1);
                if left.is_multiple_of(STRIDE) && budget.late() {
                    budget.over.set(Some(ExceededLimit::Time));
                }
                if stack_address() < budget.floor.get() {
                    budget.over.set(Some(ExceededLimit::Stack));
                }
                if budget.is_full() {
                    budget.over.set(Some(ExceededLimit::Memory));
                }
                budget.over.get()?;
            }
        }
        Some(Dynamic::UNIT)
    })
}

/// The operations that the current call may still use.
pub(crate) fn operations_left() -> u64 {
    BUDGET.with(|budget| budget.operations.get())
}

/// Refunds the operations of host nodes placed before others: observing a call must not spend its budget.
pub(crate) fn refund(operations: u64) {
    BUDGET.with(|budget| {
        if budget.active.get() && budget.over.get().is_none() {
            budget.operations.set(budget.operations.get() + operations);
        }
    });
}

/// Charges the work of a host function on some bytes, for which Rhai counts only one operation; fails once the budget is
/// exceeded. Nearly free for small texts.
pub(crate) fn charge(bytes: usize) -> Result<(), Box<EvalAltResult>> {
    spend(bytes / BYTES, bytes >= MANY)
}

/// Charges the operations of an evaluation whose result is reused.
pub(crate) fn charge_operations(operations: u64) -> Result<(), Box<EvalAltResult>> {
    spend(usize::try_from(operations).unwrap_or(usize::MAX), false)
}

/// Charges one operation and reads the clock: for use between steps of slow work.
pub(crate) fn check_clock() -> Result<(), Box<EvalAltResult>> {
    spend(1, true)
}

/// Stops the current call, if any, because of a text that would be too long. Printing a value within a text cannot fail: Rhai
/// would then print it by itself, at any size.
pub(crate) fn text_too_long() -> bool {
    BUDGET.with(|budget| {
        if budget.active.get() {
            budget.over.set(budget.over.get().or(Some(ExceededLimit::Text)));
        }
        budget.active.get()
    })
}

/// Fails if the call holds more memory than allowed: for use between two copies of a value, or other steps that allocate.
pub(crate) fn check_memory() -> Result<(), Box<EvalAltResult>> {
    spend(0, false)
}

/// Runs host work that is not part of the current call, such as filling a cache that outlives it: bytes allocated or freed are
/// not charged to the call. Scripts evaluated meanwhile have a memory limit of their own.
pub fn apart<T>(work: impl FnOnce() -> T) -> T {
    let before = memory::held();
    let most = BUDGET.with(|budget| budget.memory.replace(before.saturating_add(budget.limit.get())));
    let done = work();
    BUDGET.with(|budget| budget.memory.set(most.saturating_add(memory::held() - before)));
    done
}

/// Runs host work that a call waits for but that is not its own, such as preparing a script it is the first to need: nothing of it
/// counts towards the limits of the call, and scripts evaluated meanwhile have limits of their own.
pub(crate) fn aside<T>(work: impl FnOnce() -> T) -> T {
    if !BUDGET.with(|budget| budget.active.get()) {
        return work();
    }
    let (wall, processor) = (Instant::now(), thread_time());
    let (before, saved) = BUDGET.with(|budget| {
        let saved = CallBudget {
            active: Cell::new(budget.active.replace(false)),
            operations: Cell::new(budget.operations.get()),
            memory: Cell::new(budget.memory.get()),
            limit: Cell::new(budget.limit.get()),
            deadline: Cell::new(budget.deadline.get()),
            time: Cell::new(budget.time.get()),
            allowed: Cell::new(budget.allowed.replace(None)),
            end: Cell::new(budget.end.get()),
            floor: Cell::new(budget.floor.get()),
            over: Cell::new(budget.over.get()),
            captured: RefCell::new(budget.captured.take()),
        };
        (memory::held(), saved)
    });
    let done = work();
    let processor = thread_time().zip(processor).map_or(Duration::ZERO, |(now, then)| now.saturating_sub(then));
    BUDGET.with(|budget| {
        budget.active.set(saved.active.get());
        budget.operations.set(saved.operations.get());
        budget.memory.set(saved.memory.get().saturating_add(memory::held() - before));
        budget.limit.set(saved.limit.get());
        budget.deadline.set(saved.deadline.get().and_then(|deadline| deadline.checked_add(wall.elapsed())));
        budget.time.set(saved.time.get());
        budget.allowed.set(saved.allowed.get());
        budget.end.set(saved.end.get().map(|end| end + processor));
        budget.floor.set(saved.floor.get());
        budget.over.set(saved.over.get());
        budget.captured.replace(saved.captured.take());
    });
    done
}

fn spend(operations: usize, look: bool) -> Result<(), Box<EvalAltResult>> {
    let within = BUDGET.with(|budget| {
        if !budget.active.get() {
            return true;
        }
        if budget.over.get().is_none() {
            match budget.operations.get().checked_sub(u64::try_from(operations).unwrap_or(u64::MAX)) {
                Some(left) => budget.operations.set(left),
                None => budget.over.set(Some(ExceededLimit::Operations)),
            }
            if look && budget.late() {
                budget.over.set(Some(ExceededLimit::Time));
            }
            if budget.is_full() {
                budget.over.set(Some(ExceededLimit::Memory));
            }
        }
        budget.over.get().is_none()
    });
    if within { Ok(()) } else { terminated() }
}

/// No script can catch it.
#[cold]
fn terminated<T>() -> Result<T, Box<EvalAltResult>> {
    Err(Box::new(EvalAltResult::ErrorTerminated(Dynamic::UNIT, Position::NONE)))
}

/// The CPU time that this thread has used, where the platform reports it.
#[cfg(unix)]
fn thread_time() -> Option<Duration> {
    Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime)).ok()
}

#[cfg(not(unix))]
fn thread_time() -> Option<Duration> {
    None
}

/// The approximate address of the stack. Nesting depth is a poor measure of stack use: an operation inside a list inside a
/// closure takes ten times as much as an addition, and a debug build ten times more.
fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)).addr()
}

/// Called when a closure captures variables: keeps track of them.
pub(crate) fn captured(closure: &Dynamic) {
    BUDGET.with(|budget| {
        if budget.active.get()
            && let Some(closure) = closure.read_lock::<FnPtr>()
        {
            budget.captured.borrow_mut().extend(closure.curry().iter().filter(|value| value.is_shared()).cloned());
        }
    });
}

impl ExceededLimit {
    fn fault(self, limits: &ScriptLimits, time: Duration) -> ScriptFault {
        match self {
            Self::Stack => ScriptFault::new(fault::LIMIT, "functions and expressions are nested too deep")
                .help("does a recursion never end? Use a loop, or give parts of the expression names"),
            Self::Operations => ScriptFault::new(fault::LIMIT, format!("the script used more than {} operations", limits.operations))
                .help("does a loop or a recursion never end? Process less data in one call"),
            Self::Time => ScriptFault::new(fault::DEADLINE, format!("the script took longer than {}", seconds(time)))
                .help("does a loop or a recursion never end? Process less data in one call"),
            Self::Text => ScriptFault::new(fault::LIMIT, format!("this creates a string of more than {} bytes", limits.string))
                .help("keep only what is needed"),
            Self::Memory => ScriptFault::new(fault::LIMIT, format!("the script holds more than {} of memory", bytes(limits.memory)))
                .help("a value that is stored, passed or captured may be copied: keep only what is needed, or process less data in one call"),
        }
    }
}

fn bytes(count: usize) -> String {
    match count.checked_shr(20) {
        Some(whole) if whole << 20 == count && whole > 0 => format!("{whole} MiB"),
        _ => format!("{count} bytes"),
    }
}

fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
