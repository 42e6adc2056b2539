//! Analysis of calls: operators, functions of this script and of imported ones, closures, and native functions.

use super::builtins::{self, ListElement, ListResult};
use super::findings;
use super::flow::{FlowFrame, TypeEnv, TypeFlow, declare};
use super::reads::is_whole;
use super::script::{CheckedFunction, Script, THIS};
use super::types::{Class, Type};
use super::value::{Callable, TypedValue};
use crate::tree::{self, CallExpr, Expr, Node, Position};
use asterisk_diag::{Diagnostic, Span};
use std::rc::Rc;

/// Maximum depth of named functions that are followed.
const MAX_CALLS: usize = 3;

/// Maximum depth of functions and closures that are followed.
const MAX_FRAMES: usize = 8;

impl<'a> TypeFlow<'a> {
    /// `name(arguments)` and operators.
    pub(super) fn call(&mut self, call: &CallExpr, at: Position, env: &mut TypeEnv<'a>) -> TypedValue<'a> {
        if !call.namespace.is_empty() {
            return self.module_call(call, at, env);
        }
        match (call.name.as_str(), call.args.as_slice()) {
            ("==" | "!=" | "<" | "<=" | ">" | ">=", [left, right]) if call.operator => {
                let ordered = !matches!(call.name.as_str(), "==" | "!=");
                self.comparison(&call.name, left, right, ordered, at, env)
            }
            ("contains", [list, item]) if self.script().function("contains", 2).is_none() => {
                let list_value = self.expr(list, env);
                self.contains(&list_value, Some(list), item, at, env)
            }
            ("curry", [function, captured @ ..]) => {
                let mut value = self.expr(function, env);
                let captured: Vec<_> = captured.iter().map(|arg| self.expr(arg, env)).collect();
                if let Some(function) = &mut value.function {
                    function.captured.extend(captured);
                }
                value
            }
            ("Fn", [Expr::Text(name, _)]) => self.pointer(name, at),
            ("call", [function, args @ ..]) => {
                let function = self.expr(function, env);
                self.call_pointer(&function, args, at, env)
            }
            (name, args) if call.operator => self.operator(name, args, at, env),
            (name, args) => {
                let script = self.script();
                if let Some(function) = script.function(name, args.len()).cloned() {
                    return self.follow_call(script, function, None, args, at, env);
                }
                match args.split_first() {
                    Some((first, rest)) => {
                        let first = self.expr(first, env);
                        self.native(name, &first, rest, at, env)
                    }
                    None => TypedValue::unknown(at),
                }
            }
        }
    }

    /// `receiver.name(arguments)`
    pub(super) fn method(
        &mut self,
        receiver: &TypedValue<'a>,
        call: &CallExpr,
        at: Position,
        env: &mut TypeEnv<'a>,
    ) -> TypedValue<'a> {
        let (name, args) = (call.name.as_str(), call.args.as_slice());
        if name == "call" && receiver.function.is_some() {
            return self.call_pointer(receiver, args, at, env);
        }
        let script = self.script();
        if let Some(function) = script.function(name, args.len()).cloned() {
            return self.follow_call(script, function, Some(receiver.clone()), args, at, env);
        }
        if let ("contains", [item]) = (name, args) {
            // `keys` has the names of the fields that are there.
            if let (Some(of), Expr::Text(field, _)) = (&receiver.keys_of, item) {
                self.asked.insert(format!("{of}.{field}"));
            }
            return self.contains(receiver, None, item, at, env);
        }
        if let ("keys", [], Some(path)) = (name, args, receiver.path()) {
            let keys_of = Some(path.into());
            return TypedValue { keys_of, ..self.native(name, receiver, args, at, env) };
        }
        self.native(name, receiver, args, at, env)
    }

