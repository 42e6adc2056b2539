//! Caches evaluation states between calls on the same thread.
//!
//! An evaluation starts with a state that knows the file's functions and imports, and caches the function found for each call.
//! Creating it takes half the time of a short rule, and its reference counts are shared by all threads, which then contend for
//! cache lines. So a thread keeps the states of the files whose functions it called last. Changes by a call are undone; after an
//! error the state is discarded.

use super::environment::FunctionEnvironment;
use super::linked::LinkedLibrary;
use super::rhai_internals::eval_state::EvalState;
use super::view::View;
use rhai::ImmutableString;
use std::borrow::Borrow;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

/// Number of states kept per thread. A pipeline's conditions have one each.
const KEPT: usize = 32;

thread_local! {
    #[expect(clippy::vec_box, reason = "a state is large, and moves in and out with every call")]
    static STATES: RefCell<Vec<Box<CachedEvalState>>> = const { RefCell::new(Vec::new()) };
}

/// Whether a function may assign to its parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameters {
    /// They are inputs: an assignment is an error.
    ReadOnly,
    /// They are variables, as in a call from a script.
    Variables,
}

/// A reusable evaluation state.
pub(super) struct CachedEvalState {
    pub(super) state: EvalState,
    /// The addresses of the bound arguments, as long as they are constants that cannot have changed: the next call with the same
    /// arguments skips binding. (The edges of a node all see the same artifact, state and vars.)
    bound: Vec<usize>,
    /// This thread's own copies of parameter names.
    names: Vec<ImmutableString>,
    // Weak, so that a replaced library can be freed; the address is not reused as long as the weak reference exists.
    linked: Weak<LinkedLibrary>,
    environment: Weak<FunctionEnvironment>,
}

impl CachedEvalState {
    /// Takes the cached state of an environment, or creates one.
    pub(super) fn take(linked: &Arc<LinkedLibrary>, environment: &Arc<FunctionEnvironment>) -> Box<Self> {
        let is_it = |warm: &Self| {
            Weak::as_ptr(&warm.environment) == Arc::as_ptr(environment) && Weak::as_ptr(&warm.linked) == Arc::as_ptr(linked)
        };
        let kept = STATES.with_borrow_mut(|states| {
            let at = states.iter().rposition(|warm| is_it(warm));
            // A thread retains only the inputs of its last call.
            if let Some(last) = states.last_mut()
                && !is_it(last)
            {
                last.unbind();
            }
            at.map(|at| states.swap_remove(at))
        });
        kept.unwrap_or_else(|| Box::new(Self::new(linked, environment)))
    }

    fn new(linked: &Arc<LinkedLibrary>, environment: &Arc<FunctionEnvironment>) -> Self {
        let (library, source) = (environment.library.clone(), environment.source.as_str());
        Self {
            state: EvalState::new(&linked.engine, library, &environment.scope, source),
            bound: Vec::new(),
            names: Vec::new(),
            linked: Arc::downgrade(linked),
            environment: Arc::downgrade(environment),
        }
    }

    /// Binds the arguments to the parameters.
    pub(super) fn bind(&mut self, names: &[ImmutableString], args: &[impl Borrow<View>], parameters: Parameters) {
        let given = || args.iter().map(|arg| arg.borrow().address());
        let same = parameters == Parameters::ReadOnly
            && self.bound.len() == args.len()
            && self.bound.iter().zip(given()).all(|(bound, given)| given == Some(*bound))
            // The innermost variable comes first.
            && self.state.scope.iter_raw().zip(names.iter().rev()).all(|((bound, ..), name)| bound == name.as_str());
        if same {
            return;
        }
        self.unbind();
        for (name, arg) in names.iter().zip(args) {
            let (name, value) = (self.name(name), arg.borrow().dynamic());
            match parameters {
                Parameters::ReadOnly => self.state.scope.push_constant_dynamic(name, value),
                Parameters::Variables => self.state.scope.push_dynamic(name, value),
            };
        }
        if parameters == Parameters::ReadOnly && given().all(|address| address.is_some()) {
            self.bound.extend(given().flatten());
        }
    }

    fn unbind(&mut self) {
        self.state.scope.clear();
        self.bound.clear();
    }

    /// The name of a parameter, as a string whose reference count is not shared with other threads.
    fn name(&mut self, name: &str) -> ImmutableString {
        if let Some(own) = self.names.iter().find(|own| own.as_str() == name) {
            return own.clone();
        }
        let own = ImmutableString::from(name);
        self.names.push(own.clone());
        own
    }

    /// Returns the state to the cache, if it could be restored.
    pub(super) fn keep(mut self: Box<Self>, environment: &FunctionEnvironment) {
        // What a closure captured has become shared, and is emptied when the call is over.
        let captured = || self.state.scope.iter_raw().any(|(_, _, value)| value.is_shared());
        if self.bound.is_empty() || self.state.scope.len() != self.bound.len() || captured() {
            self.unbind();
        }
        if !self.state.restore(&environment.scope, environment.source.as_str()) {
            return;
        }
        STATES.with_borrow_mut(|states| {
            if states.len() >= KEPT {
                states.retain(|warm| warm.linked.strong_count() > 0);
            }
            if states.len() >= KEPT {
                states.remove(0);
            }
            states.push(self);
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::View;
    use crate::testing::{find, link};
    use serde_json::json;

    #[test]
    fn a_parameter_that_a_closure_captured_is_there_in_the_next_call() {
        let text = "fn f(list, context) { list.filter(|item| item == context.name).len() == 1 }\n\
                    fn g(list, context) { context.name == \"a\" && list.any(|item| item == context.name) }";
        let library = link(&[("t.rhai", text)]);
        let (list, context) = (View::plain(&json!(["a", "b"]), "list"), View::plain(&json!({ "name": "a" }), "context"));
        let (f, g) = (find(&library, "t.rhai#f", 2), find(&library, "t.rhai#g", 2));
        for function in [&f, &g, &f, &g] {
            let said = function.value(&[&list, &context]);
            assert_eq!(said.map_err(|error| error.to_string()), Ok(json!(true)), "{}", function.name());
        }
    }
}
