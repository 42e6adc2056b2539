//! The text of a command line that needs no shell: programs with their arguments, joined by `|`, `&&`, `||`, `;` and line ends.
//!
//! The result can be started word by word, so nothing in a text has a further meaning. Expansions, substitutions, blocks,
//! variables and redirections into files are not read.

use serde::{Deserialize, Serialize};
use std::iter::Peekable;
use std::str::Chars;

/// Longer texts are refused: a reviewer cannot see what they do.
const MAX_BYTES: usize = 16 << 10;
/// The characters of a pattern of file names.
const PATTERN: [char; 3] = ['*', '?', '['];

/// A word of a command, without its quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandWord {
    pub text: String,
    /// Whether an unquoted `*`, `?` or `[` makes it a pattern of file names.
    #[serde(default)]
    pub pattern: bool,
}

/// What joins a command with the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandJoin {
    /// It begins after the one before it has ended: `;`, a line end, or the beginning.
    #[default]
    #[serde(rename = ";")]
    Then,
    #[serde(rename = "&&")]
    And,
    #[serde(rename = "||")]
    Or,
    /// It reads what the one before it writes.
    #[serde(rename = "|")]
    Pipe,
}

/// Where the errors of a command go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommandErrors {
    #[default]
    Kept,
    /// `2>/dev/null`
    Dropped,
    /// `2>&1`
    Joined,
}

/// A program with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimpleCommand {
    #[serde(default)]
    pub join: CommandJoin,
    pub words: Vec<CommandWord>,
    /// The file of `<`.
    #[serde(default)]
    pub input: Option<String>,
    /// `>/dev/null`
    #[serde(default)]
    pub silent: bool,
    #[serde(default)]
    pub errors: CommandErrors,
}

