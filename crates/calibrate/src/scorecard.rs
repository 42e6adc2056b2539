//! Scorecards: the metrics of a data file, with the functions that they name.

use asterisk_diag::{Diagnostic, Diagnostics, Source, did_you_mean};
use asterisk_form::yaml::{self, Yaml};
use asterisk_form::{FormReader, fill};
use asterisk_project::{Project, SCORECARD};
use asterisk_script::{FunctionRef, ScriptFunction};
use asterisk_session::SessionError;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Where scorecards are among the data files.
const SCORECARDS: &str = "scorecards/";

/// A scorecard with its functions.
#[derive(Clone, Debug)]
pub(super) struct Scorecard {
    pub(super) name: String,
    /// The name of the pipeline whose walks it scores.
    pub(super) pipeline: String,
    /// What metrics read of a walk.
    pub(super) result: ScriptFunction,
    /// The canned answers of a case.
    pub(super) answers: Option<ScriptFunction>,
    /// Whether a value passes.
    pub(super) pass: ScriptFunction,
    /// The metric that decides whether a case is right.
    pub(super) primary: usize,
    pub(super) metrics: Vec<ScorecardMetric>,
    pub(super) tables: Vec<ScorecardTable>,
    /// The tallies of metrics and tables, each once.
    pub(super) tallies: Vec<ScorecardTally>,
}

/// A metric with its functions.
#[derive(Clone, Debug)]
pub(super) struct ScorecardMetric {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) tier: String,
    /// Which values are good.
    pub(super) direction: String,
    /// The value that it is judged by.
    pub(super) threshold: Option<f64>,
    pub(super) weight: f64,
    pub(super) over: MetricOver,
    /// Its tally; `None` over metrics and runs.
    pub(super) tally: Option<usize>,
    pub(super) formula: ScriptFunction,
}

/// What a metric sums up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MetricOver {
    #[default]
    Cases,
    /// Results, also of cases that the scenario does not have.
    Results,
    /// Launches with several cases.
    Launches,
    Metrics,
    Runs,
}

/// A table with its functions.
#[derive(Clone, Debug)]
pub(super) struct ScorecardTable {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) columns: Vec<String>,
    /// The columns that make a matrix of it, if it is shown as one.
    pub(super) matrix: Vec<String>,
    /// The columns that make a curve of it, if it is drawn as one.
    pub(super) curve: Vec<String>,
    pub(super) tally: usize,
    pub(super) rows: ScriptFunction,
}

/// A tally: what a case, or a launch, adds.
#[derive(Clone, Debug)]
pub(super) struct ScorecardTally {
    pub(super) over: MetricOver,
    pub(super) function: ScriptFunction,
}

#[derive(Debug, Deserialize)]
struct WrittenScorecard {
    scorecard: String,
    pipeline: String,
    primary: String,
    result: String,
    answers: String,
    pass: String,
    metrics: Vec<WrittenMetric>,
    tables: Vec<WrittenTable>,
}

#[derive(Debug, Deserialize)]
struct WrittenMetric {
    id: String,
    name: String,
    tier: String,
    direction: String,
    threshold: f64,
    weight: f64,
    over: String,
    tally: String,
    formula: String,
}

#[derive(Debug, Deserialize)]
struct WrittenTable {
    id: String,
    title: String,
    columns: Vec<String>,
    matrix: Vec<String>,
    curve: Vec<String>,
    tally: String,
    rows: String,
}

impl Scorecard {
    /// The scorecard of that name (that of its file); without one, the first of the project's pipeline.
    pub(super) fn find(project: &Project, name: Option<&str>) -> Result<Self, SessionError> {
        let files = || project.sources.data.iter().filter_map(|source| Some((stem(source)?, source)));
        let pipeline = project.plan.pipeline.name.as_str();
        for (stem, source) in files() {
            match name {
                Some(name) if name != stem => {}
                Some(_) => return Self::read(project, source),
                None => {
                    let card = Self::read(project, source)?;
                    if card.pipeline == pipeline {
                        return Ok(card);
                    }
                }
            }
        }
        let known: Vec<&str> = files().map(|(stem, _)| stem).collect();
        let (message, help) = match name {
            Some(name) => (format!("unknown scorecard `{name}`"), did_you_mean(name, known)),
            None => (format!("no scorecard exists for the pipeline `{pipeline}`"), None),
        };
        let help = help.or_else(|| Some("scorecards are the files data/scorecards/NAME.yaml below the scripts".to_owned()));
        Err(SessionError::bad_request("scorecard/unknown", message, help))
    }

    fn read(project: &Project, source: &Source) -> Result<Self, SessionError> {
        let tree = yaml::parse(source).map_err(SessionError::Texts)?;
        let mut check: FormReader<'_> = FormReader::new(source, "scorecard");
        let mut value = check.file(&tree, &SCORECARD, None);
        check.finish().into_result(()).map_err(SessionError::Texts)?;
        fill(&mut value, &SCORECARD);
        let written: WrittenScorecard = serde_json::from_value(value).map_err(|error| {
            let error = Diagnostic::error("scorecard/form", format!("`{}` is not a scorecard: {error}", source.name()));
            SessionError::Texts(error.label(source, tree.head(source), "here").into())
        })?;
        let mut resolve = Resolve { project, source, found: Diagnostics::new(), tallies: Vec::new(), places: BTreeMap::new() };
        let card = resolve.card(written, &tree);
        resolve.found.into_result(()).map_err(SessionError::Texts)?;
        card.ok_or_else(|| SessionError::bad_request("scorecard/form", "the scorecard defines no functions", None))
    }
}

