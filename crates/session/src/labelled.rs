//! Labelled cases: read from a file of JSON or YAML, with the texts of each from itself or from a launch.

use super::{Session, SessionError};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Case, Launch};
use asterisk_diag::{Diagnostic, Diagnostics, Source, Span};
use asterisk_evidence::Masker;
use asterisk_files::read_input;
use asterisk_form::yaml::{self, Yaml};
use asterisk_project::Project;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a labelled file holds, for errors.
const HELP: &str = "a labelled file is a list of cases, or has `cases:`; each has an `id` and a `defect` (or `label`), and its texts in \
                    `failure:`, in the launch that `launch:` names, or in DIR/ID.* of --launches DIR";

/// A file of labelled cases. Unknown keys are ignored: such files serve other purposes too.
#[derive(Debug, Default, Deserialize)]
struct LabelledFile {
    cases: Vec<WrittenCase>,
    /// Causes that cases name by `rca_id`, with their defects.
    #[serde(default)]
    rcas: Vec<WrittenCause>,
}

#[derive(Debug, Deserialize)]
struct WrittenCause {
    #[serde(deserialize_with = "scalar")]
    id: String,
    #[serde(default)]
    defect_type: Option<String>,
}

#[derive(Debug, Deserialize)]
struct WrittenCase {
    #[serde(deserialize_with = "scalar")]
    id: String,
    #[serde(default)]
    defect: Option<String>,
    #[serde(default)]
    label: Option<String>,
    #[serde(default, deserialize_with = "optional_scalar")]
    rca_id: Option<String>,
    #[serde(default)]
    project: Option<String>,
    #[serde(default)]
    decidable: Option<bool>,
    /// How much the label counts, next to others.
    #[serde(default, deserialize_with = "positive")]
    weight: Option<f64>,
    /// When the label was given: a date, or a timestamp.
    #[serde(default, deserialize_with = "date")]
    date: Option<Timestamp>,
    #[serde(default)]
    failure: Option<WrittenFailure>,
    #[serde(default)]
    launch: Value,
    #[serde(default, deserialize_with = "optional_scalar")]
    case: Option<String>,
    /// The name of the test; in a launch without `case`, which failure it is.
    #[serde(default)]
    test: Option<String>,
    /// Which failures of the launch have one cause.
    #[serde(default, deserialize_with = "optional_scalar")]
    group: Option<String>,
    // A case that is its own failure.
    #[serde(default)]
    test_name: Option<String>,
    #[serde(default)]
    error_message: Option<String>,
    #[serde(default)]
    log_snippet: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct WrittenFailure {
    #[serde(default)]
    name: String,
    #[serde(default)]
    suite: String,
    #[serde(default)]
    error_message: String,
    #[serde(default)]
    log_snippet: String,
}

/// A labelled case with its texts.
#[derive(Clone, Debug)]
pub struct LabelledCase {
    /// Its id: in the labelled file, or in its launch.
    pub id: String,
    /// The labelled defect, as written.
    pub label: String,
    /// Where the label is from.
    pub source: LabelSource,
    /// How much the label counts, next to others of its source.
    pub weight: f64,
    /// When the label was given, if that is known.
    pub at: Option<Timestamp>,
    /// What it belongs to: its project, else its cause, else itself.
    pub project: String,
    /// What identifies its launch.
    pub launch_key: String,
    /// Whether its text decides, if the file says so.
    pub decidable: Option<bool>,
    /// The launch it is of, without its cases.
    pub launch: Arc<Launch>,
    /// The failure.
    pub case: Case,
    /// The finding that a review was about.
    pub finding: Option<Arc<Value>>,
}

/// Where a label is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LabelSource {
    /// A file of labelled cases.
    File,
    /// A person approved what was shown.
    Approve,
    /// A person put right what was shown.
    Overturn,
    /// A person set the defect type in ReportPortal.
    Portal,
}

impl LabelSource {
    /// Its key among `labels` of the data file `learn`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Approve => "approve",
            Self::Overturn => "overturn",
            Self::Portal => "reportportal",
        }
    }
}