/// Reads a command line; an error says what in it is more than this.
pub fn read_command_line(text: &str) -> Result<Vec<SimpleCommand>, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("it is longer than {MAX_BYTES} bytes"));
    }
    if let Some(c) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Err(format!("it has the control character {}", c.escape_default()));
    }
    let mut reader = Reader { rest: text.chars().peekable(), commands: Vec::new(), command: SimpleCommand::default() };
    reader.read()?;
    if reader.commands.is_empty() { Err("the line is empty".into()) } else { Ok(reader.commands) }
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    commands: Vec<SimpleCommand>,
    command: SimpleCommand,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), String> {
        while let Some(&c) = self.rest.peek() {
            match c {
                ' ' | '\t' => {
                    self.rest.next();
                }
                '#' => while self.rest.next_if(|c| *c != '\n').is_some() {},
                '\\' if self.continues() => {}
                '\n' => {
                    self.rest.next();
                    // A line end does not end an empty command.
                    if !self.is_empty() {
                        self.end(CommandJoin::Then)?;
                    }
                }
                '|' | '&' | ';' => {
                    let join = self.join()?;
                    self.end(join)?;
                }
                '<' | '>' => self.redirection(1)?,
                _ => self.word_or_redirection()?,
            }
        }
        match self.is_empty() {
            // After `;` or a line end nothing has to follow.
            true if self.command.join == CommandJoin::Then => Ok(()),
            true => Err("a command is missing".into()),
            false => self.end(CommandJoin::Then),
        }
    }

    fn is_empty(&self) -> bool {
        self.command == SimpleCommand { join: self.command.join, ..SimpleCommand::default() }
    }

    /// Ends a command; `join` is what joins the next one with it.
    fn end(&mut self, join: CommandJoin) -> Result<(), String> {
        if self.command.words.is_empty() {
            return Err("a command is missing".into());
        }
        let ended = std::mem::replace(&mut self.command, SimpleCommand { join, ..SimpleCommand::default() });
        if ended.join == CommandJoin::Pipe && ended.input.is_some() {
            return Err("a command reads a pipe and a file".into());
        }
        if join == CommandJoin::Pipe && ended.silent {
            return Err("discarded output is piped".into());
        }
        self.commands.push(ended);
        Ok(())
    }

    fn join(&mut self) -> Result<CommandJoin, String> {
        let first = self.rest.next();
        let twice = self.rest.next_if(|next| Some(*next) == first).is_some();
        match (first, twice) {
            (Some('&'), true) => Ok(CommandJoin::And),
            (Some('|'), true) => Ok(CommandJoin::Or),
            (Some('|'), false) if self.rest.peek() == Some(&'&') => Err("`|&` is not supported here".into()),
            (Some('|'), false) => Ok(CommandJoin::Pipe),
            (Some(';'), false) => Ok(CommandJoin::Then),
            (Some('&'), false) => Err("a command would go on in the background".into()),
            _ => Err("`;;` is not supported here".into()),
        }
    }

    /// Takes a `\` before a line end, which joins two lines.
    fn continues(&mut self) -> bool {
        let mut ahead = self.rest.clone();
        ahead.next();
        let joins = ahead.next() == Some('\n');
        if joins {
            self.rest = ahead;
        }
        joins
    }

    fn word_or_redirection(&mut self) -> Result<(), String> {
        let mut ahead = self.rest.clone();
        if let (Some(number), Some('<' | '>')) = (ahead.next().and_then(|c| c.to_digit(10)), ahead.peek()) {
            self.rest = ahead;
            return self.redirection(number);
        }
        let word = self.word()?;
        self.command.words.push(word);
        Ok(())
    }

    /// A word that begins here; it is empty if a separator does.
    fn word(&mut self) -> Result<CommandWord, String> {
        let mut word = CommandWord::default();
        let mut begun = false;
        while let Some(&c) = self.rest.peek() {
            match c {
                ' ' | '\t' | '\n' | '|' | '&' | ';' | '<' | '>' => break,
                '\\' if self.continues() => continue,
                '\\' => {
                    self.rest.next();
                    word.text.push(self.rest.next().ok_or("it ends with `\\`")?);
                }
                '\'' => {
                    self.rest.next();
                    self.until('\'', &mut word.text)?;
                }
                '"' => {
                    self.rest.next();
                    self.double_quoted(&mut word.text)?;
                }
                '$' | '`' => return Err(format!("the value of `{c}` is only known when a shell runs it")),
                '(' | ')' | '{' | '}' => return Err(format!("`{c}` outside of quotes is not supported here")),
                '~' if !begun => return Err("`~` is only expanded by a shell".into()),
                '!' if begun => return Err("`!` within a word is not supported here".into()),
                c => {
                    self.rest.next();
                    word.pattern |= PATTERN.contains(&c);
                    word.text.push(c);
                }
            }
            begun = true;
        }
        // The name of the program `[`.
        word.pattern &= word.text != "[";
        Ok(word)
    }

    fn until(&mut self, end: char, text: &mut String) -> Result<(), String> {
        loop {
            match self.rest.next() {
                None => return Err(format!("a quote `{end}` is not closed")),
                Some(c) if c == end => return Ok(()),
                Some(c) => text.push(c),
            }
        }
    }

    fn double_quoted(&mut self, text: &mut String) -> Result<(), String> {
        loop {
            match self.rest.next() {
                None => return Err("a quote `\"` is not closed".into()),
                Some('"') => return Ok(()),
                Some(c @ ('$' | '`' | '!')) => return Err(format!("the value of `{c}` is only known when a shell runs it")),
                Some('\\') => match self.rest.next() {
                    Some('\n') => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => text.push(c),
                    Some(c) => text.extend(['\\', c]),
                    None => return Err("a quote `\"` is not closed".into()),
                },
                Some(c) => text.push(c),
            }
        }
    }

    /// A redirection whose `<` or `>` comes next.
    fn redirection(&mut self, number: u32) -> Result<(), String> {
        let sign = self.rest.next();
        if self.command.words.is_empty() {
            return Err("a redirection precedes the program".into());
        }
        match (sign, self.rest.peek()) {
            (_, Some('(')) => return Err("a process substitution is not supported here".into()),
            (Some('<'), Some('<' | '>' | '&')) => return Err("only `<` before a file is supported here".into()),
            (Some('>'), Some('&')) => {
                self.rest.next();
                let target = self.word()?;
                return match (number, target.text.as_str()) {
                    (2, "1") => {
                        self.command.errors = CommandErrors::Joined;
                        Ok(())
                    }
                    (1, "1") | (2, "2") => Ok(()),
                    _ => Err("a redirection leads to a file, or from one stream to another".into()),
                };
            }
            (Some('>'), Some('|')) => return Err("a file is written over".into()),
            _ => {}
        }
        let _twice = self.rest.next_if_eq(&'>');
        while self.rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        let target = self.word()?;
        if target.text.is_empty() || target.pattern {
            return Err("the target of a redirection is unknown".into());
        }
        match (sign, number) {
            (Some('<'), 0 | 1) if self.command.input.is_none() => self.command.input = Some(target.text),
            // The number before `<` is 0 if none is written, which is passed to `redirection` as 1.
            (Some('<'), _) => return Err("only one `<` before a file is supported here".into()),
            _ if target.text != "/dev/null" => return Err(format!("it writes into `{}`", target.text)),
            (_, 1) => self.command.silent = true,
            (_, 2) => self.command.errors = CommandErrors::Dropped,
            _ => return Err("it redirects an unknown stream".into()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands of a text, each as its words in brackets; `*` marks a pattern.
    fn read(text: &str) -> String {
        match read_command_line(text) {
            Err(problem) => format!("? {problem}"),
            Ok(commands) => commands.iter().map(shown).collect::<Vec<_>>().join(" "),
        }
    }

    fn shown(command: &SimpleCommand) -> String {
        let words: Vec<String> =
            command.words.iter().map(|word| format!("{}{}", word.text, if word.pattern { "*" } else { "" })).collect();
        let input = command.input.as_ref().map_or(String::new(), |file| format!("<{file}"));
        let silent = if command.silent { ">" } else { "" };
        let errors = match command.errors {
            CommandErrors::Kept => "",
            CommandErrors::Dropped => "2>",
            CommandErrors::Joined => "2>&1",
        };
        let join = match command.join {
            CommandJoin::Then => ";",
            CommandJoin::And => "&&",
            CommandJoin::Or => "||",
            CommandJoin::Pipe => "|",
        };
        format!("{join}[{}]{input}{silent}{errors}", words.join("|"))
    }

    #[test]
    fn programs_and_words_are_read() {
        for (text, wanted) in [
            ("ls -la", ";[ls|-la]"),
            ("cd a && r\"m\" -rf 'x y' || echo \\no", ";[cd|a] &&[rm|-rf|x y] ||[echo|no]"),
            ("find . ! -name '*.md' | wc -l; pwd\n\nls\n", ";[find|.|!|-name|*.md] |[wc|-l] ;[pwd] ;[ls]"),
            ("ls *.t a'*' # what\npwd;", ";[ls|*.t*|a*] ;[pwd]"),
            ("cat < f 2>/dev/null", ";[cat]<f2>"),
            ("ls >/dev/null 2>&1", ";[ls]>2>&1"),
            ("echo a\\\nb \"c\\\"d\\e\" ''", ";[echo|ab|c\"d\\e|]"),
            ("[ -f a ] && head -5 f", ";[[|-f|a|]] &&[head|-5|f]"),
            ("head -2 a 2", ";[head|-2|a|2]"),
        ] {
            assert_eq!(read(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_needs_a_shell_is_said() {
        let texts = [
            "echo $HOME",
            "echo \"$x\"",
            "ls `pwd`",
            "ls $(pwd)",
            "(ls)",
            "{ ls; }",
            "ls {a,b}",
            "ls &",
            "ls |& cat",
            "a=(b)",
            "ls ~",
            "ls > f",
            "ls >> f",
            "ls >| f",
            "ls &> f",
            "ls 2> f",
            "ls >&f",
            "ls >&1n",
            "cat << E\nE",
            "cat <<< x",
            "cat <(ls)",
            "cat <> f",
            "echo 'a",
            "echo \"a",
            "echo a\\",
            "a ||",
            "| a",
            "a && && b",
            "a ; ; b",
            "a;;",
            "",
            " \n",
            "# a",
            "> /dev/null ls",
            "ls\u{1b}",
            "ls a!b",
            "echo a >/dev/null | cat",
            "a | b < c",
            "ls 3>/dev/null",
            "ls >/dev/nul*",
            "echo \"a!b\"",
        ];
        for text in texts {
            assert!(read(text).starts_with("? "), "{text}: {}", read(text));
        }
        assert!(read(&"a".repeat(MAX_BYTES + 1)).starts_with("? it is longer"));
    }

    proptest::proptest! {
        /// A word in single quotes is that word.
        #[test]
        fn quoted_words_come_back(words in proptest::collection::vec("[ -~éß\n]{0,12}", 1..6)) {
            let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
            let read = read_command_line(&quoted.join(" ")).expect("words");
            let texts: Vec<&str> = read[0].words.iter().map(|word| word.text.as_str()).collect();
            proptest::prop_assert_eq!(texts, words);
        }
    }
}
