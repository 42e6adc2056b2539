//! Renders diagnostics with miette.

use super::Painted;
use super::clean::{cleaned, plain};
use asterisk_diag::{Diagnostic, Label, Severity, Source};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, NamedSource, ReportHandler as _,
    SourceCode, SourceSpan, SpanContents,
};
use std::fmt;

/// The maximum column of a label that is drawn: beyond it, no screen would show it, and the formatter overflows.
const COLUMN: usize = 2_000;

/// Renders a diagnostic with its source lines. Labels in other texts than that of the primary label follow as separate notes.
pub(super) fn render(diagnostic: &Diagnostic, coloured: bool) -> Painted {
    let theme = if coloured { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(120).with_links(false);
    if diagnostic.labels.iter().all(drawable) {
        return painted(&handler, diagnostic);
    }
    // The lines are too long to be drawn: the locations are added to the message instead.
    let mut bare = Diagnostic { labels: Vec::new(), ..diagnostic.clone() };
    let places = diagnostic.labels.iter().map(|label| {
        let (line, column) = label.source.line_column(label.span.start);
        format!("at {}:{line}:{column} {}", label.source.name(), label.text)
    });
    bare.message = std::iter::once(bare.message.clone()).chain(places).collect::<Vec<_>>().join("\n");
    painted(&handler, &bare)
}

/// Renders a diagnostic whose parts are cleaned before the formatter adds colours.
fn painted(handler: &GraphicalReportHandler, diagnostic: &Diagnostic) -> Painted {
    Painted::new(Rendered(handler, &MietteDiagnostic::new(diagnostic)).to_string().trim_end().to_owned())
}

/// Whether the lines of a label, and those next to them, are short enough to be drawn.
fn drawable(label: &Label) -> bool {
    let text = label.source.text().as_bytes();
    let (start, end) = (label.span.start.min(text.len()), label.span.end.min(text.len()));
    let from = start.saturating_sub(2 * COLUMN);
    let upto = (end + 2 * COLUMN).min(text.len());
    end - start <= 4 * COLUMN && text[from..upto].split(|byte| *byte == b'\n').all(|line| line.len() <= COLUMN)
}

struct Rendered<'a>(&'a GraphicalReportHandler, &'a MietteDiagnostic);

impl fmt::Display for Rendered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.debug(self.1, f)
    }
}

/// A diagnostic for miette.
#[derive(Debug)]
struct MietteDiagnostic {
    code: Option<String>,
    severity: Severity,
    message: String,
    help: Option<String>,
    source: Option<NamedSource<SourceLines>>,
    labels: Vec<LabeledSpan>,
    elsewhere: Vec<Self>,
}

impl MietteDiagnostic {
    fn new(diagnostic: &Diagnostic) -> Self {
        let home = diagnostic.labels.first().map(|label| &label.source);
        let (here, elsewhere): (Vec<&Label>, Vec<&Label>) =
            diagnostic.labels.iter().partition(|label| Some(&label.source) == home);
        let primary = here.first().copied().cloned();
        let labels = here.into_iter().map(|label| span(label, Some(label) == primary.as_ref())).collect();
        let note = |label: &&Label| Self {
            code: None,
            severity: Severity::Advice,
            message: plain(&label.text),
            help: None,
            source: Some(named(label)),
            labels: vec![span(label, true)],
            elsewhere: Vec::new(),
        };
        Self {
            code: Some(diagnostic.code.to_string()),
            severity: diagnostic.severity,
            message: plain(&diagnostic.message),
            help: diagnostic.help.as_deref().map(plain),
            source: primary.as_ref().map(named),
            labels,
            elsewhere: elsewhere.iter().map(note).collect(),
        }
    }
}

fn named(label: &Label) -> NamedSource<SourceLines> {
    NamedSource::new(plain(label.source.name()), SourceLines(plain(label.source.text())))
}

/// A cleaned text with columns counted in characters, as everywhere else.
#[derive(Debug)]
struct SourceLines(String);

impl SourceCode for SourceLines {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let read = self.0.as_str().read_span(span, before, after)?;
        let column = match self.0.get(..span.offset()) {
            Some(text) if before == 0 => text.rsplit('\n').next().unwrap_or_default().chars().count(),
            _ => read.column(),
        };
        Ok(Box::new(MietteSpanContents::new(read.data(), *read.span(), read.line(), column, read.line_count())))
    }
}

