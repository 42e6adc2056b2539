//! A parsed text and its origin: a script file, or an inline condition inside a YAML file.

use super::forbidden;
use super::limits::ScriptLimits;
use super::rhai_internals::tokens::Tokens;
use super::rhai_internals::tree::{Expr, FunctionHead, Node, Position, SyntaxTree};
use super::rhai_internals::{lexicon, tree_of};
use asterisk_diag::{MappedText, Source, Span};
use rhai::{AST, Engine};
use std::sync::{Arc, LazyLock, OnceLock};

/// A text with its tokens.
#[derive(Clone, Debug)]
pub struct UnitText {
    origin: UnitOrigin,
    /// Lexed on demand: only needed for labels.
    tokens: OnceLock<Tokens>,
}

/// An engine with the lexer settings of the engines for scripts.
static LEXER: LazyLock<Engine> = LazyLock::new(|| {
    let mut engine = Engine::new_raw();
    engine.set_max_string_size(ScriptLimits::default().string);
    lexicon::register(&mut engine);
    forbidden::disable(&mut engine);
    engine
});

#[derive(Clone, Debug)]
enum UnitOrigin {
    File(Source),
    /// The condition as compiled: `before`, the mapped text, and an end.
    Condition {
        mapped: MappedText,
        compiled: String,
        before: usize,
    },
}

impl UnitText {
    pub(crate) fn file(source: &Source) -> Self {
        Self { tokens: OnceLock::new(), origin: UnitOrigin::File(source.clone()) }
    }

    pub(crate) fn condition(mapped: MappedText, before: &str, after: &str) -> Self {
        let compiled = format!("{before}{}{after}", mapped.text());
        Self { origin: UnitOrigin::Condition { mapped, compiled, before: before.len() }, tokens: OnceLock::new() }
    }

    /// The text given to the parser.
    pub fn script(&self) -> &str {
        match &self.origin {
            UnitOrigin::File(source) => source.text(),
            UnitOrigin::Condition { compiled, .. } => compiled,
        }
    }

    pub(crate) fn tokens(&self) -> &Tokens {
        self.tokens.get_or_init(|| Tokens::new(&LEXER, self.script()))
    }

    pub(crate) fn is_condition(&self) -> bool {
        matches!(self.origin, UnitOrigin::Condition { .. })
    }

    /// Maps a span of the parsed text to the displayed file.
    pub(crate) fn locate(&self, span: Span) -> (Source, Span) {
        match &self.origin {
            UnitOrigin::File(source) => (source.clone(), span),
            UnitOrigin::Condition { mapped, before, .. } => {
                let end = before + mapped.text().len();
                // An error noticed after the end concerns the last token.
                let span = if span.start >= end { self.last_before(end).unwrap_or(Span::new(*before, end)) } else { span };
                let local = |at: usize| at.clamp(*before, end) - before;
                (mapped.file().clone(), mapped.locate(Span::new(local(span.start), local(span.end))))
            }
        }
    }

    fn last_before(&self, end: usize) -> Option<Span> {
        self.tokens().lexemes().iter().map(|lexeme| lexeme.span).rfind(|span| span.end <= end && !span.is_empty())
    }

    /// The byte offset of a position.
    pub(crate) fn tokens_offset(&self, position: Position) -> usize {
        self.tokens().offset(self.script(), position)
    }

    /// The token at a position.
    pub(crate) fn token(&self, position: Position) -> Option<Span> {
        self.tokens().token(self.script(), position)
    }

    /// The whole text, for errors without a better place.
    pub(crate) fn whole(&self) -> Span {
        self.last_before(self.script().len()).map_or(Span::new(0, 0), |last| {
            let first = self.tokens().lexemes().iter().next().map_or(0, |lexeme| lexeme.span.start);
            Span::new(first, last.end)
        })
    }

    /// The words of the text with their spans.
    pub fn words(&self) -> impl DoubleEndedIterator<Item = (&str, Span)> {
        self.tokens().lexemes().iter().map(|lexeme| (&self.script()[lexeme.span.start..lexeme.span.end], lexeme.span))
    }
}

/// A parsed script or condition, not rewritten: the input of static checks.
#[derive(Clone, Debug)]
pub struct Unit {
    name: String,
    text: UnitText,
    ast: AST,
    tree: Arc<SyntaxTree>,
    /// The index of each `fn` among the tokens, computed on demand.
    keywords: OnceLock<Vec<usize>>,
}

