//! Catches panics of Rhai and of host functions, which become diagnostics, and suppresses the report that the standard library
//! would write to standard error.
//!
//! The panic hook is global to the process, so it is installed once, on top of the previous one, and is silent only on threads
//! that are inside [`catch`].

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

static INSTALLED: Once = Once::new();

/// Runs code that may panic. Returns the payload of a panic as the error, without a report.
pub(crate) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    install();
    let outer = QUIET.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(outer);
    outcome
}

/// A panicking thread cannot set the hook; the next call does it then.
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

    /// The standard error of a process can only be read from outside: the test runs itself as a child process.
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
        let message = String::from_utf8_lossy(&child.stderr);
        assert!(child.status.success(), "{message}");
        assert!(message.contains("loud one") && message.contains("loud two"), "{message}");
        assert!(!message.contains("unheard"), "{message}");
    }

    #[test]
    fn the_panic_payload_is_returned() {
        assert_eq!(catch(|| 1).ok(), Some(1));
        let panic = catch(|| panic!("why")).expect_err("panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"why"));
    }
}
