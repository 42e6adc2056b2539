//! C and C++: compilers, linkers, `CMake`, make, `CTest`, googletest, Catch2; Bazel, Swift.

use super::super::tool::{Does, Extent, Finding, ProblemKind, Tool};
use super::{on, shaped, tool, wrapper};

pub(super) static TOOLS: &[Tool] = &[
    shaped(
        "googletest",
        ProblemKind::Test,
        &[
            on(r"^\[ RUN      \] (?P<suite>[^\s.]+)\.(?P<name>\S+)$", Does::Begun),
            on(r"^\[       OK \] (?P<suite>[^\s.]+)\.(?P<name>\S+) \(\d+ ms\)$", Does::Over),
            on(r"^\[  SKIPPED \] (?P<suite>[^\s.]+)\.(?P<name>\S+) \(\d+ ms\)$", Does::Over),
            on(r"^\[  FAILED  \] (?P<suite>[^\s.]+)\.(?P<name>[^\s,]+)(?:, where .*)? \(\d+ ms\)$", Does::Failure(Extent::Line)),
            on(r"^\[  FAILED  \] (?P<suite>\S+): (?P<message>SetUpTestSuite or TearDownTestSuite)$", Does::Failure(Extent::Line)),
            on(r"^\[==========\] .*$", Does::Disarm),
        ],
        googletest,
    ),
    shaped(
        "Catch2",
        ProblemKind::Test,
        &[
            on(r"^-{79}$", Does::Lead),
            on(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+): FAILED:?$", Does::Failure(Extent::Section)),
            on(r"^={79}$", Does::Disarm),
            on(r"^test cases: .* \| (?P<failed>\d+) failed.*$", Does::Totals),
        ],
        catch2,
    ),
    wrapper(
        "CTest",
        &[
            on(
                r"^\s*\d+/\d+ Test\s+#\d+: (?P<name>\S+) \.*\s*(?:\*\*\*)?(?P<code>Failed|Timeout|Not Run|Exception: \S+|Subprocess \w+)\s+[\d.]+ sec.*$",
                Does::Failure(Extent::Section),
            ),
            on(r"^\s*\d+/\d+ Test\s+#\d+: (?P<name>\S+) \.*\s+Passed.*$", Does::Disarm),
            on(r"^\s+Start\s+\d+: .*$", Does::Disarm),
            on(r"^\d+% tests passed, (?P<failed>\d+) tests? failed out of \d+$", Does::Totals),
            on(r"^The following tests FAILED:$", Does::Disarm),
            on(
                r"^\s+\d+ - (?P<name>\S+) \((?P<code>Failed|Timeout|Not Run|SEGFAULT|ILLEGAL|BAD_COMMAND|Subprocess \w+|OTHER_FAULT|INTERRUPT|NUMERICAL)\).*$",
                Does::Summary,
            ),
        ],
        |finding| finding.is_error = !matches!(finding.code.as_str(), "Failed" | ""),
    ),
    wrapper(
        "Bazel",
        &[
            on(r"^(?P<code>FAIL|TIMEOUT|FLAKY): (?P<name>//\S+)(?: \((?:shard|run) .*\))? \((?:see|Summary) .*$", Does::Summary),
            on(r"^=+ Test output for (?P<name>//\S+?)(?: \(.*\))?:$", Does::Failure(Extent::Section)),
            on(r"^={80}$", Does::Disarm),
            on(
                r"^(?P<name>//\S+)\s+(?P<code>FAILED|TIMEOUT|NO STATUS|FAILED TO BUILD|REMOTE FAILURE)(?: in .*)?$",
                Does::Summary,
            ),
        ],
        |finding| finding.is_error = !matches!(finding.code.as_str(), "FAIL" | "FAILED" | ""),
    ),
    tool(
        "compiler killed",
        ProblemKind::Memory,
        &[on(
            r"^\S+: (?:fatal error|internal compiler error): (?P<message>Killed(?: signal terminated program .*| \(program .*))$",
            Does::Failure(Extent::Line),
        )],
    ),
    tool(
        "C compiler",
        ProblemKind::Compile,
        &[
            on(
                r"^(?P<file>[^\s:][^:]*\.(?:c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|inl|m|mm|cu|swift|f90|S|s|proto|ino)):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<message>.*?)(?: \[(?P<code>-W[\w+=-]+)\])?$",
                Does::Failure(Extent::Section),
            ),
            on(
                r"^(?:In file included from |\S+: In |\S+: At |make(?:\[\d+\])?: |gmake|ninja: |\[\d+/\d+\] |\[ *\d+%\] |compilation terminated|\d+ errors? generated|cc1plus: |\S+:\d+:\d+: (?:warning|note): ).*$",
                Does::Disarm,
            ),
        ],
    ),
    tool(
        "MSVC",
        ProblemKind::Compile,
        &[on(
            r"^(?P<file>[A-Za-z]?:?[^\s(:][^(:]*\.\w+)\((?P<line>\d+)(?:,\d+)?\): (?:fatal )?error (?P<code>C\d+): (?P<message>.*)$",
            Does::Failure(Extent::Line),
        )],
    ),
    shaped(
        "linker",
        ProblemKind::Link,
        &[
            on(
                r"^\s*(?:= note: )?(?:\S*/)?(?:ld|lld|rust-lld|ld64|mold)(?:\.\w+)?: (?:error: )?(?P<message>(?:cannot find|undefined symbol|undefined reference|symbol\(s\) not found|library not found|unable to find library|duplicate symbol).*)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^(?:\S*/ld(?:\.\w+)?: )?(?P<file>[^\s:]+):(?:(?P<line>\d+): |\([^)]*\): )?(?P<message>(?:undefined reference to|multiple definition of) .*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^(?:\S*/)?ld(?:\.\w+)?: \S+: in function [`'].*$", Does::Context),
            on(r"^Undefined symbols for architecture \w+:$", Does::Failure(Extent::Section)),
            on(r"^\S+ ?: (?:fatal )?error (?P<code>LNK\d+): (?P<message>.*)$", Does::Failure(Extent::Line)),
            on(r"^collect2: (?P<message>error: ld returned .*)$", Does::Disarm),
            on(r"^clang(?:\+\+)?(?:-\d+)?: (?P<message>error: linker command failed.*)$", Does::Disarm),
        ],
        |_| {},
    ),
    tool(
        "CMake",
        ProblemKind::Command,
        &[
            on(r"^CMake Error at (?P<file>[^\s:]+):(?P<line>\d+)(?: \((?P<code>\w+)\))?:$", Does::Failure(Extent::Section)),
            on(r"^CMake Error: (?P<message>.*)$", Does::Failure(Extent::Line)),
            on(r"^-- Configuring incomplete.*$", Does::Disarm),
        ],
    ),
    tool(
        "Bazel build",
        ProblemKind::Compile,
        &[on(r"^ERROR: (?P<file>\S+?):(?P<line>\d+):\d+: (?P<message>.*)$", Does::Outside(Extent::Line))],
    ),
    tool(
        "clang-format",
        ProblemKind::Lint,
        &[on(
            r"^(?P<file>[^\s:]+):(?P<line>\d+):\d+: (?:error|warning): (?P<message>code should be clang-formatted.*)$",
            Does::Failure(Extent::Line),
        )],
    ),
    tool(
        "make",
        ProblemKind::Command,
        &[
            on(
                r"^(?:g?make|ninja)(?:\[\d+\])?: \*\*\* \[(?P<file>[^:\]]+):(?P<line>\d+): (?P<name>[^\]]+)\] (?P<message>Error \d+.*)$",
                Does::Outside(Extent::Line),
            ),
            on(
                r"^g?make(?:\[\d+\])?: \*\*\* (?P<message>No (?:rule to make target|targets specified).*)$",
                Does::Failure(Extent::Line),
            ),
        ],
    ),
];

