//! Texts to a library: parse what changed, check the imports, order by them, evaluate each file's constants once.

use super::call::{Callee, Environment};
use super::condition::{self, Condition};
use super::fault::{self, Fault};
use super::library::{File, Inputs, Linked, Public};
use super::limits::Limits;
use super::resolver::{Modules, script_of};
use super::rewrite::{Rewritten, node, rewrite};
use super::strict::Strict;
use super::trace::Tracer;
use super::unit::{Text, Unit};
use super::{engine, guard, syntax};
use crate::diag::{Diagnostic, Diagnostics, Mapped, Source, Span, did_you_mean};
use crate::model::Hash;
use rhai::{AST, ASTNode, Dynamic, Engine, Expr, FnAccess, Module, Position, Scope, Shared, Stmt};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The functions that scripts may call beside the language's own.
const HOST_API: engine::Extend = super::api::register;

/// A parsed and rewritten text. Depends on the text only.
pub(crate) struct Parsed {
    pub(crate) unit: Unit,
    pub(crate) source: Source,
    /// A condition's text as it is written.
    pub(crate) mapped: Option<Mapped>,
    pub(crate) hash: Hash,
    pub(crate) rewritten: Rewritten,
    pub(crate) imports: Vec<Import>,
    publics: OnceLock<Vec<Public>>,
    /// The names of fields that it reads.
    pub(crate) fields: BTreeSet<String>,
}

impl Parsed {
    /// The functions that others may call, in the order of the text. Where they are defined is looked for when first asked.
    pub(crate) fn publics(&self) -> &[Public] {
        self.publics.get_or_init(|| publics_of(&self.unit))
    }
}

/// An `import` at the head of a file.
pub(crate) struct Import {
    /// The path of the script.
    pub(crate) script: String,
    /// Where the path is written.
    position: Position,
}

impl Import {
    /// The path as it is written.
    fn span(&self, file: &Parsed) -> Span {
        file.unit.text().token(self.position).unwrap_or_default()
    }
}

pub(crate) fn link(inputs: Inputs, previous: Option<&Linked>) -> Result<Linked, Diagnostics> {
    let Inputs { scripts, conditions, fields, limits } = inputs;
    let previous = previous.filter(|previous| previous.limits == limits);
    let mut problems = Diagnostics::new();
    let mut engine = engine::build(&limits, [], HOST_API);
    let parsed = parse_files(&engine, &limits, scripts, previous, &mut problems);
    check_imports(&parsed, &mut problems);
    let conditions = parse_conditions(&engine, &limits, conditions, previous, &mut problems);
    if problems.has_errors() {
        return Err(problems);
    }
    let read = parsed.values().chain(conditions.values()).flat_map(|parsed| &parsed.fields);
    let names: BTreeSet<&str> = fields.iter().chain(read).map(String::as_str).collect();
    super::view::register_fields(&mut engine, names);
    let modules = Modules::default();
    engine.set_module_resolver(modules.clone());
    let mut files: BTreeMap<String, File> = BTreeMap::new();
    for path in order(&parsed) {
        let Some(parsed) = parsed.get(path) else { continue };
        if parsed.imports.iter().any(|import| !files.contains_key(&import.script)) {
            continue; // what it imports did not link, and was reported
        }
        match link_file(&engine, &limits, parsed, &files, previous) {
            Ok(file) => {
                modules.insert(path, file.module.clone());
                files.insert(path.to_owned(), file);
            }
            Err(problem) => problems.push(problem),
        }
    }
    let conditions = conditions.into_iter().map(|(key, parsed)| (key, link_condition(&parsed))).collect();
    problems.into_result(Linked { engine, limits, files, conditions })
}

fn parse_files(
    engine: &Engine,
    limits: &Limits,
    scripts: Vec<Source>,
    previous: Option<&Linked>,
    problems: &mut Diagnostics,
) -> BTreeMap<String, Arc<Parsed>> {
    let mut parsed: BTreeMap<String, Arc<Parsed>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for source in scripts {
        let path = source.name().to_owned();
        if !seen.insert(path.clone()) {
            problems.push(Diagnostic::error("script/duplicate-file", format!("there are two scripts `{path}`")).label(
                &source,
                Span::default(),
                "",
            ));
            continue;
        }
        let before = previous.and_then(|previous| previous.files.get(&path));
        if let Some(before) = before.filter(|before| before.parsed.source.text() == source.text()) {
            parsed.insert(path, before.parsed.clone());
            continue;
        }
        match parse_file(engine, limits, &source, problems) {
            Ok(file) => drop(parsed.insert(path, Arc::new(file))),
            Err(problem) => problems.push(problem),
        }
    }
    parsed
}

