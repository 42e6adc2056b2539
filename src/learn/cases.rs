//! Labelled cases: read from a file of JSON or YAML, with the texts of each from itself or from a launch.

use crate::diag::{Diagnostic, Diagnostics, Source, Span};
use crate::evidence::Masker;
use crate::files::read_input;
use crate::form::yaml::{self, Yaml};
use crate::model::{Case, Launch};
use crate::project::Project;
use crate::session::{Session, SessionError};
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
    #[serde(default)]
    failure: Option<WrittenFailure>,
    #[serde(default)]
    launch: Value,
    #[serde(default, deserialize_with = "optional_scalar")]
    case: Option<String>,
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
pub(super) struct LabelledCase {
    /// Its id in the labelled file.
    pub(super) id: String,
    /// The labelled defect, as written.
    pub(super) label: String,
    /// What it belongs to: its project, else its cause, else itself.
    pub(super) project: String,
    /// Whether its text decides, if the file tells.
    pub(super) decidable: Option<bool>,
    /// The launch it is of, without its cases.
    pub(super) launch: Arc<Launch>,
    /// The failure.
    pub(super) case: Case,
}

/// The labelled cases of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelledCases {
    /// How many the file has.
    pub(super) written: usize,
    /// Those with a label and texts, in file order.
    pub(super) cases: Vec<LabelledCase>,
    /// The ids of the others, with the reason.
    pub(super) left_out: Vec<(String, String)>,
}

/// Reads the labelled cases of a file. `launches` is a directory with a launch per case.
pub(super) fn read(
    session: &Session,
    project: &Project,
    from: &Path,
    launches: Option<&Path>,
) -> Result<LabelledCases, SessionError> {
    let file = parse(&read_input(from)?)?;
    let texts = CaseTexts {
        session,
        masker: Arc::new(project.masker()),
        beside: from.parent().map(Path::to_owned).unwrap_or_default(),
        launches: launches.map(listed).transpose()?,
    };
    let causes: BTreeMap<String, String> =
        file.rcas.into_iter().filter_map(|cause| Some((cause.id, cause.defect_type?))).collect();
    let mut found = LabelledCases { written: file.cases.len(), ..LabelledCases::default() };
    for written in file.cases {
        let label = written.defect.as_ref().or(written.label.as_ref());
        let label = label.or_else(|| causes.get(written.rca_id.as_ref()?)).filter(|label| !label.trim().is_empty()).cloned();
        let Some(label) = label else {
            found.left_out.push((written.id, "no label".to_owned()));
            continue;
        };
        match texts.of(&written) {
            Ok((launch, case)) => found.cases.push(LabelledCase {
                // Cases of one cause are alike as those of one project are.
                project: written.project.or(written.rca_id).unwrap_or_else(|| written.id.clone()),
                id: written.id,
                label: label.trim().to_owned(),
                decidable: written.decidable,
                launch: Arc::new(launch),
                case,
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
            let error = Diagnostic::error("learn/duplicate", message).help("give each case an id of its own");
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
        return Err(wrong(source, tree.head(source), "there is no list of cases"));
    };
    let mut found = Diagnostics::new();
    let cases = typed(source, cases, &mut found);
    let rcas = typed(source, tree.get("rcas").and_then(Yaml::as_list).unwrap_or_default(), &mut found);
    found.into_result(LabelledFile { cases, rcas }).map_err(SessionError::Texts)
}

fn fault(source: &Source, span: Span, reason: &str) -> Diagnostic {
    Diagnostic::error("learn/cases", format!("this is no labelled case: {reason}")).label(source, span, "here").help(HELP)
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
        _ => Err(serde::de::Error::custom("an id must be a text")),
    }
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
struct CaseTexts<'a> {
    session: &'a Session,
    masker: Arc<Masker>,
    /// The directory that `launch:` is relative to.
    beside: PathBuf,
    /// The files of the directory of launches.
    launches: Option<Vec<PathBuf>>,
}

impl CaseTexts<'_> {
    /// The failure of a case and the launch it is of, or why there is none.
    fn of(&self, written: &WrittenCase) -> Result<(Launch, Case), String> {
        if let Some(failure) = &written.failure {
            return self.own(&written.id, failure);
        }
        let path = match &written.launch {
            Value::Null | Value::Bool(false) => None,
            Value::String(path) if self.beside.join(path).is_file() => Some(self.beside.join(path)),
            Value::String(_) => return Err("`launch` names no file".to_owned()),
            _ => return Err("`launch` is no path".to_owned()),
        };
        let none = || "no text: neither `failure`, `launch`, nor a launch of its id".to_owned();
        match path.map_or_else(|| self.by_id(&written.id), |path| Ok(Some(path)))? {
            Some(path) => self.launched(&path, written.case.as_deref()),
            None if written.error_message.is_some() || written.log_snippet.is_some() => {
                let text = |text: &Option<String>| text.clone().unwrap_or_default();
                let failure = WrittenFailure {
                    name: text(&written.test_name),
                    suite: String::new(),
                    error_message: text(&written.error_message),
                    log_snippet: text(&written.log_snippet),
                };
                self.own(&written.id, &failure)
            }
            None => Err(none()),
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

    fn own(&self, id: &str, failure: &WrittenFailure) -> Result<(Launch, Case), String> {
        if failure.error_message.trim().is_empty() && failure.log_snippet.trim().is_empty() {
            return Err("no text: its failure has neither an error message nor a log".to_owned());
        }
        let masked = |text: &str| self.masker.mask(text).into_owned();
        let case = Case {
            id: id.to_owned(),
            name: if failure.name.is_empty() { id.to_owned() } else { failure.name.clone() },
            suite: failure.suite.clone(),
            status: "FAILED".to_owned(),
            error_message: masked(&failure.error_message),
            log_snippet: masked(&failure.log_snippet).into(),
            ..Case::default()
        };
        Ok((Launch { run_id: "none".into(), name: "none".into(), ..Launch::default() }, case))
    }

    fn launched(&self, path: &Path, wanted: Option<&str>) -> Result<(Launch, Case), String> {
        let read = self.session.read_launch(&[path.to_owned()], &self.masker);
        let mut launch = read.map_err(|error| match error {
            SessionError::Texts(found) => found.iter().next().map_or_else(String::new, |first| first.message.clone()),
            error => error.to_string(),
        })?;
        let cases = std::mem::take(&mut launch.cases);
        // What the launch says of its size stays as it was.
        launch.left_out += cases.len();
        let case = match wanted {
            Some(wanted) => cases.into_iter().find(|case| case.id == wanted || case.name == wanted),
            None => cases.into_iter().next(),
        };
        let missing: Cow<'_, str> =
            wanted.map_or("its launch has no failed case".into(), |id| format!("its launch has no case `{id}`").into());
        Ok((launch, case.ok_or(missing)?))
    }
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
        assert!(bad("a.yaml", "case: 1\n").contains("there is no list of cases"));
        assert!(bad("a.yaml", "- { id: a }\n- { id: a }\n").starts_with("learn/duplicate"));
    }
}
