//! Documents: text with places at which a line may be broken, and the printer that decides which of them are used.

use std::rc::Rc;

/// A document. Shared, since a choice holds the same parts in several layouts.
#[derive(Clone, Debug)]
pub(super) struct Doc<'t>(Rc<DocNode<'t>>);

#[derive(Debug)]
struct DocNode<'t> {
    layout: DocLayout<'t>,
    /// Whether it has a line end in every layout.
    multiline: bool,
}

impl<'t> Doc<'t> {
    pub(super) fn new(layout: DocLayout<'t>) -> Self {
        let multiline = layout.is_multiline();
        Self(Rc::new(DocNode { layout, multiline }))
    }

    /// Whether it has a line end in every layout.
    pub(super) fn is_multiline(&self) -> bool {
        self.0.multiline
    }

    /// Whether it prints nothing.
    pub(super) fn is_empty(&self) -> bool {
        match &self.0.layout {
            DocLayout::Text(text) => text.is_empty(),
            DocLayout::Concat(parts) => parts.iter().all(Self::is_empty),
            _ => false,
        }
    }
}

#[derive(Debug)]
pub(super) enum DocLayout<'t> {
    /// Text as it is; it may contain line ends.
    Text(&'t str),
    /// A string that goes on after a `\` at the end of a line, and the column at which it starts in the source.
    Continued(&'t str, usize),
    /// A comment.
    Comment(Remark<'t>),
    /// A space, or a line end.
    Line,
    /// A line end.
    HardLine,
    /// An empty line.
    Blank,
    Concat(Vec<Doc<'t>>),
    Indent(Doc<'t>),
    /// On one line if it fits.
    Group(Doc<'t>),
    /// With all its lines broken.
    Broken(Doc<'t>),
    /// A space if what follows fits on the line, else a line end.
    FillLine(Doc<'t>),
    /// The first layout whose first line fits, else the last one.
    Choice(Vec<Doc<'t>>),
    /// Every part on a line of its own, the further ones indented, if all of them fit; else the other layout.
    Lines(Vec<Doc<'t>>, Doc<'t>),
}

/// A comment, with the line ends around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Remark<'t> {
    pub(super) text: &'t str,
    /// Whether it starts a line.
    pub(super) own_line: bool,
    /// Whether a line ends after it.
    pub(super) ends_line: bool,
}

pub(super) fn text(text: &str) -> Doc<'_> {
    Doc::new(DocLayout::Text(text))
}

pub(super) fn concat<'t>(parts: impl IntoIterator<Item = Doc<'t>>) -> Doc<'t> {
    Doc::new(DocLayout::Concat(parts.into_iter().collect()))
}

pub(super) fn indent(doc: Doc<'_>) -> Doc<'_> {
    Doc::new(DocLayout::Indent(doc))
}

pub(super) fn group(doc: Doc<'_>) -> Doc<'_> {
    Doc::new(DocLayout::Group(doc))
}

pub(super) fn broken(doc: Doc<'_>) -> Doc<'_> {
    Doc::new(DocLayout::Broken(doc))
}

pub(super) fn fill_line(next: Doc<'_>) -> Doc<'_> {
    Doc::new(DocLayout::FillLine(next))
}

pub(super) fn lines<'t>(parts: Vec<Doc<'t>>, otherwise: Doc<'t>) -> Doc<'t> {
    Doc::new(DocLayout::Lines(parts, otherwise))
}

/// A choice; the only layout itself if there is one.
pub(super) fn choice(mut layouts: Vec<Doc<'_>>) -> Doc<'_> {
    match layouts.len() {
        1 => layouts.remove(0),
        _ => Doc::new(DocLayout::Choice(layouts)),
    }
}

pub(super) fn line<'t>() -> Doc<'t> {
    Doc::new(DocLayout::Line)
}

pub(super) fn hard_line<'t>() -> Doc<'t> {
    Doc::new(DocLayout::HardLine)
}

pub(super) fn blank<'t>() -> Doc<'t> {
    Doc::new(DocLayout::Blank)
}

impl DocLayout<'_> {
    fn is_multiline(&self) -> bool {
        match self {
            Self::Text(text) | Self::Continued(text, _) => text.contains('\n'),
            Self::Comment(remark) => remark.ends_line,
            Self::HardLine | Self::Blank | Self::Broken(_) | Self::Lines(..) => true,
            Self::Line | Self::FillLine(_) => false,
            Self::Concat(parts) => parts.iter().any(Doc::is_multiline),
            Self::Indent(doc) | Self::Group(doc) => doc.is_multiline(),
            Self::Choice(layouts) => layouts.first().is_some_and(Doc::is_multiline),
        }
    }
}

/// How a group is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PrintMode {
    Flat,
    Broken,
}

#[derive(Clone, Copy)]
struct PrintCommand<'d, 't> {
    indent: usize,
    mode: PrintMode,
    doc: &'d Doc<'t>,
}

/// Prints a document with lines of at most `width` characters, where its layouts allow it.
pub(super) fn print(doc: &Doc<'_>, width: usize, line_end: &str) -> String {
    let mut printer = Printer { width, line_end, out: String::new(), column: 0, newline: false, space: false };
    printer.print(doc, &hard_line());
    printer.out
}

struct Printer<'p> {
    width: usize,
    line_end: &'p str,
    out: String,
    column: usize,
    /// Whether a comment has ended the line.
    newline: bool,
    /// Whether a comment needs a space after it.
    space: bool,
}

impl Printer<'_> {
    fn print<'t>(&mut self, doc: &Doc<'t>, hard: &Doc<'t>) {
        let mut stack = vec![PrintCommand { indent: 0, mode: PrintMode::Broken, doc }];
        while let Some(PrintCommand { indent, mode, doc }) = stack.pop() {
            match &doc.0.layout {
                DocLayout::Text(text) => self.text(indent, text),
                DocLayout::Continued(text, column) => self.continued(indent, text, *column),
                DocLayout::Comment(remark) => self.comment(indent, *remark),
                DocLayout::Line if mode == PrintMode::Flat => {
                    if !self.newline && !self.at_line_start() && !self.out.ends_with(' ') {
                        self.space = false;
                        self.out.push(' ');
                        self.column += 1;
                    }
                }
                DocLayout::Line | DocLayout::HardLine => self.line(),
                DocLayout::Blank => {
                    self.line();
                    if !self.out.is_empty() && !self.out.ends_with(&self.line_end.repeat(2)) {
                        self.out.push_str(self.line_end);
                    }
                }
                DocLayout::Concat(parts) => stack.extend(parts.iter().rev().map(|doc| PrintCommand { indent, mode, doc })),
                DocLayout::Indent(doc) => stack.push(PrintCommand { indent: indent + 4, mode, doc }),
                DocLayout::Broken(doc) => stack.push(PrintCommand { indent, mode: PrintMode::Broken, doc }),
                DocLayout::Group(doc) => {
                    let flat = PrintCommand { indent, mode: PrintMode::Flat, doc };
                    let fits = !doc.is_multiline() && self.fits(flat, &stack);
                    stack.push(if fits { flat } else { PrintCommand { mode: PrintMode::Broken, ..flat } });
                }
                DocLayout::FillLine(next) => {
                    let next = PrintCommand { indent, mode: PrintMode::Flat, doc: next };
                    if self.fits_after(next, 2) {
                        self.text(indent, " ");
                    } else {
                        self.line();
                    }
                }
                DocLayout::Lines(parts, otherwise) => {
                    let mut parts_fit = parts.iter().enumerate().map(|(at, doc)| {
                        let indent = if at == 0 { indent } else { indent + 4 };
                        let part = PrintCommand { indent, mode: PrintMode::Flat, doc };
                        let rest = if at + 1 == parts.len() { &stack[..] } else { &[] };
                        !doc.is_multiline() && if at == 0 { self.fits(part, rest) } else { self.fits_at(indent, part, rest) }
                    });
                    if !self.newline && parts_fit.all(|fits| fits) {
                        for (at, doc) in parts.iter().enumerate().rev() {
                            let part_indent = if at == 0 { indent } else { indent + 4 };
                            stack.push(PrintCommand { indent: part_indent, mode: PrintMode::Flat, doc });
                            if at > 0 {
                                stack.push(PrintCommand { indent, mode: PrintMode::Broken, doc: hard });
                            }
                        }
                    } else {
                        stack.push(PrintCommand { indent, mode, doc: otherwise });
                    }
                }
                DocLayout::Choice(layouts) => {
                    let (last, others) = layouts.split_last().expect("a choice has layouts");
                    let fitting = others.iter().find(|doc| self.fits(PrintCommand { indent, mode, doc }, &stack));
                    stack.push(PrintCommand { indent, mode, doc: fitting.unwrap_or(last) });
                }
            }
        }
        self.line();
    }

    fn at_line_start(&self) -> bool {
        self.out.is_empty() || self.out.ends_with('\n')
    }

    /// Ends the line, unless it is empty.
    fn line(&mut self) {
        (self.newline, self.space) = (false, false);
        if !self.at_line_start() {
            self.out.truncate(self.out.trim_end_matches(' ').len());
            self.out.push_str(self.line_end);
        }
        self.column = 0;
    }

    fn start(&mut self, indent: usize) {
        if self.newline {
            self.line();
        }
        if self.at_line_start() {
            self.out.push_str(&" ".repeat(indent));
            self.column = indent;
            self.space = false;
        }
    }

    fn text(&mut self, indent: usize, text: &str) {
        if text.is_empty() {
            return;
        }
        if text == " " && (self.newline || self.at_line_start()) {
            return;
        }
        self.start(indent);
        if self.space && !text.starts_with([' ', ')', ']', ',', ';']) {
            self.out.push(' ');
            self.column += 1;
        }
        if text == " " && self.out.ends_with(' ') {
            return;
        }
        self.space = false;
        self.raw(text);
    }

    fn raw(&mut self, text: &str) {
        self.out.push_str(text);
        self.column = match text.rsplit_once('\n') {
            Some((_, last)) => last.chars().count(),
            None => self.column + text.chars().count(),
        };
    }

    /// A string whose further lines lose as many spaces as the column of its start: they move with it.
    fn continued(&mut self, indent: usize, text: &str, column: usize) {
        self.text(indent, "");
        self.start(indent);
        if self.space {
            self.out.push(' ');
            self.column += 1;
            self.space = false;
        }
        let moved = moved(text, column, self.column);
        self.raw(&moved);
    }

    fn comment(&mut self, indent: usize, remark: Remark<'_>) {
        if remark.own_line && !self.at_line_start() {
            self.line();
        }
        self.start(indent);
        if !self.at_line_start() && self.column > indent && !self.out.ends_with([' ', '(', '[']) {
            self.out.push(' ');
            self.column += 1;
        }
        self.raw(remark.text);
        self.space = true;
        self.newline = remark.ends_line;
    }

    /// Whether everything up to the next line end fits on the line.
    fn fits(&self, first: PrintCommand<'_, '_>, rest: &[PrintCommand<'_, '_>]) -> bool {
        let column = if self.newline || self.at_line_start() { first.indent } else { self.column };
        self.fits_at(column, first, rest)
    }

    /// Whether it fits after some more characters.
    fn fits_after(&self, first: PrintCommand<'_, '_>, more: usize) -> bool {
        !self.newline && self.fits_at(self.column + more, first, &[])
    }

    fn fits_at(&self, column: usize, first: PrintCommand<'_, '_>, rest: &[PrintCommand<'_, '_>]) -> bool {
        let Some(mut left) = self.width.checked_sub(column) else { return false };
        let mut stack = vec![first];
        let mut rest = rest.iter().rev();
        // What follows may still be broken.
        let mut follows = false;
        loop {
            let Some(PrintCommand { indent, mode, doc }) = stack.pop().or_else(|| {
                follows = true;
                rest.next().copied()
            }) else {
                return true;
            };
            let text: &str = match &doc.0.layout {
                DocLayout::Text(text) | DocLayout::Continued(text, _) => text,
                DocLayout::Comment(remark) => {
                    if remark.ends_line {
                        return true;
                    }
                    remark.text
                }
                DocLayout::Line if mode == PrintMode::Flat => " ",
                DocLayout::Line | DocLayout::HardLine | DocLayout::Blank | DocLayout::FillLine(_) => return true,
                DocLayout::Lines(parts, _) => {
                    // A line ends after the first part.
                    rest = [].iter().rev();
                    stack.clear();
                    stack.push(PrintCommand { indent, mode: PrintMode::Flat, doc: &parts[0] });
                    continue;
                }
                DocLayout::Concat(parts) => {
                    stack.extend(parts.iter().rev().map(|doc| PrintCommand { indent, mode, doc }));
                    continue;
                }
                DocLayout::Indent(doc) => {
                    stack.push(PrintCommand { indent, mode, doc });
                    continue;
                }
                DocLayout::Broken(doc) => {
                    stack.push(PrintCommand { indent, mode: PrintMode::Broken, doc });
                    continue;
                }
                DocLayout::Group(doc) => {
                    let mode = if follows || doc.is_multiline() { PrintMode::Broken } else { PrintMode::Flat };
                    stack.push(PrintCommand { indent, mode, doc });
                    continue;
                }
                DocLayout::Choice(layouts) => {
                    let layout = if follows { layouts.last() } else { layouts.first() };
                    stack.extend(layout.map(|doc| PrintCommand { indent, mode, doc }));
                    continue;
                }
            };
            let (start, ends) = text.split_once('\n').map_or((text, false), |(start, _)| (start, true));
            match left.checked_sub(start.chars().count()) {
                Some(fewer) => left = fewer,
                None => return false,
            }
            if ends {
                return true;
            }
        }
    }
}

/// The text of a string with continued lines, after it moved from one column to another. Rhai skips white space at the start of a continued line up
/// to the column of the string.
pub(super) fn moved(text: &str, from: usize, to: usize) -> String {
    let mut lines = text.split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        out.push('\n');
        let rest = line.trim_start();
        let spaces = line.chars().count() - rest.chars().count();
        // Columns are counted from 0 here, and from 1 in Rhai.
        let kept = spaces.saturating_sub(from + 1);
        if kept > 0 {
            out.push_str(&" ".repeat(to + 1));
            out.extend(line.chars().skip(from + 1).take(kept));
        } else {
            out.push_str(&" ".repeat(spaces.min(to + 1)));
        }
        out.push_str(rest);
    }
    out
}
