//! Reuses the results of functions. A script is a pure function of data, so a function that reads the same again returns the same.
//!
//! While a function runs, the fields are noted that it (and what it calls) reads of its parameters. Its results are kept by these
//! fields, and by a hash of the values that they had. A call looks up the values that the same fields have now; if there is a result
//! for them, the body would read the same and return the same, and is not evaluated. So two failures share the result of a rule that
//! reads the same of both, however different the rest of their evidence is.
//!
//! - Objects are read by field, to a depth of [`DEEPEST`]; lists, and objects below that, as a whole, by a hash of their content.
//! - The operations that the evaluation took are charged to every call that reuses its result, so that limits do not depend on what
//!   was evaluated before.
//! - Errors are not kept. Functions that are short, or that take arrays, maps or closures of scripts, are evaluated each time; those
//!   whose results are not reused, most of the time.
//! - All threads share what is kept: up to [`MOST_HELD`] bytes, the latest.
//!
//! Libraries that are linked for explanations and coverage ([`Probes`](super::probe::Probes)) reuse nothing.

use super::guard;
use super::probe::note_reused;
use super::rhai_internals::node::RewrittenExpr;
use super::strict::misplaced;
use super::view::{Fingerprint, ListView, ObjectView, View};
use asterisk_base::memory;
use asterisk_base::model::Hash;
use compact_str::CompactString;
use rhai::{Dynamic, Engine, EvalAltResult, EvalContext, Expression, FnPtr, ImmutableString, Module, Shared};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicIsize, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

const MEMO: &str = "\u{2039}memo\u{203a}";

/// The depth to which objects are read by field.
const DEEPEST: usize = 2;

/// The bytes that are kept: a half of it is of the current generation, and the rest of the one before.
const MOST_HELD: isize = 32 << 20;

/// The number of calls of a function that are measured before it is decided whether its results are kept.
const MEASURED: u32 = 8;

/// The least operations of a call, on average, for which results are kept.
const WORTH: u64 = 24;

/// The number of results that make a round. If fewer than a quarter of them was reused, the function pauses.
const ROUND: u32 = 512;

/// The number of calls of a pause, which are evaluated without keeping their results.
const PAUSE: u32 = 1024;

/// The most parts of a result that is kept.
const MOST_PARTS: u64 = 8192;

/// The most fields that a call may read.
const MOST_READ: usize = 256;

/// The most sets of fields that a function reads, of a generation.
const MOST_SETS: usize = 12;

/// A function whose results may be kept.
struct MemoSite {
    /// The number of its parameters.
    params: usize,
    /// The number of imports of its file.
    imports: usize,
    /// The calls that were measured, and their operations.
    calls: AtomicU32,
    operations: AtomicU64,
    /// Of the current round: the results that were reused, and that were kept.
    reused: AtomicU32,
    kept: AtomicU32,
    /// The number of calls that still keep nothing; `u32::MAX` if none ever does.
    pause: AtomicU32,
    results: RwLock<SiteResults>,
}

/// The state of a node.
#[derive(Clone)]
struct SharedSite(Arc<MemoSite>);

/// The results of a function: of this generation, and of the one before.
#[derive(Default)]
struct SiteResults {
    young: Vec<ReadSet>,
    old: Vec<ReadSet>,
}

/// The results of the calls that read the same fields, of a function whose file imports these modules. A text that is linked again with
/// other imports is another function.
struct ReadSet {
    modules: Modules,
    reads: Vec<FieldRead>,
    /// By a hash of what they read.
    results: HashMap<Hash, KeptResult>,
}

#[derive(Clone)]
struct KeptResult {
    value: Dynamic,
    operations: u64,
}

type Modules = SmallVec<[Shared<Module>; 8]>;

/// All functions.
static SITES: Mutex<Vec<Weak<MemoSite>>> = Mutex::new(Vec::new());
/// The bytes of this generation.
static HELD: AtomicIsize = AtomicIsize::new(0);

