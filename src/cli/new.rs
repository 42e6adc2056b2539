//! `asterisk new`.

use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::config::SchemaKind;
use crate::exit::Exit;
use crate::ui::{OutputFormat, plain};
use asterisk_base::model::shell;
use asterisk_diag::Diagnostic;
use asterisk_files::{UnpackError, unpack};
use asterisk_session::{Session, SessionError, Setup};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Create a rule, signature, domain, pipeline, test or another part of a project from a commented skeleton.
///
/// It is created where the project has its scripts and pipelines (`asterisk.yaml`; otherwise `scripts/` and `pipelines/`), with a
/// test next to it. Nothing is overwritten.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk new rule looks_flaky\n  asterisk new pipeline nightly\n  asterisk new domain shop\n  asterisk new pipeline landing --from rca"
)]
pub(super) struct NewArgs {
    /// What to create.
    #[arg(value_enum)]
    kind: SkeletonKind,
    /// Its name: lower-case letters, digits and `_` (for data and pipelines also `-`).
    name: String,
    /// For a pipeline: extend this one (`asterisk show pipelines`) entry by entry.
    #[arg(long, value_name = "PIPELINE")]
    from: Option<String>,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SkeletonKind {
    /// A rule that decides an edge: `rules/NAME.rhai`.
    Rule,
    /// A rule of a verdict: `verdicts/NAME.rhai`.
    VerdictRule,
    /// A root rule, whose keys make failures one cause: `roots/NAME.rhai`.
    Root,
    /// A signature: `data/signatures/NAME.yaml`.
    Signature,
    /// An owner rule of stack frames, in `data/evidence.yaml`.
    OwnerRule,
    /// A responder that answers a node without an agent: `agents/NAME.rhai`.
    Responder,
    /// An effect that writes a node's results to the store: `effects/NAME.rhai`.
    Effect,
    /// A domain: `data/domains/NAME.yaml`.
    Domain,
    /// A graph with a condition and a loop: `NAME.yaml`.
    Pipeline,
    /// A test of a routing decision: `tests/NAME_test.rhai`.
    Test,
    /// A test of a verdict: `tests/NAME_test.rhai`.
    JudgeTest,
    /// A mask that wraps a step: `masks/NAME.rhai`.
    Mask,
    /// A scheduler that assigns the steps of a team: `schedulers/NAME.rhai`.
    Scheduler,
}

/// A file of a skeleton; `NAME` is replaced by the name.
struct Skeleton {
    path: &'static str,
    text: &'static str,
}

macro_rules! skeleton {
    ($path:literal, $file:literal) => {
        Skeleton { path: $path, text: include_str!(concat!("new/", $file)) }
    };
}

impl SkeletonKind {
    /// The files; the first is the thing itself.
    fn files(self) -> &'static [Skeleton] {
        match self {
            Self::Rule => &[skeleton!("rules/NAME.rhai", "rule.rhai"), skeleton!("rules/NAME_test.rhai", "rule_test.rhai")],
            Self::VerdictRule => &[
                skeleton!("verdicts/NAME.rhai", "verdict_rule.rhai"),
                skeleton!("verdicts/NAME_test.rhai", "verdict_rule_test.rhai"),
            ],
            Self::Root => &[skeleton!("roots/NAME.rhai", "root.rhai"), skeleton!("roots/NAME_test.rhai", "root_test.rhai")],
            Self::Signature => &[skeleton!("data/signatures/NAME.yaml", "signature.yaml")],
            Self::OwnerRule => &[skeleton!("data/evidence.yaml", "evidence.yaml")],
            Self::JudgeTest => &[skeleton!("tests/NAME_test.rhai", "judge_test.rhai")],
            Self::Responder => {
                &[skeleton!("agents/NAME.rhai", "responder.rhai"), skeleton!("agents/NAME_test.rhai", "responder_test.rhai")]
            }
            Self::Effect => {
                &[skeleton!("effects/NAME.rhai", "effect.rhai"), skeleton!("effects/NAME_test.rhai", "effect_test.rhai")]
            }
            Self::Domain => &[skeleton!("data/domains/NAME.yaml", "domain.yaml")],
            Self::Pipeline => &[skeleton!("NAME.yaml", "pipeline.yaml")],
            Self::Test => &[skeleton!("tests/NAME_test.rhai", "test.rhai")],
            Self::Mask => &[skeleton!("masks/NAME.rhai", "mask.rhai"), skeleton!("masks/NAME_test.rhai", "mask_test.rhai")],
            Self::Scheduler => &[
                skeleton!("schedulers/NAME.rhai", "scheduler.rhai"),
                skeleton!("schedulers/NAME_test.rhai", "scheduler_test.rhai"),
            ],
        }
    }

