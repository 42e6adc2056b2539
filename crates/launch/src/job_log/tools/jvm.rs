//! Maven, Gradle, javac, Kotlin, Scala; .NET.

use super::super::tool::{Does, Extent, Finding, ProblemKind, Tool};
use super::{on, shaped, split_last, tool};

pub(super) static TOOLS: &[Tool] = &[
    shaped(
        "Maven Surefire",
        ProblemKind::Test,
        &[
            on(
                r"^(?:\[ERROR\] )?(?P<suite>[\w.$]+)\.(?P<name>[\w$]+(?:[\[({].*?)?)(?: -- |  )Time elapsed: [\d.,]+ (?:s|sec)\s+<<< (?P<code>FAILURE|ERROR)!$",
                Does::Failure(Extent::Blank),
            ),
            on(
                r"^(?:\[ERROR\] )?(?P<name>[^\s(]+(?: .*?)?)\((?P<suite>[\w.$]+)\)  Time elapsed: [\d.,]+ (?:s|sec)\s+<<< (?P<code>FAILURE|ERROR)!$",
                Does::Failure(Extent::Blank),
            ),
            on(
                r"^(?:\[ERROR\] )?(?P<suite>[\w.$]+)(?: -- |  )Time elapsed: [\d.,]+ (?:s|sec)\s+<<< (?P<code>FAILURE|ERROR)!$",
                Does::Failure(Extent::Blank),
            ),
            on(
                r"^\[ERROR\]\s+(?P<message>The forked VM terminated without properly saying goodbye.*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^\[(?:INFO|WARNING|DEBUG)\] .*$", Does::Disarm),
            on(
                r"^\[(?:ERROR|WARNING)\] Tests run: \d+, Failures: (?P<failed>\d+), Errors: (?P<errors>\d+), Skipped: \d+$",
                Does::Totals,
            ),
        ],
        surefire,
    ),
    tool(
        "Maven compiler",
        ProblemKind::Compile,
        &[
            on(
                r"^\[ERROR\] (?P<file>\S+\.(?:java|kt|groovy)):\[(?P<line>\d+),\d+\] (?:error: )?(?P<message>.*)$",
                Does::Failure(Extent::Dedent),
            ),
            on(r"^\[ERROR\] file://(?P<file>\S+\.kt):(?P<line>\d+):\d+ (?P<message>.*)$", Does::Failure(Extent::Line)),
        ],
    ),
    tool(
        "Checkstyle",
        ProblemKind::Lint,
        &[
            on(
                r"^\[(?:ERROR|WARN|WARNING|ant:checkstyle)\] (?:\[ERROR\] )?(?P<file>\S+\.\w+):(?:\[)?(?P<line>\d+)(?:,\d+\])?(?::\d+)?:? (?:\(\w+\) )?(?P<message>.*?) [\[(]?(?P<code>[A-Z]\w+)[\])]?[.:]?$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^(?P<file>[^\s:]+\.kts?):(?P<line>\d+):\d+: (?P<message>.* \((?P<code>[\w:-]+)\))$",
                Does::Failure(Extent::Line),
            ),
        ],
    ),
    tool(
        "javac",
        ProblemKind::Compile,
        &[
            on(
                r"^(?::[\w:]+)?(?P<file>/?[^\s:]+\.(?:java|groovy)):(?P<line>\d+): error: (?P<message>.*)$",
                Does::Failure(Extent::Section),
            ),
            on(r"^\d+ errors?$", Does::Disarm),
        ],
    ),
    tool(
        "kotlinc",
        ProblemKind::Compile,
        &[
            on(
                r"^e: (?:file://)?(?P<file>[^\s:]+\.kts?):\(?(?P<line>\d+)(?:, |:)\d+\)?:? (?P<message>.*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^(?P<file>[^\s:]+\.kts?):(?P<line>\d+):\d+: error: (?P<message>.*)$", Does::Failure(Extent::Dedent)),
        ],
    ),
    tool(
        "scalac",
        ProblemKind::Compile,
        &[
            on(r"^\[error\] (?P<file>[^\s:]+\.scala):(?P<line>\d+)(?::\d+)?: (?P<message>.*)$", Does::Failure(Extent::Line)),
            on(
                r"^\[error\] -- (?:\[(?P<code>E\d+)\] )?.*Error: (?P<file>[^\s:]+\.scala):(?P<line>\d+):\d+ -*$",
                Does::Failure(Extent::Line),
            ),
        ],
    ),
    shaped(
        "Gradle",
        ProblemKind::Test,
        &[
            on(r"^(?P<suite>\w[\w.$ ]*?) > (?P<name>\S.*?) (?P<code>FAILED)$", Does::Failure(Extent::Dedent)),
            on(r"^\d+ tests? completed, (?P<failed>\d+) failed.*$", Does::Totals),
            on(r"^FAILURE: Build failed with an exception\.$", Does::Disarm),
        ],
        gradle,
    ),
    shaped(
        "dotnet test",
        ProblemKind::Test,
        &[
            on(r"^\s+Failed (?P<name>\S.*?) \[(?:< )?[\d.,]+ m?s(?: [\d.,]+ m?s)?\]$", Does::Failure(Extent::Section)),
            on(r"^\[xUnit\.net [\d:.]+\]\s+(?P<name>\S.*?) \[FAIL\]$", Does::Summary),
            on(
                r"^(?:Test Run Failed\.|Total tests: .*|\s+(?:Passed|Skipped) \S.*|\[xUnit\.net [\d:.]+\]\s+(?:Finished|Starting|Discover).*|Results File: .*)$",
                Does::Disarm,
            ),
            on(r"^Failed!\s+- Failed:\s+(?P<failed>\d+),.*$", Does::Totals),
            on(r"^The active test run was aborted\. (?P<message>.*)$", Does::Failure(Extent::Blank)),
        ],
        dotnet,
    ),
    tool(
        ".NET",
        ProblemKind::Dependency,
        &[on(r"^(?P<file>\S.*?proj)? ?: error (?P<code>NU\d+): (?P<message>.*?)(?: \[.*\])?$", Does::Failure(Extent::Line))],
    ),
    tool(
        "MSBuild",
        ProblemKind::Compile,
        &[
            on(
                r"^\s*(?P<file>[^\s(][^(]*?)\((?P<line>\d+),\d+(?:,\d+,\d+)?\)\s?: error (?P<code>[A-Z]+\d+): (?P<message>.*?)(?: \[[^\]]+\])?$",
                Does::Failure(Extent::Line),
            ),
            on(r"^(?:CSC|MSBUILD) ?: error (?P<code>[A-Z]+\d+): (?P<message>.*?)(?: \[[^\]]+\])?$", Does::Failure(Extent::Line)),
        ],
    ),
    tool(
        "Maven",
        ProblemKind::Dependency,
        &[
            on(
                r"^\[ERROR\] Failed to execute goal on project (?P<name>[^:]+): (?P<message>Could not (?:resolve|collect) dependencies.*)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^\[(?:ERROR|FATAL)\]\s+(?:\[ERROR\] |\[FATAL\] )?(?P<message>(?:Non-resolvable (?:parent|import) POM|Unresolveable build extension|Plugin \S+ or one of its dependencies could not be resolved|Could not (?:find|transfer) artifact).*)$",
                Does::Failure(Extent::Line),
            ),
        ],
    ),
    tool(
        "Gradle dependencies",
        ProblemKind::Dependency,
        &[
            on(r"^\s*> (?P<message>Could not (?:resolve|find|download|GET|transfer) .*)$", Does::Outside(Extent::Section)),
            on(r"^\* Try:$", Does::Disarm),
        ],
    ),
    tool(
        "JaCoCo",
        ProblemKind::Gate,
        &[on(r"^(?:\[(?:WARNING|ERROR)\] |\s*> )?(?P<message>Rule violated for \w+ .*)$", Does::Failure(Extent::Line))],
    ),
    tool("Gradle build", ProblemKind::Command, &[on(r"^\* What went wrong:$", Does::Failure(Extent::Blank))]),
    shaped(
        "Maven build",
        ProblemKind::Command,
        &[on(r"^\[ERROR\] (?P<message>Failed to execute goal .*)$", Does::Failure(Extent::Line))],
        |_| {},
    ),
];