/// A labelled case whose texts are still where they are written.
#[derive(Clone, Debug)]
pub struct LocatedCase {
    /// Its id in the labelled file.
    pub id: String,
    /// The labelled defect, as written.
    pub label: String,
    /// What it belongs to: its project, else its cause, else itself.
    pub project: String,
    /// The cause that it shares with others of the file, if it names one.
    pub cause: Option<String>,
    /// Which failures of the launch have its cause, if the file says so.
    pub group: Option<String>,
    /// Whether its text decides, if the file says so.
    pub decidable: Option<bool>,
    /// How much the label counts.
    pub weight: f64,
    /// When the label was given, if the file says so.
    pub at: Option<Timestamp>,
    /// Where its texts are.
    pub texts: CaseLocation,
}

/// Where the texts of a labelled case are.
#[derive(Clone, Debug)]
pub enum CaseLocation {
    /// With the case.
    Own(Box<Case>),
    /// In a launch.
    Launch {
        /// Its file.
        path: PathBuf,
        /// Which failure of it, by id or name; the first if `None`.
        wanted: Option<String>,
    },
}

impl CaseLocation {
    /// What identifies the launch of a case: its file, or the case itself.
    fn launch_key(&self, id: &str) -> String {
        match self {
            Self::Own(_) => id.to_owned(),
            Self::Launch { path, .. } => path.display().to_string(),
        }
    }
}

/// The labelled cases of a file: [`LabelledCase`]s, or [`LocatedCase`]s.
#[derive(Clone, Debug)]
pub struct LabelledCases<C> {
    /// How many the file has.
    pub written: usize,
    /// Those with a label and texts, in file order.
    pub cases: Vec<C>,
    /// The ids of the others, with the reason.
    pub left_out: Vec<(String, String)>,
}

impl Session {
    /// Reads the labelled cases of a file with their texts. `launches` is a directory with a launch per case.
    pub fn labelled(
        &self,
        project: &Project,
        from: &Path,
        launches: Option<&Path>,
    ) -> Result<LabelledCases<LabelledCase>, SessionError> {
        let source = read_input(from, self.setup.environment.input())?;
        let LabelledCases { written, cases, mut left_out } = self.located(&source, from, launches)?;
        let masker = Arc::new(project.masker());
        let mut read = Vec::with_capacity(cases.len());
        for LocatedCase { id, label, project, decidable, weight, at, texts, .. } in cases {
            let launch_key = texts.launch_key(&id);
            match self.texts_of(texts, &masker) {
                Ok((launch, case)) => {
                    let (source, launch) = (LabelSource::File, Arc::new(launch));
                    let finding = None;
                    read.push(LabelledCase {
                        id,
                        label,
                        source,
                        weight,
                        at,
                        project,
                        launch_key,
                        decidable,
                        launch,
                        case,
                        finding,
                    });
                }
                Err(why) => left_out.push((id, why)),
            }
        }
        Ok(LabelledCases { written, cases: read, left_out })
    }

    /// Reads the labelled cases of a file without reading the launches of their texts.
    pub fn located(
        &self,
        file: &Source,
        from: &Path,
        launches: Option<&Path>,
    ) -> Result<LabelledCases<LocatedCase>, SessionError> {
        located(parse(file)?, &from.parent().map(Path::to_owned).unwrap_or_default(), launches)
    }

    /// The failure of a located case and the launch it is of, masked, or why there is none.
    fn texts_of(&self, texts: CaseLocation, masker: &Arc<Masker>) -> Result<(Launch, Case), String> {
        match texts {
            CaseLocation::Own(case) => Ok((alone(), masked(*case, masker))),
            CaseLocation::Launch { path, wanted } => self.failure_of(&path, wanted.as_deref(), masker),
        }
    }

    /// One failure of a launch, by id or name, and the launch without its cases; or why there is none.
    fn failure_of(&self, path: &Path, wanted: Option<&str>, masker: &Arc<Masker>) -> Result<(Launch, Case), String> {
        let mut launch = self.read_launch(&[path.to_owned()], masker).map_err(|error| first_message(&error))?;
        let cases = std::mem::take(&mut launch.cases);
        // The size stated by the launch is unchanged.
        launch.left_out += cases.len();
        let case = match wanted {
            Some(wanted) => cases.into_iter().find(|case| case.id == wanted || case.name == wanted),
            None => cases.into_iter().next(),
        };
        let missing: Cow<'_, str> =
            wanted.map_or("no failed case in its launch".into(), |id| format!("no case `{id}` in its launch").into());
        Ok((launch, case.ok_or(missing)?))
    }
}

