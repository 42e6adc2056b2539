//! An explanation as a page of lines for a terminal.

use super::explanation::{CaseExplanation, EdgeExplanation, EdgeKind, RuleExplanation, StepExplanation};
use asterisk_diag::Diagnostic;
use asterisk_walk::EdgeOutcome;
use textwrap::{Options, wrap};

/// The style of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// A heading.
    Head,
    /// Something fired.
    Good,
    /// Something failed.
    Bad,
    /// Secondary information.
    Quiet,
}

/// A line of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLine {
    pub tone: Tone,
    /// Without a line end.
    pub text: String,
}

/// The least and the greatest width of pages.
const WIDTHS: (usize, usize) = (40, 100);

/// The most characters of an expression or a value.
pub(super) const LONGEST: usize = 240;

/// Renders the page, at most `width` characters wide.
pub fn page(explanation: &CaseExplanation, width: usize) -> Vec<PageLine> {
    let mut page = TextPage::new(width);
    page.head(explanation);
    for step in &explanation.steps {
        page.blank();
        if explanation.detailed {
            page.details(step);
        } else {
            page.brief(step);
        }
    }
    page.lines
}

/// Explains the outcome of an edge in one line.
pub(super) fn why(edge: &EdgeExplanation) -> String {
    let error = edge.error.as_ref().map(|error| error.message.clone());
    let missed = || edge.missed.iter().map(|miss| miss.text.as_str()).collect::<Vec<_>>().join("; or ");
    let text = match edge.outcome {
        EdgeOutcome::Error => error,
        EdgeOutcome::False => Some(missed()).filter(|missed| !missed.is_empty()),
        EdgeOutcome::Fired => match (&edge.because, &edge.why) {
            (Some(because), Some(why)) => Some(format!("{because} ({why})")),
            (because, why) => because.clone().or_else(|| why.clone()),
        },
        EdgeOutcome::Advisory => edge.because.clone(),
        EdgeOutcome::NotReached => edge.why.clone(),
    };
    let text = text.unwrap_or_default();
    match (edge.rule.as_ref().is_some_and(|rule| rule.changed), text.is_empty()) {
        (false, _) => text,
        (true, true) => "(changed since)".into(),
        (true, false) => format!("{text} (changed since)"),
    }
}

/// A step's number, code and node.
pub(super) fn place(step: &StepExplanation) -> String {
    let code = step.code.as_ref().map_or(String::new(), |code| format!("{code} "));
    format!("{} {code}{}", step.path, step.node)
}

/// The outcome of a step.
pub(super) fn result_of(step: &StepExplanation) -> Option<String> {
    match (&step.to, &step.edge, &step.error) {
        (Some(to), Some(edge), _) => Some(format!("-> {to} by {edge}")),
        (_, _, Some(error)) => Some(format!("failed: {}", error.kind)),
        _ => None,
    }
}

/// An edge's id, outcome, name and target.
fn title(edge: &EdgeExplanation) -> String {
    let name = if edge.name.is_empty() { String::new() } else { format!(", {}", edge.name) };
    let kind = match edge.kind {
        EdgeKind::Advisory => ", an advisory",
        EdgeKind::Guard => ", a guard",
        EdgeKind::Edge | EdgeKind::Fallback => "",
    };
    let to = edge.to.as_ref().map_or(String::new(), |to| format!(", to {to}"));
    format!("{}  {}{name}{kind}{to}", edge.edge, edge.outcome.word())
}

/// Whether an edge is a fallback that was not needed, which is not shown.
pub(super) fn is_idle(edge: &EdgeExplanation) -> bool {
    edge.kind == EdgeKind::Fallback && edge.outcome == EdgeOutcome::NotReached
}

fn tone(outcome: EdgeOutcome) -> Tone {
    match outcome {
        EdgeOutcome::Fired | EdgeOutcome::Advisory => Tone::Good,
        EdgeOutcome::Error => Tone::Bad,
        EdgeOutcome::False => Tone::Plain,
        EdgeOutcome::NotReached => Tone::Quiet,
    }
}

