//! Data files: YAML maps that scripts and templates see as `params.data.<stem>`, and the linked domain as `params.data.domain`.

use super::data_files::{DOMAIN, DataFiles};
use super::domain::{self, Domain};
use super::evidence;
use super::forms;
use super::forms::DataReader;
use super::learned::{DeclaredTerms, LearnedWeights};
use super::personas;
use asterisk_base::model::{Deferred, Kind};
use asterisk_diag::{Diagnostic, Diagnostics, Source, Span, did_you_mean};
use asterisk_evidence::EvidenceReader;
use asterisk_form::yaml::{self, Yaml};
use asterisk_form::{FormReader, fill};
use asterisk_script::View;
use asterisk_walk::Content;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The stem of the file of learned weights, which is not data for scripts.
const LEARNED: &str = "learned";

/// The stem of the file of words, which is not data for scripts either.
const TERMS: &str = "terms";

/// The data of a project with what derives from it, read once for all links with the same texts.
#[derive(Debug)]
pub struct ProjectData {
    /// The texts.
    sources: Vec<Source>,
    /// The name of the domain asked for.
    asked: Option<String>,
    /// Whether all texts are bundled, and were taken as checked.
    pub(super) trusted: bool,
    /// The data files.
    pub files: Arc<DataFiles>,
    /// `files`, as scripts see them.
    pub(super) content: Deferred<Content>,
    /// The defects and categories, as scripts see them.
    pub(super) taxonomy: Deferred<Content>,
    /// Reads failures by the data.
    pub(super) evidence: Deferred<EvidenceReader>,
    /// The name of the domain, if there is one.
    pub(super) domain: Option<String>,
    /// The learned weights, if there are any.
    pub(super) learned: Option<LearnedWeights>,
    /// The weights of words, if there are any.
    pub(super) terms: Deferred<Option<DeclaredTerms>>,
    /// Errors and warnings.
    found: Diagnostics,
    /// See [`ProjectData::written_in_domains`].
    written: OnceLock<[Vec<String>; 2]>,
}

impl ProjectData {
    /// The ids and the topics in the files of all domains and signatures, whether they are of the current domain or not. Read off the
    /// lines, without parsing the files.
    pub(super) fn written_in_domains(&self) -> &[Vec<String>; 2] {
        self.written.get_or_init(|| {
            let files: Vec<&Source> = self.sources.iter().filter(|source| domain::is_domain_file(source)).collect();
            let value = |line: &str, key: &str| {
                let start = line.trim_start().trim_start_matches("- ").trim_start_matches(['{', ' ']);
                let rest = start.strip_prefix(key)?.strip_prefix(':')?;
                let word = rest.split([',', '}', '#']).next()?.trim().trim_matches(['"', '\'']);
                (!word.is_empty()).then(|| word.to_owned())
            };
            let all =
                |key: &str| files.iter().flat_map(|source| source.text().lines()).filter_map(|line| value(line, key)).collect();
            ["id", "topic"].map(all)
        })
    }

    /// Reads data files, with the domain of that name. If bundled texts are trusted, they are read when they are needed.
    pub fn read(sources: &[Source], domain: Option<&str>, trusted: bool) -> Arc<Self> {
        /// What was made of bundled texts alone: the same in all projects of a process.
        static BUNDLED: Mutex<Vec<Arc<ProjectData>>> = Mutex::new(Vec::new());
        if !trusted || !sources.iter().all(Source::is_bundled) {
            return Arc::new(Self::made(sources, domain, trusted));
        }
        let mut bundled = BUNDLED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = bundled.iter().find(|known| known.is_of(sources, domain, trusted)) {
            return known.clone();
        }
        let made = Arc::new(Self::made(sources, domain, trusted));
        bundled.push(made.clone());
        made
    }

    fn made(sources: &[Source], domain: Option<&str>, trusted: bool) -> Self {
        let mut found = Diagnostics::new();
        let ReadFiles { files, learned, terms } = read(sources, domain, trusted, &mut found);
        let files = Arc::new(files);
        let name = files.has_domain().then(|| domain.unwrap_or(domain::DEFAULT_DOMAIN).to_owned());
        let any = |value: &Value, name: &str| Content::new(View::of(value, &Kind::Any, name));
        let (of_content, of_taxonomy, of_evidence) = (files.clone(), files.clone(), files.clone());
        Self {
            sources: sources.to_vec(),
            asked: domain.map(str::to_owned),
            trusted: trusted && sources.iter().all(Source::is_bundled),
            content: Deferred::new(move || any(&Value::Object(of_content.all().clone()), "params.data")),
            taxonomy: Deferred::new(move || any(&taxonomy(&of_taxonomy), "params.taxonomy")),
            evidence: Deferred::new(move || {
                let none = BTreeMap::new();
                let places = of_evidence.linked_domain().map_or(&none, |domain| &domain.places);
                evidence::reader(
                    ["evidence", "domain", "reading"].map(|stem| of_evidence.get(stem).unwrap_or(&Value::Null)),
                    places,
                )
            }),
            domain: name,
            files,
            learned,
            terms,
            found,
            written: OnceLock::new(),
        }
    }

