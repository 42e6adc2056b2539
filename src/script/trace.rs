//! Run-time errors as diagnostics: the innermost place is the primary label, the calls that led there are secondary ones, each
//! in its own file.
//!
//! In Rhai's `ErrorInFunctionCall(name, source, inner, position)`, `source` is the file in which `name` is defined, and
//! `position` lies in the file of the frame around it.

use super::compare::{kind_of, show};
use super::fault::{self, Fault};
use super::guard::Stop;
use super::syntax::{lowercased, parameters, unknown_variable};
use super::unit::Unit;
use crate::diag::{Diagnostic, Source, Span, nearest};
use rhai::{Engine, EvalAltResult as E, Position};
use std::collections::BTreeSet;

/// What errors are explained with.
pub(crate) struct Tracer<'a> {
    pub(crate) engine: &'a Engine,
    /// What was called, or is being linked.
    pub(crate) entry: &'a Unit,
    /// The place to label when an error has none: the called function's definition.
    pub(crate) fallback: Option<(Source, Span)>,
    /// The scripts, by path.
    pub(crate) unit: &'a dyn Fn(&str) -> Option<&'a Unit>,
}

/// An error without a place yet.
struct Leaf {
    code: std::borrow::Cow<'static, str>,
    message: String,
    help: Option<String>,
    label: String,
}

struct Frame<'a> {
    /// The file of the call.
    unit: &'a Unit,
    position: Position,
    name: String,
    /// The file of the called function.
    callee: &'a Unit,
}

