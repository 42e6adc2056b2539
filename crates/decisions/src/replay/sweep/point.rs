//! The points of a sweep: what each value of the var would have decided.

use super::super::base::ReplayProject;
use super::super::pass::{ReplayPass, ReplayedVerdict};
use super::super::replay_walk::ReplayOutcome;
use super::super::run::{ReplaySpec, each_run, words};
use super::values::SweptVar;
use asterisk_session::{Session, SessionError};
use asterisk_walk::Plan;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// The result of a sweep.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SweepReport {
    /// The var's name.
    pub var: String,
    /// The current value; null if it differs between the runs.
    pub current: Value,
    /// The runs; empty for a scenario.
    pub runs: Vec<String>,
    /// The number of cases.
    pub cases: usize,
    /// One per value, in the order of the values.
    pub points: Vec<SweepPoint>,
    /// Ranges of consecutive values with the same decisions.
    pub plateaus: Vec<Plateau>,
    /// Runs that cannot be replayed, each with the reason.
    #[serde(skip)]
    pub left_out: Vec<(String, String)>,
}

/// The decisions for one value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SweepPoint {
    pub value: Value,
    /// Whether it is the current value.
    pub current: bool,
    /// The number of decisions.
    pub decisions: usize,
    /// The number that differ from the record; for a scenario, from those with the current value.
    pub flips: usize,
    /// The number of verdicts that name another defect than the record.
    pub verdicts: usize,
    /// The number of cases whose outcome is unknown from some step on.
    pub unknown: usize,
    /// How many decisions take each edge.
    pub edges: BTreeMap<String, usize>,
    /// A hash of the decisions, equal for equal decisions.
    #[serde(skip)]
    signature: u64,
}

/// A range of consecutive values with the same decisions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Plateau {
    /// The first value.
    pub from: Value,
    /// The last value.
    pub to: Value,
    /// The number of values.
    pub values: usize,
    /// Whether the current value is among them.
    pub current: bool,
}

/// A point while its decisions are counted.
#[derive(Clone, Debug, Default)]
pub(super) struct PointCount {
    decisions: usize,
    flips: usize,
    verdicts: usize,
    unknown: usize,
    edges: BTreeMap<String, usize>,
    hasher: DefaultHasher,
}

/// What a case adds to a point.
#[derive(Clone, Debug, Default)]
pub(super) struct PointTally {
    pub(super) flips: usize,
    /// The defect of a verdict that is another one now.
    pub(super) verdict: Option<String>,
    pub(super) unknown: bool,
    /// The edges taken, with their targets.
    pub(super) taken: Vec<(String, Option<String>)>,
}

impl PointCount {
    pub(super) fn add(&mut self, tally: PointTally) {
        self.decisions += tally.taken.len();
        self.flips += tally.flips;
        self.verdicts += usize::from(tally.verdict.is_some());
        self.unknown += usize::from(tally.unknown);
        (tally.taken.len(), &tally.taken, &tally.verdict, tally.unknown).hash(&mut self.hasher);
        for (edge, _) in tally.taken {
            *self.edges.entry(edge).or_default() += 1;
        }
    }
}

impl PointTally {
    /// The tally of a replayed case.
    pub(super) fn of(walk: &ReplayOutcome) -> Self {
        let taken = walk.decisions.iter().filter(|decision| decision.place.is_some()).map(|decision| {
            let (edge, to, _) = words(&decision.now);
            (edge, to)
        });
        let flips = walk.decisions.iter().filter(|decision| decision.flipped()).count();
        Self { flips, verdict: None, unknown: walk.unknown.is_some(), taken: taken.collect() }
    }
}

impl SweepReport {
    pub(super) fn new(var: &SweptVar, current: Value, counts: Vec<PointCount>) -> Self {
        let mut swept = Self { var: var.name.clone(), current, ..Self::default() };
        for (value, count) in var.values.iter().zip(counts) {
            let PointCount { decisions, flips, verdicts, unknown, edges, hasher } = count;
            let (value, current) = (value.clone(), equal(value, &swept.current));
            swept.points.push(SweepPoint {
                value,
                current,
                decisions,
                flips,
                verdicts,
                unknown,
                edges,
                signature: hasher.finish(),
            });
        }
        swept.plateaus = plateaus(&swept.points);
        swept
    }

    /// The edges whose counts vary with the value, those that vary most first.
    pub fn moving(&self) -> Vec<&str> {
        let mut spread: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let names = self.points.iter().flat_map(|point| point.edges.keys()).map(String::as_str);
        for name in names {
            spread.entry(name).or_insert_with(|| {
                let counts = self.points.iter().map(|point| point.edges.get(name).copied().unwrap_or(0));
                counts.fold((usize::MAX, 0), |(least, most), count| (least.min(count), most.max(count)))
            });
        }
        let mut moving: Vec<(&str, usize)> = spread.into_iter().map(|(name, (least, most))| (name, most - least)).collect();
        moving.retain(|(_, spread)| *spread > 0);
        moving.sort_by_key(|(_, spread)| std::cmp::Reverse(*spread));
        moving.into_iter().map(|(name, _)| name).collect()
    }
}

fn plateaus(points: &[SweepPoint]) -> Vec<Plateau> {
    let alike = points.chunk_by(|a, b| a.signature == b.signature);
    let plateau = |points: &[SweepPoint]| {
        let (from, to) = (points.first()?.value.clone(), points.last()?.value.clone());
        Some(Plateau { from, to, values: points.len(), current: points.iter().any(|point| point.current) })
    };
    alike.filter_map(plateau).collect()
}

