//! Jest, Vitest, Mocha, Cypress, node:test, Playwright; TypeScript, bundlers, linters.

use super::super::tool::{Does, Extent, Finding, ProblemKind, Tool};
use super::{on, shaped, tool};

pub(super) static TOOLS: &[Tool] = &[
    shaped(
        "Jest",
        ProblemKind::Test,
        &[
            on(r"^\s*(?:FAIL|PASS)\s+(?:\S+\s+)?(?P<file>\S+\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?$", Does::Context),
            on(r"^  ● (?P<name>Test suite failed to run)$", Does::Failure(Extent::Section)),
            on(r"^  ● (?P<name>\S.*)$", Does::Failure(Extent::Section)),
            on(r"^(?:Test Suites:|Summary of all failing tests).*$", Does::Disarm),
            on(r"^Tests:\s+(?P<failed>\d+) failed,.*$", Does::Totals),
        ],
        jest,
    ),
    shaped(
        "Vitest",
        ProblemKind::Test,
        &[
            on(r"^⎯+ (?:Failed (?:Tests|Suites) \d+|Unhandled (?:Errors?|Rejections?)) ⎯+.*$", Does::Arm),
            on(
                r"^ ?FAIL  (?:\|?(?P<code>[^|\s]+)\|? )?(?P<file>[^\s>]+\.[cm]?[jt]sx?)(?: > (?P<name>.+?))?(?: \[ .* \])?$",
                Does::Listed(Extent::Section),
            ),
            on(r"^⎯+\[\d+/\d+\]⎯+$", Does::Context),
            on(r"^ Test Files  .*$", Does::Disarm),
            on(r"^\s+Tests  (?P<failed>\d+) failed.*$", Does::Totals),
        ],
        vitest,
    ),
    shaped(
        "Mocha",
        ProblemKind::Test,
        &[
            on(r"^\s+\d+ failing$", Does::Arm),
            on(r"^\s{2}\d+\) (?P<name>\S.*)$", Does::Listed(Extent::Section)),
            on(r"^\s{2}\(Results\):?.*$", Does::Disarm),
            on(r"^\s*(?:Running:  |┌─+|=+$|npm (?:ERR!|error) ).*$", Does::Disarm),
        ],
        mocha,
    ),
    shaped(
        "node:test",
        ProblemKind::Test,
        &[
            on(r"^✖ failing tests:$", Does::Arm),
            on(r"^test at (?P<file>\S+?):(?P<line>\d+):\d+$", Does::Context),
            on(r"^✖ (?P<name>\S.*?) \([\d.]+ms\)$", Does::Listed(Extent::Section)),
        ],
        |finding| finding.is_error = false,
    ),
    shaped(
        "Playwright",
        ProblemKind::Test,
        &[
            on(r"^Running \d+ tests? using \d+ workers?.*$", Does::Disarm),
            on(
                r"^\s{2}\d+\) (?:\[(?P<code>[^\]]+)\] › )?(?P<file>[^\s:]+):(?P<line>\d+):\d+ › (?P<name>.+?)(?: ─+)?$",
                Does::Failure(Extent::Section),
            ),
            on(r"^\s{2}(?:\d+ (?:failed|passed|skipped|did not run|interrupted).*)$", Does::Disarm),
            on(r"^\s{2}\d+ flaky$", Does::Arm),
            on(
                r"^\s{4}(?:\[(?P<code>[^\]]+)\] › )?(?P<file>[^\s:]+):(?P<line>\d+):\d+ › (?P<name>.+?)(?: ─+)?$",
                Does::FlakyListed,
            ),
        ],
        playwright,
    ),
    tool(
        "TypeScript",
        ProblemKind::Compile,
        &[
            on(
                r"^(?P<file>[^\s(]+\.[cm]?tsx?)\((?P<line>\d+),\d+\): error (?P<code>TS\d+): (?P<message>.*)$",
                Does::Failure(Extent::Dedent),
            ),
            on(
                r"^(?P<file>[^\s:]+\.[cm]?tsx?):(?P<line>\d+):\d+ - error (?P<code>TS\d+): (?P<message>.*)$",
                Does::Failure(Extent::Section),
            ),
            on(r"^error (?P<code>TS\d+): (?P<message>.*)$", Does::Failure(Extent::Line)),
            on(r"^Found \d+ errors?.*$", Does::Disarm),
        ],
    ),
    tool(
        "esbuild",
        ProblemKind::Compile,
        &[
            on(r"^✘ \[ERROR\] (?P<message>.*)$", Does::Failure(Extent::Section)),
            on(r"^(?P<file>[^\s:]+\.[cm]?[jt]sx?):(?P<line>\d+):\d+: ERROR: (?P<message>.*)$", Does::Failure(Extent::Line)),
        ],
    ),
    tool(
        "webpack",
        ProblemKind::Compile,
        &[
            on(r"^ERROR in (?P<file>\S+)(?: (?P<line>\d+):\d+(?:-\d+)?)?$", Does::Failure(Extent::Blank)),
            on(r"^webpack .* compiled with \d+ errors?.*$", Does::Disarm),
        ],
    ),
    tool("Vite", ProblemKind::Compile, &[on(r"^(?:error during build:|✗ Build failed in .*)$", Does::Failure(Extent::Section))]),
    tool(
        "ESLint",
        ProblemKind::Lint,
        &[
            on(r"^(?P<file>(?:/|[A-Z]:\\|\./)\S.*\.[cm]?(?:[jt]sx?|vue|svelte))$", Does::Context),
            on(
                r"^(?P<file>[^\s:]+\.[cm]?[jt]sx?):(?:(?P<line>\d+):\d+:) (?P<message>.*) \[(?:Error|Warning)(?:/(?P<code>[\w@/-]+))?\]$",
                Does::Failure(Extent::Line),
            ),
            on(r"^\s*(?P<line>\d+):\d+\s+error\s+(?P<message>\S.*?)(?:\s{2,}(?P<code>[@\w/-]+))?$", Does::Failure(Extent::Line)),
            on(r"^✖ \d+ problems? .*$", Does::Disarm),
        ],
    ),
    tool(
        "Prettier",
        ProblemKind::Lint,
        &[
            on(r"^Checking formatting\.\.\.$", Does::Arm),
            on(r"^\[(?:warn|error)\] (?P<file>[^\s:]+\.\w+)(?:: (?P<message>.*))?$", Does::Listed(Extent::Line)),
        ],
    ),
    tool(
        "Biome",
        ProblemKind::Lint,
        &[on(
            r"^(?P<file>\S+\.[cm]?[jt]sx?|\S+\.json)(?::(?P<line>\d+):\d+)? (?P<code>(?:lint|format|organizeImports|assist|parse)\S*)\s.*━+$",
            Does::Failure(Extent::Section),
        )],
    ),
    tool("stylelint", ProblemKind::Lint, &[on(r"^\s+(?P<line>\d+):\d+\s+✖\s+(?P<message>\S.*)$", Does::Failure(Extent::Line))]),
    tool(
        "coverage threshold",
        ProblemKind::Gate,
        &[
            on(r"^Jest: (?P<message>.*coverage threshold for .* not met.*)$", Does::Failure(Extent::Line)),
            on(r"^ERROR: (?P<message>Coverage for \w+ \([\d.]+%\) does not meet .*threshold.*)$", Does::Failure(Extent::Line)),
        ],
    ),
    tool(
        "bundle size",
        ProblemKind::Gate,
        &[
            on(r"^\s*(?P<message>Package size limit has exceeded by .*)$", Does::Failure(Extent::Blank)),
            on(r"^\s*FAIL\s+(?P<message>(?P<file>\S+): [\d.]+ ?[KMG]?i?B.* > maxSize .*)$", Does::Failure(Extent::Line)),
            on(
                r"^\s*(?P<message>(?:bundle|asset) (?:size )?.*exceeds? (?:the )?(?:limit|budget|maximum).*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^Error: (?P<message>bundle .* maximum .*)$", Does::Failure(Extent::Line)),
        ],
    ),
    shaped(
        "Vitest",
        ProblemKind::Command,
        &[on(r"^⎯+ (?:Uncaught Exception|Unhandled Rejection) ⎯+$", Does::Failure(Extent::Section)), on(r"^⎯+$", Does::Disarm)],
        |finding| {
            let line = finding.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let (code, message) = line.split_once(": ").unwrap_or(("", line));
            (finding.code, finding.message) = (code.to_owned(), message.to_owned());
            finding.place_from(r"^ ❯ (?:.* )?(?P<file>[^\s:]+):(?P<line>\d+):\d+$", false);
        },
    ),
    shaped(
        "Node.js",
        ProblemKind::Command,
        &[
            on(r"^(?P<file>(?:/|file:///)[^\s:]+\.[cm]?[jt]sx?):(?P<line>\d+)$", Does::Outside(Extent::Section)),
            on(
                r"^(?:Uncaught )?(?P<code>Error|TypeError|ReferenceError|SyntaxError|RangeError): (?P<message>Cannot find (?:module|package) .*)$",
                Does::Outside(Extent::Blank),
            ),
        ],
        node,
    ),
];

