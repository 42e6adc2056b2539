//! Tests of the formatter: examples, and properties of generated scripts.

use super::super::corpus::scripts;
use super::super::{parse_file, tokens};
use super::format_rhai;
use crate::format::{FormatError, FormatLanguage, apply, edits, format_range};

/// Asserts that a text is formatted as expected, and that formatting it again changes nothing.
#[track_caller]
fn formats(before: &str, after: &str) {
    let formatted = format_rhai(before).unwrap_or_else(|error| panic!("{error:?}: {before}"));
    assert_eq!(formatted, after, "{formatted}");
    assert_eq!(format_rhai(after).as_deref(), Ok(after));
}

#[test]
fn spaces_are_normalised() {
    formats(
        "import   \"lib/a\"  as a ;\nfn  f( a,b ){let x=a+b*2;x.y [ 0 ]+=-1;if  !x{return[1,2,];}lib :: g (x)}",
        "import \"lib/a\" as a;\nfn f(a, b) { let x = a + b * 2; x.y[0] += -1; if !x { return [1, 2]; } lib::g(x) }\n",
    );
    formats("let m=#{a:1,\"b\":#{},};", "let m = #{ a: 1, \"b\": #{} };\n");
    formats("let f=|x ,y|x..y;let g=||();", "let f = |x, y| x..y;\nlet g = || ();\n");
    formats("for(x,i)in 0 .. 3{ }", "for (x, i) in 0..3 {}\n");
    formats("switch x{1|2 if y=>a,_=>{}}", "switch x { 1 | 2 if y => a, _ => {} }\n");
    formats("try{a();}catch( e ){throw  e;}", "try { a(); } catch (e) { throw e; }\n");
    formats("do{a()}while x;loop{break 1;}", "do { a() } while x;\nloop { break 1; }\n");
    formats("let s = `a ${ b  +c }`;", "let s = `a ${ b  +c }`;\n");
    formats("let x = - 1.abs() - -y + - -z; let y = ! !a;", "let x = - 1.abs() - -y + - -z;\nlet y = !!a;\n");
    formats("f ! ( x ) ; a ?. b ?[ 0 ] ?? c", "f!(x);\na?.b?[0] ?? c\n");
    formats("export  const A=1;private fn f ( ) { A }", "export const A = 1;\nprivate fn f() { A }\n");
}

#[test]
fn layout_follows_the_author() {
    for text in [
        "fn f(x) {\n    if x { return 1; }\n\n    let y = #{\n        a: 1, b: 2,\n        c: 3,\n    };\n    y\n}\n",
        "fn f(x) {\n    x\n        && y\n        || z\n}\n",
        "let x = y.filter(|a| a.b)\n    .map(|a| a.c);\n",
        "let x = [\n    aaa, bbb,\n    ccc, ddd,\n];\n",
        "table([\n    [1, 2],\n    [3, 4], [5, 6],\n], |row| {\n    check(row);\n});\n",
        "let x = if a { b }\n    else if c { d }\n    else { e };\n",
        "if x {\n    a();\n} else {\n    b();\n}\n",
        "switch x {\n    1 => a,\n    2 => {\n        b();\n    }\n    _ => c,\n}\n",
        "let x = [#{ a: 1, b: [\n    1,\n] }];\n",
        "while a\n    && b\n{\n    c();\n}\n",
    ] {
        formats(text, text);
    }
}

#[test]
fn long_lines_are_broken() {
    let name = "a_name_that_is_rather_long_for_a_line";
    formats(
        &format!("fn f() {{\n    {name}({name}, {name}, {name}, {name});\n}}\n"),
        &format!("fn f() {{\n    {name}(\n        {name},\n        {name},\n        {name},\n        {name},\n    );\n}}\n"),
    );
    formats(&format!("let x = {name} && {name} || {name};\n"), &format!("let x = {name} && {name}\n    || {name};\n"));
    formats(
        &format!("let x = {name}.{name}(1).{name}(2).{name}(3);\n"),
        &format!("let x = {name}\n    .{name}(1)\n    .{name}(2)\n    .{name}(3);\n"),
    );
    formats(
        &format!("let x = {name}.map(|{name}| {{ let y = {name}; y + {name} }});\n"),
        &format!("let x = {name}.map(|{name}| {{\n    let y = {name};\n    y + {name}\n}});\n"),
    );
    formats(
        &format!("if {name} {{ return {name}; }} else {{ {name} + {name} }}\n"),
        &format!("if {name} {{\n    return {name};\n}} else {{\n    {name} + {name}\n}}\n"),
    );
    formats(
        &format!("let x = #{{ a: {name}, b: {name}, c: {name}, d: 1 }};\n"),
        &format!("let x = #{{\n    a: {name},\n    b: {name},\n    c: {name},\n    d: 1,\n}};\n"),
    );
    let text = "long ".repeat(40);
    formats(&format!("let x = \"{text}\";\n"), &format!("let x = \"{text}\";\n"));
}

