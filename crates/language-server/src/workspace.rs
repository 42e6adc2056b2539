//! The project as the client sees it: the files of the last analysis, and what is typed since.

use super::analysis::ProjectAnalysis;
use super::documents::{Documents, IndexedText};
use super::host::ServerHost;
use super::location::{path_of, uri_of};
use super::names::{Definition, Mention, MentionRole, NameKind, ProjectName};
use super::project_file::{FileLanguage, ProjectFile};
use super::recorded::RecordedUse;
use super::types::ScriptTypes;
use super::yaml_context::{item_at, value_in};
use asterisk_diag::Span;
use asterisk_lint::FunctionRole;
use asterisk_pipeline::EdgeOrigin;
use asterisk_project::FunctionUse;
use gen_lsp_types::{Location, TextDocumentPositionParams, TextEdit, Uri};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The project as the client sees it.
pub(super) struct EditedProject {
    pub(super) documents: Documents,
    pub(super) analysis: Option<Arc<ProjectAnalysis>>,
    host: Arc<dyn ServerHost>,
    /// The schemas asked for so far, by the paths of files.
    schemas: Mutex<BTreeMap<String, Option<Arc<Value>>>>,
    /// What the store says of the rules, and of the chosen case.
    pub(super) recorded: Arc<RecordedUse>,
    /// Where bundled files are written to be opened.
    cache: Option<PathBuf>,
    /// Open files as they are now, where the analysis has another text.
    edited: BTreeMap<PathBuf, Arc<ProjectFile>>,
}

/// A place in a file.
pub(super) struct DocumentPlace {
    pub(super) file: Arc<ProjectFile>,
    pub(super) text: IndexedText,
    pub(super) offset: usize,
}

impl DocumentPlace {
    /// What is mentioned here.
    pub(super) fn mention(&self) -> Option<Mention> {
        self.file.names.at(self.offset).cloned()
    }
}

impl EditedProject {
    pub(super) fn new(host: Arc<dyn ServerHost>) -> Self {
        Self {
            documents: Documents::default(),
            analysis: None,
            cache: host.cache(),
            host,
            schemas: Mutex::default(),
            recorded: Arc::default(),
            edited: BTreeMap::new(),
        }
    }

    /// The JSON Schema of a file, if it has one.
    pub(super) fn schema(&self, file: &ProjectFile) -> Option<Arc<Value>> {
        let path = file.area_path();
        let mut known = self.schemas.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(path.clone()).or_insert_with(|| self.host.schema(&path).map(Arc::new)).clone()
    }

    /// Follows a change of an open document, or of the analysis.
    pub(super) fn follow(&mut self, path: &Path) {
        let Some(document) = self.documents.get(path) else {
            self.edited.remove(path);
            return;
        };
        let known = self.analysed(path);
        if known.as_ref().is_some_and(|file| file.text() == &*document.text.text) {
            self.edited.remove(path);
            return;
        }
        let last = self.edited.get(path).cloned().or(known);
        let text = &document.text.text;
        let new = match last {
            Some(last) if last.text() == &**text => return,
            Some(last) => last.with_text(text),
            None => match ProjectFile::alone(path, text) {
                Some(file) => file,
                None => return,
            },
        };
        self.edited.insert(path.to_owned(), Arc::new(new));
    }

    /// Takes over an analysis.
    pub(super) fn adopt(&mut self, analysis: Arc<ProjectAnalysis>) {
        self.analysis = Some(analysis);
        let open: Vec<PathBuf> = self.documents.iter().map(|(path, _)| path.clone()).collect();
        for path in &open {
            self.follow(path);
        }
    }

    /// The file of a path as of the last analysis.
    fn analysed(&self, path: &Path) -> Option<Arc<ProjectFile>> {
        let key = self.cache.as_ref().and_then(|cache| path.strip_prefix(cache).ok()).unwrap_or(path);
        self.analysis.as_ref()?.files.iter().find(|file| file.key() == key).cloned()
    }