/// Whether two values are equal, with numbers compared numerically.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.total_cmp(&b).is_eq() || (a - b).abs() == 0.0,
        _ => a == b,
    }
}

impl SweptVar {
    /// Inserts the current value in order, if it lies between the others.
    pub(super) fn with(mut self, current: &Value) -> Self {
        let known = self.values.iter().any(|value| equal(value, current));
        if let (false, Some(now)) = (known, current.as_f64()) {
            let after = self.values.iter().position(|value| value.as_f64().is_some_and(|value| value > now));
            if let Some(at) = after.filter(|at| *at > 0) {
                self.values.insert(at, current.clone());
            }
        }
        self
    }

    /// A plan for each value.
    pub(super) fn plans(&self, base: &ReplayProject) -> Result<Vec<Arc<Plan>>, SessionError> {
        let plan = |value: &Value| Ok(base.project.plan_with(&Map::from_iter([(self.name.clone(), value.clone())]))?);
        self.values.iter().map(plan).collect()
    }
}

/// Sweeps a var over past runs: each case is read once and replayed with every value.
pub(super) fn sweep_var(session: &Session, spec: &ReplaySpec, var: SweptVar) -> Result<SweepReport, SessionError> {
    let mut left_out = Vec::new();
    let mut found: Option<(SweptVar, Value, Vec<PointCount>)> = None;
    let (mut cases, mut runs) = (0, Vec::new());
    each_run(session, spec, &mut left_out, |record, run, base, then| {
        var.check(&base.project.plan).map_err(SessionError::BadRequest)?;
        let now = base.project.plan.var(&var.name).cloned().unwrap_or_default();
        let (var, current, counts) = found.get_or_insert_with(|| {
            let var = var.clone().with(&now);
            let counts = vec![PointCount::default(); var.values.len()];
            (var, now.clone(), counts)
        });
        if !equal(current, &now) {
            *current = Value::Null;
        }
        let plans = var.plans(base)?;
        let pass = ReplayPass::new((record, run), (base, then), &plans, spec.parallel);
        let tally = |(walk, verdict): (&ReplayOutcome, &Option<ReplayedVerdict>)| {
            let changed = verdict.as_ref().and_then(|made| Some((made.now.as_ref()?, &made.before)));
            let verdict = changed.filter(|(now, before)| now.defect != before.defect).map(|(now, _)| now.defect.to_string());
            PointTally { verdict, ..PointTally::of(walk) }
        };
        cases += pass.cases(
            |passed| passed.walks.iter().zip(&passed.verdicts).map(tally).collect::<Vec<_>>(),
            |tallies| counts.iter_mut().zip(tallies).for_each(|(count, tally)| count.add(tally)),
        )?;
        runs.push(run.to_owned());
        Ok(())
    })?;
    let (var, current, counts) = found.unwrap_or_else(|| (var, Value::Null, Vec::new()));
    Ok(SweepReport { runs, cases, left_out, ..SweepReport::new(&var, current, counts) })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// A sweep over these values, of which the first two decide alike.
    pub(in super::super) fn swept(values: &[Value]) -> SweepReport {
        let var = SweptVar { name: "v".into(), values: values.to_vec() };
        let count = |at: usize| {
            let mut count = PointCount::default();
            let edge = if at < 2 { "A" } else { "B" };
            count.add(PointTally {
                flips: usize::from(at > 1),
                verdict: None,
                unknown: at > 1,
                taken: vec![(edge.into(), Some("n".into()))],
            });
            count.add(PointTally { flips: 0, verdict: None, unknown: false, taken: vec![("C".into(), None)] });
            count
        };
        SweepReport::new(&var, json!(0.7), (0..values.len()).map(count).collect())
    }

    #[test]
    fn consecutive_values_with_equal_decisions_are_a_plateau() {
        let swept = swept(&[json!(0.5), json!(0.7), json!(0.9), json!(1)]);
        let plateaus: Vec<_> = swept.plateaus.iter().map(|one| (one.from.clone(), one.to.clone(), one.current)).collect();
        assert_eq!(plateaus, [(json!(0.5), json!(0.7), true), (json!(0.9), json!(1), false)]);
        assert_eq!(swept.moving(), ["A", "B"]);
        let flips: Vec<_> =
            swept.points.iter().map(|point| (point.flips, point.unknown, point.decisions, point.current)).collect();
        assert_eq!(flips, [(0, 0, 2, false), (0, 0, 2, true), (1, 1, 2, false), (1, 1, 2, false)]);
    }

    #[test]
    fn the_current_value_is_inserted_in_order() {
        let with = |values: &[Value], now: Value| SweptVar { name: "v".into(), values: values.to_vec() }.with(&now).values;
        assert_eq!(with(&[json!(0.5), json!(0.9)], json!(0.7)), [json!(0.5), json!(0.7), json!(0.9)]);
        assert_eq!(with(&[json!(1), json!(2)], json!(2.0)), [json!(1), json!(2)]);
        assert_eq!(with(&[json!(1), json!(2)], json!(3)), [json!(1), json!(2)]);
        assert_eq!(with(&[json!("a")], json!("b")), [json!("a")]);
    }
}
