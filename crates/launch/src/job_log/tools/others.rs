//! `PHPUnit`, Pest, `RSpec`, minitest, `ExUnit`, Bats, prove, testthat, Julia; their compilers and linters; shell, YAML, Docker files.

use super::super::tool::{Does, Extent, Finding, ProblemKind, Tool};
use super::{dotted, on, shaped, tool};

pub(super) static TOOLS: &[Tool] = &[
    shaped(
        "PHPUnit",
        ProblemKind::Test,
        &[
            on(r"^There (?:was|were) \d+ (?P<code>errors?|failures?):$", Does::Arm),
            on(
                r"^(?:There (?:was|were) \d+ (?:risky|warning|skipped|incomplete|deprecation|notice|PHP|PHPUnit|runner|test).*|ERRORS!|FAILURES!|--|OK, but .*|OK \(.*)$",
                Does::Disarm,
            ),
            on(r"^\d+\) (?P<suite>[\w\\]+)(?:::(?P<name>\S.*))?$", Does::Listed(Extent::Section)),
            on(r"^Tests: \d+, Assertions: \d+(?:, Errors: (?P<errors>\d+))?(?:, Failures: (?P<failed>\d+))?.*$", Does::Totals),
            on(r"^\s+FAILED\s+(?P<suite>[\w\\]+) > (?P<name>\S.*?)(?:\s{2,}\S+)?$", Does::Failure(Extent::Section)),
        ],
        phpunit,
    ),
    tool(
        "PHP",
        ProblemKind::Compile,
        &[on(
            r"^(?:PHP )?(?P<code>Parse error|Fatal error): +(?P<message>.*?) in (?P<file>\S+?)(?: on line |:)(?P<line>\d+)$",
            Does::Outside(Extent::Dedent),
        )],
    ),
    shaped(
        "RSpec",
        ProblemKind::Test,
        &[
            on(r"^Failures:$", Does::Arm),
            on(r"^\s{2}\d+\) (?P<name>\S.*)$", Does::Listed(Extent::Section)),
            on(r"^An error occurred (?:while loading|in an?) (?P<name>\S.*?)\.?$", Does::Failure(Extent::Section)),
            on(r"^(?:Finished in .*|Failed examples:|Pending:.*)$", Does::Disarm),
            on(r"^rspec (?P<file>\S+?):(?P<line>\d+) # (?P<name>.*)$", Does::Summary),
            on(r"^rspec '?(?P<file>[^\s\[']+)\[[\d:]+\]'? # (?P<name>.*)$", Does::Summary),
            on(
                r"^\d+ examples?, (?P<failed>\d+) failures?(?:, \d+ pending)?(?:, (?P<errors>\d+) errors? occurred outside of examples)?$",
                Does::Totals,
            ),
        ],
        rspec,
    ),
    shaped(
        "minitest",
        ProblemKind::Test,
        &[
            on(r"^\s+\d+\) (?P<code>Failure|Error):$", Does::Failure(Extent::Section)),
            on(r"^(?P<code>Failure|Error):$", Does::Failure(Extent::Blank)),
            on(r"^\d+ (?:runs|tests), \d+ assertions, (?P<failed>\d+) failures, (?P<errors>\d+) errors.*$", Does::Totals),
        ],
        minitest,
    ),
    tool(
        "Ruby",
        ProblemKind::Compile,
        &[on(r"^(?P<file>[^\s:]+\.rb):(?P<line>\d+): (?P<message>syntax errors? .*)$", Does::Outside(Extent::Dedent))],
    ),
    tool(
        "RuboCop",
        ProblemKind::Lint,
        &[on(
            r"^(?P<file>[^\s:]+):(?P<line>\d+):\d+: [CWEF]: (?:\[Correctable\] )?(?P<code>\w+(?:/\w+)+): (?P<message>.*)$",
            Does::Failure(Extent::Line),
        )],
    ),
    shaped(
        "ExUnit",
        ProblemKind::Test,
        &[
            on(r"^\s{2}\d+\) (?P<name>(?:test|property|doctest) .+) \((?P<suite>[\w.]+)\)$", Does::Failure(Extent::Section)),
            on(r"^\s{2}\d+\) (?P<suite>[\w.]+): failure on setup_all callback, .*$", Does::Failure(Extent::Section)),
            on(r"^Finished in [\d.]+ seconds.*$", Does::Disarm),
            on(r"^\d+ (?:tests?|doctests?)\b.*?, (?P<failed>\d+) failures?.*$", Does::Totals),
        ],
        exunit,
    ),
    shaped(
        "Elixir",
        ProblemKind::Compile,
        &[
            on(r"^== Compilation error in file (?P<file>\S+) ==$", Does::Failure(Extent::Section)),
            on(r"^\s+error: (?P<message>.*)$", Does::Failure(Extent::Blank)),
        ],
        elixir,
    ),
    shaped(
        "Bats",
        ProblemKind::Test,
        &[
            on(r"^ ✗ (?P<name>\S.*)$", Does::Failure(Extent::Dedent)),
            on(r"^\d+ tests?, (?P<failed>\d+) failures?.*$", Does::Totals),
        ],
        |finding| finding.place_from(r"in test file (?P<file>\S+), line (?P<line>\d+)\)", false),
    ),
    shaped(
        "TAP",
        ProblemKind::Test,
        &[
            on(r"^not ok (?:(?P<code>\d+) ?)?(?:- )?(?P<name>[^#]*?)(?: in \d+ms)?$", Does::Failure(Extent::Section)),
            on(
                r"^(?:not ok .* # (?i:todo|skip).*|ok \d+.*|1\.\.\d+|# (?:tests|pass|fail|suites|duration_ms|Subtest:) ?.*)$",
                Does::Disarm,
            ),
            on(r"^(?P<name>Bail out!) *(?P<message>.*)$", Does::Failure(Extent::Line)),
        ],
        tap,
    ),
    shaped(
        "prove",
        ProblemKind::Test,
        &[
            on(r"^\s+#   Failed test .*$", Does::Lead),
            on(r"^#   Failed test (?:'(?P<name>[^']*)'|(?P<code>\d+))?(?P<message>.*)$", Does::Failure(Extent::Section)),
            on(r"^(?P<suite>\S+\.t) \.+ ?(?P<code>ok|skipped.*)?$", Does::Disarm),
            on(r"^(?P<suite>\S+\.t) \.+ ?(?:Dubious|Failed).*$", Does::Belongs),
            on(r"^(?:Test Summary Report|Failed \d+/\d+ .*|Dubious, .*|Files=\d+, .*)$", Does::Disarm),
            on(r"^(?P<suite>\S+\.t)\s+\(Wstat: .* Failed: 0\)$", Does::Context),
            on(r"^\S+\.t\s+\(Wstat: .* Failed: [1-9]\d*\)$", Does::Context),
            on(r"^\s+(?P<name>(?:Parse errors: .*|Non-zero exit status: \d+|Non-zero wait status: \d+))$", Does::Summary),
        ],
        prove,
    ),
    shaped(
        "testthat",
        ProblemKind::Test,
        &[
            on(
                r"^(?:── )?(?:\d+\. )?(?P<code>Failure|Error) \('?(?P<file>[^':)]+):(?P<line>\d+)(?::\d+)?'?\): (?P<name>.*?)(?: ─*)?$",
                Does::Failure(Extent::Section),
            ),
            on(r"^(?:══ .*|\[ FAIL \d+ .*|── (?:Skipped|Warning).*)$", Does::Disarm),
        ],
        |finding| {
            finding.is_error = finding.code == "Error";
            let stem = finding.file.as_deref().map(dotted).unwrap_or_default();
            finding.suite = stem.trim_start_matches("test-").to_owned();
        },
    ),
    shaped(
        "Julia",
        ProblemKind::Test,
        &[
            on(
                r"^(?P<name>\S.*?): (?P<code>Test Failed|Error During Test) at (?P<file>\S+):(?P<line>\d+)$",
                Does::Failure(Extent::Section),
            ),
            on(r"^(?:Test Summary:.*|ERROR: LoadError: Some tests did not pass.*)$", Does::Disarm),
        ],
        |finding| finding.is_error = finding.code.starts_with("Error"),
    ),
    tool(
        "ShellCheck",
        ProblemKind::Lint,
        &[
            on(r"^In (?P<file>\S+) line (?P<line>\d+):$", Does::Failure(Extent::Blank)),
            on(
                r"^(?P<file>[^\s:]+):(?P<line>\d+):\d+: (?:error|warning|note|info): (?P<message>.*) \[(?P<code>SC\d+)\]$",
                Does::Failure(Extent::Line),
            ),
        ],
    ),
    tool(
        "yamllint",
        ProblemKind::Lint,
        &[
            on(r"^(?P<file>(?:\./|/)?[\w./-]+\.ya?ml)$", Does::Context),
            on(r"^\s+(?P<line>\d+):\d+\s+error\s+(?P<message>\S.*?)(?:  \((?P<code>[\w-]+)\))$", Does::Failure(Extent::Line)),
            on(
                r"^(?P<file>[^\s:]+\.ya?ml):(?P<line>\d+):\d+: \[error\] (?P<message>.*?)(?: \((?P<code>[\w-]+)\))?$",
                Does::Failure(Extent::Line),
            ),
            on(r"^::error title=\S+ file=(?P<file>[^,]+),line=(?P<line>\d+),.*::(?P<message>.*)$", Does::Failure(Extent::Line)),
        ],
    ),
    tool(
        "hadolint",
        ProblemKind::Lint,
        &[on(
            r"^(?P<file>\S*Dockerfile\S*):(?P<line>\d+) (?P<code>(?:DL|SC)\d+) (?:\w+: )?(?P<message>.*)$",
            Does::Failure(Extent::Line),
        )],
    ),
    tool(
        "formatter",
        ProblemKind::Lint,
        &[
            on(r"^diff (?:-u )?(?P<file>\S+\.go)\.orig \S+$", Does::Failure(Extent::Section)),
            on(
                r"^(?:(?:(?:The|These|Some|All) )?(?:following )?[Ff]iles? .*(?:not|need|be) .*format.*|.*not gofmt'?ed.*)$",
                Does::Outside(Extent::Blank),
            ),
        ],
    ),
];

