//! Overlays a user's directory over the embedded files, file by file.

use super::embedded::Area;
use asterisk_base::environment::InputStream;
use asterisk_base::model::shell;
use asterisk_diag::Source;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

/// Maximum size of a text in a project directory, in bytes.
const MAX_TEXT: u64 = 4 << 20;
/// Maximum size of a launch, in bytes.
const MAX_INPUT: u64 = 1 << 30;
/// Number of bytes of a device that are inspected first.
const HEAD: u64 = 64 << 10;

/// Origin of a project file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileOrigin {
    /// Compiled into the program.
    Embedded,
    /// Read from this path.
    File(PathBuf),
}

/// Error of reading a file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The operating system reports an error.
    #[error("cannot read `{}`: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not UTF-8 text.
    #[error("`{}` is not UTF-8 text: {what}", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// Detected encoding or kind.
        what: String,
    },
    /// The file exceeds the size limit.
    #[error("`{}` is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// A directory contains too many files.
    #[error("there are more than {limit} files to read; `{}` is the first beyond that", path.display())]
    TooMany {
        /// The first file beyond the limit.
        path: PathBuf,
        /// The limit.
        limit: usize,
    },
    /// The path is a symbolic link.
    #[error("`{}` is a symbolic link, which is not allowed below a script root", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// The path leads out of the directory it has to be in.
    #[error("`{}` is outside its directory", path.display())]
    Outside {
        /// The path.
        path: PathBuf,
    },
    /// The path is neither a file nor a directory.
    #[error("`{}` is not a regular file", path.display())]
    Irregular {
        /// The path.
        path: PathBuf,
    },
    /// A file with a secret is readable by others.
    #[error("`{}` contains a secret and is readable by others: chmod 600 {}", path.display(), shell(&path.display().to_string()))]
    Exposed {
        /// The file.
        path: PathBuf,
    },
    /// A directory named by the user does not exist.
    #[error("the directory `{}` does not exist", path.display())]
    NoDirectory {
        /// The directory.
        path: PathBuf,
    },
}

/// Texts of files that an editor has not saved, by absolute path: they stand for what is on disk.
pub type UnsavedTexts = BTreeMap<PathBuf, String>;

/// The files of one area, by path below its root.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    files: BTreeMap<String, (Source, FileOrigin)>,
}

impl Overlay {
    /// Loads the embedded files of an area, overlaid by those of `dir`. Hidden files are skipped; symbolic links below `dir` are errors.
    pub fn load(area: Area, dir: Option<&Path>) -> Result<Self, FileError> {
        Self::load_unsaved(area, dir, &UnsavedTexts::new())
    }

    /// As [`Overlay::load`], with texts that are not saved.
    pub fn load_unsaved(area: Area, dir: Option<&Path>, unsaved: &UnsavedTexts) -> Result<Self, FileError> {
        let embedded = area.embedded().iter().map(|source| (source.name().to_owned(), (source.clone(), FileOrigin::Embedded)));
        let mut overlay = Self { files: embedded.collect() };
        if let Some(dir) = dir {
            overlay.add_unsaved(area, dir, unsaved)?;
        }
        Ok(overlay)
    }

    /// Overlays the files of an area below another directory.
    pub fn add(&mut self, area: Area, dir: &Path) -> Result<(), FileError> {
        self.add_unsaved(area, dir, &UnsavedTexts::new())
    }

    fn add_unsaved(&mut self, area: Area, dir: &Path, unsaved: &UnsavedTexts) -> Result<(), FileError> {
        if !dir.is_dir() {
            return Err(FileError::NoDirectory { path: dir.to_owned() });
        }
        let mut paths = Vec::new();
        walk(dir, "", &mut paths)?;
        // Files that an editor has not created yet.
        let whole = if unsaved.is_empty() { dir.to_owned() } else { std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned()) };
        let below = |path: &PathBuf| Some((path.strip_prefix(&whole).ok()?.to_str()?.replace('\\', "/"), path.clone()));
        let new = unsaved.keys().filter_map(below).filter(|(name, path)| !path.exists() && !is_hidden(name));
        paths.extend(new);
        // The data of tests is read on demand.
        let taken = |name: &str| area.takes(name) && !(area == Area::Tests && name.ends_with(".json"));
        for (name, path) in paths.into_iter().filter(|(name, _)| taken(name)) {
            let open = whole_path(unsaved, &path).and_then(|path| unsaved.get(&path)).cloned();
            let text = open.map_or_else(|| read_text(&path, MAX_TEXT), Ok)?;
            let source = area.embedded_file(&name).filter(|embedded| embedded.text() == text).cloned();
            let source = source.unwrap_or_else(|| Source::new(name.as_str(), text));
            self.files.insert(name, (source, FileOrigin::File(path)));
        }
        self.extend(area);
        Ok(())
    }

    /// Joins the YAML files that extend another one with it: a file that names itself extends the bundled file of its name.
    fn extend(&mut self, area: Area) {
        let mut extending: BTreeMap<String, String> = BTreeMap::new();
        for (name, (source, _)) in self.files.iter().filter(|(name, (source, _))| may_extend(area, name) && !source.is_bundled())
        {
            let Some(base) = extended(source.text()).or_else(|| extends_itself(area, name)) else { continue };
            let (dir, ending) = (name.rfind('/').map_or("", |at| &name[..=at]), name.rfind('.').map_or("", |at| &name[at..]));
            extending.insert(name.clone(), format!("{dir}{base}{ending}"));
        }
        // A file is merged before those that extend it; the files of a cycle are left unmerged.
        while let Some(name) =
            extending.iter().find(|(name, base)| base == name || !extending.contains_key(*base)).map(|(name, _)| name.clone())
        {
            let Some(base) = extending.remove(&name) else { break };
            let base = if base == name {
                area.embedded_file(&base).cloned()
            } else {
                self.files.get(&base).map(|(source, _)| source.clone())
            };
            if let (Some(base), Some((source, _))) = (base, self.files.get_mut(&name)) {
                *source = source.extending(&base);
            }
        }
    }

    /// The texts, ordered by path.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.files.values().map(|(source, _)| source)
    }

    /// Path, text and origin of each file, ordered by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Source, &FileOrigin)> {
        self.files.iter().map(|(path, (source, origin))| (path.as_str(), source, origin))
    }
}

