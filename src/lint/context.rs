//! What rules look at: everything that links, and what was found out about it.

use super::config::Config;
use super::input::CaseText;
use super::model::{Formula, Reasoner};
use crate::diag::Source;
use crate::form::yaml::Yaml;
use crate::pipeline::{Edge, EdgeCondition, EdgeIx, Pipeline};
use crate::project::{ExaminedFunction, condition_key};
use crate::prompt::Templates;
use crate::script::{Library, Unit};
use crate::session::ProjectText;

/// What rules look at.
pub(super) struct LintContext<'a> {
    /// All texts, those that do not parse among them.
    pub(super) texts: &'a [ProjectText],
    /// Levels and options.
    pub(super) config: &'a Config,
    /// The scripts that link.
    pub(super) library: &'a Library,
    /// All scripts that parse, those that do not link and tests among them.
    pub(super) units: Vec<&'a Unit>,
    /// The pipelines that can be read.
    pub(super) pipelines: Vec<LintedPipeline<'a>>,
    /// The teams that data files have, each in a pipeline of one node.
    pub(super) teams: Vec<LintedPipeline<'a>>,
    /// The templates that compile.
    pub(super) templates: &'a Templates,
    /// The data files, with what is in them.
    pub(super) data: &'a [(Source, Yaml)],
    /// The cases of the store, or of what was given.
    pub(super) cases: &'a [CaseText],
    /// Whether everything is linted, so that what nothing uses can be told.
    pub(super) whole: bool,
}

/// A pipeline with what was found out about it.
pub(super) struct LintedPipeline<'a> {
    /// The pipeline.
    pub(super) pipeline: &'a Pipeline,
    /// The functions that it names.
    pub(super) examined: Vec<ExaminedFunction<'a>>,
    /// When each edge fires, as far as that can be told.
    pub(super) fires: Vec<Formula>,
}

impl<'a> LintedPipeline<'a> {
    /// Finds out when the edges fire.
    pub(super) fn new(pipeline: &'a Pipeline, examined: Vec<ExaminedFunction<'a>>) -> Self {
        let mut reasoner = Reasoner::new(pipeline);
        let fires = (0..pipeline.edges.len()).map(|at| {
            if pipeline.edges[at].when == EdgeCondition::Always {
                return Formula::True;
            }
            let place = crate::project::FunctionUse::Edge(EdgeIx(at));
            let known = examined.iter().find(|one| one.place == place);
            match known {
                Some(one) => reasoner.fires(one),
                None => reasoner.unknown(),
            }
        });
        let fires = fires.collect();
        Self { pipeline, examined, fires }
    }

    /// Whether every edge that has a condition has one that can be looked at.
    pub(super) fn is_complete(&self) -> bool {
        let decided = |(at, edge): (usize, &Edge)| edge.when == EdgeCondition::Always || self.rule(EdgeIx(at)).is_some();
        self.pipeline.edges.iter().enumerate().all(decided)
    }

    /// The function that decides an edge.
    pub(super) fn rule(&self, edge: EdgeIx) -> Option<&ExaminedFunction<'a>> {
        self.examined.iter().find(|one| one.place == crate::project::FunctionUse::Edge(edge))
    }
}

impl<'a> LintContext<'a> {
    /// The functions that pipelines and teams name.
    pub(super) fn examined(&self) -> impl Iterator<Item = &ExaminedFunction<'a>> {
        self.pipelines.iter().chain(&self.teams).flat_map(|pipe| &pipe.examined)
    }

    /// Whether a text or pattern has something of one case in it: a number, or a word that is in the name of its test and in no
    /// other case.
    pub(super) fn is_of(&self, text: &str, case: &CaseText) -> bool {
        // What a pattern says of how often is no number of the case.
        let plain: String = text
            .split('{')
            .enumerate()
            .map(|(at, part)| if at == 0 { part } else { part.split_once('}').map_or(part, |(_, rest)| rest) })
            .collect();
        let plain = plain.replace("\\d", " ").to_lowercase();
        if plain.as_bytes().windows(4).any(|four| four.iter().all(u8::is_ascii_digit)) {
            return true;
        }
        let name = case.text.lines().next().unwrap_or_default();
        let words = plain.split(|c: char| !c.is_alphabetic()).filter(|word| word.chars().count() >= 5 && name.contains(word));
        let mut words = words.filter(|word| self.cases.iter().filter(|other| other.text.contains(word)).count() == 1);
        words.next().is_some()
    }

    /// The condition of an edge.
    pub(super) fn condition(library: &'a Library, pipeline: &Source, edge: &str) -> Option<&'a Unit> {
        let key = condition_key(Some(pipeline.name()), edge);
        library.conditions().find(|unit| unit.name() == key)
    }
}
