//! `agents:`: who may be asked outside of the process, and how.

use super::keys::{AGENT, BREAKER, PRICE, RETRY, SECRET, TOKENS};
use crate::agent::{AgentBounds, AgentSettings, Agents, AnswererKind};
use crate::diag::{Diagnostic, address_tells, did_you_mean, looks_secret};
use crate::form::yaml::{Yaml, YamlEntry, YamlFields, YamlKind, YamlReader};
use crate::form::{Form, ValueForm};
use crate::net::SecretSource;
use crate::pipeline::Spanned;
use std::collections::BTreeMap;
use std::time::Duration;

/// Names that are nobody's to give.
const TAKEN: &[&str] = &["script", "stub"];
/// The units of times.
const UNITS: &[(&str, f64)] = &[("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// Those that a file sets up, each with the place of its name.
pub(super) fn read(reader: &mut YamlReader<'_>, yaml: &Yaml) -> BTreeMap<String, Spanned<AgentSettings>> {
    let Some(fields) = reader.map(yaml, "`agents`") else { return BTreeMap::new() };
    let mut agents = BTreeMap::new();
    for YamlEntry { key, value } in fields.entries() {
        if TAKEN.contains(&key.as_str()) || key.contains([',', '=']) || key.starts_with("mcp:") || key.trim().is_empty() {
            let error = reader.error("agent-name", format!("nobody can be called `{key}`"), key.span, "");
            let help =
                "`script`, `stub` and `mcp:` have their own meaning, and `--via` lists names with commas; take another name";
            reader.push(error.help(help));
            continue;
        }
        if let Some(settings) = one(reader, key, value) {
            agents.insert(key.value.clone(), Spanned::new(settings, key.span));
        }
    }
    agents
}

/// Just the settings.
pub(super) fn plain(agents: &BTreeMap<String, Spanned<AgentSettings>>) -> Agents {
    agents.iter().map(|(name, settings)| (name.clone(), settings.value.clone())).collect()
}

fn one(reader: &mut YamlReader<'_>, name: &Spanned<String>, yaml: &Yaml) -> Option<AgentSettings> {
    let what = format!("agent `{name}`");
    let fields = reader.map(yaml, &what)?;
    reader.known_keys(fields, &what, &AGENT.names(), AGENT.later);
    let mut settings = AgentSettings::of(kind(reader, fields, name)?);
    if let Some(entry) = given(fields, "command") {
        settings.command = words(reader, &entry.value, &format!("`command` of {what}"));
    }
    if settings.kind == AnswererKind::Exec && settings.command.is_empty() {
        let error = reader.error("agent-command", format!("{what} has no command"), name.span, "of this one");
        reader.push(
            error.help("give the program with its arguments: `command: [claude, -p]`; the prompt comes on its standard input"),
        );
    }
    settings.model =
        given(fields, "model").and_then(|entry| reader.text(&entry.value, &format!("`model` of {what}"))).map(|text| text.value);
    let url = address(reader, fields, &what);
    let told = given(fields, "url").is_some() && url.is_none();
    settings.url = url.map(|url| url.value);
    if settings.kind == AnswererKind::Http && !told && !settings.url.as_deref().is_some_and(|url| url.starts_with("http")) {
        let span = given(fields, "url").map_or(name.span, |entry| entry.value.span);
        let error = reader.error("agent-url", format!("{what} has no address"), span, "");
        reader.push(error.help("give the address above /chat/completions: `url: https://api.openai.com/v1`"));
    }
    settings.secret = secret(reader, fields, "secret", &what);
    set(&mut settings.bounds.timeout, time_of(reader, fields, "timeout", (&what, settings.kind)));
    set(&mut settings.poll, time_of(reader, fields, "poll", (&what, settings.kind)));
    set(&mut settings.size, whole(reader, fields, "size", &AGENT));
    set(&mut settings.claim, time(reader, fields, "claim", &what));
    settings.dir = given(fields, "dir")
        .and_then(|entry| reader.text(&entry.value, &format!("`dir` of {what}")))
        .map(|text| text.value.into());
    bounds(reader, fields, &what, &mut settings.bounds);
    if let Some(part) = part(reader, fields, "price", &what, &PRICE) {
        set(&mut settings.price.prompt, price(reader, part, "in"));
        set(&mut settings.price.answer, price(reader, part, "out"));
    }
    if let Some(part) = part(reader, fields, "tokens", &what, &TOKENS) {
        let mut path = |key: &str| {
            let entry = given(part, key)?;
            reader.text(&entry.value, &format!("`{key}` of `tokens`")).map(|text| text.value)
        };
        settings.tokens = Some((path("in").unwrap_or_default(), path("out").unwrap_or_default()));
    }
    if let Some(entry) = given(fields, "answer") {
        settings.answer = reader.text(&entry.value, &format!("`answer` of {what}")).map(|text| text.value);
    }
    Some(settings)
}

/// How one is asked, but for the time that an answer may take.
pub(super) fn bounds(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, what: &str, bounds: &mut AgentBounds) {
    let AgentBounds { retry, breaker, concurrency, max_bytes, .. } = bounds;
    if let Some(part) = part(reader, fields, "retry", what, &RETRY) {
        set(&mut retry.attempts, whole(reader, part, "attempts", &RETRY));
        set(&mut retry.wait, time(reader, part, "wait", "`retry`"));
        set(&mut retry.most, time(reader, part, "most", "`retry`"));
    }
    if let Some(part) = part(reader, fields, "breaker", what, &BREAKER) {
        set(&mut breaker.failures, whole(reader, part, "failures", &BREAKER));
        set(&mut breaker.rest, time(reader, part, "rest", "`breaker`"));
    }
    *concurrency = whole(reader, fields, "concurrency", &AGENT);
    set(max_bytes, whole(reader, fields, "max_bytes", &AGENT));
}

/// A program with its arguments; one text is the program alone.
pub(super) fn words(reader: &mut YamlReader<'_>, yaml: &Yaml, what: &str) -> Vec<String> {
    match yaml.as_list() {
        None => reader.text(yaml, what).into_iter().map(|text| text.value).collect(),
        Some(_) => reader.texts(yaml, what).unwrap_or_default().into_iter().map(|text| text.value).collect(),
    }
}

/// An address, unless it has something in it that looks like a secret.
pub(super) fn address(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, what: &str) -> Option<Spanned<String>> {
    let url = reader.text(&given(fields, "url")?.value, &format!("`url` of {what}"))?;
    if address_tells(&url) {
        let message = format!("the address of {what} has a user or a password in it, or what looks like a key");
        let error = reader.error_hidden("url-secret", message, url.span);
        reader.push(
            error.help("addresses are shown: leave it out, and name where the secret is: `{ env: NAME }` or `{ file: PATH }`"),
        );
        return None;
    }
    Some(url)
}

/// Where a secret is, under a key: in the environment or a file, never in the settings themselves.
pub(super) fn secret(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, key: &str, what: &str) -> Option<SecretSource> {
    let entry = given(fields, key)?;
    let help = format!("name the environment variable or the file (mode 0600) that has it: `{key}: {{ env: NAME }}`");
    if entry.value.as_text().is_some() {
        let error = reader.error_hidden("secret", format!("the {key} of {what} stands in the file"), entry.value.span);
        reader.push(error.help(help));
        return None;
    }
    place(reader, fields, key, what, |reader| {
        reader.error("secret", format!("where the {key} of {what} is, is not clear"), entry.value.span, "").help(help)
    })
}

/// Whether that can be the name of a variable that holds a secret, and not the secret.
fn is_name(name: &str) -> bool {
    let word = |ch: char| ch.is_ascii_alphanumeric() || ch == '_';
    let hex = name.len() >= 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    !name.is_empty() && !name.starts_with(|ch: char| ch.is_ascii_digit()) && name.chars().all(word) && !hex && !looks_secret(name)
}

/// The place of a secret, `{ env: NAME }` or `{ file: PATH }`; `unclear` is said where it is neither or both.
pub(super) fn place(
    reader: &mut YamlReader<'_>,
    fields: YamlFields<'_>,
    key: &str,
    what: &str,
    unclear: impl FnOnce(&mut YamlReader<'_>) -> Diagnostic,
) -> Option<SecretSource> {
    let part = part(reader, fields, key, what, &SECRET)?;
    let mut word = |name: &str| reader.text(&given(part, name)?.value, &format!("`{name}` of `{key}`")).map(|text| text.value);
    match (word("env"), word("file")) {
        (Some(name), None) if is_name(&name) => Some(SecretSource::Env(name)),
        (None, Some(path)) if !looks_secret(&path) => Some(SecretSource::File(path.into())),
        (Some(_), None) | (None, Some(_)) => {
            let value = given(part, "env").or_else(|| given(part, "file")).map_or(part.yaml.span, |entry| entry.value.span);
            let message = format!("the {key} of {what} is to be named here, and this looks like the secret itself");
            let error = reader.error_hidden("secret", message, value);
            reader.push(error.help(format!("set a variable to it, and write its name: `{key}: {{ env: NAME }}`")));
            None
        }
        _ => {
            let error = unclear(reader);
            reader.push(error);
            None
        }
    }
}

/// What kind it is: as it says, or as it is called.
fn kind(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, name: &Spanned<String>) -> Option<AnswererKind> {
    let (text, span) = match given(fields, "kind") {
        Some(entry) => {
            let text = reader.text(&entry.value, &format!("`kind` of agent `{name}`"))?;
            (text.value, text.span)
        }
        None => (name.value.clone(), name.span),
    };
    if let Some((_, kind)) = AnswererKind::NAMES.iter().find(|(known, _)| *known == text) {
        return Some(*kind);
    }
    let names: Vec<&str> = AnswererKind::NAMES.iter().map(|(name, _)| *name).collect();
    let help = format!("the kinds are {}", names.join(", "));
    let error = if given(fields, "kind").is_none() {
        reader
            .error("agent-kind", format!("agent `{name}` does not say what it is"), span, "no kind by itself")
            .help(format!("add `kind:`; {help}"))
    } else {
        let hint = did_you_mean(&text, names);
        reader.error("agent-kind", format!("there is no kind of agents `{text}`"), span, "").help(hint.unwrap_or(help))
    };
    reader.push(error);
    None
}

/// An entry that is not null.
pub(super) fn given<'y>(fields: YamlFields<'y>, key: &str) -> Option<&'y YamlEntry> {
    fields.entry(key).filter(|entry| !entry.value.is_null())
}

pub(super) fn part<'y>(
    reader: &mut YamlReader<'_>,
    fields: YamlFields<'y>,
    key: &str,
    what: &str,
    form: &Form,
) -> Option<YamlFields<'y>> {
    let entry = given(fields, key)?;
    let what = format!("`{key}` of {what}");
    let part = reader.map(&entry.value, &what)?;
    reader.known_keys(part, &what, &form.names(), form.later);
    Some(part)
}

