//! Output directory of a run: private, atomic writes, never through a symbolic link (`docs/decisions/0014-private-run-directories.md`).

use super::confined::{confined, confined_parent, is_link, link, read as read_below_dir};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Suffix of a file until it is complete.
const INCOMPLETE_SUFFIX: &str = ".tmp~";

/// A directory for a run's files. Directories are created with mode 0700, files with 0600.
#[derive(Clone, Debug)]
pub struct OutDir {
    root: PathBuf,
}

impl OutDir {
    /// Refers to an existing directory.
    pub fn open(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Opens the directory, creating it if missing.
    pub fn create(root: &Path) -> io::Result<Self> {
        make_dir(root)?;
        Ok(Self { root: root.to_owned() })
    }

    /// [`OutDir::create`]; version control ignores a directory that this creates, or the directory `.asterisk` that it is in.
    pub fn create_ignored(root: &Path) -> io::Result<Self> {
        let ignored = root.ancestors().find(|dir| dir.file_name().is_some_and(|name| name == ".asterisk")).unwrap_or(root);
        let is_new = ignored.symlink_metadata().is_err();
        let made = Self::create(root)?;
        if is_new {
            Self::open(ignored).write(".gitignore", "*\n")?;
        }
        Ok(made)
    }

    /// Opens a directory exclusive to the run, creating it if missing. Access by others is removed; a link, or a directory of another
    /// owner, is an error.
    pub fn private(root: &Path) -> io::Result<Self> {
        if is_link(root) {
            return Err(link(root));
        }
        let made = Self::create(root)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            if fs::metadata(root)?.permissions().mode() & 0o077 != 0 {
                fs::set_permissions(root, fs::Permissions::from_mode(0o700))?;
            }
        }
        Ok(made)
    }

    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Checks that files can be written here.
    pub fn probe(&self) -> io::Result<()> {
        // Unnamed, so that a process killed meanwhile leaves nothing behind.
        tempfile::tempfile_in(&self.root).map(drop)
    }

