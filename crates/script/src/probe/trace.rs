//! The statements of an evaluation in the order in which they were reached, with the stack of calls around each.
//!
//! Evaluations are pure, so a trace keeps no variables: [`EvaluationTrace::watch_scopes`] evaluates once more, and keeps those that
//! are in scope at the statements it is asked about.

use super::inspect::InspectedValue;
use super::seen::ObservedValue;
use crate::guard;
use rhai::{Dynamic, EvalAltResult, EvalContext};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Maximum number of statements of a trace, and of calls; those after it are not kept.
const MOST: usize = 1 << 20;

/// Maximum number of results of calls that are kept.
const MOST_RESULTS: usize = 20_000;

/// A statement about to be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedStatement {
    /// The id of its table.
    pub table: u32,
    /// The number of its node.
    pub node: u32,
    /// The call that it belongs to, by its number in the trace.
    pub call: u32,
}

/// A call of a function.
#[derive(Clone, Debug)]
pub struct TracedCall {
    /// The id of the function's table.
    pub table: u32,
    /// The number of its node.
    pub node: u32,
    /// The call that it was made in; `None` for one that the host made.
    pub caller: Option<u32>,
    /// The statement of the caller that made it.
    pub at: Option<u32>,
    /// The number of calls around it.
    pub depth: u32,
    /// The number of statements that were reached before it.
    pub start: u32,
    /// The number of statements that were reached when it ended.
    pub end: u32,
    /// Its result; `None` after an error.
    pub result: Option<ObservedValue>,
}

/// A variable in scope.
#[derive(Clone, Debug)]
pub struct ScopeVariable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: InspectedValue,
}

/// The statements of an evaluation. The library must be linked with [`Probes::Steps`](super::Probes::Steps).
#[derive(Debug, Default)]
pub struct EvaluationTrace {
    statements: Vec<TracedStatement>,
    calls: Vec<TracedCall>,
    /// The calls under way, each with its last statement.
    open: Vec<(u32, Option<u32>)>,
    /// The statements whose scopes are wanted; sorted.
    wanted: Vec<u32>,
    scopes: BTreeMap<u32, Vec<ScopeVariable>>,
    /// The number of statements, including those that were not kept.
    reached: u32,
    is_cut: bool,
}

thread_local! {
    static TRACING: RefCell<Option<EvaluationTrace>> = const { RefCell::new(None) };
}

impl EvaluationTrace {
    /// Traces everything that `evaluate` evaluates on this thread.
    pub fn watch<T>(evaluate: impl FnOnce() -> T) -> (Self, T) {
        Self::watch_scopes(Vec::new(), evaluate)
    }

    /// The same, keeping the variables in scope at these statements, by their number.
    pub fn watch_scopes<T>(mut at: Vec<u32>, evaluate: impl FnOnce() -> T) -> (Self, T) {
        at.sort_unstable();
        let outer = TRACING.replace(Some(Self { wanted: at, ..Self::default() }));
        let value = evaluate();
        let mut traced = TRACING.replace(outer).unwrap_or_default();
        // A panic caught by the caller of the script leaves calls open.
        traced.close(0, None);
        (traced, value)
    }

    /// The statements, in the order in which they were reached.
    pub fn statements(&self) -> &[TracedStatement] {
        &self.statements
    }

    /// The calls, in the order in which they began.
    pub fn calls(&self) -> &[TracedCall] {
        &self.calls
    }

    /// The call that a statement belongs to, and those around it, innermost first, each with its statement.
    pub fn stack(&self, statement: u32) -> Vec<(u32, u32)> {
        let call = |at: u32| self.statements.get(index(at)).map(|statement| statement.call);
        let first = call(statement).map(|call| (call, statement));
        let outer = |(call, _): &(u32, u32)| {
            let call = self.calls.get(index(*call))?;
            Some((call.caller?, call.at?))
        };
        std::iter::successors(first, outer).collect()
    }

