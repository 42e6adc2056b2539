//! Where the time of scripts goes: time, operations and memory by stack of functions, and by line.
//!
//! A [`Profiler`] watches the evaluations of libraries linked with [`Probes::Statements`](super::Probes::Statements): each function
//! opens a frame, and the first value of each statement sets the line that is charged until the next one. The host opens frames of
//! its own with [`frame`]: the steps of a walk, its queries, the rules that call functions.

use super::table::{NodeRole, ProbeTable};
use crate::guard;
use crate::unit::Unit;
use asterisk_base::memory;
use asterisk_base::subscriber::Inherited;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The resources that code has used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// The number of calls; of a line, how often it was reached.
    pub calls: u64,
    /// The time.
    pub time: Duration,
    /// The operations, as the limit of a call counts them.
    pub operations: u64,
    /// The bytes that were allocated by a statement and held beyond it.
    pub bytes: u64,
    /// The number of calls whose result was known, so that nothing was evaluated.
    pub reused: u64,
}

impl Cost {
    fn add(&mut self, more: Self) {
        self.calls += more.calls;
        self.time += more.time;
        self.operations += more.operations;
        self.bytes += more.bytes;
        self.reused += more.reused;
    }
}

/// A frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProfileFrame {
    /// Work of the host: its kind (`step`, `query`, `edge rule`) and its name.
    Host(&'static str, Arc<str>),
    /// A function of a script: the file, the name (that of a closure is `closure`) and the line of its definition.
    Script(Arc<str>, Arc<str>, u32),
}

impl std::fmt::Display for ProfileFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Host(kind, name) if name.is_empty() => write!(f, "{kind}"),
            Self::Host(kind, name) => write!(f, "{kind} {name}"),
            Self::Script(file, name, line) if &**name == CLOSURE => write!(f, "{file}:{line} closure"),
            Self::Script(file, name, _) => write!(f, "{file}#{name}"),
        }
    }
}

const CLOSURE: &str = "closure";

/// The costs of a frame: its own, and with everything called in it. A recursive call counts once.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameCost {
    pub frame: ProfileFrame,
    pub own: Cost,
    pub total: Cost,
}

/// The costs of a line, without those of functions called in it.
#[derive(Clone, Debug, PartialEq)]
pub struct LineCost {
    pub file: Arc<str>,
    pub line: u32,
    pub own: Cost,
}

/// Collects what threads measure. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Profiler(Arc<Mutex<Profile>>);

/// What was measured: a tree of stacks.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    stacks: StackTree<ProfileFrame>,
    lines: BTreeMap<(Arc<str>, u32), Cost>,
}

impl Profiler {
    /// Measures everything that is evaluated by `work` on this thread. Work inside is measured with the enclosing one.
    pub fn watch<T>(&self, work: impl FnOnce() -> T) -> T {
        if PROFILING.with_borrow(Option::is_some) {
            return work();
        }
        PROFILING.replace(Some(Box::new(ThreadProfile::new(self))));
        let _ending = ProfileEnd;
        work()
    }

    /// What was measured so far.
    pub fn profile(&self) -> Profile {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What the threads that a thread starts inherit from it: the subscriber of `tracing`, and the profiler.
pub struct ThreadContext {
    subscriber: Inherited,
    profiler: Option<Profiler>,
}

impl ThreadContext {
    /// That of this thread.
    pub fn here() -> Self {
        let profiler = PROFILING.with_borrow(|profile| profile.as_ref().map(|profile| profile.profiler.clone()));
        Self { subscriber: Inherited::here(), profiler }
    }

    /// Does work on another thread as if on that one.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.profiler {
            Some(profiler) => profiler.watch(|| self.subscriber.within(work)),
            None => self.subscriber.within(work),
        }
    }
}

/// Adds what a thread measured to the profile, also after a panic.
struct ProfileEnd;

impl Drop for ProfileEnd {
    fn drop(&mut self) {
        if let Some(mut measured) = PROFILING.take() {
            measured.charge();
            measured.profiler.0.lock().unwrap_or_else(PoisonError::into_inner).add(&measured);
        }
    }
}

