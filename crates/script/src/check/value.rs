//! An abstract value: its type, and the input fields it may come from.

use super::script::{CheckedFunction, Script};
use super::types::{Class, Type};
use crate::tree::{Expr, Position};
use asterisk_base::model::Kind;
use std::fmt;
use std::rc::Rc;

/// Maximum number of origins followed for one value.
const MAX_ORIGINS: usize = 8;

/// Maximum length in bytes of a path.
const MAX_PATH: usize = 240;

/// An abstract value.
#[derive(Clone, Debug)]
pub(super) struct TypedValue<'a> {
    pub(super) ty: Type<'a>,
    /// The input paths it may be (`artifact.candidate_repos[]`).
    pub(super) origins: Vec<Rc<str>>,
    /// Whether it certainly is a part of an input itself, not a copy; those cannot be modified.
    pub(super) frozen: bool,
    /// The token to label.
    pub(super) at: Position,
    /// The path of the map whose keys it lists.
    pub(super) keys_of: Option<Rc<str>>,
    /// The function it certainly is.
    pub(super) function: Option<Callable<'a>>,
    /// The map literals that it may be, if it was not kept in a variable since.
    pub(super) literals: Vec<Rc<MapLiteral<'a>>>,
}

/// A map as written.
pub(super) struct MapLiteral<'a> {
    /// The script that contains it.
    pub(super) script: Rc<Script<'a>>,
    pub(super) at: Position,
    pub(super) fields: Vec<MapField<'a>>,
}

/// A field of a map as written.
#[derive(Debug)]
pub(super) struct MapField<'a> {
    pub(super) name: String,
    pub(super) at: Position,
    pub(super) value: TypedValue<'a>,
    /// The value, if it is a number as written.
    pub(super) number: Option<f64>,
    /// The value, if it is a text as written.
    pub(super) text: Option<String>,
}

impl<'a> MapField<'a> {
    /// The field of a name that is given the value of an expression.
    pub(super) fn of(name: &str, at: Position, value: TypedValue<'a>, given: &Expr) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "as the script itself would compare it")]
        let (number, text) = match given {
            Expr::Int(number, _) => (Some(*number as f64), None),
            Expr::Float(number, _) => (Some(*number), None),
            Expr::Text(text, _) => (None, Some(text.to_string())),
            _ => (None, None),
        };
        Self { name: name.to_owned(), at, value, number, text }
    }
}

impl<'a> TypedValue<'a> {
    /// A value of a type.
    pub(super) fn new(ty: Type<'a>, at: Position) -> Self {
        Self { ty, origins: Vec::new(), frozen: false, at, keys_of: None, function: None, literals: Vec::new() }
    }

    /// An unknown value.
    pub(super) fn unknown(at: Position) -> Self {
        Self::new(Type::Unknown, at)
    }

    /// An input.
    pub(super) fn input(name: &str, kind: &'a Kind) -> Self {
        Self { origins: vec![name.into()], frozen: true, ..Self::new(Type::of(kind), Position::NONE) }
    }

    /// The same value, used at another place.
    pub(super) fn seen(mut self, at: Position) -> Self {
        self.at = at;
        self
    }

    /// A part of it: `suffix` is appended to the paths.
    pub(super) fn part(&self, ty: Type<'a>, suffix: &str, at: Position) -> Self {
        let origins: Vec<Rc<str>> = self
            .origins
            .iter()
            .filter(|path| path.len() + suffix.len() <= MAX_PATH)
            .map(|path| format!("{path}{suffix}").into())
            .collect();
        let frozen = !origins.is_empty();
        Self { ty, origins, frozen, at, keys_of: None, function: None, literals: Vec::new() }
    }

    /// An item of it.
    pub(super) fn item(&self, at: Position) -> Self {
        self.part(self.ty.item(), "[]", at)
    }

    /// An item of it, or `()` if there is none; the type is kept only for objects.
    pub(super) fn item_or_unit(&self, at: Position) -> Self {
        let mut item = self.item(at);
        if item.ty.class() != Some(Class::Map) {
            item.ty = Type::Unknown;
        }
        item.frozen = false;
        item
    }

    /// A copy, which the script may modify.
    pub(super) fn copied(&self, at: Position) -> Self {
        Self { frozen: false, at, function: None, literals: Vec::new(), ..self.clone() }
    }

    /// The join of two alternatives.
    pub(super) fn or(mut self, other: &Self) -> Self {
        self.ty = self.ty.or(other.ty);
        self.frozen &= other.frozen;
        self.function = None;
        self.literals.extend(other.literals.iter().cloned());
        self.add_origins(other);
        self
    }

    /// Adds the origins of another value.
    pub(super) fn add_origins(&mut self, other: &Self) {
        for path in &other.origins {
            if self.origins.len() < MAX_ORIGINS && !self.origins.contains(path) {
                self.origins.push(path.clone());
            }
        }
    }

    /// The input path, if there is exactly one.
    pub(super) fn path(&self) -> Option<&str> {
        match self.origins.as_slice() {
            [path] => Some(path),
            _ => None,
        }
    }
}

/// A function as a value.
#[derive(Clone)]
pub(super) struct Callable<'a> {
    pub(super) script: Rc<Script<'a>>,
    pub(super) function: Rc<CheckedFunction<'a>>,
    /// The arguments bound to its first parameters.
    pub(super) captured: Vec<TypedValue<'a>>,
}

impl Callable<'_> {
    /// The number of parameters that are not bound.
    pub(super) fn open_params(&self) -> usize {
        self.function.of.params.len().saturating_sub(self.captured.len())
    }
}

impl fmt::Debug for MapLiteral<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.fields.iter().map(|field| &field.name)).finish()
    }
}

impl fmt::Debug for Callable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Callable({})", self.function.of.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_extend_paths_up_to_a_limit() {
        let kind = Kind::Any;
        let mut value = TypedValue::input("a", &kind);
        assert_eq!(value.item(Position::NONE).path(), Some("a[]"));
        for _ in 0..200 {
            value = value.part(Type::Unknown, ".next", Position::NONE);
        }
        assert!(value.origins.is_empty() && !value.frozen);
    }
}
