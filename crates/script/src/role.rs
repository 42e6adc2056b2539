//! Schedulers and masks: functions that choose a walker, and functions that wrap a step.

use super::invoke::{Parameters, ScriptFunction};
use super::returned_map::described;
use super::view::{ListView, ObjectView, View};
use asterisk_diag::{Diagnostic, did_you_mean};
use rhai::Dynamic;
use serde_json::Value;

const SCHEDULER: &str = "scheduler/return";
const MASK: &str = "mask/return";

/// The groups of the context that masks cannot change: the evidence, and the verdict over it.
const RECORDED: [&str; 2] = ["evidence", "verdict"];

impl ScriptFunction {
    /// Calls a scheduler and returns the name of the chosen walker: `fn select(ctx)`.
    pub fn select(&self, ctx: &View) -> Result<String, Box<Diagnostic>> {
        self.text_of(&[ctx], "a walker's name")
    }

    /// Calls a scheduler and returns its reason: `fn because(ctx, name)`.
    pub fn because(&self, ctx: &View, name: &View) -> Result<String, Box<Diagnostic>> {
        self.text_of(&[ctx, name], "a reason")
    }

    fn text_of(&self, args: &[&View], what: &str) -> Result<String, Box<Diagnostic>> {
        let value = self.evaluate(args, Parameters::ReadOnly)?;
        match value.as_immutable_string_ref() {
            Ok(text) => Ok(text.to_string()),
            Err(_) => {
                let message = format!("`{}` returned {}, not {what}", self.name(), described(&value));
                let help = "return a string, such as `ctx.walkers[0].name`";
                Err(Box::new(self.blame(Diagnostic::error(SCHEDULER, message).help(help))))
            }
        }
    }

    /// Calls a mask before a step: `fn pre(ctx)` returns a modified context. Returns the fields that differ; omitted fields are
    /// unchanged.
    pub fn before(&self, ctx: &View) -> Result<Vec<(String, Value)>, Box<Diagnostic>> {
        let value = self.evaluate(&[ctx], Parameters::ReadOnly)?;
        if same(&value, ctx) {
            return Ok(Vec::new());
        }
        let refuse = |message: String, help: &str| Box::new(self.blame(Diagnostic::error(MASK, message).help(help)));
        let Ok(map) = value.as_map_ref() else {
            let help =
                "return the context: `ctx` as it is, or with changes: `let changed = ctx.to_map(); changed.meta = ..; changed`";
            return Err(refuse(format!("`{}` returned {}, not the context", self.name(), described(&value)), help));
        };
        let mut changed = Vec::new();
        for (key, part) in map.iter() {
            let Some(before) = ctx.present(key) else {
                let hint = did_you_mean(key, ctx.entries().map(|(name, _)| name));
                let help = hint.map_or(String::new(), |hint| format!("{hint}; ")) + "a mask adds fields under `meta`";
                return Err(refuse(format!("`{}` returned a context with `{key}`, which is not part of it", self.name()), &help));
            };
            if !same(part, before) {
                if RECORDED.contains(&key.as_str()) {
                    let help =
                        "a mask may change the question, not the results; to hide text from prompts, change it in `failure`";
                    return Err(refuse(format!("`{}` changed `{key}`, which is recorded unchanged", self.name()), help));
                }
                changed.push((key.to_string(), self.data(part, MASK)?));
            }
        }
        Ok(changed)
    }

    /// Calls a mask after a step: `fn post(ctx, artifact)`. Returns the artifact if it was changed.
    pub fn after(&self, ctx: &View, artifact: &View) -> Result<Option<Value>, Box<Diagnostic>> {
        let value = self.evaluate(&[ctx, artifact], Parameters::ReadOnly)?;
        if same(&value, artifact) {
            return Ok(None);
        }
        let made = self.data(&value, MASK)?;
        if made.is_object() {
            return Ok(Some(made));
        }
        let message = format!("`{}` returned {}, not an artifact", self.name(), described(&value));
        let help =
            "return the artifact: as it is, or with changes: `let changed = artifact.to_map(); changed.field = ..; changed`";
        Err(Box::new(self.blame(Diagnostic::error(MASK, message).help(help))))
    }
}

