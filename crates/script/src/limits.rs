//! Resource limits of scripts.

use std::time::Duration;

/// The limits of one call of a script function, and of the scripts themselves. All are always enabled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptLimits {
    /// Operations per call, including those of closures.
    pub operations: u64,
    /// Nested calls of script functions.
    pub call_depth: usize,
    /// Nesting of expressions and blocks.
    pub expr_depth: usize,
    /// Bytes of a string, and of all strings in one list or map.
    pub string: usize,
    /// Items of an array, including nested ones.
    pub array: usize,
    /// Entries of a map, including nested ones.
    pub map: usize,
    /// The time limit of a call. Only CPU time counts towards its second half.
    pub time: Duration,
    /// Scripts that one script may import.
    pub modules: usize,
    /// Functions of a file, including closures.
    pub functions: usize,
    /// Variables in scope at once.
    pub variables: usize,
    /// Bytes that a call may hold at once, including variables, closures, results and temporary values.
    pub memory: usize,
    /// Bytes of stack that a call may use.
    pub stack: usize,
    /// Bytes of a script file.
    pub source: usize,
}

impl Default for ScriptLimits {
    fn default() -> Self {
        Self {
            operations: 5_000_000,
            call_depth: 64,
            expr_depth: 64,
            string: 1 << 20,
            array: 10_000,
            map: 10_000,
            time: Duration::from_secs(1),
            modules: 64,
            functions: 1_000,
            variables: 128,
            memory: 64 << 20,
            stack: 1 << 20,
            source: 1 << 20,
        }
    }
}
