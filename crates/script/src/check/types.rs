//! The known type of a value.

use asterisk_base::model::{Kind, Shape};

/// A type, as far as it is certain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Type<'a> {
    /// Nothing certain.
    Unknown,
    /// `()`
    Unit,
    Bool,
    /// An integer or a float, which are comparable.
    Number,
    /// A string or a character, which are comparable.
    Text,
    /// A list of anything.
    List,
    /// A map of anything.
    Map,
    /// The type declared by a schema.
    Of(&'a Kind),
    /// A number, a string or a list: none of these is a valid outcome of a rule.
    NoOutcome,
}

/// A list of strings, the result of some functions.
pub(super) static TEXTS: std::sync::LazyLock<Kind> =
    std::sync::LazyLock::new(|| Kind::List(Box::new(Kind::Text { one_of: Vec::new() })));

/// Types whose values are comparable.
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
    /// The name in messages, with an article.
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

    /// Whether `<` and `>` are defined.
    pub(super) fn ordered(self) -> bool {
        matches!(self, Self::Number | Self::Text)
    }
}

impl<'a> Type<'a> {
    /// The type declared by a schema.
    pub(super) fn of(kind: &'a Kind) -> Self {
        match kind {
            Kind::Any => Self::Unknown,
            Kind::Bool => Self::Bool,
            _ => Self::Of(kind),
        }
    }

    /// The comparison class, if it is certain.
    pub(super) fn class(self) -> Option<Class> {
        Some(match self {
            Self::Unknown | Self::NoOutcome => return None,
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

    /// The fields, if they are known.
    pub(super) fn shape(self) -> Option<&'a Shape> {
        match self {
            Self::Of(Kind::Object(shape)) => Some(shape),
            _ => None,
        }
    }

    /// The possible strings, if they are known.
    pub(super) fn one_of(self) -> Option<&'a [String]> {
        match self {
            Self::Of(Kind::Text { one_of }) if !one_of.is_empty() => Some(one_of),
            _ => None,
        }
    }

    /// The type of an item, or of a value under an unknown key.
    pub(super) fn item(self) -> Self {
        match self {
            Self::Of(Kind::List(item) | Kind::Map(item)) => Self::of(item),
            _ => Self::Unknown,
        }
    }

    /// Whether it is a list.
    pub(super) fn is_list(self) -> bool {
        self.class() == Some(Class::List)
    }

    /// The common type of two alternatives.
    pub(super) fn or(self, other: Self) -> Self {
        let no_outcome =
            |ty: Self| ty == Self::NoOutcome || matches!(ty.class(), Some(Class::Number | Class::Text | Class::List));
        let number = |ty: Self| ty.class() == Some(Class::Number);
        match (self, other) {
            _ if self == other => self,
            _ if number(self) && number(other) => Self::Number,
            _ if no_outcome(self) && no_outcome(other) => Self::NoOutcome,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_types_join_to_unknown() {
        assert_eq!(Type::Number.or(Type::Number), Type::Number);
        assert_eq!(Type::Number.or(Type::Bool), Type::Unknown);
        assert_eq!(Type::Number.or(Type::Text).or(Type::List), Type::NoOutcome);
        assert_eq!(Type::NoOutcome.class(), None);
    }

    #[test]
    fn schemas_provide_types_of_items_and_values() {
        let kind = Kind::Map(Box::new(Kind::Int { min: None, max: None }));
        assert_eq!(Type::of(&kind).item().class(), Some(Class::Number));
        assert_eq!(Type::of(&kind).class(), Some(Class::Map));
        assert_eq!(Type::of(&TEXTS).item().class(), Some(Class::Text));
    }
}
