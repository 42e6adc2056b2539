//! The types of expressions in a script that may be half typed.
//!
//! The checks of `asterisk-script` need a script that compiles; this follows the syntax tree as far as it goes, so it knows less, and guesses
//! from names where no pipeline says what a function is given. It is for completion and hover only.

use super::names::{FileNames, NameKind};
use super::script_names::INPUTS;
use super::tree::{called, child, children, function_around, text_of};
use asterisk_base::model::{Field, Kind, Shape};
use asterisk_lint::FunctionRole;
use asterisk_script::api::{registry, test_registry};
use asterisk_syntax::rhai::{NodeOrToken, SyntaxKind, SyntaxNode, parse_file};
use std::sync::Arc;

/// How deep values are followed through variables and calls.
const DEPTH: usize = 12;

/// A type, and where its fields are documented.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) kind: Kind,
    /// The path in the documentation: `evidence.frames[]`; empty if unknown.
    pub(super) path: String,
}

impl Typed {
    fn any() -> Self {
        Self { kind: Kind::Any, path: String::new() }
    }

    fn of(kind: Kind) -> Self {
        Self { kind, path: String::new() }
    }

    /// The type of a field.
    pub(super) fn field(&self, name: &str) -> Self {
        let path = if self.path.is_empty() { String::new() } else { format!("{}.{name}", self.path) };
        let kind = match &self.kind {
            Kind::Object(shape) => shape.field(name).map_or(Kind::Any, |field| field.kind.clone()),
            Kind::Map(item) => (**item).clone(),
            _ => Kind::Any,
        };
        Self { kind, path }
    }

    /// The type of the items of a list, or of the values of a map.
    fn item(&self) -> Self {
        match &self.kind {
            Kind::List(item) => Self {
                kind: (**item).clone(),
                path: if self.path.is_empty() { String::new() } else { format!("{}[]", self.path) },
            },
            Kind::Map(item) => Self::of((**item).clone()),
            _ => Self::any(),
        }
    }
}

/// The inputs of type inference in a script.
pub(super) struct ScriptTypes<'a> {
    /// Its path below the script root, or the file of the pipeline that holds the expression.
    pub(super) file: &'a str,
    pub(super) names: &'a FileNames,
    pub(super) roles: &'a [FunctionRole],
    /// What the expression of a pipeline is used for.
    pub(super) expression: Option<&'a FunctionRole>,
    /// The text of another script.
    pub(super) script: &'a dyn Fn(&str) -> Option<String>,
}

