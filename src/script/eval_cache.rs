//! What a call leaves behind for the next one on the same thread.
//!
//! An evaluation begins with a state that knows the file's functions and imports, and finds the function behind each call it
//! makes by a search that it then remembers. Made afresh, that is half the cost of a short rule, and its reference counts are
//! those of all threads, which then wait for one another's caches. So a thread keeps the states of the files whose functions
//! it called last. What a call may change of a state is put back; after an error the state is thrown away.

use super::environment::Environment;
use super::linked::LinkedLibrary;
use super::rhai_internals::eval_state::EvalState;
use super::view::View;
use rhai::ImmutableString;
use std::borrow::Borrow;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

/// How many states a thread keeps. A pipeline's conditions have one each.
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

/// The state of an evaluation.
pub(super) struct CachedEvalState {
    pub(super) state: EvalState,
    /// What the scope holds, as long as that is constants which nothing can have changed: their addresses, by which the next
    /// call knows that it is given the same. (The edges of a node all see the same artifact, state and vars.)
    bound: Vec<usize>,
    /// This thread's own copies of parameter names.
    names: Vec<ImmutableString>,
    // Weak, so that a library that was replaced goes away; they still keep these addresses from being used again.
    linked: Weak<LinkedLibrary>,
    environment: Weak<Environment>,
}

impl CachedEvalState {
    /// A state to call a function of that environment: the one kept, or a fresh one.
    pub(super) fn take(linked: &Arc<LinkedLibrary>, environment: &Arc<Environment>) -> Box<Self> {
        let is_it = |warm: &Self| {
            Weak::as_ptr(&warm.environment) == Arc::as_ptr(environment) && Weak::as_ptr(&warm.linked) == Arc::as_ptr(linked)
        };
        let kept = STATES.with_borrow_mut(|states| {
            let at = states.iter().rposition(|warm| is_it(warm));
            // A thread holds the inputs of its last call only.
            if let Some(last) = states.last_mut()
                && !is_it(last)
            {
                last.unbind();
            }
            at.map(|at| states.swap_remove(at))
        });
        kept.unwrap_or_else(|| Box::new(Self::new(linked, environment)))
    }

    fn new(linked: &Arc<LinkedLibrary>, environment: &Arc<Environment>) -> Self {
        let (library, source) = (environment.library.clone(), environment.source.as_str());
        Self {
            state: EvalState::new(&linked.engine, library, &environment.scope, source),
            bound: Vec::new(),
            names: Vec::new(),
            linked: Arc::downgrade(linked),
            environment: Arc::downgrade(environment),
        }
    }

    /// Puts the arguments in scope.
    pub(super) fn bind(&mut self, names: &[ImmutableString], args: &[impl Borrow<View>], parameters: Parameters) {
        let given = || args.iter().map(|arg| arg.borrow().address());
        let same = parameters == Parameters::ReadOnly
            && self.bound.len() == args.len()
            && self.bound.iter().zip(given()).all(|(bound, given)| given == Some(*bound))
            // The innermost comes first.
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

    /// A parameter's name, as a string that no other thread counts references of.
    fn name(&mut self, name: &str) -> ImmutableString {
        if let Some(own) = self.names.iter().find(|own| own.as_str() == name) {
            return own.clone();
        }
        let own = ImmutableString::from(name);
        self.names.push(own.clone());
        own
    }

    /// Keeps the state for the next call, if it is as it was.
    pub(super) fn keep(mut self: Box<Self>, environment: &Environment) {
        if self.bound.is_empty() || self.state.scope.len() != self.bound.len() {
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
