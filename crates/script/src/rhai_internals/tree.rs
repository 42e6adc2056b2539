//! The syntax tree of a script, as it was written.
//!
//! Chains nest to the right as the parser creates them; [`chain::flatten`](super::chain::flatten) lists their links. A call that
//! is a statement is an ordinary expression, and the arms of a `switch` are in source order.

use compact_str::CompactString;
pub use rhai::Position;

/// A parsed text.
#[derive(Debug, Default)]
pub struct SyntaxTree {
    /// The statements outside functions.
    pub statements: Vec<Stmt>,
    /// The functions, including closures, in source order.
    pub functions: Vec<Function>,
}

/// The prefix of the names that the parser gives to closures.
pub(super) const CLOSURE: &str = "anon$";

/// A function's name and positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionHead {
    /// Its name; see [`FunctionHead::is_closure`].
    pub name: CompactString,
    /// The opening brace of its body.
    pub start: Position,
    /// The closing brace of its body.
    pub end: Position,
}

/// A function or closure.
#[derive(Debug)]
pub struct Function {
    /// Its name and positions.
    pub head: FunctionHead,
    /// The names of its parameters; those of a closure start with the captured variables.
    pub params: Vec<CompactString>,
    /// Whether it can be called from its own file only.
    pub private: bool,
    /// Whether it is a method of one type only.
    pub typed: bool,
    /// The `///` comments before it, with their slashes.
    pub comments: Vec<String>,
    /// Its statements.
    pub body: Vec<Stmt>,
}

/// A name in its declaration.
#[derive(Debug)]
pub struct DeclaredName {
    pub text: CompactString,
    /// Its position.
    pub at: Position,
}

/// A statement.
#[derive(Debug)]
pub enum Stmt {
    /// `;`
    Nothing(Position),
    /// A value, or a call for its effect.
    Expr(Expr),
    /// `let` or `const`.
    Var {
        /// The variable.
        name: DeclaredName,
        /// Its initial value.
        value: Expr,
        /// Whether it is `const`.
        constant: bool,
        /// The keyword.
        at: Position,
    },
    /// `target = value`
    Assign {
        /// The target.
        target: Expr,
        /// The value.
        value: Expr,
        /// Whether it is `+=` or another compound assignment.
        compound: bool,
        /// The operator.
        at: Position,
    },
    /// `if`
    If {
        /// The condition.
        condition: Expr,
        /// The statements if true.
        then: Vec<Self>,
        /// The statements otherwise: for `else if`, a single `if`.
        otherwise: Vec<Self>,
        /// The keyword.
        at: Position,
    },
    /// `switch`
    Switch {
        /// The subject.
        on: Expr,
        /// The arms in source order, including the default. (Their patterns are hashes in Rhai's tree, and not included.)
        arms: Vec<Arm>,
        /// Whether one of them is the default.
        has_default: bool,
        /// The keyword.
        at: Position,
    },
    /// `while` or `loop`
    While {
        /// The condition; [`Expr::Unit`] for `loop`.
        condition: Expr,
        /// The body.
        body: Vec<Self>,
        /// The keyword.
        at: Position,
    },
    /// `do { .. } while` or `until`
    Do {
        /// The condition.
        condition: Expr,
        /// The body.
        body: Vec<Self>,
        /// The keyword.
        at: Position,
    },
    /// `for`
    For {
        /// The variable.
        item: DeclaredName,
        /// The counter variable.
        counter: Option<DeclaredName>,
        /// The iterated value.
        over: Expr,
        /// The body.
        body: Vec<Self>,
        /// The keyword.
        at: Position,
    },
    /// `{ .. }`
    Block(Vec<Self>, Position),
    /// `try`
    Try {
        /// The body.
        body: Vec<Self>,
        /// The error variable.
        caught: Option<DeclaredName>,
        /// The statements after an error.
        handler: Vec<Self>,
        /// The keyword.
        at: Position,
    },
    /// `break` or `continue`
    Break {
        /// The value of the loop.
        value: Option<Expr>,
        /// The keyword.
        at: Position,
    },
    /// `return` or `throw`
    Return {
        /// The value.
        value: Option<Expr>,
        /// Whether it is `throw`.
        throws: bool,
        /// The keyword.
        at: Position,
    },
    /// `import`
    Import {
        /// The path.
        path: Expr,
        /// The name after `as`; empty if there is none.
        alias: DeclaredName,
        /// The keyword.
        at: Position,
    },
    /// `export`
    Export(Position),
    /// Variables captured by the next closure; inserted by the parser.
    Share(Position),
}