pub(super) fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// A whole number within the bounds that its form gives.
fn whole(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, key: &str, form: &Form) -> Option<usize> {
    let ValueForm::Whole(least, most) = form.key(key)?.holds else { return None };
    let entry = given(fields, key)?;
    reader.int(&entry.value, &format!("`{key}`"), &(least..=most)).and_then(|number| usize::try_from(number).ok())
}

fn price(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, key: &str) -> Option<f64> {
    let entry = given(fields, key)?;
    let number = reader.number(&entry.value, &format!("`{key}` of `price`"))?;
    if number < 0.0 {
        let error = reader.error("agent-price", format!("`{key}` of `price` is negative"), entry.value.span, "");
        reader.push(error.help("US dollars for a million tokens"));
    }
    Some(number)
}

/// The same, but of those who answer through files, where the signal protocol has no time below 0 mean the usual one.
fn time_of(
    reader: &mut YamlReader<'_>,
    fields: YamlFields<'_>,
    key: &str,
    (what, kind): (&str, AnswererKind),
) -> Option<Duration> {
    let number = given(fields, key).and_then(|entry| match &entry.value.kind {
        YamlKind::Text(text) => leading(&text.value),
        YamlKind::Int(number) => Some(if *number > 0 { 1.0 } else { 0.0 }),
        YamlKind::Float(number) => Some(*number),
        _ => None,
    });
    if kind.through_files() && number.is_some_and(|number| number <= 0.0) { None } else { time(reader, fields, key, what) }
}