    /// The file of a path, as it is now.
    pub(super) fn file(&self, path: &Path) -> Option<Arc<ProjectFile>> {
        self.edited.get(path).cloned().or_else(|| self.analysed(path))
    }

    /// All files as they are now.
    pub(super) fn files(&self) -> Vec<Arc<ProjectFile>> {
        let analysed = self.analysis.iter().flat_map(|analysis| &analysis.files);
        let mut seen: BTreeSet<&Path> = BTreeSet::new();
        let mut all: Vec<Arc<ProjectFile>> = self.edited.values().cloned().collect();
        seen.extend(self.edited.values().map(|file| file.key()));
        all.extend(analysed.filter(|file| !seen.contains(file.key())).cloned());
        all
    }

    /// A script by its path below the script root, as it is now.
    pub(super) fn script(&self, name: &str) -> Option<Arc<ProjectFile>> {
        self.named(FileLanguage::Script, name)
    }

    pub(super) fn named(&self, language: FileLanguage, name: &str) -> Option<Arc<ProjectFile>> {
        let is_it = |file: &&Arc<ProjectFile>| file.language == language && file.name == name;
        let edited = self.edited.values().find(is_it);
        edited.or_else(|| self.analysis.as_ref()?.files.iter().find(is_it)).cloned()
    }

    /// The text of a file, with its lines.
    pub(super) fn text(&self, file: &ProjectFile) -> IndexedText {
        let open = self.documents.get(file.key()).filter(|document| &*document.text.text == file.text());
        open.map_or_else(|| IndexedText::new(file.text(), self.documents.unit), |document| document.text.clone())
    }

    /// Where a request points to.
    pub(super) fn place(&self, at: &TextDocumentPositionParams) -> Option<DocumentPlace> {
        let (file, text) = self.of_uri(&at.text_document.uri)?;
        let offset = text.lines.offset(&text.text, at.position);
        Some(DocumentPlace { file, text, offset })
    }

    /// The file of an address, with its text.
    pub(super) fn of_uri(&self, uri: &Uri) -> Option<(Arc<ProjectFile>, IndexedText)> {
        let file = self.file(&path_of(uri)?)?;
        let text = self.text(&file);
        Some((file, text))
    }

    /// The address of a file; a bundled one is written first. `None` if there is nowhere to write it.
    pub(super) fn uri(&self, file: &ProjectFile) -> Option<Uri> {
        if !file.bundled {
            let open = self.documents.get(file.key()).map(|document| document.uri.clone());
            return Some(open.unwrap_or_else(|| uri_of(file.key())));
        }
        let path = self.cache.as_ref()?.join(file.key());
        if std::fs::read(&path).ok().as_deref() != Some(file.text().as_bytes()) {
            std::fs::create_dir_all(path.parent()?).ok()?;
            std::fs::write(&path, file.text()).ok()?;
        }
        Some(uri_of(&path))
    }

    pub(super) fn location(&self, file: &ProjectFile, span: Span) -> Option<Location> {
        let text = self.text(file);
        Some(Location { uri: self.uri(file)?, range: text.lines.range(&text.text, span) })
    }

    /// All mentions that agree with a name, with their files.
    pub(super) fn mentions(&self, name: &ProjectName) -> Vec<(Arc<ProjectFile>, Mention)> {
        let agreeing = |file: Arc<ProjectFile>| {
            let found: Vec<Mention> = file.names.mentions.iter().filter(|one| one.name.agrees(name)).cloned().collect();
            found.into_iter().map(move |mention| (file.clone(), mention))
        };
        self.files().into_iter().flat_map(agreeing).collect()
    }

