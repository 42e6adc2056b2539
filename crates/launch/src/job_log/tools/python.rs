//! pytest, unittest, behave, Robot Framework; mypy, pyright, linters, Python itself.

use super::super::tool::{Does, Extent, Finding, ProblemKind, Tool};
use super::{dotted, on, shaped, split_last, tool};

pub(super) static TOOLS: &[Tool] = &[
    shaped(
        "pytest",
        ProblemKind::Test,
        &[
            on(r"^=+ (?:test session starts|short test summary info) =+$", Does::Disarm),
            on(r"^=+ (?:FAILURES|ERRORS) =+$", Does::Arm),
            on(r"^_{2,} (?P<name>\S.*?) _{2,}$", Does::Listed(Extent::Section)),
            on(r"^(?P<file>/?[^\s:]+\.py):(?P<line>\d+): (?P<message>\S.*)$", Does::ListedOutside(Extent::Line)),
            on(r"^(?P<code>FAILED|ERROR) (?P<file>[^\s:]+\.py)(?:::(?P<name>\S.*?))?(?: - (?P<message>.*))?$", Does::Summary),
            on(r"^(?P<code>ERROR) (?P<file>[^\s:]+\.py) - (?P<message>.*)$", Does::Summary),
            on(r"^ImportError while loading conftest '(?P<file>[^']+)'\.$", Does::Failure(Extent::Section)),
            on(r"^INTERNALERROR> (?P<message>\w+(?:\.\w+)*(?:Error|Exception|Exit)\b.*)$", Does::Failure(Extent::Line)),
            on(r"^(?P<code>Fatal Python error): (?P<message>.*)$", Does::Failure(Extent::Section)),
            on(r"^\[gw\d+\] node down: (?P<message>.*)$", Does::Outside(Extent::Line)),
            on(r"^=+ (?:warnings summary|PASSES|slowest .*|\d+ .* in [\d.]+s.*) =+$", Does::Disarm),
            on(
                r"^(?:=+ )?(?:(?P<failed>\d+) failed)?(?:, )?(?:\d+ (?:passed|skipped|deselected|xfailed|xpassed|warnings?|rerun)(?:, )?)*(?:(?P<errors>\d+) errors?)? in [\d.]+s.*$",
                Does::Totals,
            ),
            on(r"^-+ (?:generated|coverage).*-+$", Does::Disarm),
        ],
        pytest,
    ),
    shaped(
        "unittest",
        ProblemKind::Test,
        &[
            on(r"^={70}$", Does::Arm),
            on(r"^(?P<code>FAIL|ERROR): (?P<name>\S+) \((?P<suite>[\w.<>]+)\)(?P<message>.*)$", Does::Listed(Extent::Section)),
            on(r"^Ran \d+ tests? in [\d.]+s$", Does::Disarm),
            on(r"^FAILED \((?:failures=(?P<failed>\d+))?(?:, )?(?:errors=(?P<errors>\d+))?.*\)$", Does::Totals),
        ],
        unittest,
    ),
    shaped(
        "behave",
        ProblemKind::Test,
        &[
            on(r"^\s+Scenario(?: Outline)?: (?P<name>.*?)(?:\s+# (?P<file>\S+\.feature):(?P<line>\d+))?$", Does::Begun),
            on(r"^Failing scenarios:$", Does::Arm),
            on(r"^  (?P<file>\S+\.feature):(?P<line>\d+)  (?P<name>.+)$", Does::Listed(Extent::Line)),
            on(r"^\d+ features? passed, (?P<failed>\d+) failed.*$", Does::Disarm),
        ],
        behave,
    ),
    shaped(
        "Robot Framework",
        ProblemKind::Test,
        &[
            on(r"^={78}$", Does::Arm),
            on(r"^-{78}$", Does::Arm),
            on(r"^(?P<name>\S.*?)(?: :: .*?)?\s+\| PASS \|$", Does::Over),
            on(r"^(?P<name>\S.*?)(?: :: .*?)?\s+\| FAIL \|$", Does::Listed(Extent::Section)),
        ],
        robot,
    ),
    tool(
        "mypy",
        ProblemKind::Compile,
        &[on(
            r"^(?P<file>[^\s:]+\.pyi?):(?P<line>\d+):(?:\d+:)? error: (?P<message>.*?)(?:  \[(?P<code>[\w-]+)\])?$",
            Does::Failure(Extent::Dedent),
        )],
    ),
    tool(
        "pyright",
        ProblemKind::Compile,
        &[on(
            r"^\s+(?P<file>/?[^\s:]+\.pyi?):(?P<line>\d+):\d+ - error: (?P<message>.*?)(?: \((?P<code>report\w+)\))?$",
            Does::Failure(Extent::Dedent),
        )],
    ),
    shaped(
        "ruff",
        ProblemKind::Lint,
        &[
            on(
                r"^(?P<file>[^\s:]+\.pyi?):(?P<line>\d+):\d+: (?P<code>[A-Z]+\d{3,4}) (?P<message>.*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^(?P<code>[A-Z]{1,4}\d{3,4}|invalid-syntax:?) (?:\[\*\] )?(?P<message>\S.*)$", Does::Failure(Extent::Blank)),
            on(r"^Would reformat: (?P<file>\S+)$", Does::Failure(Extent::Line)),
        ],
        |finding| {
            if finding.file.is_none() {
                finding.place_from(r"^\s+--> (?P<file>[^\s:]+):(?P<line>\d+):\d+$", false);
                finding.is_none = finding.file.is_none();
            }
        },
    ),
    tool(
        "pylint",
        ProblemKind::Lint,
        &[on(r"^(?P<file>[^\s:]+\.py):(?P<line>\d+):\d+: (?P<code>[CRWEF]\d{4}): (?P<message>.*)$", Does::Failure(Extent::Line))],
    ),
    tool(
        "black",
        ProblemKind::Lint,
        &[
            on(r"^would reformat (?P<file>\S+)$", Does::Failure(Extent::Line)),
            on(r"^error: cannot format (?P<file>[^:]+): (?P<message>.*)$", Does::Failure(Extent::Line)),
        ],
    ),
    tool(
        "isort",
        ProblemKind::Lint,
        &[on(r"^ERROR: (?P<file>\S+) (?P<message>Imports are incorrectly sorted.*)$", Does::Failure(Extent::Line))],
    ),
    tool(
        "pytest usage",
        ProblemKind::Command,
        &[on(r"^ERROR: (?P<message>(?:file or directory not found|not found|usage): .*)$", Does::Failure(Extent::Line))],
    ),
    tool(
        "Python syntax",
        ProblemKind::Compile,
        &[
            on(r#"^\s*(?:\*\*\* )?File "(?P<file>[^"]+)", line (?P<line>\d+)$"#, Does::Context),
            on(r"^(?:Sorry: )?(?P<code>SyntaxError|IndentationError|TabError): (?P<message>.*)$", Does::Outside(Extent::Line)),
        ],
    ),
    shaped(
        "Python",
        ProblemKind::Command,
        &[
            on(r"^Traceback \(most recent call last\):$", Does::Outside(Extent::Through)),
            on(r"^python[\d.]*: can't open file '(?P<file>[^']+)': (?P<message>.*)$", Does::Failure(Extent::Line)),
            on(r"^(?:\S*/)?python[\d.]*: (?P<message>No module named .*)$", Does::Failure(Extent::Line)),
        ],
        traceback,
    ),
];

/// The place of a frame.
const PLACE: &str = r"^(?P<file>[^\s:]+\.py):(?P<line>\d+): ";

fn pytest(finding: &mut Finding) {
    if finding.is_summary {
        let nodes: Vec<&str> = finding.name.split("::").filter(|node| !node.is_empty()).collect();
        let file = finding.file.clone().unwrap_or_default();
        finding.is_error = finding.code == "ERROR";
        let Some((test, classes)) = nodes.split_last() else {
            finding.suite = String::new();
            finding.name = dotted(&file);
            return;
        };
        finding.suite =
            std::iter::once(dotted(&file)).chain(classes.iter().map(|class| (*class).to_owned())).collect::<Vec<_>>().join(".");
        finding.name = (*test).to_owned();
        return;
    }
    if finding.head.starts_with("ImportError while") {
        finding.is_error = true;
        finding.place_from(PLACE, true);
        finding.name = finding.file.clone().unwrap_or_default();
        return;
    }
    if finding.name.is_empty() && finding.code.is_empty() && finding.file.is_some() {
        return;
    }
    if !finding.code.is_empty() || finding.head.starts_with("INTERNALERROR") || finding.head.starts_with('[') {
        finding.is_error = true;
        finding.name = if finding.code.is_empty() { "pytest".to_owned() } else { finding.code.clone() };
        return;
    }
    let name = std::mem::take(&mut finding.name);
    if let Some(rest) = name.strip_prefix("ERROR collecting ") {
        finding.is_error = true;
        finding.file = Some(rest.to_owned());
        finding.name = dotted(rest);
    } else {
        let own = ["ERROR at setup of ", "ERROR at teardown of "].iter().find_map(|start| name.strip_prefix(start));
        finding.is_error = own.is_some();
        let own = own.unwrap_or(&name);
        // A parameter may contain dots.
        let head = own.split('[').next().unwrap_or(own);
        let class = head.rfind('.').map_or("", |at| &own[..at]);
        finding.name = own[class.len()..].trim_start_matches('.').to_owned();
        // The first frame is the test's own.
        finding.place_from(PLACE, false);
        let suite = finding.file.as_deref().map(dotted);
        finding.suite = suite.into_iter().chain((!class.is_empty()).then(|| class.to_owned())).collect::<Vec<_>>().join(".");
        finding.place_from(PLACE, true);
    }
    finding.text = finding.text.trim_matches('\n').to_owned();
}

fn unittest(finding: &mut Finding) {
    finding.is_error = finding.code == "ERROR";
    // Since Python 3.11 the suite ends in the method.
    if let Some(suite) = finding.suite.strip_suffix(&format!(".{}", finding.name)) {
        finding.suite = suite.to_owned();
    }
    if finding.suite.starts_with("unittest.loader._FailedTest") {
        finding.suite = String::new();
    }
    let parameters = std::mem::take(&mut finding.message);
    if parameters.trim_start().starts_with(['(', '[']) {
        finding.name = format!("{} {}", finding.name, parameters.trim());
    }
    let text = finding.text.lines().filter(|line| !(line.len() == 70 && line.bytes().all(|byte| byte == b'-')));
    finding.text = text.collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned();
    finding.place_from(r#"^  File "(?P<file>[^"]+)", line (?P<line>\d+)"#, true);
}

fn behave(finding: &mut Finding) {
    let (name, _) = finding.name.split_once("  # ").unwrap_or((&finding.name, ""));
    finding.name = name.trim().to_owned();
    let file = finding.file.clone().unwrap_or_default();
    finding.suite = dotted(&file).rsplit('.').next().unwrap_or_default().to_owned();
    // What runs and is not listed at the end has passed.
    finding.is_none = !finding.head.starts_with("  ") || finding.head.trim_start().starts_with("Scenario");
}

fn robot(finding: &mut Finding) {
    let lines: Vec<&str> = finding.text.lines().filter(|line| !line.trim().is_empty()).collect();
    // The totals of a suite follow its own result.
    finding.is_none = lines.iter().any(|line| {
        let mut words = line.split(", ");
        words.next().is_some_and(|first| {
            first.ends_with(" test") || first.ends_with(" tests") || first.ends_with(" task") || first.ends_with(" tasks")
        }) && words.next().is_some_and(|second| second.ends_with(" passed"))
    });
    finding.message = lines.first().map_or(String::new(), |line| (*line).to_owned());
}

fn traceback(finding: &mut Finding) {
    finding.place_from(r#"^\s+File "(?P<file>[^"<]+)", line (?P<line>\d+)"#, true);
    if finding.message.is_empty() {
        let last = finding.text.lines().rev().find(|line| !line.starts_with(' ') && !line.trim().is_empty()).unwrap_or_default();
        let (code, message) = last.split_once(": ").unwrap_or((last, ""));
        let own = split_last(code, ".").1;
        if own.ends_with("Error") || own.ends_with("Exception") || own.ends_with("Exit") || !own.contains(' ') {
            (finding.code, finding.message) = (own.to_owned(), message.to_owned());
        } else {
            last.clone_into(&mut finding.message);
        }
    }
}