#[test]
fn comments_keep_their_places() {
    for text in [
        "//! File.\n\n// Note.\nlet x = 1; // why\n\n/* block */\nlet y = 2;\n",
        "fn f() {\n    // first\n    a(); // after a\n\n    // before b\n    b();\n    // last\n}\n",
        "let x = [\n    // one\n    1, // is odd\n    2,\n\n    // three\n    3,\n    // last\n];\n",
        "switch x { // open\n    // one\n    1 => a, // after\n    _ => b,\n}\n",
        "f(/* a */ x, y /* b */);\n",
        "if x { // why\n    a();\n} else {\n    // nothing\n}\n",
        "let x = a // why\n    + b;\n",
        "/// Doc.\n///\n/// More.\nfn f() {}\n",
        "fn f(\n    a, // first\n    b,\n) {}\n",
    ] {
        formats(text, text);
    }
    formats("f(x // why\n, y);", "f(\n    x, // why\n    y,\n);\n");
    formats("let x = /* a */ 1 /* b */ ;\n\n\n\n//c\n\n\n", "let x = /* a */ 1 /* b */;\n\n//c\n");
}

#[test]
fn skipped_code_stays() {
    for text in [
        "// fmt: skip\nlet m = [1,0,\n         0,1];\nlet x = 1;\n",
        "fn f() {\n    let m = [1,  2]; // fmt: skip\n    m\n}\n",
        "/// Doc.\n// fmt: skip\nfn  f( ) {  }\n",
    ] {
        formats(text, text);
    }
}

#[test]
fn strings_keep_their_text() {
    // Rhai skips the white space of a continued line up to the column of the string.
    formats("fn f() {\n  let s = \"a \\\n             b\";\n}\n", "fn f() {\n    let s = \"a \\\n               b\";\n}\n");
    formats("  #\"a\n  b\"#;\n    `c\n  d`", "#\"a\n  b\"#;\n`c\n  d`\n");
    formats("let x = 1;\r\nlet  y = 2;\r\n", "let x = 1;\r\nlet y = 2;\r\n");
}

#[test]
fn errors_say_where() {
    assert!(matches!(format_rhai("let x = ;"), Err(FormatError::Syntax { start: 7, end: 7, .. })));
    assert_eq!(format_rhai(""), Ok(String::new()));
    assert_eq!(format_rhai("\n\n"), Ok(String::new()));
}

#[test]
fn a_range_is_formatted_with_its_statements() {
    let text = "let a=1;\nfn f() {\n    let b=2;\n    let c=3;\n    let d=4;\n}\nlet e=5;\n";
    let at = text.find("c=").expect("there");
    let found = format_range(FormatLanguage::Rhai, text, at..at + 1).expect("formats");
    assert_eq!(apply(text, &found), text.replace("c=3", "c = 3"));
    let found = format_range(FormatLanguage::Rhai, text, 0..1).expect("formats");
    assert_eq!(apply(text, &found), text.replace("a=1", "a = 1"));
    let whole = format_range(FormatLanguage::Rhai, text, 0..text.len()).expect("formats");
    assert_eq!(apply(text, &whole), format_rhai(text).expect("formats"));
}

#[test]
fn scripts_are_formatted_once_and_for_all() {
    for (path, text) in scripts() {
        let once = format_rhai(&text).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
        assert_eq!(format_rhai(&once).as_deref(), Ok(&*once), "{}", path.display());
        assert_eq!(apply(&text, &edits(&text, &once)), once);
        assert!(!once.lines().any(|line| line.ends_with(' ') && !text.contains(line)), "{}", path.display());
    }
}