    /// The definitions of a name, with their files.
    pub(super) fn definitions(&self, name: &ProjectName) -> Vec<(Arc<ProjectFile>, Definition)> {
        let agreeing = |file: Arc<ProjectFile>| {
            let found: Vec<Definition> = file.names.definitions.iter().filter(|one| one.name.agrees(name)).cloned().collect();
            found.into_iter().map(move |definition| (file.clone(), definition))
        };
        self.files().into_iter().flat_map(agreeing).collect()
    }

    /// The files of a name that stands for a file.
    pub(super) fn files_of(&self, name: &ProjectName) -> Vec<Arc<ProjectFile>> {
        let language = match name.kind {
            NameKind::Script => FileLanguage::Script,
            NameKind::Template => FileLanguage::Template,
            NameKind::Pipeline => FileLanguage::Pipeline,
            _ => return Vec::new(),
        };
        let stem = |file: &str| file.rsplit('/').next().and_then(|last| last.rsplit_once('.')).map(|(stem, _)| stem.to_owned());
        let is_it = |file: &Arc<ProjectFile>| {
            file.language == language
                && (file.name == name.text
                    || language == FileLanguage::Pipeline && stem(&file.name).as_deref() == Some(&name.text))
        };
        self.files().into_iter().filter(is_it).collect()
    }

    /// The names of a kind, each once.
    pub(super) fn known(&self, kind: NameKind, scope: Option<&str>) -> Vec<Definition> {
        let mut found: BTreeMap<String, Definition> = BTreeMap::new();
        for file in self.files() {
            let fits = |one: &&Definition| one.name.kind == kind && scope.is_none_or(|scope| one.name.scope == scope);
            for one in file.names.definitions.iter().filter(fits) {
                found.entry(one.name.text.clone()).or_insert_with(|| one.clone());
            }
        }
        found.into_values().collect()
    }

    /// Calls `ask` with the types of a script, or of the expression at a byte of a pipeline.
    pub(super) fn with_types<T>(&self, file: &ProjectFile, offset: usize, ask: impl FnOnce(&ScriptTypes<'_>) -> T) -> T {
        let script = |name: &str| self.script(name).map(|file| file.text().to_owned());
        let roles = self.analysis.as_ref().map_or(&[][..], |analysis| &analysis.roles);
        let expression = if file.language == FileLanguage::Pipeline { self.expression_role(file, offset) } else { None };
        ask(&ScriptTypes { file: &file.name, names: &file.names, roles, expression, script: &script })
    }

    /// What the expression at a byte of a pipeline is used for: an edge from the same node, or a part of it.
    fn expression_role(&self, file: &ProjectFile, offset: usize) -> Option<&FunctionRole> {
        let analysis = self.analysis.as_ref()?;
        let pipeline = analysis.pipelines.iter().find(|one| one.source.name() == file.name)?;
        let text = self.text(file);
        let item = item_at(&text.text, offset);
        let (from, name) = (value_in(item, "from"), value_in(item, "name"));
        let node = from.or(name).and_then(|node| pipeline.node(node));
        let is_edge = from.is_some();
        let mut own = analysis.roles.iter().filter(|role| role.pipeline == file.name);
        own.find(|role| match role.place {
            FunctionUse::Edge(at) => {
                is_edge
                    && pipeline.edges.get(at.0).is_some_and(|edge| node.is_none_or(|node| edge.from == EdgeOrigin::Node(node)))
            }
            FunctionUse::Items(at) | FunctionUse::Arguments(at) => !is_edge && Some(at) == node,
            _ => false,
        })
    }

    /// The edits of a file, in order.
    pub(super) fn edits(&self, file: &ProjectFile, edits: impl IntoIterator<Item = (Span, String)>) -> Vec<TextEdit> {
        let text = self.text(file);
        edits.into_iter().map(|(span, new_text)| TextEdit { range: text.lines.range(&text.text, span), new_text }).collect()
    }
}

impl Mention {
    pub(super) fn is_definition(&self) -> bool {
        self.role == MentionRole::Definition
    }
}
