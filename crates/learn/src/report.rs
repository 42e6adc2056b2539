//! Fits the weights of a verdict, and measures hand-set and fitted ones on cases that were held out.

use super::audit::{AuditedVerdict, RuleAudit, audit, silent};
use super::features::{Holds, VerdictWeights, WeightOf};
use super::figures::{
    BetterWeights, HeldOutVerdict, NINETY, ReviewBar, VerdictComparison, VerdictFigures, compare, figures, review_bar,
    temperature, tempered, trusted_temperature,
};
use super::fit::{FitObservation, FitParameter, FitProblem};
use super::folds::{Folds, FoldsBy};
use super::labels::{LearnSettings, OriginCount, deduplicate, gather};
use super::spec::{FittedTerms, LabelOrigin, LearnSpec};
use asterisk_diag::Source;
use asterisk_project::{AnswererNames, Project, Sources};
use asterisk_session::{LabelledCase, LabelledCases, Session, SessionError, WorkerPool, defect_code};
use asterisk_walk::{CaseParams, RuleFailures, Verdict, VerdictPlan, evidence_terms};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The data file with learned weights. It is left aside: the fit begins at the weights set by hand.
const LEARNED: &str = "learned.yaml";
/// The data file with the weights of words. It is left aside where words are fitted alone, which then begin at 0.
const TERMS: &str = "terms.yaml";
/// The id of the run that rules see.
const RUN: &str = "learn";
/// The maximum number of cases listed for a weight.
const NAMED: usize = 3;

/// Fitted weights, with what they were fitted to and how good they are.
#[derive(Clone, Debug, Serialize)]
pub struct LearnReport {
    /// The name of the pipeline.
    pub pipeline: String,
    /// Whether words are fitted alone; hand-set figures are then those without words.
    pub terms_alone: bool,
    /// The origins of the labels.
    pub from: Vec<OriginCount>,
    /// The number of labels.
    pub written: usize,
    /// How many of them the weights are fitted to.
    pub cases: usize,
    /// Of these, how many per defect.
    pub labels: BTreeMap<String, usize>,
    /// The other cases.
    pub left_out: Vec<LeftOut>,
    /// The rules that failed.
    #[serde(skip_serializing_if = "RuleFailures::is_empty")]
    pub failed_rules: RuleFailures,
    /// The strength of the pull towards the hand-set weights.
    pub lambda: f64,
    /// The age in days at which a label counts half.
    pub half_life_days: f64,
    /// Hand-set against fitted weights on held-out cases, or nothing if all cases belong to one group.
    pub folds: Option<FoldReport>,
    /// The temperature that the log-odds are divided by, if it improves held-out probabilities.
    pub temperature: Option<f64>,
    /// The confidence from which verdicts with these weights need no review.
    pub review_bar: Option<ReviewBar>,
    /// The weights that matched in some case or are priors, in the order of declaration.
    pub weights: Vec<LearnedWeight>,
    /// How many declared weights matched in no case, and stay.
    pub silent: usize,
    /// The audit of each rule and signature that matched, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audit: Vec<RuleAudit>,
    /// The rules and signatures that matched in no case, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub never_spoke: Vec<String>,
}

impl LearnReport {
    /// Whether the weights are significantly better on held-out cases.
    pub fn is_better(&self) -> bool {
        self.folds.as_ref().is_some_and(|folds| folds.comparison.better == BetterWeights::Fitted)
    }
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
    /// How cases are assigned to folds.
    pub by: FoldsBy,
    /// The number of groups: projects or launches.
    pub groups: usize,
    /// The weights set by hand.
    pub hand_set: VerdictFigures,
    /// The same with their probabilities tempered.
    pub hand_set_tempered: VerdictFigures,
    /// The temperature that fits these best.
    pub hand_set_temperature: f64,
    /// The temperature that the pipeline sets for them; 1 if it sets none.
    pub declared_temperature: f64,
    /// The weights fitted to all other folds.
    pub fitted: VerdictFigures,
    /// The same with their probabilities tempered.
    pub fitted_tempered: VerdictFigures,
    /// The temperature for these.
    pub fitted_temperature: f64,
    /// The fitted weights, tempered if that is better, compared with the hand-set ones.
    pub comparison: VerdictComparison,
    /// The probabilities of each held-out case.
    pub cases: Vec<HeldOutCase>,
}