#[test]
fn generated_scripts_are_formatted_once_and_for_all() {
    for seed in 0..2000 {
        let text = Generator::script(seed);
        assert_eq!(parse_file(&text).errors(), [], "seed {seed}: {text}");
        let once = format_rhai(&text).unwrap_or_else(|error| {
            let place = if let FormatError::Changed { place } = error { place } else { 0 };
            let (before, after) =
                (text[..place].chars().rev().take(200).collect::<String>(), text[place..].chars().take(100).collect::<String>());
            panic!("seed {seed}: {error:?}: {}<HERE>{after}", before.chars().rev().collect::<String>())
        });
        let twice = format_rhai(&once).unwrap_or_else(|error| panic!("seed {seed}: {error:?}\n{once}"));
        assert_eq!(once, twice, "seed {seed}: {text}\n---- once\n{once}\n---- twice\n{twice}");
        let comments = |text: &str| {
            let found = tokens(text).into_iter().filter(|token| token.kind.is_comment());
            found.map(|token| text[token.start..token.end].trim_end().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(comments(&text), comments(&once), "seed {seed}");
    }
}

/// Writes random scripts with random layouts, and comments anywhere.
struct Generator {
    state: u64,
    out: String,
    comments: usize,
}

impl Generator {
    fn script(seed: u64) -> String {
        let mut generator = Self { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, out: String::new(), comments: 0 };
        for _ in 0..=generator.below(2) {
            generator.item();
        }
        generator.space();
        generator.out
    }

    fn below(&mut self, count: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % count
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        let at = self.below(items.len() as u64);
        items[usize::try_from(at).expect("small")]
    }

    /// White space, with a comment now and then.
    fn space(&mut self) {
        for _ in 0..=self.below(2) {
            let space = self.pick(&[" ", " ", " ", "  ", "\n", "\n    ", "\n\n", "\n\n\n  ", "\t"]);
            self.out.push_str(space);
        }
        if self.below(14) == 0 {
            self.comments += 1;
            let comment = match self.below(4) {
                0 => format!("/* c{} */", self.comments),
                1 => format!("/* c{}\n   more */", self.comments),
                _ => format!("// c{}  \n", self.comments),
            };
            self.out.push_str(&comment);
            self.space();
        }
    }

    fn put(&mut self, tokens: &[&str]) {
        for token in tokens {
            self.space();
            self.out.push_str(token);
        }
    }

    fn item(&mut self) {
        match self.below(3) {
            0 => {
                if self.below(2) == 0 {
                    self.out.push_str("\n/// Doc.\n");
                }
                let open = self.pick(&["fn", "private fn"]);
                self.put(&[open]);
                let name = format!("f{}", self.out.len());
                self.put(&[&name, "("]);
                for at in 0..self.below(4) {
                    self.put(&[&format!("p{at}"), ","]);
                }
                self.put(&[")"]);
                self.block(2);
            }
            1 => self.put(&["import", "\"lib/x\"", "as", "x", ";"]),
            _ => self.statement(2),
        }
    }

    fn block(&mut self, depth: u64) {
        self.put(&["{"]);
        for _ in 0..self.below(4) {
            self.statement(depth);
        }
        if self.below(2) == 0 {
            self.statement_value(depth);
        }
        self.put(&["}"]);
    }

    /// A value that does not start with `if`, which would be a statement.
    fn statement_value(&mut self, depth: u64) {
        let start = self.pick(&["z", "f(1)", "\"s\"", "[]"]);
        self.put(&[start, "+"]);
        self.value(depth);
    }

    fn statement(&mut self, depth: u64) {
        if depth == 0 {
            self.put(&["go_on", "(", ")", ";"]);
            return;
        }
        let depth = depth - 1;
        match self.below(12) {
            0 | 1 => {
                let keyword = self.pick(&["let", "const"]);
                self.put(&[keyword, "x", "="]);
                self.value(depth);
                self.put(&[";"]);
            }
            2 => {
                let operator = self.pick(&["=", "+=", "**="]);
                self.put(&["x", ".", "y", operator]);
                self.value(depth);
                self.put(&[";"]);
            }
            3 | 4 => self.if_else(depth),
            5 => {
                self.put(&["for", "x", "in"]);
                self.operand(depth);
                self.block(depth);
            }
            6 => {
                self.put(&["while"]);
                self.value(depth);
                self.block(depth);
            }
            7 => self.switch(depth),
            8 => {
                self.put(&["return"]);
                self.value(depth);
                self.put(&[";"]);
            }
            9 => {
                self.put(&["try"]);
                self.block(depth);
                self.put(&["catch", "(", "e", ")"]);
                self.block(depth);
            }
            _ => {
                self.statement_value(depth);
                self.put(&[";"]);
            }
        }
    }

    fn if_else(&mut self, depth: u64) {
        self.put(&["if"]);
        self.value(depth);
        self.block(depth);
        while self.below(3) == 0 {
            self.put(&["else", "if"]);
            self.value(depth);
            self.block(depth);
        }
        if self.below(2) == 0 {
            self.put(&["else"]);
            self.block(depth);
        }
    }

    fn switch(&mut self, depth: u64) {
        self.put(&["switch"]);
        self.operand(depth);
        self.put(&["{"]);
        for at in 0..self.below(4) {
            self.put(&[&at.to_string()]);
            if self.below(3) == 0 {
                self.put(&["|", "\"s\""]);
            }
            self.put(&["=>"]);
            if self.below(3) == 0 {
                self.block(depth);
                if self.below(2) == 0 {
                    self.put(&[","]);
                }
            } else {
                self.statement_value(depth);
                self.put(&[","]);
            }
        }
        if self.below(2) == 0 {
            self.put(&["_", "=>"]);
            self.operand(depth);
        }
        self.put(&["}"]);
    }

    fn value(&mut self, depth: u64) {
        self.operand(depth);
        for _ in 0..self.below(4) {
            let operator = self.pick(&["+", "-", "*", "&&", "||", "==", "<", "in", "??", "**", "!in"]);
            self.put(&[operator]);
            self.operand(depth);
        }
    }

    fn operand(&mut self, depth: u64) {
        if depth == 0 || self.below(3) == 0 {
            let leaf = self.pick(&[
                "x",
                "a_long_name_of_something",
                "1",
                "1.5",
                "\"a text of some length\"",
                "true",
                "'c'",
                "`t ${x + 1}`",
                "()",
                "-y",
            ]);
            self.put(&[leaf]);
            return;
        }
        let depth = depth - 1;
        match self.below(9) {
            0 => self.list("[", "]", depth),
            1 => self.map(depth),
            2 => {
                self.put(&["f"]);
                self.list("(", ")", depth);
            }
            3 | 4 => {
                self.put(&["value"]);
                for _ in 0..=self.below(4) {
                    let dot = self.pick(&[".", "?."]);
                    self.put(&[dot, "method"]);
                    if self.below(3) > 0 {
                        self.list("(", ")", depth);
                    }
                }
            }
            5 => {
                self.put(&["("]);
                self.value(depth);
                self.put(&[")"]);
            }
            6 => {
                self.put(&["!", "x", "["]);
                self.value(depth);
                self.put(&["]"]);
            }
            7 => self.if_else(depth),
            _ => {
                self.put(&["f", "(", "|", "x", "|"]);
                if self.below(2) == 0 {
                    self.block(depth);
                } else {
                    self.statement_value(depth);
                }
                self.put(&[")"]);
            }
        }
    }

    fn list(&mut self, open: &str, close: &str, depth: u64) {
        self.put(&[open]);
        let count = self.below(5);
        // `()` without a space is a value of its own in Rhai, but not here.
        for at in 0..count {
            self.value(depth);
            if at + 1 < count || self.below(2) == 0 {
                self.put(&[","]);
            }
        }
        self.put(&[close]);
    }

    fn map(&mut self, depth: u64) {
        self.put(&["#{"]);
        let count = self.below(4);
        for at in 0..count {
            self.put(&[&format!("k{at}"), ":"]);
            self.value(depth);
            if at + 1 < count || self.below(2) == 0 {
                self.put(&[","]);
            }
        }
        self.put(&["}"]);
    }
}