fn parse_file(engine: &Engine, limits: &Limits, source: &Source, problems: &mut Diagnostics) -> Result<Parsed, Diagnostic> {
    if source.text().len() > limits.source {
        let message = format!("this script has {} bytes, more than {}", source.text().len(), limits.source);
        return Err(Diagnostic::error(fault::LIMIT, message).label(source, Span::default(), "").help("divide it into files"));
    }
    let text = Text::file(source);
    let ast = parse(engine, &text)?;
    let unit = Unit::new(source.name().to_owned(), text, ast);
    let imports = imports_of(&unit, problems);
    Ok(finish(unit, source.clone(), imports))
}

/// Parses; a panic of the parser is a diagnostic too.
fn parse(engine: &Engine, text: &Text) -> Result<AST, Diagnostic> {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| engine.compile(text.script())));
    match outcome {
        Ok(outcome) => outcome.map_err(|error| syntax::explain(text, &error)),
        Err(_) => {
            let (source, span) = text.locate(Span::default());
            Err(Diagnostic::error("script/internal", "the parser failed on this text").label(&source, span, ""))
        }
    }
}

fn finish(unit: Unit, source: Source, imports: Vec<Import>) -> Parsed {
    let rewritten = rewrite(unit.ast(), &mut Strict);
    let hash = Hash::of(unit.script().as_bytes());
    let fields = fields_of(unit.ast());
    Parsed { unit, source, mapped: None, hash, rewritten, imports, publics: OnceLock::new(), fields }
}

/// The imports at the head of a file. Any other import, and any path that is not written out, is refused: what a script depends
/// on is known when it is linked.
fn imports_of(unit: &Unit, problems: &mut Diagnostics) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut names: BTreeMap<String, Position> = BTreeMap::new();
    let mut at_head: BTreeSet<Position> = BTreeSet::new();
    let place = |position: Position| unit.text().token(position).unwrap_or_default();
    let mut report = |code: &'static str, message: String, span: Span, help: &str| {
        let (source, span) = unit.locate(span);
        problems.push(Diagnostic::error(code, message).label(&source, span, "").help(help));
    };
    for statement in unit.ast().statements() {
        let Stmt::Import(parts, position) = statement else { continue };
        at_head.insert(*position);
        let (path, alias) = &**parts;
        if !alias.name.is_empty()
            && let Some(first) = names.insert(alias.name.to_string(), alias.pos)
        {
            let line = first.line().unwrap_or(0);
            let message = format!("two imports are called `{}` (the other is in line {line})", alias.name);
            report("script/duplicate-import", message, place(alias.pos), "give one of them another name");
        }
        let Expr::StringConstant(written, position) = path else {
            let span = unit.tokens().extent(unit.script(), path).unwrap_or_else(|| place(*position));
            report(
                "script/import",
                "the path of an import must be written out".into(),
                span,
                "write it as a string: `import \"lib/base\" as base;`",
            );
            continue;
        };
        match script_of(written) {
            Ok(script) => imports.push(Import { script, position: *position }),
            Err(why) => {
                let help = "name a script below the script root, such as `import \"lib/base\" as base;`";
                report("script/import", format!("`{written}` {why}"), place(*position), help);
            }
        }
    }
    unit.ast().walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::Import(_, position))) = path.last()
            && !at_head.contains(position)
        {
            let message = "an import must stand at the head of the file".to_owned();
            report("script/import", message, place(*position), "move it out of the function or block");
        }
        true
    });
    imports
}

fn publics_of(unit: &Unit) -> Vec<Public> {
    let functions =
        unit.ast().iter_fn_def().filter(|function| function.access == FnAccess::Public && !function.name.starts_with("anon$"));
    let mut publics: Vec<Public> = functions
        .map(|function| Public {
            name: function.name.to_string(),
            params: function.params.iter().map(ToString::to_string).collect(),
            doc: doc_of(&function.comments),
            span: unit.definition(function).map_or(Span::default(), |(_, span)| span),
        })
        .collect();
    publics.sort_by_key(|function| function.span.start);
    publics
}

