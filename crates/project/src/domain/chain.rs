//! Links a domain with those it extends.

use super::{check, keys::DOMAIN, merge};
use crate::forms::DataReader;
use asterisk_diag::{Diagnostic, Diagnostics, Source, did_you_mean};
use asterisk_form::yaml::{self, Yaml};
use asterisk_form::{FormReader, fill};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The default domain.
pub const DEFAULT_DOMAIN: &str = "generic";

/// The directory of domains, below the data.
const BELOW: &str = "domains/";

/// A domain merged with those it extends.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Its name: the stem of its file.
    pub name: String,
    /// The value for scripts: every key of the form, `name`, and `extends` as the list of all domains it extends, nearest first.
    pub value: Value,
    /// The location of each signature, by id: `data/domains/generic.yaml:12`.
    pub places: BTreeMap<String, String>,
}

/// An available domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedDomain {
    /// Its name.
    pub name: String,
    /// Its `description:`.
    pub description: String,
    /// The domain it extends directly, or an empty text.
    pub extends: String,
    /// The path of its file below the data.
    pub file: String,
}

/// The directory of files of signatures, below the data.
const SIGNATURES: &str = "signatures/";

/// The domain name of a data file, if it is a domain.
fn name_of(source: &Source) -> Option<&str> {
    let file = source.name().strip_prefix(BELOW)?;
    file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml"))
}

/// Whether a data file is a domain or a file of signatures.
pub(crate) fn is_domain_file(source: &Source) -> bool {
    name_of(source).is_some() || source.name().starts_with(SIGNATURES)
}

/// The names of all domains among the data files.
pub fn names(data: &[Source]) -> Vec<&str> {
    data.iter().filter_map(name_of).collect()
}

/// Lists all domains among the data files, with their descriptions as far as readable.
pub fn list(data: &[Source]) -> Vec<ListedDomain> {
    let listed = |source: &Source| {
        let tree = yaml::parse(source).ok();
        let text = |key: &str| tree.as_ref().and_then(|tree| tree.get(key)?.as_text()).unwrap_or_default().trim().to_owned();
        let (description, extends) = (text("description"), text("extends"));
        Some(ListedDomain { name: name_of(source)?.to_owned(), description, extends, file: source.name().to_owned() })
    };
    data.iter().filter_map(listed).collect()
}

/// Links the domain of that name, by default [`DEFAULT_DOMAIN`], if it exists. Errors and warnings of all its files are found at
/// once; with any error the result is `None`.
pub fn link(data: &[Source], name: Option<&str>, found: &mut Diagnostics) -> Option<Domain> {
    linked(data, name, found, |(source, tree), base, merge| {
        let mut check = DataReader::new(source, "domain");
        let own = check.file(tree, &DOMAIN, base.as_ref());
        let whole = merge(base, own);
        check::check(&mut check, tree, &whole);
        (whole, check.finish())
    })
}

/// Links the domain of that name of texts that were checked before.
pub(crate) fn link_checked(data: &[Source], name: Option<&str>) -> Option<Domain> {
    linked(data, name, &mut Diagnostics::new(), |(source, tree), base, merge| {
        let own = FormReader::<()>::new(source, "domain").file(tree, &DOMAIN, base.as_ref());
        (merge(base, own), Diagnostics::new())
    })
}

/// A file of a domain with its tree.
type Layer<'s> = (&'s Source, Yaml);

