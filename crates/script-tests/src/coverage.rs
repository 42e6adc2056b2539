//! What of the scripts the tests went through: functions, the ways of each branch, the outcomes of each condition, results.

use super::test_project::TestProject;
use asterisk_diag::{Source, Span};
use asterisk_files::FileOrigin;
use asterisk_script::probe::{Hits, NodeRole, ProbeNode, ProbeTable, Recorder};
use asterisk_script::{Unit, is_test_file};
use asterisk_session::TestTexts;
use serde::Serialize;
use std::collections::BTreeMap;

/// The coverage of all scripts.
#[derive(Debug)]
pub struct Coverage {
    /// The scripts by path, then the inline conditions that were compiled, by edge.
    pub files: Vec<FileCoverage>,
}

/// The coverage of a script.
#[derive(Debug)]
pub struct FileCoverage {
    /// Its path below the script root; an inline condition's edge.
    pub name: String,
    /// Where it lies, for other tools.
    pub path: String,
    /// Its text.
    pub source: Source,
    /// Its functions, in the order of the text.
    pub functions: Vec<FunctionCoverage>,
    /// How often lines were evaluated; only lines that hold something to evaluate.
    pub lines: BTreeMap<usize, u32>,
}

/// The coverage of a function, the closures in it included.
#[derive(Debug)]
pub struct FunctionCoverage {
    /// Its name.
    pub name: String,
    /// The line it is defined in.
    pub line: usize,
    /// Where it is defined.
    pub span: Span,
    /// How often it was called.
    pub calls: u32,
    /// Its outcomes, in the order of the text.
    pub outcomes: Vec<CoveragePoint>,
}

/// What an outcome is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CoverageKind {
    /// A way on from an `if`, a loop, a guard, or a case of a `switch`.
    Branch,
    /// A truth value of a part of a condition, or of a result that is one.
    Condition,
    /// Something that a function can return.
    Result,
}

/// A possible outcome of an expression.
#[derive(Clone, Debug)]
pub struct CoveragePoint {
    /// What it is one of.
    pub kind: CoverageKind,
    /// The expression.
    pub span: Span,
    /// Its line.
    pub line: usize,
    /// The number of the expression in its text, and of the outcome there.
    pub number: (usize, usize),
    /// `true`, `false` or `reached`.
    pub outcome: &'static str,
    /// How often that came of it.
    pub count: u32,
    /// Whether the expression was evaluated at all.
    pub evaluated: bool,
}

/// A count and its total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CoverageShare {
    /// How many were seen.
    pub covered: usize,
    /// How many there are.
    pub total: usize,
}

/// Something that no test covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageGap {
    /// Where.
    pub span: Span,
    /// `never true`, `never false`, `never reached`, `never called`.
    pub what: String,
}

impl CoverageShare {
    /// In percent; nothing to cover is all of it.
    #[expect(clippy::cast_precision_loss, reason = "for people to read")]
    pub fn percent(self) -> f64 {
        if self.total == 0 { 100.0 } else { 100.0 * self.covered as f64 / self.total as f64 }
    }

    fn of(outcomes: impl Iterator<Item = bool>) -> Self {
        outcomes.fold(Self::default(), |share, covered| Self {
            covered: share.covered + usize::from(covered),
            total: share.total + 1,
        })
    }

    fn and(self, more: Self) -> Self {
        Self { covered: self.covered + more.covered, total: self.total + more.total }
    }
}

impl Coverage {
    /// From what a recorder counted.
    pub(super) fn of(ground: &TestProject, texts: &TestTexts, counted: &Recorder) -> Self {
        let path = |unit: &Unit, source: &Source| {
            let script = texts.scripts.iter().find(|(script, _)| script.name() == unit.name());
            match script {
                Some((_, FileOrigin::File(path))) => path.display().to_string(),
                Some((_, FileOrigin::Embedded)) => format!("scripts/{}", unit.name()),
                None => source.name().to_owned(),
            }
        };
        ground.with_probed(|probed| {
            let mut files: BTreeMap<(bool, &str), (&Unit, &ProbeTable, Vec<Hits>)> = BTreeMap::new();
            for (unit, table) in probed.iter().filter(|(unit, _)| !is_test_file(unit.name())) {
                let none = || (*unit, *table, vec![Hits::default(); table.nodes().len()]);
                let (.., sums) = files.entry((unit.is_condition(), unit.name())).or_insert_with(none);
                // The same text has the same nodes, in whichever library.
                for (number, sum) in (0..).zip(sums) {
                    sum.add(counted.hits(table, number));
                }
            }
            let file = |(unit, table, hits): (&Unit, &ProbeTable, Vec<Hits>)| {
                let (source, _) = unit.locate(Span::default());
                FileCoverage { path: path(unit, &source), ..file(unit, table, &hits, source) }
            };
            Self { files: files.into_values().map(file).collect() }
        })
    }

    /// All outcomes of all files.
    pub fn share(&self) -> CoverageShare {
        self.files.iter().map(FileCoverage::share).fold(CoverageShare::default(), CoverageShare::and)
    }

    /// The outcomes of one kind.
    pub fn share_of(&self, kind: CoverageKind) -> CoverageShare {
        self.files.iter().map(|file| file.share_of(kind)).fold(CoverageShare::default(), CoverageShare::and)
    }

