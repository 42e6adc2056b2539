//! The linter: what runs but smells, and what does not link, over scripts, pipelines, templates and data together.
//!
//! A rule is one file under `rules/`, with its manual page; `registry` lists them, and a test runs every example of every page.
//! What linking finds is told under the id of the rule it belongs to (`codes`), so there is one list of findings. Rules that
//! reason about conditions (`model/`) report only what is certain.
//!
//! | layer | files | what |
//! |---|---|---|
//! | 1 values | `level`, `config`, `input`, `finding`, `manual` | what rules are given and answer with; pages of the manual |
//! | 2 reading | `syntax`, `tags`, `codes`, `shown`, `model` | walking scripts and templates; when a rule of a pipeline fires, as a formula |
//! | 3 rules | `context`, `rule`, `rules`, `registry` | what rules look at, what a rule is, and all of them |
//! | 4 settings | `config_form`, `allow`, `baseline`, `gather` | `lint:`, `// lint: allow(id) reason`, known findings; linking what links |
//! | 5 linting | `run`, `fix` | asking every rule, and mending |

mod allow;
mod baseline;
mod codes;
mod config;
mod config_form;
mod context;
mod finding;
mod fix;
mod gather;
mod input;
mod level;
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
pub use config::Config;
pub use config_form::KEYS;
pub use finding::{Fix, LintFinding, TextEdit, json};
pub use fix::{Mended, mend, uncommitted};
pub use input::{CaseText, LintInput};
pub use level::LintLevel;
pub use registry::{find, rules};
pub use rule::{LintRule, OptionDefault, RuleOption};
pub use run::{LintReport, lint};
