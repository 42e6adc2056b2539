//! `pad` for lists. The stock function makes all copies in one step, and its size check ignores the keys of maps and the
//! variables captured by closures: ten thousand copies of a megabyte.

use super::guard;
use rhai::{Array, Dynamic, Engine, EvalAltResult, NativeCallContext, Position};

/// Registers `pad` for lists, replacing the stock one.
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
