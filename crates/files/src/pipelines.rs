//! Finds a pipeline by path, file stem, or `pipeline:` name.

use super::overlay::{FileError, FileOrigin, Overlay, read_input};
use asterisk_base::environment::InputStream;
use asterisk_diag::{Diagnostic, Source, did_you_mean};
use std::path::Path;

/// Result of a pipeline lookup.
#[derive(Debug)]
pub enum PipelineLookup {
    /// Exactly one match.
    One(Source),
    /// No match or several.
    Not(Box<Diagnostic>),
}

/// Finds the pipeline denoted by `name`: the file at that path, else the one with that file stem or `pipeline:` name. `named` extracts the
/// pipeline's name from a text. Several matches are an error.
pub fn find_pipeline(
    name: &str,
    overlay: &Overlay,
    input: &InputStream,
    named: impl Fn(&Source) -> Option<String>,
) -> Result<PipelineLookup, FileError> {
    let path = Path::new(name);
    if path.is_file() || name.contains('/') || name.ends_with(".yaml") || name.ends_with(".yml") {
        if !path.is_file()
            && let Some((.., source, _)) = overlay.files().find(|(file, ..)| *file == name)
        {
            return Ok(PipelineLookup::One(source.clone()));
        }
        return read_input(path, input).map(PipelineLookup::One);
    }
    let all = list_pipelines(overlay, named);
    let fits = |entry: &&ListedPipeline| entry.stem == name || entry.name.as_deref() == Some(name);
    let found: Vec<&ListedPipeline> = all.iter().filter(fits).collect();
    Ok(match found.as_slice() {
        [one] => PipelineLookup::One(one.source.clone()),
        [] => {
            let known = all.iter().flat_map(|entry| entry.name.as_deref().into_iter().chain([entry.stem.as_str()]));
            let message = format!("unknown pipeline `{name}`");
            let diagnostic = Diagnostic::error("input/no-pipeline", message).maybe_help(did_you_mean(name, known));
            PipelineLookup::Not(Box::new(diagnostic))
        }
        several => {
            let files: Vec<&str> = several.iter().map(|entry| entry.source.name()).collect();
            let message = format!("`{name}` is ambiguous: {}", files.join(", "));
            let diagnostic = Diagnostic::error("input/ambiguous-pipeline", message);
            PipelineLookup::Not(Box::new(diagnostic.help("use the path of one of them")))
        }
    })
}

/// A pipeline that can be referred to by name.
#[derive(Clone, Debug)]
pub struct ListedPipeline {
    /// File name without the suffix.
    pub stem: String,
    /// Its `pipeline:` name, if it has one.
    pub name: Option<String>,
    /// Its text.
    pub source: Source,
    /// Origin of the file.
    pub origin: FileOrigin,
}

impl ListedPipeline {
    /// The unambiguous name: its path among the pipelines.
    pub fn source_path(&self) -> String {
        self.source.name().to_owned()
    }
}

/// All pipelines of an overlay.
pub fn list_pipelines(overlay: &Overlay, named: impl Fn(&Source) -> Option<String>) -> Vec<ListedPipeline> {
    let listed = |(path, source, origin): (&str, &Source, &FileOrigin)| {
        let file = path.rsplit('/').next().unwrap_or(path);
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned();
        ListedPipeline { stem, name: named(source), source: source.clone(), origin: origin.clone() }
    };
    overlay.files().map(listed).collect()
}
