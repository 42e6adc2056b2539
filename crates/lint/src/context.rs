//! The input of lint rules: everything that links, with the results of its analysis.

use super::config::Config;
use super::input::CaseText;
use super::model::{Formula, Reasoner};
use asterisk_base::model::Hash;
use asterisk_diag::Source;
use asterisk_form::yaml::Yaml;
use asterisk_pipeline::{Edge, EdgeCondition, EdgeIx, Pipeline};
use asterisk_project::domain::Domain;
use asterisk_project::{ExaminedFunction, condition_key};
use asterisk_prompt::Templates;
use asterisk_script::{Library, Pattern, Unit};
use asterisk_session::ProjectText;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The input of lint rules.
pub(super) struct LintContext<'a> {
    /// All texts, including those that do not parse.
    pub(super) texts: &'a [ProjectText],
    /// Levels and options.
    pub(super) config: &'a Config,
    /// The scripts that link.
    pub(super) library: &'a Library,
    /// All scripts that parse, including tests and those that do not link.
    pub(super) units: Vec<&'a Unit>,
    /// The pipelines that parse.
    pub(super) pipelines: Vec<LintedPipeline<'a>>,
    /// The teams of data files, each in a pipeline of one node.
    pub(super) teams: Vec<LintedPipeline<'a>>,
    /// The templates that compile.
    pub(super) templates: &'a Templates,
    /// The parsed data files.
    pub(super) data: &'a [(Source, Yaml)],
    /// The domains that link.
    pub(super) domains: &'a [Domain],
    /// The cases of the store, or those given.
    pub(super) cases: &'a [CaseText],
    /// Whether the whole project is linted, so that unused items can be detected.
    pub(super) whole: bool,
    /// The examples of signatures that matched.
    pub(super) examples: ExampleCache<'a>,
}

/// Whether each example of a signature matches, by signature and examples. Compiling the patterns takes most of the time of linting, so
/// those of the run before are taken over.
#[derive(Debug, Default)]
pub(super) struct ExampleCache<'a> {
    pub(super) before: Option<&'a ExampleResults>,
    pub(super) now: Mutex<ExampleResults>,
}

/// The results of [`ExampleCache`], by what they are of.
pub(super) type ExampleResults = BTreeMap<Hash, Arc<[bool]>>;

impl ExampleCache<'_> {
    /// The results of these examples.
    pub(super) fn get(&self, of: Hash, matched: impl FnOnce() -> Vec<bool>) -> Arc<[bool]> {
        let known = self.before.and_then(|before| before.get(&of)).cloned();
        let found = known.unwrap_or_else(|| matched().into());
        self.now.lock().unwrap_or_else(PoisonError::into_inner).insert(of, found.clone());
        found
    }
}

/// A pipeline with the results of its analysis.
pub(super) struct LintedPipeline<'a> {
    pub(super) pipeline: &'a Pipeline,
    /// The functions it references.
    pub(super) examined: Vec<ExaminedFunction<'a>>,
    /// The condition under which each edge fires, as far as it is known.
    pub(super) fires: Vec<Formula>,
}

impl<'a> LintedPipeline<'a> {
    /// Derives the conditions under which the edges fire.
    pub(super) fn new(pipeline: &'a Pipeline, examined: Vec<ExaminedFunction<'a>>) -> Self {
        let mut reasoner = Reasoner::new(pipeline);
        let fires = (0..pipeline.edges.len()).map(|at| {
            if pipeline.edges[at].when == EdgeCondition::Always {
                return Formula::True;
            }
            let place = asterisk_project::FunctionUse::Edge(EdgeIx(at));
            let known = examined.iter().find(|one| one.place == place);
            match known {
                Some(one) => reasoner.fires(one),
                None => reasoner.unknown(),
            }
        });
        let fires = fires.collect();
        Self { pipeline, examined, fires }
    }

    /// Whether the condition of every conditional edge has been analysed.
    pub(super) fn is_complete(&self) -> bool {
        let decided = |(at, edge): (usize, &Edge)| edge.when == EdgeCondition::Always || self.rule(EdgeIx(at)).is_some();
        self.pipeline.edges.iter().enumerate().all(decided)
    }

    /// The rule of an edge.
    pub(super) fn rule(&self, edge: EdgeIx) -> Option<&ExaminedFunction<'a>> {
        self.examined.iter().find(|one| one.place == asterisk_project::FunctionUse::Edge(edge))
    }
}

impl<'a> LintContext<'a> {
    /// The functions referenced by pipelines and teams.
    pub(super) fn examined(&self) -> impl Iterator<Item = &ExaminedFunction<'a>> {
        self.pipelines.iter().chain(&self.teams).flat_map(|pipe| &pipe.examined)
    }

    /// The only case that a pattern matches; `None` if a match can be shorter than `least` bytes.
    pub(super) fn only_case(&self, pattern: &str, least: usize) -> Option<&CaseText> {
        let read = Pattern::read(pattern).ok().filter(|read| read.shortest() >= least)?;
        // Most patterns match no case; their prefixes show it without compiling them.
        let prefixes = read.prefixes();
        if !self.cases.iter().any(|case| prefixes.may_match_in(&case.text)) {
            return None;
        }
        match Pattern::matched(pattern, self.cases.iter().map(|case| case.text.as_str()))[..] {
            [only] => self.cases.get(only),
            _ => None,
        }
    }

    /// Whether a string or pattern contains something specific to one case: a number, or a word that occurs in the name of its
    /// test and in no other case.
    pub(super) fn is_of(&self, text: &str, case: &CaseText) -> bool {
        // Repetition counts are not numbers of the case.
        let plain: String = text
            .split('{')
            .enumerate()
            .map(|(at, part)| if at == 0 { part } else { part.split_once('}').map_or(part, |(_, rest)| rest) })
            .collect();
        let plain = without_classes(&plain).to_lowercase();
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

/// Replaces the escaped letters of a pattern by spaces: classes and anchors (`\d`, `\b`) are not part of a text.
fn without_classes(pattern: &str) -> String {
    let mut plain = String::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.next_if(char::is_ascii_alphabetic).is_some() => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_letters_are_not_part_of_a_text() {
        assert_eq!(without_classes(r"\bledger-\d+\.example\b"), r" ledger- +\.example ");
    }
}
