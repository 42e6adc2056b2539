//! Reproducible ZIP archives, and safe names of files.

use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// The most characters of a safe name.
const LONGEST: usize = 120;
/// The name of an artifact whose name has nothing safe.
const FALLBACK: &str = "artifact.bin";

/// Packs files by their paths in the archive. Equal files give equal archives: they are sorted, and have one time and one mode.
pub fn pack(files: &BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>, String> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(name.as_str(), options).map_err(|error| format!("`{name}` cannot be packed: {error}"))?;
        writer.write_all(bytes).map_err(|error| format!("`{name}` cannot be packed: {error}"))?;
    }
    let packed = writer.finish().map_err(|error| format!("the archive cannot be finished: {error}"))?;
    Ok(packed.into_inner())
}

/// A file name made of any text: characters other than letters, digits, `_`, `.`, `-` and spaces become `_`.
pub fn safe_file_name(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        let plain = c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ' ');
        if plain {
            name.push(c);
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    let name: String = name.chars().take(LONGEST).collect();
    if name.trim_matches(['.', ' ']).is_empty() { FALLBACK.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::Read as _;

    #[test]
    fn names_are_safe() {
        for (text, name) in [
            ("a.md", "a.md"),
            ("na me-1_2.txt", "na me-1_2.txt"),
            ("é.txt", "é.txt"),
            ("a:b?*.txt", "a_b_.txt"),
            ("../../etc/passwd", ".._.._etc_passwd"),
            ("..", FALLBACK),
            ("", FALLBACK),
        ] {
            assert_eq!(safe_file_name(text), name, "{text}");
        }
        assert_eq!(safe_file_name(&"x".repeat(200)).len(), LONGEST);
    }

    #[test]
    fn equal_files_give_equal_archives() {
        let files = BTreeMap::from([("b/x.txt".to_owned(), b"two".to_vec()), ("a.txt".to_owned(), vec![b'z'; 5000])]);
        let packed = pack(&files).unwrap();
        assert_eq!(packed, pack(&files).unwrap());
        assert!(packed.len() < 1000);
        let mut archive = zip::ZipArchive::new(Cursor::new(packed)).unwrap();
        let names: Vec<String> =
            (0..archive.len()).map(|at| archive.by_index(at).unwrap().name().unwrap().into_owned()).collect();
        assert_eq!(names, ["a.txt", "b/x.txt"]);
        let mut text = String::new();
        archive.by_name("b/x.txt").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "two");
    }
}