/// A case judged by weights that were not fitted to it.
#[derive(Clone, Debug, Serialize)]
pub struct HeldOutCase {
    /// The id of the case.
    pub case: String,
    /// The group of the case: its project or launch.
    pub group: usize,
    /// The fold.
    pub fold: usize,
    /// The labelled defect.
    pub label: String,
    /// Whether the text is sufficient to decide.
    pub decidable: bool,
    /// The probability of each defect with the hand-set weights.
    pub hand_set: BTreeMap<String, f64>,
    /// The probability of each defect with the fitted weights, tempered if that is better.
    pub fitted: BTreeMap<String, f64>,
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
    /// In how many cases it matched.
    pub cases: usize,
    /// The number of projects or launches that these cases belong to.
    pub groups: usize,
    /// The estimated number of agreeing labels that would move the weight by 1.
    pub labels_to_move: usize,
    /// The cases with the strongest pull on the weight, strongest first.
    pub because: Vec<String>,
    /// Where the rule or signature is written.
    pub at: String,
}

impl LearnedWeight {
    /// How far it moves.
    pub fn moved(&self) -> f64 {
        // Rounded, so that a difference of 0.1 is 0.1 in spite of floating point.
        ((self.fitted - self.hand_set).abs() * 1e6).round() / 1e6
    }
}