impl Unit {
    pub(crate) fn new(name: String, text: UnitText, mut ast: AST) -> Self {
        ast.set_source(name.as_str());
        let tree = Arc::new(tree_of(&ast));
        Self { name, text, ast, tree, keywords: OnceLock::new() }
    }

    fn keywords(&self) -> &[usize] {
        let find = || self.text.words().enumerate().filter(|(_, (word, _))| *word == "fn").map(|(at, _)| at).collect();
        self.keywords.get_or_init(find)
    }

    /// The path of a script, the key of a condition.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is an inline condition: one function `condition(artifact, state, vars)`, in which free identifiers already have
    /// the prefix `artifact.`.
    pub fn is_condition(&self) -> bool {
        self.text.is_condition()
    }

    /// The parsed script, not rewritten.
    pub fn tree(&self) -> &SyntaxTree {
        &self.tree
    }

    /// The same as Rhai's tree.
    pub(crate) fn ast(&self) -> &AST {
        &self.ast
    }

    /// The parsed text: positions and spans of tokens refer to it.
    pub fn script(&self) -> &str {
        self.text.script()
    }

    /// The tokens of [`Unit::script`].
    pub fn tokens(&self) -> &Tokens {
        self.text.tokens()
    }

    /// Maps a span of [`Unit::script`] to the displayed file.
    pub fn locate(&self, span: Span) -> (Source, Span) {
        self.text.locate(span)
    }

    /// The token at a position, for labels; `None` without a position.
    pub fn token(&self, position: Position) -> Option<(Source, Span)> {
        self.text.token(position).map(|span| self.locate(span))
    }

    /// The span of an expression, for labels.
    pub fn extent(&self, expr: &Expr) -> Option<(Source, Span)> {
        self.tokens().extent(self.script(), expr).map(|span| self.locate(span))
    }

    /// The name of a function in its definition. A condition is its own definition.
    pub fn definition(&self, function: &FunctionHead) -> Option<(Source, Span)> {
        if self.is_condition() {
            return Some(self.locate(self.text.whole()));
        }
        let (keyword, brace) = self.head(function)?;
        let lexemes = self.tokens().lexemes();
        let head = lexemes[keyword + 1..].iter().map(|lexeme| lexeme.span).take_while(|span| span.start < brace.start);
        let name = head.into_iter().find(|span| self.script()[span.start..span.end] == *function.name)?;
        Some(self.locate(name))
    }

    /// The `fn` of a function.
    pub(crate) fn keyword(&self, function: &FunctionHead) -> Option<Span> {
        self.head(function).map(|(keyword, _)| self.tokens().lexemes()[keyword].span)
    }

    /// The index of a function's `fn` among the tokens, and its opening brace.
    fn head(&self, function: &FunctionHead) -> Option<(usize, Span)> {
        let brace = self.text.token(function.start)?;
        let lexemes = self.tokens().lexemes();
        let before = self.keywords().partition_point(|at| lexemes[*at].span.start < brace.start);
        Some((*self.keywords().get(before.checked_sub(1)?)?, brace))
    }

    /// The token at a position or, if that is punctuation, the expression it belongs to: `a >= b` for `>=`.
    pub(crate) fn place(&self, position: Position) -> Option<(Source, Span)> {
        let token = self.text.token(position)?;
        let punctuation = self.script()[token.start..token.end].chars().all(|ch| ch.is_ascii_punctuation() && ch != '"');
        let whole = if punctuation { self.expression_at(position) } else { None };
        Some(whole.unwrap_or_else(|| self.locate(token)))
    }

    fn expression_at(&self, position: Position) -> Option<(Source, Span)> {
        let mut found = None;
        self.tree.each(|node| {
            if let Node::Expr(expr) = node
                && found.is_none()
                && expr.position() == position
            {
                found = self.extent(expr);
            }
        });
        found
    }

    pub fn text(&self) -> &UnitText {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{find, link};

    #[test]
    fn every_function_is_found_by_its_keyword() {
        let functions: Vec<String> = (0..900).map(|at| format!("/// About fn f.\nfn f{at}(x) {{ \"fn f\" }}\n")).collect();
        let text = functions.concat();
        let library = link(&[("a.rhai", &text)]);
        let file = library.file("a.rhai").expect("there");
        assert_eq!(file.unit().keywords().len(), 900);
        for at in [0, 1, 450, 899] {
            let (source, span) = find(&library, &format!("a.rhai#f{at}"), 1).definition().expect("a definition");
            assert_eq!((source.slice(span), source.line_column(span.start)), (&*format!("f{at}"), (at * 2 + 2, 4)));
        }
    }
}
