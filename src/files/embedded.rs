//! Files compiled into the program: bundled scripts, pipelines, templates and the example launch.

use crate::diag::Source;
use include_dir::{Dir, include_dir};

static SCRIPTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scripts");
static PIPELINES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/pipelines");
static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");

/// Name of the launch that `asterisk run` analyses by default.
pub const EXAMPLE_LAUNCH: &str = "examples/launches/checkout-nightly.json";
static EXAMPLE_TEXT: &str = include_str!("../../examples/launches/checkout-nightly.json");

/// The bundled example launch.
pub fn example_launch() -> Source {
    Source::new(EXAMPLE_LAUNCH, EXAMPLE_TEXT)
}

/// Suffix of test files.
const TEST: &str = "_test.rhai";

/// Kind of the files that make up a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// Rhai scripts, and YAML data under `data/`.
    Scripts,
    /// Pipelines in YAML.
    Pipelines,
    /// Prompt templates.
    Templates,
    /// Tests of scripts and their JSON data: stored among the scripts, not read by runs.
    Tests,
}

impl Area {
    /// Conventional name of the area's directory.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scripts | Self::Tests => "scripts",
            Self::Pipelines => "pipelines",
            Self::Templates => "templates",
        }
    }

    /// Whether a file of that path belongs to the area.
    pub fn takes(self, path: &str) -> bool {
        let ends = |endings: &[&str]| endings.iter().any(|ending| path.ends_with(ending));
        match self {
            Self::Scripts => ends(&[".rhai", ".yaml", ".yml"]) && !path.ends_with(TEST),
            Self::Tests => ends(&[TEST, ".json"]),
            Self::Pipelines => ends(&[".yaml", ".yml"]),
            Self::Templates => ends(&[".md", ".j2"]),
        }
    }

    /// Whether a file of that path is one of the area's texts, including tests among the scripts.
    pub fn holds(self, path: &str) -> bool {
        self.takes(path) || (self == Self::Scripts && path.ends_with(TEST))
    }

    /// The areas that a project is linked from.
    pub const ALL: [Self; 3] = [Self::Scripts, Self::Pipelines, Self::Templates];

    /// Path below the area's root and text of each embedded file.
    pub fn embedded(self) -> Vec<(String, &'static str)> {
        let dir = match self {
            Self::Scripts | Self::Tests => &SCRIPTS,
            Self::Pipelines => &PIPELINES,
            Self::Templates => &TEMPLATES,
        };
        let mut out = Vec::new();
        self.collect(dir, &mut out);
        out
    }

    fn collect(self, dir: &'static Dir<'static>, out: &mut Vec<(String, &'static str)>) {
        for file in dir.files() {
            let Some(path) = file.path().to_str().map(|path| path.replace('\\', "/")).filter(|path| self.takes(path)) else {
                continue;
            };
            out.extend(file.contents_utf8().map(|text| (path, text)));
        }
        dir.dirs().for_each(|dir| self.collect(dir, out));
    }
}