fn phpunit(finding: &mut Finding) {
    if finding.name.is_empty() {
        finding.is_error = true;
        finding.name.clone_from(&finding.suite);
    }
    finding.suite = finding.suite.replace('\\', ".");
    finding.place_from(r"^(?P<file>/?\S+\.php):(?P<line>\d+)$", true);
    finding.text = finding.text.trim_matches('\n').to_owned();
}

fn rspec(finding: &mut Finding) {
    if finding.head.starts_with("An error occurred") {
        finding.is_error = true;
        finding.file = Some(finding.name.trim_start_matches("./").to_owned()).filter(|name| name.ends_with(".rb"));
        return;
    }
    if finding.file.is_none() {
        finding.place_from(r"^\s+# (?P<file>\./\S+_spec\.rb):(?P<line>\d+)", false);
    }
    if let Some(file) = &finding.file {
        finding.suite = dotted(file);
    }
}

fn minitest(finding: &mut Finding) {
    finding.is_error = finding.code == "Error";
    let text = std::mem::take(&mut finding.text);
    let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let (name, place) = head.trim().trim_end_matches(':').split_once(" [").unwrap_or((head.trim().trim_end_matches(':'), ""));
    let Some((suite, own)) = name.split_once('#') else {
        finding.is_none = true;
        return;
    };
    (finding.suite, finding.name) = (suite.to_owned(), own.to_owned());
    if let Some((file, line)) = place.trim_end_matches(']').rsplit_once(':') {
        (finding.file, finding.line) = (Some(file.to_owned()), line.parse().ok());
    }
    finding.text = rest.to_owned();
    if finding.file.is_none() {
        finding.place_from(r"^\s+(?P<file>\S+\.rb):(?P<line>\d+):in ", false);
    }
}

