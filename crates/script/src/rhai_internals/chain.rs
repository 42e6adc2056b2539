//! Flat chains: `a.b[0].c(x)` as its root and its segments, in evaluation order.
//!
//! Rhai nests chains to the right, with properties and method calls that have a meaning only inside one; analyses of reads
//! flatten them first.

pub use super::tree::{CallExpr, Expr, Position};

/// A chain of at least one segment.
pub struct Chain<'e> {
    /// The root: a variable, a call, an expression in parentheses.
    pub root: &'e Expr,
    /// The segments, in order.
    pub segments: Vec<Segment<'e>>,
}

/// One segment of a chain.
pub enum Segment<'e> {
    /// `.name`, with the position of the name.
    Field { name: &'e str, at: Position },
    /// `[key]`
    Index { key: &'e Expr },
    /// `.name(arguments)`, with the position of the name.
    Call { call: &'e CallExpr, at: Position },
}

/// Flattens an expression, if it is a chain.
pub fn flatten(expr: &Expr) -> Option<Chain<'_>> {
    let (link, indexed) = match expr {
        Expr::Dot(link, _) => (link, false),
        Expr::Index(link, _) => (link, true),
        _ => return None,
    };
    let mut segments = Vec::new();
    push(indexed, link.ends, &link.right, &mut segments);
    Some(Chain { root: &link.left, segments })
}

/// Adds the right side of a dot or bracket. If the chain `ends` there, the dot or bracket in `a[b.c]` belongs to the key.
fn push<'e>(indexed: bool, ends: bool, right: &'e Expr, segments: &mut Vec<Segment<'e>>) {
    match right {
        Expr::Dot(link, _) if !ends => {
            segments.push(segment(indexed, &link.left));
            push(false, link.ends, &link.right, segments);
        }
        Expr::Index(link, _) if !ends => {
            segments.push(segment(indexed, &link.left));
            push(true, link.ends, &link.right, segments);
        }
        whole => segments.push(segment(indexed, whole)),
    }
}

fn segment(indexed: bool, expr: &Expr) -> Segment<'_> {
    match expr {
        Expr::Property(name, at) if !indexed => Segment::Field { name, at: *at },
        Expr::Method(call, at) if !indexed => Segment::Call { call, at: *at },
        key => Segment::Index { key },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rhai_internals::tree::Stmt;
    use crate::rhai_internals::tree_of;
    use rhai::Engine;

    /// The chain of the script's first statement, as text.
    fn shown(script: &str) -> String {
        let tree = tree_of(&Engine::new().compile(script).expect("compiles"));
        let Some(Stmt::Expr(expr)) = tree.statements.first() else { panic!("`{script}` is not an expression") };
        let Some(chain) = flatten(expr) else { return "no chain".into() };
        let mut out = vec![chain.root.plain_variable().unwrap_or("other").to_owned()];
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
            ("a.b", "a .b"),
            ("a.b.c", "a .b .c"),
            ("a[0][1].b", "a [] [] .b"),
            ("a.b[c.d].e(1)", "a .b [chain] .e/1"),
            ("a[b.c]", "a [chain]"),
            ("a.f().g(1, 2).h", "a .f/0 .g/2 .h"),
            ("a?.b?[0]", "a .b []"),
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
