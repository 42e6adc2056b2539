//! Finds scripts, pipelines, templates and data below a path, independent of its layout.

use super::embedded::Area;
use super::overlay::{FileError, read_text_file, walk};
use asterisk_diag::Source;
use std::path::{Path, PathBuf};

/// A text, named by its path below the root of its area.
#[derive(Clone, Debug)]
pub struct FoundText {
    /// Its area.
    pub area: Area,
    /// Its text.
    pub source: Source,
    /// Path of its file.
    pub path: PathBuf,
}

/// The texts at a path: a file, a directory with the layout of a project, or any directory. In the last, scripts are recognised by their
/// suffix, pipelines and data by the presence of the key `pipeline:`, and templates by their tags. Hidden files are skipped.
pub fn find_texts(path: &Path) -> Result<Vec<FoundText>, FileError> {
    if path.is_file() {
        let text = read_text_file(path)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let area = area_of(&name, &text, true);
        let below = area.and_then(|area| below(path, area)).unwrap_or(name);
        let found = |area| FoundText { area, source: Source::new(below, text), path: path.to_owned() };
        return Ok(area.map(found).into_iter().collect());
    }
    let own = path.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    if let Some(area) = Area::ALL.into_iter().find(|area| own.as_deref() == Some(area.name())) {
        return of_area(area, path);
    }
    let parts: Vec<Area> = Area::ALL.into_iter().filter(|area| path.join(area.name()).is_dir()).collect();
    if !parts.is_empty() {
        let mut found = Vec::new();
        for area in parts {
            found.extend(of_area(area, &path.join(area.name()))?);
        }
        return Ok(found);
    }
    let mut paths = Vec::new();
    walk(path, "", &mut paths)?;
    paths.sort();
    let mut found = Vec::new();
    for (name, path) in paths.into_iter().filter(|(name, _)| Area::ALL.iter().any(|area| area.holds(name))) {
        let text = read_text_file(&path)?;
        let Some(area) = area_of(&name, &text, false) else { continue };
        found.push(FoundText { area, source: Source::new(below(&path, area).unwrap_or(name), text), path });
    }
    Ok(found)
}

fn of_area(area: Area, dir: &Path) -> Result<Vec<FoundText>, FileError> {
    let mut paths = Vec::new();
    walk(dir, "", &mut paths)?;
    paths.sort();
    let text = |(name, path): (String, PathBuf)| Ok(FoundText { area, source: Source::new(name, read_text_file(&path)?), path });
    paths.into_iter().filter(|(name, _)| area.holds(name)).map(text).collect()
}

/// Determines the area of a text from its suffix and content; for a path given by the user, a template by its suffix alone.
fn area_of(name: &str, text: &str, named: bool) -> Option<Area> {
    if name.ends_with(".rhai") {
        Some(Area::Scripts)
    } else if Area::Pipelines.takes(name) {
        let is_pipeline = text.lines().any(|line| line.starts_with("pipeline:") || line.starts_with("nodes:"));
        let is_settings = name.rsplit('/').next() == Some("asterisk.yaml");
        if is_pipeline { Some(Area::Pipelines) } else { (!is_settings).then_some(Area::Scripts) }
    } else {
        (Area::Templates.takes(name) && (named || text.contains("{{") || text.contains("{%"))).then_some(Area::Templates)
    }
}

/// The path below the last directory named like the area.
fn below(path: &Path, area: Area) -> Option<String> {
    let path = path.canonicalize().ok()?;
    let parts: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let root = parts.iter().rposition(|part| part == area.name())?;
    (root + 1 < parts.len()).then(|| parts[root + 1..].join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn found(dir: &Path, path: &str) -> Vec<String> {
        let texts = find_texts(&dir.join(path)).expect("reads");
        texts.iter().map(|text| format!("{}/{}", text.area.name(), text.source.name())).collect()
    }

    #[test]
    fn texts_are_found_in_any_layout() {
        let dir = tempfile::tempdir().expect("a directory");
        for (path, text) in [
            ("p/scripts/rules/a.rhai", "fn f() {}"),
            ("p/scripts/data/d.yaml", "x: 1"),
            ("p/templates/t.md", "plain"),
            ("p/README.md", "no template"),
            ("any/x/a.rhai", ""),
            ("any/p.yaml", "# c\npipeline: p\n"),
            ("any/d.yaml", "x: 1\n"),
            ("any/README.md", "plain"),
            ("any/t.md", "{{ x }}"),
            ("any/asterisk.yaml", "vars: {}"),
        ] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, text).expect("written");
        }
        assert_eq!(found(dir.path(), "p"), ["scripts/data/d.yaml", "scripts/rules/a.rhai", "templates/t.md"]);
        assert_eq!(found(dir.path(), "p/scripts"), ["scripts/data/d.yaml", "scripts/rules/a.rhai"]);
        assert_eq!(found(dir.path(), "p/scripts/rules"), ["scripts/rules/a.rhai"]);
        assert_eq!(found(dir.path(), "p/scripts/rules/a.rhai"), ["scripts/rules/a.rhai"]);
        assert_eq!(found(dir.path(), "any"), ["scripts/d.yaml", "pipelines/p.yaml", "templates/t.md", "scripts/x/a.rhai"]);
        assert_eq!(found(dir.path(), "any/README.md"), ["templates/README.md"]);
    }
}
