//! The script tests of a project, and their data files.

use super::{Session, SessionError};
use asterisk_base::environment::InputStream;
use asterisk_diag::{Source, did_you_mean};
use asterisk_files::{Area, FileError, FileOrigin, list_tests, read_below, read_input};
use std::path::{Path, PathBuf};

/// A file of tests.
#[derive(Clone, Debug)]
pub struct TestFile {
    /// Its text; named by its path below the script root or, outside of it, by the given path.
    pub source: Source,
    /// The directory of its data, if that is not the script root.
    elsewhere: Option<PathBuf>,
}

/// The texts for a test run.
#[derive(Clone, Debug)]
pub struct TestTexts {
    /// The scripts of the project.
    pub scripts: Vec<(Source, FileOrigin)>,
    /// The requested tests.
    pub tests: Vec<TestFile>,
    /// The other tests of the project, which may be imported.
    pub others: Vec<Source>,
}

impl Session {
    /// Reads the tests at these paths (files or directories on disk, or names below the script root; all tests of the project if
    /// there are none), with the project's scripts.
    pub fn tests(&self, paths: &[PathBuf]) -> Result<TestTexts, SessionError> {
        let dir = self.setup.texts.scripts.as_deref();
        let scripts = self.overlay(Area::Scripts, dir)?;
        let scripts = scripts.files().filter(|(name, ..)| name.ends_with(".rhai"));
        let scripts = scripts.map(|(_, source, origin)| (source.clone(), origin.clone())).collect();
        let own = self.overlay(Area::Tests, dir)?;
        let own: Vec<Source> = own.sources().filter(|source| !source.name().ends_with(".json")).cloned().collect();
        let mut tests: Vec<TestFile> = Vec::new();
        for path in paths {
            tests.extend(self.tests_at(path, &own)?);
        }
        if paths.is_empty() {
            tests.extend(own.iter().cloned().map(|source| TestFile { source, elsewhere: None }));
        }
        tests.sort_by(|a, b| a.source.name().cmp(b.source.name()));
        tests.dedup_by(|a, b| a.source.name() == b.source.name());
        let requested = |name: &str| tests.iter().any(|test| test.source.name() == name);
        let others = own.into_iter().filter(|source| !requested(source.name())).collect();
        Ok(TestTexts { scripts, tests, others })
    }

    fn tests_at(&self, path: &Path, own: &[Source]) -> Result<Vec<TestFile>, SessionError> {
        let below = match path.canonicalize() {
            Ok(real) => match self.setup.texts.scripts.as_deref().and_then(|dir| dir.canonicalize().ok()) {
                Some(root) if real.starts_with(&root) => real.strip_prefix(&root).unwrap_or(&real).to_owned(),
                _ => return elsewhere(path),
            },
            Err(_) => path.to_owned(),
        };
        let name = below.to_string_lossy().replace('\\', "/");
        let name = name.trim_end_matches('/');
        let about = format!("{}_test.rhai", name.strip_suffix(".rhai").unwrap_or(name));
        let is_it = |source: &&Source| {
            let own = source.name();
            name.is_empty() || own == name || own == about || own.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
        };
        let found: Vec<TestFile> = own.iter().filter(is_it).cloned().map(|source| TestFile { source, elsewhere: None }).collect();
        if found.is_empty() {
            let hint = did_you_mean(name, own.iter().map(Source::name));
            let hint =
                hint.or_else(|| Some("name a file `.._test.rhai` or a directory, on disk or below the script root".into()));
            return Err(SessionError::bad_request("test/no-file", format!("no tests found at `{}`", path.display()), hint));
        }
        Ok(found)
    }

    /// A data file of a test, by its path below the test's directory.
    pub fn test_data(&self, test: &TestFile, name: &str) -> Result<Option<Source>, FileError> {
        if let Some(dir) = &test.elsewhere {
            return read_below(dir, name);
        }
        let dir = test.source.name().rsplit_once('/').map_or("", |(dir, _)| dir);
        let full = if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") };
        let here = self.setup.texts.scripts.as_deref().map_or(Ok(None), |root| read_below(&root.join(dir), name))?;
        if here.is_some() {
            return Ok(here);
        }
        Ok(Area::Tests.embedded_file(&full).map(|file| Source::new(name, file.text())))
    }
}

/// Tests outside of the script root.
fn elsewhere(path: &Path) -> Result<Vec<TestFile>, SessionError> {
    let shown = path.to_string_lossy().replace('\\', "/");
    if path.is_dir() {
        let shown = shown.trim_end_matches('/');
        let read = |(name, file): (String, PathBuf)| {
            let text = read_input(&file, &InputStream::default())?;
            let source = Source::new(format!("{shown}/{name}"), text.text());
            Ok(TestFile { source, elsewhere: file.parent().map(Path::to_owned) })
        };
        let found = list_tests(path)?.into_iter().map(read).collect::<Result<Vec<_>, FileError>>()?;
        if found.is_empty() {
            let help = "names of test files end in `_test.rhai`";
            return Err(SessionError::bad_request("test/no-file", format!("no tests found below `{shown}`"), Some(help.into())));
        }
        return Ok(found);
    }
    if !Area::Tests.takes(&shown) || shown.ends_with(".json") {
        let help = "names of test files end in `_test.rhai`";
        return Err(SessionError::bad_request("test/no-file", format!("`{shown}` is not a test file"), Some(help.into())));
    }
    let text = read_input(path, &InputStream::default())?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(vec![TestFile { source: Source::new(shown, text.text()), elsewhere: Some(dir.to_owned()) }])
}
