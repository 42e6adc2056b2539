//! Converts run-time errors to diagnostics: the innermost position is the primary label, the enclosing calls are secondary
//! labels, each in its own file.
//!
//! In Rhai's `ErrorInFunctionCall(name, source, inner, position)`, `source` is the file in which `name` is defined, and
//! `position` is in the file of the enclosing frame.

use super::fault;
use super::guard::EvaluationStop;
use super::unit::Unit;
use asterisk_diag::{Diagnostic, Label, Source, Span};
use rhai::{Engine, EvalAltResult as E, Position};

/// The context for explaining errors.
pub(crate) struct Tracer<'a> {
    pub(crate) engine: &'a Engine,
    /// The text that was called, or is being linked.
    pub(crate) entry: &'a Unit,
    /// The label for errors without a position: the definition of the called function.
    pub(crate) fallback: Option<(Source, Span)>,
    /// The scripts, by path.
    pub(crate) unit: &'a dyn Fn(&str) -> Option<&'a Unit>,
}

/// An error without a position.
pub(crate) struct Leaf {
    pub(crate) code: std::borrow::Cow<'static, str>,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) label: String,
    /// Labels that it already has.
    pub(crate) inner: Vec<Label>,
}

struct TraceFrame<'a> {
    /// The file of the call.
    unit: &'a Unit,
    position: Position,
    name: String,
    /// The file of the called function.
    callee: &'a Unit,
}