impl ScriptTypes<'_> {
    /// The type of an expression.
    pub(super) fn of(&self, node: &SyntaxNode) -> Typed {
        self.infer(node, DEPTH)
    }

    fn infer(&self, node: &SyntaxNode, depth: usize) -> Typed {
        let Some(depth) = depth.checked_sub(1) else { return Typed::any() };
        let first = || node.children().next();
        match node.kind() {
            SyntaxKind::NAME_REF => self.variable(node, &text_of(node), depth),
            SyntaxKind::FIELD => {
                let parts: Vec<SyntaxNode> = node.children().collect();
                match &parts[..] {
                    [receiver, name] if name.kind() == SyntaxKind::NAME_REF => self.infer(receiver, depth).field(&text_of(name)),
                    _ => Typed::any(),
                }
            }
            SyntaxKind::INDEX => {
                let parts: Vec<SyntaxNode> = node.children().collect();
                let [receiver, index, ..] = &parts[..] else { return Typed::any() };
                let receiver = self.infer(receiver, depth);
                match (&receiver.kind, text_of(index).trim_matches('"')) {
                    (Kind::Object(_), name) => receiver.field(name),
                    _ => receiver.item(),
                }
            }
            SyntaxKind::METHOD_CALL => {
                let parts: Vec<SyntaxNode> = node.children().collect();
                let [receiver, name, ..] = &parts[..] else { return Typed::any() };
                self.method(&self.infer(receiver, depth), &text_of(name), node, depth)
            }
            SyntaxKind::CALL => self.call(node, depth),
            SyntaxKind::PAREN | SyntaxKind::EXPR_STMT | SyntaxKind::EXPRESSION | SyntaxKind::SCRIPT => {
                node.children().last().map_or_else(Typed::any, |inner| self.infer(&inner, depth))
            }
            SyntaxKind::BLOCK => node.children().last().map_or_else(Typed::any, |last| self.infer(&last, depth)),
            SyntaxKind::IF => children(node, SyntaxKind::BLOCK).next().map_or_else(Typed::any, |block| self.infer(&block, depth)),
            SyntaxKind::RETURN => first().map_or_else(Typed::any, |value| self.infer(&value, depth)),
            SyntaxKind::MAP => {
                let field = |entry: SyntaxNode| {
                    let name = entry.first_token()?.text().trim_matches('"').to_owned();
                    let value = entry.children().last().map_or(Kind::Any, |value| self.infer(&value, depth).kind);
                    Some(Field { name, kind: value, required: true })
                };
                let fields = children(node, SyntaxKind::MAP_ENTRY).filter_map(field).collect();
                Typed::of(Kind::Object(Arc::new(Shape { name: "map".into(), fields, sparse: false })))
            }
            SyntaxKind::ARRAY => {
                let item = first().map_or(Kind::Any, |item| self.infer(&item, depth).kind);
                Typed::of(Kind::List(Box::new(item)))
            }
            SyntaxKind::TEMPLATE => Typed::of(text()),
            SyntaxKind::LITERAL => {
                let kind = node.first_token().map(|token| token.kind());
                Typed::of(match kind {
                    Some(SyntaxKind::STRING) => text(),
                    Some(SyntaxKind::INT) => Kind::Int { min: None, max: None },
                    Some(SyntaxKind::FLOAT) => Kind::Number { min: None, max: None },
                    Some(SyntaxKind::TRUE_KW | SyntaxKind::FALSE_KW) => Kind::Bool,
                    _ => Kind::Any,
                })
            }
            SyntaxKind::BINARY => {
                let comparison = node.children_with_tokens().filter_map(NodeOrToken::into_token).any(|token| {
                    use SyntaxKind as S;
                    matches!(token.kind(), S::EQ2 | S::NEQ | S::LT | S::GT | S::LT_EQ | S::GT_EQ | S::AMP2 | S::PIPE2 | S::IN_KW)
                });
                if comparison { Typed::of(Kind::Bool) } else { first().map_or_else(Typed::any, |left| self.infer(&left, depth)) }
            }
            _ => Typed::any(),
        }
    }

    /// The type of a variable as seen from a node.
    fn variable(&self, from: &SyntaxNode, name: &str, depth: usize) -> Typed {
        let mut here = from.clone();
        while let Some(parent) = here.parent() {
            match parent.kind() {
                SyntaxKind::BLOCK | SyntaxKind::SCRIPT | SyntaxKind::EXPRESSION => {
                    let before: Vec<SyntaxNode> = parent.children().take_while(|one| *one != here).collect();
                    for statement in before.iter().rev() {
                        let is_it = matches!(statement.kind(), SyntaxKind::LET | SyntaxKind::CONST)
                            && child(statement, SyntaxKind::NAME).is_some_and(|bound| text_of(&bound) == name);
                        if is_it {
                            let value = statement.children().filter(|one| one.kind() != SyntaxKind::NAME).last();
                            return value.map_or_else(Typed::any, |value| self.infer(&value, depth));
                        }
                    }
                }
                SyntaxKind::FOR => {
                    let names: Vec<String> = children(&parent, SyntaxKind::NAME).map(|bound| text_of(&bound)).collect();
                    if names.first().is_some_and(|bound| bound == name) && here.kind() == SyntaxKind::BLOCK {
                        let list = parent.children().find(|one| !matches!(one.kind(), SyntaxKind::NAME | SyntaxKind::BLOCK));
                        return list.map_or_else(Typed::any, |list| self.infer(&list, depth).item());
                    }
                }
                SyntaxKind::CLOSURE => {
                    if let Some(at) = parameter(&parent, name) {
                        return self.closure_parameter(&parent, at, depth);
                    }
                }
                SyntaxKind::FN => {
                    let Some(at) = parameter(&parent, name) else { return Typed::any() };
                    return self.parameter(&parent, at, name);
                }
                _ => {}
            }
            here = parent;
        }
        // An expression of a pipeline is given its inputs.
        let own = self.expression.filter(|role| role.inputs.iter().any(|(input, _)| *input == name));
        own.map_or_else(|| self.guess(name), |role| of_input(role, name))
    }

    /// The type of a parameter of a function, from what pipelines use it for.
    fn parameter(&self, function: &SyntaxNode, at: usize, name: &str) -> Typed {
        let called = child(function, SyntaxKind::NAME).map(|name| text_of(&name)).unwrap_or_default();
        let role = self.roles.iter().find(|role| role.file == self.file && role.function == called);
        match role.and_then(|role| role.inputs.get(at)) {
            Some((input, kind)) => Typed { kind: kind.clone(), path: (*input).to_owned() },
            None => self.guess(name),
        }
    }

    /// The type of an input that is called by its usual name.
    fn guess(&self, name: &str) -> Typed {
        if !INPUTS.contains(&name) || name == "artifact" {
            return Typed::any();
        }
        let near = self.roles.iter().filter(|role| role.file == self.file);
        let role = near.chain(self.roles).find(|role| role.inputs.iter().any(|(input, _)| *input == name));
        role.map_or_else(Typed::any, |role| of_input(role, name))
    }

    /// The type of a closure's parameter: an item of the list whose method takes the closure.
    fn closure_parameter(&self, closure: &SyntaxNode, at: usize, depth: usize) -> Typed {
        let call = closure.parent().filter(|args| args.kind() == SyntaxKind::ARG_LIST).and_then(|args| args.parent());
        let Some(call) = call else { return Typed::any() };
        let mut parts = call.children();
        match (call.kind(), parts.next(), at) {
            (SyntaxKind::METHOD_CALL, Some(list), 0) => self.infer(&list, depth).item(),
            // `most_by(list, |item| ..)`
            (SyntaxKind::CALL, Some(_), 0) => {
                let list = child(&call, SyntaxKind::ARG_LIST).and_then(|args| args.children().find(|one| one != closure));
                list.map_or_else(Typed::any, |list| self.infer(&list, depth).item())
            }
            _ => Typed::any(),
        }
    }

    fn method(&self, receiver: &Typed, name: &str, call: &SyntaxNode, depth: usize) -> Typed {
        match name {
            "filter" | "sort" | "dedup" | "reverse" | "extract" | "drain" | "retain" | "take" => receiver.clone(),
            "find" | "first" | "last" | "pop" | "shift" => receiver.item(),
            "any" | "all" | "some" | "contains" | "starts_with" | "ends_with" | "is_empty" => Typed::of(Kind::Bool),
            "len" | "index_of" => Typed::of(Kind::Int { min: None, max: None }),
            "to_lower" | "to_upper" | "trim" | "to_string" | "sub_string" | "join" => Typed::of(text()),
            "keys" | "split" => Typed::of(Kind::List(Box::new(text()))),
            "values" => Typed::of(Kind::List(Box::new(receiver.item().kind))),
            "map" => {
                let closure = child(call, SyntaxKind::ARG_LIST).and_then(|args| child(&args, SyntaxKind::CLOSURE));
                let body = closure.and_then(|closure| closure.children().last());
                let item = body.map_or(Kind::Any, |body| self.infer(&body, depth).kind);
                Typed::of(Kind::List(Box::new(item)))
            }
            name => Self::host(name),
        }
    }

    fn call(&self, node: &SyntaxNode, depth: usize) -> Typed {
        let Some((space, name)) = called(node) else { return Typed::any() };
        let name = text_of(&name);
        let script = match &space {
            Some(space) => self.names.imports.get(&text_of(space)).cloned(),
            None if self
                .names
                .definitions
                .iter()
                .any(|known| known.name.kind == NameKind::Function && known.name.text == name) =>
            {
                Some(self.file.to_owned())
            }
            None => return Self::host(&name),
        };
        let Some(text) = script.as_ref().and_then(|script| (self.script)(script)) else { return Typed::any() };
        let file = script.unwrap_or_default();
        let parsed = parse_file(&text).syntax();
        let function = children(&parsed, SyntaxKind::FN)
            .find(|one| child(one, SyntaxKind::NAME).is_some_and(|bound| text_of(&bound) == name));
        let Some(body) = function.and_then(|function| child(&function, SyntaxKind::BLOCK)) else { return Typed::any() };
        let names = super::script_names::of_script(&asterisk_diag::Source::new(file.as_str(), text));
        let other = ScriptTypes { file: &file, names: &names, ..*self };
        // What every path returns is not known; the last value stands for it, whatever is returned early.
        other.infer(&body, depth.min(4))
    }

    /// The type that a function of the host returns, as its signature says.
    fn host(name: &str) -> Typed {
        let found = registry().iter().chain(test_registry()).find(|function| function.name == name);
        let result = found.and_then(|function| Some(function.signature.rsplit_once("-> ")?.1.trim().to_owned()));
        Typed::of(match result.as_deref() {
            Some("string") => text(),
            Some("bool") => Kind::Bool,
            Some("int") => Kind::Int { min: None, max: None },
            Some("float" | "number") => Kind::Number { min: None, max: None },
            Some("list" | "list of any") => Kind::List(Box::new(Kind::Any)),
            Some("list of string") => Kind::List(Box::new(text())),
            _ => Kind::Any,
        })
    }

    /// The variables that a place sees, innermost first, with their types.
    pub(super) fn visible(&self, from: &SyntaxNode) -> Vec<(String, Typed)> {
        let mut found: Vec<String> = Vec::new();
        let mut here = from.clone();
        while let Some(parent) = here.parent() {
            match parent.kind() {
                SyntaxKind::BLOCK | SyntaxKind::SCRIPT | SyntaxKind::EXPRESSION => {
                    let before = parent.children().take_while(|one| *one != here);
                    let bound = before.filter(|one| matches!(one.kind(), SyntaxKind::LET | SyntaxKind::CONST));
                    let mut names: Vec<String> =
                        bound.filter_map(|one| child(&one, SyntaxKind::NAME)).map(|name| text_of(&name)).collect();
                    names.reverse();
                    found.extend(names);
                }
                SyntaxKind::FOR => found.extend(children(&parent, SyntaxKind::NAME).map(|name| text_of(&name))),
                SyntaxKind::CLOSURE | SyntaxKind::FN => found.extend(parameters(&parent)),
                _ => {}
            }
            if parent.kind() == SyntaxKind::FN {
                break;
            }
            here = parent;
        }
        if function_around(from).is_none() && !self.file.ends_with(".rhai") {
            found.extend(["artifact", "state", "vars"].map(str::to_owned));
        }
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|name| seen.insert(name.clone()));
        found
            .into_iter()
            .map(|name| {
                let typed = self.variable(from, &name, DEPTH);
                (name, typed)
            })
            .collect()
    }
}

fn of_input(role: &FunctionRole, name: &str) -> Typed {
    let input = role.inputs.iter().find(|(input, _)| *input == name);
    input.map_or_else(Typed::any, |(input, kind)| Typed { kind: kind.clone(), path: (*input).to_owned() })
}

fn text() -> Kind {
    Kind::Text { one_of: Vec::new() }
}

/// The names of the parameters of a function or closure.
fn parameters(node: &SyntaxNode) -> Vec<String> {
    let list = child(node, SyntaxKind::PARAM_LIST);
    list.map(|list| children(&list, SyntaxKind::PARAM).map(|param| text_of(&param)).collect()).unwrap_or_default()
}

fn parameter(node: &SyntaxNode, name: &str) -> Option<usize> {
    parameters(node).iter().position(|param| param == name)
}
