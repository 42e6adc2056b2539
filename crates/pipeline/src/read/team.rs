//! `team:`: the walkers, the scheduler and the maximum number of steps.

use crate::graph::{DEFAULT_MAX_STEPS, Pipeline, TEAM_MAX_STEPS, Team, TeamWalker};
use crate::keys::TEAM;
use asterisk_diag::{Diagnostics, Source};
use asterisk_form::yaml::{Yaml, YamlKind, YamlReader};
use asterisk_form::{FormFields, FormReader, Spanned};

/// Reads the value of `team:`.
pub(super) fn team(reader: &mut YamlReader<'_>, yaml: &Yaml) -> Option<Team> {
    let fields = FormFields::of(yaml, &TEAM)?;
    let span = yaml.head(reader.source());
    let list = match fields.present("walkers") {
        None => {
            let at = fields.value("walkers").map_or(span, |yaml| yaml.span);
            no_walkers(reader, at);
            return None;
        }
        Some(yaml) => {
            let list = yaml.as_list()?;
            if list.is_empty() {
                no_walkers(reader, yaml.span);
                return None;
            }
            list
        }
    };
    let walker = |item: &Yaml| match &item.kind {
        YamlKind::Map(_) => Some(TeamWalker::Own(item.clone())),
        _ => item.text().map(TeamWalker::Persona),
    };
    let walkers = list.iter().filter_map(walker).collect();
    Some(Team { walkers, scheduler: fields.text("scheduler")?, source: reader.source().clone(), span })
}

impl Pipeline {
    /// Replaces the team of the pipeline by another, in the format of `team:`. The maximum number of steps becomes that of the
    /// new team if it has one; if neither file has one, the default for teams.
    pub fn take_team(&mut self, source: &Source, yaml: &Yaml) -> Diagnostics {
        let mut check: FormReader<'_> = FormReader::new(source, "data");
        check.part(yaml, &TEAM, "`team`");
        self.team = team(&mut check.reader, yaml);
        match FormFields::of(yaml, &TEAM) {
            Some(fields) if fields.value("max_steps").is_some() => {
                if let Some(steps) = fields.whole("max_steps") {
                    self.max_steps = u64::try_from(steps).ok().filter(|steps| *steps > 0);
                }
            }
            _ if self.max_steps == Some(DEFAULT_MAX_STEPS) => self.max_steps = Some(TEAM_MAX_STEPS),
            _ => {}
        }
        check.finish()
    }
}

fn no_walkers(reader: &mut YamlReader<'_>, span: asterisk_diag::Span) {
    let error = reader.error("no-walkers", "the team needs walkers", span, "without walkers");
    reader.push(error.help("name personas (`asterisk show personas`), or define walkers: `walkers: [Herald, { name: Scout }]`"));
}

/// The maximum number of steps, given by the team or the pipeline, but not both.
pub(super) fn max_steps(reader: &mut YamlReader<'_>, fields: FormFields<'_>) -> Option<u64> {
    let team = fields.map("team", &TEAM);
    let of_team = team.and_then(|team| team.value("max_steps"));
    let own = fields.value("max_steps");
    if let (Some(own), Some(team)) = (own, of_team) {
        let error = reader.error("max-steps-twice", "`max_steps` is given twice", team.span, "again here");
        let error = error.label(reader.source(), own.span, "first here");
        reader.push(error.help("remove one of them: they mean the same"));
    }
    let usual = if fields.present("team").is_some() { TEAM_MAX_STEPS } else { DEFAULT_MAX_STEPS };
    if own.or(of_team).is_none() {
        return Some(usual);
    }
    let steps = if own.is_some() { fields.whole("max_steps") } else { team.and_then(|team| team.whole("max_steps")) }?;
    u64::try_from(steps).ok().filter(|steps| *steps > 0)
}

impl TeamWalker {
    /// The name and its span; `None` for a walker without a name, which has been reported.
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