/// Links a domain; `read` adds a file to those before it.
fn linked(
    data: &[Source],
    name: Option<&str>,
    found: &mut Diagnostics,
    read: impl Fn(&Layer<'_>, Option<Value>, &dyn Fn(Option<Value>, Value) -> Value) -> (Value, Diagnostics),
) -> Option<Domain> {
    let wanted = match name {
        Some(name) => name,
        None if names(data).contains(&DEFAULT_DOMAIN) => DEFAULT_DOMAIN,
        None => return None,
    };
    if !names(data).contains(&wanted) {
        found.push(unknown(wanted, data));
        return None;
    }
    let layers = layers(wanted, data, found)?;
    let mut merged: Option<Value> = None;
    let mut is_valid = true;
    for layer in layers.iter().rev() {
        let add = |base: Option<Value>, own: Value| {
            let description = base.as_ref().filter(|_| name_of(layer.0).is_none()).map(|base| base["description"].clone());
            let own = merge::with_topics(own, base.as_ref());
            let mut whole = merge::merge(base, own, &DOMAIN);
            if let Some(description) = description.filter(|description| !description.is_null()) {
                whole["description"] = description;
            }
            whole
        };
        let (whole, diagnostics) = read(layer, merged.take(), &add);
        is_valid &= !diagnostics.has_errors();
        found.extend(diagnostics);
        merged = Some(whole);
    }
    let mut value = merged.filter(|_| is_valid)?;
    fill(&mut value, &DOMAIN);
    merge::complete(&mut value);
    value["name"] = json!(wanted);
    value["extends"] = layers.iter().skip(1).filter_map(|(source, _)| name_of(source)).collect();
    Some(Domain { name: wanted.to_owned(), value, places: places(&layers) })
}

/// The locations of the signatures; the nearest file that defines an id takes precedence.
fn places(layers: &[(&Source, Yaml)]) -> BTreeMap<String, String> {
    let mut places = BTreeMap::new();
    for (source, tree) in layers.iter().rev() {
        for item in tree.get("signatures").and_then(Yaml::as_list).unwrap_or_default() {
            let Some(id) = item.get("id") else { continue };
            let (line, _) = source.line_column(id.span.start);
            places.insert(id.as_text().unwrap_or_default().to_owned(), format!("data/{}:{line}", source.name()));
        }
    }
    places
}

/// The error for an unknown domain.
pub(super) fn unknown(name: &str, data: &[Source]) -> Diagnostic {
    let help = did_you_mean(name, names(data));
    Diagnostic::error("domain/unknown", format!("unknown domain `{name}`")).maybe_help(help)
}

/// The files of signatures that a domain includes, the last first: each adds to those before it.
fn included<'s>(source: &Source, tree: &Yaml, data: &'s [Source], found: &mut Diagnostics) -> Option<Vec<(&'s Source, Yaml)>> {
    let mut files = Vec::new();
    for item in tree.get("include").and_then(Yaml::as_list).unwrap_or_default() {
        let Some(name) = item.as_text() else { continue };
        let stem = |source: &'s Source| source.name().strip_prefix(SIGNATURES)?.strip_suffix(".yaml");
        let Some(file) = data.iter().find(|source| stem(source) == Some(name)) else {
            let error = Diagnostic::error("domain/include", format!("the file `data/signatures/{name}.yaml` does not exist"));
            let error = error.label(source, item.span, "included here");
            found.push(error.maybe_help(did_you_mean(name, data.iter().filter_map(stem))));
            return None;
        };
        match yaml::parse(file) {
            Ok(tree) => files.insert(0, (file, tree)),
            Err(diagnostics) => {
                found.extend(diagnostics);
                return None;
            }
        }
    }
    Some(files)
}

/// The file of a domain and those it extends, nearest first.
fn layers<'s>(name: &str, data: &'s [Source], found: &mut Diagnostics) -> Option<Vec<(&'s Source, Yaml)>> {
    let mut layers: Vec<(&Source, Yaml)> = Vec::new();
    let mut next = name.to_owned();
    while let Some(source) = data.iter().find(|source| name_of(source) == Some(next.as_str())) {
        let tree = match yaml::parse(source) {
            Ok(tree) => tree,
            Err(diagnostics) => {
                found.extend(diagnostics);
                return None;
            }
        };
        let extends = tree.get("extends").and_then(|yaml| Some((yaml.as_text()?.to_owned(), yaml.span)));
        layers.extend(included(source, &tree, data, found)?);
        layers.push((source, tree));
        let Some((base, span)) = extends else { return Some(layers) };
        let known = names(data);
        let fault = if layers.iter().any(|(source, _)| name_of(source) == Some(&base)) {
            let circle: Vec<&str> = layers.iter().filter_map(|(source, _)| name_of(source)).chain([base.as_str()]).collect();
            let error = Diagnostic::error("domain/circle", "domains extend each other in a cycle");
            Some(error.help(format!("{}: one of them must not extend another", circle.join(" -> "))))
        } else if !known.contains(&base.as_str()) {
            let others = known.into_iter().filter(|name| *name != next);
            let error = Diagnostic::error("domain/unknown", format!("unknown domain `{base}`"));
            Some(error.maybe_help(did_you_mean(&base, others)))
        } else {
            None
        };
        if let Some(fault) = fault {
            found.push(fault.label(source, span, "extended here"));
            return None;
        }
        next = base;
    }
    Some(layers)
}
