//! The names in scripts and in the expressions of pipelines.

use super::names::{ANYWHERE, Definition, FileNames, NameKind, ProjectName};
use super::tree::{FieldChain, called, chain, child, children, span_of, text_of};
use asterisk_diag::{MappedText, Source, Span};
use asterisk_script::FunctionRef;
use asterisk_script::api::{registry, test_registry};
use asterisk_syntax::rhai::{NodeOrToken, SyntaxKind, SyntaxNode, SyntaxToken, parse_expression, parse_file};

/// The inputs whose fields are documented, by the names that functions give them.
pub(super) const INPUTS: &[&str] =
    &["artifact", "state", "vars", "params", "evidence", "context", "found", "ctx", "walk", "branches"];
/// Functions of tests whose first argument names something.
const OF_NODE: &[&str] = &["decide"];

/// The names of a script.
pub(super) fn of_script(source: &Source) -> FileNames {
    let parsed = parse_file(source.text());
    let mut names = FileNames { whole: parsed.errors().is_empty(), ..FileNames::default() };
    let root = parsed.syntax();
    for import in children(&root, SyntaxKind::IMPORT) {
        if let (Some(path), Some(alias)) = (import_path(&import), child(&import, SyntaxKind::NAME)) {
            names.imports.insert(text_of(&alias), path.0.clone());
            names.mention(ProjectName::new(NameKind::Script, "", path.0), path.1);
        }
    }
    let file = source.name().to_owned();
    for function in children(&root, SyntaxKind::FN) {
        names.define_function(&function, &file);
    }
    for constant in children(&root, SyntaxKind::CONST) {
        let Some(name) = child(&constant, SyntaxKind::NAME) else { continue };
        let whole = span_of(&constant);
        let detail = source.slice(whole).lines().next().unwrap_or_default().to_owned();
        names.define(Definition {
            name: ProjectName::new(NameKind::Constant, file.as_str(), text_of(&name)),
            span: span_of(&name),
            whole,
            doc: String::new(),
            detail,
            parameters: Vec::new(),
            private: false,
        });
    }
    names.uses(&root, &file, &|span| Some(span));
    names
}

/// Adds the names in an expression of a pipeline.
pub(super) fn of_expression(text: &MappedText, pipeline: &str, names: &mut FileNames) {
    let root = parse_expression(text.text()).syntax();
    names.uses(&root, pipeline, &|span| Some(text.locate(span)));
}

/// The path of an import with the suffix, and the span of what is written between the quotes.
pub(super) fn import_path(import: &SyntaxNode) -> Option<(String, Span)> {
    let literal =
        import.descendants_with_tokens().filter_map(NodeOrToken::into_token).find(|token| token.kind() == SyntaxKind::STRING)?;
    let (written, span) = quoted(&literal)?;
    let path = if written.ends_with(".rhai") { written } else { format!("{written}.rhai") };
    Some((path, span))
}

/// A string literal without its quotes, if it is written as it is read.
pub(super) fn quoted(token: &SyntaxToken) -> Option<(String, Span)> {
    let text = token.text();
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let start = usize::from(token.text_range().start()) + 1;
    (!inner.contains('\\')).then(|| (inner.to_owned(), Span::new(start, start + inner.len())))
}

impl FileNames {
    fn define_function(&mut self, function: &SyntaxNode, file: &str) {
        let Some(name) = child(function, SyntaxKind::NAME) else { return };
        let parameters: Vec<String> = child(function, SyntaxKind::PARAM_LIST)
            .map(|list| children(&list, SyntaxKind::PARAM).map(|param| text_of(&param)).collect())
            .unwrap_or_default();
        let tokens = function.children_with_tokens().filter_map(NodeOrToken::into_token);
        let doc: Vec<String> = tokens
            .clone()
            .filter(|token| token.kind() == SyntaxKind::DOC_COMMENT)
            .flat_map(|token| {
                let text = token.text().trim_start_matches("/**").trim_end_matches("*/");
                text.lines().map(|line| line.trim().trim_start_matches("///").trim().to_owned()).collect::<Vec<_>>()
            })
            .collect();
        let text = text_of(&name);
        let private = tokens.clone().any(|token| token.kind() == SyntaxKind::PRIVATE_KW);
        let first = tokens.into_iter().find(|token| matches!(token.kind(), SyntaxKind::PRIVATE_KW | SyntaxKind::FN_KW));
        let end = span_of(function).end;
        self.define(Definition {
            detail: format!("{text}({})", parameters.join(", ")),
            name: ProjectName::new(NameKind::Function, file, text),
            span: span_of(&name),
            whole: Span::new(first.map_or(end, |token| usize::from(token.text_range().start())), end),
            doc: doc.join("\n").trim().to_owned(),
            parameters,
            private,
        });
    }

