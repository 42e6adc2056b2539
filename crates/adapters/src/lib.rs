//! Adapters to the outside: agents, tools, HTTP, ReportPortal, git, and the log of the goal auditor.
//!
//! | module | contents |
//! |---|---|
//! | [`agent`] | answerers: commands, HTTP, MCP, files, queues; limits and retries |
//! | [`net`] | the HTTP client and its backoff |
//! | [`workspace`] | repositories and their history |
//! | [`reportportal`] | launches and defects of ReportPortal |
//! | [`audit`] | the hash-chained log of the goal auditor |

pub mod agent;
pub mod audit;
pub mod net;
pub mod reportportal;
pub mod workspace;

#[cfg(test)]
#[global_allocator]
static MEMORY: asterisk_base::memory::Allocator = asterisk_base::memory::allocator();
