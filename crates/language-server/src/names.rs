//! The names of a project: where they are defined, and where they are mentioned, in every language.

use asterisk_diag::Span;
use std::collections::BTreeMap;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum NameKind {
    /// A function of a script; its scope is the script.
    Function,
    /// A constant of a script; its scope is the script.
    Constant,
    /// A script, by its path below the script root.
    Script,
    Template,
    /// A pipeline, by its name or the stem of its file.
    Pipeline,
    /// A node; its scope is the pipeline's file.
    Node,
    /// An edge; its scope is the pipeline's file.
    Edge,
    /// A rule of a verdict or of roots; its scope is the pipeline's file.
    Rule,
    /// A var; its scope is the pipeline's file.
    Var,
    /// A signature of a domain.
    Signature,
    /// A defect of a domain.
    Defect,
    /// A field of an input, by its path (`evidence.frames`).
    Field,
    /// A function of the host.
    Host,
}

impl NameKind {
    /// The noun in messages.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Constant => "constant",
            Self::Script => "script",
            Self::Template => "template",
            Self::Pipeline => "pipeline",
            Self::Node => "node",
            Self::Edge => "edge",
            Self::Rule => "rule",
            Self::Var => "var",
            Self::Signature => "signature",
            Self::Defect => "defect",
            Self::Field => "field",
            Self::Host => "built-in function",
        }
    }
}

/// A name with its scope.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ProjectName {
    pub(super) kind: NameKind,
    /// The file that it belongs to; [`ANYWHERE`] if the mention does not say which.
    pub(super) scope: String,
    pub(super) text: String,
}

/// The scope of a mention whose file is unknown.
pub(super) const ANYWHERE: &str = "*";

impl ProjectName {
    pub(super) fn new(kind: NameKind, scope: impl Into<String>, text: impl Into<String>) -> Self {
        Self { kind, scope: scope.into(), text: text.into() }
    }

    /// Whether a mention may be of the same thing.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.text == other.text
            && (self.scope == other.scope || self.scope == ANYWHERE || other.scope == ANYWHERE)
    }
}

/// How a name is used at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MentionRole {
    Definition,
    Reference,
}

/// A place in a file where a name stands.
#[derive(Clone, Debug)]
pub(super) struct Mention {
    pub(super) name: ProjectName,
    /// The name itself, without quotes and qualifiers.
    pub(super) span: Span,
    pub(super) role: MentionRole,
}

/// A definition in a file: more about what its mention names.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) name: ProjectName,
    pub(super) span: Span,
    /// From its first to its last character.
    pub(super) whole: Span,
    /// Its documentation.
    pub(super) doc: String,
    /// How it is written: `recall_hit(artifact, state, vars)`, or what else describes it in a line.
    pub(super) detail: String,
    /// The parameters, if it is a function.
    pub(super) parameters: Vec<String>,
    /// Whether it is visible in its file only.
    pub(super) private: bool,
}

/// The names of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct FileNames {
    pub(super) mentions: Vec<Mention>,
    pub(super) definitions: Vec<Definition>,
    /// The imports of a script: the path that each alias stands for.
    pub(super) imports: BTreeMap<String, String>,
    /// Whether the file could be read as a whole; otherwise it may have more names.
    pub(super) whole: bool,
}

impl FileNames {
    /// Adds a definition, which is a mention too.
    pub(super) fn define(&mut self, definition: Definition) {
        self.mentions.push(Mention { name: definition.name.clone(), span: definition.span, role: MentionRole::Definition });
        self.definitions.push(definition);
    }

    pub(super) fn mention(&mut self, name: ProjectName, span: Span) {
        self.mentions.push(Mention { name, span, role: MentionRole::Reference });
    }

    /// The innermost mention at a byte; one that ends there counts.
    pub(super) fn at(&self, offset: usize) -> Option<&Mention> {
        let covers = |mention: &&Mention| mention.span.start <= offset && offset <= mention.span.end;
        self.mentions.iter().filter(covers).min_by_key(|mention| mention.span.len())
    }
}
