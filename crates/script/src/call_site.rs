//! The functions that a text calls. Rhai looks a function up when a call is reached; here every function must exist at link time,
//! so that a typo in a rarely taken branch is found early.

use super::compare::CompareOp;
use super::reference::is_test_file;
use super::resolver::script_of;
use super::rhai_internals::tree::{CallExpr, Expr, Node, Position, Stmt, SyntaxTree};
use super::unit::Unit;
use super::words::{is_word, parameters, plausible};
use super::{api, builtins, common_mistakes, fault, forbidden};
use asterisk_diag::{Diagnostic, nearest};
use std::collections::{BTreeMap, BTreeSet};

/// The results of checking the calls of a text.
#[derive(Default)]
pub(crate) struct Calls {
    /// Errors that do not depend on other texts.
    pub(super) problems: Vec<Diagnostic>,
    /// Methods that exist only if some map holds a function under that name.
    pub(super) methods: Vec<(String, Diagnostic)>,
    /// Functions of imported scripts.
    pub(super) modules: Vec<ModuleCall>,
    /// Names under which a map may hold a function, and names of methods that any script may call.
    pub(super) members: BTreeSet<String>,
}

/// `alias::name(..)`
pub(super) struct ModuleCall {
    /// The path of the imported script.
    pub(super) script: String,
    pub(super) name: String,
    pub(super) args: usize,
    pub(super) at: Position,
}

/// Finds the calls of a text.
pub(crate) fn calls_of(unit: &Unit) -> Calls {
    let mut calls = Calls::default();
    let tree = unit.tree();
    let known = CallNames::of(tree);
    tree.each(|node| match node {
        Node::Expr(Expr::Call(call, at)) if !call.operator => {
            CallCheck { unit, known: &known, call, at: *at }.function(&mut calls);
        }
        Node::Expr(Expr::Method(call, at)) => CallCheck { unit, known: &known, call, at: *at }.method(&mut calls),
        Node::Stmt(Stmt::Assign { target, .. }) => add_target(target, &mut calls.members),
        Node::Expr(Expr::Map(fields, _)) => {
            let fields = fields.iter().filter(|(_, value)| !is_data(value));
            calls.members.extend(fields.map(|(name, _)| name.text.to_string()));
        }
        _ => {}
    });
    let typed = tree.functions.iter().filter(|function| function.typed);
    calls.members.extend(typed.map(|function| function.name().to_owned()));
    calls
}

/// The names defined in a text.
struct CallNames {
    /// The functions, each with its parameter counts.
    functions: BTreeMap<String, Vec<usize>>,
    /// Variables and parameters, which may hold functions.
    variables: BTreeSet<String>,
    /// The imported scripts, by alias.
    imports: BTreeMap<String, String>,
}

impl CallNames {
    fn of(tree: &SyntaxTree) -> Self {
        let mut known = Self { functions: BTreeMap::new(), variables: BTreeSet::new(), imports: BTreeMap::new() };
        for function in &tree.functions {
            known.variables.extend(function.params.iter().map(ToString::to_string));
            known.functions.entry(function.name().to_owned()).or_default().push(function.params.len());
        }
        known.functions.values_mut().for_each(|counts| counts.sort_unstable());
        for statement in &tree.statements {
            if let Stmt::Import { path: Expr::Text(path, _), alias, .. } = statement
                && let Ok(script) = script_of(path)
            {
                known.imports.insert(alias.text.to_string(), script);
            }
        }
        let variables = &mut known.variables;
        tree.each(|node| match node {
            Node::Stmt(Stmt::Var { name, .. }) => drop(variables.insert(name.text.to_string())),
            Node::Stmt(Stmt::For { item, counter, .. }) => {
                variables.insert(item.text.to_string());
                variables.extend(counter.iter().map(|counter| counter.text.to_string()));
            }
            _ => {}
        });
        known
    }

    /// The named functions of the file.
    fn named(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str).filter(|name| is_word(name) && !name.starts_with("anon$"))
    }
}

/// One call of a text.
struct CallCheck<'a> {
    unit: &'a Unit,
    known: &'a CallNames,
    call: &'a CallExpr,
    at: Position,
}

