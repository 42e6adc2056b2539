//! Launch inputs of a run: files, standard input, and the contents of directories.

use super::archive;
use super::overlay::FileError;
use asterisk_base::environment::InputStream;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Maximum depth of nested directories.
const MAX_DEPTH: usize = 64;

/// Maximum number of files taken from directories.
const MAX_FILES: usize = 100_000;

/// An input to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// Name used in messages.
    pub name: String,
    /// Path; `-` is standard input.
    pub path: PathBuf,
    /// Size in bytes; `None` if the input can be read only once (a pipe).
    pub size: Option<u64>,
    /// Whether it was found below a directory, or in an archive.
    pub below: bool,
    /// The number of the entry, if `path` is an archive.
    pub member: Option<usize>,
}

impl InputFile {
    /// Opens the file, or standard input, at its first byte.
    pub fn open(&self, input: &InputStream) -> io::Result<Box<dyn Read>> {
        if self.path == Path::new("-") {
            return Ok(Box::new(input.clone()));
        }
        let file = File::open(&self.path)?;
        Ok(Box::new(match self.member {
            Some(member) => archive::unpacked(file, member)?,
            None => file,
        }))
    }
}

/// Result of [`list_inputs`].
#[derive(Clone, Debug, Default)]
pub struct InputList {
    /// The inputs, those of a directory sorted by path.
    pub inputs: Vec<InputFile>,
    /// Notes about skipped entries.
    pub notes: Vec<String>,
    /// Skipped entries that may have been launches.
    pub gaps: Vec<String>,
}

/// Expands paths to inputs: a file or `-` to itself, a ZIP archive to its entries, a directory to all files below it with the suffix of a launch (`is_launch_name`), in
/// byte order of their paths. Hidden entries are skipped; symbolic links are followed (reports of build tools often are links) unless they
/// lead out of the directory, each target once. An unreadable entry below a directory is a gap, not an error.
pub fn list_inputs(paths: &[PathBuf]) -> Result<InputList, FileError> {
    let mut walk = DirectoryWalk::default();
    for path in paths {
        if path == Path::new("-") {
            walk.list.inputs.push(InputFile {
                name: "<stdin>".into(),
                path: path.clone(),
                size: None,
                below: false,
                member: None,
            });
            continue;
        }
        let meta = fs::metadata(path).map_err(|source| FileError::Io { path: path.clone(), source })?;
        if meta.is_dir() {
            let io = |source| FileError::Io { path: path.clone(), source };
            walk.root = path.canonicalize().map_err(io)?;
            fs::read_dir(path).map_err(io)?;
            walk.dir(path, 0)?;
        } else {
            let size = meta.is_file().then_some(meta.len());
            if size.is_some() && archive::is_archive(path) {
                walk.archive(path)?;
            } else if size.is_none() || walk.is_new(path) {
                walk.list.inputs.push(InputFile {
                    name: path.display().to_string(),
                    path: path.clone(),
                    size,
                    below: false,
                    member: None,
                });
            }
        }
    }
    drop_step_logs(&mut walk.list.inputs);
    Ok(walk.list)
}

/// Drops the logs of the steps of a job whose whole log is there: `build/1_Set up job.txt` next to `0_build.txt`, as GitHub packs them.
fn drop_step_logs(inputs: &mut Vec<InputFile>) {
    let jobs: HashSet<String> = inputs.iter().filter_map(|input| job_of_log(&input.name)).collect();
    inputs.retain(|input| {
        let dir = input.name.rsplit_once('/').map_or("", |(dir, _)| dir);
        !(is_numbered_log(&input.name) && jobs.contains(dir))
    });
}

