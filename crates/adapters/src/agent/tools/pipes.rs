//! Transport to a server that is a command: one message per line over standard input and output.

use super::super::artifact::parse_error;
use super::super::group::{ProcessGroup, is_over};
use super::server_output::SharedServerOutput;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How long a server may take to exit after the end of its input.
const GRACE: Duration = Duration::from_millis(500);
/// Capacity of the queue of received messages.
const WAITING: usize = 16;

type SharedInput = Arc<Mutex<Option<Sender<Vec<u8>>>>>;

/// The message transport.
pub(super) struct PipeTransport {
    to: SharedInput,
    from: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
}

/// The server's process, terminated on drop.
pub(super) struct ServerProcess {
    child: Child,
    group: ProcessGroup,
    to: SharedInput,
}

/// Starts a server. A message of more than `most` bytes ends the session.
pub(super) fn start(command: Command, most: usize, output: &SharedServerOutput) -> io::Result<(PipeTransport, ServerProcess)> {
    let (mut child, group) = ProcessGroup::spawn(command)?;
    let (send, lines) = channel::<Vec<u8>>();
    if let Some(mut stdin) = child.stdin.take() {
        thread::spawn(move || lines.into_iter().all(|line| stdin.write_all(&line).and_then(|()| stdin.flush()).is_ok()));
    }
    let (text, from) = mpsc::channel(WAITING);
    if let Some(stdout) = child.stdout.take() {
        let output = output.clone();
        thread::spawn(move || listen(stdout, most, &text, &output));
    }
    if let Some(mut stderr) = child.stderr.take() {
        let output = output.clone();
        output.writes(true);
        thread::spawn(move || {
            let mut buffer = [0; 4 << 10];
            while let Ok(count @ 1..) = stderr.read(&mut buffer) {
                output.stderr(&buffer[..count]);
            }
            output.writes(false);
        });
    }
    let to: SharedInput = Arc::new(Mutex::new(Some(send)));
    Ok((PipeTransport { to: Arc::clone(&to), from }, ServerProcess { child, group, to }))
}

/// Forwards received messages until the end of the output.
fn listen(from: impl Read, most: usize, text: &mpsc::Sender<RxJsonRpcMessage<RoleClient>>, output: &SharedServerOutput) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        match from.by_ref().take(limit).read_until(b'\n', &mut line) {
            Ok(0) => return output.over("it closed the connection".into(), false),
            Ok(_) if line.len() > most => return output.over(format!("it sent more than {most} bytes at once"), true),
            Ok(_) if line.trim_ascii().is_empty() => {}
            Ok(_) => match serde_json::from_slice(&line) {
                Ok(message) => {
                    if text.blocking_send(message).is_err() {
                        return;
                    }
                }
                Err(error) if line.trim_ascii_start().starts_with(b"{") => {
                    return output.over(format!("it sent an unreadable message: {}", parse_error(&error)), false);
                }
                // Some servers write log messages to standard output.
                Err(_) => output.garbage(&line),
            },
            Err(error) => return output.over(error.to_string(), false),
        }
    }
}

impl Transport<RoleClient> for PipeTransport {
    type Error = io::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleClient>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sent = serde_json::to_vec(&item).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            let to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
            to.as_ref().and_then(|to| to.send(line).ok()).ok_or_else(|| io::ErrorKind::BrokenPipe.into())
        });
        std::future::ready(sent)
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleClient>>> + Send {
        self.from.recv()
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.to.lock().unwrap_or_else(PoisonError::into_inner).take());
        Ok(())
    }
}

impl Drop for ServerProcess {
    /// Closes the input, which asks the server to exit; then ends the whole group.
    fn drop(&mut self) {
        drop(self.to.lock().unwrap_or_else(PoisonError::into_inner).take());
        let until = Instant::now() + GRACE;
        while Instant::now() < until && !is_over(&mut self.child) {
            thread::sleep(Duration::from_millis(5));
        }
        drop(self.group.end(&mut self.child));
    }
}
