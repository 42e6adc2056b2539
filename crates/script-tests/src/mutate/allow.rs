//! `// mutants: allow(id) reason`: survivors that a person has looked at, and complaints of allows that allow nothing.

use super::Mutant;
use super::mutators::mutators;
use asterisk_diag::{self as diag, Comments, Diagnostic, Source, did_you_mean};
use asterisk_script::Unit;

/// What an allow begins with, behind the sign of a comment.
const MARK: &str = "mutants: allow(";

/// A mutator in an allow, and whether it explained a survivor.
pub(super) struct MutatorAllow {
    inner: diag::Allow,
    used: bool,
}

/// All allows of a script.
pub(super) fn allows(unit: &Unit, source: &Source) -> Vec<MutatorAllow> {
    let found = diag::Allow::find(source, MARK, Comments::Slashes, |at| unit.tokens().covers(at));
    found.into_iter().map(|inner| MutatorAllow { inner, used: false }).collect()
}

/// Why a survivor is one, if an allow says so.
pub(super) fn reason(allows: &mut [MutatorAllow], mutant: &Mutant) -> Option<String> {
    let is_it = |allow: &&mut MutatorAllow| allow.inner.covers(mutant.mutator, mutant.span.start);
    allows.iter_mut().find(is_it).map(|allow| {
        allow.used = true;
        allow.inner.reason.clone()
    })
}

/// What is wrong with allows: mutators that there are not, no reason, nothing that survives.
pub(super) fn complaints(allows: &[MutatorAllow]) -> Vec<Diagnostic> {
    let complain = |MutatorAllow { inner: allow, .. }: &MutatorAllow| {
        let id = allow.id();
        let known = || mutators().iter().map(|mutator| mutator.id);
        let label = |message: String, text: &str| {
            Diagnostic::warning("test/allow", message).label(&allow.source, allow.id, text.to_owned())
        };
        if !known().any(|known| known == id) {
            let all: Vec<&str> = known().collect();
            let help = did_you_mean(id, known()).unwrap_or_else(|| format!("there are {}", all.join(", ")));
            return label(format!("unknown mutator `{id}`"), "allowed here").help(help);
        }
        if allow.reason.is_empty() {
            let help = format!("write it after the id: `// {MARK}{id}) why it is right here`");
            return label(format!("this allow of `{id}` has no reason, and is ignored"), "no reason").help(help);
        }
        label(format!("no mutant of `{id}` survives here"), "suppresses nothing").help("remove it")
    };
    allows.iter().filter(|allow| !allow.used).map(complain).collect()
}
