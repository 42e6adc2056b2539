//! Shrinks a value while a predicate holds.

use serde_json::Value;

/// The most evaluations of the predicate.
const MOST: usize = 4_000;

/// Removes fields of maps and items of lists, at any depth, as long as `still` holds.
pub(super) fn shrink(value: &mut Value, still: &mut dyn FnMut(&Value) -> bool) {
    let mut shrinker = Shrinker { left: MOST, still };
    // What could not be removed next to another part may be removable without it.
    loop {
        let before = value.clone();
        shrinker.part(value, &mut Vec::new());
        if shrinker.left == 0 || *value == before {
            return;
        }
    }
}

/// A step into a value.
#[derive(Clone, Debug)]
enum PathSegment {
    Field(String),
    Item(usize),
}

struct Shrinker<'a> {
    left: usize,
    still: &'a mut dyn FnMut(&Value) -> bool,
}

impl Shrinker<'_> {
    fn part(&mut self, whole: &mut Value, path: &mut Vec<PathSegment>) {
        let keys: Vec<PathSegment> = match at(whole, path) {
            Some(Value::Object(fields)) => {
                let names: Vec<String> = fields.keys().cloned().collect();
                let stay = |name: &String| {
                    let take = |part: &mut Value| drop(part.as_object_mut().map(|fields| fields.remove(name)));
                    !self.without(whole, path, take)
                };
                names.into_iter().filter(stay).map(PathSegment::Field).collect()
            }
            Some(Value::Array(_)) => self.list(whole, path),
            _ => return,
        };
        for key in keys {
            path.push(key);
            self.part(whole, path);
            path.pop();
        }
    }

    /// Removes items of a list: many at once while possible, then fewer. Returns the paths of the rest.
    fn list(&mut self, whole: &mut Value, path: &[PathSegment]) -> Vec<PathSegment> {
        let mut chunk = at(whole, path).and_then(|list| list.as_array().map(Vec::len)).unwrap_or(0);
        while chunk > 0 {
            let mut end = at(whole, path).and_then(|list| list.as_array().map(Vec::len)).unwrap_or(0);
            // From the end, so that the indices of the others stay valid.
            while end > 0 {
                let start = end.saturating_sub(chunk);
                self.without(whole, path, |part| drop(part.as_array_mut().map(|items| items.splice(start..end, []))));
                end = start;
            }
            chunk /= 2;
        }
        let left = at(whole, path).and_then(|list| list.as_array().map(Vec::len)).unwrap_or(0);
        (0..left).map(PathSegment::Item).collect()
    }

    /// Removes something if the predicate holds without it. Returns whether it did.
    fn without(&mut self, whole: &mut Value, path: &[PathSegment], take: impl FnOnce(&mut Value)) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let mut less = whole.clone();
        at(&mut less, path).map(take);
        let will_do = (self.still)(&less);
        if will_do {
            *whole = less;
        }
        will_do
    }
}

fn at<'v>(value: &'v mut Value, path: &[PathSegment]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, key| match key {
        PathSegment::Field(name) => value.get_mut(name),
        PathSegment::Item(index) => value.get_mut(index),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn irrelevant_parts_are_removed() {
        let mut value = json!({"a": {"b": [1, 2, 3], "c": "x"}, "d": [{"e": 1, "f": 2}], "g": null});
        shrink(&mut value, &mut |value| {
            value["a"]["b"].as_array().is_some_and(|b| b.contains(&json!(2))) && value["d"][0]["f"] == 2
        });
        assert_eq!(value, json!({"a": {"b": [2]}, "d": [{"f": 2}]}));
        let mut gone = json!({"a": 1});
        shrink(&mut gone, &mut |_| true);
        assert_eq!(gone, json!({}));
    }

    #[test]
    fn shrinking_large_values_ends() {
        let mut value = json!((0..20_000).collect::<Vec<_>>());
        let mut asked = 0;
        shrink(&mut value, &mut |_| {
            asked += 1;
            false
        });
        assert!(asked <= MOST);
    }
}
