//! The layout of every construct, as a document.
//!
//! The layout follows the text where it has a choice: a list, a block or a chain that its author broke over lines stays broken, one that fits on a
//! line stays there. Rows of several items of a list stay if all of them fit. So formatting a formatted text changes nothing, and formatting any
//! text changes little.

use super::doc::{Doc, DocLayout, Remark, blank, broken, choice, concat, fill_line, group, hard_line, indent, line, lines, text};
use crate::rhai::{RhaiToken, SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken};
use SyntaxKind as K;
use rowan::NodeOrToken;

/// The comment that keeps a statement or a function as it is.
const SKIP: &str = "// fmt: skip";

/// A part of the text in its layouts.
#[derive(Clone)]
struct Part<'t> {
    doc: Doc<'t>,
    /// Broken over lines inside of it, if it can be.
    expanded: Option<Doc<'t>>,
    /// Whether the expanded form is a bracket at the end of a line: it may stay on the line of what is before it.
    hugs: bool,
}

impl<'t> Part<'t> {
    fn new(doc: Doc<'t>) -> Self {
        Self { doc, expanded: None, hugs: false }
    }
}

/// The document of a file without errors.
pub(super) fn document<'t>(source: &'t str, lexemes: &'t [RhaiToken], root: &SyntaxNode) -> Doc<'t> {
    let mut builder = DocBuilder { source, lexemes, claimed: 0 };
    let elements = significant(root);
    builder.statements(&elements, lexemes.len(), true)
}

struct DocBuilder<'t> {
    source: &'t str,
    lexemes: &'t [RhaiToken],
    /// Comments before this byte are in the document.
    claimed: usize,
}

/// The children that are not white space or comments.
fn significant(node: &SyntaxNode) -> Vec<SyntaxElement> {
    node.children_with_tokens().filter(|child| !child.kind().is_trivia()).collect()
}

fn start_of(element: &SyntaxElement) -> usize {
    usize::from(element.text_range().start())
}

fn end_of(element: &SyntaxElement) -> usize {
    usize::from(element.text_range().end())
}

/// The first token that is not a doc comment.
fn first_token(element: &SyntaxElement) -> Option<SyntaxToken> {
    match element {
        NodeOrToken::Token(token) => Some(token.clone()),
        NodeOrToken::Node(node) => {
            node.descendants_with_tokens().filter_map(NodeOrToken::into_token).find(|token| !token.kind().is_trivia())
        }
    }
}

impl<'t> DocBuilder<'t> {
    // ---- trivia

    /// The index of the token that starts at a byte.
    fn index(&self, start: usize) -> usize {
        self.lexemes.partition_point(|lexeme| lexeme.start < start)
    }

