//! Explains evaluation errors in terms that script authors use.

use super::compare::{CompareOp, show};
use super::eval_trace::{Leaf, Tracer};
use super::fault::{self, ScriptFault};
use super::parse_error::{lowercased, unknown_variable};
use super::unit::Unit;
use super::words::{arguments, article, is_word, items, parameters, plausible, quoted, receiver, strip};
use asterisk_diag::nearest;
use rhai::{EvalAltResult as E, ParseErrorType, Position};
use std::collections::BTreeSet;

impl Tracer<'_> {
    /// Explains an error, without its position.
    pub(crate) fn leaf(&self, error: &E, unit: &Unit, position: Position) -> Leaf {
        let leaf = |code: &'static str, message: String, help: Option<&str>| Leaf {
            code: code.into(),
            message,
            help: help.map(str::to_owned),
            label: String::new(),
            inner: Vec::new(),
        };
        match error {
            E::ErrorRuntime(value, _) => match value.read_lock::<ScriptFault>() {
                Some(fault) => {
                    let label = if fault.code == fault::UNKNOWN_FIELD { "no such field" } else { "" };
                    Leaf {
                        code: fault.code.clone(),
                        message: fault.message.clone(),
                        help: fault.help.clone(),
                        label: label.into(),
                        inner: fault.labels.clone(),
                    }
                }
                None if value.is_unit() => leaf("script/throw", "the script threw".into(), None),
                None if value.is_string() => leaf("script/throw", format!("the script threw: {value}"), None),
                None => leaf("script/throw", format!("the script threw: {}", show(value)), None),
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
                format!("no key `{name}` in this map"),
                Some("test it first, `\"key\" in map`, or set it before"),
            ),
            E::ErrorIndexNotFound(index, _) => leaf(fault::INDEX, format!("no item at [{}]", show(index)), None),
            E::ErrorArrayBounds(count, index, _) => leaf(
                fault::INDEX,
                format!("this list has {}: no item [{index}]", items(*count, "item")),
                Some("test `.len()` first"),
            ),
            E::ErrorStringBounds(count, index, _) => {
                leaf(fault::INDEX, format!("this string has {}: no character at [{index}]", items(*count, "character")), None)
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
            E::ErrorUnboundThis(_) => leaf(
                "script/type",
                "`this` is not available here".into(),
                Some("a function has `this` only when called as a method"),
            ),
            E::ErrorArithmetic(message, _) => leaf(
                "script/arithmetic",
                lowercased(message),
                message.contains("by zero").then_some("check for 0 first: `if n == 0 { .. }`"),
            ),
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
                Some("move parts into functions"),
            ),
            E::ErrorTooManyModules(_) => leaf(fault::LIMIT, "too many scripts are imported".into(), None),
            E::ErrorDataTooLarge(what, _) => leaf(
                fault::LIMIT,
                format!("{} exceeds the limit", self.too_large(what)),
                Some("does something grow in a loop? Keep only what is needed"),
            ),
            E::ErrorDataRace(..) => leaf(
                "script/data-race",
                "a closure uses the variable that its own method is called on".into(),
                Some("copy what the closure needs to a variable first: `let limit = list[0];`"),
            ),
            E::ErrorModuleNotFound(name, _) => leaf("script/unknown-module", format!("no module `{name}` is imported"), None),
            E::ErrorParsing(ParseErrorType::Reserved(word), _) if CompareOp::of(word).is_some() => {
                let fault = fault::operator(word);
                Leaf { code: fault.code, message: fault.message, help: fault.help, label: String::new(), inner: Vec::new() }
            }
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
            // The stock `sort` reports unsupported items this way.
            None if signature.contains(' ') => {
                return Leaf {
                    code: "script/type".into(),
                    message: signature.to_owned(),
                    help: None,
                    label: String::new(),
                    inner: Vec::new(),
                };
            }
            None => (signature, ")"),
        };
        let types: Vec<&str> = types.strip_suffix(')').unwrap_or(types).split(", ").filter(|kind| !kind.is_empty()).collect();
        if let Some(first) = types.first().filter(|first| matches!(**first, "list" | "object"))
            && MUTATORS.contains(&name)
        {
            let copy = if *first == "list" { "to_array()" } else { "to_map()" };
            let receiver = receiver(unit, position).unwrap_or_else(|| format!("this {first}"));
            let sorted = if name.starts_with("sort") { "`.order()` returns a sorted copy; or " } else { "" };
            return Leaf {
                code: fault::READ_ONLY.into(),
                message: format!("`{name}` would change {}, which is read-only", quoted(&receiver)),
                help: Some(format!("{sorted}change a copy: `let copy = {receiver}.{copy}`")),
                label: "inputs cannot be changed".into(),
                inner: Vec::new(),
            };
        }
        if name.starts_with("anon$") {
            return Leaf {
                code: "script/arity".into(),
                message: format!("this closure is called with {}, which does not match its parameters", arguments(&types)),
                help: None,
                label: String::new(),
                inner: Vec::new(),
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
            (format!("unknown function `{name}` taking {}", arguments(&types)), Some("is it `private` there?".to_owned()))
        } else if known.contains(bare) || !is_word(bare) {
            let list: Vec<String> = types.iter().map(|kind| article(kind)).collect();
            let given = if list.is_empty() { "nothing".to_owned() } else { list.join(", ") };
            let what = if is_word(bare) { "called with" } else { "used with" };
            let nothing =
                types.contains(&"()").then(|| "a value is missing (`()`): test it first, or give a default with `??`".to_owned());
            (
                format!("`{name}` cannot be {what} {given}"),
                nothing.or_else(|| is_word(bare).then(|| accepted_arguments(bare, &signatures)).flatten()),
            )
        } else {
            (
                format!("unknown function `{name}`"),
                nearest(bare, known).filter(|known| plausible(bare, known)).map(|known| format!("did you mean `{known}`?")),
            )
        };
        Leaf { code: "script/unknown-function".into(), message, help, label: String::new(), inner: Vec::new() }
    }
}