fn googletest(finding: &mut Finding) {
    if finding.name.is_empty() {
        finding.name = std::mem::take(&mut finding.suite);
        finding.is_error = true;
        return;
    }
    finding.place_from(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+): Failure$", false);
    if finding.is_error {
        let rest = std::mem::take(&mut finding.text);
        finding.text = format!("the test began and did not end\n{rest}");
    }
}

/// Before the first assertion of a test that failed: `---`, the titles of the test and its sections, `---`, the place, `...`.
/// Further assertions of the same test have no titles.
fn catch2(finding: &mut Finding) {
    let text = std::mem::take(&mut finding.text);
    let mut titles: Vec<&str> = Vec::new();
    let mut rest: Vec<&str> = Vec::new();
    for line in text.lines() {
        match line {
            line if line.starts_with("-----") => titles.push(""),
            line if titles.len() > rest.len()
                && rest.is_empty()
                && titles.iter().filter(|title| title.is_empty()).count() == 1 =>
            {
                titles.push(line.trim());
            }
            line if line.starts_with(".....") || rest.is_empty() && line.trim().is_empty() => {}
            line => rest.push(line),
        }
    }
    finding.name = titles.into_iter().filter(|title| !title.is_empty()).collect::<Vec<_>>().join("/");
    finding.text = rest.join("\n");
    finding.is_error = finding.text.contains("due to unexpected exception") || finding.text.contains("due to a fatal error");
}
