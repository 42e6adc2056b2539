//! Fits the weights of a verdict, and measures hand-set and fitted ones on cases that were held out.

use super::features::{VerdictWeights, WeightOf};
use super::figures::{
    HeldOutVerdict, NINETY, VerdictComparison, VerdictFigures, compare, figures, fold_of, temperature, tempered,
};
use super::fit::{FitObservation, FitParameter, FitProblem};
use crate::project::{AnswererNames, Project, Sources};
use crate::session::{LabelledCase, Session, SessionError, WorkerPool, defect_code};
use crate::walk::{CaseParams, Verdict, VerdictPlan};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The data file with learned weights. It is left aside: the fit begins at the weights set by hand.
const LEARNED: &str = "learned.yaml";
/// The id of the run that rules see.
const RUN: &str = "learn";

/// What to fit.
#[derive(Clone, Debug)]
pub struct LearnSpec {
    /// The file of labelled cases.
    pub from: PathBuf,
    /// A directory with a launch per case, named by its id.
    pub launches: Option<PathBuf>,
    /// How much weights are held to where they were set by hand.
    pub lambda: f64,
    /// The number of folds.
    pub folds: usize,
    /// The pipeline, the default one if none.
    pub pipeline: Option<String>,
}

/// Fitted weights, with what they were fitted to and how good they are.
#[derive(Clone, Debug, Serialize)]
pub struct LearnReport {
    /// The name of the pipeline.
    pub pipeline: String,
    /// The file of labelled cases.
    pub from: String,
    /// How many cases it has.
    pub written: usize,
    /// How many of them the weights are fitted to.
    pub cases: usize,
    /// Of these, how many per defect.
    pub labels: BTreeMap<String, usize>,
    /// The other cases.
    pub left_out: Vec<LeftOut>,
    /// How many rules failed in how many cases, by rule.
    pub failed: BTreeMap<String, usize>,
    /// How much weights are held to where they were set by hand.
    pub lambda: f64,
    /// Hand-set and fitted weights on cases that were held out; nothing if all are of one project.
    pub folds: Option<FoldReport>,
    /// The weights that spoke in some case or are priors, in the order of declaration.
    pub weights: Vec<LearnedWeight>,
    /// How many declared weights spoke in no case, and stay.
    pub silent: usize,
}

/// Cases that the weights are not fitted to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Why.
    pub why: String,
    /// Their ids.
    pub cases: Vec<String>,
}

/// How hand-set and fitted weights do on cases that were held out.
#[derive(Clone, Debug, Serialize)]
pub struct FoldReport {
    /// The number of folds with cases.
    pub folds: usize,
    /// The number of projects.
    pub projects: usize,
    /// The weights set by hand.
    pub hand_set: VerdictFigures,
    /// The same with their probabilities tempered.
    pub hand_set_tempered: VerdictFigures,
    /// The temperature for these; above 1 they are too sure.
    pub hand_set_temperature: f64,
    /// The weights fitted to all other folds.
    pub fitted: VerdictFigures,
    /// The same with their probabilities tempered.
    pub fitted_tempered: VerdictFigures,
    /// The temperature for these.
    pub fitted_temperature: f64,
    /// Which is better.
    pub comparison: VerdictComparison,
}

/// A weight that was fitted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LearnedWeight {
    /// What it is of.
    pub of: WeightOf,
    /// The id of the rule or signature; empty for a prior.
    pub id: String,
    /// The name of the rule, or the title of the signature.
    pub name: String,
    /// The defect.
    pub defect: String,
    /// The log-odds as set by hand.
    pub hand_set: f64,
    /// The log-odds as fitted, to a hundredth.
    pub fitted: f64,
    /// Half of the 90 % interval around it.
    pub give_or_take: f64,
    /// In how many cases it spoke.
    pub cases: usize,
    /// Where the rule or signature is written.
    pub at: String,
}

impl LearnedWeight {
    /// How far it moves.
    pub fn moved(&self) -> f64 {
        // Both have two digits or few more: a difference of a tenth is one.
        ((self.fitted - self.hand_set).abs() * 1e6).round() / 1e6
    }
}

