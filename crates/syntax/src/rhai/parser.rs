//! A recursive-descent parser that accepts what Rhai accepts, and recovers from everything else.
//!
//! Recovery is local: what cannot start the expected construct is wrapped in an `ERROR` node, unless something around it may continue there; `fn`
//! always ends everything that is open, since functions are never nested.

use super::lexer::RhaiToken;
use super::tree::{RhaiLanguage, SyntaxError, TextRange, TextSize};
use super::{SyntaxKind, words};
use SyntaxKind as K;
use rowan::{Checkpoint, GreenNode, GreenNodeBuilder, Language};

/// The kind of text to parse.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RootKind {
    Script,
    Expression,
}

/// The nesting at which a text is no longer parsed in detail. Far more than scripts may have.
const DEEPEST: u32 = 200;

/// Parses the tokens of a text.
pub(super) fn run(text: &str, tokens: &[RhaiToken], root: RootKind) -> (GreenNode, Vec<SyntaxError>) {
    let significant = (0..tokens.len()).filter(|at| !tokens[*at].kind.is_trivia()).collect();
    let builder = GreenNodeBuilder::new();
    let mut parser = RhaiParser { text, tokens, significant, at: 0, emitted: 0, builder, errors: Vec::new(), depth: 0 };
    parser.root(root);
    (parser.builder.finish(), parser.errors)
}

/// Whether a statement must be followed by a `;`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// `}` ends it.
    Itself,
    WithSemicolon,
}

/// Where a statement stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// At the top of a file, where functions and exports may be.
    Global,
    Block,
}

struct RhaiParser<'t> {
    text: &'t str,
    tokens: &'t [RhaiToken],
    /// The indices of all tokens but white space and comments.
    significant: Vec<usize>,
    /// The next significant token, as an index of `significant`.
    at: usize,
    /// How many tokens the tree has.
    emitted: usize,
    builder: GreenNodeBuilder<'static>,
    errors: Vec<SyntaxError>,
    depth: u32,
}

