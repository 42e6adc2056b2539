//! Attributes of a launch or a test: names with short values.

use super::{clean, cut, texts};
use asterisk_base::model::Attributes;
use compact_str::CompactString;

/// The maximum bytes of a value. Longer ones (a class path, a dump) are of no use to rules.
const MAX_VALUE: usize = 1024;

/// The maximum number of attributes.
const MAX_COUNT: usize = 256;

/// Adds an attribute. Values of the same name are listed once each, separated by commas; empty names and values are dropped.
pub(super) fn add(attributes: &mut Attributes, name: &str, value: &str) {
    let name = texts::one_line(name);
    let value = clean::clean(value);
    let value = value.trim();
    if name.is_empty() || value.is_empty() || (attributes.len() >= MAX_COUNT && !attributes.contains_key(&name)) {
        return;
    }
    match attributes.get(&name).unwrap_or_default() {
        "" => attributes.insert(name, short(value)),
        known if known.split(", ").any(|old| old == value) => {}
        known => {
            let both = short(&format!("{known}, {value}"));
            attributes.insert(name, both);
        }
    }
}

/// Cuts a value to [`MAX_VALUE`] bytes.
fn short(value: &str) -> CompactString {
    if value.len() <= MAX_VALUE {
        value.into()
    } else {
        format!("{}…", &value[..cut::floor(value, MAX_VALUE - '…'.len_utf8())]).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_name_are_listed_once_each() {
        let mut attributes = Attributes::default();
        for (name, value) in
            [("lane", "a"), ("lane", "b"), ("lane", "a"), ("", "x"), ("y", "  "), ("c", "\u{1b}[1mbold\u{1b}[0m")]
        {
            add(&mut attributes, name, value);
        }
        assert_eq!(attributes, Attributes::from([("lane", "a, b"), ("c", "bold")]));
    }

    #[test]
    fn long_values_and_many_names_are_bounded() {
        let mut attributes = Attributes::default();
        for number in 0..1000 {
            add(&mut attributes, &format!("n{number}"), &"é".repeat(1000));
        }
        assert_eq!(attributes.len(), MAX_COUNT);
        assert!(attributes.values().all(|value| value.len() <= MAX_VALUE && value.ends_with('…')));
    }
}
