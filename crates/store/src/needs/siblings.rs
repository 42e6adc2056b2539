//! `siblings`: the other failures of the same launch.

use super::{StoreQueries, cut, lock};
use asterisk_base::model::{Case, Launch, error_shape};
use asterisk_walk::QuerySubject;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number returned.
const MAX_RESULTS: usize = 50;
/// Maximum number returned if any has another error: those are examples.
const MAX_WITH_OTHERS: usize = 20;
/// Maximum number of characters of an error. The failure has its own in full.
const ERROR_CHARS: usize = 200;

/// Groups of a launch's cases whose errors differ only in numbers and ids.
#[derive(Debug)]
pub(super) struct SimilarErrors {
    launch: LaunchFingerprint,
    /// The error shape of each case.
    shapes: Vec<Option<u64>>,
    /// The first cases of each error shape, one more than are returned.
    alike: HashMap<u64, Vec<usize>>,
}

/// Selects the cases of a launch that `siblings` may ever return, called in the order of the launch. The others need not be kept.
#[derive(Debug, Default)]
pub struct SiblingScope {
    /// Number of cases of each error shape so far.
    counts: HashMap<u64, usize>,
    /// The two most common error shapes so far.
    common: [Option<(u64, usize)>; 2],
    asked: usize,
}

impl SiblingScope {
    /// Whether the next case may be returned: as one of the first with its error, or as one of the first whose error differs from that of
    /// the asking case, whichever that is.
    pub fn next(&mut self, error: &str) -> bool {
        let shape = error_shape(error);
        let passed_over = self.common.iter().flatten().find(|(common, _)| Some(*common) != shape).map_or(0, |(_, count)| *count);
        let other = self.asked - passed_over <= MAX_RESULTS;
        self.asked += 1;
        let Some(shape) = shape else { return other };
        let count = self.counts.entry(shape).or_default();
        *count += 1;
        let now = (shape, *count);
        match &mut self.common {
            [Some(first), _] if first.0 == shape => *first = now,
            [first, second] if first.is_none_or(|(_, count)| now.1 > count) => (*first, *second) = (Some(now), *first),
            [_, second] if second.is_none_or(|(common, count)| common == shape || now.1 > count) => *second = Some(now),
            _ => {}
        }
        other || now.1 <= MAX_RESULTS + 1
    }
}

/// Enough to detect another launch: the queries of a run come with the same launch again and again.
type LaunchFingerprint = (String, String, Option<i64>, usize, usize);

/// Answers the query: cases with the same error first, each part in the order of the launch.
pub(super) fn answer(needs: &StoreQueries, about: &QuerySubject<'_>) -> Value {
    let QuerySubject { launch, case, .. } = about;
    let errors = errors(needs, launch);
    let shape = error_shape(&case.error_message);
    let same = shape.and_then(|shape| errors.alike.get(&shape)).into_iter().flatten();
    let same = same.filter_map(|&at| launch.cases.get(at)).map(|other| (other, true));
    let others = launch.cases.iter().zip(&errors.shapes).filter(|(_, other)| shape.is_none() || **other != shape);
    let others = others.map(|(other, _)| (other, false));
    let found = same.chain(others).filter(|(other, _)| other.id != case.id);
    let listed = found.enumerate().take_while(|(at, (_, same))| *at < if *same { MAX_RESULTS } else { MAX_WITH_OTHERS });
    listed.map(|(_, found)| to_json(found)).collect()
}

fn to_json((other, same): (&Case, bool)) -> Value {
    json!({
        "id": other.id,
        "name": other.name,
        "suite": other.suite,
        "error_message": cut(other.error_message.clone(), ERROR_CHARS),
        "recall_key": other.recall_key,
        "same_error": same,
    })
}

fn errors(needs: &StoreQueries, launch: &Launch) -> Arc<SimilarErrors> {
    let identity = (launch.name.clone(), launch.run_id.clone(), launch.number, launch.cases.len(), launch.cases.as_ptr().addr());
    if let Some(errors) = lock(&needs.errors).as_ref().filter(|errors| errors.launch == identity) {
        return Arc::clone(errors);
    }
    let mut alike: HashMap<u64, Vec<usize>> = HashMap::new();
    let shapes: Vec<Option<u64>> = launch.cases.iter().map(|case| error_shape(&case.error_message)).collect();
    for (at, shape) in shapes.iter().enumerate() {
        if let Some(shape) = *shape {
            let cases = alike.entry(shape).or_default();
            if cases.len() <= MAX_RESULTS {
                cases.push(at);
            }
        }
    }
    let errors = Arc::new(SimilarErrors { launch: identity, shapes, alike });
    *lock(&needs.errors) = Some(Arc::clone(&errors));
    errors
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;

    fn launch(errors: &[u8]) -> Launch {
        let case = |(at, error): (usize, &u8)| Case {
            id: format!("c{at}"),
            name: format!("n{at}"),
            error_message: if *error == 0 { String::new() } else { format!("error of k{}", char::from(b'a' + error)) },
            ..Case::default()
        };
        Launch { cases: errors.iter().enumerate().map(case).collect(), ..Launch::default() }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn cases_out_of_scope_never_appear(
            errors in proptest::collection::vec(prop_oneof![6 => 1..3_u8, 2 => 0..6_u8, 1 => 0..12_u8], 0..400)
        ) {
            let whole = launch(&errors);
            let mut tellable = SiblingScope::default();
            let mut light = whole.clone();
            for case in &mut light.cases {
                if !tellable.next(&case.error_message) {
                    *case = Case { id: case.id.clone(), ..Case::default() };
                }
            }
            let (of_whole, of_light) = (StoreQueries::without_store(json!([])), StoreQueries::without_store(json!([])));
            for case in &whole.cases {
                let about = |launch| QuerySubject::new(launch, case);
                prop_assert_eq!(answer(&of_whole, &about(&whole)), answer(&of_light, &about(&light)));
            }
        }
    }

    #[test]
    fn few_of_many_cases_with_one_error_are_in_scope() {
        let mut tellable = SiblingScope::default();
        let errors = (0..10_000).map(|n| if n % 9 == 0 { "timeout" } else { "lost lock" });
        assert_eq!(errors.filter(|error| tellable.next(error)).count(), 2 * (MAX_RESULTS + 1));
    }
}
