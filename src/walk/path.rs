//! The hierarchical paths of steps: `3`, `3/court/1`, `4/branch[2]/1`.

/// What the names of branches begin with in paths, before their number and `]`.
pub const BRANCH: &str = "branch[";

/// What the paths of a walk's steps begin with, given that of one of them: of `3/court/1` it is `3/court/`, of `3` nothing.
pub fn place_of(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..=at])
}

/// The nodes that a step's path goes through: of `3/court/1` the node `court`. A branch is of the same pipeline as the walk that it is
/// a branch of.
pub fn nodes_of(path: &str) -> impl Iterator<Item = &str> {
    // A number and a name by turns; the last number is the step's own.
    path.split('/').skip(1).step_by(2).filter(|name| !name.starts_with(BRANCH))
}

/// Whether the path is that of a step of a branch, and not of a walk in the place of its node.
pub fn is_branch(path: &str) -> bool {
    let place = place_of(path).trim_end_matches('/');
    place.rsplit_once('/').is_some_and(|(_, name)| name.starts_with(BRANCH))
}
