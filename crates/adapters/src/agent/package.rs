//! Reproducible ZIP archives.

use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::Read as _;

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