    /// The variables in scope at a statement, outermost first, if they were wanted and the statement was reached.
    pub fn scope(&self, statement: u32) -> Option<&[ScopeVariable]> {
        self.scopes.get(&statement).map(Vec::as_slice)
    }

    /// Whether there were more statements than are kept.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn call(&mut self, table: u32, node: u32) -> u32 {
        let number = count(self.calls.len());
        let (caller, at) = self.open.last().map_or((None, None), |(call, at)| (Some(*call), *at));
        self.open.push((number, None));
        if self.calls.len() >= MOST {
            self.is_cut = true;
            return number;
        }
        let depth = caller.and_then(|caller| self.calls.get(index(caller))).map_or(0, |caller| caller.depth + 1);
        let start = self.reached;
        self.calls.push(TracedCall { table, node, caller, at, depth, start, end: start, result: None });
        number
    }

    fn statement(&mut self, context: &EvalContext, table: u32, node: u32) {
        let number = self.reached;
        self.reached = self.reached.saturating_add(1);
        // Constants of a file are evaluated outside of any function.
        let Some((call, last)) = self.open.last_mut() else { return };
        if self.statements.len() >= MOST || index(*call) >= self.calls.len() {
            self.is_cut = true;
            return;
        }
        *last = Some(number);
        self.statements.push(TracedStatement { table, node, call: *call });
        if self.wanted.binary_search(&number).is_ok() {
            let variable = |(name, _, value): (&str, bool, &Dynamic)| ScopeVariable {
                name: name.to_owned(),
                value: InspectedValue::new(value),
            };
            let mut variables: Vec<ScopeVariable> = context.scope().iter_raw().map(variable).collect();
            // Rhai's innermost variable comes first.
            variables.reverse();
            self.scopes.insert(number, variables);
        }
    }

    /// Ends the open calls beyond a depth; the outermost of them has the result.
    fn close(&mut self, depth: usize, mut result: Option<ObservedValue>) {
        while self.open.len() > depth {
            let Some((call, _)) = self.open.pop() else { return };
            let is_last = self.open.len() == depth;
            let end = self.reached;
            if let Some(call) = self.calls.get_mut(index(call)) {
                (call.end, call.result) = (end, if is_last { result.take() } else { None });
            }
        }
    }
}

/// Called before a node is evaluated. For a function on a watched thread, returns the number of calls around it.
pub(super) fn enter(context: &EvalContext, table: u32, node: u32, is_function: bool) -> Option<usize> {
    TRACING.with_borrow_mut(|trace| {
        let trace = trace.as_mut()?;
        guard::apart(|| {
            if is_function {
                trace.call(table, node);
                return Some(trace.open.len() - 1);
            }
            trace.statement(context, table, node);
            None
        })
    })
}

