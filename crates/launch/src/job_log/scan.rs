//! Finds the failures in the lines of a step.

use super::super::lines::push_bounded;
use super::pattern_index::PatternIndex;
use super::repeats;
use super::tool::{CompiledPattern, Does, Extent, Finding, ProblemKind, Tool};
use super::tools::TOOLS;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The maximum bytes of the text of a failure.
const MAX_TEXT: usize = 32 << 10;

/// After this many lines, other tools may end the text of a failure.
const MAX_LINES: usize = 400;

/// The maximum number of failures of a step; the others are counted.
const MAX_FINDINGS: usize = 20_000;

/// Longer lines are not matched: no tool prints a failure like this.
const MAX_LINE: usize = 4 << 10;

static PATTERNS: LazyLock<PatternIndex> = LazyLock::new(PatternIndex::new);

/// Whether a line is part of a test tool's output, so that the text is the output of a job.
pub(super) fn is_known(line: &str) -> bool {
    line.len() <= MAX_LINE
        && PATTERNS.matching(line).any(|one| {
            !matches!(
                one.pattern.does,
                Does::Context | Does::Disarm | Does::Over | Does::Flaky | Does::FlakyListed | Does::Totals
            )
        })
}

/// Whether a line reports a failed test.
pub(super) fn is_of_test(line: &str) -> bool {
    line.len() <= MAX_LINE
        && PATTERNS.matching(line).any(|one| {
            let is_result = matches!(one.pattern.does, Does::Failure(_) | Does::Summary | Does::Totals | Does::Begun);
            is_result && tool(one.tool).kind == ProblemKind::Test
        })
}

/// What one tool has printed so far.
#[derive(Default)]
struct ToolState {
    armed: bool,
    suite: String,
    file: Option<String>,
    line: Option<u32>,
    /// Tests that run, with what was printed since they began.
    running: BTreeMap<String, Finding>,
    current: Option<String>,
    /// What was printed ahead of the next failure.
    lead: Option<String>,
    /// The failures declared in totals.
    declared: u64,
}

struct OpenBlock {
    finding: Finding,
    extent: Extent,
    indent: usize,
    lines: usize,
}

/// Collects the failures of a step.
#[derive(Default)]
pub(super) struct Scanner {
    states: BTreeMap<usize, ToolState>,
    open: Option<OpenBlock>,
    findings: Vec<Finding>,
    /// Failures beyond [`MAX_FINDINGS`].
    pub(super) more: usize,
}

/// What a step's output says.
#[derive(Default)]
pub(super) struct Scanned {
    pub(super) findings: Vec<Finding>,
    pub(super) more: usize,
    /// The failures that test tools declared in their totals, and whether one of them did so.
    pub(super) declared: Option<u64>,
}

fn tool(index: usize) -> &'static Tool {
    TOOLS[index]
}

