//! What is known of the type of a value.

use crate::model::{Kind, Shape};

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
    fn a_schema_gives_items_and_values() {
        let kind = Kind::Map(Box::new(Kind::Int { min: None, max: None }));
        assert_eq!(Type::of(&kind).item().class(), Some(Class::Number));
        assert_eq!(Type::of(&kind).class(), Some(Class::Map));
        assert_eq!(Type::of(&TEXTS).item().class(), Some(Class::Text));
    }
}
