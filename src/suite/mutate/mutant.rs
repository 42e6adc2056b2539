//! All mutants of a script.

use super::mutators::mutators;
use super::words::Words;
use crate::diag::{Source, Span};
use crate::script::Unit;
use std::collections::BTreeSet;

/// A script changed in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Which mutator changed it.
    pub mutator: &'static str,
    /// The function that the change is in.
    pub function: String,
    /// That function's name where it is defined.
    pub defined: Span,
    /// What was changed.
    pub span: Span,
    /// What stands there now.
    pub replacement: String,
}

impl Mutant {
    /// The script with the change.
    pub fn source(&self, original: &Source) -> Source {
        let text = original.text();
        let changed = [&text[..self.span.start], &self.replacement, &text[self.span.end..]].concat();
        Source::new(original.name(), changed)
    }
}

/// The mutants of a script's functions, in the order of the text and of the mutators. No two are the same text.
pub(super) fn mutants(unit: &Unit) -> Vec<Mutant> {
    let words = Words::of(unit);
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for body in words.bodies() {
        for at in body.words.clone() {
            for mutator in mutators() {
                for (span, replacement) in (mutator.at)(&words, at) {
                    if seen.insert((span.start, span.end, replacement.clone())) {
                        let function = body.name.clone();
                        found.push(Mutant { mutator: mutator.id, function, defined: body.at, span, replacement });
                    }
                }
            }
        }
    }
    found
}
