//! A script as the analysis looks things up in it: functions with their bodies, imports, constants.

use super::types::{Type, TypedValue};
use crate::script::Unit;
use crate::script::resolver::script_of;
use crate::script::rewrite::statements_of;
use rhai::{AST, ASTFlags, ASTNode, Expr, FnCallExpr, ScriptFuncDef, Stmt};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// The lookups of one script.
pub(super) struct Script<'a> {
    /// What it was made of.
    pub(super) unit: &'a Unit,
    functions: BTreeMap<(String, usize), Rc<CheckedFunction>>,
    closures: BTreeMap<String, Rc<CheckedFunction>>,
    /// Alias to the path of the script; aliases that stand for several are left out.
    imports: BTreeMap<String, String>,
    constants: BTreeMap<String, Type<'static>>,
}

/// A function of a script.
pub(super) struct CheckedFunction {
    pub(super) name: String,
    pub(super) params: Vec<String>,
    pub(super) body: Vec<Stmt>,
    /// Variables that may be given another value after their declaration: of those no type is certain.
    pub(super) reassigned: BTreeSet<String>,
}

/// A function as a value.
#[derive(Clone)]
pub(super) struct Callable<'a> {
    pub(super) script: Rc<Script<'a>>,
    pub(super) function: Rc<CheckedFunction>,
    /// The values of its first parameters.
    pub(super) captured: Vec<TypedValue<'a>>,
}

impl Callable<'_> {
    /// The number of parameters that its caller gives values to.
    pub(super) fn open_params(&self) -> usize {
        self.function.params.len().saturating_sub(self.captured.len())
    }
}

impl fmt::Debug for Callable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Callable({})", self.function.name)
    }
}

/// What Rhai calls the functions it makes of closures.
const CLOSURE: &str = "anon$";

impl<'a> Script<'a> {
    /// Looks through a script once.
    pub(super) fn new(unit: &'a Unit) -> Self {
        let ast = unit.ast();
        let definitions: Vec<Arc<ScriptFuncDef>> = ast.iter_fn_def().cloned().collect();
        let methods: BTreeSet<&str> = definitions.iter().map(|definition| definition.name.as_str()).collect();
        let bodies: Vec<Vec<Stmt>> = definitions.iter().map(statements_of).collect();
        let mut in_closures = BTreeSet::new();
        for (definition, body) in definitions.iter().zip(&bodies) {
            if definition.name.starts_with(CLOSURE) {
                add_reassigned(body, &methods, &mut in_closures);
            }
        }
        let mut script = Self {
            unit,
            functions: BTreeMap::new(),
            closures: BTreeMap::new(),
            imports: imports(ast),
            constants: constants(ast),
        };
        for (definition, body) in definitions.iter().zip(bodies) {
            let mut reassigned = in_closures.clone();
            add_reassigned(&body, &methods, &mut reassigned);
            let params: Vec<String> = definition.params.iter().map(ToString::to_string).collect();
            let name = definition.name.to_string();
            let function = Rc::new(CheckedFunction { name: name.clone(), params, body, reassigned });
            if name.starts_with(CLOSURE) {
                script.closures.insert(name, function);
            } else {
                script.functions.insert((name, function.params.len()), function);
            }
        }
        script
    }

    /// The function of that name that takes so many values.
    pub(super) fn function(&self, name: &str, params: usize) -> Option<&Rc<CheckedFunction>> {
        self.functions.get(&(name.to_owned(), params))
    }

    /// The function or closure that a function pointer names, if only one has the name.
    pub(super) fn pointed_at(&self, name: &str) -> Option<&Rc<CheckedFunction>> {
        if let Some(closure) = self.closures.get(name) {
            return Some(closure);
        }
        let mut named = self.functions.range((name.to_owned(), 0)..=(name.to_owned(), usize::MAX));
        match (named.next(), named.next()) {
            (Some((_, function)), None) => Some(function),
            _ => None,
        }
    }

    /// The path of the script that was imported under an alias.
    pub(super) fn import(&self, alias: &str) -> Option<&str> {
        self.imports.get(alias).map(String::as_str)
    }

    /// The type of a constant of the file.
    pub(super) fn constant(&self, name: &str) -> Type<'static> {
        self.constants.get(name).copied().unwrap_or(Type::Unknown)
    }
}

/// Adds the variables that may be given another value: by assignment, by a method of the script (which may assign to
/// `this`), by Rhai's `take` and `swap`.
fn add_reassigned(body: &[Stmt], methods: &BTreeSet<&str>, reassigned: &mut BTreeSet<String>) {
    let mut add = |expr: &Expr| match expr {
        Expr::Variable(variable, ..) => drop(reassigned.insert(variable.1.to_string())),
        Expr::ThisPtr(_) => drop(reassigned.insert(super::flow::THIS.to_owned())),
        _ => {}
    };
    let mut visit = |path: &[ASTNode<'_>]| {
        match path.last() {
            Some(ASTNode::Stmt(Stmt::Assignment(assignment))) => add(&assignment.1.lhs),
            Some(ASTNode::Stmt(Stmt::FnCall(call, _)) | ASTNode::Expr(Expr::FnCall(call, _))) if moves(call, 0) => {
                call.args.iter().for_each(&mut add);
            }
            Some(ASTNode::Expr(Expr::Dot(pair, ..))) => {
                if let Expr::MethodCall(call, _) = &pair.rhs
                    && (moves(call, 1) || methods.contains(call.name.as_str()))
                {
                    add(&pair.lhs);
                    call.args.iter().for_each(&mut add);
                }
            }
            _ => {}
        }
        true
    };
    for statement in body {
        statement.walk(&mut Vec::new(), &mut visit);
    }
}

/// Whether a call takes values out of the variables it is given; `receivers` stand before the arguments.
fn moves(call: &FnCallExpr, receivers: usize) -> bool {
    matches!((call.name.as_str(), call.args.len() + receivers), ("take", 1) | ("swap", 2))
}

fn imports(ast: &AST) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    ast.walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::Import(import, _))) = path.last() {
            let paths = found.entry(import.1.name.to_string()).or_default();
            match &import.0 {
                Expr::StringConstant(path, _) => paths.insert(script_of(path).unwrap_or_default()),
                _ => paths.insert(String::new()),
            };
        }
        true
    });
    let single = |(alias, paths): (String, BTreeSet<String>)| match paths.len() {
        1 => paths.into_iter().next().filter(|path| !path.is_empty()).map(|path| (alias, path)),
        _ => None,
    };
    found.into_iter().filter_map(single).collect()
}

fn constants(ast: &AST) -> BTreeMap<String, Type<'static>> {
    let mut constants = BTreeMap::new();
    for statement in ast.statements() {
        if let Stmt::Var(declaration, flags, _) = statement
            && flags.contains(ASTFlags::CONSTANT)
        {
            let ty = match &declaration.1 {
                Expr::BoolConstant(..) => Type::Bool,
                Expr::IntegerConstant(..) | Expr::FloatConstant(..) => Type::Number,
                Expr::StringConstant(..) => Type::Text,
                Expr::Array(..) => Type::List,
                Expr::Map(..) => Type::Map,
                _ => Type::Unknown,
            };
            let entry = constants.entry(declaration.0.name.to_string()).or_insert(ty);
            *entry = entry.or(ty);
        }
    }
    constants
}