/// Opens a frame of the host for `work`, if this thread is watched.
pub fn frame<T>(kind: &'static str, name: &str, work: impl FnOnce() -> T) -> T {
    if !is_profiled() {
        return work();
    }
    let depth = PROFILING.with_borrow_mut(|profile| {
        let profile = profile.as_mut()?;
        let depth = profile.open.len();
        guard::apart(|| profile.enter(FrameKey::Host(kind, name.into())));
        Some(depth)
    });
    let _ending = FrameEnd(depth);
    work()
}

/// Whether this thread is watched by a [`Profiler`].
pub(crate) fn is_profiled() -> bool {
    PROFILING.with_borrow(Option::is_some)
}

struct FrameEnd(Option<usize>);

impl Drop for FrameEnd {
    fn drop(&mut self) {
        self.0.into_iter().for_each(leave);
    }
}

thread_local! {
    static PROFILING: RefCell<Option<Box<ThreadProfile>>> = const { RefCell::new(None) };
}

/// Called before a node is evaluated. For a function on a watched thread, returns the depth of the stack around it.
pub(super) fn enter(table: u32, node: u32, is_function: bool) -> Option<usize> {
    PROFILING.with_borrow_mut(|profile| {
        let profile = profile.as_mut()?;
        guard::apart(|| {
            let depth = profile.open.len();
            if is_function {
                profile.enter(FrameKey::Script(table, node));
            } else {
                profile.line(table, node);
            }
            is_function.then_some(depth)
        })
    })
}

/// Notes that the result of the function under way was known.
pub(crate) fn note_reused() {
    PROFILING.with_borrow_mut(|profile| {
        let Some(profile) = profile else { return };
        if let Some((node, _)) = profile.open.last() {
            profile.stacks.node(*node).reused += 1;
        }
    });
}