/// Whether a file is named `NUMBER_NAME.txt`.
fn is_numbered_log(name: &str) -> bool {
    let file = name.rsplit_once('/').map_or(name, |(_, file)| file);
    file.ends_with(".txt")
        && file.split_once('_').is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The directory of the steps of the job that this is the log of.
fn job_of_log(name: &str) -> Option<String> {
    let (dir, file) = name.rsplit_once('/').map_or(("", name), |(dir, file)| (dir, file));
    let job = file.split_once('_').filter(|_| is_numbered_log(name))?.1.strip_suffix(".txt")?;
    Some(if dir.is_empty() { job.to_owned() } else { format!("{dir}/{job}") })
}

#[derive(Default)]
struct DirectoryWalk {
    list: InputList,
    /// Root of the traversal.
    root: PathBuf,
    /// Canonical paths visited so far.
    seen: HashSet<PathBuf>,
}

impl DirectoryWalk {
    /// Whether a file or directory is visited for the first time, under any name.
    fn is_new(&mut self, path: &Path) -> bool {
        self.seen.insert(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
    }

    fn dir(&mut self, dir: &Path, depth: usize) -> Result<(), FileError> {
        if !self.is_new(dir) {
            return Ok(());
        }
        if depth > MAX_DEPTH {
            self.list.gaps.push(format!("`{}` was skipped: it is more than {MAX_DEPTH} directories deep", dir.display()));
            return Ok(());
        }
        let mut entries = match fs::read_dir(dir).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => {
                self.list.gaps.push(format!("`{}` cannot be read ({error})", dir.display()));
                return Ok(());
            }
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if !hidden {
                self.entry(&entry.path(), depth)?;
            }
        }
        Ok(())
    }

    /// Adds the entries of an archive that may be launches.
    fn archive(&mut self, path: &Path) -> Result<(), FileError> {
        if !self.is_new(path) {
            return Ok(());
        }
        let entries = archive::entries(path).map_err(|source| FileError::Io { path: path.to_owned(), source })?;
        for (member, name, size) in entries {
            let is_hidden = name.split('/').any(|part| part.starts_with('.'));
            if is_hidden || !is_launch_name(Path::new(&name)) {
                continue;
            }
            if self.list.inputs.len() == MAX_FILES {
                return Err(FileError::TooMany { path: path.to_owned(), limit: MAX_FILES });
            }
            let name = format!("{}/{name}", path.display());
            self.list.inputs.push(InputFile { name, path: path.to_owned(), size: Some(size), below: true, member: Some(member) });
        }
        Ok(())
    }

    fn is_inside(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|path| path.starts_with(&self.root))
    }

    fn entry(&mut self, path: &Path, depth: usize) -> Result<(), FileError> {
        let meta = match fs::metadata(path) {
            Ok(meta) => meta,
            // A dangling link, or a file removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if is_launch_name(path) {
                    self.list.notes.push(format!("skipped: `{}` is a broken link", path.display()));
                }
                return Ok(());
            }
            // A cycle of links, or an inaccessible directory on the way.
            Err(error) => {
                self.list.gaps.push(format!(
                    "`{}` cannot be {} ({error})",
                    path.display(),
                    if path.is_symlink() { "followed" } else { "read" }
                ));
                return Ok(());
            }
        };
        if path.is_symlink() && (meta.is_dir() || is_launch_name(path)) && !self.is_inside(path) {
            self.list
                .gaps
                .push(format!("`{}` is a link to a file outside the directory: pass it with --input too", path.display()));
            return Ok(());
        }
        if meta.is_dir() {
            return self.dir(path, depth + 1);
        }
        if meta.is_file() && archive::is_archive(path) {
            if let Err(error) = self.archive(path) {
                self.list.gaps.push(error.to_string());
            }
        } else if meta.is_file() && is_launch_name(path) && self.is_new(path) {
            if self.list.inputs.len() == MAX_FILES {
                return Err(FileError::TooMany { path: path.to_owned(), limit: MAX_FILES });
            }
            let (name, size) = (path.display().to_string(), Some(meta.len()));
            self.list.inputs.push(InputFile { name, path: path.to_owned(), size, below: true, member: None });
        } else if !meta.is_file() && is_launch_name(path) {
            self.list.gaps.push(format!("`{}` is not a regular file: pass it with --input too", path.display()));
        }
        Ok(())
    }
}