/// A node in front of a function's body.
pub(crate) fn memo(body: RewrittenExpr, params: usize, imports: usize) -> RewrittenExpr {
    let position = body.position();
    let site = Arc::new(MemoSite {
        params,
        imports,
        calls: AtomicU32::new(0),
        operations: AtomicU64::new(0),
        reused: AtomicU32::new(0),
        kept: AtomicU32::new(0),
        pause: AtomicU32::new(0),
        results: RwLock::default(),
    });
    let mut sites = SITES.lock().unwrap_or_else(PoisonError::into_inner);
    if sites.len() == sites.capacity() {
        sites.retain(|site| site.strong_count() > 0);
    }
    sites.push(Arc::downgrade(&site));
    drop(sites);
    RewrittenExpr::host(MEMO, [body], Dynamic::from(SharedSite(site)), position)
}

/// Registers the evaluation of the node.
pub(crate) fn register(engine: &mut Engine) {
    let registered = engine.register_custom_syntax_handler(MEMO, false, evaluate);
    debug_assert!(registered.is_ok());
}

fn evaluate(context: &mut EvalContext, inputs: &[Expression], state: &Dynamic) -> Result<Dynamic, Box<EvalAltResult>> {
    let [body] = inputs else { return misplaced().fail() };
    // One operation was counted for this node.
    guard::refund(1);
    let site = state.read_lock::<SharedSite>().ok_or_else(misplaced)?;
    let site = &*site.0;
    let before = guard::operations_left();
    let call = match guard::apart(|| MemoCall::begin(site, context)) {
        MemoStart::Plain => return context.eval_expression_tree(body),
        MemoStart::Known(KeptResult { value, operations }) => {
            note_reused();
            guard::charge_operations(operations)?;
            return Ok(value);
        }
        MemoStart::Measured => {
            let value = context.eval_expression_tree(body);
            site.measured(before.saturating_sub(guard::operations_left()));
            return value;
        }
        MemoStart::Tracked(call) => call,
    };
    let value = match context.eval_expression_tree(body) {
        Err(error) => match *error {
            EvalAltResult::Return(value, _) => value.flatten(),
            // Dropping the call ends it.
            other => return Err(Box::new(other)),
        },
        Ok(value) => value.flatten(),
    };
    let operations = before.saturating_sub(guard::operations_left());
    if !guard::is_over() {
        guard::apart(|| call.keep(site, &value, operations));
    }
    Ok(value)
}

/// How a call goes on.
enum MemoStart {
    /// The body is evaluated.
    Plain,
    /// The body is evaluated, to see how long it takes.
    Measured,
    /// The result is known.
    Known(KeptResult),
    /// The body is evaluated, and what it reads is noted.
    Tracked(MemoCall),
}

/// An argument.
#[derive(Clone)]
enum Argument {
    View(View),
    Scalar(Fingerprint),
}

type Arguments = SmallVec<[Argument; 4]>;

/// A call whose reads are noted, until it ends.
struct MemoCall {
    modules: Modules,
    /// The number of trackers with its own.
    depth: usize,
}

/// The names of the fields that lead from an argument to an object or value in it.
type FieldPath = SmallVec<[CompactString; DEEPEST]>;

/// A read of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldRead {
    argument: u8,
    path: FieldPath,
    by: ReadBy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadBy {
    /// Its value: a whole list, or a whole object below the depth.
    Value,
    /// Only whether it is an object.
    Kind,
    /// Only whether it is present and not null.
    Presence,
}

/// Notes the reads of a call.
struct Tracker {
    arguments: Arguments,
    /// The objects whose fields are noted.
    watched: SmallVec<[WatchedObject; 8]>,
    reads: Vec<(FieldRead, Option<View>)>,
    /// Reads too much to be kept.
    full: bool,
}

/// An object whose fields are noted, and where it was read.
struct WatchedObject {
    address: usize,
    argument: u8,
    path: FieldPath,
    /// The fields that were read there.
    keys: SmallVec<[CompactString; 8]>,
    /// The fields whose presence was read.
    presence: SmallVec<[CompactString; 2]>,
    /// Whether all of it was read.
    is_whole: bool,
    /// Held, so that the address remains that of this object.
    view: View,
}

thread_local! {
    /// The trackers of the calls under way, outermost first.
    static TRACKERS: RefCell<Vec<Tracker>> = const { RefCell::new(Vec::new()) };
    static TRACKING: Cell<bool> = const { Cell::new(false) };
}