fn stem(source: &Source) -> Option<&str> {
    source.name().strip_prefix(SCORECARDS)?.strip_suffix(".yaml")
}

/// Finds the functions that a scorecard names, and collects what is wrong.
struct Resolve<'a> {
    project: &'a Project,
    source: &'a Source,
    found: Diagnostics,
    tallies: Vec<ScorecardTally>,
    places: BTreeMap<(String, MetricOver), usize>,
}

impl Resolve<'_> {
    fn card(&mut self, written: WrittenScorecard, tree: &Yaml) -> Option<Scorecard> {
        let result = self.function(&written.result, 2, tree, "result");
        let answers = if written.answers.is_empty() { None } else { self.function(&written.answers, 2, tree, "answers") };
        let pass = self.function(&written.pass, 3, tree, "pass");
        let items = |key: &str| tree.get(key).and_then(Yaml::as_list).unwrap_or_default();
        let primary = written.metrics.iter().position(|metric| metric.id == written.primary);
        if primary.is_none() {
            let message = format!("`primary` names an unknown metric: `{}`", written.primary);
            let help = did_you_mean(&written.primary, written.metrics.iter().map(|metric| metric.id.as_str()));
            self.wrong("scorecard/primary", message, tree, "primary", help);
        }
        let metrics: Vec<Option<ScorecardMetric>> =
            written.metrics.into_iter().zip(items("metrics")).map(|(metric, yaml)| self.metric(metric, yaml)).collect();
        let tables: Vec<Option<ScorecardTable>> =
            written.tables.into_iter().zip(items("tables")).map(|(table, yaml)| self.table(table, yaml)).collect();
        Some(Scorecard {
            name: written.scorecard,
            pipeline: written.pipeline,
            result: result?,
            answers,
            pass: pass?,
            primary: primary?,
            metrics: metrics.into_iter().collect::<Option<_>>()?,
            tables: tables.into_iter().collect::<Option<_>>()?,
            tallies: std::mem::take(&mut self.tallies),
        })
    }

    fn metric(&mut self, written: WrittenMetric, yaml: &Yaml) -> Option<ScorecardMetric> {
        let over = match written.over.as_str() {
            "results" => MetricOver::Results,
            "launches" => MetricOver::Launches,
            "metrics" => MetricOver::Metrics,
            "runs" => MetricOver::Runs,
            _ => MetricOver::Cases,
        };
        let tallied = !matches!(over, MetricOver::Metrics | MetricOver::Runs);
        if tallied == written.tally.is_empty() {
            let message = if tallied { "a metric needs a `tally`" } else { "a metric of metrics or runs cannot have a `tally`" };
            self.wrong("scorecard/tally", message.to_owned(), yaml, "tally", None);
        }
        let judged = written.direction != "shown";
        if judged && yaml.get("threshold").is_none() {
            let help = Some("add `threshold`, or set `direction: shown`".to_owned());
            self.wrong(
                "scorecard/threshold",
                "a metric with a direction needs a `threshold`".to_owned(),
                yaml,
                "direction",
                help,
            );
        }
        let tally = if tallied { Some(self.tally(&written.tally, over, yaml)?) } else { None };
        let formula = self.function(&written.formula, 1, yaml, "formula")?;
        Some(ScorecardMetric {
            id: written.id,
            name: written.name,
            tier: written.tier,
            direction: written.direction,
            threshold: judged.then_some(written.threshold),
            weight: written.weight,
            over,
            tally,
            formula,
        })
    }

    fn table(&mut self, written: WrittenTable, yaml: &Yaml) -> Option<ScorecardTable> {
        let tally = self.tally(&written.tally, MetricOver::Cases, yaml)?;
        let rows = self.function(&written.rows, 1, yaml, "rows")?;
        for (key, of) in [("matrix", &written.matrix), ("curve", &written.curve)] {
            if !of.is_empty() && (of.len() != 3 || of.iter().any(|column| !written.columns.contains(column))) {
                let message = format!("`{key}` must name three of the columns");
                self.wrong("scorecard/columns", message, yaml, key, Some(format!("the columns: {}", written.columns.join(", "))));
            }
        }
        let WrittenTable { id, title, columns, matrix, curve, .. } = written;
        Some(ScorecardTable { id, title, columns, matrix, curve, tally, rows })
    }

    fn tally(&mut self, reference: &str, over: MetricOver, yaml: &Yaml) -> Option<usize> {
        if let Some(place) = self.places.get(&(reference.to_owned(), over)) {
            return Some(*place);
        }
        let function = self.function(reference, 2, yaml, "tally")?;
        self.tallies.push(ScorecardTally { over, function });
        self.places.insert((reference.to_owned(), over), self.tallies.len() - 1);
        Some(self.tallies.len() - 1)
    }

    fn function(&mut self, reference: &str, arity: usize, yaml: &Yaml, key: &str) -> Option<ScriptFunction> {
        let function = FunctionRef::parse(reference).and_then(|reference| self.project.library.function(&reference, arity));
        match function {
            Ok(function) => Some(function),
            Err(error) => {
                let span = yaml.get(key).map_or_else(|| yaml.head(self.source), |value| value.span);
                self.found.push(error.label(self.source, span, "named here"));
                None
            }
        }
    }

    fn wrong(&mut self, code: &'static str, message: String, yaml: &Yaml, key: &str, help: Option<String>) {
        let span = yaml.get(key).map_or_else(|| yaml.head(self.source), |value| value.span);
        self.found.push(Diagnostic::error(code, message).label(self.source, span, "here").maybe_help(help));
    }
}