/// The launch of a case that is of none.
pub fn alone() -> Launch {
    Launch { run_id: "none".into(), name: "none".into(), ..Launch::default() }
}

/// A case with its texts masked.
pub fn masked(case: Case, masker: &Masker) -> Case {
    let log = masker.mask(&case.log_snippet.text_or_error()).into_owned();
    Case { error_message: masker.mask(&case.error_message).into_owned(), log_snippet: log.into(), ..case }
}

fn first_message(error: &SessionError) -> String {
    match error {
        SessionError::Texts(found) => found.iter().next().map_or_else(String::new, |first| first.message.clone()),
        error => error.to_string(),
    }
}

fn located(file: LabelledFile, beside: &Path, launches: Option<&Path>) -> Result<LabelledCases<LocatedCase>, SessionError> {
    let texts = CaseTexts { beside: beside.to_owned(), launches: launches.map(listed).transpose()? };
    let causes: BTreeMap<String, String> =
        file.rcas.into_iter().filter_map(|cause| Some((cause.id, cause.defect_type?))).collect();
    let mut found = LabelledCases { written: file.cases.len(), cases: Vec::new(), left_out: Vec::new() };
    for written in file.cases {
        let label = written.defect.as_ref().or(written.label.as_ref());
        let label = label.or_else(|| causes.get(written.rca_id.as_ref()?)).filter(|label| !label.trim().is_empty()).cloned();
        let Some(label) = label else {
            found.left_out.push((written.id, "no label".to_owned()));
            continue;
        };
        match texts.of(&written) {
            Ok(texts) => found.cases.push(LocatedCase {
                // Cases of one cause are alike as those of one project are.
                project: written.project.or_else(|| written.rca_id.clone()).unwrap_or_else(|| written.id.clone()),
                id: written.id,
                label: label.trim().to_owned(),
                cause: written.rca_id,
                group: written.group,
                decidable: written.decidable,
                weight: written.weight.unwrap_or(1.0),
                at: written.date,
                texts,
            }),
            Err(why) => found.left_out.push((written.id, why)),
        }
    }
    Ok(found)
}

/// The number of labelled cases of a file: JSON, else YAML. The error says where the file is wrong.
pub fn count_labelled(source: &Source) -> Result<usize, SessionError> {
    parse(source).map(|file| file.cases.len())
}

/// Parses a labelled file: JSON, else YAML. Ids must be unique.
fn parse(source: &Source) -> Result<LabelledFile, SessionError> {
    let text = source.text().trim_start_matches('\u{feff}');
    let is_json = text.trim_start().starts_with(['[', '{']);
    let file = match json(source, text) {
        Ok(file) => file,
        // A flow collection of YAML may begin like JSON.
        Err(error) if is_json => yaml_file(source).map_err(|_| error)?,
        Err(_) => yaml_file(source)?,
    };
    let mut seen = BTreeSet::new();
    match file.cases.iter().find(|case| !seen.insert(case.id.as_str())) {
        Some(twice) => {
            let message = format!("`{}` has two cases `{}`", source.name(), twice.id);
            let place = source.text().rfind(&twice.id).map(|at| Span::new(at, at + twice.id.len()));
            let error = Diagnostic::error("learn/duplicate", message).help("give each case its own id");
            let error = place.into_iter().fold(error, |error, span| error.label(source, span, "again here"));
            Err(SessionError::Texts(error.into()))
        }
        None => Ok(file),
    }
}

/// Reads a list of cases, or a map with `cases`.
fn json(source: &Source, text: &str) -> Result<LabelledFile, SessionError> {
    fn typed<T: DeserializeOwned>(source: &Source, text: &str) -> Result<T, SessionError> {
        serde_json::from_str(text).map_err(|error| {
            let base = source.text().len() - text.len();
            let at = Source::new("", text).offset(error.line(), error.column());
            let at = base + at.min(text.len().saturating_sub(1));
            let reason = error.to_string();
            wrong(source, Span::new(at, at + 1), reason.split(" at line ").next().unwrap_or(&reason))
        })
    }
    if text.trim_start().starts_with('[') {
        return Ok(LabelledFile { cases: typed(source, text)?, ..LabelledFile::default() });
    }
    typed(source, text)
}