/// Called after a function was evaluated, with what [`enter`] returned.
pub(super) fn leave(depth: usize, result: &Result<Dynamic, Box<EvalAltResult>>) {
    let value = match result {
        Ok(value) => Some(value),
        Err(error) => {
            if let EvalAltResult::Return(value, _) = &**error {
                Some(value)
            } else {
                None
            }
        }
    };
    TRACING.with_borrow_mut(|trace| {
        if let Some(trace) = trace {
            guard::apart(|| {
                let value = value.filter(|_| trace.calls.len() <= MOST_RESULTS).map(ObservedValue::of);
                trace.close(depth, value);
            });
        }
    });
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Probes;
    use crate::{FunctionRef, Library, LibraryInputs, ScriptFunction, View};
    use asterisk_diag::Source;
    use serde_json::json;

    const TEXT: &str = "fn twice(n) {\n    let two = 2;\n    n * two\n}\n\
                        fn f(x) {\n    let sum = 0;\n    for i in 0..2 {\n        sum += twice(i);\n    }\n\
                        \x20   if sum == 2 {\n        return switch x.n {\n            1 => \"one\",\n            _ => \"more\",\n        };\n    }\n    \
                        [1].map(|y| y + sum);\n    \"none\"\n}\n";

    fn linked(probes: Probes) -> (Library, ScriptFunction) {
        let inputs = LibraryInputs { scripts: vec![Source::new("t.rhai", TEXT)], probes, ..LibraryInputs::default() };
        let library = Library::link(inputs, None).expect("links");
        let function = library.function(&FunctionRef::parse("t.rhai#f").expect("a name"), 1).expect("is there");
        (library, function)
    }

    fn line(library: &Library, statement: &TracedStatement) -> usize {
        let (unit, table) = library.probed().find(|(_, table)| table.id() == statement.table).expect("a table");
        let (source, span) = table.node(statement.node).and_then(|node| node.place(unit)).expect("a place");
        source.line_column(span.start).0
    }

    #[test]
    fn every_statement_is_traced_with_its_stack() {
        let (library, function) = linked(Probes::Steps);
        let x = View::plain(&json!({ "n": 1 }), "x");
        let (trace, value) = EvaluationTrace::watch(|| function.value(&[&x]));
        assert_eq!(value.map_err(|error| error.to_string()), Ok(json!("one")));
        let lines: Vec<(usize, u32)> = trace
            .statements()
            .iter()
            .map(|statement| (line(&library, statement), trace.calls()[index(statement.call)].depth))
            .collect();
        let expected = [6, 7, 8].map(|line| (line, 0));
        let inner = [(2, 1), (3, 1)];
        let rest = [(10, 0), (11, 0)];
        assert_eq!(lines[..3], expected);
        assert_eq!(lines[3..5], inner);
        assert_eq!(lines[5], (8, 0));
        assert_eq!(lines[6..8], inner);
        assert_eq!(lines[8..10], rest);
        let stack: Vec<usize> = trace.stack(4).iter().map(|(_, at)| line(&library, &trace.statements()[index(*at)])).collect();
        assert_eq!(stack, [3, 8]);
        assert_eq!(trace.calls()[1].result.as_ref().map(ToString::to_string).as_deref(), Some("0"));
        assert_eq!(trace.calls()[0].result.as_ref().map(ToString::to_string).as_deref(), Some("\"one\""));
        assert!(!trace.is_cut());
    }

    #[test]
    fn the_scopes_of_wanted_statements_are_kept() {
        let (_, function) = linked(Probes::Steps);
        let x = View::plain(&json!({ "n": 1 }), "x");
        let (trace, _) = EvaluationTrace::watch_scopes(vec![7, 5, 99], || function.value(&[&x]));
        let shown = |at: u32| {
            let scope = trace.scope(at).expect("a scope");
            scope.iter().map(|variable| format!("{}={}", variable.name, variable.value.text())).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(7), "n=1 two=2");
        assert_eq!(shown(5), "x=#{n: 1} sum=0 i=1");
        assert!(trace.scope(99).is_none() && trace.scope(0).is_none());
    }

    #[test]
    fn a_traced_function_spends_as_many_operations() {
        let spent = |probes: Probes| {
            let succeeds = |operations: u64| {
                let limits = crate::ScriptLimits { operations, ..crate::ScriptLimits::default() };
                let scripts = vec![Source::new("t.rhai", TEXT)];
                let library = Library::link(LibraryInputs { scripts, limits, probes, ..LibraryInputs::default() }, None);
                // With too few, not even the constants of the file are evaluated.
                let Ok(library) = library else { return false };
                let function = library.function(&FunctionRef::parse("t.rhai#f").expect("a name"), 1).expect("is there");
                function.value(&[&View::plain(&json!({ "n": 3 }), "x")]).is_ok()
            };
            (1..10_000).find(|operations| succeeds(*operations))
        };
        assert_eq!(spent(Probes::None), spent(Probes::Steps));
    }
}
