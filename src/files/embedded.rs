//! The files compiled into the program: bundled scripts, pipelines, templates, and the example launch.

use crate::diag::Source;
use include_dir::{Dir, include_dir};

static SCRIPTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scripts");
static PIPELINES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/pipelines");
static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");

/// The name of the launch that `asterisk run` analyses when it is given none.
pub const EXAMPLE_LAUNCH: &str = "examples/launches/checkout-nightly.json";
static EXAMPLE_TEXT: &str = include_str!("../../examples/launches/checkout-nightly.json");

/// The bundled example launch.
pub fn example_launch() -> Source {
    Source::new(EXAMPLE_LAUNCH, EXAMPLE_TEXT)
}

/// One of the three kinds of directories that make a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// Rhai scripts, and YAML data under `data/`.
    Scripts,
    /// Pipelines in YAML.
    Pipelines,
    /// Prompt templates.
    Templates,
}

impl Area {
    /// The directory's usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scripts => "scripts",
            Self::Pipelines => "pipelines",
            Self::Templates => "templates",
        }
    }

    /// Whether a file of that path belongs to the area.
    pub fn takes(self, path: &str) -> bool {
        let ends = |endings: &[&str]| endings.iter().any(|ending| path.ends_with(ending));
        match self {
            Self::Scripts => ends(&[".rhai", ".yaml", ".yml"]),
            Self::Pipelines => ends(&[".yaml", ".yml"]),
            Self::Templates => ends(&[".md", ".j2"]),
        }
    }

    /// All of them.
    pub const ALL: [Self; 3] = [Self::Scripts, Self::Pipelines, Self::Templates];

    /// Path below the area's root, and text, of each embedded file.
    pub fn embedded(self) -> Vec<(String, &'static str)> {
        let dir = match self {
            Self::Scripts => &SCRIPTS,
            Self::Pipelines => &PIPELINES,
            Self::Templates => &TEMPLATES,
        };
        let mut out = Vec::new();
        collect(dir, &mut out);
        out.retain(|(path, _)| self.takes(path));
        out
    }
}

fn collect(dir: &'static Dir<'static>, out: &mut Vec<(String, &'static str)>) {
    for file in dir.files() {
        if let (Some(path), Some(text)) = (file.path().to_str(), file.contents_utf8()) {
            out.push((path.replace('\\', "/"), text));
        }
    }
    dir.dirs().for_each(|dir| collect(dir, out));
}
