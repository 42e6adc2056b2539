//! `reportportal:`: where launches are fetched from and results are pushed to.

use super::agents::{address, secret};
use super::keys::PORTAL;
use super::origin::{Setting, SettingOrigin};
use asterisk_adapters::net::SecretSource;
use asterisk_adapters::reportportal::PortalSettings;
use asterisk_base::environment::Variables;
use asterisk_diag::{Span, address_reveals_secret};
use asterisk_form::FormFields;
use asterisk_form::yaml::YamlReader;
use asterisk_pipeline::Spanned;
use serde_json::json;

/// Variables that override the files.
const URL: &str = "ASTERISK_REPORTPORTAL_URL";
const PROJECT: &str = "ASTERISK_REPORTPORTAL_PROJECT";
const TOKEN: &str = "ASTERISK_REPORTPORTAL_TOKEN";

/// The settings of a file, each with its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PortalSection {
    pub(super) url: Option<Spanned<String>>,
    pub(super) project: Option<Spanned<String>>,
    pub(super) token: Option<Spanned<SecretSource>>,
}

/// Reads the settings of a file. The form of the file has been checked.
pub(super) fn read(reader: &mut YamlReader<'_>, file: FormFields<'_>) -> PortalSection {
    const WHAT: &str = "`reportportal`";
    let Some(fields) = file.map("reportportal", &PORTAL) else { return PortalSection::default() };
    let url = address(reader, fields, WHAT);
    let token = secret(reader, fields, "token", WHAT).map(|token| Spanned::new(token, fields.key_span("token")));
    PortalSection { url, project: fields.text("project"), token }
}

/// The settings in use: each part from the environment, or otherwise from the first file that sets it, with its place.
pub(super) fn settled(
    variables: &Variables,
    files: &[&PortalSection],
    at: &dyn Fn(usize, Span) -> SettingOrigin,
) -> (PortalSettings, Vec<Setting>) {
    let variable = |name: &'static str| {
        let value = variables.text(name).filter(|value| !value.trim().is_empty())?;
        Some((value, SettingOrigin::Variable(name)))
    };
    let text = |name: &'static str, part: fn(&PortalSection) -> &Option<Spanned<String>>| {
        let by_file = || {
            let mut said = files.iter().enumerate();
            said.find_map(|(file, said)| part(said).as_ref().map(|text| (text.value.clone(), at(file, text.span))))
        };
        variable(name).or_else(by_file)
    };
    let (url, project) = (text(URL, |said| &said.url), text(PROJECT, |said| &said.project));
    let token = variable(TOKEN).map(|(_, origin)| (SecretSource::Env(TOKEN.to_owned()), origin)).or_else(|| {
        let mut said = files.iter().enumerate();
        said.find_map(|(file, said)| said.token.as_ref().map(|token| (token.value.clone(), at(file, token.span))))
    });
    let mut shown = Vec::new();
    let mut show = |name: &str, value: Option<(serde_json::Value, &SettingOrigin)>| {
        if let Some((value, origin)) = value {
            shown.push(Setting { name: format!("reportportal.{name}"), value, origin: origin.clone() });
        }
    };
    // What is refused when it is used is not shown before that.
    show(
        "url",
        url.as_ref().map(|(url, origin)| (json!(if address_reveals_secret(url) { "(not shown)" } else { url.as_str() }), origin)),
    );
    show("project", project.as_ref().map(|(project, origin)| (json!(project), origin)));
    show("token", token.as_ref().map(|(token, origin)| (json!(token), origin)));
    let settings = PortalSettings { url: url.map(first), project: project.map(first), token: token.map(first) };
    (settings, shown)
}

fn first<T>((value, _): (T, SettingOrigin)) -> T {
    value
}