impl MemoSite {
    fn measured(&self, operations: u64) {
        let operations = self.operations.fetch_add(operations, Relaxed) + operations;
        let calls = self.calls.fetch_add(1, Relaxed) + 1;
        if calls >= MEASURED && operations < WORTH * u64::from(calls) {
            self.pause.store(u32::MAX, Relaxed);
        }
    }

    /// Whether this call keeps nothing.
    fn pauses(&self) -> bool {
        match self.pause.load(Relaxed) {
            0 => false,
            u32::MAX => true,
            left => {
                self.pause.store(left - 1, Relaxed);
                true
            }
        }
    }

    /// Whether a result is to be kept; after a round with too few reused results, it is not, and a pause begins.
    fn is_worth_it(&self) -> bool {
        let kept = self.kept.fetch_add(1, Relaxed) + 1;
        if kept < ROUND {
            return true;
        }
        self.kept.store(0, Relaxed);
        if self.reused.swap(0, Relaxed) >= ROUND / 4 {
            return true;
        }
        self.pause.store(PAUSE, Relaxed);
        false
    }

    fn find(&self, arguments: &Arguments, imports: &[usize]) -> Option<KeptResult> {
        let results = self.results.read().unwrap_or_else(PoisonError::into_inner);
        let (set, known) = results.young.iter().chain(&results.old).filter(|set| set.is_of(imports)).find_map(|set| {
            let known = set.results.get(&hash_of(set.reads.iter().map(|read| read.of(arguments))))?;
            Some((set, known.clone()))
        })?;
        // Calls around it read the same.
        if TRACKING.get() {
            set.reads.iter().for_each(|read| read.note(arguments));
        }
        Some(known)
    }

    fn keep(&self, modules: Modules, reads: Vec<(FieldRead, Fingerprint)>, result: KeptResult) {
        let mut results = self.results.write().unwrap_or_else(PoisonError::into_inner);
        let imports = addresses(&modules);
        let (reads, values): (Vec<FieldRead>, Vec<Fingerprint>) = reads.into_iter().unzip();
        let hash = hash_of(values.into_iter());
        if let Some(set) = results.young.iter_mut().find(|set| set.is_of(&imports) && set.reads == reads) {
            set.results.insert(hash, result);
        } else if results.young.len() < MOST_SETS {
            results.young.push(ReadSet { modules, reads, results: HashMap::from([(hash, result)]) });
        }
    }
}

/// A hash of the values that were read, in order.
fn hash_of(values: impl Iterator<Item = Fingerprint>) -> Hash {
    let mut bytes: SmallVec<[u8; 512]> = SmallVec::new();
    values.for_each(|value| value.encode(&mut bytes));
    Hash::of(&bytes)
}

fn addresses(modules: &Modules) -> SmallVec<[usize; 8]> {
    modules.iter().map(|module| Arc::as_ptr(module).addr()).collect()
}

impl ReadSet {
    fn is_of(&self, imports: &[usize]) -> bool {
        self.modules.len() == imports.len()
            && self.modules.iter().zip(imports).all(|(own, other)| Arc::as_ptr(own).addr() == *other)
    }
}

/// Begins a generation if this one is full: the one before is dropped.
fn age() {
    if HELD.load(Relaxed) < MOST_HELD / 2 {
        return;
    }
    let mut sites = SITES.lock().unwrap_or_else(PoisonError::into_inner);
    if HELD.swap(0, Relaxed) < MOST_HELD / 2 {
        return;
    }
    sites.retain(|site| {
        let Some(site) = site.upgrade() else { return false };
        let mut results = site.results.write().unwrap_or_else(PoisonError::into_inner);
        results.old = std::mem::take(&mut results.young);
        true
    });
}

