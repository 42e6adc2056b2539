//! `team:`: who may walk, who chooses among them, and for how many steps.

use super::Spanned;
use super::graph::{DEFAULT_MAX_STEPS, Pipeline, Team, TeamWalker};
use super::read::{LATER, missing, present, required_text, value};
use super::yaml::{Yaml, YamlFields, YamlKind, YamlReader};
use crate::diag::{Diagnostics, Source};

pub(super) const KEYS: &[&str] = &["walkers", "scheduler", "max_steps"];

/// The steps a walk of a team may take when the pipeline does not say (`decisions.md` 14).
pub const TEAM_MAX_STEPS: u64 = 64;

/// Reads `team:`.
pub(super) fn team(reader: &mut YamlReader<'_>, fields: YamlFields<'_>) -> Option<Team> {
    read(reader, present(fields, "team")?)
}

/// Reads what `team:` holds.
fn read(reader: &mut YamlReader<'_>, yaml: &Yaml) -> Option<Team> {
    let span = yaml.head(reader.source());
    let fields = reader.map(yaml, "`team`")?;
    reader.known_keys(fields, "`team`", KEYS, LATER);
    let scheduler = match value(fields, "scheduler") {
        None => missing(reader, fields, "scheduler", "missing-key", "`team` has no `scheduler`"),
        Some(yaml) => required_text(reader, yaml, "`scheduler` of `team`", "missing-key", "`scheduler` of `team` is empty"),
    };
    let list = match present(fields, "walkers") {
        None => {
            let at = value(fields, "walkers").map_or(span, |yaml| yaml.span);
            no_walkers(reader, at);
            return None;
        }
        Some(yaml) => {
            let list = reader.list(yaml, "`walkers` of `team`")?;
            if list.is_empty() {
                no_walkers(reader, yaml.span);
                return None;
            }
            list
        }
    };
    let mut walkers = Vec::with_capacity(list.len());
    for item in list {
        match &item.kind {
            YamlKind::Map(_) => walkers.push(TeamWalker::Own(item.clone())),
            _ => walkers.extend(reader.text(item, "a walker of `team`").map(TeamWalker::Persona)),
        }
    }
    Some(Team { walkers, scheduler: scheduler?, source: reader.source().clone(), span })
}

impl Pipeline {
    /// Puts the team that stands there, as `team:` has one, in the place of its own. The cap of steps is that team's if it has one; where
    /// nobody gives one, that of walks of a team.
    pub fn take_team(&mut self, source: &Source, yaml: &Yaml) -> Diagnostics {
        let mut reader = YamlReader::new(source, "data");
        self.team = read(&mut reader, yaml);
        match yaml.get("max_steps") {
            Some(steps) => {
                if let Some(steps) = reader.int(steps, "`max_steps`", &(0..=i64::MAX)) {
                    self.max_steps = u64::try_from(steps).ok().filter(|steps| *steps > 0);
                }
            }
            None if self.max_steps == Some(DEFAULT_MAX_STEPS) => self.max_steps = Some(TEAM_MAX_STEPS),
            None => {}
        }
        reader.finish()
    }
}

fn no_walkers(reader: &mut YamlReader<'_>, span: crate::diag::Span) {
    let error = reader.error("no-walkers", "the team has no walkers", span, "nobody could walk");
    reader.push(
        error.help(
            "name personas (`asterisk show personas`), or describe walkers of your own: `walkers: [Herald, { name: Scout }]`",
        ),
    );
}

/// The cap of steps: the team's or the pipeline's, but not both.
pub(super) fn max_steps(reader: &mut YamlReader<'_>, fields: YamlFields<'_>) -> Option<u64> {
    let team = present(fields, "team").and_then(|yaml| yaml.get("max_steps"));
    let own = value(fields, "max_steps");
    if let (Some(own), Some(team)) = (own, team) {
        let error = reader.error("max-steps-twice", "`max_steps` is given twice", team.span, "again here");
        let error = error.label(reader.source(), own.span, "first here");
        reader.push(error.help("leave one of them out: they mean the same"));
    }
    let usual = if present(fields, "team").is_some() { TEAM_MAX_STEPS } else { DEFAULT_MAX_STEPS };
    let Some(yaml) = own.or(team) else { return Some(usual) };
    let steps = reader.int(yaml, "`max_steps`", &(0..=i64::MAX))?;
    u64::try_from(steps).ok().filter(|steps| *steps > 0)
}

impl TeamWalker {
    /// What it is called, and where; nothing of a walker that has no name, of which it has been said.
    pub fn name(&self) -> Option<Spanned<String>> {
        match self {
            Self::Persona(name) => Some(name.clone()),
            Self::Own(yaml) => {
                let name = yaml.get("name")?;
                Some(Spanned::new(name.as_text()?.to_owned(), name.span))
            }
        }
    }
}