/// An arm of a `switch`.
#[derive(Debug)]
pub struct Arm {
    /// The condition after `if`; without one, `true` at no position.
    pub guard: Expr,
    /// The value.
    pub value: Expr,
}

/// An expression. The position is that of its first token, or of its operator or bracket if it has one.
#[derive(Debug)]
pub enum Expr {
    /// `()`
    Unit(Position),
    /// `true` or `false`
    Bool(bool, Position),
    /// An integer.
    Int(i64, Position),
    /// A floating-point number.
    Float(f64, Position),
    /// `'c'`
    Char(char, Position),
    /// A string literal, or a literal part of an interpolated one.
    Text(CompactString, Position),
    /// A value created by the parser.
    Constant(ConstantExpr, Position),
    /// `` `a ${b} c` ``
    Interpolated(Vec<Self>, Position),
    /// `[a, b]`
    List(Vec<Self>, Position),
    /// `#{ a: b }`
    Map(Vec<(DeclaredName, Self)>, Position),
    /// A variable, or `module::NAME`.
    Variable(VariableExpr, Position),
    /// `this`
    This(Position),
    /// `name` after a dot.
    Property(CompactString, Position),
    /// `name(..)` after a dot.
    Method(CallExpr, Position),
    /// `name(..)` or an operator except `&&`, `||` and `??`.
    Call(CallExpr, Position),
    /// `a && b && c`
    And(Vec<Self>, Position),
    /// `a || b || c`
    Or(Vec<Self>, Position),
    /// `a ?? b ?? c`
    Coalesce(Vec<Self>, Position),
    /// `a.b`
    Dot(Box<Link>, Position),
    /// `a[b]`
    Index(Box<Link>, Position),
    /// `{ .. }`, or an `if`, a `switch` or a loop whose value is used.
    Block(Vec<Stmt>, Position),
}

/// A value created by the parser.
#[derive(Debug)]
pub enum ConstantExpr {
    /// A pointer to the function with this name; that of a closure, if it captures nothing.
    Function(CompactString),
    /// A list.
    List,
    /// A map.
    Map,
    /// Anything else.
    Other,
}

/// A variable.
#[derive(Debug)]
pub struct VariableExpr {
    pub name: CompactString,
    /// The modules before it, outermost first.
    pub namespace: Vec<CompactString>,
    /// The position of its first token.
    pub start: Position,
}

/// A call.
#[derive(Debug)]
pub struct CallExpr {
    /// The function; for a closure that captures variables, `curry`.
    pub name: CompactString,
    /// The arguments.
    pub args: Vec<Expr>,
    /// Whether it is written as an operator. (`a in b` is `contains` with the list first.)
    pub operator: bool,
    /// The modules before it, outermost first.
    pub namespace: Vec<CompactString>,
}

/// A link of a chain.
#[derive(Debug)]
pub struct Link {
    /// The expression before the dot or bracket.
    pub left: Expr,
    /// The expression after it, which contains the rest of the chain.
    pub right: Expr,
    /// Whether the chain ends here, so that a chain on the right is part of the key.
    pub ends: bool,
}

/// A node of a tree.
#[derive(Clone, Copy, Debug)]
pub enum Node<'t> {
    /// A statement.
    Stmt(&'t Stmt),
    /// An expression.
    Expr(&'t Expr),
}

impl FunctionHead {
    /// Whether it is a closure, and so anonymous.
    pub fn is_closure(&self) -> bool {
        self.name.starts_with(CLOSURE)
    }
}

impl Function {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.head.name
    }
}