impl CallCheck<'_> {
    /// Whether the host provides a function with this name to this text.
    fn is_host(&self, name: &str) -> bool {
        is_host(name) || (self.is_test() && is_for_tests(name))
    }

    fn is_test(&self) -> bool {
        is_test_file(self.unit.name())
    }

    /// `name(..)` and `alias::name(..)`
    fn function(&self, calls: &mut Calls) {
        if self.call.namespace.is_empty() {
            calls.problems.extend(self.plain());
        } else {
            calls.modules.extend(self.module());
        }
    }

    /// `name(..)`
    fn plain(&self) -> Option<Diagnostic> {
        let name = self.call.name.as_str();
        if let ("Fn", [Expr::Text(operator, at)]) = (name, self.call.args.as_slice())
            && CompareOp::of(operator).is_some()
        {
            let fault = fault::operator(operator);
            return Some(self.label(Diagnostic::error(fault.code, fault.message).maybe_help(fault.help), *at, ""));
        }
        if !is_word(name) || name.starts_with("anon$") || self.is_host(name) || self.known.variables.contains(name) {
            return None;
        }
        if let Some(fault) = forbidden::problem(name) {
            return Some(self.label(Diagnostic::error(fault.code, fault.message).maybe_help(fault.help), self.at, ""));
        }
        match self.known.functions.get(name) {
            Some(counts) if counts.contains(&self.call.args.len()) => None,
            Some(counts) => Some(self.arity(counts)),
            None => Some(self.unknown()),
        }
    }

    /// `receiver.name(..)`. A function of the file receives it as `this`, any other as its first argument.
    fn method(&self, calls: &mut Calls) {
        let name = self.call.name.as_str();
        if !is_word(name) || self.is_host(name) {
            return;
        }
        let (counts, given) = (self.known.functions.get(name), self.call.args.len());
        let problem = match counts {
            Some(counts) if counts.contains(&given) => return,
            Some(counts) if counts.contains(&(given + 1)) => {
                let help = format!(
                    "the receiver of a script function is its `this`: write `{name}(..)` with the receiver as first argument"
                );
                self.arity(counts).help(help)
            }
            Some(counts) => self.arity(counts),
            None => self.unknown(),
        };
        calls.methods.push((name.to_owned(), problem));
    }

    /// `alias::name(..)`; calls with an alias that is not imported at the head of the file are refused elsewhere.
    fn module(&self) -> Option<ModuleCall> {
        let [alias] = self.call.namespace.as_slice() else { return None };
        let script = self.known.imports.get(alias.as_str())?.clone();
        Some(ModuleCall { script, name: self.call.name.to_string(), args: self.call.args.len(), at: self.at })
    }

    fn arity(&self, counts: &[usize]) -> Diagnostic {
        let counts: Vec<String> = counts.iter().map(|count| parameters(*count)).collect();
        let message = format!("`{}` takes {}, not {}", self.call.name, counts.join(" or "), self.call.args.len());
        self.label(Diagnostic::error("script/unknown-function", message), self.at, "")
    }

    fn unknown(&self) -> Diagnostic {
        let name = self.call.name.as_str();
        if is_for_tests(name) {
            let problem = Diagnostic::error("script/unknown-function", format!("`{name}` is only available in tests"));
            return self.label(problem.help("tests are the functions `test_..` of files `.._test.rhai`"), self.at, "");
        }
        let for_tests = if self.is_test() { api::test_registry() } else { &[] };
        let host = api::registry().iter().chain(for_tests).map(|function| function.name);
        let known = self.known.named().chain(host).chain(builtins::NAMES.iter().copied());
        let near = common_mistakes::function(name).or_else(|| nearest(name, known).filter(|known| plausible(name, known)));
        let problem = Diagnostic::error("script/unknown-function", format!("unknown function `{name}`"));
        self.label(problem.maybe_help(near.map(|known| format!("did you mean `{known}`?"))), self.at, "")
    }

    fn label(&self, problem: Diagnostic, at: Position, text: &str) -> Diagnostic {
        match self.unit.token(at) {
            Some((source, span)) => problem.label(&source, span, text),
            None => problem,
        }
    }
}

