//! Formulas over comparisons of one input with a constant.

/// A comparison of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberOp {
    Equal,
    Less,
    AtMost,
}

/// A test of an input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum InputTest {
    /// The input is `true`.
    Holds,
    /// The comparison with this number holds.
    Number(NumberOp, f64),
    /// The input is equal to this string.
    Text(String),
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Formula {
    True,
    False,
    /// An input (`artifact.confidence`, `artifact.repos.len()`) and its test. An input that begins with `?` is unknown.
    Atom(String, InputTest),
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
}

impl Formula {
    pub(crate) fn negated(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }

    pub(crate) fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Self::False => return Self::False,
                Self::True => {}
                part => kept.push(part),
            }
        }
        match kept.len() {
            0 => Self::True,
            1 => kept.swap_remove(0),
            _ => Self::All(kept),
        }
    }

    pub(crate) fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::all(parts.into_iter().map(Self::negated)).negated_any()
    }

    /// The negation of a conjunction of negations, i.e. a disjunction.
    fn negated_any(self) -> Self {
        match self {
            Self::All(parts) => Self::Any(parts.into_iter().map(Self::negated).collect()),
            other => other.negated(),
        }
    }

    /// The inputs that it tests.
    pub(crate) fn subjects(&self) -> std::collections::BTreeSet<&str> {
        match self {
            Self::True | Self::False => std::collections::BTreeSet::new(),
            Self::Atom(subject, _) => [subject.as_str()].into(),
            Self::Not(inner) => inner.subjects(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::subjects).collect(),
        }
    }

    /// Whether all of its inputs are known.
    pub(crate) fn is_exact(&self) -> bool {
        self.subjects().iter().all(|subject| !subject.starts_with('?'))
    }
}
