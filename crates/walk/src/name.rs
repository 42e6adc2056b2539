//! Names and reasons, as events, states and plans share them.

use std::sync::Arc;

/// The name of a case, node, edge or step. Nearly all are short enough to be stored inline: they are copied with every event, and
/// a shared reference count would make the threads of a run contend.
pub type Name = compact_str::CompactString;

/// Why an edge was taken: in the decision, the transition and the state's history.
pub type Reason = Arc<str>;