fn indent(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

impl Scanner {
    /// Reads a line. A usual one, which jobs that pass print too, does not begin a failure.
    pub(super) fn line(&mut self, number: usize, text: &str, is_usual: bool) {
        let mut is_taken = false;
        let mut is_failure = false;
        if text.len() <= MAX_LINE && !text.is_empty() {
            for one in PATTERNS.candidates(text) {
                // Of several tools whose failures begin like this line, the first in the table is meant.
                let begins = matches!(
                    one.pattern.does,
                    Does::Failure(_) | Does::Listed(_) | Does::Outside(_) | Does::ListedOutside(_) | Does::Summary
                );
                if begins && (is_failure || is_usual) || self.is_inside_another(one) {
                    continue;
                }
                if let Some(groups) = one.captures(text) {
                    let applied = self.apply(one, number, text, &groups);
                    is_failure |= applied && begins;
                    is_taken |= applied;
                }
            }
        }
        if !is_taken {
            self.text(text);
        }
    }

    /// Whether a line of this tool is only the text of another tool's failure.
    fn is_inside_another(&self, one: &CompiledPattern) -> bool {
        let Some(open) = &self.open else { return false };
        open.finding.tool != one.tool
            && tool(open.finding.tool).kind == ProblemKind::Test
            && !tool(open.finding.tool).is_wrapper
            && open.lines < MAX_LINES
            && one.pattern.does != Does::Arm
            && !tool(one.tool).kind.is_outside()
    }

    fn apply(&mut self, one: &CompiledPattern, number: usize, text: &str, groups: &regex::Captures<'_>) -> bool {
        let index = one.tool;
        let is_open = self.open.as_ref().is_some_and(|open| open.finding.tool == index);
        let armed = self.states.get(&index).is_some_and(|state| state.armed);
        match one.pattern.does {
            Does::Listed(_) | Does::ListedOutside(_) | Does::FlakyListed if !armed => return false,
            Does::Outside(_) | Does::ListedOutside(_) | Does::BegunOutside if is_open => return false,
            _ => {}
        }
        let mut finding = Finding::of(index, tool(index).kind, text, number, groups);
        match one.pattern.does {
            Does::Failure(extent) | Does::Listed(extent) | Does::Outside(extent) | Does::ListedOutside(extent) => {
                self.close();
                let state = self.states.entry(index).or_default();
                if finding.suite.is_empty() {
                    finding.suite.clone_from(&state.suite);
                }
                if finding.file.is_none() {
                    (finding.file, finding.line) = (state.file.clone(), finding.line.or(state.line));
                }
                if let Some(begun) = state.running.remove(&running_key(&finding)) {
                    finding.text = begun.text;
                    finding.at = begun.at;
                }
                state.current = None;
                if let Some(lead) = state.lead.take() {
                    finding.text.insert_str(0, &lead);
                }
                let block = OpenBlock { finding, extent, indent: indent(text), lines: 0 };
                self.open = Some(block);
                if extent == Extent::Line {
                    self.close();
                }
            }
            Does::Summary => {
                self.close();
                finding.is_summary = true;
                let state = self.states.entry(index).or_default();
                if let Some(begun) = state.running.remove(&running_key(&finding)) {
                    (finding.text, finding.file, finding.line) =
                        (begun.text, finding.file.or(begun.file), finding.line.or(begun.line));
                }
                state.current = None;
                if finding.suite.is_empty() {
                    finding.suite.clone_from(&state.suite);
                }
                self.push(finding);
            }
            Does::Arm | Does::Disarm => {
                if is_open || one.pattern.does == Does::Arm {
                    self.close();
                }
                self.states.entry(index).or_default().armed = one.pattern.does == Does::Arm;
            }
            Does::Context => {
                if is_open {
                    self.close();
                }
                let state = self.states.entry(index).or_default();
                (state.suite, state.file, state.line) = (finding.suite, finding.file, finding.line);
            }
            Does::Belongs => {
                if is_open {
                    self.close();
                }
                for own in self.findings.iter_mut().rev().take_while(|own| own.tool != index || own.suite.is_empty()) {
                    if own.tool == index {
                        own.suite.clone_from(&finding.suite);
                    }
                }
                let state = self.states.entry(index).or_default();
                for (_, mut lost) in std::mem::take(&mut state.running) {
                    lost.suite.clone_from(&finding.suite);
                    lost.is_error = true;
                    self.findings.push(lost);
                }
            }
            Does::Lead => {
                self.close();
                let lead = self.states.entry(index).or_default().lead.get_or_insert_default();
                push_bounded(lead, text, MAX_TEXT);
                lead.push('\n');
            }
            Does::Begun | Does::BegunOutside => {
                if is_open || self.open.as_ref().is_some_and(|open| tool(open.finding.tool).is_wrapper) {
                    self.close();
                }
                let state = self.states.entry(index).or_default();
                let key = running_key(&finding);
                state.current = Some(key.clone());
                state.running.entry(key).or_insert(finding);
            }
            Does::Over => {
                if is_open {
                    self.close();
                }
                let key = running_key(&finding);
                let state = self.states.entry(index).or_default();
                state.running.remove(&key);
                state.current = None;
            }
            Does::Flaky | Does::FlakyListed => {
                self.close();
                self.findings.retain(|own| own.tool != index || own.name != finding.name);
            }
            Does::Totals => {
                if is_open {
                    self.close();
                }
                let count = |name| groups.name(name).and_then(|found| found.as_str().parse::<u64>().ok()).unwrap_or(0);
                self.states.entry(index).or_default().declared += count("failed") + count("errors");
            }
        }
        true
    }

    /// Adds a line to the open failure and to the test that runs.
    fn text(&mut self, text: &str) {
        if let Some(open) = &mut self.open {
            let is_blank = text.trim().is_empty();
            let ends = match open.extent {
                Extent::Through if !is_blank && indent(text) <= open.indent => {
                    push_bounded(&mut open.finding.text, text, MAX_TEXT);
                    self.close();
                    return;
                }
                Extent::Section | Extent::Through => false,
                Extent::Dedent => !is_blank && indent(text) <= open.indent,
                Extent::Blank => is_blank,
                Extent::Line => true,
            };
            if ends {
                self.close();
            } else {
                open.lines += 1;
                push_bounded(&mut open.finding.text, text, MAX_TEXT);
                open.finding.text.push('\n');
                return;
            }
        }
        for state in self.states.values_mut() {
            if let Some(lead) = &mut state.lead {
                push_bounded(lead, text, MAX_TEXT);
                lead.push('\n');
            }
            if let Some(running) = state.current.as_ref().and_then(|name| state.running.get_mut(name)) {
                push_bounded(&mut running.text, text, MAX_TEXT);
                running.text.push('\n');
            }
        }
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.push(open.finding);
        }
    }

    fn push(&mut self, finding: Finding) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        } else {
            self.more += 1;
        }
    }

    /// Ends the step.
    pub(super) fn finish(mut self) -> Scanned {
        self.close();
        let mut declared = None;
        for state in std::mem::take(&mut self.states).into_values() {
            for (_, mut lost) in state.running {
                lost.is_error = true;
                self.findings.push(lost);
            }
            if state.declared > 0 {
                declared = Some(declared.unwrap_or(0) + state.declared);
            }
        }
        for finding in &mut self.findings {
            (tool(finding.tool).shape)(finding);
        }
        self.findings.retain(|finding| !finding.is_none);
        Scanned { findings: repeats::joined(self.findings), more: self.more, declared }
    }
}

/// What a running test is known by.
fn running_key(finding: &Finding) -> String {
    if finding.suite.is_empty() { finding.name.clone() } else { format!("{}.{}", finding.suite, finding.name) }
}