    /// Adds the uses below a node; `locate` says where a span of the tree is in the file.
    fn uses(&mut self, root: &SyntaxNode, file: &str, locate: &dyn Fn(Span) -> Option<Span>) {
        for element in root.descendants_with_tokens() {
            if let Some(token) = element.as_token() {
                if token.kind() == SyntaxKind::STRING
                    && let Some((text, span)) = quoted(token)
                {
                    self.string(&text, token, locate, span);
                }
                continue;
            }
            let Some(node) = element.as_node() else { continue };
            match node.kind() {
                SyntaxKind::CALL => self.call(node, file, locate),
                SyntaxKind::METHOD_CALL => {
                    if let Some(name) = node.children().filter(|one| one.kind() == SyntaxKind::NAME_REF).last() {
                        let text = text_of(&name);
                        let own =
                            self.definitions.iter().any(|known| known.name.kind == NameKind::Function && known.name.text == text);
                        let name_of = if own {
                            ProjectName::new(NameKind::Function, file, text)
                        } else if is_host(&text) {
                            ProjectName::new(NameKind::Host, "", text)
                        } else {
                            continue;
                        };
                        if let Some(span) = locate(span_of(&name)) {
                            self.mention(name_of, span);
                        }
                    }
                }
                SyntaxKind::FIELD => self.field(node, file, locate),
                SyntaxKind::MAP_ENTRY => {
                    // `#{ vars: #{ enough: 0.9 } }`: the inputs of a test.
                    let outer = node.parent().and_then(|map| map.parent()).filter(|outer| outer.kind() == SyntaxKind::MAP_ENTRY);
                    let of_vars =
                        outer.and_then(|outer| child(&outer, SyntaxKind::NAME)).is_some_and(|key| text_of(&key) == "vars");
                    if let Some(name) = child(node, SyntaxKind::NAME).filter(|_| of_vars) {
                        let var = ProjectName::new(NameKind::Var, ANYWHERE, text_of(&name));
                        if let Some(span) = locate(span_of(&name)) {
                            self.mention(var, span);
                        }
                    }
                }
                SyntaxKind::PATH if node.parent().is_none_or(|parent| parent.kind() != SyntaxKind::CALL) => {
                    // A constant: `global::NAME`, or of another script.
                    let parts: Vec<SyntaxNode> = node.children().filter(|one| one.kind() == SyntaxKind::NAME_REF).collect();
                    if let [space, name] = &parts[..] {
                        let scope = match text_of(space).as_str() {
                            "global" => Some(file.to_owned()),
                            alias => self.imports.get(alias).cloned(),
                        };
                        if let (Some(scope), Some(span)) = (scope, locate(span_of(name))) {
                            self.mention(ProjectName::new(NameKind::Constant, scope, text_of(name)), span);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, node: &SyntaxNode, file: &str, locate: &dyn Fn(Span) -> Option<Span>) {
        let Some((space, name)) = called(node) else { return };
        let Some(span) = locate(span_of(&name)) else { return };
        let text = text_of(&name);
        match space {
            Some(space) => {
                let alias = text_of(&space);
                if let Some(script) = self.imports.get(&alias).cloned() {
                    if let Some(span) = locate(span_of(&space)) {
                        self.mention(ProjectName::new(NameKind::Script, "", script.as_str()), span);
                    }
                    self.mention(ProjectName::new(NameKind::Function, script, text), span);
                }
            }
            None => {
                let own = self.definitions.iter().any(|known| known.name.kind == NameKind::Function && known.name.text == text);
                let kind = if own || !is_host(&text) { NameKind::Function } else { NameKind::Host };
                let scope = if kind == NameKind::Function { file } else { "" };
                self.mention(ProjectName::new(kind, scope, text), span);
            }
        }
    }

    fn field(&mut self, node: &SyntaxNode, file: &str, locate: &dyn Fn(Span) -> Option<Span>) {
        let Some(FieldChain { root, path, last }) = chain(node) else { return };
        if !INPUTS.contains(&root.as_str()) {
            return;
        }
        let Some(span) = locate(last) else { return };
        let parts: Vec<&str> = path.split('.').collect();
        let name = match (root.as_str(), &parts[..]) {
            ("vars", [var]) => ProjectName::new(NameKind::Var, if file.ends_with(".rhai") { ANYWHERE } else { file }, *var),
            ("params", ["vars", var]) => ProjectName::new(NameKind::Var, ANYWHERE, *var),
            ("params", ["prior", node]) => ProjectName::new(NameKind::Node, ANYWHERE, *node),
            _ => ProjectName::new(NameKind::Field, "", format!("{root}.{path}")),
        };
        self.mention(name, span);
    }

    /// A string that refers to something by its form, or by where it stands.
    fn string(&mut self, text: &str, token: &SyntaxToken, locate: impl Fn(Span) -> Option<Span>, span: Span) {
        if let Ok(function) = FunctionRef::parse(text) {
            let name = Span::new(span.end - function.function.len(), span.end);
            let script = Span::new(span.start, span.start + function.file.len());
            if let Some(at) = locate(name) {
                self.mention(ProjectName::new(NameKind::Function, function.file.as_str(), function.function.as_str()), at);
            }
            if let Some(at) = locate(script) {
                self.mention(ProjectName::new(NameKind::Script, "", function.file.as_str()), at);
            }
            return;
        }
        let Some(at) = locate(span) else { return };
        if let Some(known) = kind_of_string(token) {
            self.mention(
                ProjectName::new(
                    known,
                    if matches!(known, NameKind::Signature | NameKind::Defect) { "" } else { ANYWHERE },
                    text,
                ),
                at,
            );
        }
    }
}

/// What a string names by where it stands: `decide("recall", ...)`, `got.edge == "H1"`, `found.id == "timeout"`.
fn kind_of_string(token: &SyntaxToken) -> Option<NameKind> {
    let literal = token.parent()?;
    let around = literal.parent()?;
    match around.kind() {
        SyntaxKind::ARG_LIST => {
            let call = around.parent()?;
            let first = around.children().next()? == literal;
            let (space, name) = called(&call)?;
            let name = text_of(&name);
            if space.is_none() && first && OF_NODE.contains(&name.as_str()) {
                return Some(NameKind::Node);
            }
            if space.is_none() && name.starts_with("assert_eq") {
                let other = around.children().find(|one| *one != literal)?;
                return kind_of_field(&other);
            }
            None
        }
        SyntaxKind::BINARY => {
            let other = around.children().find(|one| *one != literal)?;
            kind_of_field(&other)
        }
        SyntaxKind::MAP_ENTRY => {
            let key = around.children().find(|one| matches!(one.kind(), SyntaxKind::NAME | SyntaxKind::NAME_REF));
            let key = key.map(|key| text_of(&key)).or_else(|| around.first_token().map(|token| token.text().to_owned()))?;
            kind_of_key(&key)
        }
        _ => None,
    }
}

fn kind_of_field(node: &SyntaxNode) -> Option<NameKind> {
    if node.kind() != SyntaxKind::FIELD {
        return None;
    }
    let name = node.children().filter(|one| one.kind() == SyntaxKind::NAME_REF).last()?;
    kind_of_key(&text_of(&name))
}

/// What the values of a field name, whatever holds it.
fn kind_of_key(key: &str) -> Option<NameKind> {
    Some(match key {
        "edge" => NameKind::Edge,
        "to" | "node" | "from" => NameKind::Node,
        "defect" | "defect_type" => NameKind::Defect,
        "signature" => NameKind::Signature,
        _ => return None,
    })
}

/// Whether the host provides a function.
pub(super) fn is_host(name: &str) -> bool {
    registry().iter().chain(test_registry()).any(|function| function.name == name)
}
