//! Gates for CI: expressions over the figures of a report that fail a run.

use super::build::RunReport;
use super::causes::Cause;
use super::timeline::CauseState;
use asterisk_base::model::{Field, Kind, Shape};
use asterisk_diag::{Diagnostic, Diagnostics, MappedText, Severity, Source, Span};
use asterisk_script::check::CheckedParameter;
use asterisk_script::{Condition, Library, LibraryInputs, RuleOutcome, ScriptFunction, View};
use asterisk_walk::{Plan, WalkStatus, input};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The key of a gate's condition.
const KEY: &str = "fail-on";

/// A figure that is one number: its name, whether it is a count, and its meaning.
type Figure = (&'static str, bool, &'static str);

/// The figures of a report that gates may use.
pub const FIGURES: &[Figure] = &[
    ("failures", true, "failures of the launch that were analysed"),
    ("causes", true, "their causes"),
    ("new_causes", true, "causes that no earlier launch has; of a dry run, all"),
    ("regressions", true, "causes that were gone or resolved, now back"),
    ("recurring", true, "causes that the previous launch has too"),
    ("flaky", true, "causes whose tests fail and pass without a change"),
    ("undecided", true, "failures whose defect is not decided"),
    ("undecided_share", false, "their share of all failures, 0 to 1"),
    ("lowest_confidence", false, "the lowest confidence of a failure whose defect is decided; 1 without any"),
    ("needs_review", true, "failures that need review"),
    ("failed", true, "failures whose walk failed"),
    ("unfinished", true, "failures whose walk is not finished"),
    ("gaps", true, "places where the launch is incomplete"),
    ("failed_rules", true, "verdict and root rules that failed in a case and were ignored"),
];

/// The figures by a word of the domain: the name, the list of the domain, and their meaning.
pub const FIGURES_BY_WORD: &[(&str, &str, &str)] = &[
    ("by_defect", "defects", "failures of each defect type, as `by_defect.CODE`"),
    ("by_category", "categories", "failures of each category, as `by_category.NAME`"),
    ("new_by_defect", "defects", "new causes of each defect type, as `new_by_defect.CODE`"),
    ("causes_by_defect", "defects", "causes of each defect type, as `causes_by_defect.CODE`"),
];

/// A compiled gate.
#[derive(Debug)]
pub struct Gate {
    text: String,
    function: ScriptFunction,
    /// The figures that it reads.
    reads: Vec<String>,
}

impl Gate {
    /// Compiles an expression; errors are labelled in it.
    pub fn compile(expression: &str, plan: &Plan) -> Result<Self, Diagnostics> {
        let source = Source::new("--fail-on", expression);
        let length = expression.len();
        let text = MappedText::new(expression, (0..length).collect(), source, Span::new(0, length));
        let shape = figures_shape(plan);
        let inputs = LibraryInputs {
            conditions: vec![Condition { key: KEY.to_owned(), text, locals: Vec::new() }],
            fields: shape.fields.iter().map(|field| field.name.clone()).collect(),
            ..LibraryInputs::default()
        };
        let library = Library::link(inputs, None)?;
        let Some(function) = library.condition(KEY) else {
            return Err(Diagnostic::error("gate/empty", "the gate has no expression").into());
        };
        let kinds = [("artifact", Kind::Object(shape)), ("state", Kind::Any), ("vars", Kind::Any)];
        let parameters: Vec<CheckedParameter<'_>> = kinds.iter().map(|(name, kind)| CheckedParameter { name, kind }).collect();
        let analysis = library.check(&function, &parameters);
        let reads = analysis.reads.iter().map(|read| read.path.clone()).collect();
        let wrong: Diagnostics = analysis.diagnostics.into_iter().filter(|found| found.severity == Severity::Error).collect();
        wrong.into_result(Self { text: expression.to_owned(), function, reads })
    }

