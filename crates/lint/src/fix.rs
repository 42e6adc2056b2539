//! Applies automatic fixes.

use super::finding::{LintFinding, TextEdit};
use asterisk_base::environment::Variables;
use asterisk_files::FileOrigin;
use asterisk_session::ProjectText;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A fixed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedText {
    pub path: PathBuf,
    /// The new text.
    pub text: String,
    /// The number of findings fixed.
    pub fixes: usize,
}

/// Applies the fixes to the files of a project. Overlapping fixes wait for the next round; embedded files are not changed.
pub fn fix(texts: &[ProjectText], findings: &[LintFinding]) -> Vec<FixedText> {
    let mut fixed = Vec::new();
    for text in texts.iter().filter(|text| text.requested) {
        let FileOrigin::File(path) = &text.origin else { continue };
        let own = |edit: &&TextEdit| edit.source.name() == text.source.name() && edit.source.text() == text.source.text();
        let fixes = findings.iter().filter_map(|finding| finding.fix.as_ref());
        let mut edits: BTreeMap<(usize, usize), &TextEdit> = BTreeMap::new();
        let mut count = 0;
        for fix in fixes.filter(|fix| !fix.edits.is_empty() && fix.edits.iter().all(|edit| own(&edit))) {
            let free = |edit: &TextEdit| edits.keys().all(|(start, end)| edit.span.end <= *start || *end <= edit.span.start);
            if fix.edits.iter().all(free) {
                edits.extend(fix.edits.iter().map(|edit| ((edit.span.start, edit.span.end), edit)));
                count += 1;
            }
        }
        if count > 0 {
            let mut new = text.source.text().to_owned();
            for ((start, end), edit) in edits.iter().rev() {
                new.replace_range(*start..*end, &edit.text);
            }
            fixed.push(FixedText { path: path.clone(), text: new, fixes: count });
        }
    }
    fixed
}

/// Selects the files with changes that are not committed to version control; all of them without version control.
pub fn uncommitted(variables: &Variables, paths: &[PathBuf]) -> Vec<PathBuf> {
    let changed = |path: &&PathBuf| {
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().unwrap_or_default();
        let mut git = Command::new("git");
        git.arg("-C").arg(dir).args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
        git.args(["--literal-pathspecs", "status", "--porcelain", "--ignored", "--"]).arg(name);
        git.env_clear().envs(variables.iter()).env("GIT_OPTIONAL_LOCKS", "0");
        !git.output().is_ok_and(|done| done.status.success() && done.stdout.is_empty())
    };
    paths.iter().filter(changed).cloned().collect()
}
