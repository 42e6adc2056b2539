//! Analysis of expressions: constants, names, chains and comparisons.

use super::findings::{self, ComparisonSide};
use super::flow::{TypeEnv, TypeFlow};
use super::reads::is_whole;
use super::script::THIS;
use super::types::{Class, Type};
use super::value::{Callable, MapField, MapLiteral, TypedValue};
use crate::chain::{Chain, Segment, flatten};
use crate::tree::{CallExpr, ConstantExpr, Expr, Position};
use std::rc::Rc;

impl<'a> TypeFlow<'a> {
    /// The abstract value of an expression.
    pub(super) fn expr(&mut self, expr: &Expr, env: &mut TypeEnv<'a>) -> TypedValue<'a> {
        let at = expr.position();
        if self.left == 0 {
            return TypedValue::unknown(at);
        }
        self.left -= 1;
        let known = |ty| TypedValue::new(ty, at);
        match expr {
            Expr::Bool(..) => known(Type::Bool),
            Expr::Int(..) | Expr::Float(..) => known(Type::Number),
            Expr::Text(text, _) => {
                self.plain_text(text, at);
                known(Type::Text)
            }
            Expr::Char(..) => known(Type::Text),
            Expr::Unit(_) => known(Type::Unit),
            Expr::Constant(ConstantExpr::Function(name), _) => self.pointer(name, at),
            Expr::Constant(ConstantExpr::List, _) => known(Type::List),
            Expr::Constant(ConstantExpr::Map, _) => known(Type::Map),
            Expr::Interpolated(parts, _) => {
                for part in parts {
                    self.condition(part, env);
                }
                known(Type::Text)
            }
            Expr::List(items, _) => {
                for item in items {
                    self.condition(item, env);
                }
                known(Type::List)
            }
            Expr::Map(fields, _) => {
                let fields = fields.iter().map(|(name, expr)| {
                    let value = self.expr(expr, env);
                    self.used(&value);
                    MapField::of(&name.text, name.at, value, expr)
                });
                let literal = MapLiteral { fields: fields.collect(), script: self.script(), at };
                let literal = Rc::new(literal);
                self.maps.push(Rc::clone(&literal));
                TypedValue { literals: vec![literal], ..known(Type::Map) }
            }
            Expr::And(sides, _) | Expr::Or(sides, _) => {
                for side in sides {
                    self.condition(side, env);
                }
                known(Type::Bool)
            }
            Expr::Coalesce(sides, _) => {
                let mut values: Vec<_> = sides.iter().map(|side| self.expr(side, env)).collect();
                let last = values.pop().unwrap_or_else(|| TypedValue::unknown(at));
                values.iter().fold(last, TypedValue::or).seen(at)
            }
            Expr::Variable(variable, _) => match variable.namespace.as_slice() {
                [] => self.variable(&variable.name, at, env),
                [root] if root == "global" => known(self.script().constant(&variable.name)),
                _ => TypedValue::unknown(at),
            },
            Expr::This(_) => self.variable(THIS, at, env),
            Expr::Block(statements, _) => self.block(statements, env),
            Expr::Call(call, _) => self.call(call, at, env),
            Expr::Dot(..) | Expr::Index(..) => match flatten(expr) {
                Some(chain) => self.chain(&chain, env),
                None => TypedValue::unknown(at),
            },
            _ => TypedValue::unknown(at),
        }
    }

    /// A pointer to a function of the current script.
    pub(super) fn pointer(&self, name: &str, at: Position) -> TypedValue<'a> {
        let script = self.script();
        let function = script.pointed_at(name).cloned();
        let function = function.map(|function| Callable { script, function, captured: Vec::new() });
        TypedValue { function, ..TypedValue::unknown(at) }
    }