fn is_host(name: &str) -> bool {
    builtins::has(name) || api::registry().iter().any(|function| function.name == name)
}

fn is_for_tests(name: &str) -> bool {
    api::test_registry().iter().any(|function| function.name == name)
}

/// Values that are certainly not functions.
fn is_data(value: &Expr) -> bool {
    match value {
        Expr::Call(call, _) => call.operator,
        Expr::Bool(..)
        | Expr::Int(..)
        | Expr::Float(..)
        | Expr::Char(..)
        | Expr::Text(..)
        | Expr::Interpolated(..)
        | Expr::List(..)
        | Expr::Map(..)
        | Expr::Unit(..)
        | Expr::And(..)
        | Expr::Or(..) => true,
        _ => false,
    }
}

/// `map.name = ..` and `map["name"] = ..` may store a function there.
fn add_target(target: &Expr, members: &mut BTreeSet<String>) {
    target.each(&mut |node| {
        if let Node::Expr(Expr::Property(name, _) | Expr::Text(name, _)) = node {
            members.insert(name.to_string());
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::{eval, find, function, line, link, problem, try_condition, try_link};
    use serde_json::json;

    fn message(text: &str) -> String {
        line(&problem(&[("t.rhai", text)]))
    }

    #[test]
    fn calls_in_rare_branches_are_checked_when_linking() {
        let unreached = |call: &str| {
            message(&format!("fn open_file(n) {{ n }}\nfn f(state) {{ if state.steps > 60 {{ {call} }} else {{ false }} }}"))
        };
        for (call, want) in [
            ("opn_file(1)", "script/unknown-function @ t.rhai:opn_file: unknown function `opn_file` | did you mean `open_file`?"),
            ("open_file()", "script/unknown-function @ t.rhai:open_file: `open_file` takes 1 parameter, not 0"),
            (
                "state.history.filtr(|x| true)",
                "script/unknown-function @ t.rhai:filtr: unknown function `filtr` | did you mean `filter`?",
            ),
            ("[1].map(|x| zzzz(x))", "script/unknown-function @ t.rhai:zzzz: unknown function `zzzz`"),
            ("zzzz(1);", "script/unknown-function @ t.rhai:zzzz: unknown function `zzzz`"),
            ("switch 1 { 1 | 2 => zzzz(1), _ => 0 }", "script/unknown-function @ t.rhai:zzzz: unknown function `zzzz`"),
            ("let a = `${zzzz()}`", "script/unknown-function @ t.rhai:zzzz: unknown function `zzzz`"),
            (
                "state.open_file()",
                "script/unknown-function @ t.rhai:open_file: `open_file` takes 1 parameter, not 0 | the receiver of a script function \
                 is its `this`: write `open_file(..)` with the receiver as first argument",
            ),
        ] {
            assert_eq!(unreached(call), want, "{call}");
        }
    }

    #[test]
    fn every_unknown_function_is_reported_once() {
        let problems = try_link(&[("a.rhai", "fn f() { aa_(1); bb_(2).cc_() }"), ("b.rhai", "fn g() { dd_() }")]);
        let message: Vec<String> = problems.expect_err("four").iter().map(|problem| problem.message.clone()).collect();
        assert_eq!(message.len(), 4, "{message:?}");
    }

    #[test]
    fn functions_of_imports_are_checked_too() {
        let base = ("lib/base.rhai", "fn over(x, t) { x > t } private fn secret() { 1 }");
        let message = |call: &str| {
            line(&problem(&[base, ("t.rhai", &format!("import \"lib/base\" as b;\nfn f(x) {{ if x {{ b::{call} }} }}"))]))
        };
        assert_eq!(
            message("ovr(1, 2)"),
            "script/unknown-function @ t.rhai:ovr: no function `ovr` in `lib/base.rhai` | did you mean `over`?"
        );
        assert_eq!(
            message("over(1)"),
            "script/unknown-function @ t.rhai:over, lib/base.rhai:over: `over` takes 2 parameters, not 1"
        );
        assert_eq!(
            message("secret()"),
            "script/private @ t.rhai:secret: `secret` is private in `lib/base.rhai` | remove the `private` there"
        );
    }

    #[test]
    fn a_change_of_an_import_is_noticed_where_it_is_used() {
        let user = ("t.rhai", "import \"lib\" as l;\nfn f() { l::one() }");
        let first = link(&[("lib.rhai", "fn one() { 1 }"), user]);
        let scripts = [("lib.rhai", "fn two() { 1 }"), user].map(|(path, text)| asterisk_diag::Source::new(path, text)).to_vec();
        let inputs = crate::LibraryInputs { scripts, ..Default::default() };
        let problems = crate::Library::link(inputs, Some(&first)).expect_err("gone");
        assert_eq!(
            problems.iter().map(line).collect::<Vec<_>>(),
            ["script/unknown-function @ t.rhai:one: no function `one` in `lib.rhai` | known here: `two`"]
        );
    }

    #[test]
    fn functions_in_variables_and_maps_are_accepted() {
        for (body, want) in [
            ("let g = |x| x + 1; g.call(1)", json!(2)),
            ("let m = #{run: |x| x + 1}; m.run(1)", json!(2)),
            ("let m = #{}; m.run = |x| x + 1; m.run(1)", json!(2)),
            ("let m = #{}; m[\"run\"] = |x| x + 1; m.run(1)", json!(2)),
            ("let x = 3; let m = #{run: |y| x + y}; m.run(1)", json!(4)),
            ("[1, 2].map(|x| type_of(x)).len()", json!(2)),
            ("is_def_fn(\"nope\", 1)", json!(false)),
        ] {
            assert_eq!(eval(body).unwrap_or_else(|problem| panic!("{body}: {}", line(&problem))), want, "{body}");
        }
        let elsewhere =
            [("lib.rhai", "fn table() { #{run: |x| x + 1} }"), ("t.rhai", "import \"lib\" as l;\nfn f() { l::table().run(1) }")];
        assert!(try_link(&elsewhere).is_ok(), "a map of another file may hold it");
        assert!(try_link(&[("t.rhai", "fn f(g) { g(1) }")]).is_ok(), "a parameter may be a function");
    }

    #[test]
    fn methods_of_the_file_and_overloads_of_stock_functions_exist() {
        let f = function("fn plus(n) { this + n } fn len(a, b) { a + b } fn f(x) { [x.plus(1), len(1, 2), [1].len()] }", 1);
        assert_eq!(f.call_json(&[json!(1)]).expect("fine"), json!([2, 3, 1]));
        let typed =
            link(&[("lib.rhai", "fn int.double() { this * 2 }"), ("t.rhai", "import \"lib\" as l;\nfn f(x) { x.double() }")]);
        assert!(find(&typed, "t.rhai#f", 1).call_json(&[json!(2)]).is_ok());
    }

    #[test]
    fn conditions_are_checked_too() {
        let message = try_condition("confidence > 1 && lenn(list) > 1").expect_err("unknown");
        assert_eq!(
            message.iter().map(line).collect::<Vec<_>>(),
            ["script/unknown-function @ p.yaml:lenn: unknown function `lenn` | did you mean `len`?"]
        );
    }

    #[test]
    fn comparisons_are_not_called_by_name() {
        for operator in ["==", "!=", "<", "<=", ">", ">="] {
            let want = format!(
                "script/forbidden @ t.rhai:\"{operator}\": `{operator}` cannot be called by its name | write a closure: `|a, b| a {operator} b`"
            );
            assert_eq!(message(&format!("fn f() {{ Fn(\"{operator}\").call(\"1\", 1) }}")), want);
            let made = function(&format!("fn f() {{ let name = \"{operator}\"; Fn(name).call(1, 1) }}"), 0);
            let message = line(&made.call_json(&[]).expect_err("refused"));
            assert!(message.starts_with(&format!("script/forbidden @ t.rhai:name: `{operator}` cannot be called")), "{message}");
        }
    }
}
