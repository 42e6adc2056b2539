//! CI systems: what each puts around the output of a job's commands.

use super::super::times;
use super::bare_line::{plain, strip_time};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::CiSystem;
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The system whose mark comes first.
pub(super) fn system_of(lines: &[String]) -> CiSystem {
    lines.iter().find_map(|line| system_of_line(line)).unwrap_or(CiSystem::Plain)
}

fn system_of_line(line: &str) -> Option<CiSystem> {
    let text = strip_time(line).1;
    let text = text.trim_start_matches('\u{feff}');
    if text.starts_with("##[section]Starting:") {
        return Some(CiSystem::Azure);
    }
    if tabbed(line).is_some() || ["##[group]", "Current runner version:", "##[command]"].iter().any(|mark| text.starts_with(mark))
    {
        return Some(CiSystem::Github);
    }
    if line.contains("section_start:") || line.contains("Running with gitlab-runner") {
        return Some(CiSystem::Gitlab);
    }
    if text.starts_with("[Pipeline] ")
        || text.starts_with("Started by ")
        || text.starts_with("Running on ") && text.contains("workspace")
    {
        return Some(CiSystem::Jenkins);
    }
    if line.contains("\u{1b}_bk;t=") || text.starts_with("~~~ ") {
        return Some(CiSystem::Buildkite);
    }
    ["#!/bin/bash -eo pipefail", "Build-agent version", "#!/bin/sh -eo pipefail"]
        .iter()
        .any(|mark| text.starts_with(mark))
        .then_some(CiSystem::Circleci)
}

/// What a line says about the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A step begins: its name, and its command where that is known.
    Step(String, Option<String>),
    /// A command within the step begins.
    Command(String),
    /// The step ends.
    StepEnd,
    /// A command of the step failed with this exit code.
    Exit(i32),
    /// An error that the system or an action reported.
    Error(String),
    /// A job begins: the log may have several.
    JobStart,
    /// The name of the job.
    JobName(String),
    /// The steps up to here decided the outcome; those that follow clean up.
    Decided,
    /// The job ended.
    Over(JobOutcome),
    /// A line of the system without meaning here.
    Noise,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobOutcome {
    Passed,
    Failed,
}

/// A line of a job log.
pub(super) struct JobLine<'l> {
    pub(super) time: Option<Timestamp>,
    /// The job and the step, in the format of `gh run view --log`.
    pub(super) column: Option<(&'l str, &'l str)>,
    pub(super) marks: Vec<Mark>,
    /// What the command printed: without times and escape sequences.
    pub(super) text: Cow<'l, str>,
}

/// Reads a line.
pub(super) fn line(system: CiSystem, raw: &str) -> JobLine<'_> {
    let mut rest = raw.trim_start_matches('\u{feff}');
    let mut time = None;
    let mut column = None;
    let mut marks = Vec::new();
    if system == CiSystem::Buildkite {
        while let Some((before, after)) = rest.split_once("\u{1b}_bk;t=") {
            let Some((stamp, after)) = after.split_once('\u{7}') else { break };
            time = times::parse(stamp);
            rest = if before.is_empty() { after } else { before };
        }
    } else {
        (time, rest) = strip_time(rest);
    }
    if system == CiSystem::Github
        && time.is_none()
        && let Some((job, step, after)) = tabbed(rest)
    {
        column = Some((job, step));
        (time, rest) = strip_time(after);
    }
    if system == CiSystem::Gitlab {
        rest = gitlab_sections(gitlab_stream(rest, time.is_some()), &mut time, &mut marks);
    }
    let text = plain(rest);
    match system {
        CiSystem::Github | CiSystem::Azure => hash_marks(system, &text, &mut marks),
        CiSystem::Gitlab => gitlab_marks(rest, &text, &mut marks),
        CiSystem::Jenkins => jenkins_marks(&text, &mut marks),
        CiSystem::Buildkite => buildkite_marks(&text, &mut marks),
        CiSystem::Circleci if text.starts_with("#!/bin/") => marks.push(Mark::Step(String::new(), None)),
        CiSystem::Circleci | CiSystem::Plain => {}
    }
    if marks.is_empty()
        && let Some(code) = exit_code(&text)
    {
        marks.push(Mark::Exit(code));
    }
    JobLine { time, column, marks, text }
}

/// Splits `job<TAB>step<TAB>time text` into the job, the step and the rest.
fn tabbed(line: &str) -> Option<(&str, &str, &str)> {
    let (job, rest) = line.split_once('\t')?;
    let (step, rest) = rest.split_once('\t')?;
    let is_time = rest.trim_start_matches('\u{feff}').get(..20).is_some_and(|time| {
        time.as_bytes()[4] == b'-' && time.as_bytes()[10] == b'T' && time.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
    });
    (is_time && !job.is_empty()).then_some((job, step, rest))
}

static EXIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?:.{0,4}(?:##\[error\]|Error: |ERROR: )?(?:",
        r"Process completed with exit code (\d+)|",
        r"(?:Bash|PowerShell|Cmd\.exe|The process '[^']*'|Script) (?:exited with code|failed with exit code|failed with error: .*exit code) '?(\d+)'?|",
        r"The command exited with status (-?\d+)|",
        r"script returned exit code (-?\d+)|",
        r"Job failed: (?:command terminated with )?exit (?:code|status) (\d+)|",
        r"Exited with code (?:exit status )?(\d+)",
        r")\.?\s*$)"
    ))
    .ok()
});

/// The exit code that a line reports of a failed command.
fn exit_code(text: &str) -> Option<i32> {
    if text.len() > 400 || !text.contains("xit") {
        return None;
    }
    let found = EXIT.as_ref()?.captures(text)?;
    found.iter().skip(1).flatten().next()?.as_str().parse().ok().filter(|code| *code != 0)
}

/// Marks of GitHub Actions and Azure Pipelines: `##[group]`, `##[error]`, `##[section]`.
fn hash_marks(system: CiSystem, text: &str, marks: &mut Vec<Mark>) {
    let Some((word, rest)) = text.trim_start().strip_prefix("##[").and_then(|rest| rest.split_once(']')) else {
        if system == CiSystem::Github {
            match text {
                text if text.starts_with("Current runner version:") => marks.push(Mark::JobStart),
                text if text.starts_with("Complete job name: ") => {
                    marks.extend(text.split_once(": ").map(|(_, name)| Mark::JobName(name.to_owned())));
                }
                "Post job cleanup." => marks.extend([Mark::Decided, Mark::Step("Post job cleanup".into(), None)]),
                "Cleaning up orphan processes" => marks.extend([Mark::Decided, Mark::Step("Complete job".into(), None)]),
                _ => {}
            }
        }
        return;
    };
    match word {
        "group" => {
            if let Some(command) = rest.strip_prefix("Run ") {
                marks.push(Mark::Step(command.trim().to_owned(), Some(command.trim().to_owned())));
            } else {
                marks.push(Mark::Noise);
            }
        }
        "section" => {
            if let Some(name) = rest.strip_prefix("Starting: ") {
                marks.push(Mark::Step(name.trim().to_owned(), None));
            } else if rest.starts_with("Finishing: ") {
                marks.push(Mark::StepEnd);
            }
        }
        "error" => match exit_code(text) {
            Some(code) => marks.push(Mark::Exit(code)),
            None => marks.push(Mark::Error(rest.trim().to_owned())),
        },
        _ => marks.push(Mark::Noise),
    }
}

/// Splits off the stream number of newer runners: `00O `, `01E+`.
fn gitlab_stream(text: &str, has_time: bool) -> &str {
    let bytes = text.as_bytes();
    let is_stream = has_time
        && bytes.len() >= 3
        && bytes[0].is_ascii_hexdigit()
        && bytes[1].is_ascii_hexdigit()
        && matches!(bytes[2], b'O' | b'E')
        && bytes.get(3).is_none_or(|byte| matches!(byte, b' ' | b'+'));
    if is_stream { text.get(4..).unwrap_or_default() } else { text }
}

/// Removes `section_start:TIME:NAME[options]` and `section_end:TIME:NAME` from the start of a line.
fn gitlab_sections<'t>(mut text: &'t str, time: &mut Option<Timestamp>, marks: &mut Vec<Mark>) -> &'t str {
    loop {
        let at = text.trim_start_matches("\u{1b}[0K").trim_start_matches('\r');
        let (is_start, rest) = match (at.strip_prefix("section_start:"), at.strip_prefix("section_end:")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => return text,
        };
        let end = rest.find(['\r', '\u{1b}']).unwrap_or(rest.len());
        let (stamp, name) = rest[..end].split_once(':').unwrap_or((&rest[..end], ""));
        *time = time.or_else(|| times::parse(stamp));
        let name = name.split('[').next().unwrap_or_default();
        if is_start {
            if name == "after_script" || name.starts_with("cleanup") || name.starts_with("upload_artifacts") {
                marks.push(Mark::Decided);
            }
            marks.push(Mark::Step(name.to_owned(), None));
        } else {
            marks.push(Mark::StepEnd);
        }
        text = rest[end..].trim_start_matches('\r').trim_start_matches("\u{1b}[0K");
    }
}

fn gitlab_marks(raw: &str, text: &str, marks: &mut Vec<Mark>) {
    if let Some(command) = text.strip_prefix("$ ")
        && (raw.contains("\u{1b}[32;1m") || !raw.contains('\u{1b}'))
    {
        marks.push(Mark::Command(command.to_owned()));
    } else if text.starts_with("Job succeeded") {
        marks.push(Mark::Over(JobOutcome::Passed));
    } else if text.starts_with("ERROR: Job failed") {
        if let Some(code) = exit_code(text) {
            marks.push(Mark::Exit(code));
        } else {
            marks.push(Mark::Error(text.to_owned()));
        }
        marks.push(Mark::Over(JobOutcome::Failed));
    }
}

