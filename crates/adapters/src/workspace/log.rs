//! `workspace.log`: the latest commits that touched the paths in focus.

use super::checkout::{Checkout, CheckoutTime, age, date};
use super::git::GitProgram;
use super::text::line;
use serde_json::{Value, json};

/// Maximum number of commits.
const LIMIT: usize = 10;
/// Maximum number of files listed for each commit.
const MAX_FILES: usize = 8;

/// The commits of a checkout that touched the paths (any, if there are none), newest first, none later than the launch.
pub(super) fn commits(
    git: &GitProgram,
    checkout: &Checkout,
    paths: &[String],
    when: &CheckoutTime,
) -> Result<(Vec<Value>, bool), String> {
    let (Some(dir), Some(commit)) = (&checkout.dir, &checkout.commit) else { return Ok((Vec::new(), false)) };
    let count = (LIMIT + 1).to_string();
    let limit = when.began.filter(|_| checkout.because != "launch").map(|began| format!("--min-age={}", began.div_euclid(1000)));
    let mut args = vec!["log", "-n", &count];
    args.extend(limit.as_deref());
    args.extend([
        // No field that git prints here can contain the separator, a NUL byte.
        "--format=%x00%H%x00%P%x00%ct%x00%an%x00%s%x00",
        "--name-only",
        "--no-merges",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--no-notes",
        "--no-decorate",
        "--relative",
        commit,
        "--",
    ]);
    args.extend(paths.iter().map(String::as_str));
    let output = git.run(dir, &args)?;
    if !output.ok {
        return Err(format!("git log failed: {}", output.error_line));
    }
    let text = String::from_utf8_lossy(&output.text);
    let fields: Vec<&str> = text.split('\0').skip(1).collect();
    let mut commits: Vec<Value> = fields
        .chunks(6)
        .filter_map(|fields| {
            let &[hash, parents, at, author, subject, files] = fields else { return None };
            let files: Vec<String> = files.lines().filter(|file| !file.is_empty()).map(line).collect();
            Some(json!({
                "hash": hash, "date": date(at), "age_days": age(at, when), "author": line(author), "subject": line(subject),
                "files": files.iter().take(MAX_FILES).collect::<Vec<_>>(), "touched": files.len(), "boundary": parents.is_empty(),
            }))
        })
        .collect();
    let more = commits.len() > LIMIT || output.cut;
    commits.truncate(LIMIT);
    Ok((commits, more))
}