impl Tracer<'_> {
    /// The diagnostic for a stopped evaluation.
    pub(crate) fn explain(&self, stop: EvaluationStop) -> Diagnostic {
        match stop {
            EvaluationStop::Error(error) => self.error(*error),
            EvaluationStop::Over(fault, noticed) => {
                let (frames, inner) = self.unwind(noticed.map(|error| *error));
                let position = inner.map_or(Position::NONE, |error| error.position());
                let label = if fault.code == fault::DEADLINE { "when the time was over" } else { "when the limit was reached" };
                let leaf =
                    Leaf { code: fault.code, message: fault.message, help: fault.help, label: label.into(), inner: Vec::new() };
                self.report(leaf, &frames, position)
            }
            EvaluationStop::Panic(message) => {
                let leaf = Leaf {
                    code: "script/internal".into(),
                    message: format!("the script host failed: {message}"),
                    help: Some("this is a fault of the program, not of the script: please report it".into()),
                    label: String::new(),
                    inner: Vec::new(),
                };
                self.report(leaf, &[], Position::NONE)
            }
        }
    }

    fn error(&self, error: E) -> Diagnostic {
        let (frames, inner) = self.unwind(Some(error));
        let Some(inner) = inner else { return Diagnostic::error("script/internal", "an evaluation failed without an error") };
        let position = inner.position();
        let unit = frames.last().map_or(self.entry, |frame| frame.callee);
        let leaf = self.leaf(&inner, unit, position);
        self.report(leaf, &frames, position)
    }

    /// Unwinds the calls, outermost first, down to the innermost error.
    fn unwind(&self, error: Option<E>) -> (Vec<TraceFrame<'_>>, Option<E>) {
        let mut frames: Vec<TraceFrame<'_>> = Vec::new();
        let mut unit = self.entry;
        let mut next = error;
        loop {
            match next {
                Some(E::ErrorInFunctionCall(name, source, inner, position)) => {
                    let callee = if source.is_empty() { unit } else { (self.unit)(&source).unwrap_or(unit) };
                    frames.push(TraceFrame { unit, position, name, callee });
                    unit = callee;
                    next = Some(*inner);
                }
                Some(E::ErrorInModule(name, inner, position)) => {
                    let callee = (self.unit)(&name).unwrap_or(unit);
                    frames.push(TraceFrame { unit, position, name, callee });
                    unit = callee;
                    next = Some(*inner);
                }
                leaf => return (frames, leaf),
            }
        }
    }

    fn report(&self, leaf: Leaf, frames: &[TraceFrame<'_>], position: Position) -> Diagnostic {
        let unit = frames.last().map_or(self.entry, |frame| frame.callee);
        let mut places: Vec<(Source, Span, String)> =
            leaf.inner.into_iter().map(|label| (label.source, label.span, label.text)).collect();
        let leaf_label = if places.is_empty() { leaf.label } else { "called here".to_owned() };
        places.extend(unit.place(position).map(|(source, span)| (source, span, leaf_label)));
        for frame in frames.iter().rev() {
            let Some((source, span)) = frame.unit.token(frame.position) else { continue };
            let text = match frame.name.as_str() {
                name if name.starts_with("anon$") => "in the closure called here".to_owned(),
                name => format!("in `{name}`, called here"),
            };
            if places.iter().all(|(other, there, _)| (other, *there) != (&source, span)) {
                places.push((source, span, text));
            }
        }
        if places.is_empty() {
            places.extend(self.fallback.clone().map(|(source, span)| (source, span, String::new())));
        }
        let mut diagnostic = Diagnostic::error(leaf.code, leaf.message).maybe_help(leaf.help);
        for (source, span, text) in places {
            diagnostic = diagnostic.label(&source, span, text);
        }
        diagnostic
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{eval, failure, find, line, link};
    use serde_json::json;

    #[test]
    fn an_error_is_labelled_where_it_happened_and_along_the_calls() {
        let library = link(&[
            ("lib/base.rhai", "fn deep(a) {\n  a.nope\n}"),
            ("lib/mid.rhai", "import \"lib/base\" as b;\nfn deep2(a) {\n  let q = 1;\n  b::deep(a)\n}"),
            ("rules/rca.rhai", "import \"lib/mid\" as m;\nfn local(a) { m::deep2(a) }\nfn bad(artifact) {\n  local(artifact)\n}"),
        ]);
        let problem = find(&library, "rules/rca.rhai#bad", 1).call_json(&[json!({"nape": 1})]).expect_err("no such field");
        let message: Vec<String> = problem
            .labels
            .iter()
            .map(|label| {
                let (row, column) = label.source.line_column(label.span.start);
                format!("{}:{row}:{column} `{}` {}", label.source.name(), label.source.slice(label.span), label.text)
            })
            .collect();
        assert_eq!(
            message,
            [
                "lib/base.rhai:2:5 `nope` no such field",
                "lib/mid.rhai:4:6 `deep` in `deep`, called here",
                "rules/rca.rhai:2:18 `deep2` in `deep2`, called here",
                "rules/rca.rhai:4:3 `local` in `local`, called here",
            ]
        );
        assert_eq!(problem.help.as_deref(), Some("did you mean `nape`?"));
    }

    #[test]
    fn an_error_in_a_closure_of_an_imported_function_stays_in_its_file() {
        let library = link(&[
            ("lib.rhai", "fn over(xs, t) {\n  xs.filter(|x| x > t)\n}"),
            ("t.rhai", "import \"lib\" as l;\nfn f(a) { l::over(a, \"x\") }"),
        ]);
        let message = line(&find(&library, "t.rhai#f", 1).call_json(&[json!([1, 2])]).expect_err("kinds"));
        assert!(
            message.starts_with("rule/compare-types @ lib.rhai:x > t, lib.rhai:filter, t.rhai:over: cannot compare a number"),
            "{message}"
        );
    }

    #[test]
    fn errors_in_a_callback_are_labelled_in_its_own_file() {
        let library = link(&[
            ("lib.rhai", "fn each(xs, f) { xs.map(|x| f.call(x)) }"),
            ("t.rhai", "import \"lib\" as l;\nfn f(a) { l::each(a, |x| x.nope) }"),
        ]);
        let problem = find(&library, "t.rhai#f", 1).call_json(&[json!([{"nape": 1}])]).expect_err("no such field");
        assert_eq!(problem.message, "no field `nope` on `a[]`");
    }

    #[test]
    fn unknown_names_get_suggestions() {
        for (body, message) in [
            (
                "artifact.confidense",
                "rule/unknown-field @ t.rhai:confidense: no field `confidense` on `artifact` | did you mean `confidence`?",
            ),
            (
                "artifact.repos[0].nam",
                "rule/unknown-field @ t.rhai:nam: no field `nam` on `artifact.repos[]` | did you mean `name`?",
            ),
            (
                "artifact[\"confidense\"]",
                "rule/unknown-field @ t.rhai:artifact[\"confidense\"]: no field `confidense` on `artifact` | did you mean `confidence`?",
            ),
            ("lenn(artifact.list)", "script/unknown-function @ t.rhai:lenn: unknown function `lenn` | did you mean `len`?"),
            (
                "artifact.list.filtr(|x| true)",
                "script/unknown-function @ t.rhai:filtr: unknown function `filtr` | did you mean `filter`?",
            ),
            ("foo(1)", "script/unknown-function @ t.rhai:foo: unknown function `foo`"),
            (
                "let confidence = 1; confidense",
                "script/unknown-variable @ t.rhai:confidense: `confidense` is not defined here | did you mean `confidence`?",
            ),
            (
                "artefact.n",
                "script/unknown-variable @ t.rhai:artefact: `artefact` is not defined here | did you mean `artifact`?",
            ),
            (
                "artifact.list.any(|x| x == yy)",
                "script/unknown-variable @ t.rhai:yy: `yy` is not defined here | known here: `artifact`",
            ),
            (
                "global::LIMIT",
                "script/unknown-constant @ t.rhai:LIMIT: unknown constant `LIMIT` in this file | constants are defined by `const` outside of functions",
            ),
            (
                "l::g()",
                "script/unknown-module @ t.rhai:l: no module `l` is imported | write `import \"path/of/it\" as l;` at the head of the file",
            ),
        ] {
            assert_eq!(failure(body), message, "{body}");
        }
    }

    #[test]
    fn errors_have_a_message_and_help() {
        for (body, message) in [
            (
                "\"0.9\" >= 0.5",
                "rule/compare-types @ t.rhai:\"0.9\" >= 0.5: cannot compare a string (`\"0.9\"`) with a number (`0.5`) by `>=` | convert the string to a number first: `parse_float(x)`, or compare with a string",
            ),
            (
                "artifact.nothing > 1",
                "rule/compare-types @ t.rhai:artifact.nothing > 1: cannot compare nothing (`()`) with a number (`1`) by `>` | test for `()` first: `x != () && x > 1`, or give a default: `(x ?? 0) > 1`",
            ),
            (
                "artifact.list.filter(|x| x > 1)",
                "rule/compare-types @ t.rhai:x > 1, t.rhai:filter: cannot compare a string (`\"x\"`) with a number (`1`) by `>` | convert the string to a number first: `parse_float(x)`, or compare with a string",
            ),
            (
                "artifact.nothing.foo",
                "rule/unknown-field @ t.rhai:foo: cannot read `foo` of nothing (`()`) | test it first, `x != ()`, or read it with `?.`",
            ),
            (
                "artifact.repos.name",
                "rule/unknown-field @ t.rhai:name: no field `name` on a list | a list has items: `[0]`, `for`, `.map(|item| ..)`",
            ),
            ("artifact.label.len.foo", "rule/unknown-field @ t.rhai:foo: no field `foo` on a whole number"),
            (
                "artifact.list.push(1)",
                "rule/read-only @ t.rhai:push: `push` would change `artifact.list`, which is read-only | change a copy: `let copy = artifact.list.to_array()`",
            ),
            (
                "artifact.confidence = 1.0",
                "rule/read-only @ t.rhai:confidence: `artifact` is read-only | a script can only return values; to change data, change a copy: `.to_map()`, `.to_array()`",
            ),
            (
                "artifact.list[9]",
                "script/index @ t.rhai:list[9]: `artifact.list` has 2 items: no item [9] | test `.len()` first, or use `.get(i)`, `.first()` or `.last()`, which return `()` if there is none",
            ),
            ("[1][3]", "script/index @ t.rhai:3: this list has one item: no item [3] | test `.len()` first"),
            (
                "let m = #{a: 1}; m.b",
                "script/unknown-key @ t.rhai:b: no key `b` in this map | test it first, `\"key\" in map`, or set it before",
            ),
            (
                "artifact.n && true",
                "script/type @ t.rhai:artifact.n: expected a bool, got a whole number | conditions, `!`, `&&` and `||` need `true` or `false`: compare with something",
            ),
            ("1 / 0", "script/arithmetic @ t.rhai:1 / 0: division by zero: 1 / 0 | check for 0 first: `if n == 0 { .. }`"),
            (
                "artifact.label - 1",
                "script/unknown-function @ t.rhai:artifact.label - 1: `-` cannot be used with a string, a whole number",
            ),
            (
                "artifact.list.filter(\"x\")",
                "script/unknown-function @ t.rhai:filter: `filter` cannot be called with a list, a string",
            ),
            (
                "artifact.list.filter(|x, y, z| true)",
                "script/arity @ t.rhai:filter: this closure is called with 2 arguments, which does not match its parameters",
            ),
            ("f(1, 2)", "script/unknown-function @ t.rhai:f: `f` takes 1 parameter, not 2"),
            ("throw \"boom\"", "script/throw @ t.rhai:throw: the script threw: boom"),
            ("throw #{a: 1}", "script/throw @ t.rhai:throw: the script threw: {\"a\":1}"),
            ("let é = 1; é", "script/syntax @ t.rhai:é: unexpected 'é'"),
            (
                "artifact.l\u{430}bel",
                "script/syntax @ t.rhai:\u{430}: unexpected `\u{430}`: a letter of another alphabet that looks like a Latin one | type the Latin letter",
            ),
            (
                "artifact.label == \"é\" && artifact.confidense > 1",
                "rule/unknown-field @ t.rhai:confidense: no field `confidense` on `artifact` | did you mean `confidence`?",
            ),
            (
                "artifact.default",
                "script/reserved @ t.rhai:default: `default` is a reserved word | a field of that name is read as `x[\"default\"]`; a variable needs another name",
            ),
        ] {
            assert_eq!(failure(body), message, "{body}");
        }
    }

    #[test]
    fn a_caught_error_can_be_inspected_and_rethrown() {
        assert_eq!(
            eval("try { artifact.foo } catch (e) { return e.to_string(); }").expect("caught"),
            json!("no field `foo` on `artifact`")
        );
        assert!(failure("try { artifact.foo } catch (e) { throw e; }").starts_with("rule/unknown-field @ t.rhai:throw:"));
    }
}
