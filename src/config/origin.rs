//! Where a setting came from.

use asterisk_adapters::net::hidden;
use asterisk_diag::{names_secret, starred};
use serde_json::{Value, json};
use std::fmt;
use std::path::PathBuf;

/// A current setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its name: a key of the project file, `vars.NAME`, or its name on the command line.
    pub name: String,
    /// Its value; null if there is none.
    pub value: Value,
    /// Where it came from.
    pub origin: SettingOrigin,
}

/// The origin of a setting, in order of precedence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    /// This flag.
    Flag(&'static str),
    /// This environment variable.
    Variable(&'static str),
    /// This line of the project file or of the user's own.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// By convention: a directory with the expected name.
    Convention,
    /// The program.
    Default,
}

impl Setting {
    /// The value as shown; secrets and what looks like one are hidden.
    pub fn shown(&self) -> Value {
        if names_secret(&self.name) { json!("(not shown)") } else { hidden(self.value.clone(), &starred) }
    }
}

impl SettingOrigin {
    /// The origin for programs.
    pub fn json(&self) -> Value {
        match self {
            Self::Flag(name) => json!({ "kind": "flag", "name": name }),
            Self::Variable(name) => json!({ "kind": "variable", "name": name }),
            Self::File { path, line } => json!({ "kind": "file", "file": path, "line": line }),
            Self::Convention => json!({ "kind": "convention" }),
            Self::Default => json!({ "kind": "default" }),
        }
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) | Self::Variable(name) => f.write_str(name),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Convention => f.write_str("by its name"),
            Self::Default => f.write_str("default"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let setting = |name: &str| Setting { name: name.into(), value: json!("x"), origin: SettingOrigin::Default };
        assert_eq!(setting("vars.tracker_Token").shown(), json!("(not shown)"));
        assert_eq!(setting("store").shown(), json!("x"));
        let keyed = Setting { value: json!({ "url": "https://h?key=hunter2" }), ..setting("agents.a") };
        assert_eq!(keyed.shown(), json!({ "url": "https://h?key=*******" }));
    }
}
