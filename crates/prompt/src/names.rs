//! Checks the parameters that templates use before anything is rendered.

use super::template::Templates;
use asterisk_diag::{Diagnostic, Diagnostics, Source, Span, did_you_mean, nearest};
use std::collections::BTreeSet;

/// Names defined in every template.
const OWN: [&str; 2] = ["loop", "range"];

/// A group of parameters.
#[derive(Clone, Debug)]
pub struct ParameterGroup {
    pub name: String,
    /// All of its fields; empty if it may have any.
    pub fields: Vec<String>,
}

/// A parameter used by a template or one that it includes.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterUse {
    /// Its path (`needs.siblings`).
    pub path: String,
    /// The template with its first use.
    pub source: Source,
    /// The location of its first use.
    pub span: Span,
}

impl Templates {
    /// Reports unknown groups, unknown fields of groups, and includes of unknown templates. In an included template, a name that
    /// is not a group may be a variable of the including one.
    pub fn check_names(&self, groups: &[ParameterGroup], found: &mut Diagnostics) {
        let included: BTreeSet<String> = self.paths().flat_map(|path| self.includes(path)).collect();
        for path in self.paths() {
            let Some(source) = self.get(path).map(|template| template.source().clone()) else { continue };
            for other in self.includes(path).iter().filter(|other| self.get(other).is_none()) {
                let span = locate(&source, other);
                let problem = Diagnostic::error("template/include", format!("unknown template `{other}`"));
                found.push(problem.label(&source, span, "included here").maybe_help(did_you_mean(other, self.paths())));
            }
            for name in self.direct_names(path) {
                let mut parts = name.split('.');
                let root = parts.next().unwrap_or_default();
                let Some(group) = groups.iter().find(|group| group.name == root) else {
                    let hint = did_you_mean(root, groups.iter().map(|group| group.name.as_str()));
                    let is_similar = nearest(root, groups.iter().map(|group| group.name.as_str())).is_some();
                    if !OWN.contains(&root) && (is_similar || !included.contains(path)) {
                        let problem = Diagnostic::error("template/unknown-group", format!("unknown parameter group `{root}`"));
                        found.push(problem.label(&source, locate(&source, root), "named here").maybe_help(hint));
                    }
                    continue;
                };
                let Some(field) = parts.next().filter(|field| !group.fields.iter().any(|known| known == field)) else { continue };
                if group.fields.is_empty() {
                    continue;
                }
                let message = format!("no field `{field}` on the parameter group `{root}`");
                let near = nearest(field, group.fields.iter().map(String::as_str));
                let hint = near.map_or_else(
                    || format!("it has {}", group.fields.join(", ")),
                    |near| format!("did you mean `{root}.{near}` instead of `{root}.{field}`?"),
                );
                let span = locate(&source, &format!("{root}.{field}"));
                found.push(Diagnostic::error("template/unknown-field", message).label(&source, span, "named here").help(hint));
            }
        }
    }

    /// All parameters used by a template and those it includes.
    pub fn names(&self, path: &str) -> Vec<ParameterUse> {
        let mut open = vec![path.to_owned()];
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut names: Vec<ParameterUse> = Vec::new();
        while let Some(path) = open.pop() {
            if !seen.insert(path.clone()) {
                continue;
            }
            let Some(source) = self.get(&path).map(|template| template.source().clone()) else { continue };
            for name in self.direct_names(&path) {
                if !names.iter().any(|known| known.path == name) {
                    names.push(ParameterUse { span: locate(&source, &name), source: source.clone(), path: name });
                }
            }
            open.extend(self.includes(&path));
        }
        names
    }

    fn direct_names(&self, path: &str) -> BTreeSet<String> {
        self.get(path).map(|template| template.undeclared()).unwrap_or_default()
    }

