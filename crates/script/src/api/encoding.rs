//! SHA-256, base64, file names, CSV and command lines.

use super::HostFn;
use super::args::{HostFnResult, MAX_ITEMS, MAX_TEXT, bounded, charged, fail, list, text};
use crate::compare::kind_of;
use crate::guard::{charge, check_clock, check_memory};
use crate::view::View;
use asterisk_base::model::{CommandWord, SimpleCommand, read_command_line, safe_file_name, sha256};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rhai::{Blob, Dynamic};
use serde_json::json;

const GROUP: &str = "encoding";

/// The functions of this group.
pub(super) const TABLE: &[HostFn] = &[
    HostFn {
        name: "sha256",
        signature: "sha256(data: string or blob) -> string",
        group: GROUP,
        doc: "The SHA-256 hash of a text (its UTF-8 bytes) or of bytes, as 64 hex digits.",
        example: r#"sha256("abc").sub_string(0, 16)"#,
        result: r#""ba7816bf8f01cfea""#,
        bind: |engine, name| {
            engine.register_fn(name, |data: Dynamic| bytes(&data).map(|bytes| sha256(&bytes)));
        },
    },
    HostFn {
        name: "base64_encode",
        signature: "base64_encode(data: string or blob) -> string",
        group: GROUP,
        doc: "The base64 of a text (its UTF-8 bytes) or of bytes, with padding.",
        example: r#"base64_encode("Hello")"#,
        result: r#""SGVsbG8=""#,
        bind: |engine, name| {
            engine.register_fn(name, |data: Dynamic| bytes(&data).and_then(|bytes| bounded(STANDARD.encode(bytes))));
        },
    },
    HostFn {
        name: "base64_decode",
        signature: "base64_decode(text: string) -> blob",
        group: GROUP,
        doc: "The bytes of a base64 text; `.as_string()` makes a text of them, `.len()` counts them.",
        example: r#"base64_decode("SGVsbG8=").as_string()"#,
        result: r#""Hello""#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str| decode(text));
        },
    },
    HostFn {
        name: "safe_file_name",
        signature: "safe_file_name(text: string) -> string",
        group: GROUP,
        doc: "The file name that an artifact of this name gets: each run of characters other than letters, digits, `_`, `.`, `-` and spaces \
              becomes `_`; at most 120 characters, and `artifact.bin` where nothing is left.",
        example: r#"safe_file_name("../a:b?.md")"#,
        result: r#"".._a_b_.md""#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str| charged(text).map(safe_file_name));
        },
    },
    HostFn {
        name: "csv_read",
        signature: "csv_read(text: string, delimiter: string) -> list of list of string",
        group: GROUP,
        doc: "The rows of a CSV text, the header among them, each as its cells; quotes are as in RFC 4180, and blank lines are left out. \
              Rows may differ in length.",
        example: r#"csv_read("id,name\n1,\"a, b\"\n", ",")[1][1]"#,
        result: r#""a, b""#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str, delimiter: &str| csv_read(text, delimiter));
        },
    },
    HostFn {
        name: "command_line",
        signature: "command_line(text: string) -> map",
        group: GROUP,
        doc: "The commands of a line that needs no shell, as `commands` and `problem`. Each command has `join` (`;`, `&&`, `||` or `|`: how it \
              follows the one before it), `words` (each with its `text` and whether it is a `pattern` of file names), `input` (the file of \
              `<`, or ()), `silent` (`>/dev/null`) and `errors` (`kept`, `dropped` or `joined`). For any other text, `problem` names what \
              requires a shell.",
        example: r#"command_line("grep -c 'a b' *.txt | sort").commands[0].words.map(|word| word.text)"#,
        result: r#"["grep", "-c", "a b", "*.txt"]"#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str| command_line(text));
        },
    },
    HostFn {
        name: "csv_write",
        signature: "csv_write(rows: list of list, delimiter: string) -> string",
        group: GROUP,
        doc: "The CSV text of some rows of texts, numbers and bools, with quotes where they are needed; () is an empty cell.",
        example: r#"csv_write([["id", "name"], [1, "a, b"]], ",")"#,
        result: r#""id,name\n1,\"a, b\"\n""#,
        bind: |engine, name| {
            engine.register_fn(name, |rows: Dynamic, delimiter: &str| csv_write(&rows, delimiter));
        },
    },
];

/// The bytes of a text or a blob. Their number is charged to the call.
fn bytes(data: &Dynamic) -> HostFnResult<Vec<u8>> {
    if let Some(blob) = data.read_lock::<Blob>() {
        charge(blob.len())?;
        return Ok(blob.clone());
    }
    if data.is_string() {
        Ok(text(data)?.as_bytes().to_vec())
    } else {
        fail(format!("expected a string or a blob, got {}", kind_of(data)))
    }
}

fn decode(text: &str) -> HostFnResult<Blob> {
    // Base64 is often broken into lines.
    let joined: String = charged(text)?.chars().filter(|ch| !ch.is_ascii_whitespace()).collect();
    STANDARD
        .decode(joined)
        .or_else(|error| fail(format!("not base64 ({error}); it has letters, digits, `+` and `/`, and ends with `=` padding")))
}

