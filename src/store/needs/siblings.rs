//! `siblings`: the other failures of the same launch.

use super::features::error_shape;
use super::{StoreNeeds, lock, short};
use crate::model::{Case, Launch};
use crate::walk::About;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// How many are returned at most.
const MOST: usize = 50;

/// Which cases of a launch have errors that differ only in numbers and ids.
#[derive(Debug)]
pub(super) struct Errors {
    launch: Identity,
    /// The error of each case.
    shapes: Vec<Option<u64>>,
    /// The first cases of each error, one more than are returned.
    alike: HashMap<u64, Vec<usize>>,
}

/// Enough to notice another launch: queries come with the one launch of their run again and again.
type Identity = (String, String, Option<i64>, usize, usize);

/// The answer to the query: those with the same error first, each part in the order of the launch.
pub(super) fn answer(needs: &StoreNeeds, about: &About<'_>) -> Value {
    let About { launch, case, .. } = about;
    let errors = errors(needs, launch);
    let shape = error_shape(&case.error_message);
    let same = shape.and_then(|shape| errors.alike.get(&shape)).into_iter().flatten();
    let same = same.filter_map(|&at| launch.cases.get(at)).map(|other| (other, true));
    let others = launch.cases.iter().zip(&errors.shapes).filter(|(_, other)| shape.is_none() || **other != shape);
    let others = others.map(|(other, _)| (other, false));
    same.chain(others).filter(|(other, _)| other.id != case.id).take(MOST).map(to_json).collect()
}

fn to_json((other, same): (&Case, bool)) -> Value {
    json!({
        "id": other.id,
        "name": other.name,
        "suite": other.suite,
        "error_message": short(other.error_message.clone()),
        "recall_key": other.recall_key,
        "same_error": same,
    })
}

fn errors(needs: &StoreNeeds, launch: &Launch) -> Arc<Errors> {
    let identity = (launch.name.clone(), launch.run_id.clone(), launch.number, launch.cases.len(), launch.cases.as_ptr().addr());
    if let Some(errors) = lock(&needs.errors).as_ref().filter(|errors| errors.launch == identity) {
        return Arc::clone(errors);
    }
    let mut alike: HashMap<u64, Vec<usize>> = HashMap::new();
    let shapes: Vec<Option<u64>> = launch.cases.iter().map(|case| error_shape(&case.error_message)).collect();
    for (at, shape) in shapes.iter().enumerate() {
        if let Some(shape) = *shape {
            let cases = alike.entry(shape).or_default();
            if cases.len() <= MOST {
                cases.push(at);
            }
        }
    }
    let errors = Arc::new(Errors { launch: identity, shapes, alike });
    *lock(&needs.errors) = Some(Arc::clone(&errors));
    errors
}