impl SyntaxTree {
    /// The function with this name and number of parameters.
    pub fn function(&self, name: &str, params: usize) -> Option<&Function> {
        self.functions.iter().find(|function| function.name() == name && function.params.len() == params)
    }

    /// The named functions.
    pub fn named(&self) -> impl DoubleEndedIterator<Item = &Function> {
        self.functions.iter().filter(|function| !function.head.is_closure())
    }

    /// Visits every node in pre-order: first those outside functions.
    pub fn each<'t>(&'t self, mut visit: impl FnMut(Node<'t>)) {
        each(&self.statements, &mut visit);
        self.functions.iter().for_each(|function| each(&function.body, &mut visit));
    }
}

/// Visits every node of some statements in pre-order.
pub fn each<'t>(statements: &'t [Stmt], visit: &mut impl FnMut(Node<'t>)) {
    each_path(statements, &mut |path| visit(path[path.len() - 1]));
}

/// Visits every node of some statements with its path: the enclosing nodes, outermost first, then the node itself.
pub fn each_path<'t>(statements: &'t [Stmt], visit: &mut dyn FnMut(&[Node<'t>])) {
    let mut path = Vec::new();
    for statement in statements {
        Node::Stmt(statement).walk(&mut path, visit);
    }
}

impl Node<'_> {
    fn walk(self, path: &mut Vec<Self>, visit: &mut dyn FnMut(&[Self])) {
        path.push(self);
        visit(path);
        match self {
            Self::Stmt(statement) => statement.parts(&mut |part| part.walk(path, visit)),
            Self::Expr(expr) => expr.parts(&mut |part| part.walk(path, visit)),
        }
        path.pop();
    }

    /// Its position.
    pub fn position(self) -> Position {
        match self {
            Self::Stmt(statement) => statement.position(),
            Self::Expr(expr) => expr.position(),
        }
    }
}

impl Stmt {
    /// Its first token; for an assignment, the operator.
    pub fn position(&self) -> Position {
        match self {
            Self::Expr(expr) => expr.start_position(),
            Self::Nothing(at)
            | Self::Var { at, .. }
            | Self::Assign { at, .. }
            | Self::If { at, .. }
            | Self::Switch { at, .. }
            | Self::While { at, .. }
            | Self::Do { at, .. }
            | Self::For { at, .. }
            | Self::Block(_, at)
            | Self::Try { at, .. }
            | Self::Break { at, .. }
            | Self::Return { at, .. }
            | Self::Import { at, .. }
            | Self::Export(at)
            | Self::Share(at) => *at,
        }
    }

    /// Whether it does nothing.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing(_))
    }

    /// Visits every node in pre-order.
    pub fn each<'t>(&'t self, visit: &mut impl FnMut(Node<'t>)) {
        each(std::slice::from_ref(self), visit);
    }

    fn parts<'t>(&'t self, visit: &mut dyn FnMut(Node<'t>)) {
        let block = |visit: &mut dyn FnMut(Node<'t>), statements: &'t [Self]| {
            for statement in statements {
                visit(Node::Stmt(statement));
            }
        };
        match self {
            Self::Nothing(_) | Self::Export(_) | Self::Share(_) => {}
            Self::Expr(expr) | Self::Var { value: expr, .. } | Self::Import { path: expr, .. } => visit(Node::Expr(expr)),
            Self::Assign { target, value, .. } => {
                visit(Node::Expr(target));
                visit(Node::Expr(value));
            }
            Self::If { condition, then, otherwise, .. } => {
                visit(Node::Expr(condition));
                block(visit, then);
                block(visit, otherwise);
            }
            Self::Switch { on, arms, .. } => {
                visit(Node::Expr(on));
                for arm in arms {
                    visit(Node::Expr(&arm.guard));
                    visit(Node::Expr(&arm.value));
                }
            }
            Self::While { condition, body, .. } | Self::Do { condition, body, .. } | Self::For { over: condition, body, .. } => {
                visit(Node::Expr(condition));
                block(visit, body);
            }
            Self::Block(statements, _) => block(visit, statements),
            Self::Try { body, handler, .. } => {
                block(visit, body);
                block(visit, handler);
            }
            Self::Break { value, .. } | Self::Return { value, .. } => value.iter().for_each(|value| visit(Node::Expr(value))),
        }
    }
}