    /// The errors and warnings of the texts.
    pub fn found(&self) -> &Diagnostics {
        &self.found
    }

    /// Whether it was read from these texts with the same domain.
    pub(super) fn is_of(&self, sources: &[Source], domain: Option<&str>, trusted: bool) -> bool {
        self.asked.as_deref() == domain && self.sources == sources && (trusted || !self.trusted)
    }
}

/// The part of the domain that classifies failures: defects, categories and severities.
fn taxonomy(data: &DataFiles) -> Value {
    let Some(domain) = data.get("domain") else { return Value::Null };
    ["defects", "categories", "severities"].into_iter().map(|key| (key, domain[key].clone())).collect()
}

/// What data files say.
struct ReadFiles {
    files: DataFiles,
    learned: Option<LearnedWeights>,
    terms: Deferred<Option<DeclaredTerms>>,
}

/// Reads all data files, with the domain of that name. If bundled texts are trusted, they are read when they are needed.
fn read(sources: &[Source], name: Option<&str>, trusted: bool, found: &mut Diagnostics) -> ReadFiles {
    // Other files refer to the names of the domain.
    let trusted = trusted && sources.iter().filter(|source| domain::is_domain_file(source)).all(Source::is_bundled);
    let has_domain = domain::names(sources).contains(&name.unwrap_or(domain::DEFAULT_DOMAIN));
    let linked: Option<Deferred<Option<Domain>>> = if trusted && has_domain {
        let (sources, name) = (sources.to_vec(), name.map(str::to_owned));
        Some(Deferred::new(move || domain::link_checked(&sources, name.as_deref())))
    } else {
        domain::link(sources, name, found).map(|domain| Deferred::ready(Some(domain)))
    };
    let mut files = DataFiles::new(linked);
    let (mut learned, mut terms) = (None, Deferred::ready(None));
    for source in sources.iter().filter(|source| !domain::is_domain_file(source)) {
        let stem = source.name().rsplit_once('.').map_or(source.name(), |(stem, _)| stem).replace('/', "_");
        let is_content = !stem.starts_with(forms::SCORECARDS) && stem != LEARNED && stem != TERMS;
        if trusted && source.is_bundled() && stem != LEARNED {
            let source = source.clone();
            if stem == TERMS {
                let made = move || {
                    let tree = yaml::parse(&source).ok()?;
                    DeclaredTerms::of(&source, &tree, &mut Diagnostics::new())
                };
                terms = Deferred::new(made);
            } else if is_content {
                let form = forms::of(&stem);
                let made = move || {
                    let Ok(tree) = yaml::parse(&source) else { return Value::Null };
                    let Some(form) = form else { return tree.to_json() };
                    let mut value = FormReader::<()>::new(&source, "data").file(&tree, form, None);
                    fill(&mut value, form);
                    value
                };
                files.add(stem, Deferred::new(made));
            }
            continue;
        }
        match yaml::parse(source) {
            _ if stem == DOMAIN => {
                let error = Diagnostic::error("data/reserved", "`domain` is the name of the domain in `params.data`");
                let error = error.label(source, Span::new(0, source.text().len().min(1)), "in this file");
                found.push(error.help("rename the file, or move it into `data/domains/`"));
            }
            Ok(tree) => {
                let value = file(source, &tree, &stem, files.linked_domain(), found);
                if stem == LEARNED {
                    learned = LearnedWeights::of(source, &tree, found);
                } else if stem == TERMS {
                    terms = Deferred::ready(DeclaredTerms::of(source, &tree, found));
                } else if is_content {
                    files.add(stem, Deferred::ready(value));
                }
            }
            Err(diagnostics) => found.extend(diagnostics),
        }
    }
    if !trusted || !sources.iter().filter(|source| personas::are_in(source)).all(Source::is_bundled) {
        personas::check(sources, &files, found);
    }
    ReadFiles { files, learned, terms }
}

/// Reads one file: by its form, if it has one, otherwise unchecked.
fn file(source: &Source, tree: &Yaml, stem: &str, domain: Option<&Domain>, found: &mut Diagnostics) -> Value {
    let Some(form) = forms::of(stem) else { return tree.to_json() };
    if let Some(error) = yaml::unresolved("data", source, tree) {
        found.push(error);
        return Value::Object(Map::new());
    }
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
    let read = read(sources, domain, true, &mut found);
    if found.has_errors() { Err(found) } else { Ok(read.files.all().clone()) }
}
