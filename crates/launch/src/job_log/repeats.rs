//! Joins what tools print of a failure in several places, and what one tool says of another's failures.

use super::tool::{Finding, ProblemKind, Tool};
use super::tools::TOOLS;
use std::collections::{BTreeMap, BTreeSet};

/// The failures of a step, each once.
pub(super) fn joined(mut findings: Vec<Finding>) -> Vec<Finding> {
    drop_files_of_tests(&mut findings);
    let mut findings = merge(findings);
    drop_wrappers(&mut findings);
    findings
}

fn tool(index: usize) -> &'static Tool {
    TOOLS[index]
}

/// Drops failures of a whole test file if some of its tests are known to have failed, and the points of a test
/// protocol that another tool explains.
fn drop_files_of_tests(findings: &mut Vec<Finding>) {
    let tests = |own: &&Finding| own.kind == ProblemKind::Test && own.name != own.suite;
    let suites: BTreeSet<(usize, String)> = findings.iter().filter(tests).map(|own| (own.tool, own.suite.clone())).collect();
    let explained: BTreeSet<String> = findings
        .iter()
        .filter(|own| own.kind == ProblemKind::Test && tool(own.tool).name == "prove")
        .map(|own| own.name.clone())
        .collect();
    findings.retain(|own| {
        let is_file = own.kind == ProblemKind::Test && own.name == own.suite && suites.contains(&(own.tool, own.suite.clone()));
        !(is_file || tool(own.tool).name == "TAP" && explained.contains(&own.name))
    });
}

/// Drops what a runner says of a program whose own tests are known to have failed.
fn drop_wrappers(findings: &mut Vec<Finding>) {
    let is_wrapper = |own: &Finding| tool(own.tool).is_wrapper;
    let mut starts: Vec<usize> = findings.iter().filter(|own| is_wrapper(own)).map(|own| own.at).collect();
    starts.sort_unstable();
    let inner: Vec<usize> =
        findings.iter().filter(|own| own.kind == ProblemKind::Test && !is_wrapper(own)).map(|own| own.at).collect();
    findings.retain(|own| {
        let end = starts.iter().copied().find(|start| *start > own.at).unwrap_or(usize::MAX);
        !(is_wrapper(own) && inner.iter().any(|at| own.at < *at && *at < end))
    });
}

/// Joins what a tool prints of a failure in several places: its text, twice, and a line in a summary.
fn merge(findings: Vec<Finding>) -> Vec<Finding> {
    let (findings, nameless): (Vec<Finding>, Vec<Finding>) =
        findings.into_iter().partition(|own| !own.name.is_empty() || own.kind != ProblemKind::Test);
    let mut nameless: Vec<Option<Finding>> = nameless.into_iter().map(Some).collect();
    let mut kept: Vec<(Finding, bool)> = Vec::new();
    let mut by_name: BTreeMap<(usize, String), Vec<usize>> = BTreeMap::new();
    for mut finding in findings {
        // Its text lacks the name, but has the message that the summary begins with.
        let head = finding.message.trim_end_matches("...").trim();
        if finding.is_summary
            && !head.is_empty()
            && let Some(own) = nameless
                .iter_mut()
                .find(|own| own.as_ref().is_some_and(|own| own.tool == finding.tool && own.message.starts_with(head)))
            && let Some(own) = own.take()
        {
            (finding.message, finding.line, finding.is_summary) = (own.message, own.line, false);
            finding.file = own.file.or(finding.file);
        }
        if finding.kind != ProblemKind::Test {
            kept.push((finding, true));
            continue;
        }
        let same = by_name.entry((finding.tool, finding.name.clone())).or_default();
        let is_only = same.len() == 1 && finding.is_summary;
        let fits = |index: &usize| kept[*index].0.suite == finding.suite && (is_only || !finding.suite.is_empty());
        let twin = same.iter().copied().find(fits).or_else(|| {
            // One of the two knows its suite, or names it otherwise.
            let mut open = same.iter().copied().filter(|index| {
                let (own, is_joined) = &kept[*index];
                !is_joined && own.is_summary != finding.is_summary
            });
            let first = open.next();
            let related = |index: &usize| {
                let suite = &kept[*index].0.suite;
                suite.is_empty()
                    || finding.suite.is_empty()
                    || suite.ends_with(&finding.suite)
                    || finding.suite.ends_with(suite.as_str())
            };
            first.filter(related).or_else(|| open.find(related)).or(first)
        });
        let Some(index) = twin else {
            same.push(kept.len());
            kept.push((finding, false));
            continue;
        };
        let (own, is_joined) = &mut kept[index];
        *is_joined |= own.is_summary != finding.is_summary;
        join(own, finding);
    }
    kept.into_iter().map(|(finding, _)| finding).collect()
}

/// Adds what another mention of a failure knows.
fn join(own: &mut Finding, more: Finding) {
    // A summary repeats the beginning of the text; the longer one stays.
    if own.text.trim().len() < more.text.trim().len() {
        own.text = more.text;
    }
    if own.message.is_empty() {
        own.message = more.message;
    }
    // A summary names a test by its file, a text by where it is defined.
    if own.suite.is_empty() || more.is_summary && !more.suite.is_empty() {
        own.suite = more.suite;
    }
    if own.file.is_none() {
        (own.file, own.line) = (more.file, more.line);
    }
    own.is_error |= more.is_error;
    own.is_summary &= more.is_summary;
}