fn yaml_file(source: &Source) -> Result<LabelledFile, SessionError> {
    fn typed<T: DeserializeOwned>(source: &Source, items: &[Yaml], found: &mut Diagnostics) -> Vec<T> {
        let mut read = Vec::new();
        for item in items {
            match serde_json::from_value(item.to_json()) {
                Ok(one) => read.push(one),
                Err(error) => found.push(fault(source, item.head(source), &error.to_string())),
            }
        }
        read
    }
    let tree = yaml::parse(source).map_err(SessionError::Texts)?;
    let Some(cases) = tree.as_list().or_else(|| tree.get("cases")?.as_list()) else {
        return Err(wrong(source, tree.head(source), "the list of cases is missing"));
    };
    let mut found = Diagnostics::new();
    let cases = typed(source, cases, &mut found);
    let rcas = typed(source, tree.get("rcas").and_then(Yaml::as_list).unwrap_or_default(), &mut found);
    found.into_result(LabelledFile { cases, rcas }).map_err(SessionError::Texts)
}

fn fault(source: &Source, span: Span, reason: &str) -> Diagnostic {
    Diagnostic::error("learn/cases", format!("this is not a labelled case: {reason}")).label(source, span, "here").help(HELP)
}

fn wrong(source: &Source, span: Span, reason: &str) -> SessionError {
    let error = Diagnostic::error("learn/cases", format!("`{}` has no labelled cases: {reason}", source.name()));
    SessionError::Texts(error.label(source, span, "here").help(HELP).into())
}

/// A text or a number, as text.
fn scalar<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    match Value::deserialize(from)? {
        Value::String(text) if !text.trim().is_empty() => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(serde::de::Error::custom("an id must be a string")),
    }
}

/// A number above 0.
fn positive<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let number = Option::<f64>::deserialize(from)?;
    match number {
        Some(number) if !(number > 0.0 && number.is_finite()) => {
            Err(serde::de::Error::custom("`weight` must be a number above 0"))
        }
        number => Ok(number),
    }
}

/// A date, or a timestamp.
fn date<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timestamp>, D::Error> {
    let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
    let at = text.parse().or_else(|_| format!("{}T00:00:00Z", text.trim()).parse());
    at.map(Some).map_err(|_| serde::de::Error::custom("`date` must be a date such as 2026-02-14, or a timestamp"))
}

fn optional_scalar<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    })
}

/// The files of a directory, in order.
fn listed(dir: &Path) -> Result<Vec<PathBuf>, SessionError> {
    let entries = std::fs::read_dir(dir).map_err(|error| {
        let message = format!("cannot read the directory `{}`: {error}", dir.display());
        SessionError::bad_request("learn/launches", message, Some("--launches DIR names another".to_owned()))
    })?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    Ok(files)
}

/// Where texts of cases are.
struct CaseTexts {
    /// The directory that `launch:` is relative to.
    beside: PathBuf,
    /// The files of the directory of launches.
    launches: Option<Vec<PathBuf>>,
}

impl CaseTexts {
    /// Where the texts of a case are, or why there are none.
    fn of(&self, written: &WrittenCase) -> Result<CaseLocation, String> {
        if let Some(failure) = &written.failure {
            return own(&written.id, failure);
        }
        let path = match &written.launch {
            Value::Null | Value::Bool(false) => None,
            Value::String(path) if self.beside.join(path).is_file() => Some(self.beside.join(path)),
            Value::String(name) => match self.by_id(name)? {
                Some(path) => Some(path),
                None => return Err("`launch` names no file".to_owned()),
            },
            _ => return Err("`launch` is not a path".to_owned()),
        };
        let of_several = path.is_some();
        match path.map_or_else(|| self.by_id(&written.id), |path| Ok(Some(path)))? {
            Some(path) => {
                let test = written.test.as_ref().filter(|_| of_several);
                Ok(CaseLocation::Launch { path, wanted: written.case.as_ref().or(test).cloned() })
            }
            None if written.error_message.is_some() || written.log_snippet.is_some() => {
                let text = |text: &Option<String>| text.clone().unwrap_or_default();
                let failure = WrittenFailure {
                    name: text(&written.test_name),
                    suite: String::new(),
                    error_message: text(&written.error_message),
                    log_snippet: text(&written.log_snippet),
                };
                own(&written.id, &failure)
            }
            None => Err("no text: neither `failure`, `launch`, nor a launch of its id".to_owned()),
        }
    }

