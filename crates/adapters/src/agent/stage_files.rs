//! Answers with files: reads what a command wrote, packs archives, and records size, hash and path of every artifact.

use super::package::pack;
use asterisk_base::model::{safe_file_name, sha256};
use asterisk_diag::{Code, Diagnostic};
use asterisk_script::View;
use asterisk_walk::{Answerer, CACHE, NodeAnswer, Refusal, Request};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most bytes of an artifact.
const MOST_BYTES: usize = 32 << 20;
/// The most bytes of all artifacts of an answer.
const MOST_BYTES_TOGETHER: usize = 128 << 20;

/// Answers of earlier runs.
pub trait AnswerCache: Send + Sync {
    /// The answer under an address.
    fn cached(&self, key: &asterisk_base::model::Hash) -> Option<Value>;
}

/// Where stages leave their files.
pub trait StageFiles: Send + Sync {
    /// The directory of a case, below which commands leave files.
    fn path(&self, case: &str) -> PathBuf;
    /// Writes a file below it.
    fn write(&self, case: &str, name: &str, bytes: &[u8]) -> std::io::Result<()>;
}

/// Answers nodes with a policy from the cache, or prepares the artifacts of an answerer; passes other nodes on.
pub struct StageAnswerer<'a> {
    pub inner: Box<dyn Answerer + 'a>,
    /// Where files are written; `None` if the run writes none.
    pub files: Option<Box<dyn StageFiles + 'a>>,
    pub cache: Option<Box<dyn AnswerCache + 'a>>,
}

impl Answerer for StageAnswerer<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        if request.review.is_some() || request.plan.node(request.node).policy.is_none() {
            return self.inner.answer(request);
        }
        if let Some(cache) = &self.cache
            && let Some(found) = request.cache_key().and_then(|key| cache.cached(&key))
        {
            self.keep(request, &found);
            return Ok(NodeAnswer::own(Arc::new(found), CACHE, true));
        }
        let mut reply = self.inner.answer(request)?;
        let is_prepared = reply.artifact["artifacts"].as_array().is_none_or(Vec::is_empty);
        if !is_prepared {
            let mut answer = Value::clone(&reply.artifact);
            let dir = self.files.as_ref().map(|files| files.path(&request.case.id));
            prepare(&mut answer, request, dir.as_deref()).map_err(|message| {
                let message = format!("an artifact of `{}` {message}", request.node_name());
                let help = "an artifact is #{ name: \"a.md\", type: \"text\", content: \"text\" }, or has `base64`, the `path` of a file \
                            below the run's directory, or for a zip `entries: [#{ name, stage, artifact }, #{ name, content }]`";
                Refusal::failed(Diagnostic::error(Code::AgentArtifact, message).help(help))
            })?;
            self.keep(request, &answer);
            reply.artifact = Arc::new(answer);
        }
        Ok(reply)
    }

    fn recorded(&self, case: &str, agent: &asterisk_walk::Agent) {
        self.inner.recorded(case, agent);
    }
}

impl StageAnswerer<'_> {
    /// Writes the files of an answer for the commands of later stages. What cannot be written is reported when the run ends, which
    /// writes all of them.
    fn keep(&self, request: &Request<'_>, answer: &Value) {
        let Some(files) = &self.files else { return };
        for artifact in answer["artifacts"].as_array().into_iter().flatten() {
            if let Some(path) = artifact["path"].as_str() {
                files.write(&request.case.id, path, &stored_bytes(artifact)).unwrap_or_default();
            }
        }
    }
}

/// Completes the artifacts of an answer; the error says what is wrong with one.
fn prepare(answer: &mut Value, request: &Request<'_>, dir: Option<&Path>) -> Result<(), String> {
    let stage = safe_file_name(request.node_name());
    let Some(artifacts) = answer["artifacts"].as_array_mut() else { return Ok(()) };
    let mut taken: Vec<String> = Vec::new();
    let mut together = 0;
    for artifact in artifacts {
        // Invalid artifacts are reported with the answer.
        let Some(fields) = artifact.as_object_mut() else { continue };
        let Some(name) = fields.get("name").and_then(Value::as_str).map(str::to_owned) else { continue };
        let kind = fields.get("type").and_then(Value::as_str).unwrap_or("text").to_owned();
        let of = |what: String| format!("`{name}` {what}");
        let bytes = bytes(fields, &kind, request, dir).map_err(of)?;
        if bytes.len() > MOST_BYTES {
            return Err(of(format!("has {} bytes, more than {MOST_BYTES}", bytes.len())));
        }
        together += bytes.len();
        if together > MOST_BYTES_TOGETHER {
            return Err(of(format!("and those before it have {together} bytes, more than {MOST_BYTES_TOGETHER}")));
        }
        let file = unique(safe_file_name(&name), &taken);
        fields.insert("type".into(), json!(kind));
        fields.insert("bytes".into(), json!(bytes.len()));
        fields.insert("sha256".into(), json!(sha256(&bytes)));
        fields.insert("path".into(), json!(format!("{stage}/{file}")));
        fields.remove("entries");
        if fields.get("content").is_none_or(Value::is_null) {
            match String::from_utf8(bytes) {
                Ok(text) if kind == "text" => drop(fields.insert("content".into(), json!(text))),
                Ok(text) => drop(fields.insert("base64".into(), json!(STANDARD.encode(text)))),
                Err(other) => drop(fields.insert("base64".into(), json!(STANDARD.encode(other.as_bytes())))),
            }
        }
        taken.push(file);
    }
    Ok(())
}

