//! The texts that a client sees: where each is on disk, and the places in it.

use crate::protocol::DapSource;
use asterisk_diag::{Source, Span};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TextArea {
    /// A script, below the directory of scripts.
    Script,
    /// A pipeline.
    Pipeline,
    /// A data file, below `data/` of the directory of scripts.
    Data,
}

/// Finds the file of a text, unless it is bundled or gone.
pub(crate) type FindFile = dyn Fn(TextArea, &str) -> Option<PathBuf>;

/// A text.
pub(crate) struct ShownText {
    pub(crate) area: TextArea,
    pub(crate) source: Source,
    /// Its file.
    path: Option<PathBuf>,
    /// Whether the file has another text.
    is_changed: bool,
    /// The byte offset of each line.
    lines: Vec<usize>,
}

/// A place in a text; lines and columns count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextPlace {
    /// The number of the text.
    pub(crate) text: usize,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) end_line: usize,
    pub(crate) end_column: usize,
}

/// All texts that were shown, by number.
pub(crate) struct TextBook {
    texts: RefCell<Vec<Rc<ShownText>>>,
    find: Box<FindFile>,
}

impl ShownText {
    fn new(area: TextArea, source: Source, path: Option<PathBuf>) -> Self {
        let lines = std::iter::once(0).chain(source.text().match_indices('\n').map(|(at, _)| at + 1)).collect();
        let on_disk = path.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let is_changed = on_disk.is_some_and(|text| text.trim_end() != source.text().trim_end());
        Self { area, source, path, is_changed, lines }
    }

    fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|start| *start <= offset).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or_default();
        let before = self.source.text().get(start..offset).unwrap_or_default();
        (line, before.chars().count() + 1)
    }

    /// The number of lines.
    pub(crate) fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// A line without its end.
    pub(crate) fn line(&self, line: usize) -> &str {
        let start = line.checked_sub(1).and_then(|at| self.lines.get(at)).copied();
        let rest = start.and_then(|start| self.source.text().get(start..)).unwrap_or_default();
        rest.lines().next().unwrap_or_default()
    }
}

impl TextBook {
    /// An empty book.
    pub(crate) fn new(find: Box<FindFile>) -> Self {
        Self { texts: RefCell::default(), find }
    }

