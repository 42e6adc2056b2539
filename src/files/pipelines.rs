//! Finding a pipeline by path, file stem, or `pipeline:` name.

use super::overlay::{FileError, FileOrigin, Overlay, read_input};
use crate::diag::{Diagnostic, Source, did_you_mean};
use std::path::Path;

/// What a search for a pipeline came to.
#[derive(Debug)]
pub enum PipelineLookup {
    /// This one.
    One(Source),
    /// None or several.
    Not(Box<Diagnostic>),
}

/// The pipeline that `name` means: a file at that path, else the one whose file stem or `pipeline:` name it is. `named`
/// tells the name a text gives its pipeline. Several that fit are an error.
pub fn find_pipeline(
    name: &str,
    overlay: &Overlay,
    named: impl Fn(&Source) -> Option<String>,
) -> Result<PipelineLookup, FileError> {
    let path = Path::new(name);
    if path.is_file() || name.contains('/') || name.ends_with(".yaml") || name.ends_with(".yml") {
        if !path.is_file()
            && let Some((.., source, _)) = overlay.files().find(|(file, ..)| *file == name)
        {
            return Ok(PipelineLookup::One(source.clone()));
        }
        return read_input(path).map(PipelineLookup::One);
    }
    let all = list_pipelines(overlay, named);
    let fits = |entry: &&ListedPipeline| entry.stem == name || entry.name.as_deref() == Some(name);
    let found: Vec<&ListedPipeline> = all.iter().filter(fits).collect();
    Ok(match found.as_slice() {
        [one] => PipelineLookup::One(one.source.clone()),
        [] => {
            let known = all.iter().flat_map(|entry| entry.name.as_deref().into_iter().chain([entry.stem.as_str()]));
            let message = format!("there is no pipeline `{name}`");
            let diagnostic = Diagnostic::error("input/no-pipeline", message).maybe_help(did_you_mean(name, known));
            PipelineLookup::Not(Box::new(diagnostic))
        }
        several => {
            let files: Vec<&str> = several.iter().map(|entry| entry.source.name()).collect();
            let message = format!("`{name}` may mean any of {}", files.join(", "));
            let diagnostic = Diagnostic::error("input/ambiguous-pipeline", message);
            PipelineLookup::Not(Box::new(diagnostic.help("give the path of the one you mean")))
        }
    })
}

/// A pipeline that can be named.
#[derive(Clone, Debug)]
pub struct ListedPipeline {
    /// Its file name without the ending.
    pub stem: String,
    /// Its `pipeline:` name, if it has one.
    pub name: Option<String>,
    /// Its text.
    pub source: Source,
    /// Where it came from.
    pub origin: FileOrigin,
}

impl ListedPipeline {
    /// What names this one and no other: its path among the pipelines.
    pub fn source_path(&self) -> String {
        self.source.name().to_owned()
    }
}

/// All pipelines that can be named.
pub fn list_pipelines(overlay: &Overlay, named: impl Fn(&Source) -> Option<String>) -> Vec<ListedPipeline> {
    let listed = |(path, source, origin): (&str, &Source, &FileOrigin)| {
        let file = path.rsplit('/').next().unwrap_or(path);
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned();
        ListedPipeline { stem, name: named(source), source: source.clone(), origin: origin.clone() }
    };
    overlay.files().map(listed).collect()
}