    fn slice(&self, lexeme: &RhaiToken) -> &'t str {
        &self.source[lexeme.start..lexeme.end]
    }

    /// The white space and comments before a token.
    fn gap(&self, index: usize) -> &'t [RhaiToken] {
        let lexemes: &'t [RhaiToken] = self.lexemes;
        let start = lexemes[..index].iter().rposition(|lexeme| !lexeme.kind.is_trivia()).map_or(0, |last| last + 1);
        &lexemes[start..index]
    }

    /// Whether a line ends between the element and what is before it.
    fn breaks_before(&self, element: &SyntaxElement) -> bool {
        let index = self.index(start_of(element));
        let gap = self.gap(index).len();
        (index - gap..index).any(|at| {
            let lexeme = &self.lexemes[at];
            if lexeme.kind.is_comment() { self.remark(at).ends_line } else { self.slice(lexeme).contains('\n') }
        })
    }

    /// The comment at an index.
    fn remark(&self, index: usize) -> Remark<'t> {
        let lexeme = &self.lexemes[index];
        let space = |lexeme: Option<&RhaiToken>| {
            lexeme.is_none_or(|lexeme| lexeme.kind == K::WHITESPACE && self.slice(lexeme).contains('\n'))
        };
        let text = self.slice(lexeme).trim_end();
        // A comment of several lines has its own lines.
        let is_long = text.contains('\n');
        let ends_line = is_long || text.starts_with("//") || space(self.lexemes.get(index + 1));
        let own_line = is_long || space(index.checked_sub(1).and_then(|before| self.lexemes.get(before)));
        Remark { text, own_line: own_line && ends_line, ends_line }
    }

    /// The comments at these indices that are not in the document yet, which they now are.
    fn claim(&mut self, range: std::ops::Range<usize>) -> Vec<Remark<'t>> {
        let mut remarks = Vec::new();
        for index in range {
            let lexeme = self.lexemes[index];
            if lexeme.kind.is_comment() && lexeme.start >= self.claimed {
                remarks.push(self.remark(index));
                self.claimed = lexeme.end;
            }
        }
        remarks
    }

    /// The comments after a token on its line.
    fn trailing(&mut self, end: usize) -> Vec<Doc<'t>> {
        self.trailing_remarks(end).into_iter().map(comment).collect()
    }

    fn trailing_remarks(&mut self, end: usize) -> Vec<Remark<'t>> {
        let first = self.index(end);
        let mut last = first;
        while let Some(lexeme) = self.lexemes.get(last).filter(|lexeme| lexeme.kind.is_trivia()) {
            let ends = match lexeme.kind {
                K::WHITESPACE => self.slice(lexeme).contains('\n'),
                kind => kind == K::DOC_COMMENT || self.remark(last).own_line,
            };
            if ends {
                break;
            }
            last += 1;
        }
        self.claim(first..last)
    }

    /// Whether the comment after a statement says to skip it.
    fn is_skipped_after(&self, element: &SyntaxElement) -> bool {
        let after = self.lexemes[self.index(end_of(element))..].iter().take_while(|lexeme| lexeme.kind.is_trivia());
        let mut on_line = after.take_while(|lexeme| lexeme.kind != K::WHITESPACE || !self.slice(lexeme).contains('\n'));
        on_line.any(|lexeme| self.slice(lexeme).trim_end() == SKIP)
    }

    fn token(&mut self, token: &SyntaxToken) -> Doc<'t> {
        let range = usize::from(token.text_range().start())..usize::from(token.text_range().end());
        let index = self.index(range.start);
        let gap = self.gap(index).len();
        let mut parts: Vec<Doc<'t>> = self.claim(index - gap..index).into_iter().map(comment).collect();
        let source = &self.source[range.clone()];
        let doc = if token.kind() == K::STRING && source.starts_with('"') && source.contains('\n') {
            let column = self.source[..range.start].chars().rev().take_while(|char| *char != '\n').count();
            Doc::new(DocLayout::Continued(source, column))
        } else {
            text(source)
        };
        self.claimed = self.claimed.max(range.end);
        if parts.is_empty() {
            return doc;
        }
        parts.push(doc);
        concat(parts)
    }

    // ---- statements

    /// Statements on their own lines, with the comments between them, up to the token of an index.
    fn statements(&mut self, elements: &[SyntaxElement], end: usize, on_lines: bool) -> Doc<'t> {
        let mut parts: Vec<Doc<'t>> = Vec::new();
        for element in elements {
            let index = self.index(start_of(element));
            if element.kind() == K::SEMICOLON && !parts.is_empty() {
                if let NodeOrToken::Token(token) = element {
                    parts.push(self.token(token));
                }
            } else {
                let gap = self.gap(index).len();
                let skip = self.before_statement(index - gap..index, &mut parts, on_lines)
                    || is_skipped(element)
                    || self.is_skipped_after(element);
                parts.push(self.statement(element, skip));
            }
            parts.extend(self.trailing(end_of(element)));
        }
        let gap = self.gap(end).len();
        let first = parts.is_empty();
        self.comments_between(end - gap..end, &mut parts, first);
        concat(parts)
    }

    /// Adds the comments before a statement, and what separates it from the one before it. Returns whether the last comment says to skip it.
    fn before_statement(&mut self, gap: std::ops::Range<usize>, parts: &mut Vec<Doc<'t>>, on_lines: bool) -> bool {
        let first = parts.is_empty();
        let (last, newlines) = self.comments_between(gap, parts, first);
        if !parts.is_empty() {
            match last {
                Some(remark) if !remark.ends_line => {}
                _ if newlines > 1 => parts.push(blank()),
                _ if on_lines => parts.push(hard_line()),
                _ => parts.push(line()),
            }
        }
        last.is_some_and(|remark| remark.text == SKIP)
    }

    /// Adds comments, with the empty lines before them. Returns the last one, and how many lines end after it.
    fn comments_between(
        &mut self,
        gap: std::ops::Range<usize>,
        parts: &mut Vec<Doc<'t>>,
        mut first: bool,
    ) -> (Option<Remark<'t>>, usize) {
        let (mut last, mut newlines) = (None, 0);
        for index in gap {
            let lexeme = self.lexemes[index];
            if lexeme.kind == K::WHITESPACE {
                newlines += self.slice(&lexeme).matches('\n').count();
            } else if lexeme.start >= self.claimed {
                let remark = self.remark(index);
                self.claimed = lexeme.end;
                if !first && newlines > 1 {
                    parts.push(blank());
                } else if !first && newlines > 0 {
                    parts.push(hard_line());
                }
                parts.push(comment(remark));
                (first, last, newlines) = (false, Some(remark), 0);
            } else {
                newlines = 0;
            }
        }
        (last, newlines)
    }

    fn statement(&mut self, element: &SyntaxElement, skip: bool) -> Doc<'t> {
        match element {
            _ if skip => {
                let index = first_token(element).map_or(start_of(element), |token| usize::from(token.text_range().start()));
                let index = self.index(index);
                let gap = self.gap(index).len();
                let mut parts: Vec<Doc<'t>> = self.claim(index - gap..index).into_iter().map(comment).collect();
                let start = self.lexemes[index].start;
                parts.push(text(&self.source[start..end_of(element)]));
                self.claimed = end_of(element);
                concat(parts)
            }
            NodeOrToken::Token(token) => self.token(token),
            NodeOrToken::Node(node) => self.node(node).doc,
        }
    }

    /// The document of a node.
    fn node(&mut self, node: &SyntaxNode) -> Part<'t> {
        match node.kind() {
            K::BLOCK => self.block(node),
            K::IF => self.if_else(node),
            K::WHILE => Part::new(self.while_loop(node)),
            K::LET | K::CONST | K::ASSIGN => Part::new(self.assignment(node)),
            K::SWITCH_ARM_LIST | K::ARG_LIST | K::ARRAY | K::MAP | K::PARAM_LIST => self.list(node),
            K::BINARY => self.binary(node),
            K::METHOD_CALL | K::FIELD | K::INDEX => self.chain(node),
            K::TEMPLATE => {
                let range = node.text_range();
                let index = self.index(usize::from(range.start()));
                let gap = self.gap(index).len();
                let mut parts: Vec<Doc<'t>> = self.claim(index - gap..index).into_iter().map(comment).collect();
                parts.push(text(&self.source[usize::from(range.start())..usize::from(range.end())]));
                self.claimed = usize::from(range.end());
                Part::new(concat(parts))
            }
            K::CLOSURE | K::EXPR_STMT | K::CALL | K::MAP_ENTRY | K::SWITCH_ARM | K::RETURN | K::THROW | K::PAREN | K::UNARY => {
                self.ending(node)
            }
            _ => Part::new(self.spaced(&significant(node))),
        }
    }

    /// The document of a node, and the comments after it on its line.
    fn node_with_comments(&mut self, node: &SyntaxNode) -> Part<'t> {
        let part = self.node(node);
        let comments = self.trailing(usize::from(node.text_range().end()));
        if comments.is_empty() { part } else { Part::new(concat([part.doc, concat(comments)])) }
    }

    fn element(&mut self, element: &SyntaxElement) -> Part<'t> {
        match element {
            NodeOrToken::Node(node) => self.node(node),
            NodeOrToken::Token(token) => Part::new(self.token(token)),
        }
    }

    /// Elements with the spaces between them.
    fn spaced(&mut self, elements: &[SyntaxElement]) -> Doc<'t> {
        let mut parts = Vec::new();
        for (at, element) in elements.iter().enumerate() {
            if at > 0 && self.is_spaced(&elements[at - 1], element) {
                parts.push(text(" "));
            }
            parts.push(self.element(element).doc);
        }
        concat(parts)
    }

    /// As `spaced`, with one part that can be expanded: the last one that can.
    fn ending(&mut self, node: &SyntaxNode) -> Part<'t> {
        let elements = significant(node);
        let mut parts: Vec<Part<'t>> = Vec::new();
        for (at, element) in elements.iter().enumerate() {
            if at > 0 && self.is_spaced(&elements[at - 1], element) {
                parts.push(Part::new(text(" ")));
            }
            parts.push(self.element(element));
        }
        let expandable = parts.iter().rposition(|part| part.expanded.is_some());
        let hugs = expandable.is_some_and(|at| parts[at].hugs);
        // The value of a closure is not broken, unless it starts with a bracket.
        let expandable = expandable.filter(|_| hugs || node.kind() != K::CLOSURE);
        let expanded = expandable.map(|last| {
            concat(parts.iter().enumerate().map(|(at, part)| match &part.expanded {
                Some(expanded) if at == last => expanded.clone(),
                _ => part.doc.clone(),
            }))
        });
        Part { doc: concat(parts.into_iter().map(|part| part.doc)), expanded, hugs }
    }

    fn is_spaced(&self, before: &SyntaxElement, after: &SyntaxElement) -> bool {
        match (before.kind(), after.kind()) {
            (
                _,
                K::SEMICOLON
                | K::COMMA
                | K::R_PAREN
                | K::R_BRACK
                | K::COLON
                | K::COLON2
                | K::DOT
                | K::QUESTION_DOT
                | K::ARG_LIST
                | K::BANG,
            )
            | (K::L_PAREN | K::L_BRACK | K::QUESTION_BRACK | K::COLON2 | K::DOT | K::QUESTION_DOT | K::DOT2 | K::DOT2_EQ, _)
            | (K::NAME, K::PARAM_LIST) => false,
            // A space stays where it changes the meaning: `- 1.abs()`, `- -x`.
            (K::BANG | K::MINUS | K::PLUS, _) if before.parent().is_some_and(|parent| parent.kind() == K::UNARY) => {
                !self.gap(self.index(start_of(after))).is_empty() && self.glues(before, after)
            }
            (_, K::DOT2 | K::DOT2_EQ) => self.source[..end_of(before)].ends_with('.'),
            _ => true,
        }
    }

    /// Whether two tokens would be read as something else without a space between them.
    fn glues(&self, before: &SyntaxElement, after: &SyntaxElement) -> bool {
        let Some(after) = first_token(after) else { return false };
        let joined = format!("{}{}", &self.source[start_of(before)..end_of(before)], after.text());
        let tokens = crate::rhai::tokens(&joined);
        tokens.first().is_none_or(|first| first.end != end_of(before) - start_of(before))
    }

    /// `let x = value`, `x = value`.
    fn assignment(&mut self, node: &SyntaxNode) -> Doc<'t> {
        let elements = significant(node);
        let Some(at) = elements.iter().position(|element| element.kind().is_assignment()) else { return self.spaced(&elements) };
        let value = &elements[at + 1];
        let moved = self.breaks_before(value);
        let mut parts = vec![self.spaced(&elements[..=at])];
        let value = self.element(value).doc;
        let same_line = concat([text(" "), value.clone()]);
        parts.push(if moved && !value.is_multiline() {
            choice(vec![same_line, indent(concat([hard_line(), value]))])
        } else {
            same_line
        });
        parts.push(self.spaced(&elements[at + 2..]));
        concat(parts)
    }

    fn while_loop(&mut self, node: &SyntaxNode) -> Doc<'t> {
        let mut parts = Vec::new();
        for (at, element) in significant(node).iter().enumerate() {
            parts.push(match element {
                NodeOrToken::Node(node) if at == 1 => self.condition(node),
                _ => self.element(element).doc,
            });
        }
        concat(parts)
    }

    /// A condition, with the spaces around it. If its operators are on further lines, so is the `{` after it.
    fn condition(&mut self, node: &SyntaxNode) -> Doc<'t> {
        let joins = node.kind() == K::BINARY && operator(node).is_some_and(|(_, precedence)| precedence <= 60);
        let Some(links) = joins.then(|| self.operands(node)).flatten() else {
            return concat([text(" "), self.node(node).doc, text(" ")]);
        };
        let forced = links.iter().any(|link| link.breaks);
        let mut parts = vec![links[0].part.doc.clone()];
        for link in &links[1..] {
            parts.extend([line(), link.operator.clone(), text(" "), link.part.doc.clone()]);
        }
        let doc = concat([text(" "), indent(concat(parts)), line()]);
        if forced { broken(doc) } else { group(doc) }
    }

    // ---- blocks

    /// A block without a group, and whether its author broke it over lines.
    fn open_block(&mut self, node: &SyntaxNode) -> (Doc<'t>, bool) {
        let elements = significant(node);
        let [open, inner @ .., close] = &elements[..] else { return (self.spaced(&elements), false) };
        let forced = inner.iter().chain([close]).any(|element| self.breaks_before(element));
        let open_doc = self.element(open).doc;
        let mut head = vec![open_doc];
        if forced {
            head.extend(self.trailing(end_of(open)));
        }
        let end = self.index(start_of(close));
        let body = self.statements(inner, end, forced);
        let close = self.element(close).doc;
        if body.is_empty() {
            let empty = head.len() == 1;
            head.extend((!empty).then(hard_line));
            head.push(close);
            return (concat(head), !empty);
        }
        let doc = concat([concat(head), indent(concat([line(), body])), line(), close]);
        (doc, forced)
    }

    fn block(&mut self, node: &SyntaxNode) -> Part<'t> {
        let (doc, forced) = self.open_block(node);
        Part { expanded: Some(broken(doc.clone())), doc: if forced { broken(doc) } else { group(doc) }, hugs: true }
    }

    fn if_else(&mut self, node: &SyntaxNode) -> Part<'t> {
        let is_value = node.parent().is_some_and(|parent| !matches!(parent.kind(), K::BLOCK | K::SCRIPT | K::IF));
        // Every arm: what is before its block, and the block.
        let mut arms: Vec<(Vec<Doc<'t>>, Doc<'t>)> = Vec::new();
        let (mut forced, mut else_breaks) = (false, false);
        let mut head: Vec<Doc<'t>> = Vec::new();
        let mut next = Some(node.clone());
        while let Some(node) = next.take() {
            // The condition, the block, and what follows `else`.
            let mut place = 0;
            for element in significant(&node) {
                match &element {
                    NodeOrToken::Token(token) => {
                        if token.kind() == K::ELSE_KW {
                            else_breaks |= self.breaks_before(&element);
                        } else if !head.is_empty() {
                            head.push(text(" "));
                        }
                        head.push(self.token(token));
                        continue;
                    }
                    NodeOrToken::Node(condition) if place == 0 => head.push(self.condition(condition)),
                    NodeOrToken::Node(inner) if inner.kind() == K::IF => next = Some(inner.clone()),
                    NodeOrToken::Node(block) => {
                        let (block, breaks) = self.open_block(block);
                        forced |= breaks;
                        head.extend((place == 2).then(|| text(" ")));
                        arms.push((std::mem::take(&mut head), block));
                    }
                }
                place += 1;
            }
        }
        let arm_docs: Vec<Doc<'t>> = arms.into_iter().map(|(head, block)| concat([concat(head), block])).collect();
        let mut parts = Vec::new();
        for (at, arm) in arm_docs.iter().enumerate() {
            if at > 0 {
                parts.push(text(" "));
            }
            parts.push(arm.clone());
        }
        let joined = concat(parts);
        if forced {
            return Part { doc: broken(joined.clone()), expanded: Some(broken(joined)), hugs: false };
        }
        let flat: Vec<Doc<'t>> = arm_docs;
        let by_arm = (flat.len() > 1 && (is_value || else_breaks)).then(|| lines(flat, broken(joined.clone())));
        match by_arm {
            Some(by_arm) if else_breaks => Part { doc: by_arm.clone(), expanded: Some(by_arm), hugs: false },
            Some(by_arm) => Part { doc: choice(vec![group(joined), by_arm.clone()]), expanded: Some(by_arm), hugs: false },
            None => Part { doc: group(joined.clone()), expanded: Some(broken(joined)), hugs: false },
        }
    }

    // ---- lists

    fn list(&mut self, node: &SyntaxNode) -> Part<'t> {
        let kind = node.kind();
        let elements = significant(node);
        let [open, inner @ .., close] = &elements[..] else { return Part::new(self.spaced(&elements)) };
        let mut forced = inner.first().is_some_and(|first| self.breaks_before(first));
        let mut head = vec![self.element(open).doc];
        if forced || inner.is_empty() && self.breaks_before(close) {
            head.extend(self.trailing(end_of(open)));
        }
        let mut items: Vec<ListItem<'t>> = Vec::new();
        let mut elements = inner.iter().peekable();
        while let Some(element) = elements.next() {
            let index = self.index(start_of(element));
            let gap = index - self.gap(index).len()..index;
            let (mut lead, mut newlines) = (Vec::new(), self.newlines(gap.clone()));
            if gap.clone().any(|at| self.is_open_comment(at) && self.remark(at).ends_line) {
                forced = true;
                let first = items.is_empty();
                let (last, after) = self.comments_between(gap, &mut lead, first);
                lead.extend(match last {
                    Some(remark) if !remark.ends_line => None,
                    _ if after > 1 => Some(blank()),
                    _ => Some(hard_line()),
                });
                newlines = 1;
            }
            let starts_line = newlines > 0;
            forced |= starts_line;
            let part = self.element(element);
            let mut trail = Vec::new();
            let comma = match elements.peek() {
                Some(NodeOrToken::Token(comma)) if comma.kind() == K::COMMA => {
                    let index = self.index(usize::from(comma.text_range().start()));
                    let gap = self.gap(index).len();
                    trail.extend(self.claim(index - gap..index));
                    let end = usize::from(comma.text_range().end());
                    self.claimed = self.claimed.max(end);
                    elements.next();
                    trail.extend(self.trailing_remarks(end));
                    true
                }
                _ => {
                    trail.extend(self.trailing_remarks(end_of(element)));
                    false
                }
            };
            forced |= trail.iter().any(|remark| remark.ends_line);
            let len = end_of(element) - start_of(element);
            let is_short = matches!(element, NodeOrToken::Node(node) if node.kind() == K::LITERAL);
            let ends_itself =
                kind == K::SWITCH_ARM_LIST && !comma && matches!(element, NodeOrToken::Node(arm) if ends_itself(arm));
            items.push(ListItem {
                lead,
                part,
                trail,
                wants_comma: !ends_itself,
                blank: newlines > 1,
                starts_line,
                is_short,
                is_closure: element.kind() == K::CLOSURE,
                len,
            });
        }
        let end = self.index(start_of(close));
        let gap = self.gap(end).len();
        let mut tail = Vec::new();
        self.comments_between(end - gap..end, &mut tail, items.is_empty() && head.len() == 1);
        forced |= !tail.is_empty() || head.len() > 1;
        let close = self.element(close).doc;
        if kind == K::PARAM_LIST && !forced && open.kind() == K::PIPE {
            // The parameters of a closure stay on a line.
            let mut parts = head;
            for (at, item) in items.into_iter().enumerate() {
                parts.extend((at > 0).then(|| text(", ")));
                parts.push(item.part.doc);
                parts.extend(item.trail.into_iter().map(comment));
            }
            parts.push(close);
            return Part::new(concat(parts));
        }
        if items.is_empty() && tail.is_empty() && head.len() == 1 {
            return Part::new(concat([concat(head), close]));
        }
        list_layouts(kind, forced, &head, &items, tail, &close)
    }

    fn newlines(&self, gap: std::ops::Range<usize>) -> usize {
        gap.map(|at| self.lexemes[at])
            .filter(|lexeme| lexeme.kind == K::WHITESPACE)
            .map(|lexeme| self.slice(&lexeme).matches('\n').count())
            .sum()
    }

    fn is_open_comment(&self, index: usize) -> bool {
        self.lexemes[index].kind.is_comment() && self.lexemes[index].start >= self.claimed
    }

    // ---- operators

    /// The operands of operators of one precedence, which bind to the left.
    fn operands(&mut self, node: &SyntaxNode) -> Option<Vec<ChainOperand<'t>>> {
        if node.kind() != K::BINARY {
            return None;
        }
        let (_, precedence) = operator(node)?;
        // From the outermost to the innermost: the last operand comes first.
        let mut pairs: Vec<(SyntaxElement, SyntaxNode)> = Vec::new();
        let mut current = node.clone();
        loop {
            let (token, _) = operator(&current)?;
            let mut children = current.children();
            let (left, right) = (children.next()?, children.next()?);
            pairs.push((token.clone(), right));
            let continues = left.kind() == K::BINARY
                && token.kind() != K::STAR2
                && operator(&left).is_some_and(|(_, rank)| rank == precedence);
            if !continues {
                let part = self.node_with_comments(&left);
                let mut operands = vec![ChainOperand { operator: text(""), breaks: false, part, precedence }];
                let mut pairs = pairs.into_iter().rev().peekable();
                while let Some((token, right)) = pairs.next() {
                    let is_last = pairs.peek().is_none();
                    let right = NodeOrToken::Node(right);
                    let breaks = self.breaks_before(&token) || self.breaks_before(&right);
                    let operator = self.element(&token).doc;
                    let NodeOrToken::Node(right) = &right else { return None };
                    let part = if is_last { self.node(right) } else { self.node_with_comments(right) };
                    operands.push(ChainOperand { operator, breaks, part, precedence });
                }
                return Some(operands);
            }
            current = left;
        }
    }

    fn binary(&mut self, node: &SyntaxNode) -> Part<'t> {
        let Some(operands) = self.operands(node) else { return Part::new(self.spaced(&significant(node))) };
        let layout = |breaks: &dyn Fn(&ChainOperand<'t>) -> bool, expanded: Option<usize>| {
            let part = |at: usize| match &operands[at].part.expanded {
                Some(doc) if expanded == Some(at) => doc.clone(),
                _ => operands[at].part.doc.clone(),
            };
            let mut rest = Vec::new();
            for (at, operand) in operands.iter().enumerate().skip(1) {
                rest.push(if breaks(operand) { hard_line() } else { text(" ") });
                rest.extend([operand.operator.clone(), text(" "), part(at)]);
            }
            let rest = concat(rest);
            let on_one_line = operands.iter().all(|operand| !breaks(operand));
            concat([part(0), if on_one_line { rest } else { indent(rest) }])
        };
        let spread = layout(&|_| true, None);
        if operands.iter().any(|operand| operand.breaks) {
            return Part::new(choice(vec![layout(&|operand| operand.breaks, None), spread]));
        }
        let mut layouts = vec![layout(&|_| false, None)];
        let last = operands.len() - 1;
        let compares = (90..=130).contains(&operands[0].precedence);
        let mut expanded = None;
        let is_short = |at: usize| operands[at].part.expanded.is_none();
        if compares && is_short(last) && operands[0].part.expanded.is_some() {
            expanded = Some(layout(&|_| false, Some(0)));
        } else if !matches!(operands[0].precedence, 30 | 60) && operands[last].part.expanded.is_some() && (0..last).all(is_short)
        {
            expanded = Some(layout(&|_| false, Some(last)));
        }
        layouts.extend(expanded.clone());
        layouts.push(spread);
        let hugs = expanded.is_some() && operands[last].part.hugs && !compares;
        Part { doc: choice(layouts), expanded, hugs }
    }

    /// A value with the fields, methods and indices after it.
    fn chain(&mut self, node: &SyntaxNode) -> Part<'t> {
        let mut nodes = vec![node.clone()];
        while let Some(inner) = nodes.last().and_then(SyntaxNode::first_child)
            && matches!(inner.kind(), K::METHOD_CALL | K::FIELD | K::INDEX)
        {
            nodes.push(inner);
        }
        let Some(base) = nodes.last().and_then(SyntaxNode::first_child) else {
            return Part::new(self.spaced(&significant(node)));
        };
        let base = self.node_with_comments(&base);
        let mut links = Vec::new();
        for (at, node) in nodes.iter().enumerate().rev() {
            let is_last = at == 0;
            let elements = significant(node);
            let breaks = node.kind() != K::INDEX && self.breaks_before(&elements[1]);
            let mut docs = Vec::new();
            let (mut expanded, mut hugs) = (None, false);
            for (at, element) in elements.iter().enumerate().skip(1) {
                let part = self.element(element);
                if at + 1 == elements.len() && node.kind() == K::METHOD_CALL {
                    expanded = part.expanded.map(|doc| concat([concat(docs.iter().cloned()), doc]));
                    hugs = part.hugs;
                }
                docs.push(part.doc);
            }
            let comments = if is_last { Vec::new() } else { self.trailing(usize::from(node.text_range().end())) };
            if !comments.is_empty() {
                expanded = None;
                docs.extend(comments);
            }
            let is_call = node.kind() == K::METHOD_CALL;
            links.push(ChainLink { part: Part { doc: concat(docs), expanded, hugs }, breaks, is_call });
        }
        let layout = |breaks: &dyn Fn(usize) -> bool, expanded: Option<usize>| {
            let part = |at: usize| match &links[at].part.expanded {
                Some(doc) if expanded == Some(at) => doc.clone(),
                _ => links[at].part.doc.clone(),
            };
            let first = (0..links.len()).find(|at| breaks(*at)).unwrap_or(links.len());
            let head = concat((0..first).map(part));
            let mut rest = Vec::new();
            for at in first..links.len() {
                if breaks(at) {
                    rest.push(hard_line());
                }
                rest.push(part(at));
            }
            concat([base.doc.clone(), head, if rest.is_empty() { concat(rest) } else { indent(concat(rest)) }])
        };
        let spread = layout(&|at| links[at].is_call, None);
        if links.iter().any(|link| link.breaks) {
            return Part::new(choice(vec![layout(&|at| links[at].breaks, None), spread]));
        }
        let calls = links.iter().filter(|link| link.is_call).count();
        let mut layouts = vec![layout(&|_| false, None)];
        let last = links.len() - 1;
        let mut expanded: Vec<Doc<'t>> = Vec::new();
        let single = links[..last].iter().all(|link| !link.part.doc.is_multiline()) && !base.doc.is_multiline();
        let hugs = links[last].part.hugs && single;
        if hugs {
            expanded.push(layout(&|_| false, Some(last)));
        }
        if calls > 1 {
            expanded.push(spread.clone());
        }
        if !hugs && single && links[last].part.expanded.is_some() {
            expanded.push(layout(&|_| false, Some(last)));
        } else if calls == 0
            && let Some(base) = &base.expanded
        {
            expanded.push(concat([base.clone(), concat(links.iter().map(|link| link.part.doc.clone()))]));
        }
        if calls == 1
            && let Some(base) = &base.expanded
        {
            expanded.push(concat([base.clone(), concat(links.iter().map(|link| link.part.doc.clone()))]));
        }
        layouts.extend(expanded.iter().cloned());
        let expanded = (!expanded.is_empty()).then(|| choice(expanded));
        Part { doc: choice(layouts), expanded, hugs }
    }
}