/// Fits the weights of a pipeline's verdict to labelled cases.
pub fn learn(session: &Session, spec: &LearnSpec) -> Result<LearnReport, SessionError> {
    let alone = spec.terms == FittedTerms::Alone;
    let aside: &[&str] = if alone { &[LEARNED, TERMS] } else { &[LEARNED] };
    let project = without(session.whole_project(spec.pipeline.as_deref(), AnswererNames::Others)?, aside)?;
    let Some(plan) = project.plan.verdict.clone() else {
        let message = format!("the pipeline `{}` needs a `verdict:`", project.plan.pipeline.name);
        let help = "weights belong to the rules under `verdict:` of a pipeline".to_owned();
        return Err(SessionError::bad_request("learn/no-verdict", message, Some(help)));
    };
    let settings = LearnSettings::of(&project)?;
    let mut terms = if alone { settings.terms_alone } else { settings.terms };
    let lambda = spec.lambda.unwrap_or(if alone { terms.hold } else { settings.hold });
    if alone {
        terms.hold = lambda;
    }
    let settings = LearnSettings { half_life_days: spec.half_life_days.unwrap_or(settings.half_life_days), ..settings };
    let mut weights = VerdictWeights::of(&plan);
    weights.place_priors(&project.plan.pipeline);
    let mut taken = TakenLabels::default();
    let mut all = gather(session, &project, spec)?;
    deduplicate(&mut all);
    for (from, labels) in all {
        taken.take(from, labels, &project, &weights);
    }
    if alone {
        let classes = taken.leave_out_rare(settings.term_labels, &weights);
        weights.fit_terms_alone(classes);
    }
    let TakenLabels { labelled, origins, written, left_out } = taken;
    let left_out: Vec<LeftOut> = left_out.into_iter().map(|(why, cases)| LeftOut { why, cases }).collect();
    if labelled.is_empty() {
        return Err(nothing(spec, &left_out));
    }
    let latest = labelled.iter().filter_map(|label| label.case.at).max();
    let mut counts: Vec<f64> = labelled.iter().map(|label| settings.weight(&label.case, latest)).collect();
    if alone {
        balance(&mut counts, &labelled);
    }
    let with_words = spec.terms != FittedTerms::Declared;
    let judged = WorkerPool::all().map(&labelled, |label| judge(&project, &plan, &label.case, with_words));
    let folds = Folds::of(labelled.iter().map(|label| &label.case), spec.by, spec.folds);
    if with_words {
        let frequent = frequent(&judged, &folds.group, terms.groups);
        let frequent: Vec<String> = frequent.into_iter().filter(|word| !settings.no_terms.contains(word)).collect();
        weights.add_terms(&frequent);
    }
    let observations: Vec<FitObservation> = (labelled.iter().zip(&judged).zip(&counts))
        .map(|((label, judged), count)| weights.observation(judged, label.class, *count))
        .collect();
    let parameters = weights.parameters(Holds { weights: lambda, priors: settings.hold_priors, terms: terms.hold });
    let fitting = Fitting {
        weights: &weights,
        plan: &plan,
        parameters: &parameters,
        labelled: &labelled,
        judged: &judged,
        observations: &observations,
        folds: &folds,
        most_terms: terms.most,
    };
    let measured = fitting.measure();
    let problem = fitting.problem(observations.iter().collect());
    let fitted = fitting.fit(&problem);
    let temperature = measured.as_ref().and_then(|measured| measured.temperature);
    let review_bar =
        measured.as_ref().and_then(|measured| review_bar(&measured.best, settings.review_right, settings.review_cases));
    let learned = fitting.learned(&fitted, &problem);
    let audit = if spec.audit { fitting.audit() } else { Vec::new() };
    let count_of = |from: usize| labelled.iter().zip(&counts).filter(move |(label, _)| label.origin == from);
    let from = origins.into_iter().enumerate().map(|(at, (from, written))| OriginCount {
        from,
        written,
        cases: count_of(at).count(),
        weight: hundredth(count_of(at).map(|(_, count)| count).sum()),
    });
    let mut labels: BTreeMap<String, usize> = BTreeMap::new();
    for label in &labelled {
        *labels.entry(weights.classes[label.class].to_string()).or_default() += 1;
    }
    let mut failed_rules = RuleFailures::default();
    for (label, verdict) in labelled.iter().zip(&judged) {
        failed_rules.add(&label.case.id, verdict.failed.iter().cloned());
    }
    Ok(LearnReport {
        pipeline: project.plan.pipeline.name.value.clone(),
        terms_alone: alone,
        from: from.collect(),
        written,
        cases: labelled.len(),
        labels,
        left_out,
        failed_rules,
        lambda,
        half_life_days: settings.half_life_days,
        folds: measured.map(|measured| measured.report),
        temperature: temperature.map(hundredth),
        review_bar,
        silent: weights.declared.iter().filter(|declared| declared.of != WeightOf::Term).count()
            - learned.iter().filter(|learned| learned.of != WeightOf::Term).count(),
        weights: learned,
        never_spoke: if spec.audit { silent(&plan, &audit) } else { Vec::new() },
        audit,
    })
}

/// Labels collected from all origins.
#[derive(Default)]
struct TakenLabels {
    labelled: Vec<TakenLabel>,
    /// The names of the origins, with the number of labels of each.
    origins: Vec<(String, usize)>,
    written: usize,
    /// The ids of unused cases, by reason.
    left_out: BTreeMap<String, Vec<String>>,
}

/// A label used for training.
struct TakenLabel {
    case: LabelledCase,
    class: usize,
    /// The index of its origin.
    origin: usize,
}

impl TakenLabels {
    fn take(&mut self, from: String, labels: LabelledCases<LabelledCase>, project: &Project, weights: &VerdictWeights<'_>) {
        let origin = self.origins.len();
        self.origins.push((from, labels.written));
        self.written += labels.written;
        for (id, why) in labels.left_out {
            self.left_out.entry(why).or_default().push(id);
        }
        for case in labels.cases {
            let code = defect_code(project.data.files.all(), &case.label).unwrap_or(&case.label);
            match weights.class(code) {
                Some(class) => self.labelled.push(TakenLabel { case, class, origin }),
                None => {
                    let why = format!("the label `{code}`, which is not a defect of this verdict");
                    self.left_out.entry(why).or_default().push(case.id);
                }
            }
        }
    }

