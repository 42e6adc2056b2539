//! Root causes as code annotations: GitHub and Azure workflow commands, GitLab code quality, SARIF.

use super::build::RunReport;
use super::causes::Cause;
use super::finding::{AnnotationLevel, CodeLocation};
use super::sarif::{sarif_log, sarif_uri};
use super::text::{clean, short};
use super::timeline::CauseState;
use asterisk_base::model::Hash;
use asterisk_diag::counted;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The maximum length of a title, in characters.
const MAX_TITLE: usize = 200;

/// The maximum number of tests listed in a message.
const MAX_TESTS: usize = 5;

/// A root cause attached to a line of code.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    pub level: AnnotationLevel,
    /// The file, relative to the working directory.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The defect type code and its display name.
    pub defect: (String, String),
    pub title: String,
    pub message: String,
    /// A fingerprint that is stable across runs.
    pub key: String,
    pub confidence: Option<f64>,
    /// Whether earlier launches have the cause too; absent if unknown.
    pub is_known: Option<bool>,
}

/// Returns one annotation per cause, those with most failures first. `find` resolves the path of a stack frame to a file of the working
/// tree.
pub fn annotations(report: &RunReport, find: impl Fn(&str) -> Option<String>) -> Vec<Annotation> {
    let names: BTreeMap<&str, &str> = report.cases.iter().map(|case| (&*case.case, &*case.name)).collect();
    report.causes.iter().map(|cause| annotation(cause, &names, &find)).collect()
}

fn annotation(cause: &Cause, names: &BTreeMap<&str, &str>, find: &impl Fn(&str) -> Option<String>) -> Annotation {
    let finding = &cause.finding;
    let place = finding.location.as_ref().and_then(|CodeLocation { path, line }| Some((find(path)?, *line)));
    let mut parts = vec![short(&clean(&finding.summary), 1000)];
    let tests: Vec<String> = cause
        .cases
        .iter()
        .take(MAX_TESTS)
        .map(|case| short(&clean(names.get(case.as_str()).copied().unwrap_or(case)), MAX_TITLE))
        .collect();
    let more = cause.cases.len().checked_sub(MAX_TESTS + 1).map_or(String::new(), |more| format!(" and {} more", more + 1));
    parts.push(format!("{}: {}{more}", counted(cause.cases.len(), "failure", "failures"), tests.join(", ")));
    parts.extend(finding.next_steps.first().map(|step| format!("Next: {}", short(&clean(step), 500))));
    parts.retain(|part| !part.is_empty());
    let title = short(&clean(&finding.title), MAX_TITLE);
    // Azure recognises a logging command anywhere in a line.
    let inert = |text: &str| text.replace("##", "# #");
    Annotation {
        level: finding.level.unwrap_or(AnnotationLevel::Warning),
        line: place.as_ref().map(|(_, line)| *line).filter(|line| *line > 0),
        file: place.map(|(file, _)| file),
        defect: (finding.defect_type.clone(), finding.defect_name.clone()),
        title: if title.is_empty() { "Failure".to_owned() } else { inert(&title) },
        message: inert(&parts.join("\n")),
        key: finding.cause.clone(),
        confidence: finding.confidence,
        is_known: cause.seen.state.map(|state| state != CauseState::New),
    }
}

impl Annotation {
    /// Defect, probability and title on one line.
    fn headline(&self) -> String {
        let sure = self.confidence.map_or(String::new(), |sure| format!(" ({sure:.2})"));
        let (code, name) = &self.defect;
        let defect = if name.is_empty() { code } else { name };
        if defect.is_empty() { self.title.clone() } else { format!("{defect}{sure}: {}", self.title) }
    }

    /// Formats the annotation as a GitHub workflow command.
    pub fn github(&self) -> String {
        let level = match self.level {
            AnnotationLevel::Error => "error",
            AnnotationLevel::Warning => "warning",
            AnnotationLevel::Notice => "notice",
        };
        let mut properties = Vec::new();
        properties.extend(self.file.as_ref().map(|file| ("file", file.clone())));
        properties.extend(self.line.map(|line| ("line", line.to_string())));
        properties.push(("title", self.headline()));
        github_command(level, &properties, &self.message)
    }

    /// Formats the annotation as an Azure Pipelines logging command, which only has errors and warnings.
    pub fn azure(&self) -> String {
        let escape = |text: &str| {
            text.replace('%', "%AZP25").replace('\r', "%0D").replace('\n', "%0A").replace(']', "%5D").replace(';', "%3B")
        };
        let level = if self.level == AnnotationLevel::Error { "error" } else { "warning" };
        let file = self.file.as_ref().map_or(String::new(), |file| format!(";sourcepath={}", escape(file)));
        let line = self.line.map_or(String::new(), |line| format!(";linenumber={line}"));
        let text = format!("{}\n{}", self.headline(), self.message);
        format!("##vso[task.logissue type={level}{file}{line};code={}]{}", escape(&self.defect.0), escape(&text))
    }
}

/// Formats a GitHub workflow command with its properties escaped.
pub fn github_command(command: &str, properties: &[(&str, String)], message: &str) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let properties: Vec<String> = properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    format!("::{command} {}::{}", properties.join(","), data(message))
}