    /// The functions that were called.
    pub fn called(&self) -> CoverageShare {
        CoverageShare::of(self.files.iter().flat_map(|file| &file.functions).map(|function| function.calls > 0))
    }
}

impl FileCoverage {
    /// Whether any of it was called.
    pub fn is_touched(&self) -> bool {
        self.functions.iter().any(|function| function.calls > 0)
    }

    /// All its outcomes.
    pub fn share(&self) -> CoverageShare {
        self.functions.iter().map(FunctionCoverage::share).fold(CoverageShare::default(), CoverageShare::and)
    }

    /// Its outcomes of one kind.
    pub fn share_of(&self, kind: CoverageKind) -> CoverageShare {
        self.functions.iter().map(|function| function.share_of(kind)).fold(CoverageShare::default(), CoverageShare::and)
    }

    /// What no test covers, in the order of the source.
    pub fn gaps(&self) -> Vec<CoverageGap> {
        self.functions.iter().flat_map(FunctionCoverage::gaps).collect()
    }
}

impl FunctionCoverage {
    /// All its outcomes.
    pub fn share(&self) -> CoverageShare {
        CoverageShare::of(self.outcomes.iter().map(|outcome| outcome.count > 0))
    }

    /// Its outcomes of one kind.
    pub fn share_of(&self, kind: CoverageKind) -> CoverageShare {
        CoverageShare::of(self.outcomes.iter().filter(|outcome| outcome.kind == kind).map(|outcome| outcome.count > 0))
    }

    /// What no test covers; of an uncalled function, only the function itself.
    pub fn gaps(&self) -> Vec<CoverageGap> {
        if self.calls == 0 {
            return vec![CoverageGap { span: self.span, what: "never called".into() }];
        }
        let mut gaps: Vec<CoverageGap> = Vec::new();
        for outcome in self.outcomes.iter().filter(|outcome| outcome.count == 0) {
            let what = if outcome.evaluated { format!("never {}", outcome.outcome) } else { "never reached".into() };
            let gap = CoverageGap { span: outcome.span, what };
            if !gaps.contains(&gap) {
                gaps.push(gap);
            }
        }
        // What is inside something that was never reached is not reported again.
        let reached = |gap: &CoverageGap| {
            let around = |other: &CoverageGap| {
                other.what == "never reached"
                    && other.span != gap.span
                    && other.span.start <= gap.span.start
                    && gap.span.end <= other.span.end
            };
            !gaps.iter().any(around)
        };
        gaps.iter().filter(|gap| reached(gap)).cloned().collect()
    }
}

fn file(unit: &Unit, table: &ProbeTable, hits: &[Hits], source: Source) -> FileCoverage {
    let nodes = || table.nodes().iter().zip(hits).enumerate();
    let mut lines: BTreeMap<usize, u32> = BTreeMap::new();
    let mut functions: Vec<(u32, FunctionCoverage)> = Vec::new();
    for (number, (node, hits)) in nodes().filter(|(_, (node, _))| node.role == NodeRole::Function && !node.is_closure()) {
        let Some((_, span)) = node.place(unit) else { continue };
        let line = source.line_column(span.start).0;
        let name = if unit.is_condition() { unit.name() } else { node.name().unwrap_or("") };
        let function = FunctionCoverage { name: name.to_owned(), line, span, calls: hits.total(), outcomes: Vec::new() };
        functions.push((u32::try_from(number).unwrap_or(u32::MAX), function));
    }
    for (number, (node, hits)) in nodes().filter(|(_, (node, _))| node.role != NodeRole::Function) {
        let (Some((_, span)), Some(own)) = (node.place(unit), table.node(node.function)) else { continue };
        let line = source.line_column(span.start).0;
        let count = lines.entry(line).or_default();
        *count = (*count).max(hits.total());
        let owner = if own.is_closure() { table.around(own) } else { Some(node.function) };
        let function = functions.iter_mut().find(|(number, _)| Some(*number) == owner);
        if let Some((_, function)) = function {
            outcomes(node, *hits, own.is_closure(), |kind, at, outcome, count| {
                let evaluated = hits.total() > 0;
                function.outcomes.push(CoveragePoint { kind, span, line, number: (number, at), outcome, count, evaluated });
            });
        }
    }
    let mut functions: Vec<FunctionCoverage> = functions.into_iter().map(|(_, function)| function).collect();
    functions.sort_by_key(|function| function.span.start);
    for function in &mut functions {
        function.outcomes.sort_by_key(|outcome| (outcome.span.start, outcome.number));
    }
    FileCoverage { name: unit.name().to_owned(), path: String::new(), source, functions, lines }
}

/// The possible outcomes of a node, with their counts.
fn outcomes(node: &ProbeNode, hits: Hits, in_closure: bool, mut add: impl FnMut(CoverageKind, usize, &'static str, u32)) {
    let mut truth = |kind: CoverageKind| {
        add(kind, 0, "true", hits.yes);
        add(kind, 1, "false", hits.no);
    };
    match node.role {
        NodeRole::Condition | NodeRole::Case => truth(CoverageKind::Branch),
        NodeRole::Operand => truth(CoverageKind::Condition),
        NodeRole::Return | NodeRole::Result if node.truth => truth(CoverageKind::Condition),
        NodeRole::Arm => add(CoverageKind::Branch, 0, "reached", hits.total()),
        NodeRole::Return | NodeRole::Result if !in_closure => add(CoverageKind::Result, 0, "reached", hits.total()),
        _ => {}
    }
}