fn jest(finding: &mut Finding) {
    let file = finding.file.clone().unwrap_or_default();
    if finding.name == "Test suite failed to run" {
        finding.is_error = true;
        finding.name.clone_from(&file);
        return;
    }
    if finding.name.starts_with("Console") || finding.file.is_none() && finding.head.contains("console.") {
        finding.is_none = true;
        return;
    }
    titles(finding, " › ");
    finding.place_from(r"^\s+at .*?\(?(?P<file>[^\s():]+):(?P<line>\d+):\d+\)?$", false);
    finding.file = Some(file).filter(|file| !file.is_empty()).or(finding.file.take());
}

/// Splits titles into the suite and the test's own.
fn titles(finding: &mut Finding, separator: &str) {
    let name = std::mem::take(&mut finding.name);
    let mut titles: Vec<&str> = name.split(separator).map(str::trim).collect();
    let own = titles.pop().unwrap_or_default();
    finding.suite = titles.join(" ");
    own.clone_into(&mut finding.name);
}

fn vitest(finding: &mut Finding) {
    let file = finding.file.clone().unwrap_or_default();
    if finding.name.is_empty() {
        finding.is_error = true;
        finding.name = file;
        return;
    }
    titles(finding, " > ");
    finding.suite = if finding.suite.is_empty() { file } else { format!("{file} > {}", finding.suite) };
    finding.place_from(r"^ ❯ (?:.* )?(?P<file>[^\s:]+):(?P<line>\d+):\d+$", false);
}