/// Fits the weights of a pipeline's verdict to labelled cases.
pub fn learn(session: &Session, spec: &LearnSpec) -> Result<LearnReport, SessionError> {
    let project = by_hand(session.project(spec.pipeline.as_deref(), AnswererNames::Others)?)?;
    let Some(plan) = project.plan.verdict.clone() else {
        let message = format!("the pipeline `{}` has no verdict", project.plan.pipeline.name);
        let help = "weights are those of the rules under `verdict:` of a pipeline".to_owned();
        return Err(SessionError::bad_request("learn/no-verdict", message, Some(help)));
    };
    let read = session.labelled(&project, &spec.from, spec.launches.as_deref())?;
    let mut left_out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, why) in read.left_out {
        left_out.entry(why).or_default().push(id);
    }
    let mut weights = VerdictWeights::of(&plan);
    weights.place_priors(&project.plan.pipeline);
    let mut labelled: Vec<(LabelledCase, usize)> = Vec::with_capacity(read.cases.len());
    for case in read.cases {
        let code = defect_code(&project.data, &case.label).unwrap_or(&case.label);
        match weights.class(code) {
            Some(class) => labelled.push((case, class)),
            None => left_out.entry(format!("the label `{code}`, which is not decided about")).or_default().push(case.id),
        }
    }
    let left_out: Vec<LeftOut> = left_out.into_iter().map(|(why, cases)| LeftOut { why, cases }).collect();
    if labelled.is_empty() {
        return Err(nothing(spec, &left_out));
    }
    let judged = WorkerPool::all().map(&labelled, |(case, _)| judge(&project, case));
    let mut failed: BTreeMap<String, usize> = BTreeMap::new();
    for rule in judged.iter().flat_map(|verdict| &verdict.failed) {
        *failed.entry(rule.id.to_string()).or_default() += 1;
    }
    let observations: Vec<FitObservation> =
        labelled.iter().zip(&judged).map(|((_, class), verdict)| weights.observation(verdict, *class)).collect();
    let parameters = weights.parameters(spec.lambda);
    let folding = Folding { weights: &weights, plan: &plan, parameters: &parameters, labelled: &labelled, judged: &judged };
    let folds = folding.report(&observations, spec.folds);
    let problem =
        FitProblem { classes: weights.classes.len(), parameters: &parameters, observations: observations.iter().collect() };
    let fitted = problem.fit();
    let mut labels: BTreeMap<String, usize> = BTreeMap::new();
    for (_, class) in &labelled {
        *labels.entry(weights.classes[*class].to_string()).or_default() += 1;
    }
    let learned = learned(&weights, &observations, &fitted, &problem.curvature(&fitted));
    Ok(LearnReport {
        pipeline: project.plan.pipeline.name.value.clone(),
        from: spec.from.display().to_string(),
        written: read.written,
        cases: labelled.len(),
        labels,
        left_out,
        failed,
        lambda: spec.lambda,
        folds,
        silent: weights.declared.len() - learned.len(),
        weights: learned,
    })
}

/// The project without learned weights.
fn by_hand(project: Project) -> Result<Project, SessionError> {
    if !project.sources.data.iter().any(|source| source.name() == LEARNED) {
        return Ok(project);
    }
    let data = project.sources.data.iter().filter(|source| source.name() != LEARNED).cloned().collect();
    let sources = Sources { data, ..project.sources.clone() };
    Ok(Project::relink(sources, project.settings.clone(), Some(&project))?)
}

fn judge(project: &Project, case: &LabelledCase) -> Verdict {
    CaseParams::new(RUN, &case.launch, &case.case).verdict_by(&case.case, &project.plan, &[]).unwrap_or_default()
}

fn nothing(spec: &LearnSpec, left_out: &[LeftOut]) -> SessionError {
    let message = format!("`{}` has no case to learn from", spec.from.display());
    let reasons: Vec<String> = left_out.iter().map(|out| format!("{}: {}", out.cases.len(), out.why)).collect();
    let help = if reasons.is_empty() { "it has no cases".to_owned() } else { format!("left out: {}", reasons.join("; ")) };
    SessionError::bad_request("learn/nothing", message, Some(help))
}