/// A list in its layouts: on one line, with its last item broken over lines, with every item on its own line.
fn list_layouts<'t>(
    kind: SyntaxKind,
    forced: bool,
    head: &[Doc<'t>],
    items: &[ListItem<'t>],
    tail: Vec<Doc<'t>>,
    close: &Doc<'t>,
) -> Part<'t> {
    let padding = if matches!(kind, K::MAP | K::SWITCH_ARM_LIST) { text(" ") } else { text("") };
    let flat = |last_expanded: bool| {
        let mut parts = vec![concat(head.iter().cloned()), padding.clone()];
        for (at, item) in items.iter().enumerate() {
            let is_last = at + 1 == items.len();
            let doc = if is_last && last_expanded { item.part.expanded.clone() } else { None };
            parts.push(doc.unwrap_or_else(|| item.part.doc.clone()));
            if !is_last && item.wants_comma {
                parts.push(text(","));
            }
            parts.extend(item.trail.iter().copied().map(comment));
            if !is_last {
                parts.push(text(" "));
            }
        }
        parts.extend([padding.clone(), close.clone()]);
        concat(parts)
    };
    let fills = kind == K::ARRAY && items.len() > 3 && items.iter().all(|item| item.is_short);
    let author_rows = if forced && !fills && tail.is_empty() { author_rows(items) } else { None };
    let mut rows = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let row = concat([item.part.doc.clone(), text(if item.wants_comma { "," } else { "" })]);
        if !item.lead.is_empty() {
            // The comments have the empty lines before them.
            rows.push(hard_line());
            rows.extend(item.lead.iter().cloned());
        } else if at > 0 && item.blank {
            rows.push(blank());
        } else if at > 0 && if forced { !item.starts_line && author_rows.is_none() } else { fills } {
            rows.push(fill_line(row.clone()));
        } else {
            rows.push(hard_line());
        }
        rows.push(row);
        rows.extend(item.trail.iter().copied().map(comment));
    }
    if !tail.is_empty() {
        rows.push(hard_line());
        rows.extend(tail);
    }
    let rows = indent(concat(rows));
    let rows = author_rows.map_or(rows.clone(), |by_author| lines(by_author, rows));
    let spread = broken(concat([concat(head.iter().cloned()), rows, hard_line(), close.clone()]));
    let is_bracket = kind != K::ARG_LIST;
    if forced {
        return Part { doc: spread.clone(), expanded: Some(spread), hugs: is_bracket };
    }
    let hugs = |last: &ListItem<'t>, others: &[ListItem<'t>]| match kind {
        // A long list of arguments is clearer on lines of its own, unless a closure comes last.
        K::ARG_LIST => {
            last.part.hugs && (last.is_closure || others.iter().map(|item| item.len).sum::<usize>() <= 40) || items.len() == 1
        }
        K::ARRAY => last.part.hugs && items.len() == 1,
        _ => false,
    };
    if let [only] = items
        && only.part.expanded.is_none()
        && only.len > super::WIDTH - 12
    {
        // A long text does not fit on a line of its own either.
        return Part { doc: choice(vec![flat(false)]), expanded: None, hugs: false };
    }
    let mut layouts = vec![flat(false)];
    let mut expanded = Vec::new();
    if let Some((last, others)) = items.split_last()
        && hugs(last, others)
        && last.part.expanded.is_some()
        && !others.iter().any(|item| item.part.doc.is_multiline())
    {
        expanded.push(flat(true));
    }
    let hugs = is_bracket || items.last().is_some_and(|last| last.part.hugs) && !expanded.is_empty();
    expanded.push(spread);
    layouts.extend(expanded.iter().cloned());
    Part { doc: choice(layouts), expanded: Some(choice(expanded)), hugs }
}

