//! Data files: YAML maps that scripts and templates see as `params.data.<stem>`, and the linked domain as `params.data.domain`.

use super::domain::{self, Domain};
use super::evidence;
use super::forms;
use super::forms::DataReader;
use super::learned::{DeclaredTerms, LearnedWeights};
use super::personas;
use crate::diag::{Diagnostic, Diagnostics, Source, Span, did_you_mean};
use crate::evidence::EvidenceReader;
use crate::form::fill;
use crate::form::yaml::{self, Yaml};
use crate::model::Kind;
use crate::script::View;
use crate::walk::Content;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The stem of the file of learned weights, which is no data for scripts.
const LEARNED: &str = "learned";

/// The stem of the file of words, which is no data for scripts either.
const TERMS: &str = "terms";

/// The name of the domain in the data.
const DOMAIN: &str = "domain";

/// The data of a project with what derives from it, read once for all links with the same texts.
#[derive(Debug)]
pub struct ProjectData {
    /// The texts.
    sources: Vec<Source>,
    /// The name of the domain asked for.
    asked: Option<String>,
    /// The data files, by stem, with the domain.
    pub files: Map<String, Value>,
    /// `files`, as scripts see them.
    pub(super) content: Content,
    /// The defects and categories, as scripts see them.
    pub(super) taxonomy: Content,
    /// Reads failures by the data.
    pub(super) evidence: Arc<EvidenceReader>,
    /// The name of the domain, if there is one.
    pub(super) domain: Option<String>,
    /// The learned weights, if there are any.
    pub(super) learned: Option<LearnedWeights>,
    /// The weights of words, if there are any.
    pub(super) terms: Option<DeclaredTerms>,
    /// Errors and warnings.
    found: Diagnostics,
}

impl ProjectData {
    /// Reads data files, with the domain of that name.
    pub fn read(sources: &[Source], domain: Option<&str>) -> Arc<Self> {
        let mut found = Diagnostics::new();
        let read = read(sources, domain, &mut found);
        let any = |value: &Value, name: &str| Content::new(View::of(value, &Kind::Any, name));
        Arc::new(Self {
            sources: sources.to_vec(),
            asked: domain.map(str::to_owned),
            content: any(&Value::Object(read.files.clone()), "params.data"),
            taxonomy: any(&taxonomy(&read.files), "params.taxonomy"),
            evidence: Arc::new(evidence::reader(&read.files, &read.places)),
            files: read.files,
            domain: read.domain,
            learned: read.learned,
            terms: read.terms,
            found,
        })
    }

    /// The errors and warnings of the texts.
    pub fn found(&self) -> &Diagnostics {
        &self.found
    }

    /// Whether it was read from these texts with the same domain.
    pub(super) fn is_of(&self, sources: &[Source], domain: Option<&str>) -> bool {
        self.asked.as_deref() == domain && self.sources == sources
    }
}

/// The part of the domain that classifies failures: defects, categories and severities.
fn taxonomy(data: &Map<String, Value>) -> Value {
    let Some(domain) = data.get("domain") else { return Value::Null };
    ["defects", "categories", "severities"].into_iter().map(|key| (key, domain[key].clone())).collect()
}

/// What data files say.
struct ReadFiles {
    files: Map<String, Value>,
    domain: Option<String>,
    /// The locations of the domain's signatures, by id.
    places: BTreeMap<String, String>,
    learned: Option<LearnedWeights>,
    terms: Option<DeclaredTerms>,
}

/// Reads all data files into one object by file stem, including the domain with a name.
fn read(sources: &[Source], name: Option<&str>, found: &mut Diagnostics) -> ReadFiles {
    let linked = domain::link(sources, name, found);
    let mut files = Map::new();
    let (mut learned, mut terms) = (None, None);
    for source in sources.iter().filter(|source| !domain::is_domain_file(source)) {
        let stem = source.name().rsplit_once('.').map_or(source.name(), |(stem, _)| stem).replace('/', "_");
        match yaml::parse(source) {
            _ if stem == DOMAIN => {
                let error = Diagnostic::error("data/reserved", "`domain` is the name of the domain in `params.data`");
                let error = error.label(source, Span::new(0, source.text().len().min(1)), "in this file");
                found.push(error.help("give the file another name, or move it into `data/domains/`"));
            }
            Ok(tree) => {
                let value = file(source, &tree, &stem, linked.as_ref(), found);
                if stem == LEARNED {
                    learned = LearnedWeights::of(source, &tree, found);
                } else if stem == TERMS {
                    terms = DeclaredTerms::of(source, &tree, found);
                } else if !stem.starts_with(forms::SCORECARDS) {
                    files.insert(stem, value);
                }
            }
            Err(diagnostics) => found.extend(diagnostics),
        }
    }
    personas::check(sources, &files, found);
    let domain = linked.as_ref().map(|linked| linked.name.clone());
    let mut places = BTreeMap::new();
    if let Some(linked) = linked {
        files.insert(DOMAIN.to_owned(), linked.value);
        places = linked.places;
    }
    ReadFiles { files, domain, places, learned, terms }
}

/// Reads one file: by its form, if it has one, otherwise unchecked.
fn file(source: &Source, tree: &Yaml, stem: &str, domain: Option<&Domain>, found: &mut Diagnostics) -> Value {
    let Some(form) = forms::of(stem) else { return tree.to_json() };
    let mut check = DataReader::new(source, "data");
    let mut value = check.file(tree, form, None);
    fill(&mut value, form);
    for reference in std::mem::take(&mut check.references) {
        let known = domain.and_then(|domain| domain.value[reference.to].as_object());
        // Without a domain there is nothing to compare with.
        let Some(known) = known.filter(|known| !known.contains_key(reference.name.as_str())) else { continue };
        let message = format!("{} names `{}`, which is not under `{}`", reference.by, *reference.name, reference.to);
        let error = check.reader.error("unknown-name", message, reference.name.span, "here");
        check.reader.push(error.maybe_help(did_you_mean(&reference.name, known.keys().map(String::as_str))));
    }
    found.extend(check.finish());
    value
}

/// Reads data files, with the domain of that name. The error lists everything that is wrong with them.
pub fn read_data(sources: &[Source], domain: Option<&str>) -> Result<Map<String, Value>, Diagnostics> {
    let mut found = Diagnostics::new();
    let data = read(sources, domain, &mut found);
    if found.has_errors() { Err(found) } else { Ok(data.files) }
}