/// The number that a time begins with.
fn leading(text: &str) -> Option<f64> {
    text.trim().trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim().parse().ok()
}

/// A time with its unit, `500ms`, `30s`, `10m`, `1h`; a bare number is of seconds.
pub(super) fn time(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, key: &str, what: &str) -> Option<Duration> {
    let entry = given(fields, key)?;
    let text = match entry.value.as_text() {
        Some(text) => text.to_owned(),
        None => reader.number(&entry.value, &format!("`{key}` of {what}"))?.to_string(),
    };
    let found = duration(&text);
    if found.is_none() {
        let error = reader.error("agent-time", format!("`{key}` of {what} is no time: `{text}`"), entry.value.span, "");
        reader.push(error.help("write a number above 0 with its unit: 500ms, 30s, 10m, 1h"));
    }
    found
}

fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = (text[..at].trim(), &text[at..]);
    let factor = if unit.is_empty() { 1.0 } else { UNITS.iter().find(|(known, _)| *known == unit)?.1 };
    let seconds = number.parse::<f64>().ok()? * factor;
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Source;
    use crate::form::yaml;

    fn parse(text: &str) -> (Agents, Vec<(String, String)>) {
        let source = Source::new("asterisk.yaml", text);
        let tree = yaml::parse(&source).expect("YAML");
        let mut reader = YamlReader::new(&source, "config");
        let agents = plain(&read(&mut reader, &tree));
        let found = reader.finish();
        let text = |label: &crate::diag::Label| label.source.slice(label.span).to_owned();
        (agents, found.iter().map(|fault| (fault.code.to_string(), fault.primary().map_or(String::new(), text))).collect())
    }

    #[test]
    fn entries_are_read_with_what_is_usual_for_the_rest() {
        let (agents, faults) = parse(
            "claude:\n  kind: exec\n  command: [claude, -p]\n  timeout: 90s\n  retry: { attempts: 2, wait: 500ms }\n  \
             breaker: { rest: 1m }\n  concurrency: 2\n  price: { in: 0.5, out: 2 }\n  answer: result\n  tokens: { in: u.i, out: u.o }\n\
             manual: {}\nexec: { command: ./a.sh }\n",
        );
        assert_eq!(faults, []);
        let claude = &agents["claude"];
        assert_eq!((claude.command.len(), claude.bounds.timeout, claude.bounds.retry.attempts), (2, Duration::from_secs(90), 2));
        assert_eq!((claude.bounds.retry.wait, claude.bounds.retry.most), (Duration::from_millis(500), Duration::from_secs(60)));
        assert_eq!((claude.bounds.breaker.failures, claude.bounds.breaker.rest), (5, Duration::from_secs(60)));
        assert_eq!((claude.bounds.concurrency, claude.price.prompt, claude.answer.as_deref()), (Some(2), 0.5, Some("result")));
        assert_eq!(
            (agents["manual"].kind, agents["exec"].command.as_slice()),
            (AnswererKind::Manual, &["./a.sh".to_owned()][..])
        );
    }

    /// As the signal protocol has it.
    #[test]
    fn who_answers_through_files_has_the_usual_times_for_none() {
        let (agents, faults) = parse(
            "file: { poll: 0, timeout: -1 }\nbatch-file: { timeout: 0s, size: 2, claim: 1m }\ndesk: { kind: file, dir: d }\n",
        );
        assert_eq!(faults, []);
        let file = &agents["file"];
        assert_eq!((file.poll, file.bounds.timeout), (Duration::from_millis(500), Duration::from_secs(600)));
        let batch = &agents["batch-file"];
        assert_eq!((batch.size, batch.claim, batch.bounds.timeout), (2, Duration::from_secs(60), Duration::from_secs(600)));
        assert_eq!(agents["desk"].dir.as_deref(), Some(std::path::Path::new("d")));
    }

    #[test]
    fn what_is_wrong_is_labelled() {
        for (text, code, label) in [
            ("a: { kind: exec }", "config/agent-command", "a"),
            ("a: { kind: exce, command: x }", "config/agent-kind", "exce"),
            ("a: { command: x }", "config/agent-kind", "a"),
            ("script: { kind: exec, command: x }", "config/agent-name", "script"),
            ("a: { kind: exec, command: x, timeout: soon }", "config/agent-time", "soon"),
            ("a: { kind: exec, command: x, timeout: 0 }", "config/agent-time", "0"),
            ("a: { kind: exec, command: x, retries: 3 }", "config/unknown-key", "retries"),
            ("a: { kind: exec, command: x, secret: { env: hunter-2 } }", "config/secret", "********"),
            (
                "a: { kind: exec, command: x, secret: { env: d41d8cd98f00b204e9800998ecf8427e } }",
                "config/secret",
                "********************************",
            ),
            ("a: { kind: exec, command: x, price: { in: -1 } }", "config/agent-price", "-1"),
        ] {
            assert_eq!(parse(text).1, [(code.to_owned(), label.to_owned())], "{text}");
        }
    }
}
