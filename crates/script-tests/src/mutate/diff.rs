//! A mutant as a patch.

use super::Mutant;
use asterisk_diag::Source;

/// The changed lines as a unified diff, with a line before and after them.
pub fn diff(original: &Source, mutant: &Mutant) -> String {
    let text = original.text();
    let from = text[..mutant.span.start].rfind('\n').map_or(0, |at| at + 1);
    let to = text[mutant.span.end..].find('\n').map_or(text.len(), |at| mutant.span.end + at);
    let new = [&text[from..mutant.span.start], &mutant.replacement, &text[mutant.span.end..to]].concat();
    let line = original.line_column(from).0;
    let above = text[..from].lines().last();
    let below = text[to..].strip_prefix('\n').and_then(|rest| rest.lines().next());
    let old: Vec<&str> = text[from..to].lines().collect();
    let new: Vec<&str> = new.lines().filter(|line| !line.trim().is_empty()).map(str::trim_end).collect();
    let around = usize::from(above.is_some()) + usize::from(below.is_some());
    let start = line - usize::from(above.is_some());
    let mut out = format!("@@ -{start},{} +{start},{} @@\n", old.len() + around, new.len() + around);
    let marked = above.iter().map(|line| (' ', line)).chain(old.iter().map(|line| ('-', line)));
    for (mark, line) in marked.chain(new.iter().map(|line| ('+', line))).chain(below.iter().map(|line| (' ', line))) {
        out.push(mark);
        out.push_str(line);
        out.push('\n');
    }
    out
}