impl MemoCall {
    fn begin(site: &MemoSite, context: &mut EvalContext) -> MemoStart {
        if site.pauses() {
            return MemoStart::Plain;
        }
        if site.calls.load(Relaxed) < MEASURED {
            return MemoStart::Measured;
        }
        if context.this_ptr().is_some() {
            return MemoStart::Plain;
        }
        let mut arguments: Arguments = SmallVec::new();
        // The innermost variable comes first.
        for (_, _, value) in context.scope().iter_raw().take(site.params) {
            match argument(value) {
                Some(argument) => arguments.push(argument),
                None => return MemoStart::Plain,
            }
        }
        if arguments.len() != site.params {
            return MemoStart::Plain;
        }
        let modules: Modules =
            context.global_runtime_state().iter_imports_raw().take(site.imports).map(|(_, module)| module.clone()).collect();
        if let Some(known) = site.find(&arguments, &addresses(&modules)) {
            site.reused.fetch_add(1, Relaxed);
            return MemoStart::Known(known);
        }
        let depth = TRACKERS.with_borrow_mut(|trackers| {
            trackers.push(Tracker::of(arguments));
            trackers.len()
        });
        TRACKING.set(true);
        MemoStart::Tracked(Self { modules, depth })
    }

    /// Keeps its result.
    fn keep(mut self, site: &MemoSite, value: &Dynamic, operations: u64) {
        let (fits, count, whole) = TRACKERS.with_borrow(|trackers| {
            let Some(tracker) = self.depth.checked_sub(1).and_then(|at| trackers.get(at)) else { return (false, 0, Vec::new()) };
            let mut parts = ResultParts { tracker, count: 0, whole: Vec::new() };
            (parts.take(value), parts.count, parts.whole)
        });
        whole.into_iter().for_each(read_whole);
        let Some(tracker) = self.end() else { return };
        if !fits || tracker.full || operations < count {
            site.pause.store(u32::MAX, Relaxed);
            return;
        }
        if !site.is_worth_it() {
            return;
        }
        let before = memory::held();
        let reads: Vec<(FieldRead, Fingerprint)> =
            tracker.reads.iter().map(|(read, value)| (read.clone(), tracker.was(read, value.as_ref()))).collect();
        drop(tracker);
        site.keep(std::mem::take(&mut self.modules), reads, KeptResult { value: value.clone(), operations });
        HELD.fetch_add(memory::held() - before, Relaxed);
        age();
    }

    /// Ends the noting of reads.
    fn end(&mut self) -> Option<Tracker> {
        let depth = std::mem::take(&mut self.depth);
        if depth == 0 {
            return None;
        }
        TRACKERS.with_borrow_mut(|trackers| {
            trackers.truncate(depth);
            let tracker = trackers.pop();
            TRACKING.set(!trackers.is_empty());
            tracker
        })
    }
}

impl Drop for MemoCall {
    fn drop(&mut self) {
        drop(self.end());
    }
}

/// The argument that a value is; nothing for arrays, maps and functions.
fn argument(value: &Dynamic) -> Option<Argument> {
    if let Some(object) = value.read_lock::<ObjectView>() {
        return Some(Argument::View(View::from(object.clone())));
    }
    if let Some(list) = value.read_lock::<ListView>() {
        return Some(Argument::View(View::from(list.clone())));
    }
    let scalar = if let Some(text) = value.read_lock::<ImmutableString>() {
        Fingerprint::Text(text.clone())
    } else if let Ok(number) = value.as_int() {
        Fingerprint::Int(number)
    } else if let Ok(truth) = value.as_bool() {
        Fingerprint::Bool(truth)
    } else if let Ok(number) = value.as_float() {
        Fingerprint::Float(number.to_bits())
    } else if value.is_unit() {
        Fingerprint::Null
    } else {
        return None;
    };
    Some(Argument::Scalar(scalar))
}

/// Examines a result: whether it is plain data, its size, and which parts of the arguments are in it.
struct ResultParts<'t> {
    tracker: &'t Tracker,
    count: u64,
    /// The objects of the arguments that are in it, whose content the caller may read.
    whole: Vec<usize>,
}

