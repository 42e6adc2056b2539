//! The hierarchical paths of steps: `3`, `3/court/1`, `4/branch[2]/1`.

/// The prefix of branch names in paths, before their number and `]`.
pub const BRANCH: &str = "branch[";

/// The path prefix of the walk that a step belongs to: `3/court/` of `3/court/1`, empty of `3`.
pub fn place_of(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..=at])
}

/// The nodes that a step is nested in: `court` of `3/court/1`. Branches are skipped: they belong to the same pipeline.
pub fn nodes_of(path: &str) -> impl Iterator<Item = &str> {
    // Numbers and names alternate; the last number is the step's own.
    path.split('/').skip(1).step_by(2).filter(|name| !name.starts_with(BRANCH))
}

/// Whether the innermost walk of a path is a branch rather than a sub-pipeline.
pub fn is_branch(path: &str) -> bool {
    let place = place_of(path).trim_end_matches('/');
    place.rsplit_once('/').is_some_and(|(_, name)| name.starts_with(BRANCH))
}
