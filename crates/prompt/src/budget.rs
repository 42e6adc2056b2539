//! Limits the text made by the filters of one rendering.

use minijinja::{Error, ErrorKind, State, Value};

/// The maximum bytes that the bounded filters of one rendering may make in total.
const MAX_MADE: usize = 8 * 1024 * 1024;
/// The name of a rendering's counter.
const TALLY: &str = "asterisk.made";

/// Counts bytes that a filter is about to make.
pub(super) fn charge(state: &mut State<'_, '_>, bytes: usize) -> Result<(), Error> {
    let before = state.get_temp(TALLY).and_then(|made| usize::try_from(made).ok()).unwrap_or(0);
    let made = before.saturating_add(bytes);
    if made > MAX_MADE {
        return Err(Error::new(ErrorKind::OutOfFuel, format!("its filters produce more than {MAX_MADE} bytes of text")));
    }
    state.set_temp(TALLY, Value::from(made));
    Ok(())
}

/// Converts a value to text, which is counted.
pub(super) fn text_of(state: &mut State<'_, '_>, value: &Value) -> Result<String, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    charge(state, text.len())?;
    Ok(text)
}
