//! A script indexed for analysis: functions with their bodies, imports, constants.

use super::types::Type;
use crate::Unit;
use crate::resolver::script_of;
use crate::tree::{self, CallExpr, Expr, Function, Node, Stmt, SyntaxTree};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The name of the receiver within a method.
pub(super) const THIS: &str = "this";

/// The index of one script.
pub(super) struct Script<'a> {
    /// The parsed script.
    pub(super) unit: &'a Unit,
    /// By name, including closures.
    functions: BTreeMap<&'a str, Vec<Rc<CheckedFunction<'a>>>>,
    /// The paths of imported scripts, by alias; ambiguous aliases are left out.
    imports: BTreeMap<String, String>,
    constants: BTreeMap<String, Type<'static>>,
}

/// A function of a script.
pub(super) struct CheckedFunction<'a> {
    /// The parsed function.
    pub(super) of: &'a Function,
    /// Variables that may be reassigned, whose type is therefore uncertain.
    pub(super) reassigned: BTreeSet<&'a str>,
}

impl<'a> Script<'a> {
    /// Indexes a script.
    pub(super) fn new(unit: &'a Unit) -> Self {
        let tree = unit.tree();
        let methods: BTreeSet<&str> = tree.functions.iter().map(Function::name).collect();
        let mut in_closures = BTreeSet::new();
        for closure in tree.functions.iter().filter(|function| function.head.is_closure()) {
            add_reassigned(&closure.body, &methods, &mut in_closures);
        }
        let (imports, constants) = (imports(tree), constants(tree));
        let mut script = Self { unit, functions: BTreeMap::new(), imports, constants };
        for of in &tree.functions {
            let mut reassigned = in_closures.clone();
            add_reassigned(&of.body, &methods, &mut reassigned);
            script.functions.entry(of.name()).or_default().push(Rc::new(CheckedFunction { of, reassigned }));
        }
        script
    }

    /// The function with this name and number of parameters.
    pub(super) fn function(&self, name: &str, params: usize) -> Option<&Rc<CheckedFunction<'a>>> {
        self.functions.get(name)?.iter().find(|function| function.of.params.len() == params)
    }

    /// The function or closure that a function pointer refers to, if the name is unique.
    pub(super) fn pointed_at(&self, name: &str) -> Option<&Rc<CheckedFunction<'a>>> {
        match self.functions.get(name)?.as_slice() {
            [function] => Some(function),
            _ => None,
        }
    }

    /// The path of the script imported under an alias.
    pub(super) fn import(&self, alias: &str) -> Option<&str> {
        self.imports.get(alias).map(String::as_str)
    }

    /// The type of a constant of the file.
    pub(super) fn constant(&self, name: &str) -> Type<'static> {
        self.constants.get(name).copied().unwrap_or(Type::Unknown)
    }
}

/// Adds the variables that may be reassigned: by assignment, by a method of the script (which may assign to `this`), by Rhai's
/// `take` and `swap`.
fn add_reassigned<'a>(body: &'a [Stmt], methods: &BTreeSet<&str>, reassigned: &mut BTreeSet<&'a str>) {
    let mut add = |expr: &'a Expr| match expr {
        Expr::Variable(variable, _) => drop(reassigned.insert(&variable.name)),
        Expr::This(_) => drop(reassigned.insert(THIS)),
        _ => {}
    };
    tree::each(body, &mut |node| match node {
        Node::Stmt(Stmt::Assign { target, .. }) => add(target),
        Node::Expr(Expr::Call(call, _)) if moves(call, 0) => call.args.iter().for_each(&mut add),
        Node::Expr(Expr::Dot(link, _)) => {
            if let Expr::Method(call, _) = &link.right
                && (moves(call, 1) || methods.contains(call.name.as_str()))
            {
                add(&link.left);
                call.args.iter().for_each(&mut add);
            }
        }
        _ => {}
    });
}

/// Whether a call moves values out of its arguments; `receivers` precede the arguments.
fn moves(call: &CallExpr, receivers: usize) -> bool {
    matches!((call.name.as_str(), call.args.len() + receivers), ("take", 1) | ("swap", 2))
}

fn imports(tree: &SyntaxTree) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    tree.each(|node| {
        if let Node::Stmt(Stmt::Import { path, alias, .. }) = node {
            let paths = found.entry(alias.text.to_string()).or_default();
            match path {
                Expr::Text(path, _) => paths.insert(script_of(path).unwrap_or_default()),
                _ => paths.insert(String::new()),
            };
        }
    });
    let single = |(alias, paths): (String, BTreeSet<String>)| match paths.len() {
        1 => paths.into_iter().next().filter(|path| !path.is_empty()).map(|path| (alias, path)),
        _ => None,
    };
    found.into_iter().filter_map(single).collect()
}

fn constants(tree: &SyntaxTree) -> BTreeMap<String, Type<'static>> {
    let mut constants = BTreeMap::new();
    for statement in &tree.statements {
        if let Stmt::Var { name, value, constant: true, .. } = statement {
            let ty = match value {
                Expr::Bool(..) => Type::Bool,
                Expr::Int(..) | Expr::Float(..) => Type::Number,
                Expr::Text(..) => Type::Text,
                Expr::List(..) => Type::List,
                Expr::Map(..) => Type::Map,
                _ => Type::Unknown,
            };
            let entry = constants.entry(name.text.to_string()).or_insert(ty);
            *entry = entry.or(ty);
        }
    }
    constants
}