fn exunit(finding: &mut Finding) {
    if finding.name.is_empty() {
        finding.name = "setup_all".to_owned();
        finding.is_error = true;
    }
    finding.suite = format!("Elixir.{}", finding.suite);
    finding.place_from(r"^\s+(?P<file>\S+\.exs):(?P<line>\d+)$", false);
}

fn elixir(finding: &mut Finding) {
    let is_file = finding.file.is_some();
    if !is_file {
        finding.place_from(r"└─ (?P<file>[^\s:]+\.exs?):(?P<line>\d+)", false);
        // Other tools begin their errors alike.
        finding.is_none = finding.file.is_none();
        return;
    }
    let line = finding.text.lines().find(|line| line.starts_with("** ("));
    if let Some(line) = line {
        finding.message = line.trim_start_matches("** ").to_owned();
    }
}

fn tap(finding: &mut Finding) {
    if finding.head.starts_with("Bail") {
        finding.is_error = true;
        return;
    }
    if finding.name.is_empty() {
        finding.name = format!("test {}", finding.code);
    }
    finding
        .place_from(r"(?:in test file |at |location: ')(?:.*\()?(?P<file>[^\s:,()']+)(?:, line |:| line )(?P<line>\d+)", false);
    finding.text = finding.text.lines().map(|line| line.strip_prefix("# ").unwrap_or(line)).collect::<Vec<_>>().join("\n");
    // A parent that failed only by its subtests.
    finding.is_none = finding.text.contains("failureType: 'subtestsFailed'");
}

fn prove(finding: &mut Finding) {
    let text: Vec<&str> = finding.text.lines().map(|line| line.trim_start().trim_start_matches('#').trim_end()).collect();
    finding.text = text.join("\n");
    if finding.is_summary {
        // Said of a file, without its name if some of its tests failed.
        finding.is_none = finding.suite.is_empty();
        finding.message = std::mem::take(&mut finding.name);
        finding.name.clone_from(&finding.suite);
        finding.file = Some(finding.suite.clone());
        finding.is_error = true;
        return;
    }
    if finding.name.is_empty() {
        finding.name = format!("test {}", finding.code);
    }
    // The first place is that of the innermost test.
    finding.place_from(r"^\s*at (?P<file>\S+) line (?P<line>\d+)\.$", false);
    if finding.suite.is_empty() {
        finding.suite = finding.file.clone().unwrap_or_default();
    }
}
