//! cargo, nextest, rustc, clippy; `go test`, the Go compiler.

use super::super::tool::{Does, Extent, Finding, ProblemKind, Tool};
use super::{on, shaped, tool};

pub(super) static TOOLS: &[Tool] = &[
    shaped(
        "cargo test",
        ProblemKind::Test,
        &[
            on(r"^\s+Running (?:unittests )?(?P<code>\S+) \((?P<suite>[^)]+)\)$", Does::Context),
            on(r"^\s+Doc-tests (?P<suite>\S+)$", Does::Context),
            on(r"^test (?P<name>\S.*?)(?: - should panic| - compile(?: fail)?)? \.\.\. FAILED$", Does::Summary),
            on(r"^test (?P<name>\S.*?) \.\.\. ok$", Does::Over),
            on(
                r"^thread '(?P<name>[^']+)'(?: \(\d+\))? panicked at (?P<file>[^\s:]+\.rs):(?P<line>\d+):\d+:?$",
                Does::BegunOutside,
            ),
            on(r"^test (?P<name>\S.*?) has been running for over \d+ seconds$", Does::Context),
            on(r"^---- (?P<name>\S.*?) stdout ----$", Does::Failure(Extent::Section)),
            on(r"^failures:$", Does::Disarm),
            on(r"^test result: FAILED\. \d+ passed; (?P<failed>\d+) failed;.*$", Does::Totals),
            on(
                r"^process didn't exit successfully: `(?P<suite>[^` ]*[/\\]deps[/\\][^` ]+)[^`]*` \((?P<message>signal: .*)\)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^\s+process didn't exit successfully: `(?P<suite>[^` ]*[/\\]deps[/\\][^` ]+)[^`]*` \((?P<message>signal: .*)\)$",
                Does::Failure(Extent::Line),
            ),
        ],
        cargo,
    ),
    shaped(
        "nextest",
        ProblemKind::Test,
        &[
            on(
                r"^\s*(?:TRY \d+ )?(?P<code>FAIL|ABRT|TMT|SIG[A-Z]+|TIMEOUT|ABORT|LEAK-FAIL|FLAKY-FL) \[ *[>\d.]+s\] (?:\([^)]*\) )?(?P<suite>\S+) (?P<name>\S+)$",
                Does::Failure(Extent::Section),
            ),
            on(r"^\s*FLAKY \d+/\d+ \[ *[>\d.]+s\] (?:\([^)]*\) )?(?P<suite>\S+) (?P<name>\S+)$", Does::Flaky),
            on(
                r"^(?:──── (?:TRY \d+ )?|-{3} (?:TRY \d+ )?)STD(?:OUT|ERR): +(?P<suite>\S+) (?P<name>\S+)(?: -{3}| *)$",
                Does::Failure(Extent::Section),
            ),
            on(r"^────────────$", Does::Disarm),
            on(r"^\s+Summary \[.*\] \d+ tests? run: .*?(?P<failed>\d+) failed.*$", Does::Totals),
            on(r"^\s+(?:TRY \d+ )?(?:PASS|SLOW|TRMNTG|TERMINATING|RETRY|Cancelling|Canceling|SKIP|START) .*$", Does::Disarm),
        ],
        nextest,
    ),
    shaped(
        "rustc",
        ProblemKind::Compile,
        &[
            on(
                r"^(?P<file>[^\s:]+\.rs):(?P<line>\d+):\d+: error(?:\[(?P<code>E\d+)\])?: (?P<message>.*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^error\[(?P<code>E\d+)\]: (?P<message>.*)$", Does::Failure(Extent::Blank)),
            on(r"^error: could not compile `(?P<name>[^`]+)`.*$", Does::Disarm),
            on(r"^error: linking with `[^`]+` failed: (?P<message>.*)$", Does::Failure(Extent::Section)),
            on(r"^warning: .*$", Does::Disarm),
        ],
        rustc,
    ),
    tool(
        "rustfmt",
        ProblemKind::Lint,
        &[on(r"^Diff in (?P<file>\S+?)(?::| at line )(?P<line>\d+):?$", Does::Failure(Extent::Section))],
    ),
    shaped(
        "go test",
        ProblemKind::Test,
        &[
            on(r"^=== (?:RUN|CONT|NAME)\s+(?P<name>\S+)$", Does::Begun),
            on(r"^=== PAUSE\s+(?P<name>\S+)$", Does::Context),
            on(r"^\s*--- (?:PASS|SKIP): (?P<name>\S+) \([\d.]+s\)$", Does::Over),
            on(r"^\s*--- FAIL: (?P<name>\S+) \([\d.]+s\)$", Does::Failure(Extent::Section)),
            on(r"^WARNING: DATA RACE$", Does::Lead),
            on(r"^panic: (?P<message>.*)$", Does::Outside(Extent::Section)),
            on(r"^fatal error: (?P<message>.*)$", Does::Outside(Extent::Section)),
            on(r"^FAIL\s+(?P<suite>\S+)\s+[\d.]+s$", Does::Belongs),
            on(r"^FAIL\s+(?P<suite>\S+) \[(?P<code>build failed|setup failed)\]$", Does::Failure(Extent::Line)),
            on(r"^(?:ok  \t|\?   \t)\S.*$", Does::Disarm),
            on(r"^(?:PASS|FAIL|exit status \d+)$", Does::Disarm),
        ],
        go,
    ),
    tool(
        "golangci-lint",
        ProblemKind::Lint,
        &[on(r"^\s*(?P<file>[^\s:]+\.go):(?P<line>\d+):\d+: (?P<message>.*) \((?P<code>[a-z]+)\)$", Does::Failure(Extent::Line))],
    ),
    shaped(
        "Go",
        ProblemKind::Compile,
        &[
            on(r"^# (?P<suite>\S+)(?: \[\S+\])?$", Does::Context),
            on(
                r"^(?:vet: )?(?P<file>(?:\./|\.\./|/)?[^\s:]+\.go):(?P<line>\d+):\d+: (?P<message>.*)$",
                Does::Failure(Extent::Dedent),
            ),
        ],
        |finding| {
            // Since 1.21, `go vet` puts the package in brackets.
            if finding.suite.starts_with('[') {
                finding.kind = ProblemKind::Lint;
            }
        },
    ),
];