/// Called after a function was evaluated, with the depth that [`enter`] returned.
pub(super) fn leave(depth: usize) {
    PROFILING.with_borrow_mut(|profile| {
        if let Some(profile) = profile {
            profile.leave_to(depth);
        }
    });
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum FrameKey {
    Host(&'static str, Arc<str>),
    /// A function: its table, and its node there.
    Script(u32, u32),
}

/// Costs by stack.
#[derive(Clone, Debug)]
struct StackTree<K> {
    nodes: Vec<StackNode<K>>,
    index: HashMap<(u32, K), u32>,
}

#[derive(Clone, Debug)]
struct StackNode<K> {
    /// The frame; that of the root is nothing.
    key: Option<K>,
    parent: u32,
    own: Cost,
}

impl<K> Default for StackTree<K> {
    fn default() -> Self {
        Self { nodes: vec![StackNode { key: None, parent: 0, own: Cost::default() }], index: HashMap::new() }
    }
}

impl<K: Clone + Eq + std::hash::Hash> StackTree<K> {
    fn child(&mut self, parent: u32, key: K) -> u32 {
        let next = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let node = *self.index.entry((parent, key.clone())).or_insert(next);
        if node == next {
            self.nodes.push(StackNode { key: Some(key), parent, own: Cost::default() });
        }
        node
    }

    fn node(&mut self, node: u32) -> &mut Cost {
        &mut self.nodes[node as usize].own
    }
}

/// What one thread measures.
struct ThreadProfile {
    /// Who receives it.
    profiler: Profiler,
    stacks: StackTree<FrameKey>,
    /// Costs by table and node of a statement.
    lines: BTreeMap<(u32, u32), Cost>,
    /// The open frames, each with the statement that is under way in it.
    open: Vec<(u32, Option<(u32, u32)>)>,
    read: Reading,
}

/// The clock and the counters.
#[derive(Clone, Copy)]
struct Reading {
    at: Instant,
    operations: u64,
    held: isize,
}

impl Reading {
    fn now() -> Self {
        Self { at: Instant::now(), operations: guard::operations_left(), held: memory::held() }
    }
}

impl ThreadProfile {
    fn new(profiler: &Profiler) -> Self {
        Self {
            profiler: profiler.clone(),
            stacks: StackTree::default(),
            lines: BTreeMap::new(),
            open: Vec::new(),
            read: Reading::now(),
        }
    }

    /// Charges what was used since the last time to the innermost frame and its statement.
    fn charge(&mut self) {
        let now = Reading::now();
        let used = Cost {
            calls: 0,
            time: now.at.duration_since(self.read.at),
            // The budget is full again at the next call from outside.
            operations: self.read.operations.saturating_sub(now.operations),
            bytes: u64::try_from(now.held.saturating_sub(self.read.held)).unwrap_or(0),
            reused: 0,
        };
        let (node, line) = self.open.last().copied().unwrap_or_default();
        self.stacks.node(node).add(used);
        if let Some(line) = line {
            self.lines.entry(line).or_default().add(used);
        }
        // The cost of measuring is not charged.
        self.read = Reading::now();
    }

    fn enter(&mut self, key: FrameKey) {
        self.charge();
        let parent = self.open.last().map_or(0, |(node, _)| *node);
        let node = self.stacks.child(parent, key);
        self.stacks.node(node).calls += 1;
        self.open.push((node, None));
        self.read = Reading::now();
    }

    fn line(&mut self, table: u32, node: u32) {
        self.charge();
        self.lines.entry((table, node)).or_default().calls += 1;
        if let Some((_, line)) = self.open.last_mut() {
            *line = Some((table, node));
        }
        self.read = Reading::now();
    }

    fn leave_to(&mut self, depth: usize) {
        if self.open.len() > depth {
            self.charge();
            self.open.truncate(depth);
        }
    }
}

impl Profile {
    fn add(&mut self, measured: &ThreadProfile) {
        let names = NAMES.read().unwrap_or_else(PoisonError::into_inner);
        let mut known = vec![0_u32; measured.stacks.nodes.len()];
        for (at, node) in measured.stacks.nodes.iter().enumerate() {
            if let Some(key) = &node.key {
                let frame = match key {
                    FrameKey::Host(kind, name) => ProfileFrame::Host(kind, name.clone()),
                    FrameKey::Script(table, node) => names.frame(*table, *node),
                };
                // A parent is made before its children.
                known[at] = self.stacks.child(known[node.parent as usize], frame);
            }
            self.stacks.node(known[at]).add(node.own);
        }
        for ((table, node), cost) in &measured.lines {
            if let Some((file, line)) = names.line(*table, *node) {
                self.lines.entry((file, line)).or_default().add(*cost);
            }
        }
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.stacks.nodes.len() <= 1
    }

    /// The time measured in frames, over all threads.
    pub fn time(&self) -> Duration {
        self.stacks.nodes.iter().skip(1).map(|node| node.own.time).sum()
    }

    /// The time within scripts.
    pub fn script_time(&self) -> Duration {
        let scripts = self.stacks.nodes.iter().filter(|node| matches!(node.key, Some(ProfileFrame::Script(..))));
        scripts.map(|node| node.own.time).sum()
    }

    /// The costs of every frame, those with the most own time first.
    pub fn frames(&self) -> Vec<FrameCost> {
        let nodes = &self.stacks.nodes;
        let mut below: Vec<Cost> = nodes.iter().map(|node| node.own).collect();
        for at in (1..nodes.len()).rev() {
            let inner = Cost { calls: 0, ..below[at] };
            below[nodes[at].parent as usize].add(inner);
        }
        let mut costs: HashMap<&ProfileFrame, (Cost, Cost)> = HashMap::new();
        for (at, node) in nodes.iter().enumerate() {
            let Some(frame) = &node.key else { continue };
            let (own, total) = costs.entry(frame).or_default();
            own.add(node.own);
            if self.ancestors(at).skip(1).all(|outer| outer.key.as_ref() != Some(frame)) {
                total.add(Cost { calls: 0, ..below[at] });
            }
            total.calls = own.calls;
        }
        let made = |(frame, (own, total)): (&ProfileFrame, (Cost, Cost))| FrameCost { frame: frame.clone(), own, total };
        let mut costs: Vec<FrameCost> = costs.into_iter().map(made).collect();
        costs.sort_by(|a, b| b.own.time.cmp(&a.own.time).then_with(|| a.frame.cmp(&b.frame)));
        costs
    }

    /// The costs of every line, those with the most time first.
    pub fn lines(&self) -> Vec<LineCost> {
        let line = |((file, line), own): (&(Arc<str>, u32), &Cost)| LineCost { file: file.clone(), line: *line, own: *own };
        let mut lines: Vec<LineCost> = self.lines.iter().map(line).collect();
        lines.sort_by(|a, b| b.own.time.cmp(&a.own.time).then_with(|| (&a.file, a.line).cmp(&(&b.file, b.line))));
        lines
    }

    /// The stacks, outermost frame first, each with its own time; sorted, without those that took none.
    pub fn stacks(&self) -> Vec<(Vec<&ProfileFrame>, Duration)> {
        let stack = |(at, node): (usize, &StackNode<ProfileFrame>)| {
            let mut frames: Vec<&ProfileFrame> = self.ancestors(at).filter_map(|node| node.key.as_ref()).collect();
            frames.reverse();
            (frames, node.own.time)
        };
        let mut stacks: Vec<_> = self.stacks.nodes.iter().enumerate().skip(1).map(stack).collect();
        stacks.retain(|(_, time)| !time.is_zero());
        stacks.sort();
        stacks
    }

    /// The stacks in the folded form of flame graphs: `outer;inner MICROSECONDS`.
    pub fn folded(&self) -> String {
        let mut text = String::new();
        for (frames, time) in self.stacks() {
            if time.as_micros() == 0 {
                continue;
            }
            let frames: Vec<String> = frames.iter().map(|frame| frame.to_string().replace(';', ",")).collect();
            let _ = writeln!(text, "{} {}", frames.join(";"), time.as_micros());
        }
        text
    }

    /// A node and those around it, innermost first.
    fn ancestors(&self, at: usize) -> impl Iterator<Item = &StackNode<ProfileFrame>> {
        let nodes = &self.stacks.nodes;
        std::iter::successors(Some(at), |at| (*at > 0).then(|| nodes[*at].parent as usize)).map(|at| &nodes[at])
    }
}

/// The names of the functions and statements of texts linked for profiles, by table.
static NAMES: RwLock<ProfileNames> = RwLock::new(ProfileNames(BTreeMap::new()));

struct ProfileNames(BTreeMap<u32, TableNames>);

struct TableNames {
    file: Arc<str>,
    /// By node, the function's name or that of its closure, and the line.
    nodes: Vec<(Arc<str>, u32)>,
}

/// Registers the names of a text, which a profile uses even after the text was replaced.
pub(crate) fn name_table(unit: &Unit, table: &ProbeTable) {
    let line = |node: &super::ProbeNode| {
        let place = node.place(unit);
        let line = place.map_or(0, |(source, span)| source.line_column(span.start).0);
        u32::try_from(line).unwrap_or(u32::MAX)
    };
    let name = |node: &super::ProbeNode| match node.role {
        NodeRole::Function if node.is_closure() => CLOSURE.into(),
        NodeRole::Function => node.name().unwrap_or_default().into(),
        _ => Arc::default(),
    };
    let nodes = table.nodes().iter().map(|node| (name(node), line(node))).collect();
    let names = TableNames { file: unit.name().into(), nodes };
    NAMES.write().unwrap_or_else(PoisonError::into_inner).0.insert(table.id(), names);
}

impl ProfileNames {
    fn of(&self, table: u32, node: u32) -> Option<(&TableNames, &(Arc<str>, u32))> {
        let table = self.0.get(&table)?;
        Some((table, table.nodes.get(node as usize)?))
    }

    fn frame(&self, table: u32, node: u32) -> ProfileFrame {
        match self.of(table, node) {
            Some((table, (name, line))) => ProfileFrame::Script(table.file.clone(), name.clone(), *line),
            None => ProfileFrame::Host("function", Arc::default()),
        }
    }

    fn line(&self, table: u32, node: u32) -> Option<(Arc<str>, u32)> {
        self.of(table, node).map(|(table, (_, line))| (table.file.clone(), *line))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Probes;
    use super::*;
    use crate::{FunctionRef, Library, LibraryInputs, View};
    use asterisk_diag::Source;
    use serde_json::json;

    const LIB: &str = "fn heavy(n) {\n    let sum = 0;\n    for i in 0..n { sum += i * i; }\n    sum\n}\n\
                       fn again(n) { if n == 0 { 0 } else { again(n - 1) } }\n";
    const TOP: &str = "import \"lib\" as lib;\nfn f(x) {\n    let list = [1, 2].map(|i| i + x.n);\n    \
                       lib::heavy(400) + lib::again(5) + list.len()\n}\n";

    fn profiled(times: usize) -> Profile {
        let scripts = vec![Source::new("lib.rhai", LIB), Source::new("top.rhai", TOP)];
        let inputs = LibraryInputs { scripts, probes: Probes::Statements, ..LibraryInputs::default() };
        let library = Library::link(inputs, None).expect("links");
        let function = library.function(&FunctionRef::parse("top.rhai#f").expect("a name"), 1).expect("is there");
        let x = View::plain(&json!({ "n": 1 }), "x");
        let profiler = Profiler::default();
        for _ in 0..times {
            let value = profiler.watch(|| frame("step", "one", || function.value(&[&x])));
            assert_eq!(value.map_err(|error| error.to_string()), Ok(json!(21_253_402)));
        }
        profiler.profile()
    }

    #[test]
    fn calls_times_and_operations_are_counted_by_function_and_line() {
        let profile = profiled(3);
        let of = |name: &str| {
            let named = |cost: &&FrameCost| cost.frame.to_string() == name;
            profile.frames().iter().find(named).unwrap_or_else(|| panic!("{name}: {:?}", profile.frames())).clone()
        };
        let (heavy, again, top, step) = (of("lib.rhai#heavy"), of("lib.rhai#again"), of("top.rhai#f"), of("step one"));
        assert_eq!([heavy.own.calls, again.own.calls, top.own.calls, step.own.calls], [3, 18, 3, 3]);
        assert_eq!(of("top.rhai:3 closure").own.calls, 6);
        assert!(heavy.own.operations > 3 * 400, "{heavy:?}");
        assert!(top.total.operations > heavy.total.operations && top.own.operations < heavy.own.operations, "{top:?}");
        assert!(step.total.time >= top.total.time && top.total.time >= heavy.total.time);
        assert_eq!(again.total.time, again.own.time, "a recursive call counts once");
        assert_eq!(step.total.time, profile.time());
        let lines = profile.lines();
        let hottest = &lines[0];
        assert_eq!((&*hottest.file, hottest.line), ("lib.rhai", 3), "{lines:?}");
        assert!(hottest.own.calls >= 3 * 400);
        let folded = profile.folded();
        assert!(folded.contains("step one;top.rhai#f;lib.rhai#heavy "), "{folded}");
    }

    #[test]
    fn a_function_returns_the_same_and_spends_the_same_with_and_without() {
        let scripts = || vec![Source::new("lib.rhai", LIB), Source::new("top.rhai", TOP)];
        let spent = |probes: Probes| {
            // The least limit with which it succeeds.
            let succeeds = |operations: u64| {
                let limits = crate::ScriptLimits { operations, ..crate::ScriptLimits::default() };
                let inputs = LibraryInputs { scripts: scripts(), probes, limits, ..LibraryInputs::default() };
                let library = Library::link(inputs, None).expect("links");
                let function = library.function(&FunctionRef::parse("top.rhai#f").expect("a name"), 1).expect("is there");
                Profiler::default().watch(|| function.value(&[&View::plain(&json!({ "n": 1 }), "x")]).is_ok())
            };
            let (mut low, mut high) = (1, 100_000);
            while low < high {
                let middle = u64::midpoint(low, high);
                if succeeds(middle) { high = middle } else { low = middle + 1 }
            }
            low
        };
        assert_eq!(spent(Probes::None), spent(Probes::Statements));
    }
}
