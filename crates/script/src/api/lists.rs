//! Functions on lists: deduplicating, selecting by a field, sorting, counting.

use super::HostFn;
use super::args::{HostFnResult, Number, count, fail, key, list, number, object, text};
use crate::compare::kind_of;
use crate::guard::charge;
use rhai::{Array, Dynamic, Map};
use std::cmp::Ordering;
use std::collections::BTreeSet;

const GROUP: &str = "lists";

/// The functions of this group.
pub(super) const TABLE: &[HostFn] = &[
    HostFn {
        name: "unique",
        signature: "unique(items: list) -> list",
        group: GROUP,
        doc: "The items without those that equal an earlier one; 1 and 1.0 are equal.",
        example: r#"unique(["b", "a", "b"])"#,
        result: r#"["b", "a"]"#,
        bind: |engine, name| {
            engine.register_fn(name, |items: Dynamic| unique(&items));
        },
    },
    HostFn {
        name: "take",
        signature: "take(items: list, number: int) -> list",
        group: GROUP,
        doc: "The first `count` items, or all if there are fewer.",
        example: "take([1, 2, 3], 2)",
        result: "[1, 2]",
        bind: |engine, name| {
            engine.register_fn(name, |items: Dynamic, number: i64| {
                list(&items).map(|mut items| {
                    items.truncate(count(number, usize::MAX));
                    items
                })
            });
        },
    },
    HostFn {
        name: "without",
        signature: "without(items: list, others: list) -> list",
        group: GROUP,
        doc: "The items that equal none of the others; 1 and 1.0 are equal.",
        example: r#"without(["the", "lost", "lock"], ["the", "a"])"#,
        result: r#"["lost", "lock"]"#,
        bind: |engine, name| {
            engine.register_fn(name, |items: Dynamic, others: Dynamic| without(&items, &others));
        },
    },
    HostFn {
        name: "pluck",
        signature: "pluck(items: list of map, field: string) -> list",
        group: GROUP,
        doc: "The field of every item.",
        example: r#"pluck([#{ name: "a" }, #{ name: "b" }], "name")"#,
        result: r#"["a", "b"]"#,
        bind: |engine, name| {
            engine.register_fn(name, |items: Dynamic, field: &str| pluck(&items, field));
        },
    },
    HostFn {
        name: "sort_by_key",
        signature: "sort_by_key(items: list of map, field: string) -> list of map",
        group: GROUP,
        doc: "The items in ascending order of a field that is a number or a string in all of them; equal ones keep their order.",
        example: r#"sort_by_key([#{ n: 2 }, #{ n: 1.5 }], "n")"#,
        result: "[#{ n: 1.5 }, #{ n: 2 }]",
        bind: |engine, name| {
            engine.register_fn(name, |items: Dynamic, field: &str| sort_by_key(&items, field));
        },
    },
    HostFn {
        name: "max_by",
        signature: "max_by(items: list of map, field: string) -> map or ()",
        group: GROUP,
        doc: "The item with the greatest value of a field that is a number or a string in all of them, the first of equals; () for an \
              empty list.",
        example: r#"max_by([#{ score: 0.4 }, #{ score: 0.9 }], "score")"#,
        result: "#{ score: 0.9 }",
        bind: |engine, name| {
            engine.register_fn(name, |items: Dynamic, field: &str| best_by(&items, field, Ordering::Greater));
        },
    },
    HostFn {
        name: "min_by",
        signature: "min_by(items: list of map, field: string) -> map or ()",
        group: GROUP,
        doc: "The item with the least value of a field that is a number or a string in all of them, the first of equals; () for an \
              empty list.",
        example: r#"min_by([#{ score: 0.4 }, #{ score: 0.9 }], "score")"#,
        result: "#{ score: 0.4 }",
        bind: |engine, name| {
            engine.register_fn(name, |items: Dynamic, field: &str| best_by(&items, field, Ordering::Less));
        },
    },
    HostFn {
        name: "count_by",
        signature: "count_by(items: list) -> map",
        group: GROUP,
        doc: "The number of occurrences of each string, number or bool in the list, as a map from the item's text to its count.",
        example: r#"count_by(["a", "b", "a"])"#,
        result: "#{ a: 2, b: 1 }",
        bind: |engine, name| {
            engine.register_fn(name, |items: Dynamic| count_by(&items));
        },
    },
];

fn unique(items: &Dynamic) -> HostFnResult<Array> {
    let mut seen = BTreeSet::new();
    let mut kept = Array::new();
    for item in list(items)? {
        if seen.insert(key(&item)?) {
            kept.push(item);
        }
    }
    Ok(kept)
}

fn without(items: &Dynamic, others: &Dynamic) -> HostFnResult<Array> {
    let others = list(others)?.iter().map(key).collect::<HostFnResult<BTreeSet<_>>>()?;
    let mut kept = Array::new();
    for item in list(items)? {
        if !others.contains(&key(&item)?) {
            kept.push(item);
        }
    }
    Ok(kept)
}