    /// Why a report fails the gate; `None` if it passes.
    pub fn failure(&self, report: &RunReport, plan: &Plan) -> Result<Option<String>, Diagnostics> {
        let figures = View::of(&figures(report, plan), &Kind::Object(figures_shape(plan)), "figures");
        let null = View::null();
        let outcome = self.function.decide(&figures, &null, plan.vars()).map_err(|error| Diagnostics::from(*error))?;
        if outcome == RuleOutcome::No {
            return Ok(None);
        }
        let mut values: Vec<String> = Vec::new();
        for read in &self.reads {
            let Some((path, value)) = input(read, &figures, &null, plan.vars()) else { continue };
            let said = format!("{} {}", path.strip_prefix("artifact.").unwrap_or(path), value.canonical());
            if !values.contains(&said) {
                values.push(said);
            }
        }
        Ok(Some(format!("{} ({})", self.text, values.join(", "))))
    }
}

/// The words of a list of the domain.
fn words(plan: &Plan, list: &str) -> Vec<String> {
    let list = plan.taxonomy.view().map(|taxonomy| taxonomy.json()[list].take());
    list.as_ref().and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned().collect()
}

fn figures_shape(plan: &Plan) -> Arc<Shape> {
    let count = Kind::Int { min: None, max: None };
    let field = |name: &str, kind: Kind| Field { name: name.to_owned(), kind, required: false };
    let kind = |is_count: bool| if is_count { count.clone() } else { Kind::Number { min: None, max: None } };
    let mut fields: Vec<Field> = FIGURES.iter().map(|(name, is_count, _)| field(name, kind(*is_count))).collect();
    fields.extend(FIGURES_BY_WORD.iter().map(|(name, list, _)| {
        let shape = Shape {
            name: (*name).to_owned(),
            fields: words(plan, list).iter().map(|word| field(word, count.clone())).collect(),
            sparse: false,
        };
        field(name, Kind::Object(Arc::new(shape)))
    }));
    Arc::new(Shape { name: "figures of a report".to_owned(), fields, sparse: false })
}

/// The figures of a report.
fn figures(report: &RunReport, plan: &Plan) -> Value {
    let defects = plan.taxonomy.view().map(|taxonomy| taxonomy.json()["defects"].take()).unwrap_or_default();
    let is_decided = |code: &str| defects.get(code).is_some_and(|defect| defect["undecided"] != json!(true));
    let state = |wanted: CauseState| report.causes.iter().filter(|cause| cause.seen.state == Some(wanted)).count();
    let undecided = report.cases.iter().filter(|case| !is_decided(&case.defect_type)).count();
    let lowest = report.cases.iter().filter(|case| is_decided(&case.defect_type)).filter_map(|case| case.confidence);
    let unfinished = report.cases.iter().filter(|case| matches!(case.status, WalkStatus::Running | WalkStatus::Paused)).count();
    #[allow(clippy::cast_precision_loss)]
    let share = if report.cases.is_empty() { 0.0 } else { undecided as f64 / report.cases.len() as f64 };
    // Only words of the domain: others are not figures.
    let tally = |list: &str, found: &mut dyn Iterator<Item = String>| {
        let mut counts: Map<String, Value> = words(plan, list).into_iter().map(|word| (word, json!(0))).collect();
        for word in found {
            if let Some(count) = counts.get_mut(&word) {
                *count = json!(count.as_u64().unwrap_or_default() + 1);
            }
        }
        Value::Object(counts)
    };
    let causes = || report.causes.iter().map(|cause| cause.finding.defect_type.clone());
    // Without the store nothing is known of earlier launches.
    let is_new = |cause: &&Cause| cause.seen.state == Some(CauseState::New) || report.regression.is_none();
    let new = report.causes.iter().filter(is_new);
    json!({
        "failures": report.cases.len(),
        "causes": report.causes.len(),
        "new_causes": new.clone().count(),
        "regressions": state(CauseState::Regression),
        "recurring": state(CauseState::Recurring),
        "flaky": state(CauseState::Flaky),
        "undecided": undecided,
        "undecided_share": share,
        "lowest_confidence": lowest.fold(1.0, f64::min),
        "needs_review": report.totals.needs_review,
        "failed": report.totals.error,
        "unfinished": unfinished,
        "gaps": report.launch.gaps.len(),
        "failed_rules": report.failed_rules.len(),
        "by_defect": tally("defects", &mut report.cases.iter().map(|case| case.defect_type.to_string())),
        "by_category": tally("categories", &mut report.cases.iter().map(|case| case.category.to_string())),
        "new_by_defect": tally("defects", &mut new.map(|cause| cause.finding.defect_type.clone())),
        "causes_by_defect": tally("defects", &mut causes()),
    })
}
