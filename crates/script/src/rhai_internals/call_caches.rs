//! Limits the cache of resolved function calls to one script, and keeps it.
//!
//! Rhai caches resolved calls by name and number of arguments alone, and uses the cache also in functions of another script,
//! where that name may refer to another function: scripts with functions of the same name, even private ones, would call each
//! other's. So a call into another script needs a cache of its own. A closure gets an empty one from Rhai for every item that it
//! is called with. Filling a cache costs more than the rest of a short function; so the caches are kept with the state of the call
//! from outside, one for each stack of scripts.

use rhai::{Caches, EvalContext};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Number of caches kept with a state. A call from outside reaches few stacks of scripts, but recursion may need any number.
const KEPT: usize = 64;

thread_local! {
    /// The number of nested scripts at the call that owns the current cache.
    static DEPTH: Cell<usize> = const { Cell::new(1) };
    /// The caches of the current call from outside that are not in use.
    static CACHES: RefCell<CallCaches> = const { RefCell::new(CallCaches(Vec::new())) };
}

/// Caches of resolved calls, each with the addresses of the scripts at whose calls it was filled: the outermost first. The library
/// of the state that they are kept with holds these scripts, so no address is reused while the state is valid.
#[derive(Default)]
pub(crate) struct CallCaches(Vec<(Vec<usize>, Caches)>);

impl CallCaches {
    fn take(&mut self, scripts: &[usize]) -> (Vec<usize>, Caches) {
        match self.0.iter().rposition(|(filled_at, _)| filled_at == scripts) {
            Some(at) => self.0.swap_remove(at),
            None => (scripts.to_vec(), Caches::new()),
        }
    }

    fn keep(&mut self, cache: (Vec<usize>, Caches)) {
        if self.0.len() < KEPT {
            self.0.push(cache);
        }
    }
}

/// Restores the previous depth.
struct DepthGuard(usize);

impl Drop for DepthGuard {
    fn drop(&mut self) {
        DEPTH.set(self.0);
    }
}

fn at(depth: usize) -> DepthGuard {
    DepthGuard(DEPTH.replace(depth))
}

/// Restores the caches of the call from outside that encloses this one.
struct CachesGuard(CallCaches);

impl Drop for CachesGuard {
    fn drop(&mut self) {
        CACHES.set(std::mem::take(&mut self.0));
    }
}

/// Runs a call from outside, whose state has a cache of its own, and keeps those for other scripts in `caches`.
pub(crate) fn from_outside<T>(caches: &mut CallCaches, call: impl FnOnce() -> T) -> T {
    let _before = at(1);
    let _enclosing = CachesGuard(CACHES.replace(std::mem::take(caches)));
    let value = call();
    *caches = CACHES.take();
    value
}

/// Evaluates a function's body. Calls within a script share a cache; one into another script, or of a closure, uses that of its
/// stack of scripts.
pub(crate) fn of_body<T>(context: &mut EvalContext, is_closure: bool, body: impl FnOnce(&mut EvalContext) -> T) -> T {
    let scripts = &context.global_runtime_state().lib;
    let depth = scripts.len();
    if depth == DEPTH.get() && !is_closure {
        return body(context);
    }
    let _before = at(depth);
    let scripts: SmallVec<[usize; 8]> = scripts.iter().map(|script| Arc::as_ptr(script).addr()).collect();
    let mut cache = CACHES.with_borrow_mut(|caches| caches.take(&scripts));
    let engine = context.engine();
    let mut this = context.this_ptr_mut().map(std::mem::take);
    let mut scope = std::mem::take(context.scope_mut());
    let global = context.global_runtime_state_mut();
    let value = body(&mut EvalContext::new(engine, global, &mut cache.1, &mut scope, this.as_mut()));
    *context.scope_mut() = scope;
    if let (Some(place), Some(this)) = (context.this_ptr_mut(), this) {
        *place = this;
    }
    CACHES.with_borrow_mut(|caches| caches.keep(cache));
    value
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::testing::{find, link};
    use serde_json::json;

    #[test]
    fn functions_of_the_same_name_resolve_within_their_scripts() {
        let script = |own: &str, next: &str| {
            let (import, call) = if next.is_empty() {
                (String::new(), "\"\"".to_owned())
            } else {
                (format!("import \"{next}\" as next;\n"), "next::ask(x, y, z)".to_owned())
            };
            format!(
                "{import}fn ask(x, y, z) {{ which(1) + [1].map(|one| which(one))[0] + {call} + which(2) + again(1) }}\n\
                 fn again(n) {{ if n == 0 {{ which(3) }} else {{ again(n - 1) }} }}\nprivate fn which(n) {{ \"{own}\" }}\n"
            )
        };
        let texts = [script("a", "b"), script("b", "c"), script("c", "")];
        let library = link(&[("a.rhai", &texts[0]), ("b.rhai", &texts[1]), ("c.rhai", &texts[2])]);
        let ask = |file: &str| find(&library, &format!("{file}.rhai#ask"), 3).call_json(&[json!(1), json!(2), json!(3)]).unwrap();
        for _ in 0..3 {
            assert_eq!(ask("a"), json!("aabbccccbbaa"));
            assert_eq!(ask("c"), json!("cccc"));
            assert_eq!(ask("b"), json!("bbccccbb"));
        }
    }
}