impl ResultParts<'_> {
    /// Whether a part can be kept.
    fn take(&mut self, value: &Dynamic) -> bool {
        self.count += 1;
        if self.count > MOST_PARTS || value.is_shared() {
            return false;
        }
        if let Ok(items) = value.as_array_ref() {
            return items.iter().all(|item| self.take(item));
        }
        if let Ok(map) = value.as_map_ref() {
            return map.values().all(|item| self.take(item));
        }
        if let Some(object) = value.read_lock::<ObjectView>() {
            return self.view(&View::from(object.clone()));
        }
        if let Some(list) = value.read_lock::<ListView>() {
            return self.view(&View::from(list.clone()));
        }
        !value.is::<FnPtr>()
            && (value.is_string() || value.is_int() || value.is_bool() || value.is_float() || value.is_unit() || value.is_char())
    }

    /// A frozen part may contain objects of the arguments.
    fn view(&mut self, view: &View) -> bool {
        self.count += 1;
        let Some(address) = view.address() else { return true };
        if self.tracker.watched.iter().any(|known| known.address == address) {
            self.whole.push(address);
            return true;
        }
        let is_read = |(read, value): &(FieldRead, Option<View>)| {
            read.by == ReadBy::Value && value.as_ref().and_then(View::address) == Some(address)
        };
        self.tracker.reads.iter().any(is_read) || self.count <= MOST_PARTS && view.parts().all(|part| self.view(part))
    }
}

impl FieldRead {
    /// What a call would read there.
    fn of(&self, arguments: &Arguments) -> Fingerprint {
        let Some(argument) = arguments.get(usize::from(self.argument)) else { return Fingerprint::Missing };
        let view = match argument {
            Argument::Scalar(scalar) => return scalar.clone(),
            Argument::View(view) => view,
        };
        let path = if self.by == ReadBy::Presence { &self.path[..self.path.len() - 1] } else { &self.path[..] };
        let found = path.iter().try_fold(view.clone(), |view, key| view.peek(key));
        match (self.by, found) {
            (_, None) => Fingerprint::Missing,
            (ReadBy::Value, found) => Fingerprint::of(found.as_ref()),
            (ReadBy::Kind, Some(found)) => found.kind(),
            (ReadBy::Presence, Some(found)) => Fingerprint::Bool(self.path.last().is_some_and(|key| found.peek_presence(key))),
        }
    }

    /// Lets the calls around note it.
    fn note(&self, arguments: &Arguments) {
        let Some(Argument::View(view)) = arguments.get(usize::from(self.argument)) else { return };
        let (last, around) = match (self.by, self.path.split_last()) {
            (ReadBy::Presence, Some((last, around))) => (Some(last), around),
            _ => (None, &self.path[..]),
        };
        let Some(found) = around.iter().try_fold(view.clone(), |view, key| view.get(key)) else { return };
        match last {
            Some(last) => drop(found.has(last)),
            None if self.by == ReadBy::Value => found.object_address().into_iter().for_each(read_whole),
            None => {}
        }
    }
}

impl WatchedObject {
    fn new(view: View, address: usize, argument: u8, path: FieldPath) -> Self {
        Self { address, argument, path, keys: SmallVec::new(), presence: SmallVec::new(), is_whole: false, view }
    }
}

impl Tracker {
    fn of(arguments: Arguments) -> Self {
        let mut tracker = Self { arguments, watched: SmallVec::new(), reads: Vec::with_capacity(8), full: false };
        for at in 0..tracker.arguments.len() {
            let number = u8::try_from(at).unwrap_or(u8::MAX);
            let argument = tracker.arguments[at].clone();
            let read = |by| FieldRead { argument: number, path: SmallVec::new(), by };
            match argument {
                Argument::Scalar(_) => tracker.note(read(ReadBy::Value), None),
                Argument::View(view) => match view.object_address() {
                    Some(address) => {
                        tracker.note(read(ReadBy::Kind), Some(view.clone()));
                        tracker.watched.push(WatchedObject::new(view, address, number, SmallVec::new()));
                    }
                    None => tracker.note(read(ReadBy::Value), Some(view)),
                },
            }
        }
        tracker
    }

    /// The value that a read had.
    fn was(&self, read: &FieldRead, value: Option<&View>) -> Fingerprint {
        match (self.arguments.get(usize::from(read.argument)), read.by, value) {
            (Some(Argument::Scalar(scalar)), ..) => scalar.clone(),
            (_, ReadBy::Kind, Some(value)) => value.kind(),
            _ => Fingerprint::of(value),
        }
    }

    fn note(&mut self, read: FieldRead, value: Option<View>) {
        if self.reads.len() < MOST_READ { self.reads.push((read, value)) } else { self.full = true }
    }