/// What was fitted of the weights that spoke.
fn learned(
    weights: &VerdictWeights<'_>,
    observations: &[FitObservation],
    fitted: &[f64],
    curvature: &[f64],
) -> Vec<LearnedWeight> {
    let mut support = vec![0_usize; weights.declared.len()];
    for (place, _) in observations.iter().flat_map(|one| &one.active) {
        support[*place] += 1;
    }
    let hundredth = |number: f64| (number * 100.0).round() / 100.0;
    let all = weights.declared.iter().zip(fitted).zip(curvature).zip(support);
    let weight = |(((declared, fitted), curvature), cases): (((&super::features::DeclaredWeight, &f64), &f64), usize)| {
        LearnedWeight {
            of: declared.of,
            id: declared.id.to_string(),
            name: declared.name.to_string(),
            defect: weights.classes[declared.class].to_string(),
            hand_set: declared.weight,
            // Adding 0 makes -0 a plain 0.
            fitted: hundredth(*fitted) + 0.0,
            give_or_take: hundredth(NINETY / curvature.sqrt()),
            cases,
            at: declared.at.to_string(),
        }
    };
    all.filter(|(_, cases)| *cases > 0).map(weight).collect()
}

/// The cases with their verdicts, to be held out by folds.
struct Folding<'a> {
    weights: &'a VerdictWeights<'a>,
    plan: &'a VerdictPlan,
    parameters: &'a [FitParameter],
    labelled: &'a [(LabelledCase, usize)],
    judged: &'a [Verdict],
}

impl Folding<'_> {
    fn report(&self, observations: &[FitObservation], folds: usize) -> Option<FoldReport> {
        let fold: Vec<usize> = self.labelled.iter().map(|(case, _)| fold_of(&case.project, folds)).collect();
        let mut used = fold.clone();
        used.sort_unstable();
        used.dedup();
        if used.len() < 2 {
            return None;
        }
        let hand_set: Vec<HeldOutVerdict> = (0..fold.len()).map(|at| self.held_out(at, fold[at], self.plan)).collect();
        let fitted = WorkerPool::all().map(&used, |held| {
            let others = observations.iter().zip(&fold).filter(|(_, fold)| *fold != held).map(|(one, _)| one).collect();
            let problem = FitProblem { classes: self.weights.classes.len(), parameters: self.parameters, observations: others };
            let plan = self.weights.plan_with(&problem.fit());
            let of_fold = (0..fold.len()).filter(|at| fold[*at] == *held);
            of_fold.map(|at| (at, self.held_out(at, *held, &plan))).collect::<Vec<_>>()
        });
        let mut fitted: Vec<(usize, HeldOutVerdict)> = fitted.into_iter().flatten().collect();
        fitted.sort_by_key(|(at, _)| *at);
        let fitted: Vec<HeldOutVerdict> = fitted.into_iter().map(|(_, verdict)| verdict).collect();
        let classes: Vec<String> = self.weights.classes.iter().map(ToString::to_string).collect();
        let figures = |verdicts: &[HeldOutVerdict]| figures(verdicts, &classes, self.plan.floor);
        Some(FoldReport {
            folds: used.len(),
            projects: self.projects().len(),
            hand_set: figures(&hand_set),
            hand_set_tempered: figures(&tempered(&hand_set)),
            hand_set_temperature: temperature(&hand_set.iter().collect::<Vec<_>>()),
            fitted: figures(&fitted),
            fitted_tempered: figures(&tempered(&fitted)),
            fitted_temperature: temperature(&fitted.iter().collect::<Vec<_>>()),
            comparison: compare(&hand_set, &fitted),
        })
    }

    fn projects(&self) -> BTreeMap<&str, usize> {
        let mut projects = BTreeMap::new();
        for (case, _) in self.labelled {
            let next = projects.len();
            projects.entry(case.project.as_str()).or_insert(next);
        }
        projects
    }

    fn held_out(&self, at: usize, fold: usize, plan: &VerdictPlan) -> HeldOutVerdict {
        let (case, truth) = &self.labelled[at];
        // Without any word on it, all are counted.
        let told = self.labelled.iter().any(|(case, _)| case.decidable.is_some());
        HeldOutVerdict {
            truth: *truth,
            decidable: if told { case.decidable == Some(true) } else { true },
            fold,
            project: self.projects().get(case.project.as_str()).copied().unwrap_or_default(),
            scores: self.weights.scores(plan, &self.judged[at]),
            temperature: 1.0,
        }
    }
}
