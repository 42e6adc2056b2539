//! Access to the lists and maps of a domain's tree.

use asterisk_form::yaml::{Yaml, YamlEntry};

/// The items of a key that holds a list.
pub(super) fn list<'y>(tree: &'y Yaml, key: &str) -> &'y [Yaml] {
    tree.get(key).and_then(Yaml::as_list).unwrap_or_default()
}

/// The entries of a key that holds a map.
pub(super) fn map<'y>(tree: &'y Yaml, key: &str) -> &'y [YamlEntry] {
    tree.get(key).and_then(Yaml::as_map).unwrap_or_default()
}
