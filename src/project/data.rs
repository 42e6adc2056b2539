//! Data files: YAML maps that scripts and templates see as `params.data.<stem>`.

use crate::diag::{Diagnostics, Source};
use crate::pipeline::yaml;
use serde_json::{Map, Value};

/// Reads all data files into one object by file stem.
pub(super) fn read(sources: &[Source], found: &mut Diagnostics) -> Map<String, Value> {
    let mut data = Map::new();
    for source in sources {
        let stem = source.name().rsplit_once('.').map_or(source.name(), |(stem, _)| stem).replace('/', "_");
        match yaml::parse(source) {
            Ok(tree) => {
                data.insert(stem, tree.to_json());
            }
            Err(diagnostics) => found.extend(diagnostics),
        }
    }
    data
}

/// Reads data files, or says what is wrong with them.
pub fn read_data(sources: &[Source]) -> Result<Map<String, Value>, Diagnostics> {
    let mut found = Diagnostics::new();
    let data = read(sources, &mut found);
    found.into_result(data)
}