fn pluck(items: &Dynamic, field: &str) -> HostFnResult<Array> {
    list(items)?.iter().map(|item| object(item)?.require(field)).collect()
}

/// A sort key.
enum Rank {
    Number(Number),
    Text(String),
}

impl Rank {
    fn of(value: &Dynamic) -> HostFnResult<Self> {
        if let Ok(number) = number(value) {
            return Ok(Self::Number(number));
        }
        if value.is_string() {
            return Ok(Self::Text(text(value)?.to_string()));
        }
        fail(format!("items are ordered by numbers or strings, not by {}", kind_of(value)))
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(Number::Int(a)), Self::Number(Number::Int(b))) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.float().total_cmp(&b.float()),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), Self::Number(_)) => Ordering::Greater,
        }
    }
}

/// The items with their sort keys, which must be of one type.
fn ranked(items: &Dynamic, field: &str) -> HostFnResult<Vec<(Rank, Dynamic)>> {
    let ranked: Vec<_> = list(items)?
        .into_iter()
        .map(|item| Ok((Rank::of(&object(&item)?.require(field)?)?, item)))
        .collect::<HostFnResult<_>>()?;
    let texts = ranked.iter().filter(|(rank, _)| matches!(rank, Rank::Text(_))).count();
    if texts == 0 || texts == ranked.len() {
        Ok(ranked)
    } else {
        fail(format!("`{field}` is a number in some items and a string in others"))
    }
}

fn sort_by_key(items: &Dynamic, field: &str) -> HostFnResult<Array> {
    let mut ranked = ranked(items, field)?;
    ranked.sort_by(|(a, _), (b, _)| a.compare(b));
    Ok(ranked.into_iter().map(|(_, item)| item).collect())
}

/// The first item whose sort key compares as `better` to that of all others.
fn best_by(items: &Dynamic, field: &str, better: Ordering) -> HostFnResult<Dynamic> {
    let best = ranked(items, field)?.into_iter().reduce(|best, next| if next.0.compare(&best.0) == better { next } else { best });
    Ok(best.map_or(Dynamic::UNIT, |(_, item)| item))
}

fn count_by(items: &Dynamic) -> HostFnResult<Map> {
    let mut counts = std::collections::BTreeMap::<String, i64>::new();
    for item in list(items)? {
        let scalar = item.is_string() || item.is_bool() || item.is_char() || number(&item).is_ok();
        if !scalar {
            return fail(format!("only strings, numbers and bools are counted, not {}", kind_of(&item)));
        }
        let item = item.to_string();
        charge(item.len())?;
        *counts.entry(item).or_default() += 1;
    }
    Ok(counts.into_iter().map(|(text, count)| (text.into(), count.into())).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn eval(script: &str) -> Result<Dynamic, String> {
        super::super::tests::eval(script).map_err(|fault| format!("{} {}", fault.message, fault.help.unwrap_or_default()))
    }

    #[test]
    fn equal_values_are_merged_whatever_their_notation() {
        assert_eq!(format!("{:?}", eval("unique([1, 1.0, 0, -0.0, \"1\", [1, #{a: 2}], [1.0, #{a: 2.0}], (), ()])").unwrap()), {
            "[1, 0, \"1\", [1, #{\"a\": 2}], ()]"
        });
        assert!(eval("unique([|x| x])").unwrap_err().contains("a function cannot be compared"));
    }

    #[test]
    fn fields_are_required_and_of_one_kind() {
        let error = eval("max_by([#{score: 1}, #{scor: 2}], \"score\")").unwrap_err();
        assert!(error.contains("lacks the field `score` did you mean `scor`?"), "{error}");
        assert!(eval("sort_by_key([#{n: 1}, #{n: \"a\"}], \"n\")").unwrap_err().contains("a number in some items"));
        assert!(eval("sort_by_key([#{n: ()}], \"n\")").unwrap_err().contains("not by nothing"));
        assert!(eval("pluck([1], \"n\")").unwrap_err().contains("expected an object, got a number"));
    }

    #[test]
    fn the_first_of_equals_wins_and_empty_is_unit() {
        assert_eq!(eval("max_by([#{n: 1, w: 1}, #{n: 1, w: 2}], \"n\").w").unwrap().as_int(), Ok(1));
        assert_eq!(eval("min_by([#{n: 1, w: 1}, #{n: 1, w: 2}], \"n\").w").unwrap().as_int(), Ok(1));
        assert!(eval("max_by([], \"n\")").unwrap().is_unit());
    }

    #[test]
    fn captured_variables_are_dereferenced() {
        assert_eq!(eval("let l = [1, 1]; let f = || unique(l); f.call().len()").unwrap().as_int(), Ok(1));
    }
}