    fn variable(&self, name: &str, at: Position, env: &TypeEnv<'a>) -> TypedValue<'a> {
        match env.iter().rev().find(|(known, _)| known == name) {
            Some((_, value)) => value.clone().seen(at),
            // A name that is not a variable may be a function.
            None => self.pointer(name, at),
        }
    }

    fn chain(&mut self, chain: &Chain<'_>, env: &mut TypeEnv<'a>) -> TypedValue<'a> {
        let mut value = self.expr(chain.root, env);
        for segment in &chain.segments {
            value = self.segment(&value, segment, env);
        }
        // Only the last segment of the chain is read; receivers of calls were recorded there.
        if !matches!(chain.segments.last(), Some(Segment::Call { .. })) {
            self.read(&value);
        }
        value
    }

    pub(super) fn segment(&mut self, value: &TypedValue<'a>, segment: &Segment<'_>, env: &mut TypeEnv<'a>) -> TypedValue<'a> {
        match segment {
            Segment::Field { name, at } => self.field(value, name, *at),
            Segment::Index { key: Expr::Text(name, at) } if !value.ty.is_list() => self.key(value, name, *at),
            Segment::Index { key } => {
                self.condition(key, env);
                if let Expr::Int(index, at) = key {
                    self.indexed(value, *index, *at);
                }
                value.item(key.position())
            }
            Segment::Call { call, at } => {
                self.read_receiver(value, call);
                self.method(value, call, *at, env)
            }
        }
    }

    /// Records a read of a method's receiver, unless it is an input itself.
    fn read_receiver(&mut self, value: &TypedValue<'a>, call: &CallExpr) {
        if value.origins.iter().all(|path| !is_whole(path)) && call.name != "call" {
            self.read(value);
        }
    }

    /// `.name`
    fn field(&mut self, value: &TypedValue<'a>, name: &str, at: Position) -> TypedValue<'a> {
        match (value.ty.is_list(), name) {
            (true, "len") => {
                self.read(value);
                TypedValue::new(Type::Number, at)
            }
            (true, "is_empty") => {
                self.read(value);
                TypedValue::new(Type::Bool, at)
            }
            (true, _) => {
                let found = self.no_field(at, value, name);
                self.report(found);
                TypedValue::unknown(at)
            }
            (false, _) => self.key(value, name, at),
        }
    }

    /// The value under a key.
    pub(super) fn key(&mut self, value: &TypedValue<'a>, name: &str, at: Position) -> TypedValue<'a> {
        if let Some(shape) = value.ty.shape() {
            if let Some(field) = shape.field(name) {
                let part = value.part(Type::of(&field.kind), &format!(".{name}"), at);
                if shape.sparse && !field.required && part.path().is_none_or(|path| !self.asked.contains(path)) {
                    let found = findings::may_be_absent(&self.place(at), value, name);
                    self.report(found);
                }
                return part;
            }
            let found = self.no_field(at, value, name);
            self.report(found);
            return TypedValue::unknown(at);
        }
        value.part(value.ty.item(), &format!(".{name}"), at)
    }

    /// Checks a comparison; `ordered` for `<`, `>` and the like.
    pub(super) fn compare(&mut self, left: &TypedValue<'a>, right: &TypedValue<'a>, ordered: bool, at: Position) {
        let (Some(left_class), Some(right_class)) = (left.ty.class(), right.ty.class()) else { return };
        let place = self.place(at);
        let left = ComparisonSide { value: left, class: left_class, span: self.place(left.at).span };
        let right = ComparisonSide { value: right, class: right_class, span: self.place(right.at).span };
        let unit = left.class == Class::Unit || right.class == Class::Unit;
        if left.class != right.class && (ordered || !unit) {
            self.report(findings::compared(&place, &left, &right));
        } else if left.class == right.class && ordered && !left.class.ordered() {
            self.report(findings::unordered(&place, &left));
        }
    }

    /// Checks a string literal in a comparison.
    pub(super) fn compare_literal(&mut self, value: &TypedValue<'a>, literal: &Expr) {
        if let (Some(one_of), Expr::Text(text, at)) = (value.ty.one_of(), literal)
            // An absent field reads as the empty string.
            && !text.is_empty()
            && !one_of.iter().any(|known| known == text.as_str())
        {
            let found = findings::never(&self.place(*at), value, text, one_of);
            self.report(found);
        }
    }
}
