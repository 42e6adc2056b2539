//! What the data files of a project say, read once for as long as they stay the same.

use asterisk_diag::{Diagnostic, Diagnostics, Source};
use asterisk_form::yaml::{self, Yaml};
use asterisk_project::ProjectData;
use asterisk_project::domain::{self, Domain};
use std::sync::Arc;

/// The data files, as far as they can be read.
#[derive(Clone, Debug)]
pub(super) struct LintedData {
    texts: Vec<Source>,
    /// The name of the active domain, if one is chosen.
    domain: Option<String>,
    /// What pipelines are linked with.
    pub(super) read: Arc<ProjectData>,
    /// Each domain that links, on its own: linking pipelines covers only the active one.
    pub(super) domains: Vec<Domain>,
    /// The errors of linking the domains.
    pub(super) found: Vec<Diagnostic>,
    /// The files that are valid YAML.
    pub(super) trees: Vec<(Source, Yaml)>,
}

impl LintedData {
    /// Reads data files, unless they are those that were read `before`.
    pub(super) fn of(texts: &[Source], domain: Option<&str>, before: Option<&Arc<Self>>) -> Arc<Self> {
        if let Some(same) = before.filter(|before| before.texts == texts && before.domain.as_deref() == domain) {
            return Arc::clone(same);
        }
        let (mut domains, mut found) = (Vec::new(), Vec::new());
        for name in domain::names(texts) {
            let mut problems = Diagnostics::new();
            domains.extend(domain::link(texts, Some(name), &mut problems));
            found.extend(problems);
        }
        Arc::new(Self {
            texts: texts.to_vec(),
            domain: domain.map(str::to_owned),
            read: ProjectData::read(texts, domain, false),
            domains,
            found,
            trees: texts.iter().filter_map(|source| Some((source.clone(), yaml::parse(source).ok()?))).collect(),
        })
    }
}