/// The author's rows of several items, after an empty part for the line of the opening bracket; `None` if a comment, an empty line or an item of
/// several lines is among them.
fn author_rows<'t>(items: &[ListItem<'t>]) -> Option<Vec<Doc<'t>>> {
    let is_plain =
        |item: &ListItem<'t>| item.lead.is_empty() && item.trail.is_empty() && !item.blank && !item.part.doc.is_multiline();
    if !items.iter().all(is_plain) || items.iter().skip(1).all(|item| item.starts_line) {
        return None;
    }
    let mut rows = vec![text("")];
    for row in items.chunk_by(|_, next| !next.starts_line) {
        let mut parts = Vec::new();
        for item in row {
            parts.extend((!parts.is_empty()).then(|| text(" ")));
            parts.extend([item.part.doc.clone(), text(if item.wants_comma { "," } else { "" })]);
        }
        rows.push(concat(parts));
    }
    Some(rows)
}

/// An item of a list.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about it")]
struct ListItem<'t> {
    /// The comments on the lines before it.
    lead: Vec<Doc<'t>>,
    part: Part<'t>,
    /// The comments after it on its line.
    trail: Vec<Remark<'t>>,
    /// Whether a comma follows, unless it is the last item on a line.
    wants_comma: bool,
    /// Whether an empty line precedes it.
    blank: bool,
    starts_line: bool,
    /// Whether several such items fit on a line.
    is_short: bool,
    is_closure: bool,
    /// The bytes of its text.
    len: usize,
}