/// The absolute path, if there are texts to look for.
fn whole_path(unsaved: &UnsavedTexts, path: &Path) -> Option<PathBuf> {
    if unsaved.is_empty() { None } else { std::path::absolute(path).ok() }
}

/// Whether a path below an area leads through a hidden directory, or to a hidden file.
fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('.'))
}

/// Whether a file may extend another one. Domains are merged when they are linked.
fn may_extend(area: Area, name: &str) -> bool {
    let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
    let is_domain = name.starts_with("data/domains/") || name.starts_with("data/signatures/");
    is_yaml && matches!(area, Area::Pipelines | Area::Scripts) && !is_domain
}

/// The name of a file of entries by name: a project adds to the bundled ones without saying so.
fn extends_itself(area: Area, name: &str) -> Option<&str> {
    let stem = name.strip_prefix("data/")?.strip_suffix(".yaml")?;
    (area == Area::Scripts && ["policy", "teams"].contains(&stem)).then_some(stem)
}

/// The name in the line `extends: NAME` at the left margin.
fn extended(text: &str) -> Option<&str> {
    let name = text.lines().find_map(|line| line.strip_prefix("extends:"))?;
    let name = name.split(" #").next().unwrap_or(name).trim().trim_matches(['"', '\'']);
    (!name.is_empty()).then_some(name)
}

/// Reads the text of an input file, or of standard input for `-`.
pub fn read_input(path: &Path, input: &InputStream) -> Result<Source, FileError> {
    let (name, bytes) = read_bytes(path, input)?;
    Ok(Source::new(name, text(path, bytes)?))
}

/// Reads the bytes of an answer from a file, or from standard input for `-`, limited to `most` bytes.
pub fn read_answer(path: &Path, input: &InputStream, most: usize) -> std::io::Result<Vec<u8>> {
    let limit = most as u64 + 1;
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        input.clone().take(limit).read_to_end(&mut bytes)?;
    } else {
        fs::File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    }
    if bytes.len() > most { Err(std::io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// Reads name and bytes of an input file, or of standard input for `-`.
fn read_bytes(path: &Path, input: &InputStream) -> Result<(String, Vec<u8>), FileError> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        let io = |source| FileError::Io { path: path.to_owned(), source };
        input.clone().take(MAX_INPUT + 1).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > MAX_INPUT {
            return Err(FileError::TooLarge { path: path.to_owned(), limit: MAX_INPUT });
        }
        return Ok(("<stdin>".into(), bytes));
    }
    Ok((path.display().to_string(), read_file(path, MAX_INPUT)?))
}

/// Reads the text of a project file.
pub fn read_text_file(path: &Path) -> Result<String, FileError> {
    read_text(path, MAX_TEXT)
}

fn read_text(path: &Path, limit: u64) -> Result<String, FileError> {
    text(path, read_file(path, limit)?)
}

/// Decodes UTF-8 text, without a byte order mark.
fn text(path: &Path, bytes: Vec<u8>) -> Result<String, FileError> {
    let mut text = String::from_utf8(bytes)
        .map_err(|error| FileError::NotText { path: path.to_owned(), what: encoding(error.as_bytes(), error.utf8_error()) })?;
    // UTF-16 of plain English without a byte order mark is UTF-8 with every other byte zero.
    if text.as_bytes().iter().take(64).filter(|byte| **byte == 0).count() > text.len().min(64) / 3 {
        return Err(FileError::NotText { path: path.to_owned(), what: "it looks like UTF-16".to_owned() });
    }
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// Describes bytes that are not UTF-8.
fn encoding(bytes: &[u8], error: std::str::Utf8Error) -> String {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return "it is UTF-16".to_owned();
    }
    let before = &bytes[..error.valid_up_to()];
    let line = before.split(|byte| *byte == b'\n').count();
    format!("line {line} has the byte 0x{:02x}", bytes.get(before.len()).copied().unwrap_or_default())
}

fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let io = |source| FileError::Io { path: path.to_owned(), source };
    let file = fs::File::open(path).map_err(io)?;
    if file.metadata().map_err(io)?.len() > limit {
        return Err(FileError::TooLarge { path: path.to_owned(), limit });
    }
    let mut bytes = Vec::new();
    // The length of a device is unknown; if its beginning is not text, the rest is not either.
    if !file.metadata().map_err(io)?.is_file() {
        (&file).take(HEAD).read_to_end(&mut bytes).map_err(io)?;
        if bytes.contains(&0) {
            return Err(FileError::NotText { path: path.to_owned(), what: "it has zero bytes".to_owned() });
        }
    }
    file.take(limit + 1 - bytes.len() as u64).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > limit { Err(FileError::TooLarge { path: path.to_owned(), limit }) } else { Ok(bytes) }
}

/// Reads a text file below a directory; `None` if it does not exist. `name` has plain components only, and symbolic links are not followed.
pub fn read_below(dir: &Path, name: &str) -> Result<Option<Source>, FileError> {
    let mut path = dir.to_owned();
    for part in Path::new(name).components() {
        if !matches!(part, Component::Normal(_)) {
            return Err(FileError::Outside { path: name.into() });
        }
        path.push(part);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => return Err(FileError::Link { path }),
            Ok(found) if !found.is_file() && !found.is_dir() => return Err(FileError::Irregular { path }),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(FileError::Io { path, source }),
        }
    }
    read_text(&path, MAX_TEXT).map(|text| Some(Source::new(name, text)))
}

/// The test files below a directory, with their paths relative to it.
pub fn list_tests(dir: &Path) -> Result<Vec<(String, PathBuf)>, FileError> {
    let mut paths = Vec::new();
    walk(dir, "", &mut paths)?;
    paths.retain(|(name, _)| Area::Tests.takes(name) && !name.ends_with(".json"));
    paths.sort();
    Ok(paths)
}

/// The files below a directory that [`Overlay::load`] skips because of their suffix, by relative path.
pub fn passed_over(area: Area, dir: &Path) -> Result<Vec<String>, FileError> {
    let mut paths = Vec::new();
    walk(dir, "", &mut paths)?;
    let mut names: Vec<String> = paths.into_iter().map(|(name, _)| name).filter(|name| !area.takes(name)).collect();
    names.sort();
    Ok(names)
}

pub(super) fn walk(dir: &Path, prefix: &str, out: &mut Vec<(String, PathBuf)>) -> Result<(), FileError> {
    let io = |source| FileError::Io { path: dir.to_owned(), source };
    for entry in fs::read_dir(dir).map_err(io)? {
        let entry = entry.map_err(io)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with('.') {
            continue;
        }
        let kind = entry.file_type().map_err(io)?;
        let path = entry.path();
        let below = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        if kind.is_symlink() {
            return Err(FileError::Link { path });
        } else if kind.is_dir() {
            walk(&path, &below, out)?;
        } else if kind.is_file() {
            out.push((below, path));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_overlays_the_embedded_files_one_by_one() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir(dir.path().join("rules")).expect("a directory");
        fs::write(dir.path().join("rules/mine.rhai"), "\u{feff}fn f() { 1 }").expect("written");
        fs::write(dir.path().join("notes.txt"), "no script").expect("written");
        let overlay = Overlay::load(Area::Scripts, Some(dir.path())).expect("loads");
        let origin = |name: &str| overlay.files().find(|(path, ..)| *path == name).map(|(.., origin)| origin.clone());
        assert!(matches!(origin("rules/mine.rhai"), Some(FileOrigin::File(_))));
        assert!(overlay.files().any(|(_, source, _)| source.text() == "fn f() { 1 }"), "without its mark of byte order");
        assert_eq!(origin("rules/rca.rhai"), Some(FileOrigin::Embedded));
        assert_eq!(origin("notes.txt"), None);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        std::os::unix::fs::symlink("/etc/hostname", dir.path().join("x.rhai")).expect("linked");
        assert!(matches!(Overlay::load(Area::Scripts, Some(dir.path())), Err(FileError::Link { .. })));
    }

    #[test]
    fn what_is_not_utf_8_says_what_it_is() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("x.rhai");
        let utf_16 = |mark: &[u8]| [mark, &"fn f() {}".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()].concat();
        for (bytes, what) in [
            (utf_16(&[0xff, 0xfe]), "it is UTF-16"),
            (utf_16(&[]), "it looks like UTF-16"),
            (b"// one\n// caf\xe9".to_vec(), "line 2 has the byte 0xe9"),
        ] {
            fs::write(&path, bytes).expect("written");
            let error = read_text_file(&path).expect_err("no text").to_string();
            assert!(error.contains(&format!("is not UTF-8 text: {what}")), "{error}");
        }
    }

    #[test]
    fn a_missing_directory_is_an_error() {
        let error = Overlay::load(Area::Scripts, Some(Path::new("/nowhere/at/all"))).expect_err("missing");
        assert_eq!(error.to_string(), "the directory `/nowhere/at/all` does not exist");
    }
}
