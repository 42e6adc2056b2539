//! Resolves a path to a file of a repository, whatever directory the path is relative to.

use super::focus::FocusPath;

/// Result of resolving a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathMatch {
    /// A file of the repository.
    File(String),
    /// A directory of the repository.
    Directory(String),
    /// No match, with the reason.
    None(String),
}

/// Resolves a path among the files of a repository (sorted, with `/`). A path that does not match literally may have an extra prefix (the
/// checkout directory of another machine) or lack one (a package without its source root): then the single file whose path is a suffix of
/// it, or has it as a suffix, matches. Several candidates are not a match.
pub(super) fn find(files: &[String], place: &FocusPath) -> PathMatch {
    let given = &place.given;
    if place.parts.is_empty() {
        return PathMatch::None(format!("`{given}` is not a path in a repository"));
    }
    let path = place.parts.join("/");
    if files.binary_search(&path).is_ok() {
        return PathMatch::File(path);
    }
    let below = format!("{path}/");
    let next = files.partition_point(|file| *file < below);
    if files.get(next).is_some_and(|file| file.starts_with(&below)) {
        return PathMatch::Directory(path);
    }
    let longer = |file: &&String| file.ends_with(&path) && file[..file.len() - path.len()].ends_with('/');
    let mut ending: Vec<&String> = files.iter().filter(longer).collect();
    if ending.is_empty() {
        // A file at the root shares its name with files elsewhere.
        let shorter = |file: &&String| {
            file.contains('/') && path.ends_with(file.as_str()) && path[..path.len() - file.len()].ends_with('/')
        };
        ending = files.iter().filter(shorter).collect();
        ending.sort_by_key(|file| std::cmp::Reverse(file.len()));
        ending.truncate(1);
    }
    match ending[..] {
        [] => PathMatch::None(format!("`{given}` is not in it")),
        [file] => PathMatch::File(file.clone()),
        _ => PathMatch::None(format!("`{given}` matches {} files", ending.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::focus::wanted;
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_means_the_file_that_ends_like_it() {
        let mut files =
            ["main.go", "pkg/clock/servo.go", "cmd/main.go", "core/src/main/java/com/x/Bill.java", "a/util.py", "b/util.py"]
                .map(str::to_owned);
        files.sort();
        let look = |path: &str| {
            let wanted = wanted(&json!({"r": {"selected_repos": [{"name": "r", "focus_paths": [path]}]}}));
            match find(&files, &wanted[0].places[0]) {
                PathMatch::File(file) => file,
                PathMatch::Directory(dir) => format!("{dir}/"),
                PathMatch::None(why) => why,
            }
        };
        assert_eq!(look("pkg/clock/servo.go:3"), "pkg/clock/servo.go");
        assert_eq!(look("pkg/clock"), "pkg/clock/");
        assert_eq!(look("/go/src/example.com/clock/pkg/clock/servo.go:3"), "pkg/clock/servo.go");
        assert_eq!(look("com/x/Bill.java:9"), "core/src/main/java/com/x/Bill.java");
        assert_eq!(look("servo.go"), "pkg/clock/servo.go");
        assert_eq!(look("main.go"), "main.go");
        assert_eq!(look("other/main.go"), "`other/main.go` is not in it");
        assert_eq!(look("util.py"), "`util.py` matches 2 files");
        assert_eq!(look("../pkg/clock/servo.go"), "`../pkg/clock/servo.go` is not a path in a repository");
    }
}