impl RhaiParser<'_> {
    // ---- tokens

    fn peek(&self) -> SyntaxKind {
        self.nth(0)
    }

    fn nth(&self, ahead: usize) -> SyntaxKind {
        self.significant.get(self.at + ahead).map_or(K::EOF, |at| self.tokens[*at].kind)
    }

    fn is(&self, kind: SyntaxKind) -> bool {
        self.peek() == kind
    }

    /// The text of the next significant token.
    fn peek_text(&self) -> &str {
        self.significant.get(self.at).map_or("", |at| &self.text[self.tokens[*at].start..self.tokens[*at].end])
    }

    /// Whether no white space or comment is between the next token and the one after it.
    fn is_joined(&self) -> bool {
        matches!(self.significant.get(self.at..self.at + 2), Some([first, second]) if second - first == 1)
    }

    fn offset(&self) -> usize {
        self.emitted.checked_sub(1).map_or(0, |last| self.tokens[last].end)
    }

    /// Adds the next raw token to the tree.
    fn emit(&mut self) {
        let token = self.tokens[self.emitted];
        self.builder.token(RhaiLanguage::kind_to_raw(token.kind), &self.text[token.start..token.end]);
        self.emitted += 1;
    }

    /// Adds white space and comments before the next significant token.
    fn trivia(&mut self) {
        let next = self.significant.get(self.at).copied().unwrap_or(self.tokens.len());
        while self.emitted < next {
            if self.is_outer_doc(self.emitted) {
                self.problem(self.emitted, "a doc comment documents a function: `fn` must follow");
                self.builder.start_node(RhaiLanguage::kind_to_raw(K::ERROR));
                self.emit();
                self.builder.finish_node();
            } else {
                self.emit();
            }
        }
    }

    fn is_outer_doc(&self, at: usize) -> bool {
        let token = self.tokens[at];
        token.kind == K::DOC_COMMENT && !self.text[token.start..].starts_with("//!")
    }

    /// Adds the next significant token.
    fn bump(&mut self) {
        self.trivia();
        if self.emitted == self.tokens.len() {
            return;
        }
        match self.tokens[self.emitted].problem {
            Some(problem) => {
                self.problem(self.emitted, problem);
                self.start(K::ERROR);
                self.emit();
                self.finish();
            }
            None => self.emit(),
        }
        self.at += 1;
    }

    fn eat(&mut self, kind: SyntaxKind) -> bool {
        let found = self.is(kind);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, kind: SyntaxKind, message: &str) {
        if !self.eat(kind) {
            self.missing(message);
        }
    }

    // ---- nodes

    fn checkpoint(&mut self) -> Checkpoint {
        self.trivia();
        self.builder.checkpoint()
    }

    fn start(&mut self, kind: SyntaxKind) {
        self.trivia();
        self.builder.start_node(RhaiLanguage::kind_to_raw(kind));
    }

    fn start_at(&mut self, checkpoint: Checkpoint, kind: SyntaxKind) {
        self.builder.start_node_at(checkpoint, RhaiLanguage::kind_to_raw(kind));
    }

    fn finish(&mut self) {
        self.builder.finish_node();
    }

    /// Encloses everything since the checkpoint.
    fn wrap(&mut self, checkpoint: Checkpoint, kind: SyntaxKind) {
        self.start_at(checkpoint, kind);
        self.finish();
    }

    // ---- errors

    fn problem(&mut self, token: usize, message: &str) {
        let RhaiToken { start, end, .. } = self.tokens[token];
        self.errors.push(SyntaxError { range: range(start, end), message: message.to_owned() });
    }

    /// Records that something is missing here.
    fn missing(&mut self, message: &str) {
        let offset = self.offset();
        self.errors.push(SyntaxError { range: range(offset, offset), message: message.to_owned() });
        self.builder.start_node(RhaiLanguage::kind_to_raw(K::ERROR));
        self.finish();
    }

    /// Wraps the next token in an error.
    fn unexpected(&mut self, message: &str) {
        self.trivia();
        let Some(token) = self.significant.get(self.at).copied() else { return };
        let message = self.tokens[token].problem.unwrap_or(message).to_owned();
        self.problem(token, &message);
        self.start(K::ERROR);
        self.emit();
        self.at += 1;
        self.finish();
    }

    /// Runs a rule one level deeper. Beyond the deepest level, everything up to the end of the enclosing construct is an error.
    fn deeper<T>(&mut self, otherwise: T, rule: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= DEEPEST {
            self.too_deep();
            return otherwise;
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&mut self) {
        self.trivia();
        let offset = self.offset();
        self.errors.push(SyntaxError { range: range(offset, offset), message: "this code is nested too deeply".to_owned() });
        self.start(K::ERROR);
        let mut open = 0_usize;
        loop {
            match self.peek() {
                K::EOF | K::FN_KW | K::PRIVATE_KW => break,
                K::L_PAREN
                | K::L_BRACK
                | K::L_BRACE
                | K::MAP_START
                | K::QUESTION_BRACK
                | K::INTERPOLATION_START
                | K::TEMPLATE_START => open += 1,
                K::R_PAREN | K::R_BRACK | K::R_BRACE | K::INTERPOLATION_END | K::TEMPLATE_END => match open.checked_sub(1) {
                    Some(fewer) => open = fewer,
                    None => break,
                },
                K::SEMICOLON if open == 0 => break,
                _ => {}
            }
            self.trivia();
            self.emit();
            self.at += 1;
        }
        self.finish();
    }

    // ---- statements

    fn root(&mut self, root: RootKind) {
        let (kind, level) = match root {
            RootKind::Script => (K::SCRIPT, Level::Global),
            RootKind::Expression => (K::EXPRESSION, Level::Block),
        };
        self.builder.start_node(RhaiLanguage::kind_to_raw(kind));
        loop {
            self.statements(level);
            match self.peek() {
                K::EOF => break,
                K::R_BRACE => self.unexpected("this `}` closes nothing"),
                K::FN_KW | K::PRIVATE_KW => self.unexpected("a condition cannot define functions"),
                _ => self.unexpected("this is not the start of a statement"),
            }
        }
        self.trivia();
        self.finish();
    }

    /// Statements, up to something that is none.
    fn statements(&mut self, level: Level) {
        loop {
            match self.peek() {
                K::EOF | K::R_BRACE | K::INTERPOLATION_END | K::TEMPLATE_END => return,
                K::FN_KW | K::PRIVATE_KW if level == Level::Block => return,
                K::SEMICOLON => self.bump(),
                kind if starts_statement(kind) => {
                    let before = self.at;
                    self.statement_with_end(level);
                    if self.at == before {
                        self.unexpected("this is not the start of a statement");
                    }
                }
                _ => self.unexpected("this is not the start of a statement"),
            }
        }
    }

    fn statement_with_end(&mut self, level: Level) {
        if matches!(self.peek(), K::FN_KW | K::PRIVATE_KW) {
            return self.function();
        }
        let start = self.checkpoint();
        let (kind, ends) = self.statement(level);
        if ends == Ends::WithSemicolon && !self.eat(K::SEMICOLON) {
            match self.peek() {
                K::R_BRACE | K::EOF | K::INTERPOLATION_END | K::TEMPLATE_END | K::FN_KW | K::PRIVATE_KW
                    if level == Level::Block => {}
                K::EOF => {}
                _ => self.missing("a `;` must end this statement"),
            }
        }
        if let Some(kind) = kind {
            self.wrap(start, kind);
        }
    }

    /// A statement without its `;`. Returns the kind of its node, unless it made that itself.
    fn statement(&mut self, level: Level) -> (Option<SyntaxKind>, Ends) {
        self.deeper((None, Ends::WithSemicolon), |parser| parser.statement_here(level))
    }

    fn statement_here(&mut self, level: Level) -> (Option<SyntaxKind>, Ends) {
        match self.peek() {
            K::L_BRACE => self.block(),
            K::IF_KW => self.if_else(),
            K::SWITCH_KW => self.switch(),
            K::WHILE_KW => self.while_loop(),
            K::LOOP_KW => self.endless_loop(),
            K::FOR_KW => self.for_loop(),
            K::TRY_KW => self.try_catch(),
            K::DO_KW => {
                self.do_loop();
                return (None, Ends::WithSemicolon);
            }
            K::LET_KW | K::CONST_KW => return (Some(self.variable()), Ends::WithSemicolon),
            kind @ (K::RETURN_KW | K::THROW_KW | K::BREAK_KW | K::CONTINUE_KW) => {
                self.bump();
                if kind != K::CONTINUE_KW && starts_expression(self.peek()) {
                    self.expression();
                }
                let kind = match kind {
                    K::RETURN_KW => K::RETURN,
                    K::THROW_KW => K::THROW,
                    K::BREAK_KW => K::BREAK,
                    _ => K::CONTINUE,
                };
                return (Some(kind), Ends::WithSemicolon);
            }
            K::IMPORT_KW => {
                self.bump();
                self.required_expression("the path of the script to import");
                if self.eat(K::AS_KW) {
                    self.name();
                }
                return (Some(K::IMPORT), Ends::WithSemicolon);
            }
            K::EXPORT_KW => {
                if level == Level::Block {
                    self.missing("`export` is only possible at the top of a file");
                }
                self.bump();
                if matches!(self.peek(), K::LET_KW | K::CONST_KW) {
                    let start = self.checkpoint();
                    let kind = self.variable();
                    self.wrap(start, kind);
                } else {
                    self.name_ref("the name of the variable to export");
                    if self.eat(K::AS_KW) {
                        self.name();
                    }
                }
                return (Some(K::EXPORT), Ends::WithSemicolon);
            }
            _ => {
                let start = self.checkpoint();
                self.expression();
                if self.peek().is_assignment() {
                    self.bump();
                    self.required_expression("a value");
                    self.wrap(start, K::ASSIGN);
                }
                return (Some(K::EXPR_STMT), Ends::WithSemicolon);
            }
        }
        (None, Ends::Itself)
    }

    /// `let name = value` or `const name = value`.
    fn variable(&mut self) -> SyntaxKind {
        let kind = if self.is(K::LET_KW) { K::LET } else { K::CONST };
        self.bump();
        self.name();
        if self.eat(K::EQ) {
            self.required_expression("a value");
        }
        kind
    }

    fn function(&mut self) {
        let next = self.significant[self.at];
        while self.emitted < next && !self.is_outer_doc(self.emitted) {
            self.emit();
        }
        self.builder.start_node(RhaiLanguage::kind_to_raw(K::FN));
        while self.emitted < next {
            self.emit();
        }
        if self.eat(K::PRIVATE_KW) && !self.is(K::FN_KW) {
            self.missing("`fn` must follow");
            return self.finish();
        }
        self.bump();
        if matches!(self.peek(), K::IDENT | K::STRING) && self.nth(1) == K::DOT {
            self.bump();
            self.bump();
        }
        self.name();
        if self.is(K::L_PAREN) {
            self.start(K::PARAM_LIST);
            self.bump();
            self.params(K::R_PAREN);
            self.finish();
        } else {
            self.missing("the parameters, `(...)`");
        }
        self.required_block();
        self.finish();
    }

    /// Parameters, and what closes them.
    fn params(&mut self, close: SyntaxKind) {
        loop {
            match self.peek() {
                kind if kind == close => return self.bump(),
                K::IDENT => {
                    self.start(K::PARAM);
                    self.name();
                    self.finish();
                    if !self.is(close) && !self.eat(K::COMMA) {
                        if self.is(K::IDENT) {
                            self.missing("a `,`");
                        } else if is_stop(self.peek()) && !self.is(K::COMMA) {
                            return self.missing("the end of the parameters");
                        }
                    }
                }
                kind if is_stop(kind) && kind != K::COMMA => return self.missing("the end of the parameters"),
                _ => self.unexpected("a parameter is a name"),
            }
        }
    }

    fn required_block(&mut self) {
        if self.is(K::L_BRACE) {
            self.block();
        } else {
            self.missing("a block, `{ ... }`");
        }
    }

    fn block(&mut self) {
        self.start(K::BLOCK);
        self.deeper((), |parser| {
            parser.bump();
            parser.statements(Level::Block);
            parser.expect(K::R_BRACE, "a `}` must close this block");
        });
        self.finish();
    }

    fn if_else(&mut self) {
        self.start(K::IF);
        self.deeper((), |parser| {
            parser.bump();
            parser.condition();
            parser.required_block();
            if parser.eat(K::ELSE_KW) {
                match parser.peek() {
                    K::IF_KW => parser.if_else(),
                    _ => parser.required_block(),
                }
            }
        });
        self.finish();
    }

    /// The condition of an `if` or a loop: a block is none.
    fn condition(&mut self) {
        if self.is(K::L_BRACE) {
            self.missing("a condition");
        } else {
            self.required_expression("a condition");
        }
    }

    fn while_loop(&mut self) {
        self.start(K::WHILE);
        self.bump();
        self.condition();
        self.required_block();
        self.finish();
    }

    fn endless_loop(&mut self) {
        self.start(K::LOOP);
        self.bump();
        self.required_block();
        self.finish();
    }

    fn do_loop(&mut self) {
        self.start(K::DO);
        self.bump();
        self.required_block();
        if self.eat(K::WHILE_KW) || self.eat(K::UNTIL_KW) {
            self.condition();
        } else {
            self.missing("`while` or `until` must follow");
        }
        self.finish();
    }

    fn for_loop(&mut self) {
        self.start(K::FOR);
        self.bump();
        if self.eat(K::L_PAREN) {
            self.name();
            self.expect(K::COMMA, "a `,`");
            self.name();
            self.expect(K::R_PAREN, "a `)`");
        } else {
            self.name();
        }
        if self.eat(K::IN_KW) {
            self.condition();
        } else {
            self.missing("`in` must follow");
        }
        self.required_block();
        self.finish();
    }

    fn try_catch(&mut self) {
        self.start(K::TRY);
        self.bump();
        self.required_block();
        if self.eat(K::CATCH_KW) {
            if self.eat(K::L_PAREN) {
                self.name();
                self.expect(K::R_PAREN, "a `)`");
            }
            self.required_block();
        } else {
            self.missing("`catch` must follow");
        }
        self.finish();
    }

    fn switch(&mut self) {
        self.start(K::SWITCH);
        self.deeper((), |parser| {
            parser.bump();
            parser.condition();
            if !parser.is(K::L_BRACE) {
                return parser.missing("the cases, `{ ... }`");
            }
            parser.start(K::SWITCH_ARM_LIST);
            parser.bump();
            loop {
                match parser.peek() {
                    K::R_BRACE => {
                        parser.bump();
                        break;
                    }
                    kind if kind == K::UNDERSCORE || starts_expression(kind) => parser.switch_arm(),
                    kind if is_stop(kind) && kind != K::COMMA => {
                        parser.missing("a `}` must close this `switch`");
                        break;
                    }
                    _ => parser.unexpected("this is not a case of a `switch`"),
                }
            }
            parser.finish();
        });
        self.finish();
    }

    fn switch_arm(&mut self) {
        self.start(K::SWITCH_ARM);
        if !self.eat(K::UNDERSCORE) {
            loop {
                self.value(false);
                if !self.eat(K::PIPE) {
                    break;
                }
            }
            if self.eat(K::IF_KW) {
                self.condition();
            }
        }
        let mut ends = Ends::WithSemicolon;
        if self.eat(K::FAT_ARROW) {
            if self.is(K::SEMICOLON) {
                self.bump();
            } else if starts_statement(self.peek()) && !matches!(self.peek(), K::FN_KW | K::PRIVATE_KW) {
                let start = self.checkpoint();
                let (kind, how) = self.statement(Level::Block);
                ends = how;
                if let Some(kind) = kind {
                    self.wrap(start, kind);
                }
            } else {
                self.missing("a value");
            }
        } else {
            self.missing("`=>` must follow");
        }
        self.finish();
        if !self.eat(K::COMMA) && !self.is(K::R_BRACE) && ends == Ends::WithSemicolon && starts_case(self.peek()) {
            self.missing("a `,` must end this case");
        }
    }

    // ---- expressions

    fn required_expression(&mut self, what: &str) {
        if starts_expression(self.peek()) {
            self.expression();
        } else {
            self.missing(&format!("{what} is missing"));
        }
    }

    fn expression(&mut self) {
        self.value(true);
    }

    /// An expression; without `bars`, one that a `|` ends.
    fn value(&mut self, bars: bool) {
        self.deeper((), |parser| {
            let start = parser.checkpoint();
            parser.unary(bars);
            parser.binary(start, 1, bars);
        });
    }

    /// The operators after a left side, as long as they bind more tightly than the operator before it.
    fn binary(&mut self, start: Checkpoint, outer: u8, bars: bool) {
        let depth = self.depth;
        loop {
            let operator = self.peek();
            let Some(precedence) = operator.precedence().filter(|_| bars || operator != K::PIPE) else { break };
            if precedence < outer || precedence == outer && operator != K::STAR2 {
                break;
            }
            // Every operator nests the tree by one level.
            self.depth += 1;
            if self.depth >= DEEPEST {
                self.too_deep();
                break;
            }
            self.bump();
            let is_range = matches!(operator, K::DOT2 | K::DOT2_EQ);
            let right = self.checkpoint();
            match self.peek() {
                K::BREAK_KW | K::CONTINUE_KW | K::RETURN_KW | K::THROW_KW if operator == K::QUESTION2 => {
                    let (kind, _) = self.statement(Level::Block);
                    if let Some(kind) = kind {
                        self.wrap(right, kind);
                    }
                }
                K::R_BRACK | K::R_PAREN | K::R_BRACE | K::INTERPOLATION_END | K::COMMA | K::SEMICOLON | K::FAT_ARROW
                    if is_range => {}
                kind if starts_expression(kind) => {
                    self.deeper((), |parser| parser.unary(bars));
                    let binds = |next: SyntaxKind| {
                        next.precedence().is_some_and(|next| next > precedence || next == precedence && operator == K::STAR2)
                    };
                    if binds(self.peek()) && (bars || !self.is(K::PIPE)) {
                        self.deeper((), |parser| parser.binary(right, precedence, bars));
                    }
                }
                _ => self.missing("the right side is missing"),
            }
            self.wrap(start, if is_range { K::RANGE } else { K::BINARY });
        }
        self.depth = depth;
    }

    fn unary(&mut self, bars: bool) {
        match self.peek() {
            K::MINUS | K::PLUS | K::BANG => {
                self.start(K::UNARY);
                self.bump();
                if starts_expression(self.peek()) {
                    self.deeper((), |parser| parser.unary(bars));
                } else {
                    self.missing("a value");
                }
                self.finish();
            }
            // A range without a left side.
            K::DOT2 | K::DOT2_EQ => {}
            K::PIPE if !bars => self.missing("a value"),
            _ => self.postfix(),
        }
    }

    /// A primary expression, and the calls, fields and indices after it.
    fn postfix(&mut self) {
        let start = self.checkpoint();
        // Whether `(` calls it.
        let mut callable = self.primary();
        let mut qualified = false;
        let depth = self.depth;
        loop {
            let kind = self.peek();
            if matches!(kind, K::DOT | K::QUESTION_DOT | K::L_BRACK | K::QUESTION_BRACK | K::COLON2) {
                self.depth += 1;
                if self.depth >= DEEPEST {
                    self.too_deep();
                    break;
                }
            }
            match kind {
                K::L_PAREN if callable => {
                    self.arguments();
                    self.wrap(start, K::CALL);
                    callable = false;
                }
                K::BANG if callable && !qualified && self.nth(1) == K::L_PAREN => {
                    self.bump();
                    self.arguments();
                    self.wrap(start, K::CALL);
                    callable = false;
                }
                K::COLON2 if callable => {
                    self.bump();
                    self.name_ref("a name");
                    while self.is(K::COLON2) {
                        self.bump();
                        self.name_ref("a name");
                    }
                    self.wrap(start, K::PATH);
                    qualified = true;
                }
                K::DOT | K::QUESTION_DOT => {
                    self.bump();
                    callable = false;
                    let called = self.nth(1) == K::L_PAREN || self.nth(1) == K::BANG && self.nth(2) == K::L_PAREN;
                    match self.peek() {
                        K::IDENT => self.name_ref("a name"),
                        K::RESERVED if called && words::is_method(self.peek_text()) => self.name_ref("a name"),
                        K::RESERVED => self.unexpected("this word is reserved"),
                        // A keyword on the same line, as in `x.as`, was meant as a name; on the next line, it starts a statement.
                        kind if kind.is_keyword() && self.is_same_line() => self.unexpected("this word is reserved"),
                        _ => {
                            self.missing("the name of a field or a method");
                            self.wrap(start, K::FIELD);
                            continue;
                        }
                    }
                    if self.is(K::L_PAREN) || self.is(K::BANG) && self.nth(1) == K::L_PAREN {
                        self.eat(K::BANG);
                        self.arguments();
                        self.wrap(start, K::METHOD_CALL);
                    } else {
                        self.wrap(start, K::FIELD);
                    }
                }
                K::L_BRACK | K::QUESTION_BRACK => {
                    self.bump();
                    callable = false;
                    self.required_expression("an index");
                    self.expect(K::R_BRACK, "a `]`");
                    self.wrap(start, K::INDEX);
                }
                _ => break,
            }
        }
        self.depth = depth;
    }

    /// Whether the next significant token is on the line of the one before it.
    fn is_same_line(&self) -> bool {
        let next = self.significant.get(self.at).map_or(self.text.len(), |at| self.tokens[*at].start);
        !self.text[self.offset()..next].contains('\n')
    }

    /// Returns whether a `(` or `::` may follow it.
    fn primary(&mut self) -> bool {
        match self.peek() {
            K::IDENT => {
                self.name_ref("a name");
                return true;
            }
            K::RESERVED => {
                let called = self.nth(1) == K::L_PAREN || self.nth(1) == K::BANG && self.nth(2) == K::L_PAREN;
                if called && words::is_callable(self.peek_text()) {
                    self.name_ref("a name");
                    return true;
                }
                self.unexpected("this word is reserved");
            }
            K::THIS_KW => {
                self.start(K::NAME_REF);
                self.bump();
                self.finish();
            }
            K::INT | K::FLOAT | K::CHAR | K::STRING | K::TRUE_KW | K::FALSE_KW => {
                self.start(K::LITERAL);
                self.bump();
                self.finish();
            }
            K::L_PAREN if self.nth(1) == K::R_PAREN && self.is_joined() => {
                self.start(K::LITERAL);
                self.bump();
                self.bump();
                self.finish();
            }
            K::L_PAREN => {
                self.start(K::PAREN);
                self.bump();
                self.required_expression("an expression");
                self.expect(K::R_PAREN, "a `)`");
                self.finish();
            }
            K::L_BRACK => {
                self.start(K::ARRAY);
                self.bump();
                self.items(K::R_BRACK);
                self.finish();
            }
            K::MAP_START => self.map(),
            K::TEMPLATE_START => self.template(),
            K::L_BRACE => self.block(),
            K::IF_KW => self.if_else(),
            K::SWITCH_KW => self.switch(),
            K::WHILE_KW => self.while_loop(),
            K::LOOP_KW => self.endless_loop(),
            K::FOR_KW => self.for_loop(),
            K::DO_KW => self.do_loop(),
            K::PIPE | K::PIPE2 => self.closure(),
            K::EOF => self.missing("an expression is missing"),
            kind if is_stop(kind) => self.missing("an expression is missing"),
            _ => self.unexpected("this is not an expression"),
        }
        false
    }

    fn closure(&mut self) {
        self.start(K::CLOSURE);
        self.start(K::PARAM_LIST);
        if !self.eat(K::PIPE2) {
            self.bump();
            self.params(K::PIPE);
        }
        self.finish();
        if self.is(K::SEMICOLON) {
            // An empty statement.
            self.bump();
        } else if starts_statement(self.peek()) && !matches!(self.peek(), K::FN_KW | K::PRIVATE_KW) {
            let start = self.checkpoint();
            let (kind, _) = self.statement(Level::Block);
            if let Some(kind) = kind {
                self.wrap(start, kind);
            }
        } else {
            self.missing("the body of the closure is missing");
        }
        self.finish();
    }

    fn arguments(&mut self) {
        self.start(K::ARG_LIST);
        self.bump();
        self.items(K::R_PAREN);
        self.finish();
    }

    /// Expressions between commas, and what closes them.
    fn items(&mut self, close: SyntaxKind) {
        loop {
            match self.peek() {
                kind if kind == close => return self.bump(),
                K::COMMA => {
                    self.missing("an expression is missing");
                    self.bump();
                }
                kind if starts_expression(kind) => {
                    let before = self.at;
                    self.expression();
                    if self.at == before {
                        self.unexpected("this is not an expression");
                    }
                    if !self.is(close) && !self.eat(K::COMMA) && starts_expression(self.peek()) {
                        self.missing("a `,` must separate them");
                    }
                }
                kind if is_stop(kind) => return self.missing(closing(close)),
                _ => self.unexpected("this is not an expression"),
            }
        }
    }

    fn map(&mut self) {
        self.start(K::MAP);
        self.bump();
        loop {
            match self.peek() {
                K::R_BRACE => {
                    self.bump();
                    break;
                }
                kind if matches!(kind, K::IDENT | K::STRING | K::RESERVED) || self.nth(1) == K::COLON && kind.is_keyword() => {
                    self.map_entry();
                }
                kind if is_stop(kind) && kind != K::COMMA => {
                    self.missing(closing(K::R_BRACE));
                    break;
                }
                _ => self.unexpected("this is not the key of an entry"),
            }
        }
        self.finish();
    }

    fn map_entry(&mut self) {
        self.start(K::MAP_ENTRY);
        match self.peek() {
            K::IDENT => self.name(),
            K::STRING => {
                self.start(K::LITERAL);
                self.bump();
                self.finish();
            }
            _ => self.unexpected("this word is reserved: quote it"),
        }
        if self.eat(K::COLON) {
            self.required_expression("a value");
        } else {
            self.missing("a `:` and a value");
        }
        self.finish();
        if !self.is(K::R_BRACE) && !self.eat(K::COMMA) && matches!(self.peek(), K::IDENT | K::STRING) {
            self.missing("a `,` must separate them");
        }
    }

    fn template(&mut self) {
        self.start(K::TEMPLATE);
        self.deeper((), |parser| {
            parser.bump();
            loop {
                match parser.peek() {
                    K::TEMPLATE_TEXT => parser.bump(),
                    K::INTERPOLATION_START => {
                        parser.start(K::INTERPOLATION);
                        parser.bump();
                        parser.statements(Level::Block);
                        if !parser.eat(K::INTERPOLATION_END) {
                            parser.missing("a `}` must close this interpolation");
                        }
                        parser.finish();
                    }
                    K::TEMPLATE_END => return parser.bump(),
                    _ => return parser.missing("a backtick must close this template"),
                }
            }
        });
        self.finish();
    }

    fn name(&mut self) {
        match self.peek() {
            K::IDENT => {
                self.start(K::NAME);
                self.bump();
                self.finish();
            }
            K::RESERVED => self.unexpected("this word is reserved"),
            kind if kind.is_keyword()
                && self.is_same_line()
                && !matches!(kind, K::FN_KW | K::PRIVATE_KW | K::IN_KW | K::AS_KW) =>
            {
                self.unexpected("this word is reserved");
            }
            _ => self.missing("a name is missing"),
        }
    }

    fn name_ref(&mut self, what: &str) {
        if matches!(self.peek(), K::IDENT | K::RESERVED) {
            self.start(K::NAME_REF);
            self.bump();
            self.finish();
        } else {
            self.missing(&format!("{what} is missing"));
        }
    }
}

