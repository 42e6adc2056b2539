//! Paths and the addresses of documents.

use gen_lsp_types::Uri;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use std::path::{Path, PathBuf};

/// What a path may hold but an address may not.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b']')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The path of an address, if it is that of a file; without `.` and `..`.
pub(super) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let path = uri.0.strip_prefix("file://")?;
    // An empty host, or this one.
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let decoded = percent_decode_str(path).decode_utf8().ok()?.into_owned();
    let path = Path::new(&decoded);
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(whole.pop()),
            std::path::Component::CurDir => {}
            part => whole.push(part),
        }
    }
    path.is_absolute().then_some(whole)
}

/// The address of a file.
pub(super) fn uri_of(path: &Path) -> Uri {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Uri(format!("file://{}", utf8_percent_encode(&path.to_string_lossy(), ESCAPED)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_addresses_and_back() {
        for path in ["/a/b.rhai", "/with space/ä#b%20.yaml", "/"] {
            assert_eq!(path_of(&uri_of(Path::new(path))).as_deref(), Some(Path::new(path)));
        }
        assert_eq!(path_of(&Uri("file:///a/./b/../c%C3%A4".into())), Some(PathBuf::from("/a/cä")));
        assert_eq!(path_of(&Uri("untitled:Untitled-1".into())), None);
        assert_eq!(path_of(&Uri("file:///%FF".into())), None);
    }
}
