//! Who is let in over the network.

use std::net::SocketAddr;

/// Where the network comes in.
#[derive(Debug)]
pub struct NetworkGuard {
    /// The address to listen at.
    pub at: SocketAddr,
    /// What whoever comes must show; needed anywhere but on the loopback.
    pub token: Option<Token>,
    /// Names that the server may be called by besides those of the loopback, as `HOST` or `HOST:PORT`.
    pub hosts: Vec<String>,
    /// Pages of these origins may call, besides those of this machine (`https://tools.example.com:443`).
    pub origins: Vec<String>,
    /// The most connections at once, at least 1; others wait until one ends or is idle.
    pub connections: usize,
    /// The most of them from one address; nothing for half of all, but for this machine's own address no bound of its own.
    pub from_one: Option<usize>,
}

/// A secret. It is not shown.
pub struct Token(blake3::Hash);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// The fewest bytes of one.
    pub const LEAST: usize = 16;

    /// That secret, if it is long enough.
    pub fn new(secret: &str) -> Option<Self> {
        (secret.len() >= Self::LEAST).then(|| Self(blake3::hash(secret.as_bytes())))
    }

    /// Whether a header `Authorization` shows it. How long that takes says nothing of the secret.
    pub(super) fn is_shown(&self, header: Option<&[u8]>) -> bool {
        let shown = header.and_then(|header| header.strip_prefix(b"Bearer ").or_else(|| header.strip_prefix(b"bearer ")));
        shown.is_some_and(|shown| blake3::hash(shown) == self.0)
    }
}

impl NetworkGuard {
    /// The names that the server may be called by: whoever resolves another name to this address is not let in.
    pub(super) fn all_hosts(&self) -> Vec<String> {
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]", "::1"].map(str::to_owned).to_vec();
        if !self.at.ip().is_unspecified() {
            hosts.push(self.at.ip().to_string());
        }
        hosts.extend(self.hosts.iter().cloned());
        hosts
    }

    /// The origins whose pages may call.
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