    fn field(&mut self, address: usize, key: &str, value: Option<&View>) {
        for at in 0..self.watched.len() {
            let watched = &mut self.watched[at];
            if watched.address != address || watched.is_whole {
                continue;
            }
            let is_known = watched.keys.iter().any(|known| known == key);
            let object = value.filter(|_| watched.path.len() < DEEPEST).and_then(|value| Some((value, value.object_address()?)));
            if is_known && object.is_none() {
                continue;
            }
            if !is_known {
                watched.keys.push(key.into());
            }
            let (argument, mut path) = (watched.argument, watched.path.clone());
            path.push(key.into());
            if let Some((view, address)) = object {
                // An absent field is another object each time.
                let is_watched =
                    |known: &WatchedObject| known.address == address && known.argument == argument && known.path == path;
                if !self.watched.iter().any(is_watched) {
                    self.watched.push(WatchedObject::new(view.clone(), address, argument, path.clone()));
                }
            }
            if !is_known {
                let by = if object.is_some() { ReadBy::Kind } else { ReadBy::Value };
                self.note(FieldRead { argument, path, by }, value.cloned());
            }
        }
    }

    fn presence(&mut self, address: usize, key: &str, is_present: bool) {
        for at in 0..self.watched.len() {
            let watched = &mut self.watched[at];
            if watched.address != address || watched.is_whole || watched.presence.iter().any(|known| known == key) {
                continue;
            }
            watched.presence.push(key.into());
            let (argument, mut path) = (watched.argument, watched.path.clone());
            path.push(key.into());
            self.note(FieldRead { argument, path, by: ReadBy::Presence }, Some(View::from(is_present)));
        }
    }

    fn whole(&mut self, address: usize) {
        for at in 0..self.watched.len() {
            let watched = &mut self.watched[at];
            if watched.address == address && !std::mem::replace(&mut watched.is_whole, true) {
                let read = FieldRead { argument: watched.argument, path: watched.path.clone(), by: ReadBy::Value };
                let value = watched.view.clone();
                self.note(read, Some(value));
            }
        }
    }
}

/// Called when a field of an object is read; `value` is what a script gets.
pub(crate) fn read_field(address: usize, key: &str, value: Option<&View>) {
    if TRACKING.get() {
        guard::apart(|| {
            TRACKERS.with_borrow_mut(|trackers| trackers.iter_mut().for_each(|tracker| tracker.field(address, key, value)));
        });
    }
}

/// Called when the presence of a field is read.
pub(crate) fn read_presence(address: usize, key: &str, is_present: bool) {
    if TRACKING.get() {
        guard::apart(|| {
            TRACKERS
                .with_borrow_mut(|trackers| trackers.iter_mut().for_each(|tracker| tracker.presence(address, key, is_present)));
        });
    }
}