    /// The number of a text.
    pub(crate) fn number(&self, area: TextArea, source: &Source) -> usize {
        let known = self.texts.borrow().iter().position(|text| text.area == area && text.source == *source);
        known.unwrap_or_else(|| {
            let name = source.name();
            let path = (self.find)(area, name.strip_suffix(" (bundled)").unwrap_or(name));
            // A bundled text counts as the file of the project that has the same text.
            let is_same = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text == source.text());
            let path = path.filter(|path| !source.is_bundled() || is_same(path));
            let mut texts = self.texts.borrow_mut();
            texts.push(Rc::new(ShownText::new(area, source.clone(), path)));
            texts.len() - 1
        })
    }

    /// The text with a number.
    pub(crate) fn text(&self, number: usize) -> Option<Rc<ShownText>> {
        self.texts.borrow().get(number).cloned()
    }

    /// The numbers of all texts so far.
    pub(crate) fn numbers(&self) -> std::ops::Range<usize> {
        0..self.texts.borrow().len()
    }

    /// The place of a span.
    pub(crate) fn place(&self, area: TextArea, source: &Source, span: Span) -> Option<TextPlace> {
        let (source, span) = source.resolve(span);
        let number = self.number(area, &source);
        let text = self.text(number)?;
        let ((line, column), (end_line, end_column)) = (text.position(span.start), text.position(span.end));
        Some(TextPlace { text: number, line, column, end_line, end_column })
    }

    /// A text as the client knows it: by its file, or by its number if there is none with this text.
    pub(crate) fn shown(&self, number: usize) -> DapSource {
        let Some(text) = self.text(number) else { return DapSource::default() };
        let name = text.source.name();
        match &text.path {
            Some(path) if !text.is_changed => DapSource {
                name: Some(name.rsplit('/').next().unwrap_or(name).to_owned()),
                path: Some(path.display().to_string()),
                ..DapSource::default()
            },
            path => DapSource {
                name: Some(name.to_owned()),
                path: Some(name.strip_suffix(" (bundled)").unwrap_or(name).to_owned()),
                source_reference: i64::try_from(number + 1).ok(),
                origin: Some(if path.is_some() { "as recorded; the file has changed" } else { "not on disk" }.to_owned()),
            },
        }
    }

    /// The texts that a client means: by number, by file, or by the end of a path.
    pub(crate) fn meant(&self, source: &DapSource) -> Vec<usize> {
        if let Some(reference) = source.source_reference.filter(|reference| *reference > 0) {
            let number = usize::try_from(reference - 1).ok().filter(|number| *number < self.numbers().end);
            return number.into_iter().collect();
        }
        let Some(path) = &source.path else { return Vec::new() };
        let path = Path::new(path);
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let texts = self.texts.borrow();
        let all = || texts.iter().enumerate();
        let by_file = all().filter(|(_, text)| text.path.as_ref().is_some_and(|file| same_file(file, &whole)));
        let found: Vec<usize> = by_file.map(|(number, _)| number).collect();
        if !found.is_empty() {
            return found;
        }
        let by_name = all().filter(|(_, text)| ends_with(path, text));
        let longest = by_name.clone().map(|(_, text)| text.source.name().len()).max();
        by_name.filter(|(_, text)| Some(text.source.name().len()) == longest).map(|(number, _)| number).collect()
    }
}

fn same_file(file: &Path, other: &Path) -> bool {
    file == other || file.canonicalize().is_ok_and(|file| file == other)
}

/// Whether a path ends with the name of a text.
fn ends_with(path: &Path, text: &ShownText) -> bool {
    let name = text.source.name();
    let name = name.strip_suffix(" (bundled)").unwrap_or(name);
    match text.area {
        TextArea::Script | TextArea::Pipeline => path.ends_with(name),
        TextArea::Data => path.ends_with(Path::new("data").join(name)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_text_is_known_by_its_file_or_by_its_number() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.rhai");
        std::fs::write(&file, "one\ntwo é\n").unwrap();
        let found = file.clone();
        let book = TextBook::new(Box::new(move |_, name| (name != "lib/gone.rhai").then(|| found.clone())));
        let same = Source::new("rules/a.rhai", "one\ntwo é\n");
        let other = Source::new("rules/a.rhai", "one\n");
        let gone = Source::new("lib/gone.rhai", "x");
        let numbers = [&same, &other, &gone].map(|source| book.number(TextArea::Script, source));
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(book.number(TextArea::Script, &same), 0);
        assert_eq!(book.shown(0).source_reference, None);
        assert_eq!((book.shown(1).source_reference, book.shown(2).source_reference), (Some(2), Some(3)));
        let path = |path: &str| DapSource { path: Some(path.into()), ..DapSource::default() };
        assert_eq!(book.meant(&path(file.to_str().unwrap())), [0, 1], "a line of the file is one of every version");
        assert_eq!(book.meant(&path("/elsewhere/scripts/lib/gone.rhai")), [2]);
        assert_eq!(book.meant(&path("/elsewhere/other.rhai")), [0; 0]);
        assert_eq!(book.meant(&book.shown(1)), [1]);
        assert_eq!(book.meant(&DapSource { source_reference: Some(99), ..DapSource::default() }), [0; 0]);
        let place = book.place(TextArea::Script, &same, Span::new(8, 10)).unwrap();
        assert_eq!((place.line, place.column, place.end_column), (2, 5, 6));
        assert_eq!(book.text(0).unwrap().line(2), "two é");
    }
}