fn mocha(finding: &mut Finding) {
    let mut titles = vec![std::mem::take(&mut finding.name)];
    let mut lines = finding.text.lines().peekable();
    while !titles.last().is_some_and(|title| title.ends_with(':'))
        && let Some(line) = lines.next_if(|line| !line.trim().is_empty())
    {
        titles.push(line.trim().to_owned());
    }
    let own = titles.pop().unwrap_or_default();
    finding.name = own.trim_end_matches(':').to_owned();
    finding.suite = titles.join(" ");
    finding.text = lines.collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned();
    finding.is_error = finding.name.starts_with('"') && finding.name.contains(" hook");
    finding.place_from(r"^\s+at .*?\(?(?P<file>[^\s()]+?\.[cm]?[jt]sx?):(?P<line>\d+):\d+\)?$", false);
}

fn playwright(finding: &mut Finding) {
    // The part of a file's title that names its suites.
    let file = finding.file.clone().unwrap_or_default();
    let name = std::mem::take(&mut finding.name);
    let mut titles: Vec<&str> = name.split(" › ").map(str::trim).collect();
    let own = titles.pop().unwrap_or_default();
    own.clone_into(&mut finding.name);
    finding.suite = std::iter::once(file.as_str()).chain(titles).collect::<Vec<_>>().join(" › ");
    if !finding.code.is_empty() {
        finding.suite = format!("[{}] {}", finding.code, finding.suite);
    }
}

fn node(finding: &mut Finding) {
    if finding.message.is_empty() {
        let error = finding
            .text
            .lines()
            .find(|line| line.split_once(": ").is_some_and(|(kind, _)| kind.ends_with("Error") || kind.contains("Error [")));
        match error.and_then(|line| line.split_once(": ")) {
            Some((code, message)) => (finding.code, finding.message) = (code.to_owned(), message.to_owned()),
            // A source file's name alone is not an error.
            None => finding.is_none = true,
        }
    }
}