/// Called when something is read of an object that is not one of its fields.
pub(crate) fn read_whole(address: usize) {
    if TRACKING.get() {
        guard::apart(|| TRACKERS.with_borrow_mut(|trackers| trackers.iter_mut().for_each(|tracker| tracker.whole(address))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{Probes, Profiler};
    use crate::{FunctionRef, Library, LibraryInputs, ScriptFunction, ScriptLimits};
    use asterisk_base::model::{Field, Kind, Shape};
    use asterisk_diag::Source;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const LIB: &str = "fn slow() { for i in 0..9 { i; } }\n\
        fn sum(x) { slow(); let s = 0; for i in x.list { s += i; } s }\n\
        fn part(x) { for i in 0..9 { i; } x.o }\n\
        fn named(x, key) { for i in 0..9 { i; } x.o[key] }\n";

    const TOP: &str = "import \"lib\" as lib;\n\
        fn branch(x, n) { lib::slow(); if x.n > n { lib::sum(x) } else { x.o.p } }\n\
        fn deep(x, n) { lib::slow(); lib::part(x).p + x.o.q.r + x.o.q.s + n }\n\
        fn keys(x, n) { lib::slow(); x.keys().len() + (if \"z\" in x { 1 } else { 0 }) + x.o.q.len() }\n\
        fn guarded(x, n) { lib::slow(); let r = 0; try { r = x.zebra; } catch { r = -1; } r + lib::sum(x) }\n\
        fn absent(x, n) { lib::slow(); x.shaped.count + x.shaped.inner.depth + x.shaped.inner.depth + x.counts.any + x.counts.a }\n\
        fn returned(x, n) { lib::slow(); #{ whole: lib::part(x), list: x.list, n: n } }\n\
        fn frozen(x, n) { lib::slow(); freeze(#{ whole: lib::part(x), list: [x.o, [x.shaped]], counts: #{ of: x.counts }, n: n }) }\n\
        fn named(x, n) { lib::slow(); lib::named(x, if n == 1 { \"p\" } else { \"q\" }) }\n\
        fn kinds(x, n) { lib::slow(); type_of(x.o) + type_of(x.o.q) + if x.o == () { \"none\" } else { \"some\" } }\n\
        fn twice(x, n) { let a = branch(x, n); let b = branch(x, n + 1); [a, b, deep(x, n), x.o == x.shaped] }\n";

    const FUNCTIONS: [&str; 10] =
        ["branch", "deep", "keys", "guarded", "absent", "returned", "frozen", "named", "kinds", "twice"];

    fn library(probes: Probes, limits: ScriptLimits) -> Library {
        let scripts = vec![Source::new("lib.rhai", LIB), Source::new("top.rhai", TOP)];
        let inputs = LibraryInputs { scripts, limits, probes, ..LibraryInputs::default() };
        Library::link(inputs, None).expect("links")
    }

    fn function(library: &Library, name: &str) -> ScriptFunction {
        let reference = FunctionRef::parse(&format!("top.rhai#{name}")).expect("a name");
        library.function(&reference, 2).expect("is there")
    }

    /// An object whose parts have a shape, or read absent keys as zero.
    fn input(value: &Value) -> View {
        let number = |name: &str| Field { name: name.into(), kind: Kind::Int { min: None, max: None }, required: false };
        let object = |name: &str, fields| Kind::Object(Arc::new(Shape { name: name.into(), sparse: false, fields }));
        let inner = Field { name: "inner".into(), kind: object("inner", vec![number("depth")]), required: false };
        let shape = object("shaped", vec![number("count"), inner]);
        let any = |key: &str| View::of(&value[key], &Kind::Any, "x");
        let counts = value["counts"].as_object().cloned().unwrap_or_default();
        let counts = counts.iter().map(|(key, count)| (key.as_str(), View::plain(count, "count")));
        let parts = [
            ("counts", View::map("x.counts", counts, View::from(0))),
            ("list", View::plain(&value["list"], "x.list")),
            ("n", View::plain(&value["n"], "x.n")),
            ("o", any("o")),
            ("shaped", View::of(&value["shaped"], &shape, "x.shaped")),
        ];
        let zebra = value.get("zebra").map(|zebra| ("zebra", View::plain(zebra, "x.zebra")));
        View::object("x", parts.into_iter().chain(zebra))
    }

    fn inputs() -> impl Strategy<Value = Value> {
        let small = 0..3_i64;
        let inner = prop_oneof![
            small.clone().prop_map(|r| json!({ "r": r, "s": 1 })),
            small.clone().prop_map(|r| json!({ "r": r, "s": 1, "t": 2 })),
            Just(json!(null)),
        ];
        let object = prop_oneof![
            (small.clone(), inner).prop_map(|(p, q)| json!({ "p": p, "q": q })),
            Just(json!(null)),
            small.clone().prop_map(|p| json!({ "p": p })),
        ];
        let shaped = prop_oneof![
            Just(json!({})),
            small.clone().prop_map(|count| json!({ "count": count })),
            small.clone().prop_map(|depth| json!({ "inner": { "depth": depth } })),
        ];
        let counts = prop_oneof![Just(json!({})), small.clone().prop_map(|a| json!({ "a": a })), Just(json!({ "any": 2 }))];
        let zebra = prop_oneof![Just(None), small.clone().prop_map(Some)];
        (small.clone(), prop::collection::vec(small, 0..3), object, shaped, counts, zebra).prop_map(
            |(n, list, o, shaped, counts, zebra)| {
                let mut value = json!({ "n": n, "list": list, "o": o, "shaped": shaped, "counts": counts });
                if let Some(zebra) = zebra {
                    value["zebra"] = zebra.into();
                }
                value
            },
        )
    }

    /// The number of calls of a function whose results were reused.
    fn reused(profiler: &Profiler, name: &str) -> u64 {
        let profile = profiler.profile();
        let frame = profile.frames().into_iter().find(|cost| cost.frame.to_string() == format!("top.rhai#{name}"));
        frame.map_or(0, |cost| cost.own.reused)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn results_and_limits_are_the_same_as_without(
            calls in prop::collection::vec((0..FUNCTIONS.len(), inputs(), 0..3_i64), 200..400),
            operations in 60..400_u64,
        ) {
            let limits = [ScriptLimits::default(), ScriptLimits { operations, ..ScriptLimits::default() }];
            for limits in limits {
                let (with, without) = (library(Probes::None, limits.clone()), library(Probes::Decisions, limits));
                for (name, value, n) in &calls {
                    let (x, n) = (input(value), View::from(*n));
                    let said = |library: &Library| {
                        let said = function(library, FUNCTIONS[*name]).value(&[&x, &n]);
                        said.map_err(|error| error.message.clone())
                    };
                    prop_assert_eq!(said(&with), said(&without), "{} of {}", FUNCTIONS[*name], value);
                }
            }
        }
    }

    #[test]
    fn what_reads_the_same_is_evaluated_once() {
        let (library, profiler) = (library(Probes::Statements, ScriptLimits::default()), Profiler::default());
        let branch = function(&library, "branch");
        let ask = |value: &Value| profiler.watch(|| branch.value(&[&input(value), &View::from(1)])).expect("a value");
        let value = |n: i64, other: i64| json!({ "n": n, "list": [1, 2], "o": { "p": 5, "q": other } });
        for _ in 0..=MEASURED {
            assert_eq!(ask(&value(0, 0)), json!(5));
        }
        let before = reused(&profiler, "branch");
        for other in 0..20 {
            assert_eq!(ask(&value(0, other)), json!(5), "what it does not read makes no difference");
        }
        assert_eq!(reused(&profiler, "branch") - before, 20);
        assert_eq!(ask(&value(2, 0)), json!(3));
        assert_eq!(ask(&json!({ "n": 0, "list": [], "o": { "p": 6 } })), json!(6));
    }

    #[test]
    fn a_text_that_is_linked_with_another_import_is_another_function() {
        let link = |lib: &str, before: Option<&Library>| {
            let scripts = vec![Source::new("lib.rhai", lib), Source::new("top.rhai", TOP)];
            Library::link(LibraryInputs { scripts, ..LibraryInputs::default() }, before).expect("links")
        };
        let ask = |library: &Library| {
            let x = input(&json!({ "n": 2, "list": [1, 2], "o": { "p": 5 } }));
            let said = function(library, "branch").value(&[&x, &View::from(1)]);
            said.map_err(|error| error.to_string())
        };
        let first = link(LIB, None);
        for _ in 0..MEASURED + 4 {
            assert_eq!(ask(&first), Ok(json!(3)));
        }
        let second = link(&LIB.replace("s += i", "s += 10 * i"), Some(&first));
        for _ in 0..MEASURED + 4 {
            assert_eq!((ask(&second), ask(&first)), (Ok(json!(30)), Ok(json!(3))));
        }
    }

    #[test]
    fn a_function_whose_results_are_not_reused_pauses() {
        let (library, profiler) = (library(Probes::Statements, ScriptLimits::default()), Profiler::default());
        let branch = function(&library, "branch");
        let ask = |p: u32| {
            let value = json!({ "n": 0, "list": [], "o": { "p": p } });
            let said = profiler.watch(|| branch.value(&[&input(&value), &View::from(1)]));
            assert_eq!(said.map_err(|error| error.to_string()), Ok(json!(p)));
        };
        (0..MEASURED + ROUND).for_each(ask);
        let before = reused(&profiler, "branch");
        ask(1);
        assert_eq!(reused(&profiler, "branch"), before, "it is evaluated");
        (0..PAUSE).for_each(ask);
        ask(PAUSE);
        ask(PAUSE);
        assert!(reused(&profiler, "branch") > before, "it tries again");
    }
}
