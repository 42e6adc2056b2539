//! The linter: what runs but smells, and what does not link, over scripts, pipelines, templates and data together.
//!
//! A rule is one file under `rules/`, with its manual page; `registry` lists them, and a test runs every example of every page.
//! What linking finds is told under the id of the rule it belongs to (`codes`), so there is one list of findings. Rules that
//! reason about conditions (`model/`) report only what is certain.
//!
//! | file | what |
//! |---|---|
//! | `rule`, `registry`, `manual` | what a rule is, all of them, their pages |
//! | `config`, `allow`, `baseline` | levels and options, `// lint: allow(id) reason`, findings that are known |
//! | `gather`, `context`, `codes`, `shown` | linking what links; what rules look at; what linking found; names that people know |
//! | `finding`, `run`, `fix` | a finding; linting; mending |
//! | `syntax`, `tags` | walking scripts, and the tags of templates |
//! | `model` | when a rule fires, as a formula |

mod allow;
mod baseline;
mod codes;
mod config;
mod context;
mod finding;
mod fix;
mod gather;
#[cfg(test)]
mod manual;
mod model;
mod registry;
mod rule;
mod rules;
mod run;
mod shown;
mod syntax;
mod tags;
#[cfg(test)]
mod testing;

pub use baseline::Baseline;
pub use config::{Config, KEYS};
pub use context::CaseText;
pub use finding::{Fix, LintFinding, TextEdit, json};
pub use fix::{Mended, mend, uncommitted};
pub use registry::{find, rules};
pub use rule::{LintLevel, LintRule, OptionDefault, RuleOption};
pub use run::{LintInput, LintReport, lint};
