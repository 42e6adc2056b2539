//! The focus of a query: repositories, paths and terms requested by the artifacts of a case.
//!
//! An artifact requests them with `selected_repos`, a list of `{name, focus_paths, focus_terms}`; without one, with `candidate_repos`, a
//! list of names, and `focus_paths` and `focus_terms` for all of them. Everything else is ignored: the location of a repository comes from
//! the project file only.

use serde_json::Value;

/// Maximum number of repositories.
const MAX_REPOSITORIES: usize = 3;
/// Maximum number of paths, and of terms, in each.
const MAX_PLACES: usize = 8;
const TERMS: usize = 8;
/// Length of a search term, in bytes.
const TERM_BYTES: std::ops::RangeInclusive<usize> = 3..=120;

/// A requested repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WantedRepository {
    pub(super) name: String,
    pub(super) places: Vec<FocusPath>,
    /// The texts to search for.
    pub(super) terms: Vec<String>,
}

/// A path, optionally with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FocusPath {
    /// As requested.
    pub(super) given: String,
    /// Components; empty if the path leads out of the repository.
    pub(super) parts: Vec<String>,
    /// Line number, from 1.
    pub(super) line: Option<u32>,
}

/// Collects the requests of a case's artifacts.
pub(super) fn wanted(prior: &Value) -> Vec<WantedRepository> {
    let artifacts = || prior.as_object().into_iter().flat_map(|prior| prior.values());
    let list = |artifact: &Value, key: &str| artifact[key].as_array().filter(|list| !list.is_empty()).cloned();
    if let Some(selected) = artifacts().find_map(|artifact| list(artifact, "selected_repos")) {
        let one = |repo: &Value| Some(WantedRepository::of(repo["name"].as_str()?, repo));
        return unique(selected.iter().filter_map(one));
    }
    let candidates = artifacts().find_map(|artifact| Some((artifact, list(artifact, "candidate_repos")?)));
    let Some((artifact, names)) = candidates else { return Vec::new() };
    unique(names.iter().filter_map(Value::as_str).map(|name| WantedRepository::of(name, artifact)))
}

/// The first request for each name, up to the maximum.
fn unique(all: impl Iterator<Item = WantedRepository>) -> Vec<WantedRepository> {
    let mut kept: Vec<WantedRepository> = Vec::new();
    for wanted in all {
        if kept.len() < MAX_REPOSITORIES && !kept.iter().any(|known| known.name == wanted.name) {
            kept.push(wanted);
        }
    }
    kept
}

impl WantedRepository {
    fn of(name: &str, requested: &Value) -> Self {
        let texts = |key: &str| requested[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        let fit = |term: &&str| TERM_BYTES.contains(&term.len()) && !term.contains(|ch: char| ch.is_control());
        let terms = texts("focus_terms").map(str::trim).filter(fit).take(TERMS).map(str::to_owned).collect();
        Self { name: name.to_owned(), places: texts("focus_paths").take(MAX_PLACES).map(FocusPath::parse).collect(), terms }
    }
}

impl FocusPath {
    /// Parses `path`, `path:line` or `path:line:column`.
    pub(super) fn parse(text: &str) -> Self {
        let (path, line) = numbered(text);
        let (path, line) = match (line, numbered(path)) {
            (Some(_), (path, Some(line))) => (path, Some(line)),
            (line, _) => (path, line),
        };
        let path = path.replace('\\', "/");
        let parts: Vec<String> = path.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect();
        let leads_out = parts.iter().any(|part| part == ".." || part.contains(|ch: char| ch.is_control()));
        Self { given: super::text::line(text), parts: if leads_out { Vec::new() } else { parts }, line }
    }
}

/// Splits the number off the end of a text.
fn numbered(text: &str) -> (&str, Option<u32>) {
    match text.rsplit_once(':').map(|(path, line)| (path, line.parse())) {
        Some((path, Ok(line))) if line > 0 => (path, Some(line)),
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn places_have_paths_and_lines() {
        let read = |text: &str| {
            let place = FocusPath::parse(text);
            (place.parts.join("/"), place.line)
        };
        assert_eq!(read("src/a.rs:88"), ("src/a.rs".into(), Some(88)));
        assert_eq!(read("src/a.rs:88:3"), ("src/a.rs".into(), Some(88)));
        assert_eq!(read("./src/"), ("src".into(), None));
        assert_eq!(read("C:\\src\\a.cs:9"), ("C:/src/a.cs".into(), Some(9)));
        assert_eq!(read("a:0"), ("a:0".into(), None));
        assert_eq!(read("src/../../etc/passwd:1"), (String::new(), Some(1)));
        assert_eq!(read("a\u{0}b"), (String::new(), None));
    }

    #[test]
    fn artifacts_ask_for_repositories_places_and_texts() {
        let prior = json!({
            "triage": {"candidate_repos": ["c"], "focus_paths": ["x:1"]},
            "resolve": {"selected_repos": [
                {"name": "a", "focus_paths": ["src/a.rs:3", 7], "focus_terms": ["ab", "-e evil", "two\nlines", "x".repeat(121)]},
                {"name": "a"}, {"path": "/"}, {"name": "b"},
            ]},
        });
        let found = wanted(&prior);
        assert_eq!(found.iter().map(|repo| &*repo.name).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((found[0].places.len(), &found[0].terms[..]), (1, &["-e evil".to_owned()][..]));
        let found = wanted(&json!({"triage": prior["triage"], "resolve": {"selected_repos": []}}));
        assert_eq!((found[0].name.as_str(), found[0].places[0].line), ("c", Some(1)));
        assert!(wanted(&json!({"x": {"selected_repos": "a"}, "y": 3})).is_empty());
    }
}
