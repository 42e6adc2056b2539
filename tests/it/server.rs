//! A real server on the loopback for HTTP requests of the program: it gives prepared answers, and records the requests.

use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// The path with its query.
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    /// The body, if it is JSON.
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A server.
pub(crate) struct Server {
    /// Its address.
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// One that gives these answers, one after the other, and the last one from then on.
    pub(crate) fn new(answers: &[&str]) -> Self {
        let answers: Vec<String> = answers.iter().map(ToString::to_string).collect();
        let mut count = 0;
        Self::answering(move |_| {
            count += 1;
            answers[count.min(answers.len()) - 1].clone()
        })
    }

    /// One that answers each request, one after the other.
    pub(crate) fn answering(mut answer: impl FnMut(&Seen) -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let recorded = Arc::clone(&seen);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let Some(seen) = read(&stream) else { continue };
                recorded.lock().unwrap().push(seen.clone());
                drop(stream.write_all(answer(&seen).as_bytes()));
            }
        });
        Self { url, seen }
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

/// Reads a request.
pub(crate) fn read(stream: &TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Seen { method, path, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
}

/// An answer.
pub(crate) fn says(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}", body.len())
}

/// An answer in JSON.
pub(crate) fn says_json(body: &Value) -> String {
    says("200 OK", "Content-Type: application/json\r\n", &body.to_string())
}

/// Sets the mode of a file.
pub(crate) fn private(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
