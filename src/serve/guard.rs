//! Access control of the network server.

use std::net::SocketAddr;

/// Address and access rules of the network server.
#[derive(Debug)]
pub struct NetworkGuard {
    /// Address to listen on.
    pub at: SocketAddr,
    /// Bearer token that clients must present; required unless the address is loopback.
    pub token: Option<Token>,
    /// Accepted `Host` names besides those of the loopback, as `HOST` or `HOST:PORT`.
    pub hosts: Vec<String>,
    /// Accepted origins besides those of this machine (`https://tools.example.com:443`).
    pub origins: Vec<String>,
    /// Maximum number of connections, at least 1; further ones wait until one ends or is idle.
    pub connections: usize,
    /// Maximum number of connections from one address; `None` is half of all, without such a limit for this machine's own addresses.
    pub from_one: Option<usize>,
}

/// The hash of a bearer token. It is never displayed.
pub struct Token(blake3::Hash);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// Minimum length of a token, in bytes.
    pub const LEAST: usize = 16;

    /// A token, if the secret is long enough.
    pub fn new(secret: &str) -> Option<Self> {
        (secret.len() >= Self::LEAST).then(|| Self(blake3::hash(secret.as_bytes())))
    }

    /// Whether an `Authorization` header contains the token. The comparison takes constant time.
    pub(super) fn is_shown(&self, header: Option<&[u8]>) -> bool {
        let shown = header.and_then(|header| header.strip_prefix(b"Bearer ").or_else(|| header.strip_prefix(b"bearer ")));
        shown.is_some_and(|shown| blake3::hash(shown) == self.0)
    }
}

impl NetworkGuard {
    /// All accepted `Host` names, against DNS rebinding.
    pub(super) fn all_hosts(&self) -> Vec<String> {
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]", "::1"].map(str::to_owned).to_vec();
        if !self.at.ip().is_unspecified() {
            hosts.push(self.at.ip().to_string());
        }
        hosts.extend(self.hosts.iter().cloned());
        hosts
    }

    /// All accepted origins.
    pub(super) fn all_origins(&self) -> Vec<String> {
        let own = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"].map(str::to_owned);
        own.into_iter().chain(self.origins.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_secret_opens() {
        assert!(Token::new("short").is_none());
        let token = Token::new("correct horse battery").expect("long enough");
        for (header, is_shown) in [
            (Some("Bearer correct horse battery"), true),
            (Some("bearer correct horse battery"), true),
            (Some("Bearer correct horse batter"), false),
            (Some("correct horse battery"), false),
            (Some(""), false),
            (None, false),
        ] {
            assert_eq!(token.is_shown(header.map(str::as_bytes)), is_shown, "{header:?}");
        }
        assert!(!format!("{token:?}").contains("horse"));
    }
}
