//! Panics of Rhai and of host functions are caught and become diagnostics: the report that the standard library writes to
//! standard error before that would only disturb whoever reads there.
//!
//! The hook is the process's, so it is installed once, on top of whatever was there, and keeps silent only on threads that are
//! just then inside [`catch`].

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

static INSTALLED: Once = Once::new();

/// Runs what may panic; the panic is the error, and nobody hears of it otherwise.
pub(crate) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    install();
    let outer = QUIET.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(outer);
    outcome
}

/// A panicking thread cannot change the hook; then the next call does.
fn install() {
    if INSTALLED.is_completed() || std::thread::panicking() {
        return;
    }
    INSTALLED.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |panic| {
            if !QUIET.try_with(Cell::get).unwrap_or(false) {
                previous(panic);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const CHILD: &str = "ASTERISK_TEST_QUIET_CHILD";

    /// What a process writes to standard error can only be read from outside: the test runs itself.
    #[test]
    fn caught_panics_are_silent_and_others_are_not() {
        if std::env::var_os(CHILD).is_some() {
            assert!(catch(|| panic!("unheard one")).is_err());
            assert!(
                catch(|| catch(|| panic!("unheard two")).is_err() && catch_unwind(|| panic!("unheard three")).is_err())
                    .expect("fine")
            );
            assert!(catch_unwind(|| panic!("loud one")).is_err());
            assert!(std::thread::spawn(|| panic!("loud two")).join().is_err());
            return;
        }
        let (_, module) = module_path!().split_once("::").expect("a module of this crate");
        let name = format!("{module}::caught_panics_are_silent_and_others_are_not");
        let child = Command::new(std::env::current_exe().expect("this test"))
            .args([&name, "--exact", "--nocapture", "--test-threads=1"])
            .env(CHILD, "1")
            .output()
            .expect("runs");
        let said = String::from_utf8_lossy(&child.stderr);
        assert!(child.status.success(), "{said}");
        assert!(said.contains("loud one") && said.contains("loud two"), "{said}");
        assert!(!said.contains("unheard"), "{said}");
    }

    #[test]
    fn the_panic_is_handed_back() {
        assert_eq!(catch(|| 1).ok(), Some(1));
        let panic = catch(|| panic!("why")).expect_err("panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"why"));
    }
}