    /// The kind of YAML file that it is.
    fn schema(self) -> Option<SchemaKind> {
        match self {
            Self::Signature => Some(SchemaKind::Signatures),
            Self::OwnerRule => Some(SchemaKind::Evidence),
            Self::Domain => Some(SchemaKind::Domain),
            Self::Pipeline => Some(SchemaKind::Pipeline),
            _ => None,
        }
    }

    fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

pub(super) fn new(global: &GlobalArgs, args: &NewArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let setup = global.resolve(&args.project, None)?.setup;
    let (kind, name) = (args.kind, args.name.as_str());
    check_name(kind, name)?;
    let dir = directory(kind, &setup);
    let put = |text: &str| text.replace("NAME", name);
    let files: Vec<(String, String)> = match &args.from {
        Some(from) => vec![(format!("{name}.yaml"), copied(kind, name, from, &setup)?)],
        None => kind.files().iter().map(|file| (put(file.path), put(file.text))).collect(),
    };
    let files = with_schema(kind, &setup.root, &dir, files);
    let done = unpack(&dir, &files, false).map_err(unpack_error)?;
    let shown = |name: &String| {
        let path = dir.join(name);
        let path = path.strip_prefix(global.environment.directory()).unwrap_or(&path);
        plain(&path.display().to_string())
    };
    if ui.format() == OutputFormat::Json {
        let paths = |names: &[String]| names.iter().map(shown).collect::<Vec<_>>();
        ui.json(&json!({ "schema_version": 1, "written": paths(&done.written), "unchanged": paths(&done.same) }));
        return Ok(Exit::Ok);
    }
    done.written.iter().for_each(|name| ui.out(&shown(name)));
    done.same.iter().for_each(|name| ui.out(&format!("{} already exists", shown(name))));
    ui.note(&format!("next: {}", next(kind, name, &shown(&files[0].0))));
    Ok(Exit::Ok)
}

/// Names the schema to editors in the first line of a YAML file, if the project has the schemas (`asterisk init --only schemas`).
fn with_schema(kind: SkeletonKind, root: &Path, dir: &Path, mut files: Vec<(String, String)>) -> Vec<(String, String)> {
    if let Some(schema) = kind.schema().filter(|schema| root.join(schema.file()).exists()) {
        for (name, text) in &mut files {
            let line = schema.modeline(root, &dir.join(&*name)).unwrap_or_default();
            text.insert_str(0, &line);
        }
    }
    files
}

/// Returns the text of a pipeline that extends another one.
fn copied(kind: SkeletonKind, name: &str, from: &str, setup: &Setup) -> Result<String, SessionError> {
    if kind != SkeletonKind::Pipeline {
        let help = "omit `--from`, or create a pipeline";
        return Err(SessionError::bad_request(
            "new/from",
            format!("a {} cannot extend a pipeline", kind.word()),
            Some(help.into()),
        ));
    }
    let source = Session::new(setup.clone()).pipeline(from)?;
    let base = source.name().trim_end_matches(".yaml");
    Ok(format!(
        "# An entry with the id of one of `{base}` changes it, `remove: true` removes it, and `before: ID` or `after: ID` places it; a new\n\
         # entry comes first.\nextends: {base}\npipeline: {name}\n"
    ))
}

/// The project's directory for a kind.
fn directory(kind: SkeletonKind, setup: &Setup) -> PathBuf {
    let (area, configured) = match kind {
        SkeletonKind::Pipeline => ("pipelines", &setup.pipelines),
        _ => ("scripts", &setup.texts.scripts),
    };
    configured.clone().unwrap_or_else(|| setup.root.join(area))
}

/// The next command to run.
fn next(kind: SkeletonKind, name: &str, path: &str) -> String {
    match kind {
        SkeletonKind::Rule => {
            format!(
                "asterisk test rules/{name}_test.rhai; then an edge in pipelines/rca.yaml:\n  extends: rca\n  edges:\n    - {{ id: X1, name: {name}, from: NODE, to: NODE, rule: \"rules/{name}.rhai#{name}\" }}"
            )
        }
        SkeletonKind::VerdictRule => format!(
            "asterisk test verdicts/{name}_test.rhai; then a verdict rule in pipelines/rca.yaml:\n  extends: rca\n  verdict:\n    rules:\n      - {{ id: X1, name: {name}, group: {name}, for: {{ DEFECT: 1.0 }}, rule: \"verdicts/{name}.rhai#{name}\" }}"
        ),
        SkeletonKind::Root => format!(
            "asterisk test roots/{name}_test.rhai; then a root rule in pipelines/rca.yaml:\n  extends: rca\n  roots:\n    - {{ id: X1, name: {name}, confidence: 0.9, rule: \"roots/{name}.rhai#{name}\" }}"
        ),
        SkeletonKind::Signature => {
            format!(
                "asterisk new domain NAME, unless there is one, and `include: [{name}]` in it; asterisk lint checks the examples"
            )
        }
        SkeletonKind::OwnerRule => {
            "asterisk lint; `asterisk show evidence RUN --case CASE` shows the owners of frames".to_owned()
        }
        SkeletonKind::Responder => format!("asterisk test agents/{name}_test.rhai; it answers the nodes of the family `{name}`"),
        SkeletonKind::Effect => {
            format!("asterisk test effects/{name}_test.rhai; a node uses it with `effect: effects/{name}.rhai#{name}`")
        }
        SkeletonKind::Domain => format!("asterisk run --domain {name}"),
        SkeletonKind::Pipeline => format!("asterisk graph {}", shell(path)),
        SkeletonKind::Test | SkeletonKind::JudgeTest => format!("asterisk test tests/{name}_test.rhai"),
        SkeletonKind::Mask => {
            format!("asterisk test masks/{name}_test.rhai; a node uses it with `masks: [masks/{name}.rhai]`")
        }
        SkeletonKind::Scheduler => {
            format!("asterisk test schedulers/{name}_test.rhai; a team uses it with `scheduler: schedulers/{name}.rhai`")
        }
    }
}

fn check_name(kind: SkeletonKind, name: &str) -> Result<(), SessionError> {
    let dash = matches!(kind, SkeletonKind::Domain | SkeletonKind::Pipeline | SkeletonKind::Signature | SkeletonKind::OwnerRule);
    let fits = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || (dash && b == b'-'));
    if fits && name.ends_with("_test") {
        let message = format!("`{name}` ends with `_test`, like the names of test files");
        let help = "use a name that does not end with `_test`".to_owned();
        return Err(SessionError::bad_request("new/name", message, Some(help)));
    }
    if fits {
        return Ok(());
    }
    let message = format!("`{name}` is not a valid name for a {}", kind.word());
    let help = "start with a lower-case letter; use only lower-case letters, digits and `_`".to_owned();
    Err(SessionError::bad_request("new/name", message, Some(help)))
}

fn unpack_error(error: UnpackError) -> SessionError {
    match error {
        UnpackError::Exists(_) => {
            let diagnostic = Diagnostic::error("output/exists", error.to_string());
            SessionError::BadRequest(Box::new(diagnostic.help("use another name, or move the file away")))
        }
        other => super::init::unpack_error(other),
    }
}
