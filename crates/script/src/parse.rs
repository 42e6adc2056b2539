//! Parses and rewrites one text, and collects what linking needs.

use super::call_site::{Calls, calls_of};
use super::imports::{Import, imports_of};
use super::limits::ScriptLimits;
use super::probe::{ProbeTable, Probed, Probes, name_table};
use super::rhai_internals::rewrite::{RewrittenScript, rewrite};
use super::rhai_internals::tree::{Expr, Function, Node, SyntaxTree};
use super::strict::Strict;
use super::unit::{Unit, UnitText};
use super::{fault, panic_guard, parse_error, recover};
use asterisk_base::model::Hash;
use asterisk_diag::{Diagnostic, Diagnostics, MappedText, Source, Span};
use rhai::{AST, Engine};
use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

/// A public function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Public {
    pub name: String,
    /// The names of its parameters.
    pub params: Vec<String>,
    /// Its `///` comment, without the slashes.
    pub doc: String,
}

/// A parsed and rewritten text. Depends on the text only.
pub(crate) struct Parsed {
    pub(crate) unit: Unit,
    pub(crate) source: Source,
    /// The text of a condition as written.
    pub(crate) mapped: Option<MappedText>,
    pub(crate) hash: Hash,
    pub(crate) rewritten: RewrittenScript,
    /// The table of its probes, if it has any.
    pub(crate) table: Option<ProbeTable>,
    pub(crate) imports: Vec<Import>,
    pub(crate) publics: Vec<Public>,
    pub(super) calls: OnceLock<Calls>,
}

impl Parsed {
    /// The functions that it calls.
    pub(crate) fn calls(&self) -> &Calls {
        self.calls.get_or_init(|| calls_of(&self.unit))
    }

    /// The names of fields that it reads.
    pub(crate) fn fields(&self) -> BTreeSet<String> {
        fields_of(self.unit.tree())
    }
}

/// The settings of the parser.
#[derive(Clone, Copy)]
pub(crate) struct ParseSettings<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) limits: &'a ScriptLimits,
    /// The names of fields declared by schemas.
    pub(crate) fields: &'a BTreeSet<String>,
    pub(crate) probes: Probes,
}

/// Parses a script file.
pub(crate) fn parse_file(settings: ParseSettings<'_>, source: &Source, problems: &mut Diagnostics) -> Result<Parsed, Diagnostic> {
    let ParseSettings { engine, limits, fields, probes } = settings;
    if source.text().len() > limits.source {
        let message = format!("this script has {} bytes, more than {}", source.text().len(), limits.source);
        return Err(Diagnostic::error(fault::LIMIT, message).label(source, Span::default(), "").help("split it into files"));
    }
    let text = UnitText::file(source);
    let ast = match parse(engine, &text, fields) {
        Ok(ast) => ast,
        Err(first) => {
            let fault = first.primary().filter(|_| recover::RECOVERABLE.contains(&&*first.code)).map(|label| label.span);
            let more = fault.map(|fault| recover::more(engine, source, fault, fields)).unwrap_or_default();
            let last = std::iter::once(first).chain(more).reduce(|before, next| {
                problems.push(before);
                next
            });
            return Err(last.unwrap_or_else(|| Diagnostic::error("script/syntax", "this script does not parse")));
        }
    };
    let unit = Unit::new(source.name().to_owned(), text, ast);
    let imports = imports_of(&unit, problems);
    Ok(finish(unit, source.clone(), imports, probes))
}

/// Parses a bundled script, in which nothing is wrong.
pub(crate) fn parse_bundled(source: &Source, probes: Probes) -> Parsed {
    static LIMITS: LazyLock<ScriptLimits> = LazyLock::new(ScriptLimits::default);
    static ENGINE: LazyLock<Engine> = LazyLock::new(|| super::engine::build(&LIMITS, [], |_| {}));
    let settings = ParseSettings { engine: &ENGINE, limits: &LIMITS, fields: &BTreeSet::new(), probes };
    parse_file(settings, source, &mut Diagnostics::new()).unwrap_or_else(|fault| {
        debug_assert!(false, "a bundled script does not parse: {fault}");
        let unit = Unit::new(source.name().to_owned(), UnitText::file(source), AST::empty());
        finish(unit, source.clone(), Vec::new(), probes)
    })
}

impl Unit {
    /// Parses a standalone script, without linking it.
    pub fn read(source: &Source) -> Result<Self, Diagnostic> {
        let limits = ScriptLimits::default();
        let engine = super::engine::build(&limits, [], super::api::register);
        let text = UnitText::file(source);
        let ast = parse(&engine, &text, &BTreeSet::new())?;
        Ok(Self::new(source.name().to_owned(), text, ast))
    }
}

/// Parses; a panic of the parser becomes a diagnostic too.
fn parse(engine: &Engine, text: &UnitText, fields: &BTreeSet<String>) -> Result<AST, Diagnostic> {
    let outcome = panic_guard::catch(|| engine.compile(text.script()));
    let Ok(parsed) = outcome else {
        let (source, span) = text.locate(Span::default());
        return Err(Diagnostic::error("script/internal", "the parser failed on this text").label(&source, span, ""));
    };
    parsed.map_err(|error| parse_error::explain(text, &error, fields))
}

/// Rewrites a parsed text, and collects what it defines and needs.
pub(crate) fn finish(unit: Unit, source: Source, imports: Vec<Import>, probes: Probes) -> Parsed {
    let mut plain = Strict::new(unit.name(), imports.len());
    let (rewritten, table) = match probes {
        Probes::None => (rewrite(unit.ast(), &mut plain), None),
        probes => {
            let mut nodes = Probed::new(probes, plain);
            let rewritten = rewrite(unit.ast(), &mut nodes);
            let table = nodes.into_table();
            if probes == Probes::Statements {
                name_table(&unit, &table);
            }
            (rewritten, Some(table))
        }
    };
    let hash = Hash::of(unit.script().as_bytes());
    let publics = publics_of(&unit);
    Parsed { unit, source, mapped: None, hash, rewritten, table, imports, publics, calls: OnceLock::new() }
}

fn publics_of(unit: &Unit) -> Vec<Public> {
    let public = |function: &Function| Public {
        name: function.name().to_owned(),
        params: function.params.iter().map(ToString::to_string).collect(),
        doc: doc_of(&function.comments),
    };
    unit.tree().named().filter(|function| !function.private).map(public).collect()
}

/// The text of `///` comments.
pub(crate) fn doc_of<T: AsRef<str>>(comments: &[T]) -> String {
    let lines = comments.iter().flat_map(|comment| comment.as_ref().lines());
    let bare = lines.map(|line| {
        let line = line.trim();
        let line =
            line.strip_prefix("///").or_else(|| line.strip_prefix("/**")).or_else(|| line.strip_prefix('*')).unwrap_or(line);
        line.strip_suffix("*/").unwrap_or(line).trim()
    });
    bare.collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn fields_of(tree: &SyntaxTree) -> BTreeSet<String> {
    let mut fields = BTreeSet::new();
    tree.each(|node| {
        if let Node::Expr(Expr::Property(name, _)) = node {
            fields.insert(name.to_string());
        }
    });
    fields
}