fn cargo(finding: &mut Finding) {
    // `deps/inventory-845a2e23059eb510`, or a name.
    let program = finding.suite.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = program.rsplit_once('-').filter(|(_, hash)| hash.len() == 16).map_or(program, |(name, _)| name).to_owned();
    if finding.name.is_empty() {
        finding.is_error = true;
        finding.name.clone_from(&name);
        finding.suite = name;
        return;
    }
    // A thread of a program that is not a test.
    finding.is_none =
        finding.head.starts_with("thread '") && finding.is_error && matches!(finding.name.as_str(), "main" | "<unnamed>");
    finding.suite = name;
    if finding.is_error && finding.head.starts_with("thread '") {
        finding.text = format!("{}\n{}", finding.head, finding.text);
    }
    finding.place_from(r"panicked at (?P<file>[^\s:]+\.rs):(?P<line>\d+):\d+:?$", false);
    // The place of a panic in a doctest is one in the doctest.
    if let Some((file, rest)) = finding.name.split_once(" - ")
        && let Some((_, line)) = rest.trim_end_matches(')').rsplit_once("(line ")
    {
        (finding.file, finding.line) = (Some(file.to_owned()), line.parse().ok());
    }
    finding.text = finding.text.trim_matches('\n').to_owned();
}

fn nextest(finding: &mut Finding) {
    if let Some((package, binary)) = finding.suite.split_once("::")
        && package == binary
    {
        finding.suite = package.to_owned();
    }
    finding.is_error = !matches!(finding.code.as_str(), "" | "FAIL" | "LEAK-FAIL" | "FLAKY-FL");
    finding.place_from(r"panicked at (?P<file>[^\s:]+\.rs):(?P<line>\d+):\d+:?$", false);
}

pub(super) fn rustc(finding: &mut Finding) {
    if finding.file.is_none() {
        finding.place_from(r"^\s*--> (?P<file>[^\s:]+):(?P<line>\d+):\d+$", false);
    }
    if finding.head.contains("linking with") {
        finding.kind = ProblemKind::Link;
    }
    if finding.text.contains("clippy::") {
        finding.kind = ProblemKind::Lint;
    }
    let summary = [
        "aborting due to",
        "test failed, to rerun",
        "doctest failed",
        "could not compile",
        "build failed",
        "process didn't exit",
        "test run failed",
        "target(s) failed",
        "1 target failed",
        "the option `Z`",
    ];
    let is_summary =
        summary.iter().any(|start| finding.message.starts_with(start) || finding.message.contains("targets failed:"));
    // Other tools begin their errors alike; a compiler says where.
    finding.is_none = is_summary || finding.file.is_none() && finding.code.is_empty() && !finding.head.contains("linking with");
}

fn go(finding: &mut Finding) {
    if !finding.code.is_empty() {
        finding.is_error = true;
        finding.name = "build".to_owned();
        return;
    }
    if finding.name.is_empty() {
        finding.is_error = true;
        let running = finding.text.lines().skip_while(|line| line.trim() != "running tests:").nth(1);
        let running = running.map(|line| line.trim().split(' ').next().unwrap_or_default().to_owned());
        finding.name = running.or_else(|| panicking_test(&finding.text)).unwrap_or_else(|| "TestMain".to_owned());
    }
    if finding.is_error && finding.text.is_empty() && finding.message.is_empty() {
        "the test began and did not end".clone_into(&mut finding.message);
    }
    finding.place_from(r"^\s+(?P<file>[\w./-]+_test\.go):(?P<line>\d+): ", false);
    if finding.file.is_none() {
        finding.place_from(r"^\s+(?P<file>/(?:home|builds|src|app|go|var|w|__w|github|workspace|tmp)[^\s:]*\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?$", false);
    }
}

/// The test in whose call a panic happened.
fn panicking_test(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let name = line.split('(').next()?.rsplit('.').next()?;
        (line.contains('(')
            && !line.starts_with(char::is_whitespace)
            && name.starts_with("Test")
            && line.contains("testing.T").eq(&false))
        .then(|| name.to_owned())
    })
}