/// Maps an offset in the text to the cleaned text.
fn cleaned_offset(source: &Source, offset: usize) -> usize {
    let mut offset = offset;
    while !source.text().is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &source.text()[..offset];
    // A `\r` before a `\n` is removed.
    let before = if source.text()[offset..].starts_with('\n') { before.strip_suffix('\r').unwrap_or(before) } else { before };
    cleaned(before).len()
}

/// Converts a label. At the very end of a text no caret would be drawn: it moves back by a character.
fn span(label: &Label, primary: bool) -> LabeledSpan {
    let text = label.source.text();
    let mut start = label.span.start.min(text.len());
    if start == text.len() {
        start = text.char_indices().next_back().map_or(0, |(at, _)| at);
    }
    let end = label.span.end.clamp(start, text.len());
    let (start, end) = (cleaned_offset(&label.source, start), cleaned_offset(&label.source, end));
    let message = (!label.text.is_empty()).then(|| plain(&label.text));
    if primary {
        LabeledSpan::new_primary_with_span(message, start..end)
    } else {
        LabeledSpan::new_with_span(message, start..end)
    }
}

impl fmt::Display for MietteDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for MietteDiagnostic {}

impl miette::Diagnostic for MietteDiagnostic {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code.as_ref().map(|code| Box::new(code) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Advice => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.source.as_ref().map(|source| source as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        if self.elsewhere.is_empty() {
            return None;
        }
        Some(Box::new(self.elsewhere.iter().map(|note| note as &dyn miette::Diagnostic)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_diag::{Source, Span};

    fn drawn(diagnostic: &Diagnostic) -> String {
        render(diagnostic, false).as_str().to_owned()
    }

    #[test]
    fn carets_stay_aligned() {
        let text = "{\r\n  \"é\u{1b}]0;P\u{7}\u{202e}\": oops }\r\n";
        let source = Source::new("a\u{1b}[2J.json", text);
        let at = text.find("oops").expect("a place");
        let diagnostic = Diagnostic::error("x/y", "a\u{9b}b").label(&source, Span::new(at, at + 4), "here\u{7f}").help("c\u{7}d");
        let drawn = drawn(&diagnostic);
        let (line, column) = source.line_column(at);
        assert!(drawn.contains(&format!("[a␛[2J.json:{line}:{column}]")), "{drawn}");
        let lines: Vec<&str> = drawn.lines().collect();
        let quoted = lines.iter().position(|line| line.contains("oops")).expect("the line");
        let left = |line: &str, what: char| line.chars().position(|ch| ch == what);
        assert_eq!(left(lines[quoted], 'o'), left(lines[quoted + 1], '─'), "{drawn}");
        assert!(["a\u{fffd}b", "here␡", "c␇d", "é␛]0;P␇\u{fffd}"].iter().all(|part| drawn.contains(part)), "{drawn}");
        assert!(!drawn.contains(|ch: char| ch != '\n' && asterisk_base::model::is_invisible(ch)), "{drawn}");
    }

    #[test]
    fn labels_in_other_texts_follow_as_notes() {
        let (rule, pipeline) = (Source::new("r.rhai", "fn f() {\n  artifact.x\n}"), Source::new("p.yaml", "rule: r.rhai#f\n"));
        let diagnostic = Diagnostic::error("rule/unknown-field", "no field `x` on `artifact`")
            .label(&rule, Span::new(20, 21), "here")
            .label(&pipeline, Span::new(6, 14), "called from here")
            .help("did you mean `y`?");
        let text = drawn(&diagnostic);
        for part in ["rule/unknown-field", "[r.rhai:2:12]", "here", "did you mean `y`?", "[p.yaml:1:7]", "called from here"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn a_label_far_out_on_a_line_is_printed_as_a_location() {
        let text = format!("{{\"a\": [{}]}}", "1, ".repeat(40_000));
        let source = Source::new("mini.json", text);
        let at = source.text().len() - 2;
        let far = Diagnostic::error("x/y", "it is wrong").label(&source, Span::new(at, at + 1), "here");
        let text = drawn(&far);
        assert!(text.contains("it is wrong") && text.contains("mini.json:1:120"), "{text}");
        assert!(text.len() < 500);
    }

    #[test]
    fn a_label_after_the_end_of_a_text_is_drawn_on_its_last_character() {
        let source = Source::new("x", "ab(");
        let diagnostic = Diagnostic::error("x/y", "m").label(&source, Span::new(3, 3), "unclosed");
        assert!(drawn(&diagnostic).contains("unclosed"));
        let empty = Source::new("x", "");
        assert!(drawn(&Diagnostic::error("x/y", "m").label(&empty, Span::new(0, 0), "")).contains('m'));
    }
}
