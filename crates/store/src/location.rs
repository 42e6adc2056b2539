//! Where a store is: a file, or a project's schema in a PostgreSQL database.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The project of an address that names none.
const DEFAULT_PROJECT: &str = "default";
/// PostgreSQL cuts off longer names; ours begin with `asterisk_`.
const MAX_PROJECT: usize = 48;

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreLocation {
    /// A file of this machine.
    File(PathBuf),
    /// A project on a PostgreSQL server.
    Server(ServerAddress),
}

/// The address of a project's store on a PostgreSQL server: `postgres://USER@HOST:PORT/DATABASE?project=NAME`.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerAddress {
    /// The address as PostgreSQL's own programs take it, with the password, if it has one.
    url: String,
    /// The project.
    project: String,
    /// A file of certificates to trust instead of the usual ones.
    root_certificates: Option<PathBuf>,
}

impl StoreLocation {
    /// The path of the file; `None` on a server.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Server(_) => None,
        }
    }

    /// Whether the store is a file that does not exist.
    pub fn is_missing(&self) -> bool {
        self.path().is_some_and(|path| path.try_exists().is_ok_and(|there| !there))
    }

    /// Whether a text is an address rather than a path.
    pub fn is_address(text: &str) -> bool {
        ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme))
    }
}

impl From<PathBuf> for StoreLocation {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<&PathBuf> for StoreLocation {
    fn from(path: &PathBuf) -> Self {
        Self::File(path.clone())
    }
}

impl From<&Self> for StoreLocation {
    fn from(location: &Self) -> Self {
        location.clone()
    }
}

impl From<&Path> for StoreLocation {
    fn from(path: &Path) -> Self {
        Self::File(path.to_path_buf())
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Server(address) => address.fmt(f),
        }
    }
}

impl FromStr for StoreLocation {
    type Err = String;

    /// An address begins with `postgres://` or `postgresql://`; anything else is a path.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if Self::is_address(text) { text.parse().map(Self::Server) } else { Ok(Self::File(text.into())) }
    }
}

impl ServerAddress {
    /// The address without what only this program reads.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The project.
    pub fn project(&self) -> &str {
        &self.project
    }

    /// The schema that holds the project's tables.
    pub fn schema(&self) -> String {
        format!("asterisk_{}", self.project)
    }

    /// A file of certificates to trust instead of the usual ones (`sslrootcert=`).
    pub fn root_certificates(&self) -> Option<&Path> {
        self.root_certificates.as_deref()
    }

    /// The address with a password, if it has none.
    #[must_use]
    pub fn with_password(&self, password: &str) -> Self {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("postgres", &self.url));
        let Some((user, place)) = rest.split_once('@').filter(|(user, _)| !user.contains(':')) else { return self.clone() };
        let mut escaped = String::with_capacity(password.len() * 3);
        for byte in password.bytes() {
            let _ = write!(escaped, "%{byte:02X}");
        }
        Self { url: format!("{scheme}://{user}:{escaped}@{place}"), ..self.clone() }
    }

    /// The address of another project of the same database.
    ///
    /// # Errors
    /// If the name is invalid.
    pub fn with_project(&self, project: &str) -> Result<Self, String> {
        Ok(Self { project: project_name(project)?, ..self.clone() })
    }
}

/// A name that needs no quotes in SQL.
fn project_name(name: &str) -> Result<String, String> {
    let valid = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_';
    if name.is_empty() || name.len() > MAX_PROJECT || !name.chars().all(valid) {
        return Err(format!(
            "`{name}` is not a valid project name: it must have 1 to {MAX_PROJECT} lower-case letters, digits and underscores"
        ));
    }
    Ok(name.to_owned())
}

impl FromStr for ServerAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let (mut project, mut root_certificates) = (None, None);
        let mut rest = Vec::new();
        for part in query.split('&').filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some(("project", name)) => project = Some(project_name(name)?),
                Some(("sslrootcert", path)) => root_certificates = Some(PathBuf::from(path)),
                _ => rest.push(part),
            }
        }
        let url = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
        Ok(Self { url, project: project.unwrap_or_else(|| DEFAULT_PROJECT.to_owned()), root_certificates })
    }
}

/// The address without the password.
impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = self.url.split_once('?').map_or(self.url.as_str(), |(base, _)| base);
        let (scheme, rest) = base.split_once("://").unwrap_or(("postgres", base));
        let (user, place) = rest.rsplit_once('@').map_or((None, rest), |(user, place)| (Some(user), place));
        let user = user.map(|user| user.split_once(':').map_or(user, |(name, _)| name));
        write!(f, "{scheme}://{}{place}?project={}", user.map(|user| format!("{user}@")).unwrap_or_default(), self.project)
    }
}

impl fmt::Debug for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_address_is_distinguished_from_a_path() {
        for path in ["store.db", "/a/postgres", "./postgres://x", "postgres:/x"] {
            assert_eq!(path.parse(), Ok(StoreLocation::File(path.into())));
        }
        for address in ["postgres://h/d", "postgresql://u:p@h:1/d?project=web&sslmode=require"] {
            assert!(matches!(address.parse(), Ok(StoreLocation::Server(_))), "{address}");
        }
    }

    #[test]
    fn what_only_this_program_reads_is_taken_out() {
        let address: ServerAddress =
            "postgres://u:p@h:1/d?connect_timeout=3&project=web_2&sslrootcert=/ca.pem&sslmode=require".parse().unwrap();
        assert_eq!(address.url(), "postgres://u:p@h:1/d?connect_timeout=3&sslmode=require");
        assert_eq!((address.project(), address.schema().as_str()), ("web_2", "asterisk_web_2"));
        assert_eq!(address.root_certificates(), Some(Path::new("/ca.pem")));
        assert_eq!("postgres://h/d".parse::<ServerAddress>().unwrap().schema(), "asterisk_default");
        assert_eq!(address.with_project("app").unwrap().schema(), "asterisk_app");
    }

    #[test]
    fn the_password_is_never_shown() {
        let location: StoreLocation = "postgres://ann:s3cret@db.example:5432/ci?project=web".parse().unwrap();
        let StoreLocation::Server(address) = &location else { unreachable!() };
        assert_eq!(address.with_password("other"), *address);
        let without: ServerAddress = "postgres://ann@db.example/ci".parse().unwrap();
        assert_eq!(without.with_password("a@b").url(), "postgres://ann:%61%40%62@db.example/ci");
        for shown in [location.to_string(), format!("{location:?}")] {
            assert!(!shown.contains("s3cret") && shown.contains("ann@db.example:5432/ci"), "{shown}");
        }
    }

    #[test]
    fn a_name_that_sql_would_take_apart_is_refused() {
        for name in ["", "Web", "a-b", "a;drop", "a b", &"x".repeat(49)] {
            let error = format!("postgres://h/d?project={name}").parse::<ServerAddress>().expect_err("refused");
            assert!(error.contains("lower-case letters"), "{error}");
        }
    }
}