/// Whether a script returned its input unchanged.
fn same(value: &Dynamic, view: &View) -> bool {
    let object = || value.read_lock::<ObjectView>().map(|object| View::from(object.clone()));
    let list = || value.read_lock::<ListView>().map(|list| View::from(list.clone()));
    let given = view.address();
    given.is_some() && object().or_else(list).and_then(|view| view.address()) == given
}

#[cfg(test)]
mod tests {
    use crate::ScriptFunction;
    use crate::View;
    use crate::testing::{find, line, link};
    use serde_json::json;

    /// The function with this name.
    fn function(name: &str, text: &str, arity: usize) -> ScriptFunction {
        find(&link(&[("t.rhai", text)]), &format!("t.rhai#{name}"), arity)
    }

    fn ctx() -> View {
        let part = |value, name| View::plain(&value, name);
        View::object("ctx", [("meta", part(json!({}), "meta")), ("siblings", part(json!([1]), "siblings"))])
    }

    fn before(body: &str) -> Result<Vec<(String, serde_json::Value)>, String> {
        let mask = function("pre", &format!("fn pre(ctx) {{ {body} }}"), 1);
        mask.before(&ctx()).map_err(|problem| line(&problem))
    }

    #[test]
    fn a_mask_returns_a_modified_context() {
        assert_eq!(before("ctx"), Ok(vec![]));
        assert_eq!(before("ctx.to_map()"), Ok(vec![]));
        assert_eq!(before("#{ meta: #{ a: true } }"), Ok(vec![("meta".to_owned(), json!({ "a": true }))]));
        let both = "let changed = ctx.to_map(); changed.meta = #{ n: changed.siblings.len() }; changed.siblings = []; changed";
        assert_eq!(before(both), Ok(vec![("meta".to_owned(), json!({ "n": 1 })), ("siblings".to_owned(), json!([]))]));
    }

    #[test]
    fn masks_cannot_change_findings() {
        for group in ["evidence", "verdict"] {
            let ctx = View::object("ctx", [(group, View::plain(&json!({ "headline": "boom" }), group))]);
            let mask = |body: &str| function("pre", &format!("fn pre(ctx) {{ {body} }}"), 1);
            let error = mask(&format!("#{{ {group}: #{{ headline: \"\" }} }}")).before(&ctx).map_err(|problem| line(&problem));
            assert!(error.expect_err("refused").contains(&format!("`pre` changed `{group}`, which is recorded unchanged")));
            assert_eq!(mask("ctx.to_map()").before(&ctx).map_err(|problem| line(&problem)), Ok(vec![]));
        }
    }

    #[test]
    fn anything_else_is_refused_as_a_context() {
        assert!(
            before("()")
                .expect_err("nothing")
                .contains("mask/return @ t.rhai:pre: `pre` returned nothing (`()`), not the context")
        );
        assert!(before("#{ sibling: [] }").expect_err("unknown").contains("did you mean `siblings`?; a mask adds"));
        assert!(before("ctx.meta.a = 1; ctx").expect_err("read-only").starts_with("rule/read-only"));
    }

    #[test]
    fn a_mask_returns_the_artifact() {
        let artifact = View::plain(&json!({ "a": 1 }), "artifact");
        let after = |body: &str| {
            let mask = function("post", &format!("fn post(ctx, artifact) {{ {body} }}"), 2);
            mask.after(&ctx(), &artifact).map_err(|problem| line(&problem))
        };
        assert_eq!(after("artifact"), Ok(None));
        assert_eq!(after("let made = artifact.to_map(); made.b = 2; made"), Ok(Some(json!({ "a": 1, "b": 2 }))));
        assert!(after("1").expect_err("a number").contains("returned a number (`1`), not an artifact"));
    }

    #[test]
    fn a_scheduler_returns_a_name() {
        let select = |body: &str| {
            let function = function("select", &format!("fn select(ctx) {{ {body} }}"), 1);
            function.select(&ctx()).map_err(|problem| line(&problem))
        };
        assert_eq!(select("\"a\""), Ok("a".to_owned()));
        assert!(select("()").expect_err("nothing").contains("scheduler/return @ t.rhai:select: `select` returned nothing"));
    }
}
