//! Paths confined to a directory that others may write to: none escapes it through `..` or a symbolic link.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The path of `name`, made of plain components, below `root`. Missing directories on the way are created by `make`.
pub(super) fn confined(root: &Path, name: &str, make: impl Fn(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
    let path = resolve(root, name, make)?;
    if is_link(&path) { Err(link(&path)) } else { Ok(path) }
}

/// Like [`confined`] for an entry to be removed, which may itself be a link.
pub(super) fn confined_parent(root: &Path, name: &str) -> io::Result<PathBuf> {
    resolve(root, name, |_| Ok(()))
}

/// Reads a plain file of at most `most` bytes; `None` if it does not exist.
pub(super) fn read(root: &Path, name: &str, most: usize) -> io::Result<Option<Vec<u8>>> {
    let path = confined(root, name, |_| Ok(()))?;
    let file = match open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{}` is not a regular file", path.display())));
    }
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {most} bytes")));
    }
    Ok(Some(bytes))
}

fn resolve(root: &Path, name: &str, make: impl Fn(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
    let mut path = root.to_owned();
    let mut components = Path::new(name).components().peekable();
    while let Some(component) = components.next() {
        let Component::Normal(part) = component else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{name}` is outside the run's directory")));
        };
        path.push(part);
        if components.peek().is_some() {
            if is_link(&path) {
                return Err(link(&path));
            }
            if !path.is_dir() {
                make(&path)?;
            }
        }
    }
    Ok(path)
}

pub(super) fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.file_type().is_symlink())
}

pub(super) fn link(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("`{}` is a symbolic link", path.display()))
}

/// Opens a file without following a link that was put there concurrently, and without blocking on a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new().read(true).open(path)
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn only_plain_files_within_bounds_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let read = |name: &str| read(dir.path(), name, 10).map_err(|error| error.to_string());
        fs::write(dir.path().join("a"), "0123456789").unwrap();
        fs::write(dir.path().join("long"), "0123456789a").unwrap();
        fs::create_dir(dir.path().join("dir")).unwrap();
        std::os::unix::fs::symlink("a", dir.path().join("link")).unwrap();
        std::os::unix::fs::symlink("/", dir.path().join("out")).unwrap();
        let fifo = std::process::Command::new("mkfifo").arg(dir.path().join("pipe")).status();
        assert_eq!(read("a").unwrap().unwrap(), b"0123456789");
        assert_eq!(read("b"), Ok(None));
        assert_eq!(read("none/b"), Ok(None));
        assert!(read("long").unwrap_err().contains("longer than 10 bytes"));
        assert!(read("link").unwrap_err().contains("symbolic link"));
        assert!(read("out/etc/passwd").unwrap_err().contains("symbolic link"));
        assert!(read("../a").unwrap_err().contains("outside"));
        assert!(read("/etc/passwd").unwrap_err().contains("outside"));
        assert!(read("dir").is_err());
        if fifo.is_ok_and(|status| status.success()) {
            assert!(read("pipe").unwrap_err().contains("not a regular file"));
        }
    }
}