impl Tracer<'_> {
    /// The diagnostic for what ended an evaluation.
    pub(crate) fn explain(&self, stop: Stop) -> Diagnostic {
        match stop {
            Stop::Error(error) => self.error(*error),
            Stop::Over(fault, noticed) => {
                let (frames, inner) = self.unwind(noticed.map(|error| *error));
                let position = inner.map_or(Position::NONE, |error| error.position());
                let label = if fault.code == fault::DEADLINE { "when the time was over" } else { "when the limit was reached" };
                let leaf = Leaf { code: fault.code, message: fault.message, help: fault.help, label: label.into() };
                self.report(leaf, &frames, position)
            }
            Stop::Panic(message) => {
                let leaf = Leaf {
                    code: "script/internal".into(),
                    message: format!("the script host failed: {message}"),
                    help: Some("this is a fault of the program, not of the script: please report it".into()),
                    label: String::new(),
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

    /// The calls from the outermost to the innermost, and what went wrong there.
    fn unwind(&self, error: Option<E>) -> (Vec<Frame<'_>>, Option<E>) {
        let mut frames: Vec<Frame<'_>> = Vec::new();
        let mut unit = self.entry;
        let mut next = error;
        loop {
            match next {
                Some(E::ErrorInFunctionCall(name, source, inner, position)) => {
                    let callee = if source.is_empty() { unit } else { (self.unit)(&source).unwrap_or(unit) };
                    frames.push(Frame { unit, position, name, callee });
                    unit = callee;
                    next = Some(*inner);
                }
                Some(E::ErrorInModule(name, inner, position)) => {
                    let callee = (self.unit)(&name).unwrap_or(unit);
                    frames.push(Frame { unit, position, name, callee });
                    unit = callee;
                    next = Some(*inner);
                }
                leaf => return (frames, leaf),
            }
        }
    }

    fn report(&self, leaf: Leaf, frames: &[Frame<'_>], position: Position) -> Diagnostic {
        let unit = frames.last().map_or(self.entry, |frame| frame.callee);
        let mut places: Vec<(Source, Span, String)> = Vec::new();
        places.extend(unit.place(position).map(|(source, span)| (source, span, leaf.label)));
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

    fn leaf(&self, error: &E, unit: &Unit, position: Position) -> Leaf {
        let leaf = |code: &'static str, message: String, help: Option<&str>| Leaf {
            code: code.into(),
            message,
            help: help.map(str::to_owned),
            label: String::new(),
        };
        match error {
            E::ErrorRuntime(value, _) => match value.read_lock::<Fault>() {
                Some(fault) => {
                    let label = if fault.code == fault::UNKNOWN_FIELD { "no such field" } else { "" };
                    Leaf {
                        code: fault.code.clone(),
                        message: fault.message.clone(),
                        help: fault.help.clone(),
                        label: label.into(),
                    }
                }
                None if value.is_unit() => leaf("script/throw", "the script gave up".into(), None),
                None if value.is_string() => leaf("script/throw", format!("the script gave up: {value}"), None),
                None => leaf("script/throw", format!("the script gave up: {}", show(value)), None),
            },
            E::ErrorFunctionNotFound(signature, _) => self.unknown_function(signature, unit, position),
            E::ErrorDotExpr(message, _) => property(message, unit, position),
            E::ErrorIndexingType(message, _) => indexing(message, unit, position),
            E::ErrorNonPureMethodCallOnConstant(name, _) | E::ErrorAssignmentToConstant(name, _) => {
                constant(name, unit, position)
            }
            E::ErrorVariableNotFound(name, _) => {
                let (code, message, help) = unknown_variable(unit.text(), name);
                leaf(code, message, help.as_deref())
            }
            E::ErrorPropertyNotFound(name, _) => leaf(
                "script/unknown-key",
                format!("this map has no key `{name}`"),
                Some("test it first, `\"key\" in map`, or set it before"),
            ),
            E::ErrorIndexNotFound(index, _) => leaf(fault::INDEX, format!("there is nothing at [{}]", show(index)), None),
            E::ErrorArrayBounds(count, index, _) => leaf(
                fault::INDEX,
                format!("this list has {}: it has no item [{index}]", items(*count, "item")),
                Some("test `.len()` first"),
            ),
            E::ErrorStringBounds(count, index, _) => {
                leaf(fault::INDEX, format!("this string has {}: it has none at [{index}]", items(*count, "character")), None)
            }
            E::ErrorBitFieldBounds(..) => leaf(fault::INDEX, lowercased(&strip(error)), None),
            E::ErrorMismatchDataType(wanted, got, _) | E::ErrorMismatchOutputType(wanted, got, _) => {
                let help =
                    (wanted == "bool").then_some("conditions, `!`, `&&` and `||` need `true` or `false`: compare with something");
                leaf("script/type", format!("expected {}, got {}", article(wanted), article(got)), help)
            }
            E::ErrorFor(_) => {
                leaf("script/type", "`for` needs a list, a map's keys, a range or a string's characters".into(), None)
            }
            E::ErrorUnboundThis(_) => {
                leaf("script/type", "there is no `this` here".into(), Some("a function has `this` only when called as a method"))
            }
            E::ErrorArithmetic(message, _) => leaf("script/arithmetic", lowercased(message), None),
            E::ErrorTooManyOperations(_) | E::ErrorTerminated(..) => {
                leaf(fault::LIMIT, "the script used too many operations".into(), Some("does a loop or a recursion never end?"))
            }
            E::ErrorStackOverflow(_) => leaf(
                fault::LIMIT,
                format!("functions call one another more than {} deep", self.engine.max_call_levels()),
                Some("does a recursion never end? Use a loop"),
            ),
            E::ErrorTooManyVariables(_) => leaf(
                fault::LIMIT,
                format!("there are more than {} variables at once", self.engine.max_variables()),
                Some("make functions of parts of it"),
            ),
            E::ErrorTooManyModules(_) => leaf(fault::LIMIT, "too many scripts are imported".into(), None),
            E::ErrorDataTooLarge(what, _) => leaf(
                fault::LIMIT,
                format!("{} goes over the limit", self.too_large(what)),
                Some("does something grow in a loop? Keep only what is needed"),
            ),
            E::ErrorDataRace(..) => leaf(
                "script/data-race",
                "a closure uses the variable that its own method is called on".into(),
                Some("give what the closure needs a variable of its own first: `let limit = list[0];`"),
            ),
            E::ErrorModuleNotFound(name, _) => leaf("script/unknown-module", format!("no module `{name}` is imported"), None),
            E::ErrorParsing(kind, _) => leaf("script/syntax", lowercased(&kind.to_string()), None),
            E::ErrorSystem(..) | E::ErrorCustomSyntax(..) => leaf("script/internal", strip(error), None),
            other => leaf("script/error", lowercased(&strip(other)), None),
        }
    }

    fn too_large(&self, what: &str) -> String {
        match what {
            "Length of string" => {
                format!("a string (or the strings of a list) of more than {} bytes", self.engine.max_string_size())
            }
            "Size of array/BLOB" => format!("a list of more than {} items", self.engine.max_array_size()),
            "Size of object map" => format!("a map of more than {} entries", self.engine.max_map_size()),
            what => what.to_lowercase(),
        }
    }

    /// `name (type, type)`.
    fn unknown_function(&self, signature: &str, unit: &Unit, position: Position) -> Leaf {
        let (name, types) = match signature.split_once(" (") {
            Some(parts) => parts,
            // The stock `sort` reports what it cannot do this way.
            None if signature.contains(' ') => {
                return Leaf { code: "script/type".into(), message: signature.to_owned(), help: None, label: String::new() };
            }
            None => (signature, ")"),
        };
        let types: Vec<&str> = types.strip_suffix(')').unwrap_or(types).split(", ").filter(|kind| !kind.is_empty()).collect();
        if let Some(first) = types.first().filter(|first| matches!(**first, "list" | "object"))
            && MUTATORS.contains(&name)
        {
            let copy = if *first == "list" { "to_array()" } else { "to_map()" };
            let receiver = receiver(unit, position).unwrap_or_else(|| format!("this {first}"));
            let sorted = if name.starts_with("sort") { "`.order()` answers a sorted copy; or " } else { "" };
            return Leaf {
                code: fault::READ_ONLY.into(),
                message: format!("`{name}` would change {}, which is read-only", quoted(&receiver)),
                help: Some(format!("{sorted}change a copy: `let copy = {receiver}.{copy}`")),
                label: "inputs cannot be changed".into(),
            };
        }
        if name.starts_with("anon$") {
            return Leaf {
                code: "script/arity".into(),
                message: format!("this closure is called with {}, which it does not take", arguments(&types)),
                help: None,
                label: String::new(),
            };
        }
        let bare = name.rsplit("::").next().unwrap_or(name);
        let signatures = self.engine.gen_fn_signatures(true);
        let native = signatures.iter().filter_map(|signature| signature.split('(').next());
        let scripted: Vec<(String, usize)> = unit
            .ast()
            .iter_functions()
            .filter(|function| !function.name.starts_with("anon$"))
            .map(|function| (function.name.to_owned(), function.params.len()))
            .collect();
        let known: BTreeSet<&str> =
            native.chain(scripted.iter().map(|(name, _)| name.as_str())).filter(|name| is_word(name)).collect();
        let arities: Vec<String> =
            scripted.iter().filter(|(known, _)| known == bare).map(|(_, count)| parameters(*count)).collect();
        let (message, help) = if !arities.is_empty() {
            (format!("`{name}` takes {}, not {}", arities.join(" or "), types.len()), None)
        } else if name != bare {
            (format!("there is no function `{name}` taking {}", arguments(&types)), Some("is it `private` there?".to_owned()))
        } else if known.contains(bare) || !is_word(bare) {
            let list: Vec<String> = types.iter().map(|kind| article(kind)).collect();
            let given = if list.is_empty() { "nothing".to_owned() } else { list.join(", ") };
            let what = if is_word(bare) { "called with" } else { "used with" };
            let nothing =
                types.contains(&"()").then(|| "a value is missing (`()`): test it first, or give a default with `??`".to_owned());
            (format!("`{name}` cannot be {what} {given}"), nothing)
        } else {
            (
                format!("there is no function `{name}`"),
                nearest(bare, known).filter(|known| plausible(bare, known)).map(|known| format!("did you mean `{known}`?")),
            )
        };
        Leaf { code: "script/unknown-function".into(), message, help, label: String::new() }
    }
}

/// Among hundreds of function names, something is always near a short word.
fn plausible(word: &str, known: &str) -> bool {
    word.len() > 4 || word.chars().next() == known.chars().next()
}

/// Methods that change what they are called on.
const MUTATORS: &[&str] = &[
    "push",
    "append",
    "insert",
    "remove",
    "pop",
    "shift",
    "clear",
    "sort",
    "sort_by",
    "sort_desc",
    "reverse",
    "drain",
    "retain",
    "dedup",
    "pad",
    "truncate",
    "chop",
    "splice",
    "split",
    "set",
    "mixin",
    "fill_with",
    "+=",
];

/// `Unknown property 'x' - a getter is not registered for type 't'`, or the same of a setter.
fn property(message: &str, unit: &Unit, position: Position) -> Leaf {
    let mut quoted_parts = message.split('\'').skip(1).step_by(2);
    let (name, kind) = (quoted_parts.next().unwrap_or(""), quoted_parts.next().unwrap_or(""));
    if message.starts_with("No writable") && matches!(kind, "object" | "list") {
        return read_only(unit, position, &format!(".{name}"));
    }
    let (message, help) = match kind {
        "()" => {
            (format!("cannot read `{name}` of nothing (`()`)"), Some("test it first, `x != ()`, or read it with `?.`".to_owned()))
        }
        kind => {
            let method = matches!(name, "len" | "is_empty" | "keys" | "values" | "first" | "last" | "trim");
            let help = if method {
                Some(format!("is the method meant? `{name}()`"))
            } else {
                (kind == "list").then(|| "a list has items: `[0]`, `for`, `.map(|item| ..)`".to_owned())
            };
            (format!("{} has no field `{name}`", article(kind)), help)
        }
    };
    Leaf { code: fault::UNKNOWN_FIELD.into(), message, help, label: "no such field".into() }
}

/// `list [string]`, `object [string] = value`.
fn indexing(message: &str, unit: &Unit, position: Position) -> Leaf {
    let (target, index) = message.split_once(" [").unwrap_or((message, ""));
    if message.contains("] = ") && matches!(target, "object" | "list") {
        return read_only(unit, position, "");
    }
    let index = index.split(']').next().unwrap_or("");
    let message = if target == "()" {
        "cannot read an item of nothing (`()`)".to_owned()
    } else {
        format!("{} cannot be read at {}", article(target), article(index))
    };
    Leaf { code: fault::INDEX.into(), message, help: None, label: String::new() }
}

fn read_only(unit: &Unit, position: Position, field: &str) -> Leaf {
    let target = receiver(unit, position).map_or_else(|| "inputs".to_owned(), |target| target.trim_end_matches(field).to_owned());
    Leaf {
        code: fault::READ_ONLY.into(),
        message: format!("{} is read-only", quoted(&target)),
        help: Some("a script answers with what it returns; to change data, change a copy: `.to_map()`, `.to_array()`".into()),
        label: "inputs cannot be changed".into(),
    }
}

fn constant(name: &str, unit: &Unit, position: Position) -> Leaf {
    let named = |function: &rhai::ScriptFnMetadata| !function.name.starts_with("anon$") && function.params.contains(&name);
    let parameter = unit.ast().iter_functions().any(|function| named(&function));
    if parameter {
        return Leaf {
            code: fault::READ_ONLY.into(),
            message: format!("`{name}` is read-only"),
            help: Some(format!("inputs cannot be changed: use another variable, `let mine = {name}`")),
            label: "inputs cannot be changed".into(),
        };
    }
    let name = name.trim_start_matches("set$").trim_start_matches("get$");
    let target = receiver(unit, position).filter(|target| target != name);
    let message = match target {
        Some(target) => format!("`{name}` would change {}, which is a constant", quoted(&target)),
        None => format!("`{name}` is a constant"),
    };
    Leaf {
        code: "script/constant".into(),
        message,
        help: Some("copy it to a variable first: `let copy = ..`".into()),
        label: String::new(),
    }
}

/// The text of the chain that ends in the token at a position: for `push` in `artifact.list.push(1)`, `artifact.list`; for
/// anything that is no method, the chain up to and with the token.
fn receiver(unit: &Unit, position: Position) -> Option<String> {
    let at = unit.text().token(position)?;
    let words: Vec<(&str, Span)> = unit.text().words().collect();
    let here = words.iter().position(|(_, span)| *span == at)?;
    let is_call = words.get(here + 1).is_some_and(|(word, _)| word.starts_with('('));
    let mut end = here;
    if matches!(words[here].0, "." | "?." | "[" | "?[" | "=") || words[here].0.ends_with('=') {
        end = here.checked_sub(1)?;
    } else if is_call {
        if !matches!(words.get(here.checked_sub(1)?)?.0, "." | "?.") {
            return None;
        }
        end = here.checked_sub(2)?;
    }
    let mut start = end;
    loop {
        start = match words[start].0 {
            "]" | ")" => opening(&words, start)?,
            _ => start,
        };
        if matches!(words[start].0, "[" | "(") && start > 0 && is_word(words[start - 1].0) {
            start -= 1;
            continue;
        }
        if start >= 2 && matches!(words[start - 1].0, "." | "?.") {
            start -= 2;
        } else {
            break;
        }
    }
    let (source, span) = (unit.script(), Span::new(words[start].1.start, words[end].1.end));
    source.get(span.start..span.end).map(str::to_owned)
}

/// The index of the bracket that a closing one closes.
fn opening(words: &[(&str, Span)], closing: usize) -> Option<usize> {
    let mut depth = 0;
    for at in (0..=closing).rev() {
        match words[at].0 {
            "]" | ")" => depth += 1,
            "[" | "(" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn quoted(text: &str) -> String {
    if text.contains(' ') && !text.contains(['.', '[', '(']) || text == "inputs" { text.to_owned() } else { format!("`{text}`") }
}

fn items(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("one {what}"),
        count => format!("{count} {what}s"),
    }
}

fn arguments(types: &[&str]) -> String {
    items(types.len(), "argument")
}

fn is_word(text: &str) -> bool {
    text.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_')
}

/// What people call one of Rhai's types.
fn article(kind: &str) -> String {
    match kind {
        "()" => kind_of(&rhai::Dynamic::UNIT).to_owned() + " (`()`)",
        "bool" => "a bool".into(),
        "i64" | "int" => "a whole number".into(),
        "f64" | "float" | "decimal" => "a number".into(),
        "char" => "a character".into(),
        "string" | "&str | ImmutableString | String" | "ImmutableString" | "&str" => "a string".into(),
        "array" | "list" | "Array" => "a list".into(),
        "map" | "Map" => "a map".into(),
        "object" => "an object".into(),
        "Fn" | "FnPtr" => "a function".into(),
        "error" => "an error".into(),
        kind if kind.starts_with("range") || kind.contains("Range") => "a range".into(),
        kind => format!("`{kind}`"),
    }
}

/// Rhai's message without its `(line x, position y)`.
fn strip(error: &E) -> String {
    let text = error.to_string();
    text.rsplit_once(" (line ").map_or(text.clone(), |(message, _)| message.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::script::testing::{eval, failure, find, line, link};
    use serde_json::json;

    #[test]
    fn an_error_is_labelled_where_it_happened_and_along_the_calls() {
        let library = link(&[
            ("lib/base.rhai", "fn deep(a) {\n  a.nope\n}"),
            ("lib/mid.rhai", "import \"lib/base\" as b;\nfn deep2(a) {\n  let q = 1;\n  b::deep(a)\n}"),
            ("rules/rca.rhai", "import \"lib/mid\" as m;\nfn local(a) { m::deep2(a) }\nfn bad(artifact) {\n  local(artifact)\n}"),
        ]);
        let problem = find(&library, "rules/rca.rhai#bad", 1).call_json(&[json!({"nape": 1})]).expect_err("no such field");
        let said: Vec<String> = problem
            .labels
            .iter()
            .map(|label| {
                let (row, column) = label.source.line_column(label.span.start);
                format!("{}:{row}:{column} `{}` {}", label.source.name(), label.source.slice(label.span), label.text)
            })
            .collect();
        assert_eq!(
            said,
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
        let said = line(&find(&library, "t.rhai#f", 1).call_json(&[json!([1, 2])]).expect_err("kinds"));
        assert!(
            said.starts_with("rule/compare-types @ lib.rhai:x > t, lib.rhai:filter, t.rhai:over: cannot compare a number"),
            "{said}"
        );
    }

    #[test]
    fn a_closure_given_to_an_imported_function_is_blamed_in_its_own_file() {
        let library = link(&[
            ("lib.rhai", "fn each(xs, f) { xs.map(|x| f.call(x)) }"),
            ("t.rhai", "import \"lib\" as l;\nfn f(a) { l::each(a, |x| x.nope) }"),
        ]);
        let problem = find(&library, "t.rhai#f", 1).call_json(&[json!([{"nape": 1}])]).expect_err("no such field");
        assert_eq!(problem.message, "`a[]` has no field `nope`");
    }

    #[test]
    fn unknown_names_are_answered_with_the_nearest() {
        for (body, said) in [
            (
                "artifact.confidense",
                "rule/unknown-field @ t.rhai:confidense: `artifact` has no field `confidense` | did you mean `confidence`?",
            ),
            (
                "artifact.repos[0].nam",
                "rule/unknown-field @ t.rhai:nam: `artifact.repos[]` has no field `nam` | did you mean `name`?",
            ),
            (
                "artifact[\"confidense\"]",
                "rule/unknown-field @ t.rhai:artifact[\"confidense\"]: `artifact` has no field `confidense` | did you mean `confidence`?",
            ),
            ("lenn(artifact.list)", "script/unknown-function @ t.rhai:lenn: there is no function `lenn` | did you mean `len`?"),
            (
                "artifact.list.filtr(|x| true)",
                "script/unknown-function @ t.rhai:filtr: there is no function `filtr` | did you mean `filter`?",
            ),
            ("foo(1)", "script/unknown-function @ t.rhai:foo: there is no function `foo`"),
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
                "script/unknown-constant @ t.rhai:LIMIT: there is no constant `LIMIT` in this file | constants are defined by `const` outside of functions",
            ),
            (
                "l::g()",
                "script/unknown-module @ t.rhai:l: no module `l` is imported | write `import \"path/of/it\" as l;` at the head of the file",
            ),
        ] {
            assert_eq!(failure(body), said, "{body}");
        }
    }

    #[test]
    fn errors_say_what_is_wrong_and_what_to_do() {
        for (body, said) in [
            (
                "\"0.9\" >= 0.5",
                "rule/compare-types @ t.rhai:\"0.9\" >= 0.5: cannot compare a string (`\"0.9\"`) with a number (`0.5`) by `>=` | make the string a number first: `parse_float(x)`, or compare with a string",
            ),
            (
                "artifact.nothing > 1",
                "rule/compare-types @ t.rhai:artifact.nothing > 1: cannot compare nothing (`()`) with a number (`1`) by `>` | test for `()` first: `x != () && x > 1`, or give a default: `(x ?? 0) > 1`",
            ),
            (
                "artifact.list.filter(|x| x > 1)",
                "rule/compare-types @ t.rhai:x > 1, t.rhai:filter: cannot compare a string (`\"x\"`) with a number (`1`) by `>` | make the string a number first: `parse_float(x)`, or compare with a string",
            ),
            (
                "artifact.nothing.foo",
                "rule/unknown-field @ t.rhai:foo: cannot read `foo` of nothing (`()`) | test it first, `x != ()`, or read it with `?.`",
            ),
            (
                "artifact.repos.name",
                "rule/unknown-field @ t.rhai:name: a list has no field `name` | a list has items: `[0]`, `for`, `.map(|item| ..)`",
            ),
            ("artifact.label.len.foo", "rule/unknown-field @ t.rhai:foo: a whole number has no field `foo`"),
            (
                "artifact.list.push(1)",
                "rule/read-only @ t.rhai:push: `push` would change `artifact.list`, which is read-only | change a copy: `let copy = artifact.list.to_array()`",
            ),
            (
                "artifact.confidence = 1.0",
                "rule/read-only @ t.rhai:confidence: `artifact` is read-only | a script answers with what it returns; to change data, change a copy: `.to_map()`, `.to_array()`",
            ),
            (
                "artifact.list[9]",
                "script/index @ t.rhai:list[9]: `artifact.list` has 2 items: it has no item [9] | test `.len()` first, or use `.get(i)`, `.first()` or `.last()`, which answer `()` where there is nothing",
            ),
            ("[1][3]", "script/index @ t.rhai:3: this list has one item: it has no item [3] | test `.len()` first"),
            (
                "let m = #{a: 1}; m.b",
                "script/unknown-key @ t.rhai:b: this map has no key `b` | test it first, `\"key\" in map`, or set it before",
            ),
            (
                "artifact.n && true",
                "script/type @ t.rhai:artifact.n: expected a bool, got a whole number | conditions, `!`, `&&` and `||` need `true` or `false`: compare with something",
            ),
            ("1 / 0", "script/arithmetic @ t.rhai:1 / 0: division by zero: 1 / 0"),
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
                "script/arity @ t.rhai:filter: this closure is called with 2 arguments, which it does not take",
            ),
            ("f(1, 2)", "script/unknown-function @ t.rhai:f: `f` takes 1 parameter, not 2"),
            ("throw \"boom\"", "script/throw @ t.rhai:throw: the script gave up: boom"),
            ("throw #{a: 1}", "script/throw @ t.rhai:throw: the script gave up: {\"a\":1}"),
            ("let é = 1; é", "script/syntax @ t.rhai:é: unexpected 'é'"),
            (
                "artifact.label == \"é\" && artifact.confidense > 1",
                "rule/unknown-field @ t.rhai:confidense: `artifact` has no field `confidense` | did you mean `confidence`?",
            ),
            (
                "artifact.default",
                "script/reserved @ t.rhai:default: `default` is reserved in Rhai | a field of that name is read as `x[\"default\"]`; a variable needs another name",
            ),
        ] {
            assert_eq!(failure(body), said, "{body}");
        }
    }

    #[test]
    fn a_caught_error_can_be_looked_at_and_thrown_again() {
        assert_eq!(
            eval("try { artifact.foo } catch (e) { return e.to_string(); }").expect("caught"),
            json!("`artifact` has no field `foo`")
        );
        assert!(failure("try { artifact.foo } catch (e) { throw e; }").starts_with("rule/unknown-field @ t.rhai:throw:"));
    }
}