    /// Writes a file below the directory atomically. `name` is a relative path of plain components.
    pub fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        self.write_with(name, |file| file.write_all(text.as_bytes()))
    }

    /// [`OutDir::write`] with the content streamed by `fill`, for files too large for memory.
    pub fn write_with(&self, name: &str, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<PathBuf> {
        let path = confined(&self.root, name, make_dir)?;
        let mut temporary = path.clone().into_os_string();
        temporary.push(INCOMPLETE_SUFFIX);
        let temporary = PathBuf::from(temporary);
        // Whatever stands there is a leftover or planted, and is not written through.
        if temporary.symlink_metadata().is_ok() {
            fs::remove_file(&temporary)?;
        }
        let file = create_private(&temporary)?;
        let written = (|| {
            let mut file = BufWriter::new(file);
            fill(&mut file)?;
            file.into_inner().map_err(io::IntoInnerError::into_error)?;
            fs::rename(&temporary, &path)
        })();
        if written.is_err() {
            // The first error is the one to report.
            fs::remove_file(&temporary).unwrap_or_default();
        }
        written.map(|()| path)
    }

    /// Removes incomplete files left behind by killed processes.
    pub fn sweep(&self) {
        for name in self.find(|name| name.ends_with(INCOMPLETE_SUFFIX)).unwrap_or_default() {
            self.remove(&name).unwrap_or_default();
        }
    }

    /// Reads a file below the directory that others may have written; `None` if it does not exist. A file of more than `most` bytes, or one
    /// that is not a plain file, is an error.
    pub fn read(&self, name: &str, most: usize) -> io::Result<Option<Vec<u8>>> {
        read_below_dir(&self.root, name, most)
    }

    /// Removes an entry below the directory: a file, a link, or an empty directory. A missing one is not an error.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        let path = confined_parent(&self.root, name)?;
        let Ok(meta) = path.symlink_metadata() else { return Ok(()) };
        if meta.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) }
    }

    /// Paths of the files and directories below the directory whose names are `wanted`, in order. Links are not followed.
    pub fn find(&self, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        let mut dirs = vec![String::new()];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(self.root.join(&dir))? {
                let entry = entry?;
                let Ok(plain) = entry.file_name().into_string() else { continue };
                let path = if dir.is_empty() { plain.clone() } else { format!("{dir}/{plain}") };
                let kind = entry.file_type()?;
                if (kind.is_dir() || kind.is_file()) && wanted(&plain) {
                    found.push(path);
                } else if kind.is_dir() {
                    dirs.push(path);
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// Derives a file name from any text: characters other than letters, digits, `.`, `_`, `-` become `_`, the name is limited to 120 of
    /// them, and a hash of the text is appended if anything was lost.
    pub fn safe_name(text: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let safe: String = text.chars().map(|c| if plain(c) { c } else { '_' }).take(120).collect();
        if safe == text && !safe.is_empty() && !safe.starts_with('.') {
            return safe;
        }
        format!("{}-{}", safe.trim_start_matches('.'), &asterisk_base::model::Hash::of(text.as_bytes()).short()[..8])
    }
}

#[cfg(unix)]
fn make_dir(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make_dir(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

fn create_private(path: &Path) -> io::Result<fs::File> {
    private().write(true).create_new(true).open(path)
}

/// Opens a file for writing or appending; a new one is readable by its owner only.
pub fn open_private(path: &Path, append: bool) -> io::Result<fs::File> {
    private().write(true).append(append).truncate(!append).create(true).open(path)
}

fn private() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_directory_that_is_created_is_ignored() {
        let dir = tempfile::tempdir().expect("a directory");
        let ignored = |path: &str| fs::read_to_string(dir.path().join(path).join(".gitignore")).is_ok_and(|text| text == "*\n");
        for path in [".asterisk/investigations", "out", "own"] {
            if path == "own" {
                fs::create_dir(dir.path().join(path)).expect("made");
            }
            OutDir::create_ignored(&dir.path().join(path)).expect("made");
        }
        assert!(ignored(".asterisk") && ignored("out"));
        assert!(!ignored(".asterisk/investigations") && !ignored("own") && !ignored("."));
    }

    #[test]
    fn files_are_private_and_stay_below_the_root() {
        let dir = tempfile::tempdir().expect("a directory");
        let out = OutDir::create(&dir.path().join("run")).expect("made");
        let path = out.write("case/x.json", "{}").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("read"), "{}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(path.metadata().expect("meta").permissions().mode() & 0o777, 0o600);
            std::os::unix::fs::symlink("/tmp", out.path().join("link")).expect("linked");
            assert!(out.write("link/x", "").is_err());
        }
        assert!(out.write("../x", "").is_err());
        assert!(out.write("/x", "").is_err());
        assert_eq!(out.find(|name| name == "x.json").expect("listed"), ["case/x.json"]);
        let failed = out.write_with("case/x.json", |file| {
            file.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(failed.map_err(|error| error.kind()), Err(io::ErrorKind::StorageFull));
        fs::write(out.path().join("case/y.json.tmp~"), "half").expect("written");
        out.probe().expect("writable");
        out.sweep();
        assert_eq!(
            out.find(|name| name.starts_with("x.json") || name.starts_with("y.json")).expect("listed").len(),
            1,
            "neither half is left"
        );
        assert_eq!(fs::read_to_string(&path).expect("read"), "{}", "what was there stays");
        out.remove("case/x.json").expect("removed");
        out.remove("case/x.json").expect("it is not there");
        assert_eq!(out.read("case/x.json", 9).expect("nothing is wrong"), None);
    }

    #[test]
    fn any_text_gets_a_name_of_its_own() {
        assert_eq!(OutDir::safe_name("case-1"), "case-1");
        assert_ne!(OutDir::safe_name("a/b"), OutDir::safe_name("a:b"));
        assert!(OutDir::safe_name("../..").starts_with('_') || !OutDir::safe_name("../..").starts_with('.'));
    }
}