    /// Leaves out labels of classes that have fewer than these. Returns the other classes.
    fn leave_out_rare(&mut self, fewest: usize, weights: &VerdictWeights<'_>) -> Vec<usize> {
        let mut cases: BTreeMap<usize, usize> = BTreeMap::new();
        for label in &self.labelled {
            *cases.entry(label.class).or_default() += 1;
        }
        for label in self.labelled.extract_if(.., |label| cases[&label.class] < fewest) {
            let why = format!("fewer than {fewest} labels `{}`, too few to weigh words by", weights.classes[label.class]);
            self.left_out.entry(why).or_default().push(label.case.id);
        }
        cases.into_iter().filter(|(_, cases)| *cases >= fewest).map(|(class, _)| class).collect()
    }
}

/// The project without some of its data files.
fn without(project: Project, files: &[&str]) -> Result<Project, SessionError> {
    let aside = |source: &Source| files.contains(&source.name());
    if !project.sources.data.iter().any(aside) {
        return Ok(project);
    }
    let data = project.sources.data.iter().filter(|source| !aside(source)).cloned().collect();
    let sources = Sources { data, ..project.sources.clone() };
    Ok(Project::relink(sources, project.settings.clone(), Some(&project))?)
}

/// The verdict on a case, with all words of its evidence if any may get a weight.
fn judge(project: &Project, plan: &VerdictPlan, case: &LabelledCase, with_words: bool) -> Verdict {
    let params = CaseParams::new(RUN, &case.launch, &case.case);
    let verdict = params.verdict_by(&case.case, &project.plan, &[]).unwrap_or_default();
    if !with_words {
        return verdict;
    }
    let evidence = params.evidence_by(&case.case, &project.plan);
    let terms = evidence.view().map(|evidence| evidence_terms(evidence, |_| true)).unwrap_or_default();
    plan.with_words(verdict, terms.into_iter().map(|(word, _)| word).collect())
}

/// The words that occur in enough projects or launches but in at most half of the cases; a word of most cases does not discriminate.
fn frequent(judged: &[Verdict], group: &[usize], fewest: usize) -> Vec<String> {
    let mut found: BTreeMap<&str, (usize, BTreeSet<usize>)> = BTreeMap::new();
    for (verdict, group) in judged.iter().zip(group) {
        for word in verdict.spoke.iter().flat_map(|spoken| &spoken.words) {
            let (cases, groups) = found.entry(word).or_default();
            *cases += 1;
            groups.insert(*group);
        }
    }
    let frequent = |(_, (cases, groups)): &(&str, (usize, BTreeSet<usize>))| groups.len() >= fewest && *cases * 2 <= judged.len();
    found.into_iter().filter(frequent).map(|(word, _)| word.to_owned()).collect()
}

/// Makes labels of each class count as much as those of any other, all together as before: words should distinguishes classes,
/// not say which is frequent.
fn balance(counts: &mut [f64], labelled: &[TakenLabel]) {
    let mut by_class: BTreeMap<usize, f64> = BTreeMap::new();
    for (count, label) in counts.iter().zip(labelled) {
        *by_class.entry(label.class).or_default() += count;
    }
    #[expect(clippy::cast_precision_loss, reason = "there are few classes")]
    let share = by_class.values().sum::<f64>() / by_class.len() as f64;
    for (count, label) in counts.iter_mut().zip(labelled) {
        *count *= share / by_class[&label.class];
    }
}

fn nothing(spec: &LearnSpec, left_out: &[LeftOut]) -> SessionError {
    let from: Vec<String> = spec.from.iter().map(LabelOrigin::name).collect();
    let message = format!("`{}` has no case to learn from", from.join("`, `"));
    let reasons: Vec<String> = left_out.iter().map(|out| format!("{}: {}", out.cases.len(), out.why)).collect();
    let help =
        if reasons.is_empty() { "it does not contain any cases".to_owned() } else { format!("left out: {}", reasons.join("; ")) };
    SessionError::bad_request("learn/nothing", message, Some(help))
}

fn hundredth(number: f64) -> f64 {
    // Adding 0 makes -0 a plain 0.
    (number * 100.0).round() / 100.0 + 0.0
}