/// A page in progress.
pub(super) struct TextPage {
    pub(super) width: usize,
    pub(super) lines: Vec<PageLine>,
}

impl TextPage {
    /// An empty page of that width.
    pub(super) fn new(width: usize) -> Self {
        Self { width: width.clamp(WIDTHS.0, WIDTHS.1), lines: Vec::new() }
    }

    pub(super) fn blank(&mut self) {
        self.lines.push(PageLine { tone: Tone::Plain, text: String::new() });
    }

    /// Adds a text, its first line after `first`, the others indented.
    pub(super) fn text(&mut self, tone: Tone, first: &str, indent: usize, text: &str) {
        let half = self.width / 2;
        if first.chars().count() > half && !text.is_empty() {
            // The text does not fit next to it.
            self.text(tone, "", 4, first.trim_end());
            return self.text(tone, "        ", 8, text);
        }
        let rest = " ".repeat(indent.min(half));
        let options = Options::new(self.width).initial_indent(first).subsequent_indent(&rest);
        let lines = text.lines().enumerate().flat_map(|(at, line)| {
            let options = if at == 0 { options.clone() } else { options.clone().initial_indent(&rest) };
            wrap(line, options).into_iter().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
        });
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() {
            self.lines.push(PageLine { tone, text: first.trim_end().to_owned() });
        }
        self.lines.extend(lines.into_iter().map(|text| PageLine { tone, text }));
    }

    fn head(&mut self, explanation: &CaseExplanation) {
        self.text(Tone::Head, "", 2, format!("{}  {}", explanation.case, explanation.name).trim_end());
        let steps = match explanation.steps.len() {
            _ if explanation.detailed => String::new(),
            1 => " after 1 step".to_owned(),
            many => format!(" after {many} steps"),
        };
        let line = format!("run {}, {}: {}{steps}", explanation.run, explanation.pipeline, explanation.status.word());
        self.text(Tone::Quiet, "", 2, &line);
        if !explanation.changed.is_empty() {
            let line = format!("changed since; this page uses the recorded sources: {}", explanation.changed.join(", "));
            self.text(Tone::Bad, "", 2, &line);
        }
    }

    pub(super) fn brief(&mut self, step: &StepExplanation) {
        self.title(step);
        if step.walker.as_ref().is_some_and(|walker| walker.because.is_some()) {
            self.walker_and_masks(step);
        }
        let ids = step.edges.iter().map(|edge| edge.edge.chars().count()).max().unwrap_or(0).min(24);
        for edge in step.edges.iter().filter(|edge| !is_idle(edge)) {
            let first = format!("    {:ids$}  {:11}  ", edge.edge, edge.outcome.word());
            self.text(tone(edge.outcome), &first, 4 + ids + 15, &why(edge));
        }
        self.attempts(step);
        self.trouble(step);
    }

    /// Adds the attempts at a node with a policy.
    fn attempts(&mut self, step: &StepExplanation) {
        for attempt in &step.attempts {
            let tone = if attempt.outcome == "passed" { Tone::Good } else { Tone::Bad };
            self.text(tone, "    ", 6, &super::explanation::tried(attempt));
        }
    }

    fn title(&mut self, step: &StepExplanation) {
        let first = format!("{} {}", place(step), result_of(step).unwrap_or_default());
        let because = step.because.as_ref().map_or(String::new(), |because| format!(": {because}"));
        self.text(Tone::Head, "", 4, &format!("{}{because}", first.trim_end()));
    }

    /// Adds the walker and the masks.
    fn walker_and_masks(&mut self, step: &StepExplanation) {
        if let Some(walker) = &step.walker {
            self.text(Tone::Plain, "    ", 6, &super::explanation::taken_by(walker));
        }
        if !step.masks.is_empty() {
            self.text(Tone::Quiet, "    ", 6, &format!("masks: {}", step.masks.join(", ")));
        }
    }