fn command_line(text: &str) -> HostFnResult<Dynamic> {
    charge(text.len().saturating_mul(64))?;
    let map = |entries: Vec<(&str, Dynamic)>| -> Dynamic {
        entries.into_iter().map(|(key, value)| (key.into(), value)).collect::<rhai::Map>().into()
    };
    let text_of = |value: serde_json::Value| Dynamic::from(value.as_str().unwrap_or_default().to_owned());
    let word = |word: CommandWord| map(vec![("text", word.text.into()), ("pattern", word.pattern.into())]);
    let command = |command: SimpleCommand| {
        map(vec![
            ("join", text_of(json!(command.join))),
            ("words", command.words.into_iter().map(word).collect::<Vec<Dynamic>>().into()),
            ("input", command.input.map_or(Dynamic::UNIT, Dynamic::from)),
            ("silent", command.silent.into()),
            ("errors", text_of(json!(command.errors))),
        ])
    };
    let (commands, problem) = match read_command_line(text) {
        Ok(commands) => (commands, String::new()),
        Err(problem) => (Vec::new(), problem),
    };
    let commands: Vec<Dynamic> = commands.into_iter().map(command).collect();
    Ok(map(vec![("commands", commands.into()), ("problem", problem.into())]))
}

fn delimiter(text: &str) -> HostFnResult<u8> {
    match text.as_bytes() {
        [byte] if !matches!(byte, b'"' | b'\r' | b'\n') => Ok(*byte),
        _ => fail(format!("{text:?} cannot separate cells; write one ASCII character, such as `,`, `;` or a tab")),
    }
}

fn csv_read(text: &str, separator: &str) -> HostFnResult<Dynamic> {
    let separator = delimiter(separator)?;
    charge(text.len().saturating_mul(4))?;
    let mut reader =
        csv::ReaderBuilder::new().delimiter(separator).has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => return fail(format!("not CSV: {error}")),
        };
        if rows.len() == MAX_ITEMS {
            return fail(format!("the table has more than {MAX_ITEMS} rows; cut it into parts"));
        }
        check_memory()?;
        let cells = record.iter().map(|cell| View::plain(&cell.into(), "cell"));
        rows.push(View::list("row", cells));
    }
    check_clock()?;
    Ok(View::list("rows", rows).dynamic())
}

fn csv_write(rows: &Dynamic, separator: &str) -> HostFnResult<String> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter(separator)?).flexible(true).from_writer(Vec::new());
    let mut size = 0;
    for row in list(rows)? {
        check_clock()?;
        let cells = list(&row)?.iter().map(cell).collect::<HostFnResult<Vec<_>>>()?;
        size += cells.iter().map(|cell| cell.len() + 1).sum::<usize>();
        if size > MAX_TEXT {
            return fail(format!("the table would be longer than {MAX_TEXT} bytes; cut it into parts"));
        }
        if let Err(error) = writer.write_record(&cells) {
            return fail(format!("the row cannot be written: {error}"));
        }
    }
    match writer.into_inner().map(String::from_utf8) {
        Ok(Ok(text)) => bounded(text),
        _ => fail("the table cannot be written"),
    }
}

fn cell(value: &Dynamic) -> HostFnResult<String> {
    match value {
        value if value.is_unit() => Ok(String::new()),
        value if value.is_int() || value.is_float() || value.is_bool() => Ok(value.to_string()),
        value if value.is_string() => Ok(text(value)?.to_string()),
        value => fail(format!("a cell is a string, a number, a bool or (), not {}", kind_of(value))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::tests::eval;
    use super::*;

    fn message(script: &str) -> String {
        eval(script).unwrap_err().message
    }

    #[test]
    fn hashes_are_those_of_the_standard() {
        let hash = |text: &str| eval(&format!("sha256({text:?})")).unwrap().to_string();
        assert_eq!(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(eval("sha256(base64_decode(\"YWJj\"))").unwrap().to_string(), hash("abc"));
        assert_eq!(message("sha256(1)"), "expected a string or a blob, got a number");
    }

    #[test]
    fn base64_may_be_broken_into_lines_but_not_be_anything() {
        assert_eq!(eval("base64_decode(\"SGVs\\n bG8=\").as_string()").unwrap().to_string(), "Hello");
        assert!(message("base64_decode(\"a\")").contains("ends with `=` padding"));
        assert_eq!(eval("base64_encode(base64_decode(\"/+8=\"))").unwrap().to_string(), "/+8=");
    }

    #[test]
    fn tables_come_back_as_they_were() {
        let again = |table: &str| {
            let rows = csv_read(table, ";").unwrap();
            csv_write(&rows, ";").unwrap()
        };
        let table = "a;b\n\"1;\";\"say \"\"x\"\"\nor not\"\n\"\";é\n".replace("\"\";é", ";é");
        assert_eq!(again(&table), table);
        assert_eq!(eval("csv_read(\"a,b\\n\\n1\\n\", \",\").map(|row| row.len())").unwrap().to_string(), "[2, 1]");
        assert_eq!(eval("csv_write([[(), 1, 2.5, true]], \",\")").unwrap().to_string(), ",1,2.5,true\n");
    }

    #[test]
    fn wrong_tables_say_what_a_table_is() {
        assert!(message("csv_read(\"a\", \"ab\")").contains("one ASCII character"));
        assert!(message("csv_write([[[]]], \",\")").starts_with("a cell is a string"));
        assert!(csv_read(&"a\n".repeat(MAX_ITEMS + 1), ",").is_err());
    }
}
