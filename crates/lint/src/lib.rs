//! The linter: reports what is suspicious and what does not link, across scripts, pipelines, templates and data.
//!
//! A rule is one file under `rules/`, with its manual page; `registry` lists them, and a test runs every example of every page.
//! Errors of linking are reported under the id of a corresponding rule (`codes`), so there is one list of findings. Rules that
//! reason about conditions (`model/`) report only what is certain.
//!
//! | layer | files | what |
//! |---|---|---|
//! | 1 values | `level`, `config`, `input`, `finding`, `manual` | the input and output of rules; manual pages |
//! | 2 analysis | `syntax`, `tags`, `codes`, `shown`, `model` | walking scripts and templates; the condition under which a rule fires, as a formula |
//! | 3 rules | `context`, `rule`, `rules`, `registry` | the data available to rules, the definition of a rule, all rules |
//! | 4 settings | `config_form`, `allow`, `baseline`, `gather`, `linted_data` | `lint:`, `// lint: allow(id) reason`, baselines; linking everything that links |
//! | 5 linting | `run`, `fix` | running all rules, and applying fixes |

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
mod linted_data;
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
pub use fix::{FixedText, fix, uncommitted};
pub use input::{CaseText, LintInput};
pub use level::LintLevel;
pub use registry::{find, rules};
pub use rule::{LintRule, OptionDefault, RuleOption};
pub use rules::FIXABLE;
pub use run::{FunctionRole, LintReport, LintedProject, analyse, lint};

#[cfg(test)]
#[global_allocator]
static MEMORY: asterisk_base::memory::Allocator = asterisk_base::memory::allocator();
