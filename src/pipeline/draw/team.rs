//! Who may walk, as a picture says it.

use crate::pipeline::{self, TeamWalker};

/// Who may walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnTeam {
    /// The walkers' names, each with who answers what it is to answer, if it says.
    pub walkers: Vec<(String, Vec<String>)>,
    /// What chooses among them.
    pub scheduler: String,
}

impl DrawnTeam {
    pub(super) fn of(team: &pipeline::Team) -> Self {
        let walker = |walker: &TeamWalker| {
            let via = match walker {
                TeamWalker::Own(yaml) => yaml.get("via").and_then(|via| via.as_list()).unwrap_or_default(),
                TeamWalker::Persona(_) => &[],
            };
            let via = via.iter().filter_map(|name| name.as_text()).map(str::to_owned).collect();
            Some((walker.name()?.value, via))
        };
        Self { walkers: team.walkers.iter().filter_map(walker).collect(), scheduler: team.scheduler.value.clone() }
    }

    /// In a line: `team: Herald via claude, Seeker; chosen by schedulers/affinity.rhai`.
    pub(super) fn says(&self) -> String {
        let walker = |(name, via): &(String, Vec<String>)| {
            if via.is_empty() { name.clone() } else { format!("{name} via {}", via.join(" or ")) }
        };
        let walkers: Vec<String> = self.walkers.iter().map(walker).collect();
        format!("team: {}; chosen by {}", walkers.join(", "), self.scheduler)
    }
}
