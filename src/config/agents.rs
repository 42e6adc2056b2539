//! `agents:`: who may be asked outside of the process, and how.

use super::keys::{AGENT, BREAKER, PRICE, RETRY, SECRET, TOKENS};
use asterisk_adapters::agent::{AgentBounds, AgentSettings, Agents, AnswererKind};
use asterisk_adapters::net::SecretSource;
use asterisk_diag::{Diagnostic, address_reveals_secret, looks_secret};
use asterisk_form::FormFields;
use asterisk_form::yaml::{YamlEntry, YamlKind, YamlReader};
use asterisk_pipeline::Spanned;
use std::collections::BTreeMap;
use std::time::Duration;

/// Reserved names.
const TAKEN: &[&str] = &["script", "stub"];
/// The units of times.
const UNITS: &[(&str, f64)] = &[("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// Those that a file defines, each with the place of its name. The form of the file has been checked.
pub(super) fn read(reader: &mut YamlReader<'_>, file: FormFields<'_>) -> BTreeMap<String, Spanned<AgentSettings>> {
    let mut agents = BTreeMap::new();
    for YamlEntry { key, value } in file.entries("agents") {
        if TAKEN.contains(&key.as_str()) || key.contains([',', '=']) || key.starts_with("mcp:") {
            let error = reader.error("agent-name", format!("an agent cannot be called `{key}`"), key.span, "");
            let help = "`script`, `stub` and `mcp:` are reserved, and `--via` separates names by commas; use another name";
            reader.push(error.help(help));
        } else if let Some(settings) = FormFields::of(value, &AGENT).and_then(|fields| one(reader, key, fields)) {
            agents.insert(key.value.clone(), Spanned::new(settings, key.span));
        }
    }
    agents
}

/// Just the settings.
pub(super) fn plain(agents: &BTreeMap<String, Spanned<AgentSettings>>) -> Agents {
    agents.iter().map(|(name, settings)| (name.clone(), settings.value.clone())).collect()
}

fn one(reader: &mut YamlReader<'_>, name: &Spanned<String>, fields: FormFields<'_>) -> Option<AgentSettings> {
    let what = format!("agent `{name}`");
    let mut settings = AgentSettings::of(kind(reader, fields, name)?);
    settings.command = words(fields, "command");
    if settings.kind == AnswererKind::Exec && settings.command.is_empty() {
        let error = reader.error("agent-command", format!("{what} lacks a command"), name.span, "of this one");
        reader.push(
            error.help("give the program with its arguments: `command: [claude, -p]`; it reads the prompt from standard input"),
        );
    }
    settings.model = fields.text("model").map(|text| text.value);
    let models = fields.entries("models").iter();
    settings.models = models.filter_map(|entry| Some((entry.key.to_string(), entry.value.as_text()?.to_owned()))).collect();
    let url = address(reader, fields, &what);
    let given = fields.present("url").is_some() && url.is_none();
    settings.url = url.map(|url| url.value);
    if settings.kind == AnswererKind::Http && !given && !settings.url.as_deref().is_some_and(|url| url.starts_with("http")) {
        let span = fields.present("url").map_or(name.span, |url| url.span);
        let error = reader.error("agent-url", format!("{what} lacks a `url`"), span, "");
        reader.push(error.help("give the base URL, without /chat/completions: `url: https://api.openai.com/v1`"));
    }
    settings.secret = secret(reader, fields, "secret", &what);
    set(&mut settings.bounds.timeout, time_of(reader, fields, "timeout", (&what, settings.kind)));
    set(&mut settings.poll, time_of(reader, fields, "poll", (&what, settings.kind)));
    set(&mut settings.size, fields.count("size"));
    set(&mut settings.claim, time(reader, fields, "claim", &what));
    settings.dir = fields.text("dir").map(|text| text.value.into());
    bounds(reader, fields, &mut settings.bounds);
    if let Some(price) = fields.map("price", &PRICE) {
        set(&mut settings.price.prompt, price.number("in"));
        set(&mut settings.price.answer, price.number("out"));
    }
    // The kind may have its own.
    if let Some(tokens) = fields.map("tokens", &TOKENS) {
        settings.tokens = Some((tokens.label("in"), tokens.label("out")));
    }
    if let Some(answer) = fields.text("answer") {
        settings.answer = Some(answer.value);
    }
    Some(settings)
}

/// How an agent is called, except the timeout.
pub(super) fn bounds(reader: &mut YamlReader<'_>, fields: FormFields<'_>, bounds: &mut AgentBounds) {
    let AgentBounds { retry, breaker, concurrency, max_bytes, .. } = bounds;
    if let Some(part) = fields.map("retry", &RETRY) {
        set(&mut retry.attempts, part.count("attempts"));
        set(&mut retry.wait, time(reader, part, "wait", "`retry`"));
        set(&mut retry.most, time(reader, part, "most", "`retry`"));
    }
    if let Some(part) = fields.map("breaker", &BREAKER) {
        set(&mut breaker.failures, part.count("failures"));
        set(&mut breaker.rest, time(reader, part, "rest", "`breaker`"));
    }
    *concurrency = fields.count("concurrency");
    set(max_bytes, fields.count("max_bytes"));
}

/// A program with its arguments; a string is the program alone.
pub(super) fn words(fields: FormFields<'_>, key: &str) -> Vec<String> {
    fields.texts(key).into_iter().map(|text| text.value).collect()
}

/// An address, unless it has something in it that looks like a secret.
pub(super) fn address(reader: &mut YamlReader<'_>, fields: FormFields<'_>, what: &str) -> Option<Spanned<String>> {
    let url = fields.text("url")?;
    if address_reveals_secret(&url) {
        let message = format!("the address of {what} contains a user name, a password or what looks like a key");
        let error = reader.error_hidden("url-secret", message, url.span);
        reader.push(
            error.help(
                "URLs appear in output: remove it, and name the location of the secret: `{ env: NAME }` or `{ file: PATH }`",
            ),
        );
        return None;
    }
    Some(url)
}

/// Where a secret is, under a key: in the environment or a file, never in the settings themselves.
pub(super) fn secret(reader: &mut YamlReader<'_>, fields: FormFields<'_>, key: &str, what: &str) -> Option<SecretSource> {
    let yaml = fields.present(key)?;
    let help = format!("name the environment variable or the file (mode 0600) that contains it: `{key}: {{ env: NAME }}`");
    let Some(part) = FormFields::of(yaml, &SECRET) else {
        let error = reader.error_hidden("secret", format!("the {key} of {what} is written in the file"), yaml.span);
        reader.push(error.help(help));
        return None;
    };
    place(reader, part, key, what, |reader| {
        reader.error("secret", format!("the location of the {key} of {what} is unclear"), yaml.span, "").help(help)
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
    part: FormFields<'_>,
    key: &str,
    what: &str,
    unclear: impl FnOnce(&mut YamlReader<'_>) -> Diagnostic,
) -> Option<SecretSource> {
    match (part.text("env"), part.text("file")) {
        (Some(name), None) if is_name(&name) => Some(SecretSource::Env(name.value)),
        (None, Some(path)) if !looks_secret(&path) => Some(SecretSource::File(path.value.into())),
        (Some(text), None) | (None, Some(text)) => {
            let message = format!("this should name the {key} of {what}, but looks like the secret itself");
            let error = reader.error_hidden("secret", message, text.span);
            reader.push(
                error.help(format!(
                    "put it into an environment variable, and write the variable's name: `{key}: {{ env: NAME }}`"
                )),
            );
            None
        }
        _ => {
            let error = unclear(reader);
            reader.push(error);
            None
        }
    }
}

/// Its kind: `kind:`, or its name.
fn kind(reader: &mut YamlReader<'_>, fields: FormFields<'_>, name: &Spanned<String>) -> Option<AnswererKind> {
    let find = |text: &str| AnswererKind::NAMES.iter().find(|(known, _)| *known == text).map(|(_, kind)| *kind);
    if fields.present("kind").is_some() {
        return find(&fields.text("kind")?);
    }
    let found = find(name);
    if found.is_none() {
        let names: Vec<&str> = AnswererKind::NAMES.iter().map(|(name, _)| *name).collect();
        let message = format!("agent `{name}` lacks a `kind`");
        let error = reader.error("agent-kind", message, name.span, "not the name of a kind");
        reader.push(error.help(format!("add `kind:`; the kinds are {}", names.join(", "))));
    }
    found
}

pub(super) fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// A time, except for agents that answer through files: in the signal protocol, 0 or less means the default.
fn time_of(
    reader: &mut YamlReader<'_>,
    fields: FormFields<'_>,
    key: &str,
    (what, kind): (&str, AnswererKind),
) -> Option<Duration> {
    let number = fields.present(key).and_then(|yaml| match &yaml.kind {
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
pub(super) fn time(reader: &mut YamlReader<'_>, fields: FormFields<'_>, key: &str, what: &str) -> Option<Duration> {
    let yaml = fields.present(key)?;
    let text = match yaml.as_text() {
        Some(text) => text.to_owned(),
        None => reader.number(yaml, &format!("`{key}` of {what}"))?.to_string(),
    };
    let found = duration(&text);
    if found.is_none() {
        let error = reader.error("agent-time", format!("`{key}` of {what} is not a duration: `{text}`"), yaml.span, "");
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
    use crate::config::keys::PROJECT;
    use asterisk_diag::Source;
    use asterisk_form::{FormReader, yaml};

    fn parse(text: &str) -> (Agents, Vec<(String, String)>) {
        let source = Source::new("asterisk.yaml", format!("agents:\n  {}", text.replace('\n', "\n  ")));
        let tree = yaml::parse(&source).expect("YAML");
        let mut check: FormReader<'_> = FormReader::new(&source, "config");
        check.file(&tree, &PROJECT, None);
        let agents = plain(&read(&mut check.reader, FormFields::of(&tree, &PROJECT).expect("a map")));
        let found = check.finish();
        let text = |label: &asterisk_diag::Label| label.source.slice(label.span).to_owned();
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
        let gpt = &parse("http: { url: 'http://127.0.0.1:1/v1', model: m }\n").0["http"];
        assert_eq!(
            (&gpt.answer, &gpt.tokens),
            (&AgentSettings::of(AnswererKind::Http).answer, &AgentSettings::of(AnswererKind::Http).tokens)
        );
        assert_eq!(
            (agents["manual"].kind, agents["exec"].command.as_slice()),
            (AnswererKind::Manual, &["./a.sh".to_owned()][..])
        );
    }

    /// As in the signal protocol.
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
            ("a: { kind: exce, command: x }", "config/type", "exce"),
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
            ("a: { kind: exec, command: x, price: { in: -1 } }", "config/range", "-1"),
            ("a: { kind: exec, command: x, secret: 12345 }", "config/secret", "*****"),
            ("a: { kind: exec, command: x, retry: { attempts: 0 } }", "config/type", "0"),
        ] {
            assert_eq!(parse(text).1, [(code.to_owned(), label.to_owned())], "{text}");
        }
    }
}