/// The data that weights are fitted to and measured on.
struct Fitting<'a> {
    weights: &'a VerdictWeights<'a>,
    plan: &'a VerdictPlan,
    parameters: &'a [FitParameter],
    labelled: &'a [TakenLabel],
    judged: &'a [Verdict],
    observations: &'a [FitObservation],
    folds: &'a Folds,
    most_terms: usize,
}

/// The quality of weights on held-out cases.
struct MeasuredFolds {
    report: FoldReport,
    /// The temperature, if it improves the fitted weights.
    temperature: Option<f64>,
    /// The verdicts of the fitted weights, tempered if that is better.
    best: Vec<HeldOutVerdict>,
}

impl Fitting<'_> {
    fn problem<'o>(&'o self, observations: Vec<&'o FitObservation>) -> FitProblem<'o> {
        FitProblem { classes: self.weights.fitted_classes(), parameters: self.parameters, observations }
    }

    /// The weights with the least loss; those of the words that matter least, and those that are not fitted, as declared.
    fn fit(&self, problem: &FitProblem<'_>) -> Vec<f64> {
        let mut fitted = problem.fit();
        self.weights.prune_terms(&mut fitted, self.most_terms);
        self.weights.restore(&mut fitted);
        fitted
    }

    /// Cross-validates: fits on all folds but one and measures on that one.
    fn measure(&self) -> Option<MeasuredFolds> {
        let used = self.folds.held_out();
        if used.is_empty() {
            return None;
        }
        let held_out = |fold: usize| (0..self.labelled.len()).filter(move |at| self.folds.fold[*at] == fold);
        let places: Vec<(usize, usize)> = used.iter().flat_map(|fold| held_out(*fold).map(move |at| (at, *fold))).collect();
        let hand_set: Vec<HeldOutVerdict> = places.iter().map(|(at, fold)| self.held_out(*at, *fold, self.plan)).collect();
        let fitted = WorkerPool::all().map(&used, |held| {
            let others = (0..self.labelled.len()).filter(|at| self.folds.is_trained_on(*at, *held));
            let fitted = self.fit(&self.problem(others.map(|at| &self.observations[at]).collect()));
            let plan = self.weights.plan_with(&fitted);
            held_out(*held).map(|at| self.held_out(at, *held, &plan)).collect::<Vec<_>>()
        });
        let fitted: Vec<HeldOutVerdict> = fitted.into_iter().flatten().collect();
        let classes: Vec<String> = self.weights.classes.iter().map(ToString::to_string).collect();
        let figures = |verdicts: &[HeldOutVerdict]| figures(verdicts, &classes, self.plan.floor);
        let fitted_tempered = tempered(&fitted);
        let fitted_temperature = temperature(&fitted.iter().collect::<Vec<_>>());
        let (plain_figures, tempered_figures) = (figures(&fitted), figures(&fitted_tempered));
        let trusted = trusted_temperature(fitted_temperature, self.plan.temperature, self.folds.groups);
        // Words that are fitted alone join rules whose temperature stays.
        let trusted = trusted.filter(|_| !self.weights.is_alone() && tempered_figures.log_loss < plain_figures.log_loss);
        let best = if trusted.is_some() { fitted_tempered } else { fitted };
        let report = FoldReport {
            folds: used.len(),
            by: self.folds.by,
            groups: self.folds.groups,
            hand_set: figures(&hand_set),
            hand_set_tempered: figures(&tempered(&hand_set)),
            hand_set_temperature: temperature(&hand_set.iter().collect::<Vec<_>>()),
            declared_temperature: self.plan.temperature.unwrap_or(1.0),
            fitted: plain_figures,
            fitted_tempered: tempered_figures,
            fitted_temperature,
            comparison: compare(&hand_set, &best),
            cases: places.iter().zip(hand_set.iter().zip(&best)).map(|((at, fold), both)| self.case(*at, *fold, both)).collect(),
        };
        Some(MeasuredFolds { report, temperature: trusted, best })
    }

    fn case(&self, at: usize, fold: usize, (hand_set, fitted): (&HeldOutVerdict, &HeldOutVerdict)) -> HeldOutCase {
        let of = |verdict: &HeldOutVerdict| {
            let shares = verdict.probabilities().into_iter().map(|share| (share * 1e6).round() / 1e6);
            self.weights.classes.iter().map(ToString::to_string).zip(shares).collect()
        };
        HeldOutCase {
            case: self.labelled[at].case.id.clone(),
            group: self.folds.group[at],
            fold,
            label: self.weights.classes[hand_set.truth].to_string(),
            decidable: hand_set.decidable,
            hand_set: of(hand_set),
            fitted: of(fitted),
        }
    }

    fn held_out(&self, at: usize, fold: usize, plan: &VerdictPlan) -> HeldOutVerdict {
        let TakenLabel { case, class, .. } = &self.labelled[at];
        // If no label says whether it is decidable, all are.
        let told = self.labelled.iter().any(|label| label.case.decidable.is_some());
        HeldOutVerdict {
            truth: *class,
            decidable: if told { case.decidable == Some(true) } else { true },
            fold,
            project: self.folds.group[at],
            scores: self.weights.scores(plan, &self.judged[at]),
            temperature: self.plan.temperature.unwrap_or(1.0),
        }
    }

    /// Describes the fitted weights of everything that matched.
    fn learned(&self, fitted: &[f64], problem: &FitProblem<'_>) -> Vec<LearnedWeight> {
        let curvature = problem.curvature(fitted);
        let by_hand = self.weights.hand_set();
        let mut support = vec![0_usize; fitted.len()];
        let mut groups: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); fitted.len()];
        let mut pulls: Vec<Vec<(f64, usize)>> = vec![Vec::new(); fitted.len()];
        for (at, one) in self.observations.iter().enumerate() {
            for (place, pull) in problem.pulls(one, &by_hand) {
                support[place] += 1;
                groups[place].insert(self.folds.group[at]);
                // The observations that pull in the direction of the change.
                if pull * (fitted[place] - by_hand[place]) > 0.0 {
                    keep_strongest(&mut pulls[place], (pull.abs(), at));
                }
            }
        }
        let weight = |(place, declared): (usize, &super::features::DeclaredWeight)| LearnedWeight {
            of: declared.of,
            id: declared.id.to_string(),
            name: declared.name.to_string(),
            defect: self.weights.classes[declared.class].to_string(),
            hand_set: declared.weight,
            fitted: hundredth(fitted[place]),
            give_or_take: hundredth(NINETY / curvature[place].sqrt()),
            cases: support[place],
            groups: groups[place].len(),
            labels_to_move: labels_to_move(curvature[place]),
            because: pulls[place].iter().map(|(_, at)| self.labelled[*at].case.id.clone()).collect(),
            at: declared.at.to_string(),
        };
        let spoke = |(place, declared): &(usize, &super::features::DeclaredWeight)| {
            let moved = (fitted[*place] - declared.weight).abs() > 0.0;
            support[*place] > 0 && self.weights.is_fitted(*place) && (declared.of != WeightOf::Term || moved)
        };
        self.weights.declared.iter().enumerate().filter(spoke).map(weight).collect()
    }

    fn audit(&self) -> Vec<RuleAudit> {
        audit(self.labelled.iter().zip(self.judged.iter().zip(&self.folds.group)).map(|(label, (verdict, group))| {
            AuditedVerdict { verdict, truth: &self.weights.classes[label.class], group: *group }
        }))
    }
}

/// Keeps the strongest pulls; the earlier one wins a tie.
fn keep_strongest(pulls: &mut Vec<(f64, usize)>, pull: (f64, usize)) {
    let place = pulls.iter().position(|known| known.0 < pull.0).unwrap_or(pulls.len());
    if place < NAMED {
        pulls.insert(place, pull);
        pulls.truncate(NAMED);
    }
}

/// Estimates how many agreeing labels move a weight by 1. Each pulls by at most one half while the probability is uncertain, against the
/// curvature.
fn labels_to_move(curvature: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 1 to 1e9")]
    let labels = (2.0 * curvature).ceil().clamp(1.0, 1e9) as usize;
    labels
}
