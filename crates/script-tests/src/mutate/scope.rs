//! Which scripts and functions are mutated.

/// A part of `path#function`, in which `*` stands for anything; several are separated by commas.
#[derive(Clone, Debug)]
pub struct MutateScope {
    parts: Vec<String>,
}

/// What is mutated if nothing is named: the scripts that decide, and those that leave something behind.
const DEFAULT: &str = "rules/*,effects/*,schedulers/*,masks/*,branches/*";

impl MutateScope {
    /// Reads a scope; nothing is what decides: rules, effects, schedulers, masks and what is made of branches.
    pub fn of(text: Option<&str>) -> Self {
        let text = text.filter(|text| !text.is_empty()).unwrap_or(DEFAULT);
        Self { parts: text.split(',').map(|part| part.trim().to_owned()).collect() }
    }

    /// Whether a function of a script is in it.
    pub(super) fn holds(&self, path: &str, function: &str) -> bool {
        let id = format!("{path}#{function}");
        self.parts.iter().any(|part| if part.contains('*') { is_like(&id, part) } else { id.contains(part.as_str()) })
    }
}

impl std::fmt::Display for MutateScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.parts.join(", "))
    }
}

/// Whether a pattern is the whole of a `path#function`, or of the path.
fn is_like(id: &str, pattern: &str) -> bool {
    let path = id.split('#').next().unwrap_or(id);
    [id, path].into_iter().any(|text| {
        let mut pieces = pattern.split('*');
        let first = pieces.next().unwrap_or("");
        let Some(mut rest) = text.strip_prefix(first) else { return false };
        let pieces: Vec<&str> = pieces.collect();
        let Some((last, middle)) = pieces.split_last() else { return rest.is_empty() };
        for piece in middle {
            let Some(at) = rest.find(piece) else { return false };
            rest = &rest[at + piece.len()..];
        }
        rest.ends_with(last)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_a_part_or_a_pattern_of_the_name() {
        let holds = |scope: &str, path: &str| MutateScope::of(Some(scope)).holds(path, "f");
        assert!(holds("", "rules/a.rhai") && holds("", "effects/b/c.rhai") && !holds("", "lib/rules/a.rhai"));
        assert!(holds("lib", "lib/a.rhai") && holds("a.rhai#f", "lib/a.rhai") && !holds("a.rhai#g", "lib/a.rhai"));
        assert!(holds("lib/*.rhai", "lib/a.rhai") && holds("*#f", "lib/a.rhai") && !holds("a*", "lib/a.rhai"));
        assert!(holds("rules, lib", "lib/a.rhai") && holds("lib/*a*", "lib/a.rhai") && !holds("lib/*b*", "lib/a.rhai"));
    }
}
