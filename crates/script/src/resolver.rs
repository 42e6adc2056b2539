//! Resolves imports among the scripts already linked, and nothing else.

use super::fault::ScriptFault;
use super::reference::check_path;
use rhai::{Engine, EvalAltResult, Module, ModuleResolver, Position, Shared};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Modules by the path of their script. Used only while linking.
#[derive(Clone, Default)]
pub(crate) struct ScriptResolver(Arc<RwLock<HashMap<String, Shared<Module>>>>);

impl ScriptResolver {
    pub(crate) fn insert(&self, path: &str, module: Shared<Module>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), module);
    }

    fn get(&self, path: &str) -> Option<Shared<Module>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }
}

/// The script that an import refers to: `lib/base` and `lib/base.rhai` are equivalent.
pub(crate) fn script_of(import: &str) -> Result<String, &'static str> {
    check_path(import)?;
    Ok(format!("{}.rhai", import.strip_suffix(".rhai").unwrap_or(import)))
}

impl ModuleResolver for ScriptResolver {
    fn resolve(&self, _: &Engine, _: Option<&str>, path: &str, position: Position) -> Result<Shared<Module>, Box<EvalAltResult>> {
        let found = script_of(path).map(|script| self.get(&script));
        let message = match found {
            Ok(Some(module)) => return Ok(module),
            Ok(None) => format!("unknown script `{path}`"),
            Err(why) => format!("`{path}` {why}"),
        };
        ScriptFault::new("script/import", message).fail_at(position)
    }
}