/// A name that is not taken yet: `a.md`, `a-2.md`.
fn unique(name: String, taken: &[String]) -> String {
    let (stem, ending) = name.rsplit_once('.').map_or((name.as_str(), String::new()), |(stem, end)| (stem, format!(".{end}")));
    let numbered = (2..).map(|number| format!("{stem}-{number}{ending}"));
    let free = |name: &String| !taken.iter().any(|one| one.eq_ignore_ascii_case(name));
    std::iter::once(name.clone()).chain(numbered).find(free).unwrap_or(name)
}

/// The bytes of an artifact: of its content (never decoded), of `base64`, of a file, or of an archive.
fn bytes(fields: &Map<String, Value>, kind: &str, request: &Request<'_>, dir: Option<&Path>) -> Result<Vec<u8>, String> {
    match (&fields.get("content"), &fields.get("base64"), &fields.get("path"), &fields.get("entries")) {
        (Some(Value::String(text)), ..) => Ok(text.as_bytes().to_vec()),
        (_, Some(Value::String(text)), ..) => STANDARD.decode(text).map_err(|error| format!("has invalid base64: {error}")),
        (_, _, Some(Value::String(path)), _) => file(path, dir),
        (_, _, _, Some(Value::Array(entries))) if kind == "zip" => pack(&packed(entries, request)?),
        _ => Err("has no content".to_owned()),
    }
}

/// Reads a file that a command left below the run's directory.
fn file(path: &str, dir: Option<&Path>) -> Result<Vec<u8>, String> {
    let dir = dir.ok_or_else(|| format!("is in the file `{path}`, and this run writes no files"))?;
    let unread = |error: std::io::Error| format!("is in the file `{path}`, which cannot be read: {error}");
    let (dir, whole) = (dir.canonicalize().map_err(unread)?, dir.join(path).canonicalize().map_err(unread)?);
    if !whole.starts_with(&dir) || !whole.is_file() {
        return Err(format!("is in the file `{path}`, which is not below the run's directory"));
    }
    let size = whole.metadata().map_err(unread)?.len();
    if size > MOST_BYTES as u64 {
        return Err(format!("has {size} bytes, more than {MOST_BYTES}"));
    }
    std::fs::read(&whole).map_err(unread)
}

/// The files of an archive, by their paths in it.
fn packed(entries: &[Value], request: &Request<'_>) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let stages = request.params().get("stages").unwrap_or_else(View::null);
    let mut files = BTreeMap::new();
    for entry in entries {
        let text = |key: &str| entry[key].as_str();
        let named = || text("name").map(str::to_owned);
        let (name, bytes) = match (text("content"), text("base64"), text("stage"), text("artifact")) {
            (Some(content), ..) => (named(), content.as_bytes().to_vec()),
            (_, Some(encoded), ..) => {
                (named(), STANDARD.decode(encoded).map_err(|error| format!("has an entry with invalid base64: {error}"))?)
            }
            (_, _, Some(stage), Some(wanted)) => {
                let list = stages.present(stage).and_then(|stage| stage.present("artifacts"));
                let found = list
                    .iter()
                    .flat_map(|list| list.items())
                    .find(|one| one.present("name").and_then(View::as_str) == Some(wanted));
                let Some(found) = found else {
                    return Err(format!(
                        "has an entry `{wanted}` of the stage `{stage}`, which is not visible to it; is it in `depends_on`?"
                    ));
                };
                (named().or_else(|| Some(wanted.to_owned())), stored_bytes(&found.json()))
            }
            _ => return Err("has an entry with neither `content` nor `stage` and `artifact`".to_owned()),
        };
        let Some(name) = name.filter(|name| !name.is_empty()) else { return Err("has an entry without a name".to_owned()) };
        let safe: Vec<String> = name.split('/').filter(|part| !part.is_empty()).map(safe_file_name).collect();
        files.insert(safe.join("/"), bytes);
    }
    Ok(files)
}

/// The bytes of an artifact that was prepared.
pub fn stored_bytes(artifact: &Value) -> Vec<u8> {
    match (artifact["content"].as_str(), artifact["base64"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(encoded)) => STANDARD.decode(encoded).unwrap_or_default(),
        (None, None) => Vec::new(),
    }
}