fn jenkins_marks(text: &str, marks: &mut Vec<Mark>) {
    if let Some(rest) = text.strip_prefix("[Pipeline] ") {
        if let Some(name) = rest.strip_prefix("{ (").and_then(|rest| rest.strip_suffix(')')) {
            if name.contains("Post Actions") {
                marks.push(Mark::Decided);
            }
            marks.push(Mark::Step(name.to_owned(), None));
        } else if matches!(rest, "sh" | "bat" | "powershell" | "pwsh") || rest.starts_with("sh (") {
            marks.push(Mark::Step(String::new(), None));
        } else {
            marks.push(Mark::Noise);
        }
    } else if let Some(command) = text.strip_prefix("+ ") {
        marks.push(Mark::Command(command.to_owned()));
    } else if text.contains("skipped due to earlier failure") {
        marks.push(Mark::Decided);
    } else if text.starts_with("Build step '") && text.ends_with("marked build as failure") {
        marks.push(Mark::Error(text.to_owned()));
    } else if let Some(outcome) = text.strip_prefix("Finished: ") {
        marks.push(Mark::Over(if outcome == "SUCCESS" { JobOutcome::Passed } else { JobOutcome::Failed }));
    } else if let Some(error) = text.strip_prefix("ERROR: ")
        && exit_code(text).is_none()
        && marks.is_empty()
    {
        // Maven and others write such lines, too; it counts only at the end of the job.
        if error.starts_with("Error cloning") || error.starts_with("Couldn't find any revision") {
            marks.push(Mark::Error(error.to_owned()));
        }
    }
}

fn buildkite_marks(text: &str, marks: &mut Vec<Mark>) {
    let header = ["~~~ ", "--- ", "+++ "].iter().find_map(|mark| text.strip_prefix(mark));
    // Diffs and test output begin alike.
    if let Some(name) = header.filter(|name| !name.starts_with(['a', 'b', '/']) || !name.contains('/'))
        && !["FAIL: ", "PASS: ", "SKIP: ", "STDOUT", "STDERR", "Expected", "expected", "Actual", "actual"]
            .iter()
            .any(|word| name.starts_with(word))
    {
        marks.push(Mark::Step(name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned(), None));
    } else if let Some(command) = text.strip_prefix("$ ") {
        marks.push(Mark::Command(command.to_owned()));
    } else if text.starts_with("^^^ +++") || text.starts_with("user command error: ") {
        marks.push(Mark::Noise);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_each_system() {
        let marks = |system, raw: &str| format!("{:?}", line(system, raw).marks);
        let time = "2026-05-04T10:11:12.1234567Z ";
        assert_eq!(marks(CiSystem::Github, &format!("{time}##[group]Run npm test")), r#"[Step("npm test", Some("npm test"))]"#);
        assert_eq!(marks(CiSystem::Github, &format!("{time}##[error]Process completed with exit code 2.")), "[Exit(2)]");
        assert_eq!(
            marks(CiSystem::Github, &format!("{time}##[error]a.ts(1,2): error TS1: x")),
            r#"[Error("a.ts(1,2): error TS1: x")]"#
        );
        assert_eq!(marks(CiSystem::Azure, &format!("{time}##[error]Bash exited with code '1'.")), "[Exit(1)]");
        let section = "section_start:1714817472:step_script\r\u{1b}[0K\u{1b}[0K\u{1b}[36;1mExecuting\u{1b}[0m";
        assert_eq!(marks(CiSystem::Gitlab, section), r#"[Step("step_script", None)]"#);
        assert_eq!(line(CiSystem::Gitlab, section).text, "Executing");
        assert_eq!(
            marks(CiSystem::Gitlab, "2026-05-04T10:11:12.123456Z 00O \u{1b}[32;1m$ make\u{1b}[0;m"),
            r#"[Command("make")]"#
        );
        assert_eq!(marks(CiSystem::Gitlab, "\u{1b}[31;1mERROR: Job failed: exit code 1"), "[Exit(1), Over(Failed)]");
        assert_eq!(marks(CiSystem::Jenkins, "[2026-05-04T10:11:12.123Z] + make all"), r#"[Command("make all")]"#);
        assert_eq!(marks(CiSystem::Buildkite, "\u{1b}_bk;t=1714817472123\u{7}--- :npm: Test"), r#"[Step("npm: Test", None)]"#);
        assert_eq!(marks(CiSystem::Buildkite, "🚨 Error: The command exited with status 1"), "[Exit(1)]");
        assert_eq!(marks(CiSystem::Circleci, "Exited with code exit status 2"), "[Exit(2)]");
        assert_eq!(marks(CiSystem::Plain, "Process completed with exit code 0."), "[]");
        let tabbed = line(CiSystem::Github, "build\tRun tests\t2026-05-04T10:11:12.1234567Z hello");
        assert_eq!((tabbed.column, &*tabbed.text), (Some(("build", "Run tests")), "hello"));
    }
}