fn doc_of<T: AsRef<str>>(comments: &[T]) -> String {
    let lines = comments.iter().flat_map(|comment| comment.as_ref().lines());
    let bare = lines.map(|line| {
        let line = line.trim();
        let line =
            line.strip_prefix("///").or_else(|| line.strip_prefix("/**")).or_else(|| line.strip_prefix('*')).unwrap_or(line);
        line.strip_suffix("*/").unwrap_or(line).trim()
    });
    bare.collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn fields_of(ast: &AST) -> BTreeSet<String> {
    let mut fields = BTreeSet::new();
    ast.walk(&mut |path| {
        if let Some(ASTNode::Expr(Expr::Property(parts, _))) = path.last() {
            fields.insert(parts.2.to_string());
        }
        true
    });
    fields
}

/// Imports of scripts that are not there, and imports that come back to where they started.
fn check_imports(parsed: &BTreeMap<String, Arc<Parsed>>, problems: &mut Diagnostics) {
    for file in parsed.values() {
        for import in file.imports.iter().filter(|import| !parsed.contains_key(&import.script)) {
            // A script that is there but does not parse is reported already.
            if problems.iter().any(|problem| problem.primary().is_some_and(|label| label.source.name() == import.script)) {
                continue;
            }
            let known = did_you_mean(&import.script, parsed.keys().map(String::as_str));
            let message = format!("there is no script `{}`", import.script);
            problems.push(
                Diagnostic::error("script/import", message)
                    .label(&file.source, import.span(file), "imported here")
                    .maybe_help(known),
            );
        }
    }
    let mut done = BTreeSet::new();
    for path in parsed.keys() {
        find_cycle(path, parsed, &mut done, &mut Vec::new(), problems);
    }
}

fn find_cycle<'a>(
    path: &'a str,
    parsed: &'a BTreeMap<String, Arc<Parsed>>,
    done: &mut BTreeSet<&'a str>,
    chain: &mut Vec<(&'a str, &'a Import)>,
    problems: &mut Diagnostics,
) {
    if done.contains(path) {
        return;
    }
    let Some(file) = parsed.get(path) else { return };
    for import in &file.imports {
        chain.push((path, import));
        if let Some(start) = chain.iter().position(|(on_the_way, _)| *on_the_way == import.script) {
            let round: Vec<&str> = chain[start..].iter().map(|(path, _)| *path).chain([import.script.as_str()]).collect();
            let mut problem =
                Diagnostic::error("script/import-cycle", format!("scripts import one another: {}", round.join(" -> ")))
                    .help("move what they share into a script of its own");
            for (path, import) in chain[start..].iter().rev() {
                if let Some(file) = parsed.get(*path) {
                    problem = problem.label(&file.source, import.span(file), format!("`{}` is imported here", import.script));
                }
            }
            problems.push(problem);
        } else {
            find_cycle(&import.script, parsed, done, chain, problems);
        }
        chain.pop();
    }
    done.insert(path);
}

/// The files so that each comes after what it imports.
fn order(parsed: &BTreeMap<String, Arc<Parsed>>) -> Vec<&str> {
    fn visit<'a>(path: &'a str, parsed: &'a BTreeMap<String, Arc<Parsed>>, seen: &mut BTreeSet<&'a str>, out: &mut Vec<&'a str>) {
        if !seen.insert(path) {
            return;
        }
        for import in parsed.get(path).iter().flat_map(|file| &file.imports) {
            visit(&import.script, parsed, seen, out);
        }
        out.push(path);
    }
    let (mut seen, mut out) = (BTreeSet::new(), Vec::new());
    for path in parsed.keys() {
        visit(path, parsed, &mut seen, &mut out);
    }
    out
}

fn deep_hash(parsed: &Parsed, files: &BTreeMap<String, File>) -> Hash {
    let mut parts: Vec<(&str, Hash)> =
        parsed.imports.iter().filter_map(|import| Some((import.script.as_str(), files.get(&import.script)?.deep))).collect();
    if parts.is_empty() {
        return parsed.hash;
    }
    parts.sort_unstable();
    let mut bytes = parsed.hash.bytes().to_vec();
    for (path, deep) in parts {
        bytes.extend(path.as_bytes());
        bytes.extend(deep.bytes());
    }
    Hash::of(&bytes)
}

fn link_file(
    engine: &Engine,
    limits: &Limits,
    parsed: &Arc<Parsed>,
    files: &BTreeMap<String, File>,
    previous: Option<&Linked>,
) -> Result<File, Diagnostic> {
    let deep = deep_hash(parsed, files);
    let before = previous.and_then(|previous| previous.files.get(parsed.unit.name()));
    if let Some(before) = before.filter(|before| before.deep == deep) {
        return Ok(File { parsed: before.parsed.clone(), module: before.module.clone(), callees: before.callees.clone(), deep });
    }
    let seen = Seen::default();
    let ast = with_probe(&parsed.rewritten.ast, &seen);
    let module = guard::run(limits, || Module::eval_ast_as_new(Scope::new(), &ast, engine)).map_err(|stop| {
        let unit = |path: &str| files.get(path).map(|file| &file.parsed.unit);
        Tracer { engine, entry: &parsed.unit, fallback: None, unit: &unit }.explain(stop)
    })?;
    let environment = Arc::new(seen.environment(parsed));
    let callees = callees(parsed, &environment, deep);
    Ok(File { parsed: parsed.clone(), module: Shared::new(module), callees, deep })
}

