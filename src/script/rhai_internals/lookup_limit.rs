//! Limits the cache of resolved function calls to one script.
//!
//! Rhai caches resolved calls by name and number of arguments alone, and uses the cache also in functions of another script,
//! where that name may refer to another function: scripts with functions of the same name, even private ones, would call each
//! other's. Here a call into another script gets a fresh cache.

use rhai::EvalContext;
use std::cell::Cell;

thread_local! {
    /// The number of nested scripts at the call that owns the current cache.
    static DEPTH: Cell<usize> = const { Cell::new(1) };
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

/// Runs a call from outside, whose state has a cache of its own.
pub(crate) fn from_outside<T>(call: impl FnOnce() -> T) -> T {
    let _before = at(1);
    call()
}

/// Evaluates a function's body. Calls within a script share a cache; one into another script gets a fresh one.
pub(crate) fn of_body<T>(context: &mut EvalContext, body: impl FnOnce(&mut EvalContext) -> T) -> T {
    let depth = context.global_runtime_state().lib.len();
    if depth == DEPTH.get() {
        return body(context);
    }
    let _before = at(depth);
    let mut frame = context.new_frame().with_new_caching_layer();
    body(&mut frame)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::script::testing::{find, link};
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
