//! What ends any job from outside, and commands that could not run.

use super::super::tool::{Does, Extent, ProblemKind, Tool};
use super::rust_go::rustc;
use super::{on, shaped, tool};

pub(super) static TOOLS: &[Tool] = &[
    tool(
        "time limit",
        ProblemKind::Timeout,
        &[
            on(
                r"^(?:##\[error\]|Error: |ERROR: )?(?P<message>The job running on (?:runner|agent) .* (?:has exceeded the maximum execution time|ran longer than the maximum time) of .*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^(?:##\[error\]|Error: )?(?P<message>The action '.*' has timed out after .*)$", Does::Failure(Extent::Line)),
            on(
                r"^ERROR: Job failed: (?P<message>(?:execution took longer than|job execution timeout|stuck or timeout).*)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^(?P<message>(?:Cancelling nested steps due to timeout|Timeout has been exceeded|Build timed out \(after .*|Job execution timeout.*|Too long with no output .*|Job exceeded maximum execution time.*|The job has exceeded the maximum.*|WARNING: step_script could not run to completion because the timeout was exceeded.*))$",
                Does::Failure(Extent::Line),
            ),
        ],
    ),
    tool(
        "memory limit",
        ProblemKind::Memory,
        &[
            on(r"^FATAL ERROR: (?P<message>.*JavaScript heap out of memory.*)$", Does::Failure(Extent::Line)),
            on(
                r"^(?:Exception in thread .* |Caused by: |\[ERROR\] |> )?(?P<message>java\.lang\.OutOfMemoryError.*)$",
                Does::Outside(Extent::Line),
            ),
            on(r"^(?:\S+: line \d+: +\d+ |\S+: )?(?P<message>(?:Killed|OOMKilled)(?:\s.*)?)$", Does::Failure(Extent::Line)),
            on(
                r"^(?:.*: )?(?P<message>(?:virtual memory exhausted|Cannot allocate memory|out of memory allocating|fatal error: runtime: out of memory|std::bad_alloc).*)$",
                Does::Outside(Extent::Line),
            ),
            on(r"^.*(?P<message>\(signal: 9, SIGKILL: kill\).*)$", Does::Failure(Extent::Line)),
        ],
    ),
    tool(
        "disk",
        ProblemKind::Disk,
        &[on(
            r"^.*(?P<message>(?:[Nn]o space left on device|[Dd]isk quota exceeded|ENOSPC: no space left|There is not enough space on the disk).*)$",
            Does::Outside(Extent::Line),
        )],
    ),
    tool(
        "runner",
        ProblemKind::Runner,
        &[
            on(
                r"^(?:##\[error\]|Error: )?(?P<message>The (?:runner has received a shutdown signal|hosted runner.* lost communication|self-hosted runner.* lost communication|operation was canceled because the runner|agent: .* lost communication).*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^(?:##\[error\])?(?P<message>We stopped hearing from agent .*)$", Does::Failure(Extent::Line)),
            on(r"^ERROR: Job failed (?P<message>\(system failure\).*)$", Does::Failure(Extent::Line)),
            on(
                r"^(?P<message>(?:Cannot contact \S+: .*|.*hudson\.remoting\.ChannelClosedException.*|.*hudson\.AbortException: missing workspace.*|.* was marked offline: .*|Agent was removed|.*The channel is closing down or has closed down.*))$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^(?P<message>(?:The agent was lost|Agent lost|Received spot instance interruption|The (?:node|machine) was preempted).*)$",
                Does::Failure(Extent::Line),
            ),
        ],
    ),
    tool(
        "cancellation",
        ProblemKind::Cancelled,
        &[
            on(
                r"^(?:##\[error\]|Error: )?(?P<message>(?:The operation was cancell?ed|The run was cancell?ed|The strategy configuration was cancell?ed|Canceling since a higher priority waiting request).*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^ERROR: Job failed: (?P<message>cancell?ed.*)$", Does::Failure(Extent::Line)),
            on(
                r"^(?P<message>(?:Aborted by .*|Received cancellation signal, interrupting.*|# Received cancellation.*|Job was cancell?ed.*|Sending interrupt signal to process.*))$",
                Does::Failure(Extent::Line),
            ),
        ],
    ),
    tool(
        "ssh",
        ProblemKind::Credentials,
        &[on(r"^(?:.{1,80}: )?(?P<message>Permission denied \(publickey.*\).*)$", Does::Outside(Extent::Line))],
    ),
    tool(
        "shell",
        ProblemKind::Command,
        &[
            on(
                r"^(?:\S+: )*(?:line \d+: |\d+: )?(?P<name>[^\s:]+): (?P<message>(?:command )?not found)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^(?:/\S*: |bash: |sh: |env: )(?:line \d+: |\d+: )?(?P<name>[^:]+): (?P<message>(?:Permission denied|No such file or directory|cannot execute.*|bad interpreter.*))$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^(?:cat|cp|mv|rm|ls|tar|cd|chmod|grep|sed|unzip|source|find|mkdir|ln|tee): (?P<message>.*(?:No such file or directory|Permission denied|cannot .*|Cannot .*))$",
                Does::Failure(Extent::Line),
            ),
            on(r"^curl: \((?P<code>\d+)\) (?P<message>.*)$", Does::Failure(Extent::Line)),
            on(r"^(?P<message>Segmentation fault.*|Aborted \(core dumped\)|Bus error.*)$", Does::Outside(Extent::Line)),
        ],
    ),
    // Errors without a code, of which only those with a place are the compiler's.
    shaped("rustc", ProblemKind::Compile, &[on(r"^error: (?P<message>.*)$", Does::Failure(Extent::Blank))], rustc),
    shaped(
        "Rust program",
        ProblemKind::Command,
        &[on(
            r"^thread '(?P<name>[^']+)'(?: \(\d+\))? panicked at (?P<file>[^\s:]+\.rs):(?P<line>\d+):\d+:?$",
            Does::Outside(Extent::Blank),
        )],
        |_| {},
    ),
];
