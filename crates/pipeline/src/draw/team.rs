//! The team of a drawn pipeline.

use crate::TeamWalker;

/// The team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnTeam {
    /// The names of the walkers, each with its answerers, if declared.
    pub walkers: Vec<(String, Vec<String>)>,
    /// The scheduler's path.
    pub scheduler: String,
}

impl DrawnTeam {
    pub(super) fn of(team: &crate::Team) -> Self {
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

    /// One line: `team: Herald via claude, Seeker; chosen by schedulers/affinity.rhai`.
    pub(super) fn summary(&self) -> String {
        let walker = |(name, via): &(String, Vec<String>)| {
            if via.is_empty() { name.clone() } else { format!("{name} via {}", via.join(" or ")) }
        };
        let walkers: Vec<String> = self.walkers.iter().map(walker).collect();
        format!("team: {}; chosen by {}", walkers.join(", "), self.scheduler)
    }
}
