//! ZIP archives as inputs: the logs and artifacts that CI systems hand out.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use zip::ZipArchive;

/// The first bytes of an archive with entries.
const MAGIC: [u8; 4] = *b"PK\x03\x04";

/// The maximum bytes of an unpacked entry: more is refused as an input anyway.
const MAX_UNPACKED: u64 = (1 << 30) + 1;

/// Whether a file begins like a ZIP archive.
pub(super) fn is_archive(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == MAGIC
}

/// The files in an archive: number, name and unpacked size in bytes.
pub(super) fn entries(path: &Path) -> io::Result<Vec<(usize, String, u64)>> {
    let mut archive = ZipArchive::new(File::open(path)?).map_err(io::Error::other)?;
    let mut entries = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(io::Error::other)?;
        if entry.is_file() {
            entries.push((index, entry.name().map_err(io::Error::other)?.replace('\\', "/"), entry.size()));
        }
    }
    Ok(entries)
}

/// An entry, unpacked to an unnamed temporary file.
pub(super) fn unpacked(archive: File, index: usize) -> io::Result<File> {
    let mut archive = ZipArchive::new(archive).map_err(io::Error::other)?;
    let entry = archive.by_index(index).map_err(io::Error::other)?;
    let mut file = tempfile::tempfile()?;
    io::copy(&mut entry.take(MAX_UNPACKED), &mut file)?;
    file.rewind()?;
    Ok(file)
}
