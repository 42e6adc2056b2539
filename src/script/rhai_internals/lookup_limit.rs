//! Which functions a name was found to mean is remembered for as long as the same functions can be called.
//!
//! Rhai remembers what it finds under a name and its number of arguments alone, and goes on doing so in a function of another
//! script, where that name may mean another function: scripts that have functions of the same name, private ones even, would call
//! each other's. Here the memory is a fresh one whenever a call comes to another script.

use rhai::EvalContext;
use std::cell::Cell;

thread_local! {
    /// How many scripts deep the call is that the memory in use belongs to.
    static DEPTH: Cell<usize> = const { Cell::new(1) };
}

/// Puts the depth back that was before.
struct DepthGuard(usize);

impl Drop for DepthGuard {
    fn drop(&mut self) {
        DEPTH.set(self.0);
    }
}

fn at(depth: usize) -> DepthGuard {
    DepthGuard(DEPTH.replace(depth))
}

/// A call from outside: its state has a memory of its own.
pub(crate) fn from_outside<T>(call: impl FnOnce() -> T) -> T {
    let _before = at(1);
    call()
}

/// A function's body. Calls within a script share a memory; one that comes to another script gets a fresh one.
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
    fn functions_of_the_same_name_are_those_of_their_own_scripts() {
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
