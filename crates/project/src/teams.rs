//! Teams of the data file `teams`, for `--team`.

use asterisk_diag::{Diagnostic, Diagnostics, Source, did_you_mean};
use asterisk_form::yaml::{self, Yaml};
use asterisk_form::{Form, FormKey, ValueForm};
use asterisk_pipeline::{self as pipeline, Pipeline, TEAM};

/// The data file, and its only key.
const TEAMS: &str = "teams";

/// The form of `data/teams.yaml`.
pub(super) const TEAMS_FILE: Form = Form {
    what: "the file of teams",
    keys: &[FormKey::required(TEAMS, ValueForm::Entries(&ValueForm::Map(&TEAM)), "The teams, by name, for `--team`.")],
    ..Form::PLAIN
};

/// A minimal pipeline for a team, to check teams by themselves.
const BARE: &str =
    "pipeline: team\nnodes: [{ name: step }]\nedges: [{ id: end, from: step, to: _done }]\nstart: step\ndone: _done\n";

/// Each team of the data files by name, in a pipeline of one node. Errors of teams are found when they are linked.
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

/// Replaces the team of a pipeline.
pub(super) fn apply_team(pipeline: &mut Pipeline, name: &str, data: &[Source], found: &mut Diagnostics) {
    let source = source(data);
    // An unreadable one has been reported already.
    let tree = source.map(yaml::parse).transpose().ok().flatten();
    let teams = tree.as_ref().and_then(|tree| tree.get(TEAMS)?.as_map()).unwrap_or_default();
    if let (Some(source), Some(entry)) = (source, teams.iter().find(|entry| *entry.key == name)) {
        found.extend(pipeline.take_team(source, &entry.value));
        return;
    }
    let names: Vec<&str> = teams.iter().map(|entry| entry.key.value.as_str()).collect();
    let error = Diagnostic::error("project/unknown-team", format!("unknown team `{name}`"));
    let help = "define teams in `data/teams.yaml` of your scripts: `teams: { NAME: { walkers: [...], scheduler: ... } }`";
    found.push(error.help(did_you_mean(name, names).map_or_else(|| help.to_owned(), |known| format!("{known} ({help})"))));
}
