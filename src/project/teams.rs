//! A team from outside (`--team`), in the place of that of the pipeline: one of those that the data file `teams` has.

use crate::diag::{Diagnostic, Diagnostics, Source, did_you_mean};
use crate::form::yaml::{self, Yaml};
use crate::pipeline::{self, Pipeline};

/// The data file, and its one key.
const TEAMS: &str = "teams";

/// The least that a team can walk through, for looking at teams by themselves.
const BARE: &str =
    "pipeline: team\nnodes: [{ name: step }]\nedges: [{ id: end, from: step, to: _done }]\nstart: step\ndone: _done\n";

/// Each team of the data files by name, in a pipeline of one node. What is wrong with how they are written comes out when they are linked.
pub fn teams(data: &[Source]) -> Vec<(String, Pipeline)> {
    let Some(source) = source(data) else { return Vec::new() };
    let (Ok(tree), Ok(bare)) = (yaml::parse(source), pipeline::parse(&Source::new("a pipeline for teams", BARE))) else {
        return Vec::new();
    };
    let of = |(name, team): (&str, &Yaml)| {
        let mut pipeline = bare.clone();
        pipeline.take_team(source, team);
        (name.to_owned(), pipeline)
    };
    let teams = tree.get(TEAMS).and_then(Yaml::as_map).unwrap_or_default();
    teams.iter().map(|entry| of((&entry.key.value, &entry.value))).collect()
}

/// The data file.
fn source(data: &[Source]) -> Option<&Source> {
    data.iter().find(|source| source.name().rsplit_once('.').is_some_and(|(stem, _)| stem == TEAMS))
}

/// Gives a pipeline the team of that name.
pub(super) fn put_on(pipeline: &mut Pipeline, name: &str, data: &[Source], found: &mut Diagnostics) {
    let source = source(data);
    // One that cannot be read has been complained about.
    let tree = source.map(yaml::parse).transpose().ok().flatten();
    let teams = tree.as_ref().and_then(|tree| tree.get(TEAMS)?.as_map()).unwrap_or_default();
    if let (Some(source), Some(entry)) = (source, teams.iter().find(|entry| *entry.key == name)) {
        found.extend(pipeline.take_team(source, &entry.value));
        return;
    }
    let names: Vec<&str> = teams.iter().map(|entry| entry.key.value.as_str()).collect();
    let error = Diagnostic::error("project/unknown-team", format!("there is no team `{name}`"));
    let help =
        "teams of your own stand in `data/teams.yaml` of your scripts: `teams: { NAME: { walkers: [...], scheduler: ... } }`";
    found.push(error.help(did_you_mean(name, names).map_or_else(|| help.to_owned(), |known| format!("{known} ({help})"))));
}