    fn trouble(&mut self, step: &StepExplanation) {
        if let Some(error) = &step.error {
            self.text(Tone::Bad, "    ", 4, &error.message);
        }
        if step.differs {
            let text = "this differs from the recorded decision, which is a bug in asterisk; please report it";
            self.text(Tone::Bad, "    ", 4, text);
        }
    }

    /// Adds everything about a step.
    fn details(&mut self, step: &StepExplanation) {
        self.title(step);
        let by = step.by.as_ref().map_or(String::new(), |by| format!(", answered by {by}"));
        let texts = if step.revision > 1 { format!(", with revision {} of the sources", step.revision) } else { String::new() };
        self.text(Tone::Quiet, "  ", 4, &format!("at {}{by}{texts}", step.at));
        self.walker_and_masks(step);
        if let Some(call) = &step.call {
            self.text(Tone::Plain, "  ", 4, &super::explanation::called(call));
        }
        if !step.context.is_empty() {
            let context: Vec<String> = step.context.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            self.text(Tone::Plain, "  adds to the context: ", 4, &super::explanation::short(&context.join(", ")));
        }
        self.attempts(step);
        self.trouble(step);
        if !step.read.is_empty() {
            self.text(Tone::Plain, "  ", 4, "values read:");
            let paths = step.read.iter().map(|read| read.path.chars().count()).max().unwrap_or(0).min(36);
            for read in &step.read {
                self.text(Tone::Quiet, &format!("    {:paths$}  ", read.path), 6 + paths, &read.value);
            }
        }
        let idle = |edge: &&EdgeExplanation| edge.outcome == EdgeOutcome::NotReached;
        for edge in step.edges.iter().filter(|edge| !idle(edge)) {
            self.blank();
            self.edge(edge);
        }
        if step.edges.iter().any(|edge| idle(&edge)) {
            self.blank();
        }
        for edge in step.edges.iter().filter(idle) {
            self.text(Tone::Quiet, "", 4, &format!("{}: {}", title(edge), why(edge)));
        }
    }

    pub(super) fn edge(&mut self, edge: &EdgeExplanation) {
        self.text(tone(edge.outcome), "", 4, &title(edge));
        let text = why(edge);
        if !text.is_empty() {
            self.text(Tone::Plain, "    ", 4, &text);
        }
        match &edge.rule {
            Some(rule) => self.rule(rule),
            None if edge.kind == EdgeKind::Fallback => {}
            None => self.text(Tone::Quiet, "    ", 4, "no condition: it always fires"),
        }
        if let Some(error) = &edge.error {
            self.error(error);
        }
        for line in &edge.values {
            let tone = if line.outcome == asterisk_script::probe::OutlineOutcome::Skipped { Tone::Quiet } else { Tone::Plain };
            self.text(tone, "      ", 10 + 2 * line.depth, &line.format(LONGEST));
        }
    }

    fn rule(&mut self, rule: &RuleExplanation) {
        let name = rule.text.rsplit('#').next().filter(|_| rule.text.starts_with(&rule.file)).unwrap_or(&rule.text);
        self.text(Tone::Quiet, "    ", 6, &format!("{}:{} {name}", rule.file, rule.line));
        if !rule.doc.is_empty() {
            self.text(Tone::Quiet, "    ", 4, &rule.doc);
        }
    }

    fn error(&mut self, error: &Diagnostic) {
        if let Some(label) = error.primary() {
            let (line, column) = label.source.line_column(label.span.start);
            self.text(Tone::Bad, "    ", 6, &format!("{}:{line}:{column} ({})", label.source.name(), error.code));
            let text = label.source.text().lines().nth(line - 1).unwrap_or_default();
            self.text(Tone::Plain, "      ", 8, text.trim());
        }
        if let Some(help) = &error.help {
            self.text(Tone::Plain, "      help: ", 12, help);
        }
    }
}