    /// The file of launches that is named by an id.
    fn by_id(&self, id: &str) -> Result<Option<PathBuf>, String> {
        let named = |path: &&PathBuf| path.file_stem().is_some_and(|stem| stem == id) && path.extension().is_some();
        let mut files = self.launches.iter().flatten().filter(named);
        match (files.next(), files.next()) {
            (Some(_), Some(_)) => Err("several launches of its id".to_owned()),
            (one, _) => Ok(one.cloned()),
        }
    }
}

fn own(id: &str, failure: &WrittenFailure) -> Result<CaseLocation, String> {
    if failure.error_message.trim().is_empty() && failure.log_snippet.trim().is_empty() {
        return Err("no text: its failure has neither an error message nor a log".to_owned());
    }
    Ok(CaseLocation::Own(Box::new(Case {
        id: id.to_owned(),
        name: if failure.name.is_empty() { id.to_owned() } else { failure.name.clone() },
        suite: failure.suite.clone(),
        status: "FAILED".to_owned(),
        error_message: failure.error_message.clone(),
        log_snippet: failure.log_snippet.clone().into(),
        ..Case::default()
    })))
}

/// The code of a defect that uses another name in the domain.
pub fn defect_code<'a>(data: &'a serde_json::Map<String, Value>, label: &str) -> Option<&'a str> {
    let named = |defect: &Value| defect["aliases"].as_array().into_iter().flatten().any(|alias| alias == label);
    let defects = data.get("domain")?["defects"].as_object()?;
    defects.iter().find(|(_, defect)| named(defect)).map(|(code, _)| code.as_str())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn parsed(name: &str, text: &str) -> Result<Vec<(String, Option<String>)>, String> {
        let file = parse(&Source::new(name, text)).map_err(|error| match error {
            SessionError::Texts(found) => {
                let first = found.iter().next().unwrap();
                format!("{}: {} {:?}", first.code, first.message, first.primary().map(|label| label.source.slice(label.span)))
            }
            other => other.to_string(),
        })?;
        Ok(file.cases.into_iter().map(|case| (case.id, case.defect.or(case.label).or(case.rca_id))).collect())
    }

    #[test]
    fn a_list_or_a_map_of_cases_in_json_or_yaml() {
        let both = [("a".to_owned(), Some("d1".to_owned())), ("7".to_owned(), Some("d2".to_owned()))];
        assert_eq!(parsed("a.json", r#"[{"id": "a", "label": "d1", "more": 1}, {"id": 7, "defect": "d2"}]"#).unwrap(), both);
        assert_eq!(parsed("a.json", r#"{"cases": [{"id": "a", "label": "d1"}, {"id": 7, "rca_id": "d2"}]}"#).unwrap(), both);
        assert_eq!(parsed("a.yaml", "- { id: a, label: d1 }\n- { id: 7, defect: d2, case: 3 }\n").unwrap(), both);
        assert_eq!(parsed("a.yaml", "cases: [{ id: a, label: d1 }, { id: 7, rca_id: d2 }]\n").unwrap(), both);
        assert_eq!(parsed("a.yaml", "[{ id: a, label: d1 }, { id: 7, rca_id: d2 }]\n").unwrap(), both);
    }

    #[test]
    fn bad_files_are_labelled_where_they_are_bad() {
        let bad = |name: &str, text: &str| parsed(name, text).unwrap_err();
        assert!(
            bad("a.json", "[{\"label\": \"d1\"}]").starts_with("learn/cases: `a.json` has no labelled cases: missing field `id`")
        );
        assert!(
            bad("a.yaml", "- { label: d1 }\n").ends_with("Some(\"{ label: d1 }\")"),
            "{}",
            bad("a.yaml", "- { label: d1 }\n")
        );
        assert!(bad("a.yaml", "- { id: a, decidable: 3 }\n").contains("invalid type"));
        assert!(bad("a.yaml", "- { id: a, weight: 0 }\n").contains("above 0"));
        assert!(bad("a.yaml", "- { id: a, date: soon }\n").contains("2026-02-14"));
        assert!(parsed("a.yaml", "- { id: a, label: d1, weight: 2, date: 2026-02-14 }\n").is_ok());
        assert!(bad("a.yaml", "case: 1\n").contains("the list of cases is missing"));
        assert!(bad("a.yaml", "- { id: a }\n- { id: a }\n").starts_with("learn/duplicate"));
    }
}
