//! The parameters that templates name, held against those there are, before anything is rendered.

use super::template::Templates;
use crate::diag::{Diagnostic, Diagnostics, Source, Span, did_you_mean, nearest};
use std::collections::BTreeSet;

/// Names that every template has.
const OWN: [&str; 2] = ["loop", "range"];

/// A group of parameters.
#[derive(Clone, Debug)]
pub struct ParameterGroup {
    /// Its name.
    pub name: String,
    /// All of its fields; none if it may have any.
    pub fields: Vec<String>,
}

/// A parameter that a template, or one that it includes, names.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterUse {
    /// The parameter (`needs.siblings`).
    pub path: String,
    /// Where it is named first.
    pub source: Source,
    /// The place there.
    pub span: Span,
}

impl Templates {
    /// Reports groups and fields of groups that do not exist, and includes of templates that do not. A name that is no group
    /// may be one of the including template's own in one that others include.
    pub fn check_names(&self, groups: &[ParameterGroup], found: &mut Diagnostics) {
        let included: BTreeSet<String> = self.paths().flat_map(|path| self.includes(path)).collect();
        for path in self.paths() {
            let Some(source) = self.get(path).map(|template| template.source().clone()) else { continue };
            for other in self.includes(path).iter().filter(|other| self.get(other).is_none()) {
                let span = place(&source, other);
                let problem = Diagnostic::error("template/include", format!("there is no template `{other}`"));
                found.push(problem.label(&source, span, "included here").maybe_help(did_you_mean(other, self.paths())));
            }
            for name in self.own_names(path) {
                let mut parts = name.split('.');
                let root = parts.next().unwrap_or_default();
                let Some(group) = groups.iter().find(|group| group.name == root) else {
                    let hint = did_you_mean(root, groups.iter().map(|group| group.name.as_str()));
                    let slip = nearest(root, groups.iter().map(|group| group.name.as_str())).is_some();
                    if !OWN.contains(&root) && (slip || !included.contains(path)) {
                        let problem =
                            Diagnostic::error("template/unknown-group", format!("there is no parameter group `{root}`"));
                        found.push(problem.label(&source, place(&source, root), "named here").maybe_help(hint));
                    }
                    continue;
                };
                let Some(field) = parts.next().filter(|field| !group.fields.iter().any(|known| known == field)) else { continue };
                if group.fields.is_empty() {
                    continue;
                }
                let message = format!("the parameter group `{root}` has no field `{field}`");
                let hint = did_you_mean(field, group.fields.iter().map(String::as_str));
                let hint = hint.unwrap_or_else(|| format!("it has {}", group.fields.join(", ")));
                let span = place(&source, &format!("{root}.{field}"));
                found.push(Diagnostic::error("template/unknown-field", message).label(&source, span, "named here").help(hint));
            }
        }
    }

    /// Every parameter that a template and those it includes name.
    pub fn names(&self, path: &str) -> Vec<ParameterUse> {
        let mut open = vec![path.to_owned()];
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut names: Vec<ParameterUse> = Vec::new();
        while let Some(path) = open.pop() {
            if !seen.insert(path.clone()) {
                continue;
            }
            let Some(source) = self.get(&path).map(|template| template.source().clone()) else { continue };
            for name in self.own_names(&path) {
                if !names.iter().any(|known| known.path == name) {
                    names.push(ParameterUse { span: place(&source, &name), source: source.clone(), path: name });
                }
            }
            open.extend(self.includes(&path));
        }
        names
    }

    fn own_names(&self, path: &str) -> BTreeSet<String> {
        self.get(path).map(|template| template.undeclared()).unwrap_or_default()
    }

    /// The templates that one includes by name.
    pub fn includes(&self, path: &str) -> Vec<String> {
        let text = self.get(path).map(|template| template.source().text().to_owned()).unwrap_or_default();
        let after = text.split("include ").skip(1).filter_map(|rest| {
            let quote = rest.trim_start().chars().next().filter(|ch| matches!(ch, '"' | '\''))?;
            rest.trim_start()[1..].split_once(quote).map(|(name, _)| name.to_owned())
        });
        after.collect()
    }
}

/// The first place of a word (or words with dots) in a tag of a template.
fn place(source: &Source, word: &str) -> Span {
    let text = source.text();
    let is_word = |ch: char| ch.is_alphanumeric() || ch == '_';
    let in_tag = |at: usize| {
        let before = &text[..at];
        let open = before.rfind("{{").max(before.rfind("{%"));
        open > before.rfind("}}").max(before.rfind("%}"))
    };
    let whole = |at: &usize| {
        let (before, after) = (&text[..*at], &text[*at + word.len()..]);
        !before.ends_with(|ch| is_word(ch) || ch == '.') && !after.starts_with(is_word) && in_tag(*at)
    };
    let at = text.match_indices(word).map(|(at, _)| at).find(whole);
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
        let said = |problem: &Diagnostic| {
            let label = problem.primary().expect("a place");
            format!("{} `{}` {}", problem.code, label.source.slice(label.span), problem.help.clone().unwrap_or_default())
        };
        found.iter().map(said).collect()
    }

    #[test]
    fn what_is_there_may_be_named() {
        let texts = [
            ("a.md", "{% for x in prior.any.thing %}{{ x.y }}{{ loop.index }}{% include 'b.md' %}{% endfor %}{{ failure.name }}"),
            ("b.md", "{{ x.y }} failure.nobody {% for i in range(3) %}{{ i }}{% endfor %}"),
        ];
        assert_eq!(check(&texts), [""; 0]);
    }

    #[test]
    fn slips_are_labelled_with_what_is_meant() {
        let said = check(&[("a.md", "failure.sute {{ failure.sute }} {{ failur.name }} {{ nobody }} {% include 'b.md' %}")]);
        assert_eq!(said.len(), 4, "{said:?}");
        assert!(said[0].starts_with("template/include `b.md`"), "{said:?}");
        assert!(said.iter().any(|line| line.contains("unknown-field `failure.sute` did you mean `suite`?")), "{said:?}");
        assert!(said.iter().any(|line| line.contains("unknown-group `failur` did you mean `failure`?")), "{said:?}");
        assert!(said.iter().any(|line| line.contains("unknown-group `nobody`")), "{said:?}");
        let inner = [("a.md", "{% for nobdy in prior %}{% include 'b.md' %}{% endfor %}"), ("b.md", "{{ nobody }}{{ failurr }}")];
        assert_eq!(check(&inner).len(), 1, "{:?}", check(&inner));
    }

    #[test]
    fn names_are_those_of_includes_too() {
        let texts = [("a.md", "{{ failure.name }}{% include 'b.md' %}"), ("b.md", "{{ prior.x }}{% include 'a.md' %}")];
        let templates = Templates::compile(texts.map(|(name, text)| Source::new(name, text))).expect("compiles");
        let names: Vec<String> = templates.names("a.md").into_iter().map(|known| known.path).collect();
        assert_eq!(names, ["failure.name", "prior.x"]);
    }
}