    fn module_call(&mut self, call: &CallExpr, at: Position, env: &mut TypeEnv<'a>) -> TypedValue<'a> {
        if let [alias] = call.namespace.as_slice()
            && let Some(path) = self.script().import(alias).map(str::to_owned)
            && let Some(script) = self.module(&path)
            && let Some(function) = script.function(&call.name, call.args.len()).cloned()
        {
            return self.follow_call(script, function, None, &call.args, at, env);
        }
        self.use_all(&call.args, env);
        TypedValue::unknown(at)
    }

    fn module(&mut self, path: &str) -> Option<Rc<Script<'a>>> {
        if !self.scripts.contains_key(path) {
            let found = (self.modules)(path).map(|unit| Rc::new(Script::new(unit)));
            self.scripts.insert(path.to_owned(), found);
        }
        self.scripts.get(path).cloned().flatten()
    }

    fn comparison(
        &mut self,
        op: &str,
        left: &Expr,
        right: &Expr,
        ordered: bool,
        at: Position,
        env: &mut TypeEnv<'a>,
    ) -> TypedValue<'a> {
        let (left_value, right_value) = (self.expr(left, env), self.expr(right, env));
        self.compared(op, (&left_value, left), (&right_value, right), at);
        self.used(&left_value);
        self.used(&right_value);
        self.compare(&left_value, &right_value, ordered, at);
        if !ordered {
            self.compare_literal(&left_value, right);
            self.compare_literal(&right_value, left);
        }
        TypedValue::new(Type::Bool, at)
    }

    /// `item in list`, `list.contains(item)`; `literal` is the list if it is a literal.
    fn contains(
        &mut self,
        list: &TypedValue<'a>,
        literal: Option<&Expr>,
        item: &Expr,
        at: Position,
        env: &mut TypeEnv<'a>,
    ) -> TypedValue<'a> {
        let value = self.expr(item, env);
        self.used(&value);
        match (list.ty.class(), item) {
            (Some(Class::List), _) => {
                if let Some(Expr::List(items, _)) = literal {
                    for expr in items.iter().filter(|expr| expr.is_constant()) {
                        let known = self.expr(expr, env);
                        self.compare(&value, &known, false, at);
                        self.compare_literal(&value, expr);
                    }
                } else {
                    let known = list.item(list.at);
                    self.compare(&value, &known, false, at);
                    self.compare_literal(&known, item);
                }
            }
            // Testing for a field reads it, and the schema need not declare it.
            (class, Expr::Text(name, name_at))
                if class == Some(Class::Map) || class.is_none() && list.path().is_some_and(is_whole) =>
            {
                let ty = list.ty.shape().and_then(|shape| shape.field(name)).map_or(Type::Unknown, |field| Type::of(&field.kind));
                let field = list.part(ty, &format!(".{name}"), *name_at);
                self.asked.extend(field.path().map(str::to_owned));
                self.read(&field);
            }
            _ => self.used(list),
        }
        TypedValue::new(Type::Bool, at)
    }

    fn operator(&mut self, name: &str, args: &[Expr], at: Position, env: &mut TypeEnv<'a>) -> TypedValue<'a> {
        let values: Vec<_> = args.iter().map(|arg| self.expr(arg, env)).collect();
        for value in &values {
            self.used(value);
        }
        let all = |class| values.iter().all(|value| value.ty.class() == Some(class));
        let any = |class| values.iter().any(|value| value.ty.class() == Some(class));
        let ty = match (name, values.len()) {
            ("!", 1) => Type::Bool,
            // Adding anything to a string yields a string.
            ("+", 2) if any(Class::Text) => Type::Text,
            ("+" | "-", 1) | ("+" | "-" | "*" | "/" | "%" | "**", 2) if all(Class::Number) => Type::Number,
            _ => Type::Unknown,
        };
        TypedValue::new(ty, at)
    }

    fn follow_call(
        &mut self,
        script: Rc<Script<'a>>,
        function: Rc<CheckedFunction<'a>>,
        this: Option<TypedValue<'a>>,
        args: &[Expr],
        at: Position,
        env: &mut TypeEnv<'a>,
    ) -> TypedValue<'a> {
        let values = args.iter().map(|arg| self.expr(arg, env)).collect();
        let named = function.of.name().to_owned();
        self.follow(Callable { script, function, captured: Vec::new() }, this, values, at, Some(named))
    }

    fn call_pointer(&mut self, pointer: &TypedValue<'a>, args: &[Expr], at: Position, env: &mut TypeEnv<'a>) -> TypedValue<'a> {
        let Some(function) = pointer.function.clone() else {
            self.use_all(args, env);
            return TypedValue::unknown(at);
        };
        let values = args.iter().map(|arg| self.expr(arg, env)).collect();
        self.follow(function, None, values, at, None)
    }

    /// Analyses the body of a function with the given arguments; `named` if diagnostics should show the call.
    pub(super) fn follow(
        &mut self,
        callable: Callable<'a>,
        this: Option<TypedValue<'a>>,
        values: Vec<TypedValue<'a>>,
        at: Position,
        named: Option<String>,
    ) -> TypedValue<'a> {
        let Callable { script, function, captured } = callable;
        let depth = self.frames.iter().filter(|frame| frame.call.is_some()).count();
        let again = self.frames.iter().any(|frame| Rc::ptr_eq(&frame.function, &function));
        if again || self.frames.len() >= MAX_FRAMES || (named.is_some() && depth >= MAX_CALLS) {
            values.iter().chain(this.iter()).for_each(|value| self.used(value));
            return TypedValue::unknown(at);
        }
        let values_given: Vec<Callable<'a>> = values.iter().filter_map(|value| value.function.clone()).collect();
        let mut env = TypeEnv::new();
        let this = this.unwrap_or_else(|| TypedValue::unknown(at));
        declare(&mut env, &function, THIS, this);
        let mut values = captured.into_iter().chain(values);
        for param in &function.of.params {
            declare(&mut env, &function, param, values.next().unwrap_or_else(|| TypedValue::unknown(at)));
        }
        for closure in values_given.iter().filter(|closure| !Rc::ptr_eq(&closure.script, &script)) {
            self.names_of_another_script(closure, &script);
        }
        let call = named.map(|name| (self.place(at), name));
        self.frames.push(FlowFrame { script, function: function.clone(), call, inner: true, returns: Vec::new() });
        let result = self.block(&function.of.body, &mut env);
        let returns = self.frames.pop().map(|frame| frame.returns).unwrap_or_default();
        returns.iter().fold(result, TypedValue::or).seen(at)
    }

    /// Names in a closure that mean something else in the script that calls it: Rhai looks them up among that script's functions and imports
    /// first.
    fn names_of_another_script(&mut self, closure: &Callable<'a>, other: &Script<'a>) {
        let own = &closure.script;
        let mut found: Vec<(String, Position)> = Vec::new();
        tree::each(&closure.function.of.body, &mut |node| {
            let Node::Expr(Expr::Call(call, at)) = node else { return };
            let (name, arity) = (&call.name, call.args.len());
            match call.namespace.as_slice() {
                [] if !call.operator && own.function(name, arity).is_some() && other.function(name, arity).is_some() => {
                    found.push((name.to_string(), *at));
                }
                [alias]
                    if own.import(alias).is_some()
                        && other.import(alias).is_some()
                        && own.import(alias) != other.import(alias) =>
                {
                    found.push((format!("{alias}::{name}"), *at));
                }
                _ => {}
            }
        });
        for (name, at) in found {
            let (source, span) = own.unit.token(at).unwrap_or_else(|| own.unit.locate(Span::default()));
            let by = other.unit.name();
            let message = format!("`{name}` in this closure is that of `{by}`, which calls the closure");
            let error = Diagnostic::error("script/closure-name", message).label(&source, span, "found in the other script first");
            self.report(error.help("rename it in one of the two scripts"));
        }
    }

    /// A native function, called on or with `first`.
    fn native(
        &mut self,
        name: &str,
        first: &TypedValue<'a>,
        rest: &[Expr],
        at: Position,
        env: &mut TypeEnv<'a>,
    ) -> TypedValue<'a> {
        let params = rest.len() + 1;
        if first.frozen
            && matches!(first.ty.class(), Some(Class::List | Class::Map))
            && builtins::changes(name)
            && let Some(path) = first.path()
        {
            let found = findings::written(&self.place(at), path, "changes what it is called on");
            self.report(found);
        }
        if let ("get", [Expr::Text(key, key_at)]) | ("get_or", [Expr::Text(key, key_at), _]) = (name, rest) {
            self.use_all(rest, env);
            return self.get(first, key, *key_at, at);
        }
        self.used(first);
        if let Some(given) = builtins::given(name, params).filter(|_| first.ty.class() != Some(Class::Map)) {
            return self.taken_apart(given, first, rest, at, env);
        }
        let mut item_seen = false;
        for arg in rest {
            let value = self.expr(arg, env);
            match &value.function {
                Some(function) => {
                    item_seen = true;
                    self.over_items(name, first, function.clone(), at);
                }
                None => self.used(&value),
            }
        }
        match builtins::over_items(name).filter(|_| item_seen) {
            Some(ListResult::Items) => first.copied(at),
            Some(ListResult::Item) => first.item_or_unit(at),
            Some(ListResult::Bool) => TypedValue::new(Type::Bool, at),
            _ => TypedValue::new(builtins::result(name, params, first.ty), at),
        }
    }

    /// Analyses a callback passed to a native function, which may call it with the items of a list.
    fn over_items(&mut self, name: &str, list: &TypedValue<'a>, function: Callable<'a>, at: Position) {
        let item = if list.ty.class() == Some(Class::Map) { TypedValue::unknown(at) } else { list.item(at) };
        let number = TypedValue::new(Type::Number, at);
        let (this, values) = if builtins::accumulates(name) {
            (None, vec![TypedValue::unknown(at), item, number])
        } else if builtins::takes_pairs(name) {
            (None, vec![item.clone(), item])
        } else if builtins::takes_others(name) {
            (None, vec![item])
        } else if builtins::over_items(name).is_some() {
            match function.open_params() {
                0 => (Some(item), Vec::new()),
                1 => (None, vec![item]),
                _ => (None, vec![item, number]),
            }
        } else {
            (None, Vec::new())
        };
        self.follow(function, this, values, at, None);
    }

    /// A host function that returns items or fields of a list; the field is a literal or unknown.
    fn taken_apart(
        &mut self,
        given: ListElement,
        list: &TypedValue<'a>,
        rest: &[Expr],
        at: Position,
        env: &mut TypeEnv<'a>,
    ) -> TypedValue<'a> {
        if let [Expr::Text(name, name_at)] = rest {
            let item = list.item(at);
            let field = self.key(&item, name, *name_at);
            self.read(&field);
        } else {
            self.use_all(rest, env);
        }
        match given {
            ListElement::Items => list.copied(at),
            ListElement::Item => list.item_or_unit(at),
            ListElement::Fields => TypedValue::new(Type::List, at),
        }
    }

    /// `object.get("key")` and `get_or(object, "key", default)` read an optional field.
    fn get(&mut self, object: &TypedValue<'a>, key: &str, key_at: Position, at: Position) -> TypedValue<'a> {
        // A default would hide the typo for ever.
        if object.ty.shape().is_some_and(|shape| shape.sparse && shape.field(key).is_none()) {
            let found = self.no_field(key_at, object, key);
            self.report(found);
        }
        let field = object.part(Type::Unknown, &format!(".{key}"), key_at);
        self.read(&field);
        TypedValue { frozen: false, ..field.seen(at) }
    }

    fn use_all(&mut self, args: &[Expr], env: &mut TypeEnv<'a>) {
        for arg in args {
            let value = self.expr(arg, env);
            self.used(&value);
        }
    }
}
