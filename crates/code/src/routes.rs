//! What a text in a test requests: a path of the product's own server, and the line of the product that answers it.

use super::languages::CodeLanguage;
use super::tokens::texts;

/// Directories of a machine: paths in them are not requests.
const DIRECTORIES: &[&str] =
    &["bin", "dev", "etc", "home", "lib", "mnt", "opt", "proc", "root", "run", "sys", "tmp", "usr", "var"];

/// The path that a text requests, without its host, query and fragment; `None` if it is not a request.
pub fn requested_path(text: &str) -> Option<&str> {
    // The beginning may be a variable: `${base}/books`, `{BASE}/books`.
    let variable = |(before, _): &(&str, &str)| !before.contains('/') && before.contains('{');
    let text = text.split_once('}').filter(variable).map_or(text, |(_, rest)| rest);
    let path = match text.split_once("://") {
        Some((scheme, rest)) if scheme.starts_with("http") => &rest[rest.find('/')?..],
        Some(_) => return None,
        None => text,
    };
    let path = path.split(['?', '#']).next()?;
    let first = path.strip_prefix('/')?.split('/').next()?;
    let word = |letter: char| letter.is_alphanumeric() || "-_.~".contains(letter);
    let named = first.starts_with(|letter: char| letter.is_ascii_alphabetic()) && first.chars().all(word);
    (named && !DIRECTORIES.contains(&first) && !path.contains(char::is_whitespace)).then_some(path)
}

/// How specifically a line answers requests of a path: by the number of segments that a string in it has in common with the path, 0 if it
/// answers other paths. Parameters of a route (`:id`, `{id}`, `<int:id>`, `(.*)`) stand for any segment; a route may be mounted below a
/// prefix.
pub fn answers(line: &str, language: &CodeLanguage, path: &str) -> usize {
    let wanted: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let mounts = MOUNTS.iter().any(|word| line.contains(word));
    texts(line, language).iter().map(|text| agreement(text, &wanted, mounts)).max().unwrap_or(0)
}

/// What a router of its own is mounted with.
const MOUNTS: &[&str] = &[".use(", "include(", ".mount(", "prefix", "scope ", "namespace ", "Route(", ".nest("];

fn agreement(route: &str, wanted: &[&str], mounts: bool) -> usize {
    // Go has the method in front of the path.
    let path = route
        .split_once(' ')
        .filter(|(method, _)| method.chars().all(|letter| letter.is_ascii_uppercase()))
        .map_or(route, |(_, path)| path);
    let route = path.trim_start_matches('^').trim_end_matches('$');
    let open = mounts || route.ends_with(['/', '*']);
    let parts: Vec<&str> = route.split('/').filter(|part| !part.is_empty() && *part != "*").collect();
    if parts.is_empty() || parts.len() > wanted.len() || !route.contains('/') {
        return 0;
    }
    let parameter = |part: &str| part.starts_with([':', '{', '<', '(', '[', '*', '$']);
    let of = |wanted: &[&str]| {
        let pairs = || parts.iter().zip(wanted).map(|(part, wanted)| (*part, *wanted));
        let literal = pairs().filter(|(part, wanted)| part == wanted).count();
        let fits = pairs().all(|(part, wanted)| part == wanted || parameter(part) || parameter(wanted));
        if fits { literal } else { 0 }
    };
    // A route as long as the path is meant, rather than the beginning of others, or the end below a prefix.
    let whole = if parts.len() == wanted.len() { 4 * of(wanted) } else { 0 };
    let beginning = if open { 2 * of(wanted) } else { 0 };
    let end = of(&wanted[wanted.len() - parts.len()..]);
    whole.max(beginning).max(end)
}

/// Whether a line of a test makes a request: what it calls with the path.
pub(crate) fn requests(line: &str) -> bool {
    REQUESTS.iter().any(|word| line.contains(word))
}

/// What the path of a request is passed to.
const REQUESTS: &[&str] = &[
    ".get(",
    ".post(",
    ".put(",
    ".patch(",
    ".delete(",
    ".head(",
    ".options(",
    ".open(",
    "fetch(",
    "request(",
    "Request(",
    "visit(",
    "goto(",
    "urlopen(",
    "axios",
    "Get(",
    "Post(",
    "\"GET\"",
    "\"POST\"",
    "\"PUT\"",
    "\"PATCH\"",
    "\"DELETE\"",
    "'GET'",
    "'POST'",
    "'PUT'",
    "'DELETE'",
    "curl ",
];

#[cfg(test)]
mod tests {
    use super::super::language;
    use super::*;

    #[test]
    fn requests_are_paths_of_a_server() {
        for (text, path) in [
            ("/books/99", "/books/99"),
            ("http://127.0.0.1:3000/books?sort=x", "/books"),
            ("${base}/books/1", "/books/1"),
            ("/rooms/{name}/quote", "/rooms/{name}/quote"),
        ] {
            assert_eq!(requested_path(text), Some(path));
        }
        for text in ["/tmp/x.json", "/", "//", "a/b", "file:///books", "/a b", "http://localhost", "/*", "/^x"] {
            assert_eq!(requested_path(text), None, "{text}");
        }
    }

    #[test]
    fn a_route_answers_its_paths() {
        let answer = |file: &str, line: &str, path: &str| answers(line, language(file).expect("a language"), path);
        for (file, line) in [
            ("a.js", "app.get('/books/:id', show)"),
            ("a.js", "if (url.pathname.startsWith('/books/')) {"),
            ("a.py", "@app.route('/books/<int:id>')"),
            ("a.py", "    re_path(r'^books/(?P<id>[0-9]+)$', show),"),
            ("A.java", "    @GetMapping(\"/books/{id}\")"),
            ("a.go", "\tmux.HandleFunc(\"/books/{id}\", show)"),
        ] {
            assert!(answer(file, line, "/books/99") > 0, "{line}");
            assert_eq!(answer(file, line, "/authors/99"), 0, "{line}");
        }
        let exact = answer("a.js", "app.get('/books/new', add)", "/books/new");
        assert!(exact > answer("a.js", "app.get('/books/:id', show)", "/books/new"));
        assert_eq!(answer("a.js", "app.get('/books', list)", "/books/99"), 0);
        assert!(answer("a.py", "@app.get('/rooms/<name>/quote')", "/rooms/{room}/quote") > 0);
        assert!(answer("a.py", "@bookings.get('/quote')", "/rooms/7/quote") > 0, "below a prefix");
        let whole = answer("a.js", "router.get('/books/:id', show)", "/books/9");
        assert!(
            whole > answer("a.js", "app.use('/books', books)", "/books/9")
                && answer("a.js", "app.use('/books', books)", "/books/9") > 0
        );
        assert!(answer("a.go", "\tmux.HandleFunc(\"GET /books/{id}\", show)", "/books/9") > 0);
        assert_eq!(answer("a.js", "app.use('/', list)", "/books/99"), 0);
    }
}
