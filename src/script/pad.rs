//! Filling a list up with copies of a value. The stock function makes all copies in one step, and in looking at their size first
//! it passes over the keys of maps and what closures captured: ten thousand copies of a megabyte.

use super::guard;
use rhai::{Array, Dynamic, Engine, EvalAltResult, NativeCallContext, Position};

/// Registers `pad` for lists, in the place of the stock one.
pub(crate) fn register(engine: &mut Engine) {
    engine.register_fn("pad", |context: NativeCallContext, array: &mut Array, len: i64, item: Dynamic| {
        pad(context.engine(), array, len, &item)
    });
}

fn pad(engine: &Engine, array: &mut Array, len: i64, item: &Dynamic) -> Result<(), Box<EvalAltResult>> {
    let len = usize::try_from(len).unwrap_or(0);
    let most = engine.max_array_size();
    if most > 0 && len > most {
        return Err(Box::new(EvalAltResult::ErrorDataTooLarge("Size of array/BLOB".into(), Position::NONE)));
    }
    while array.len() < len {
        guard::check_memory()?;
        array.push(item.clone());
    }
    Ok(())
}
