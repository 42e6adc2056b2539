//! Settings of the ReportPortal client.

use crate::net::SecretSource;
use asterisk_diag::{address_reveals_secret, starred};
use serde::{Deserialize, Serialize};

/// `reportportal:` of the project file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortalSettings {
    /// The address above `/api`.
    pub url: Option<String>,
    /// Name of the project.
    pub project: Option<String>,
    /// Source of the API token.
    pub token: Option<SecretSource>,
}

/// Server and project of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortalLaunch {
    /// The address above `/api`.
    pub url: String,
    /// Name of the project.
    pub project: String,
}

impl PortalSettings {
    /// The address and project; an error is a message about what is missing and a hint.
    pub fn place(&self) -> Result<PortalLaunch, (String, String)> {
        let unset = |what: &str, key: &str, example: &str| {
            let variable = key.to_uppercase();
            let help = format!(
                "add to asterisk.yaml: `reportportal: {{ url: https://reportportal.example.com, project: shop, token: {{ env: RP_TOKEN }} }}`,\n\
                 or set ASTERISK_REPORTPORTAL_{variable}, or give --reportportal-{key} {example}"
            );
            (format!("{what} of ReportPortal is not set"), help)
        };
        let set = |value: &Option<String>| value.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        let url = set(&self.url).ok_or_else(|| unset("the address", "url", "URL"))?;
        let project = set(&self.project).ok_or_else(|| unset("the project", "project", "NAME"))?;
        Ok(PortalLaunch { url: address(&url)?, project })
    }
}

/// Normalises and checks the address above `/api`.
fn address(url: &str) -> Result<String, (String, String)> {
    let help = || "give the address shown in the browser, up to the host: https://reportportal.example.com".to_owned();
    let mut url = url.trim_end_matches('/');
    for below in ["/v1", "/api", "/ui"] {
        url = url.strip_suffix(below).unwrap_or(url).trim_end_matches('/');
    }
    let Some(host) = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).filter(|host| !host.is_empty()) else {
        return Err((format!("`{}` is not a URL of a server", starred(url)), help()));
    };
    if host.split('/').next().is_some_and(|authority| authority.contains('@')) || address_reveals_secret(url) {
        // The address is not shown: if it contains a user name, it may contain a password.
        return Err(("the address of ReportPortal contains a user name, a password or what looks like a key".to_owned(), help()));
    }
    Ok(url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_ends_above_the_api() {
        let place = |url: &str| PortalSettings { url: Some(url.into()), project: Some("shop".into()), token: None }.place();
        for url in ["https://rp.x", "https://rp.x/", "https://rp.x/api/v1/", "https://rp.x/ui/", "https://rp.x/api"] {
            assert_eq!(place(url).expect("an address").url, "https://rp.x", "{url}");
        }
        assert_eq!(place("http://127.0.0.1:8080/rp/api").expect("an address").url, "http://127.0.0.1:8080/rp");
        let (why, _) = place("https://me:hidden@rp.x").expect_err("refused");
        assert!(!why.contains("hidden"), "{why}");
        assert!(place("rp.x").is_err() && place(" ").is_err());
    }

    #[test]
    fn a_missing_setting_names_all_ways_to_set_it() {
        let (why, help) =
            PortalSettings { url: Some("http://x".into()), ..PortalSettings::default() }.place().expect_err("no project");
        assert_eq!(why, "the project of ReportPortal is not set");
        for way in ["asterisk.yaml", "ASTERISK_REPORTPORTAL_PROJECT", "--reportportal-project NAME"] {
            assert!(help.contains(way), "{help}");
        }
    }
}