fn link_condition(parsed: &Arc<Parsed>) -> Arc<Callee> {
    let environment = Arc::new(Seen::default().environment(parsed));
    let callees = callees(parsed, &environment, parsed.hash);
    let condition = callees.into_iter().find(|callee| callee.name == condition::NAME);
    condition.unwrap_or_else(|| Arc::new(Callee::empty(parsed.clone(), environment)))
}

fn callees(parsed: &Arc<Parsed>, environment: &Arc<Environment>, deep: Hash) -> Vec<Arc<Callee>> {
    let named = parsed.rewritten.bodies.iter().filter(|body| !body.definition.name.starts_with("anon$"));
    named
        .map(|body| {
            Arc::new(Callee {
                name: body.definition.name.to_string(),
                params: body.definition.params.iter().map(ToString::to_string).collect(),
                names: body.definition.params.iter().cloned().collect(),
                doc: doc_of(&body.definition.comments),
                private: body.definition.access == FnAccess::Private,
                definition: Some(body.definition.clone()),
                block: body.block.clone(),
                environment: environment.clone(),
                parsed: parsed.clone(),
                deep,
            })
        })
        .collect()
}

/// What a file's functions see, as its last statement saw it: Rhai keeps that to itself otherwise.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Snapshot>>);

#[derive(Default)]
struct Snapshot {
    imports: Vec<(rhai::ImmutableString, Shared<Module>)>,
    constants: Option<super::call::Constants>,
}

const PROBE: &str = "\u{2039}environment\u{203a}";

fn with_probe(ast: &AST, seen: &Seen) -> AST {
    let probe = Stmt::Expr(Box::new(node(PROBE, [], Dynamic::from(seen.clone()), Position::NONE)));
    let statements = ast.statements().iter().cloned().chain([probe]);
    let mut probed = AST::new(statements, ast.shared_lib().clone());
    if let Some(source) = ast.source() {
        probed.set_source(source);
    }
    probed
}

/// Registers what evaluates the probe.
pub(crate) fn register(engine: &mut Engine) {
    let registered = engine.register_custom_syntax_handler(PROBE, false, |context, _, state| {
        let seen = state.read_lock::<Seen>().map(|seen| seen.clone());
        let seen = seen.ok_or_else(|| fault::raise(Fault::new("script/internal", "a node of the host is out of place")))?;
        let global = context.global_runtime_state();
        let mut snapshot = seen.0.lock().unwrap_or_else(PoisonError::into_inner);
        snapshot.imports = global.scan_imports_raw().map(|(name, module)| (name.clone(), module.clone())).collect();
        snapshot.constants.clone_from(&global.constants);
        Ok(Dynamic::UNIT)
    });
    debug_assert!(registered.is_ok());
}

impl Seen {
    fn environment(&self, parsed: &Parsed) -> Environment {
        let mut snapshot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Environment {
            source: parsed.unit.name().into(),
            library: parsed.rewritten.ast.shared_lib().clone(),
            imports: std::mem::take(&mut snapshot.imports),
            constants: snapshot.constants.take(),
        }
    }
}

fn parse_conditions(
    engine: &Engine,
    limits: &Limits,
    conditions: Vec<Condition>,
    previous: Option<&Linked>,
    problems: &mut Diagnostics,
) -> BTreeMap<String, Arc<Parsed>> {
    let mut parsed: BTreeMap<String, Arc<Parsed>> = BTreeMap::new();
    if conditions.is_empty() {
        return parsed;
    }
    let mut loose = engine::build(limits, [], HOST_API);
    loose.set_strict_variables(false);
    for condition in conditions {
        let key = condition.key.clone();
        if parsed.contains_key(&key) {
            let message = format!("there are two conditions `{key}`");
            problems.push(Diagnostic::error("script/duplicate-condition", message).label(
                condition.text.file(),
                condition.text.whole(),
                "",
            ));
            continue;
        }
        let before = previous.and_then(|previous| previous.conditions.get(&key)).map(|callee| &callee.parsed);
        if let Some(before) = before.filter(|before| before.mapped.as_ref() == Some(&condition.text)) {
            parsed.insert(key, before.clone());
            continue;
        }
        match condition::parse(engine, &loose, &condition) {
            Ok(unit) => {
                let source = condition.text.file().clone();
                let finished = Parsed { mapped: Some(condition.text), ..finish(unit, source, Vec::new()) };
                parsed.insert(key, Arc::new(finished));
            }
            Err(problem) => problems.push(problem),
        }
    }
    parsed
}