    /// The templates that a template includes.
    pub fn includes(&self, path: &str) -> Vec<String> {
        let text = self.get(path).map(|template| template.source().text().to_owned()).unwrap_or_default();
        let after = text.split("include ").skip(1).filter_map(|rest| {
            let quote = rest.trim_start().chars().next().filter(|ch| matches!(ch, '"' | '\''))?;
            rest.trim_start()[1..].split_once(quote).map(|(name, _)| name.to_owned())
        });
        after.collect()
    }
}

/// The first occurrence of a word (or dotted words) in a tag of a template.
fn locate(source: &Source, word: &str) -> Span {
    let text = source.text();
    let is_word = |ch: char| ch.is_alphanumeric() || ch == '_';
    let in_tag = |at: usize| {
        let before = &text[..at];
        let open = before.rfind("{{").max(before.rfind("{%"));
        open > before.rfind("}}").max(before.rfind("%}"))
    };
    let is_match = |at: &usize| {
        let (before, after) = (&text[..*at], &text[*at + word.len()..]);
        !before.ends_with(|ch| is_word(ch) || ch == '.') && !after.starts_with(is_word) && in_tag(*at)
    };
    let at = text.match_indices(word).map(|(at, _)| at).find(is_match);
    at.map_or(Span::default(), |at| Span::new(at, at + word.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(texts: &[(&str, &str)]) -> Vec<String> {
        let templates = Templates::compile(texts.iter().map(|(name, text)| Source::new(*name, *text))).expect("compiles");
        let group = |name: &str, fields: &[&str]| ParameterGroup {
            name: name.into(),
            fields: fields.iter().map(ToString::to_string).collect(),
        };
        let mut found = Diagnostics::new();
        templates.check_names(&[group("failure", &["name", "suite"]), group("prior", &[])], &mut found);
        let line = |problem: &Diagnostic| {
            let label = problem.primary().expect("a place");
            format!("{} `{}` {}", problem.code, label.source.slice(label.span), problem.help.clone().unwrap_or_default())
        };
        found.iter().map(line).collect()
    }

    #[test]
    fn known_names_are_accepted() {
        let texts = [
            ("a.md", "{% for x in prior.any.thing %}{{ x.y }}{{ loop.index }}{% include 'b.md' %}{% endfor %}{{ failure.name }}"),
            ("b.md", "{{ x.y }} failure.nobody {% for i in range(3) %}{{ i }}{% endfor %}"),
        ];
        assert_eq!(check(&texts), [""; 0]);
    }

    #[test]
    fn misspelt_names_are_labelled_with_a_suggestion() {
        let errors = check(&[("a.md", "failure.sute {{ failure.sute }} {{ failur.name }} {{ nobody }} {% include 'b.md' %}")]);
        assert_eq!(errors.len(), 4, "{errors:?}");
        assert!(errors[0].starts_with("template/include `b.md`"), "{errors:?}");
        assert!(
            errors.iter().any(|line| line.contains("unknown-field `failure.sute` did you mean `failure.suite` instead")),
            "{errors:?}"
        );
        assert!(errors.iter().any(|line| line.contains("unknown-group `failur` did you mean `failure`?")), "{errors:?}");
        assert!(errors.iter().any(|line| line.contains("unknown-group `nobody`")), "{errors:?}");
        let inner = [("a.md", "{% for nobdy in prior %}{% include 'b.md' %}{% endfor %}"), ("b.md", "{{ nobody }}{{ failurr }}")];
        assert_eq!(check(&inner).len(), 1, "{:?}", check(&inner));
    }

    #[test]
    fn names_include_those_of_included_templates() {
        let texts = [("a.md", "{{ failure.name }}{% include 'b.md' %}"), ("b.md", "{{ prior.x }}{% include 'a.md' %}")];
        let templates = Templates::compile(texts.map(|(name, text)| Source::new(name, text))).expect("compiles");
        let names: Vec<String> = templates.names("a.md").into_iter().map(|known| known.path).collect();
        assert_eq!(names, ["failure.name", "prior.x"]);
    }
}
