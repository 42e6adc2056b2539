//! Matches a line of a log with signatures.

use asterisk_evidence::EvidenceReader;

/// The signatures that match a typed line, each with its location in the line and its definition.
pub(super) fn matches(reader: &EvidenceReader, typed: &str) -> Vec<String> {
    let line = unquoted(typed);
    let found = reader.of_line(&line).into_iter().filter_map(|(id, span)| Some((reader.signature(id)?, span)));
    let lines: Vec<String> = found
        .map(|(signature, [from, to])| {
            let column = line[..from].chars().count() + 1;
            let weak = if signature.weak { ", in errors only" } else { "" };
            let unless = if signature.unless_text.is_empty() { "" } else { ", unless the text matches `unless_text`" };
            let at = if signature.at.is_empty() { String::new() } else { format!(" ({})", signature.at) };
            format!("{}{at}: `{}` at column {column}{weak}{unless}", signature.id, &line[from..to])
        })
        .collect();
    if lines.is_empty() { vec!["no signature matches this line".to_owned()] } else { lines }
}

/// The line without surrounding quotation marks.
fn unquoted(typed: &str) -> String {
    let inside = |mark: char| typed.strip_prefix(mark)?.strip_suffix(mark).map(str::to_owned);
    serde_json::from_str::<String>(typed)
        .ok()
        .or_else(|| inside('"'))
        .or_else(|| inside('\''))
        .unwrap_or_else(|| typed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_base::model::Hash;
    use asterisk_evidence::{EvidenceRules, SignatureSpec};

    #[test]
    fn a_line_is_matched_with_or_without_quotation_marks() {
        let refused = SignatureSpec {
            id: "refused".into(),
            at: "data/signatures/network.yaml:3".into(),
            patterns: vec!["connection refused".into()],
            weak: true,
            ..SignatureSpec::default()
        };
        let reader = EvidenceReader::new(EvidenceRules { signatures: vec![refused], ..EvidenceRules::default() }, Hash::of(b""));
        let expected = "refused (data/signatures/network.yaml:3): `Connection refused` at column 7, in errors only";
        for typed in ["db é: Connection refused", "\"db é: Connection refused\"", "'db é: Connection refused'"] {
            assert_eq!(matches(&reader, typed), [expected], "{typed}");
        }
        assert_eq!(matches(&reader, "\"all is well\""), ["no signature matches this line"]);
        assert_eq!(matches(&reader, "\"a \"quoted\" one\""), ["no signature matches this line"]);
    }
}
