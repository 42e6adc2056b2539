//! How much text the filters of one rendering may make.

use minijinja::{Error, ErrorKind, State, Value};

/// Bytes that the bounded filters of one rendering may make in all.
const MADE: usize = 8 * 1024 * 1024;
/// Where a rendering keeps how much was made.
const TALLY: &str = "asterisk.made";

/// Notes that a filter is about to make that many bytes.
pub(super) fn make(state: &mut State<'_, '_>, bytes: usize) -> Result<(), Error> {
    let before = state.get_temp(TALLY).and_then(|made| usize::try_from(made).ok()).unwrap_or(0);
    let made = before.saturating_add(bytes);
    if made > MADE {
        return Err(Error::new(ErrorKind::OutOfFuel, format!("its filters make more than {MADE} bytes of text")));
    }
    state.set_temp(TALLY, Value::from(made));
    Ok(())
}

/// A value as text, which counts as made.
pub(super) fn text_of(state: &mut State<'_, '_>, value: &Value) -> Result<String, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    make(state, text.len())?;
    Ok(text)
}