/// Whether the suffix of a file is that of a launch.
pub(super) fn is_launch_name(path: &Path) -> bool {
    path.extension().is_some_and(|ending| {
        ["xml", "json", "trx", "jsonl", "ndjson", "tap", "log", "txt"].iter().any(|known| ending.eq_ignore_ascii_case(known))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The inputs and the skipped entries: notes, then gaps.
    fn names(paths: &[PathBuf], root: &Path) -> (Vec<String>, Vec<String>) {
        let list = list_inputs(paths).expect("listed");
        let short = |text: &String| text.replace(&format!("{}/", root.display()), "");
        let passed_over = list.notes.iter().chain(&list.gaps).map(short).collect();
        (list.inputs.iter().map(|input| short(&input.name)).collect(), passed_over)
    }

    #[test]
    fn directories_are_traversed_in_order() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path();
        for file in ["b/z.xml", "b/a.JSON", "a.xml", "c.yaml", ".git/x.xml", "b/.hidden.json", "b/deep/er/x.json"] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, "x").expect("written");
        }
        let all = ["a.xml", "b/a.JSON", "b/deep/er/x.json", "b/z.xml"];
        assert_eq!(names(&[root.to_owned()], root), (all.map(str::to_owned).into(), vec![]));
        let twice = [root.join("b/z.xml"), root.join("b"), root.join("c.yaml"), PathBuf::from("-")];
        let mixed = ["b/z.xml", "b/a.JSON", "b/deep/er/x.json", "c.yaml", "<stdin>"];
        assert_eq!(names(&twice, root).0, mixed);
        assert!(list_inputs(&[root.join("none")]).is_err_and(|error| error.to_string().contains("cannot read")));
    }

    #[test]
    fn an_archive_is_expanded_and_the_log_of_a_job_has_those_of_its_steps() {
        use std::io::Write as _;
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("logs");
        let mut archive = zip::ZipWriter::new(File::create(&path).expect("made"));
        for name in ["0_build.txt", "build/1_Set up job.txt", "lint/1_Set up job.txt", "junit.xml", "picture.png"] {
            archive.start_file(name, zip::write::SimpleFileOptions::default()).expect("begun");
            archive.write_all(name.as_bytes()).expect("written");
        }
        archive.finish().expect("packed");
        let list = list_inputs(std::slice::from_ref(&path)).expect("listed");
        let names: Vec<&str> = list.inputs.iter().map(|input| input.name.rsplit_once("logs/").expect("below").1).collect();
        assert_eq!(names, ["0_build.txt", "lint/1_Set up job.txt", "junit.xml"]);
        let mut text = String::new();
        list.inputs[2].open(&InputStream::default()).expect("opened").read_to_string(&mut text).expect("read");
        assert_eq!(text, "junit.xml");
        fs::write(&path, "PK\x03\x04 and nothing else").expect("written");
        assert!(list_inputs(&[path]).is_err_and(|error| error.to_string().contains("cannot read")));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_once_and_cycles_end() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path();
        fs::create_dir_all(root.join("a/b")).expect("made");
        fs::write(root.join("a/b/x.xml"), "x").expect("written");
        for (to, from) in
            [("a", "z"), ("..", "a/b/up"), ("missing.xml", "a/gone.xml"), ("ring.xml", "a/ring.xml"), ("a/b/x.xml", "y.xml")]
        {
            symlink(to, root.join(from)).expect("linked");
        }
        let (found, notes) = names(&[root.to_owned()], root);
        assert_eq!(found, ["a/b/x.xml"]);
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert_eq!(notes[0], "skipped: `a/gone.xml` is a broken link");
        assert!(notes[1].starts_with("`a/ring.xml` cannot be followed"), "{notes:?}");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_a_regular_file_is_noted_and_not_read() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path();
        fs::write(root.join("x.xml"), "x").expect("written");
        let _sockets = ["a.xml", "b.yaml"].map(|name| std::os::unix::net::UnixListener::bind(root.join(name)).expect("bound"));
        let (found, told) = names(&[root.to_owned()], root);
        assert_eq!(
            (found, told),
            (vec!["x.xml".to_owned()], vec!["`a.xml` is not a regular file: pass it with --input too".to_owned()])
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_are_noted_and_not_followed() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().join("in");
        fs::create_dir_all(&root).expect("made");
        for file in ["out/secret.xml", "in/x.xml"] {
            fs::create_dir_all(dir.path().join(file).parent().expect("a parent")).expect("made");
            fs::write(dir.path().join(file), "x").expect("written");
        }
        for (to, from) in [("../out", "all"), ("../out/secret.xml", "one.xml"), ("../out/secret.xml", "notes.yaml")] {
            symlink(to, root.join(from)).expect("linked");
        }
        let (found, told) = names(std::slice::from_ref(&root), &root);
        assert_eq!(found, ["x.xml"]);
        let out = |name: &str| format!("`{name}` is a link to a file outside the directory: pass it with --input too");
        assert_eq!(told, [out("all"), out("one.xml")]);
        // A directory named by the user may itself be a link.
        symlink("in", dir.path().join("link")).expect("linked");
        assert_eq!(names(&[dir.path().join("link")], &dir.path().join("link")).0, ["x.xml"]);
    }
}
