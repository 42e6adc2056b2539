//! What is known of a value without running the script: its type, and the input fields it may have come from.

use super::script::Callable;
use crate::model::{Kind, Shape};
use rhai::Position;
use std::rc::Rc;

/// A type, as far as it is certain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Type<'a> {
    /// Nothing certain.
    Unknown,
    /// `()`
    Unit,
    Bool,
    /// An integer or a float: they compare with each other.
    Number,
    /// A string or a character: they compare with each other.
    Text,
    /// A list of anything.
    List,
    /// A map of anything.
    Map,
    /// What a schema says.
    Of(&'a Kind),
    /// A number, a text or a list, and not certain which: nothing that a rule may answer with.
    NoVerdict,
}

/// A list of texts, which some functions return.
pub(super) static TEXTS: std::sync::LazyLock<Kind> =
    std::sync::LazyLock::new(|| Kind::List(Box::new(Kind::Text { one_of: Vec::new() })));

/// Types whose values compare with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Unit,
    Bool,
    Number,
    Text,
    List,
    Map,
}

impl Class {
    /// What people call it, with an article.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Unit => "`()`",
            Self::Bool => "a bool",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::List => "a list",
            Self::Map => "an object",
        }
    }

    /// Whether `<` and `>` mean anything.
    pub(super) fn ordered(self) -> bool {
        matches!(self, Self::Number | Self::Text)
    }
}

impl<'a> Type<'a> {
    /// The type that a schema says.
    pub(super) fn of(kind: &'a Kind) -> Self {
        match kind {
            Kind::Any => Self::Unknown,
            Kind::Bool => Self::Bool,
            _ => Self::Of(kind),
        }
    }

    /// What it compares with, if that is certain.
    pub(super) fn class(self) -> Option<Class> {
        Some(match self {
            Self::Unknown | Self::NoVerdict => return None,
            Self::Unit => Class::Unit,
            Self::Bool => Class::Bool,
            Self::Number => Class::Number,
            Self::Text => Class::Text,
            Self::List => Class::List,
            Self::Map => Class::Map,
            Self::Of(kind) => match kind {
                Kind::Any => return None,
                Kind::Bool => Class::Bool,
                Kind::Int { .. } | Kind::Number { .. } => Class::Number,
                Kind::Text { .. } => Class::Text,
                Kind::List(_) => Class::List,
                Kind::Object(_) | Kind::Map(_) => Class::Map,
            },
        })
    }

    /// The fields, where they are known.
    pub(super) fn shape(self) -> Option<&'a Shape> {
        match self {
            Self::Of(Kind::Object(shape)) => Some(shape),
            _ => None,
        }
    }

    /// The only texts it can be, where they are known.
    pub(super) fn one_of(self) -> Option<&'a [String]> {
        match self {
            Self::Of(Kind::Text { one_of }) if !one_of.is_empty() => Some(one_of),
            _ => None,
        }
    }

    /// The type of an item or of a value under an unknown key.
    pub(super) fn item(self) -> Self {
        match self {
            Self::Of(Kind::List(item) | Kind::Map(item)) => Self::of(item),
            _ => Self::Unknown,
        }
    }

    /// True for lists.
    pub(super) fn is_list(self) -> bool {
        self.class() == Some(Class::List)
    }

    /// What is certain of a value that has either type.
    pub(super) fn or(self, other: Self) -> Self {
        let no_verdict =
            |ty: Self| ty == Self::NoVerdict || matches!(ty.class(), Some(Class::Number | Class::Text | Class::List));
        let number = |ty: Self| ty.class() == Some(Class::Number);
        match (self, other) {
            _ if self == other => self,
            _ if number(self) && number(other) => Self::Number,
            _ if no_verdict(self) && no_verdict(other) => Self::NoVerdict,
            _ => Self::Unknown,
        }
    }
}

/// The most origins that are followed for one value.
const MAX_ORIGINS: usize = 8;

/// The longest path that is followed, in bytes.
const MAX_PATH: usize = 240;

/// What is known of a value.
#[derive(Clone, Debug)]
pub(super) struct TypedValue<'a> {
    /// Its type.
    pub(super) ty: Type<'a>,
    /// The input paths it may be (`artifact.candidate_repos[]`).
    pub(super) origins: Vec<Rc<str>>,
    /// Whether it certainly is a part of an input itself, not a copy; those cannot be changed.
    pub(super) frozen: bool,
    /// The token that people would point at.
    pub(super) at: Position,
    /// The function it certainly is.
    pub(super) function: Option<Callable<'a>>,
}

impl<'a> TypedValue<'a> {
    /// A value of a type.
    pub(super) fn new(ty: Type<'a>, at: Position) -> Self {
        Self { ty, origins: Vec::new(), frozen: false, at, function: None }
    }

    /// A value that nothing is known of.
    pub(super) fn unknown(at: Position) -> Self {
        Self::new(Type::Unknown, at)
    }

    /// An input.
    pub(super) fn input(name: &str, kind: &'a Kind) -> Self {
        Self { origins: vec![name.into()], frozen: true, ..Self::new(Type::of(kind), Position::NONE) }
    }

    /// The same value where it is used.
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
        Self { ty, origins, frozen, at, function: None }
    }

    /// An item of it.
    pub(super) fn item(&self, at: Position) -> Self {
        self.part(self.ty.item(), "[]", at)
    }

    /// An item of it, or `()` where there is none: only for objects is the type of use then.
    pub(super) fn item_or_unit(&self, at: Position) -> Self {
        let mut item = self.item(at);
        if item.ty.class() != Some(Class::Map) {
            item.ty = Type::Unknown;
        }
        item.frozen = false;
        item
    }

    /// A copy of it that the script may change.
    pub(super) fn copied(&self, at: Position) -> Self {
        Self { frozen: false, at, function: None, ..self.clone() }
    }

    /// What is certain of a value that is either.
    pub(super) fn or(mut self, other: &Self) -> Self {
        self.ty = self.ty.or(other.ty);
        self.frozen &= other.frozen;
        self.function = None;
        self.add_origins(other);
        self
    }

    /// Adds where another value may have come from.
    pub(super) fn add_origins(&mut self, other: &Self) {
        for path in &other.origins {
            if self.origins.len() < MAX_ORIGINS && !self.origins.contains(path) {
                self.origins.push(path.clone());
            }
        }
    }

    /// The input it is, if that is one.
    pub(super) fn path(&self) -> Option<&str> {
        match self.origins.as_slice() {
            [path] => Some(path),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_the_same_is_unknown() {
        assert_eq!(Type::Number.or(Type::Number), Type::Number);
        assert_eq!(Type::Number.or(Type::Bool), Type::Unknown);
        assert_eq!(Type::Number.or(Type::Text).or(Type::List), Type::NoVerdict);
        assert_eq!(Type::NoVerdict.class(), None);
    }

    #[test]
    fn parts_keep_their_paths_and_paths_end_somewhere() {
        let kind = Kind::Any;
        let mut value = TypedValue::input("a", &kind);
        assert_eq!(value.item(Position::NONE).path(), Some("a[]"));
        for _ in 0..200 {
            value = value.part(Type::Unknown, ".next", Position::NONE);
        }
        assert!(value.origins.is_empty() && !value.frozen);
    }

    #[test]
    fn a_schema_gives_items_and_values() {
        let kind = Kind::Map(Box::new(Kind::Int { min: None, max: None }));
        assert_eq!(Type::of(&kind).item().class(), Some(Class::Number));
        assert_eq!(Type::of(&kind).class(), Some(Class::Map));
        assert_eq!(Type::of(&TEXTS).item().class(), Some(Class::Text));
    }
}
