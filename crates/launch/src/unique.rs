//! Assigns unique ids, deterministically.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

/// A hash that identifies a name where keeping all names would take too much memory.
pub(super) fn name_hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// Assigned ids; the second `x` becomes `x#2`, the third `x#3`.
#[derive(Default)]
pub(super) struct Ids(HashMap<String, usize>);

impl Ids {
    /// Assigns `wanted`, or the first free `wanted#N`.
    pub(super) fn take(&mut self, wanted: &str) -> String {
        let Some(&last) = self.0.get(wanted) else {
            self.0.insert(wanted.to_owned(), 1);
            return wanted.to_owned();
        };
        let mut number = last;
        loop {
            number += 1;
            let id = format!("{wanted}#{number}");
            if !self.0.contains_key(&id) {
                self.0.insert(id.clone(), 1);
                self.0.insert(wanted.to_owned(), number);
                return id;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_id_gets_the_first_free_number() {
        let mut ids = Ids::default();
        let given: Vec<String> = ["a", "a#2", "a", "a", "b"].iter().map(|id| ids.take(id)).collect();
        assert_eq!(given, ["a", "a#2", "a#3", "a#4", "b"]);
    }
}
