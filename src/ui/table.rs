//! Text tables.

use super::{Painted, plain};
use asterisk_base::environment::Environment;
use comfy_table::{Attribute, Cell, Color, ColumnConstraint, ContentArrangement, LineStyle, TableStyle};
use std::borrow::Cow;

/// The width of a table without a terminal, in characters, unless `COLUMNS` is set.
const WIDTH: u16 = 160;
/// A line under the header, and nothing else.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// The maximum characters of a cell: layout is quadratic in the length.
const CELL: usize = 1000;

/// The colour of a cell, if it has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellPaint(Option<[u8; 3]>);

impl CellPaint {
    /// The default colour.
    pub fn none() -> Self {
        Self(None)
    }

    /// Parses `#rrggbb`; anything else is the default colour.
    pub fn of(hex: &str) -> Self {
        let digits = hex.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii());
        let part = |at: usize| u8::from_str_radix(digits?.get(at..at + 2)?, 16).ok();
        Self(part(0).and_then(|red| Some([red, part(2)?, part(4)?])))
    }
}

/// A table.
#[derive(Debug)]
pub struct Table {
    table: comfy_table::Table,
    coloured: bool,
}

/// An empty table as wide as the output.
fn empty(environment: &Environment) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_style(STYLE);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if !environment.output().is_terminal() {
        let columns = environment.variables().text("COLUMNS").and_then(|columns| columns.parse().ok());
        table.force_no_tty();
        table.set_width(columns.unwrap_or(WIDTH).max(20));
    }
    table
}

/// The maximum width of a table, in characters.
pub(super) fn width(environment: &Environment) -> usize {
    empty(environment).width().map_or(usize::from(WIDTH), usize::from)
}

impl Table {
    pub(super) fn new(environment: &Environment, columns: &[&str], coloured: bool) -> Self {
        let mut table = empty(environment);
        if coloured {
            table.enforce_styling();
        }
        let head = |text: &&str| {
            let cell = Cell::new(one_line(text));
            if coloured { cell.add_attribute(Attribute::Bold) } else { cell }
        };
        table.set_header(columns.iter().map(head));
        Self { table, coloured }
    }

    /// Prevents wrapping in a column, however narrow the table is.
    pub fn no_wrap(&mut self, column: usize) {
        if let Some(column) = self.table.column_mut(column) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }

    /// Adds a row.
    pub fn row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.table.add_row(cells.into_iter().map(|cell| Cell::new(one_line(cell.as_ref()))));
    }

    /// Adds a row of cells with colours.
    pub fn painted<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = (S, CellPaint)>) {
        let coloured = self.coloured;
        let cell = |(text, CellPaint(paint)): (S, CellPaint)| {
            let cell = Cell::new(one_line(text.as_ref()));
            match paint.filter(|_| coloured) {
                Some([r, g, b]) => cell.fg(Color::Rgb { r, g, b }),
                None => cell,
            }
        };
        self.table.add_row(cells.into_iter().map(cell));
    }

    /// The table as text.
    pub fn text(&self) -> Painted {
        let text = self.table.to_string();
        let text = if self.coloured { text } else { text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") };
        Painted::new(text)
    }
}

/// The text of a cell. A tab would misalign the columns after it.
fn one_line(text: &str) -> String {
    plain(&clipped(text)).replace('\t', " ")
}

/// Cuts a text to the size of a cell.
fn clipped(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(CELL) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_very_long_text_is_laid_out_quickly() {
        let mut table = Table::new(&Environment::default(), &["case", "next"], false);
        table.row(["é".repeat(2 << 20), "x".to_owned()]);
        let text = table.text();
        let text = text.as_str();
        assert_eq!((text.matches('é').count(), text.matches('…').count()), (CELL, 1));
    }
}
