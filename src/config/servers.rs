//! `mcp_servers:`: the servers whose tools nodes may call.

use super::agents::{address, bounds, place, secret, set, time, words};
use super::keys::{SECRET, SERVER};
use asterisk_adapters::agent::{ServerSettings, Servers, Variable};
use asterisk_form::FormFields;
use asterisk_form::yaml::{YamlEntry, YamlReader};
use asterisk_pipeline::Spanned;
use std::collections::BTreeMap;

/// How a variable is written.
const VARIABLE: &str = "write `NAME: value`, or `NAME: { env: OTHER }`, `NAME: { file: path }` for a secret";

/// Those that a file defines, each with the place of its name. The form of the file has been checked.
pub(super) fn read(reader: &mut YamlReader<'_>, file: FormFields<'_>) -> BTreeMap<String, Spanned<ServerSettings>> {
    let mut servers = BTreeMap::new();
    for YamlEntry { key, value } in file.entries("mcp_servers") {
        if key.contains(['/', ',', '=']) {
            let error = reader.error("server-name", format!("a server cannot be called `{key}`"), key.span, "");
            reader.push(error.help("nodes call a tool as SERVER/TOOL: letters, digits, `-` and `_` are safe"));
        } else if let Some(fields) = FormFields::of(value, &SERVER) {
            servers.insert(key.value.clone(), Spanned::new(one(reader, key, fields), key.span));
        }
    }
    servers
}

/// Just the settings.
pub(super) fn plain(servers: &BTreeMap<String, Spanned<ServerSettings>>) -> Servers {
    servers.iter().map(|(name, settings)| (name.clone(), settings.value.clone())).collect()
}

fn one(reader: &mut YamlReader<'_>, name: &Spanned<String>, fields: FormFields<'_>) -> ServerSettings {
    let what = format!("server `{name}`");
    let mut settings = ServerSettings { command: words(fields, "command"), ..ServerSettings::default() };
    let url = address(reader, fields, &what);
    let given = fields.present("url").is_some() && url.is_none();
    settings.url = url.map(|url| url.value);
    let web = settings.url.as_deref().map(|url| url.starts_with("http://") || url.starts_with("https://"));
    let fault = match (settings.command.is_empty(), web) {
        (false, None) | (true, Some(true)) => None,
        (false, Some(_)) => Some("has both a `command` and a `url`"),
        (true, None) => Some("has neither a `command` nor a `url`"),
        (true, Some(false)) => Some("has a `url` that is not an HTTP URL"),
    };
    if let Some(fault) = fault.filter(|_| !given) {
        let span = fields.present("url").map_or(name.span, |url| url.span);
        let error = reader.error("server-place", format!("{what} {fault}"), span, "");
        reader.push(error.help("give `command: [program, argument]`, or `url: http://127.0.0.1:8700/mcp`"));
    }
    settings.secret = secret(reader, fields, "secret", &what);
    settings.env = variables(reader, fields, &what);
    for (key, other, there) in [("secret", "url", settings.url.is_some()), ("env", "command", !settings.command.is_empty())] {
        if fields.present(key).is_some() && fault.is_none() && !there {
            let message = format!("`{key}` of {what} is for a server with `{other}`");
            let error = reader.error("server-place", message, fields.key_span(key), "");
            reader.push(error.help("`env:` is for a `command`, `secret:` for a `url`"));
        }
    }
    set(&mut settings.bounds.timeout, time(reader, fields, "timeout", &what));
    bounds(reader, fields, &mut settings.bounds);
    settings
}

/// The variables of a server's environment: texts, or where a secret is.
fn variables(reader: &mut YamlReader<'_>, fields: FormFields<'_>, what: &str) -> BTreeMap<String, Variable> {
    let mut variables = BTreeMap::new();
    let of = format!("`env` of {what}");
    for YamlEntry { key: name, value } in fields.entries("env") {
        if name.contains(['=', '\0']) {
            let error = reader.error("server-env", format!("{of} has a variable with an invalid name"), name.span, "");
            reader.push(error.help(VARIABLE));
            continue;
        }
        let variable = if let Some(part) = FormFields::of(value, &SECRET) {
            let unclear = |reader: &mut YamlReader<'_>| {
                let message = format!("`{name}` of {of} is neither a string nor the location of a secret");
                reader.error("server-env", message, name.span, "").help(VARIABLE)
            };
            place(reader, part, name, &of, unclear).map(Variable::Secret)
        } else if value.as_text().is_some() {
            reader.text(value, &format!("`{name}` of {of}")).map(|text| Variable::Text(text.value))
        } else {
            None
        };
        variables.extend(variable.map(|variable| (name.value.clone(), variable)));
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys::PROJECT;
    use asterisk_adapters::net::SecretSource;
    use asterisk_diag::Source;
    use asterisk_form::{FormReader, yaml};
    use std::time::Duration;

    fn parse(text: &str) -> (Servers, Vec<(String, String)>) {
        let source = Source::new("asterisk.yaml", format!("mcp_servers:\n  {}", text.replace('\n', "\n  ")));
        let tree = yaml::parse(&source).expect("YAML");
        let mut check: FormReader<'_> = FormReader::new(&source, "config");
        check.file(&tree, &PROJECT, None);
        let servers = plain(&read(&mut check.reader, FormFields::of(&tree, &PROJECT).expect("a map")));
        let found = check.finish();
        let text = |label: &asterisk_diag::Label| label.source.slice(label.span).to_owned();
        (servers, found.iter().map(|fault| (fault.code.to_string(), fault.primary().map_or(String::new(), text))).collect())
    }

    #[test]
    fn entries_are_read_with_what_is_usual_for_the_rest() {
        let (servers, faults) = parse(
            "notes:\n  command: [notes, --stdio]\n  env: { MODE: plain, KEY: { env: NOTES_KEY } }\n  timeout: 5s\n  retry: { attempts: 1 }\n\
             shop: { url: 'http://127.0.0.1:1/mcp', secret: { file: token } }\n",
        );
        assert_eq!(faults, []);
        let notes = &servers["notes"];
        assert_eq!((notes.command.len(), notes.bounds.timeout, notes.bounds.retry.attempts), (2, Duration::from_secs(5), 1));
        assert_eq!(notes.env["MODE"], Variable::Text("plain".into()));
        assert_eq!(notes.env["KEY"], Variable::Secret(SecretSource::Env("NOTES_KEY".into())));
        assert_eq!(servers["shop"].secret, Some(SecretSource::File("token".into())));
    }

    #[test]
    fn what_is_wrong_is_labelled() {
        for (text, code, label) in [
            ("a: {}", "config/server-place", "a"),
            ("a: { command: x, url: 'http://h' }", "config/server-place", "'http://h'"),
            ("a: { url: 'ftp://h' }", "config/server-place", "'ftp://h'"),
            ("a/b: { command: x }", "config/server-name", "a/b"),
            ("a: { command: x, secret: { env: T } }", "config/server-place", "secret"),
            ("a: { url: 'http://h', env: { A: b } }", "config/server-place", "env"),
            ("a: { url: 'http://h', secret: abc }", "config/secret", "***"),
            ("a: { command: x, env: { A: [b] } }", "config/type", "[b]"),
            ("a: { command: x, comand: y }", "config/unknown-key", "comand"),
        ] {
            assert_eq!(parse(text).1, [(code.to_owned(), label.to_owned())], "{text}");
        }
    }
}
