//! Flat chains: `a.b[0].c(x)` as its root and its segments, in the order they are evaluated.
//!
//! Rhai nests chains to the right, with properties and method calls that are only meaningful inside one; whoever wants to
//! know what a script reads flattens them first.

use rhai::{ASTFlags, Expr, FnCallExpr, Position};

/// A chain of at least one segment.
pub(crate) struct Chain<'e> {
    /// What it starts with: a variable, a call, an expression in parentheses.
    pub(crate) root: &'e Expr,
    /// What follows, in order.
    pub(crate) segments: Vec<Segment<'e>>,
}

/// One step of a chain.
pub(crate) enum Segment<'e> {
    /// `.name`, with the position of the name.
    Field { name: &'e str, at: Position },
    /// `[key]`
    Index { key: &'e Expr },
    /// `.name(arguments)`, with the position of the name.
    Call { call: &'e FnCallExpr, at: Position },
}

/// The chain that an expression is, if it is one.
pub(crate) fn flatten(expr: &Expr) -> Option<Chain<'_>> {
    let (pair, flags, indexed) = match expr {
        Expr::Dot(pair, flags, _) => (pair, *flags, false),
        Expr::Index(pair, flags, _) => (pair, *flags, true),
        _ => return None,
    };
    let mut segments = Vec::new();
    push(indexed, flags, &pair.rhs, &mut segments);
    Some(Chain { root: &pair.lhs, segments })
}

/// Adds what stands on the right of a dot or bracket. `BREAK` on the node to the left says that its right side is whole: the
/// dot or bracket in `a[b.c]` belongs to the key, not to the chain.
fn push<'e>(indexed: bool, flags: ASTFlags, right: &'e Expr, segments: &mut Vec<Segment<'e>>) {
    match right {
        Expr::Dot(pair, next, _) if !flags.contains(ASTFlags::BREAK) => {
            segments.push(segment(indexed, &pair.lhs));
            push(false, *next, &pair.rhs, segments);
        }
        Expr::Index(pair, next, _) if !flags.contains(ASTFlags::BREAK) => {
            segments.push(segment(indexed, &pair.lhs));
            push(true, *next, &pair.rhs, segments);
        }
        whole => segments.push(segment(indexed, whole)),
    }
}

fn segment(indexed: bool, expr: &Expr) -> Segment<'_> {
    match expr {
        Expr::Property(property, at) if !indexed => Segment::Field { name: &property.2, at: *at },
        Expr::MethodCall(call, at) if !indexed => Segment::Call { call, at: *at },
        key => Segment::Index { key },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhai::{Engine, Stmt};

    /// The chain of the script's first statement, written out.
    fn shown(script: &str) -> String {
        let ast = Engine::new().compile(script).expect("compiles");
        let Some(Stmt::Expr(expr)) = ast.statements().first() else { panic!("`{script}` is no expression") };
        let Some(chain) = flatten(expr) else { return "no chain".into() };
        let mut out = vec![format!("{:?}", chain.root).split(" @").next().unwrap_or_default().to_owned()];
        out.extend(chain.segments.iter().map(|segment| match segment {
            Segment::Field { name, .. } => format!(".{name}"),
            Segment::Index { key } if flatten(key).is_some() => "[chain]".into(),
            Segment::Index { .. } => "[]".into(),
            Segment::Call { call, .. } => format!(".{}/{}", call.name, call.args.len()),
        }));
        out.join(" ")
    }

    #[test]
    fn chains_are_flat_and_in_order() {
        for (script, expected) in [
            ("a.b", "Variable(a) .b"),
            ("a.b.c", "Variable(a) .b .c"),
            ("a[0][1].b", "Variable(a) [] [] .b"),
            ("a.b[c.d].e(1)", "Variable(a) .b [chain] .e/1"),
            ("a[b.c]", "Variable(a) [chain]"),
            ("a.f().g(1, 2).h", "Variable(a) .f/0 .g/2 .h"),
            ("a?.b?[0]", "Variable(a) .b []"),
            ("42", "no chain"),
        ] {
            assert_eq!(shown(script), expected, "{script}");
        }
    }

    #[test]
    fn parentheses_start_a_chain_of_their_own() {
        assert!(shown("(a.b).c").ends_with(" .c"));
    }
}