/// An operand, and the operator before it.
struct ChainOperand<'t> {
    operator: Doc<'t>,
    /// Whether a line ends before or after the operator.
    breaks: bool,
    part: Part<'t>,
    precedence: u8,
}

/// A field, a method call or an index.
struct ChainLink<'t> {
    part: Part<'t>,
    /// Whether it is on a new line.
    breaks: bool,
    is_call: bool,
}

fn comment(remark: Remark<'_>) -> Doc<'_> {
    Doc::new(DocLayout::Comment(remark))
}

/// The operator of a binary expression, and its precedence.
fn operator(node: &SyntaxNode) -> Option<(SyntaxElement, u8)> {
    node.children_with_tokens().find_map(|child| child.kind().precedence().map(|precedence| (child, precedence)))
}

/// Whether the value of a case needs no comma after it.
fn ends_itself(arm: &SyntaxNode) -> bool {
    arm.children()
        .last()
        .is_some_and(|value| matches!(value.kind(), K::BLOCK | K::IF | K::SWITCH | K::WHILE | K::LOOP | K::FOR | K::TRY))
}

/// Whether a comment inside of the function, before `fn`, says to skip it.
fn is_skipped(element: &SyntaxElement) -> bool {
    let NodeOrToken::Node(node) = element else { return false };
    node.kind() == K::FN
        && node
            .children_with_tokens()
            .take_while(|child| child.kind().is_trivia())
            .any(|child| matches!(child, NodeOrToken::Token(token) if token.text() == SKIP))
}
