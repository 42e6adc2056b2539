//! Keeps an evaluation within its limits, and its panics from getting out.
//!
//! Rhai's own operation limit does not count what closures do apart from it, and an error raised inside `sort` is swallowed. So
//! every operation of a call, wherever it happens, is counted here, and the stack it stands on is measured; once the call is over its budget every further operation
//! fails, and the call's result is refused even if the script caught the error.
//!
//! At every operation the memory that the call holds is compared with its limit, as the allocator counts it ([`memory::held`]):
//! whatever a script keeps its values in, they count. Between two operations the memory can grow by one step of the language, which
//! copies a value at most; a function of the host that makes many copies calls [`check_memory`] between them. So a call never
//! holds much more than twice its limit. What the host itself keeps beyond the call is made [`apart`].

use super::fault::{self, ScriptFault};
use super::limits::ScriptLimits;
use super::panic_guard;
use crate::memory;
use rhai::{Dynamic, EvalAltResult, FnPtr, Position};
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// The clock is read once in so many operations: an operation may be a stock function at work on a megabyte.
const STRIDE: u64 = 8;

/// A function of the host that works on so many bytes counts as an operation more.
const BYTES: usize = 64;

/// A function of the host that works on so many bytes looks at the clock.
const MANY: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq)]
enum ExceededLimit {
    Operations,
    Wall,
    Memory,
    Text,
    Stack,
}

struct CallBudget {
    active: Cell<bool>,
    operations: Cell<u64>,
    /// What this thread may hold, as [`memory::held`] counts it.
    memory: Cell<isize>,
    /// How much of that is for the call.
    limit: Cell<isize>,
    deadline: Cell<Option<Instant>>,
    /// The lowest address that the stack of this call may reach.
    floor: Cell<usize>,
    over: Cell<Option<ExceededLimit>>,
    /// The variables that closures captured. Kept until the call ends, then emptied one by one: a chain of closures of any
    /// length is taken apart without recursion, and one that contains itself is not leaked.
    captured: RefCell<Vec<Dynamic>>,
}

impl CallBudget {
    fn late(&self) -> bool {
        self.deadline.get().is_some_and(|deadline| Instant::now() >= deadline)
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
            floor: Cell::new(0),
            over: Cell::new(None),
            captured: RefCell::new(Vec::new()),
        }
    };
}

/// What ended an evaluation.
pub(crate) enum EvaluationStop {
    /// An error that Rhai reports.
    Error(Box<EvalAltResult>),
    /// The budget is spent; the error says where it was noticed, if it was.
    Over(ScriptFault, Option<Box<EvalAltResult>>),
    /// A panic inside Rhai or a host function.
    Panic(String),
}

/// Evaluates within the limits.
pub(crate) fn run<T>(
    limits: &ScriptLimits,
    evaluate: impl FnOnce() -> Result<T, Box<EvalAltResult>>,
) -> Result<T, EvaluationStop> {
    // A host function that calls a script again spends the budget of the call it is part of.
    if BUDGET.with(|budget| budget.active.get()) {
        return evaluate().map_err(EvaluationStop::Error);
    }
    BUDGET.with(|budget| {
        budget.active.set(true);
        budget.operations.set(limits.operations);
        budget.limit.set(isize::try_from(limits.memory).unwrap_or(isize::MAX));
        budget.memory.set(memory::held().saturating_add(budget.limit.get()));
        budget.deadline.set(Instant::now().checked_add(limits.wall));
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
        (Ok(outcome), Some(over)) => Err(EvaluationStop::Over(over.fault(limits), outcome.err())),
        (Ok(outcome), None) => outcome.map_err(EvaluationStop::Error),
    }
}

/// Whether the budget of the call that is going on is spent.
pub(crate) fn is_over() -> bool {
    BUDGET.with(|budget| budget.active.get() && budget.over.get().is_some())
}

/// Called by the engine at every operation: something, once the budget is spent.
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
                    budget.over.set(Some(ExceededLimit::Wall));
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

/// Takes back the operations that a node of ours in front of another counts as: watching a call must not spend its budget.
pub(crate) fn refund(operations: u64) {
    BUDGET.with(|budget| {
        if budget.active.get() && budget.over.get().is_none() {
            budget.operations.set(budget.operations.get() + operations);
        }
    });
}

/// Counts what a function of the host does as its work on so many bytes, for which Rhai counts one operation; fails once the
/// budget is spent. Costs next to nothing for small texts.
pub(crate) fn charge(bytes: usize) -> Result<(), Box<EvalAltResult>> {
    spend(bytes / BYTES, bytes >= MANY)
}

/// Counts one operation and reads the clock: between the steps of work that may take long without being much.
pub(crate) fn check_clock() -> Result<(), Box<EvalAltResult>> {
    spend(1, true)
}

/// Ends the call because of a text that would be too long, if one is going on. What prints a value within a text cannot fail: Rhai
/// would then print it by itself, whatever its size.
pub(crate) fn text_too_long() -> bool {
    BUDGET.with(|budget| {
        if budget.active.get() {
            budget.over.set(budget.over.get().or(Some(ExceededLimit::Text)));
        }
        budget.active.get()
    })
}

/// Fails once the call holds more memory than it may: between two copies of a value, or two other steps that take memory.
pub(crate) fn check_memory() -> Result<(), Box<EvalAltResult>> {
    spend(0, false)
}

/// Does what belongs to the host and not to the call that is going on, such as filling a memory that outlives it: the bytes
/// it keeps or frees do not count for the call. Scripts that are evaluated meanwhile may hold as much as a call of their own.
pub fn apart<T>(work: impl FnOnce() -> T) -> T {
    let before = memory::held();
    let most = BUDGET.with(|budget| budget.memory.replace(before.saturating_add(budget.limit.get())));
    let done = work();
    BUDGET.with(|budget| budget.memory.set(most.saturating_add(memory::held() - before)));
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
                budget.over.set(Some(ExceededLimit::Wall));
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

/// Where the stack is, about. How deep a script nests says little about how much stack that takes: an operation inside a list
/// inside a closure takes ten times what a sum does, and a debug build ten times that again.
fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)).addr()
}

/// Called when a closure captures variables: keeps what it captured within reach.
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
    fn fault(self, limits: &ScriptLimits) -> ScriptFault {
        match self {
            Self::Stack => ScriptFault::new(fault::LIMIT, "functions and expressions are nested too deep")
                .help("does a recursion never end? Use a loop, or give parts of the expression names"),
            Self::Operations => ScriptFault::new(fault::LIMIT, format!("the script used more than {} operations", limits.operations))
                .help("does a loop or a recursion never end? Work through less data in one call"),
            Self::Wall => ScriptFault::new(fault::DEADLINE, format!("the script took longer than {}", seconds(limits.wall)))
                .help("does a loop or a recursion never end? Work through less data in one call"),
            Self::Text => ScriptFault::new(fault::LIMIT, format!("this makes a text of more than {} bytes", limits.string))
                .help("take only what is needed"),
            Self::Memory => ScriptFault::new(fault::LIMIT, format!("the script holds more than {} of memory", bytes(limits.memory)))
                .help("a value that is stored, passed or captured may be copied: keep only what is needed of it, or work through less data in one call"),
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
