//! A current setting, with where it is from.

use super::name::Name;

/// A current setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Sourced<T> {
    pub value: T,
    /// Where it is from: `pipelines/shop.yaml:12`, `--set`.
    pub from: Name,
}