impl Expr {
    /// Its operator, bracket or dot; for a name or literal, its token.
    pub fn position(&self) -> Position {
        match self {
            Self::Unit(at)
            | Self::Bool(_, at)
            | Self::Int(_, at)
            | Self::Float(_, at)
            | Self::Char(_, at)
            | Self::Text(_, at)
            | Self::Constant(_, at)
            | Self::Interpolated(_, at)
            | Self::List(_, at)
            | Self::Map(_, at)
            | Self::Variable(_, at)
            | Self::This(at)
            | Self::Property(_, at)
            | Self::Method(_, at)
            | Self::Call(_, at)
            | Self::And(_, at)
            | Self::Or(_, at)
            | Self::Coalesce(_, at)
            | Self::Dot(_, at)
            | Self::Index(_, at)
            | Self::Block(_, at) => *at,
        }
    }

    /// Its first token. (For an operator in a [`CallExpr`], the operator.)
    pub fn start_position(&self) -> Position {
        match self {
            Self::Variable(variable, _) => variable.start,
            Self::And(sides, at) | Self::Or(sides, at) | Self::Coalesce(sides, at) => {
                sides.first().map_or(*at, Self::start_position)
            }
            Self::Dot(link, _) | Self::Index(link, _) => link.left.start_position(),
            other => other.position(),
        }
    }

    /// The name, if it is a variable without a module.
    pub fn plain_variable(&self) -> Option<&str> {
        match self {
            Self::Variable(variable, _) if variable.namespace.is_empty() => Some(&variable.name),
            _ => None,
        }
    }

    /// Whether it consists of literals only.
    pub fn is_constant(&self) -> bool {
        match self {
            Self::Unit(_)
            | Self::Bool(..)
            | Self::Int(..)
            | Self::Float(..)
            | Self::Char(..)
            | Self::Text(..)
            | Self::Constant(..) => true,
            Self::Interpolated(parts, _) | Self::List(parts, _) => parts.iter().all(Self::is_constant),
            Self::Map(fields, _) => fields.iter().all(|(_, value)| value.is_constant()),
            _ => false,
        }
    }

    /// Visits every node in pre-order.
    pub fn each<'t>(&'t self, visit: &mut impl FnMut(Node<'t>)) {
        Node::Expr(self).walk(&mut Vec::new(), &mut |path| visit(path[path.len() - 1]));
    }

    /// The positions of all its nodes.
    pub fn positions(&self) -> Vec<Position> {
        let mut positions = Vec::new();
        self.each(&mut |node| {
            positions.push(node.position());
            if let Node::Expr(expr) = node {
                positions.push(expr.start_position());
            }
        });
        positions
    }

    fn parts<'t>(&'t self, visit: &mut dyn FnMut(Node<'t>)) {
        match self {
            Self::Block(statements, _) => statements.iter().for_each(|statement| visit(Node::Stmt(statement))),
            Self::Interpolated(parts, _)
            | Self::List(parts, _)
            | Self::And(parts, _)
            | Self::Or(parts, _)
            | Self::Coalesce(parts, _) => parts.iter().for_each(|part| visit(Node::Expr(part))),
            Self::Map(fields, _) => fields.iter().for_each(|(_, value)| visit(Node::Expr(value))),
            Self::Call(call, _) | Self::Method(call, _) => call.args.iter().for_each(|arg| visit(Node::Expr(arg))),
            Self::Dot(link, _) | Self::Index(link, _) => {
                visit(Node::Expr(&link.left));
                visit(Node::Expr(&link.right));
            }
            _ => {}
        }
    }
}