/// The accepted arguments of a host function, in script notation, if there are only a few overloads.
fn accepted_arguments(name: &str, signatures: &[String]) -> Option<String> {
    if let Some(function) = super::api::registry().iter().find(|function| function.name == name) {
        return Some(format!("it is `{}`", function.signature));
    }
    let of = signatures.iter().filter_map(|signature| signature.strip_prefix(name)?.strip_prefix('('));
    let ways = of.filter_map(|rest| {
        let inputs = rest.split(") ->").next()?.trim_end_matches(')');
        let kinds = inputs.split(", ").map(|input| {
            let kind = input.rsplit(": ").next().unwrap_or(input).trim_start_matches("&mut ").trim_start_matches('&');
            Some(match kind {
                "ImmutableString" | "str" | "String" | "char" | "string" => "a string",
                "Array" | "list" => "a list",
                "Map" | "object" => "a map",
                "INT" | "i64" | "FLOAT" | "f64" => "a number",
                "bool" => "true or false",
                "FnPtr" => "a closure",
                "Dynamic" | "?" | "T" => "a value",
                _ => return None,
            })
        });
        kinds.collect::<Option<Vec<_>>>().map(|kinds| kinds.join(" and "))
    });
    let ways: BTreeSet<String> = ways.collect();
    (1..=6).contains(&ways.len()).then(|| format!("`{name}` takes {}", ways.into_iter().collect::<Vec<_>>().join(", or ")))
}

/// Methods that modify their receiver.
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

/// `Unknown property 'x' - a getter is not registered for type 't'`, or the same about a setter.
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
                Some(format!("did you mean the method `{name}()`?"))
            } else {
                (kind == "list").then(|| "a list has items: `[0]`, `for`, `.map(|item| ..)`".to_owned())
            };
            (format!("no field `{name}` on {}", article(kind)), help)
        }
    };
    Leaf { code: fault::UNKNOWN_FIELD.into(), message, help, label: "no such field".into(), inner: Vec::new() }
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
    Leaf { code: fault::INDEX.into(), message, help: None, label: String::new(), inner: Vec::new() }
}

fn read_only(unit: &Unit, position: Position, field: &str) -> Leaf {
    let target = receiver(unit, position).map_or_else(|| "inputs".to_owned(), |target| target.trim_end_matches(field).to_owned());
    Leaf {
        code: fault::READ_ONLY.into(),
        message: format!("{} is read-only", quoted(&target)),
        help: Some("a script can only return values; to change data, change a copy: `.to_map()`, `.to_array()`".into()),
        label: "inputs cannot be changed".into(),
        inner: Vec::new(),
    }
}

fn constant(name: &str, unit: &Unit, position: Position) -> Leaf {
    if unit.tree().named().any(|function| function.params.iter().any(|param| param == name)) {
        return Leaf {
            code: fault::READ_ONLY.into(),
            message: format!("`{name}` is read-only"),
            help: Some(format!("inputs cannot be changed: use another variable, `let mine = {name}`")),
            label: "inputs cannot be changed".into(),
            inner: Vec::new(),
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
        inner: Vec::new(),
    }
}
