//! Coverage in the form of lcov's tracefiles.

use super::Coverage;
use std::fmt::Write as _;

/// The tracefile. An outcome of an expression that was never evaluated counts as `-`.
pub fn lcov(coverage: &Coverage) -> String {
    let mut out = String::new();
    for file in &coverage.files {
        let _ = write!(out, "TN:\nSF:{}\n", file.path);
        for function in &file.functions {
            let _ = writeln!(out, "FN:{},{}", function.line, function.name);
        }
        for function in &file.functions {
            let _ = writeln!(out, "FNDA:{},{}", function.calls, function.name);
        }
        let called = file.functions.iter().filter(|function| function.calls > 0).count();
        let _ = write!(out, "FNF:{}\nFNH:{called}\n", file.functions.len());
        let outcomes = || file.functions.iter().flat_map(|function| &function.outcomes);
        for outcome in outcomes() {
            let (block, branch) = outcome.number;
            let taken = if outcome.evaluated { outcome.count.to_string() } else { "-".to_owned() };
            let _ = writeln!(out, "BRDA:{},{block},{branch},{taken}", outcome.line);
        }
        let taken = outcomes().filter(|outcome| outcome.count > 0).count();
        let _ = write!(out, "BRF:{}\nBRH:{taken}\n", outcomes().count());
        for (line, count) in &file.lines {
            let _ = writeln!(out, "DA:{line},{count}");
        }
        let hit = file.lines.values().filter(|count| **count > 0).count();
        let _ = write!(out, "LF:{}\nLH:{hit}\nend_of_record\n", file.lines.len());
    }
    out
}
