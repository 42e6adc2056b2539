//! Files compiled into the program: bundled scripts, pipelines, templates and the example launch.

use asterisk_diag::Source;
use asterisk_project::TextBundle;
use include_dir::{Dir, include_dir};
use std::sync::{Arc, LazyLock};

static SCRIPTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../scripts");
static PIPELINES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../pipelines");
static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../templates");

/// Name of the launch that `asterisk run` analyses by default.
pub const EXAMPLE_LAUNCH: &str = "examples/launches/checkout-nightly.json";
static EXAMPLE_TEXT: &str = include_str!("../../../examples/launches/checkout-nightly.json");

/// The bundled example launch.
pub fn example_launch() -> Source {
    Source::new(EXAMPLE_LAUNCH, EXAMPLE_TEXT)
}

/// The bundled texts that projects are linked from.
pub fn bundle() -> Arc<TextBundle> {
    static BUNDLE: LazyLock<Arc<TextBundle>> = LazyLock::new(|| {
        let file = |area: Area| {
            move |source: &Source| match area {
                Area::Scripts if !source.name().ends_with(".rhai") => ("data".to_owned(), source.below("data/")),
                area => (area.name().to_owned(), source.clone()),
            }
        };
        Arc::new(TextBundle::new(Area::ALL.into_iter().flat_map(|area| area.embedded().iter().map(file(area)))))
    });
    BUNDLE.clone()
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

    /// The embedded files, in order of their paths below the area's root.
    pub fn embedded(self) -> &'static [Source] {
        static SOURCES: [LazyLock<Vec<Source>>; 4] = [
            LazyLock::new(|| Area::Scripts.collect()),
            LazyLock::new(|| Area::Pipelines.collect()),
            LazyLock::new(|| Area::Templates.collect()),
            LazyLock::new(|| Area::Tests.collect()),
        ];
        &SOURCES[self as usize]
    }

    /// The embedded file of a path, if there is one.
    pub fn embedded_file(self, path: &str) -> Option<&'static Source> {
        let files = self.embedded();
        files.binary_search_by(|file| file.name().cmp(path)).ok().map(|at| &files[at])
    }

    fn collect(self) -> Vec<Source> {
        let mut open = vec![match self {
            Self::Scripts | Self::Tests => &SCRIPTS,
            Self::Pipelines => &PIPELINES,
            Self::Templates => &TEMPLATES,
        }];
        let mut out = Vec::new();
        while let Some(dir) = open.pop() {
            for file in dir.files() {
                let path = file.path().to_str().map(|path| path.replace('\\', "/")).filter(|path| self.takes(path));
                out.extend(path.zip(file.contents_utf8()).map(|(path, text)| Source::bundled(path, text)));
            }
            open.extend(dir.dirs());
        }
        out.sort_by(|a, b| a.name().cmp(b.name()));
        out
    }
}