/// A GitLab code quality report. Its entries require a file, so causes without one are located in `elsewhere`.
pub fn code_quality(annotations: &[Annotation], elsewhere: &str) -> Value {
    let entry = |one: &Annotation| {
        let severity = match one.level {
            AnnotationLevel::Error => "critical",
            AnnotationLevel::Warning => "major",
            AnnotationLevel::Notice => "info",
        };
        json!({
            "description": one.headline(),
            "check_name": if one.defect.0.is_empty() { "cause" } else { &one.defect.0 },
            "fingerprint": Hash::of(one.key.as_bytes()).to_string(),
            "severity": severity,
            "location": { "path": one.file.as_deref().unwrap_or(elsewhere), "lines": { "begin": one.line.unwrap_or(1) } },
        })
    };
    Value::Array(annotations.iter().map(entry).collect())
}

/// A SARIF log with one result per cause. Code scanning requires a file, so causes without one are located in `elsewhere`.
pub fn causes_sarif(annotations: &[Annotation], elsewhere: &str) -> Value {
    let rules: BTreeMap<&str, &str> = annotations.iter().map(|one| (one.defect.0.as_str(), one.defect.1.as_str())).collect();
    let rule = |(code, name): (&&str, &&str)| {
        let name = if name.is_empty() { "Cause of failed tests" } else { name };
        json!({ "id": code, "shortDescription": { "text": name }, "help": { "text": name } })
    };
    let result = |one: &Annotation| {
        let level = match one.level {
            AnnotationLevel::Error => "error",
            AnnotationLevel::Warning => "warning",
            AnnotationLevel::Notice => "note",
        };
        let mut result = json!({
            "ruleId": one.defect.0,
            "ruleIndex": rules.keys().position(|code| *code == one.defect.0),
            "level": level,
            "message": { "text": format!("{}\n{}", one.title, one.message) },
            "locations": [{ "physicalLocation": {
                "artifactLocation": { "uri": sarif_uri(one.file.as_deref().unwrap_or(elsewhere)) },
                "region": { "startLine": one.line.unwrap_or(1) },
            } }],
            "partialFingerprints": { "asteriskCause/v1": one.key },
        });
        if let Some(known) = one.is_known {
            result["baselineState"] = json!(if known { "unchanged" } else { "new" });
        }
        if let Some(sure) = one.confidence {
            result["rank"] = json!(sure * 100.0);
        }
        result
    };
    let rules_shown: Vec<Value> = rules.iter().map(rule).collect();
    sarif_log(&rules_shown, &annotations.iter().map(result).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CaseFinding;
    use crate::build::report_of;
    use crate::case::CaseReport;

    fn one() -> Annotation {
        let finding = CaseFinding {
            title: "Expected 1, got 2".into(),
            summary: "50%\nof ##vso[task.x] it".into(),
            defect_type: "x1".into(),
            defect_name: "Some, bug".into(),
            level: Some(AnnotationLevel::Error),
            location: Some(CodeLocation { path: "Cart.java".into(), line: 7 }),
            confidence: Some(0.5),
            cause: "k".into(),
            next_steps: vec!["Look.".into()],
            ..CaseFinding::default()
        };
        let case = CaseReport { case: "1".into(), name: "adds".into(), finding, ..CaseReport::default() };
        let mut found = annotations(&report_of(vec![case]), |path| Some(format!("src/a:b/{path}")));
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    #[test]
    fn commands_are_escaped() {
        let one = one();
        assert_eq!(
            one.github(),
            "::error file=src/a%3Ab/Cart.java,line=7,title=Some%2C bug (0.50)%3A Expected 1%2C got 2::50%25 of # #vso[task.x] it%0A1 failure: adds%0ANext: Look."
        );
        assert_eq!(
            one.azure(),
            "##vso[task.logissue type=error;sourcepath=src/a:b/Cart.java;linenumber=7;code=x1]Some, bug (0.50): Expected 1, got 2%0A50%AZP25 of # #vso[task.x%5D it%0A1 failure: adds%0ANext: Look."
        );
        let nowhere = Annotation { file: None, line: None, level: AnnotationLevel::Notice, ..one };
        assert!(nowhere.github().starts_with("::notice title=Some"), "{}", nowhere.github());
        assert!(nowhere.azure().starts_with("##vso[task.logissue type=warning;code=x1]"), "{}", nowhere.azure());
    }

    #[test]
    fn reports_locate_every_cause() {
        let nowhere = Annotation { file: None, line: None, is_known: Some(true), ..one() };
        let all = [one(), nowhere];
        let quality = code_quality(&all, "reports/a.xml");
        assert_eq!(quality[0]["location"], json!({ "path": "src/a:b/Cart.java", "lines": { "begin": 7 } }));
        assert_eq!(quality[1]["location"], json!({ "path": "reports/a.xml", "lines": { "begin": 1 } }));
        let sarif = causes_sarif(&all, "reports/a.xml");
        let results = &sarif["runs"][0]["results"];
        assert_eq!(results[0]["locations"][0]["physicalLocation"]["region"]["startLine"], 7);
        assert_eq!((&results[0]["baselineState"], &results[1]["baselineState"]), (&Value::Null, &json!("unchanged")));
        assert_eq!(sarif["runs"][0]["tool"]["driver"]["rules"][0]["id"], "x1");
    }
}