fn surefire(finding: &mut Finding) {
    finding.is_error = finding.code == "ERROR";
    if finding.name.is_empty() {
        finding.is_error = true;
        finding.name = split_last(&finding.suite, ".").1.to_owned();
        // A class that failed only by its tests has totals in this line, which do not match.
        if finding.suite.is_empty() {
            finding.name = "Surefire".to_owned();
        }
    }
    finding.text = finding.text.lines().map(|line| line.strip_prefix("[ERROR] ").unwrap_or(line)).collect::<Vec<_>>().join("\n");
    let class = split_last(&finding.suite, ".").1.split('$').next().unwrap_or_default().to_owned();
    own_frame(finding, &class);
}

/// The place of the frame in the test's own class.
fn own_frame(finding: &mut Finding, class: &str) {
    let frame = finding.text.lines().find_map(|line| {
        let place = line.split_once('(')?.1.split(')').next()?;
        let (file, line) = place.split_once(':')?;
        (file.rsplit_once('.')?.0 == class).then(|| (file.to_owned(), line.parse().ok()))
    });
    if let Some((file, line)) = frame {
        (finding.file, finding.line) = (Some(file), line);
    }
}

fn gradle(finding: &mut Finding) {
    finding.is_none = finding.suite.starts_with("Task ") || finding.head.starts_with("> ");
    finding.name = finding.name.trim_end_matches("()").to_owned();
    finding.is_error = finding.name == "initializationError" || finding.name == "executionError";
    let place = finding.text.lines().filter_map(|line| line.trim().split_once(" at ")?.1.split_once(':'));
    if let Some((file, line)) = place.into_iter().next() {
        (finding.file, finding.line) = (Some(file.to_owned()), line.parse().ok());
    }
}

fn dotnet(finding: &mut Finding) {
    if finding.name.is_empty() {
        finding.is_error = true;
        finding.name = "test run".to_owned();
        return;
    }
    // `Namespace.Class.Method(parameters)`.
    let name = std::mem::take(&mut finding.name);
    let head = name.split('(').next().unwrap_or(&name);
    match head.rfind('.') {
        Some(at) => (finding.suite, finding.name) = (name[..at].to_owned(), name[at + 1..].to_owned()),
        None => finding.name = name,
    }
    finding.place_from(r" in (?P<file>\S.*):line (?P<line>\d+)$", false);
}
