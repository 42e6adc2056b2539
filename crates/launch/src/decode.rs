//! Decodes the bytes of a file.

use super::foreign;
use asterisk_diag::{Code, Diagnostic, Diagnostics, Source, Span};

/// Decodes a file: UTF-8, UTF-16 with or without a byte order mark, whatever an XML declaration says, or Latin-1 (Windows-1252) if an XML declaration names it. Undecodable bytes become U+FFFD; the
/// error of binary data names its format.
pub fn decode(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Result<Source, Diagnostics> {
    let name = name.into();
    let mut bytes: Vec<u8> = bytes.into();
    if let Some((what, help)) = foreign::bytes(&bytes) {
        return Err(refuse(&name, what, help).into());
    }
    let text = match &bytes[..] {
        [0xef, 0xbb, 0xbf, ..] => {
            bytes.drain(..3);
            lossy(bytes)
        }
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        // Without a byte order mark, the first character of XML or JSON shows the byte order, and so do several of other texts.
        [b'<' | b'{' | b'[', 0, ..] | [1..=0x7f, 0, 1..=0x7f, 0, 1..=0x7f, 0, 1..=0x7f, 0, ..] => {
            utf16(&bytes, u16::from_le_bytes)
        }
        [0, b'<' | b'{' | b'[', ..] | [0, 1..=0x7f, 0, 1..=0x7f, 0, 1..=0x7f, 0, 1..=0x7f, ..] => {
            utf16(&bytes, u16::from_be_bytes)
        }
        _ if bytes.contains(&0) => {
            return Err(refuse(&name, "binary data", "pass a ReportPortal launch in JSON or JUnit XML").into());
        }
        _ => lossy(bytes),
    };
    Ok(Source::new(name, text))
}

fn refuse(name: &str, what: &str, help: &str) -> Diagnostic {
    let source = Source::new(name, String::new());
    Diagnostic::error(Code::IngestFormat, format!("{name} is not a test report; it looks like {what}"))
        .label(&source, Span::new(0, 0), format!("looks like {what}"))
        .help(help)
}

fn lossy(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if declares_latin_1(error.as_bytes()) => error.as_bytes().iter().map(|&byte| latin_1(byte)).collect(),
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

/// The characters of Windows-1252 where Latin-1 has control characters. Files declared as Latin-1 are often Windows-1252.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’', '“', '”',
    '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The first 256 characters of Unicode are Latin-1.
fn latin_1(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

fn declares_latin_1(bytes: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(100)]).to_ascii_lowercase();
    start.starts_with("<?xml") && (start.contains("iso-8859-1") || start.contains("windows-1252"))
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|ch| ch.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_decoded() {
        let table: [(&[u8], &str); 10] = [
            (b"1\0.\0.\x002\0\n\0o\0k\0", "1..2\nok"),
            (b"\0o\0k\0 \x001", "ok 1"),
            (b"<\0a\0/\0>\0", "<a/>"),
            (b"\0[\0]", "[]"),
            ("é".as_bytes(), "é"),
            (b"\xef\xbb\xbf{}", "{}"),
            (b"\xff\xfe{\0}\0", "{}"),
            (b"\xfe\xff\0{\0}", "{}"),
            (b"a\xffb", "a\u{fffd}b"),
            (
                b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9\x80</a>",
                "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>é€</a>",
            ),
        ];
        for (bytes, text) in table {
            assert_eq!(decode("x", bytes).expect("a text").text(), text);
        }
    }

    #[test]
    fn binary_files_are_refused_by_format_name() {
        let table: [(&[u8], &str); 4] = [
            (b"\x1f\x8b\x08\0", "a gzip file"),
            (b"PK\x03\x04...", "a zip archive"),
            (b"SQLite format 3\0", "an SQLite database"),
            (b"ab\0cd", "binary data"),
        ];
        for (bytes, what) in table {
            let found = decode("x.bin", bytes).expect_err("refused");
            assert_eq!(found.to_string(), format!("x.bin:1:1: x.bin is not a test report; it looks like {what}"));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(source) = decode("x", bytes) {
                prop_assert!(super::super::read(&source).map_or_else(|found| !found.is_empty(), |_| true));
            }
        }
    }
}
