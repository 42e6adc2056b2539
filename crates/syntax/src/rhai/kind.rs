//! The kinds of nodes and tokens.

/// Defines the enum and the table of all its values.
macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident,)*) => {
        /// The kind of a node or a token of a Rhai syntax tree.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(non_camel_case_types, reason = "the convention of syntax trees built with rowan")]
        #[repr(u16)]
        pub enum SyntaxKind { $($(#[$meta])* $kind,)* }

        impl SyntaxKind {
            /// All kinds, in the order of their numbers.
            pub(crate) const ALL: &[Self] = &[$(Self::$kind,)*];
        }
    };
}

kinds! {
    // ---- trivia
    /// Spaces, tabs and line ends.
    WHITESPACE,
    /// `// ...`, without its line end.
    LINE_COMMENT,
    /// `/* ... */`, which may be nested.
    BLOCK_COMMENT,
    /// `/// ...`, `/** ... */` of a function, `//! ...` of a file.
    DOC_COMMENT,

    // ---- literals and names
    /// `42`, `1_000`, `0xff`; with its sign where Rhai's lexer reads one.
    INT,
    /// `1.5`, `1e5`.
    FLOAT,
    /// `'x'`.
    CHAR,
    /// `"..."` or a raw string, `#"..."#`.
    STRING,
    /// The opening backtick of a template.
    TEMPLATE_START,
    /// Text of a template.
    TEMPLATE_TEXT,
    /// The closing backtick of a template.
    TEMPLATE_END,
    /// `${` in a template.
    INTERPOLATION_START,
    /// The `}` of an interpolation.
    INTERPOLATION_END,
    /// A name.
    IDENT,
    /// A word that Rhai reserves: some can be called (`type_of(x)`, `f.call()`), none can be a variable or a field.
    RESERVED,
    /// A character, or a reserved symbol, that no script can contain.
    UNKNOWN,

    // ---- punctuation
    L_PAREN,
    R_PAREN,
    L_BRACK,
    R_BRACK,
    L_BRACE,
    R_BRACE,
    /// `#{`.
    MAP_START,
    COMMA,
    SEMICOLON,
    COLON,
    /// `::`.
    COLON2,
    DOT,
    /// `?.`.
    QUESTION_DOT,
    /// `?[`.
    QUESTION_BRACK,
    /// `=>`.
    FAT_ARROW,
    UNDERSCORE,
    /// `=`.
    EQ,
    PLUS_EQ,
    MINUS_EQ,
    STAR_EQ,
    SLASH_EQ,
    PERCENT_EQ,
    STAR2_EQ,
    SHL_EQ,
    SHR_EQ,
    AMP_EQ,
    PIPE_EQ,
    CARET_EQ,
    /// `||`.
    PIPE2,
    PIPE,
    CARET,
    /// `&&`.
    AMP2,
    AMP,
    /// `==`.
    EQ2,
    /// `!=`.
    NEQ,
    LT,
    GT,
    LT_EQ,
    GT_EQ,
    /// `??`.
    QUESTION2,
    /// `..`.
    DOT2,
    /// `..=`.
    DOT2_EQ,
    PLUS,
    MINUS,
    STAR,
    SLASH,
    PERCENT,
    /// `**`.
    STAR2,
    SHL,
    SHR,
    BANG,
    /// `!in`.
    NOT_IN,

    // ---- keywords
    TRUE_KW,
    FALSE_KW,
    LET_KW,
    CONST_KW,
    IF_KW,
    ELSE_KW,
    SWITCH_KW,
    DO_KW,
    WHILE_KW,
    UNTIL_KW,
    LOOP_KW,
    FOR_KW,
    IN_KW,
    CONTINUE_KW,
    BREAK_KW,
    RETURN_KW,
    THROW_KW,
    TRY_KW,
    CATCH_KW,
    FN_KW,
    PRIVATE_KW,
    IMPORT_KW,
    EXPORT_KW,
    AS_KW,
    THIS_KW,
    /// The end of the text: never in a tree.
    EOF,

    // ---- nodes: the root
    /// A file.
    SCRIPT,
    /// The statements of a condition.
    EXPRESSION,

    // ---- nodes: statements
    /// `import "path" as name;`
    IMPORT,
    /// `export name as other;`, or with a `LET` or `CONST` inside.
    EXPORT,
    /// A function with its doc comments: `private fn name(params) { ... }`.
    FN,
    /// The parameters of a function or a closure, with their parentheses or bars.
    PARAM_LIST,
    PARAM,
    BLOCK,
    LET,
    CONST,
    /// An expression, or an `ASSIGN`, as a statement.
    EXPR_STMT,
    /// `place = value`, `place += value`.
    ASSIGN,
    /// `if ... { } else { }`, as a statement or an expression.
    IF,
    SWITCH,
    /// The arms of a `SWITCH`, with their braces.
    SWITCH_ARM_LIST,
    /// `a | b if guard => value`, without its comma.
    SWITCH_ARM,
    WHILE,
    LOOP,
    /// `do { } while ...` or `until ...`.
    DO,
    FOR,
    RETURN,
    BREAK,
    CONTINUE,
    THROW,
    TRY,

    // ---- nodes: expressions
    BINARY,
    UNARY,
    /// `a..b`, `a..=b`; either side may be absent.
    RANGE,
    /// `name(...)`, `path::name(...)`, `name!(...)`.
    CALL,
    ARG_LIST,
    /// `value.name(...)`, `value?.name(...)`.
    METHOD_CALL,
    /// `value.name`, `value?.name`.
    FIELD,
    /// `value[index]`, `value?[index]`.
    INDEX,
    /// `a::b`: a `NAME_REF` per segment.
    PATH,
    /// A name where it is defined: of a function, parameter, variable, import.
    NAME,
    /// A name where it is used.
    NAME_REF,
    /// A number, character, string, `true`, `false` or `()`.
    LITERAL,
    /// A backtick string.
    TEMPLATE,
    /// `${ ... }` in a `TEMPLATE`.
    INTERPOLATION,
    ARRAY,
    MAP,
    MAP_ENTRY,
    /// `|params| body`.
    CLOSURE,
    PAREN,
    /// What is wrong; empty if something is missing.
    ERROR,
}

impl SyntaxKind {
    /// Whether it is white space or a comment.
    pub const fn is_trivia(self) -> bool {
        matches!(self, Self::WHITESPACE | Self::LINE_COMMENT | Self::BLOCK_COMMENT | Self::DOC_COMMENT)
    }

    /// Whether it is a comment of any form.
    pub const fn is_comment(self) -> bool {
        matches!(self, Self::LINE_COMMENT | Self::BLOCK_COMMENT | Self::DOC_COMMENT)
    }

    /// Whether it is a keyword.
    pub fn is_keyword(self) -> bool {
        (Self::TRUE_KW..=Self::THIS_KW).contains(&self)
    }

    /// Whether it is a token, not a node.
    pub fn is_token(self) -> bool {
        self <= Self::EOF
    }

    /// Whether it is `=`, or an operator that assigns.
    pub fn is_assignment(self) -> bool {
        (Self::EQ..=Self::CARET_EQ).contains(&self)
    }

    /// The precedence of a binary operator, as in Rhai: operators of higher numbers bind more tightly.
    pub const fn precedence(self) -> Option<u8> {
        Some(match self {
            Self::PIPE2 | Self::CARET | Self::PIPE => 30,
            Self::AMP2 | Self::AMP => 60,
            Self::EQ2 | Self::NEQ => 90,
            Self::IN_KW | Self::NOT_IN => 110,
            Self::LT | Self::LT_EQ | Self::GT | Self::GT_EQ => 130,
            Self::QUESTION2 => 135,
            Self::DOT2 | Self::DOT2_EQ => 140,
            Self::PLUS | Self::MINUS => 150,
            Self::SLASH | Self::STAR | Self::PERCENT => 180,
            Self::STAR2 => 190,
            Self::SHL | Self::SHR => 210,
            _ => return None,
        })
    }

    /// Whether Rhai's lexer reads a `-` and a digit after this token as one negative number.
    pub(crate) const fn precedes_sign(self) -> bool {
        matches!(
            self,
            Self::SEMICOLON
                | Self::COLON
                | Self::COMMA
                | Self::QUESTION2
                | Self::DOT2
                | Self::DOT2_EQ
                | Self::L_BRACE
                | Self::INTERPOLATION_START
                | Self::L_PAREN
                | Self::L_BRACK
                | Self::PLUS
                | Self::PLUS_EQ
                | Self::MINUS
                | Self::MINUS_EQ
                | Self::STAR
                | Self::STAR_EQ
                | Self::SLASH
                | Self::SLASH_EQ
                | Self::PERCENT
                | Self::PERCENT_EQ
                | Self::STAR2
                | Self::STAR2_EQ
                | Self::SHL
                | Self::SHL_EQ
                | Self::SHR
                | Self::SHR_EQ
                | Self::EQ
                | Self::EQ2
                | Self::NEQ
                | Self::LT
                | Self::GT
                | Self::BANG
                | Self::LT_EQ
                | Self::GT_EQ
                | Self::PIPE
                | Self::AMP
                | Self::IF_KW
                | Self::WHILE_KW
                | Self::UNTIL_KW
                | Self::IN_KW
                | Self::NOT_IN
                | Self::AMP2
                | Self::AMP_EQ
                | Self::PIPE2
                | Self::PIPE_EQ
                | Self::CARET
                | Self::CARET_EQ
                | Self::RETURN_KW
                | Self::THROW_KW
                | Self::QUESTION_BRACK
        )
    }
}