fn range(start: usize, end: usize) -> TextRange {
    let size = |at: usize| TextSize::new(u32::try_from(at).unwrap_or(u32::MAX));
    TextRange::new(size(start), size(end))
}

fn closing(close: SyntaxKind) -> &'static str {
    match close {
        K::R_PAREN => "a `)` is missing",
        K::R_BRACK => "a `]` is missing",
        _ => "a `}` is missing",
    }
}

/// Whether an expression may start with it.
fn starts_expression(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        K::INT
            | K::FLOAT
            | K::CHAR
            | K::STRING
            | K::TRUE_KW
            | K::FALSE_KW
            | K::THIS_KW
            | K::IDENT
            | K::RESERVED
            | K::L_PAREN
            | K::L_BRACK
            | K::L_BRACE
            | K::MAP_START
            | K::TEMPLATE_START
            | K::PIPE
            | K::PIPE2
            | K::MINUS
            | K::PLUS
            | K::BANG
            | K::DOT2
            | K::DOT2_EQ
            | K::IF_KW
            | K::SWITCH_KW
            | K::WHILE_KW
            | K::LOOP_KW
            | K::FOR_KW
            | K::DO_KW
    )
}

/// Whether a case of a `switch` may start with it.
fn starts_case(kind: SyntaxKind) -> bool {
    kind == K::UNDERSCORE || starts_expression(kind)
}

/// Whether a statement may start with it.
fn starts_statement(kind: SyntaxKind) -> bool {
    starts_expression(kind) || is_statement_keyword(kind)
}

fn is_statement_keyword(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        K::LET_KW
            | K::CONST_KW
            | K::RETURN_KW
            | K::THROW_KW
            | K::BREAK_KW
            | K::CONTINUE_KW
            | K::TRY_KW
            | K::IMPORT_KW
            | K::EXPORT_KW
            | K::FN_KW
            | K::PRIVATE_KW
    )
}

/// Whether an unfinished list ends before it.
fn is_stop(kind: SyntaxKind) -> bool {
    is_statement_keyword(kind)
        || matches!(
            kind,
            K::EOF
                | K::SEMICOLON
                | K::COMMA
                | K::R_PAREN
                | K::R_BRACK
                | K::R_BRACE
                | K::INTERPOLATION_END
                | K::TEMPLATE_TEXT
                | K::TEMPLATE_END
                | K::INTERPOLATION_START
                | K::FAT_ARROW
        )
}
