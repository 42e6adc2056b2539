//! Network transport: streamable HTTP without sessions, so that requests are independent of one another.

use super::MAX_BYTES;
use super::body::TimedBody;
use super::connections::{ClientConnection, ConnectionLimits};
use super::guard::NetworkGuard;
use super::handler::Handler;
use super::registry::SessionRegistry;
use crate::ui::Ui;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONNECTION, HOST, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Path of the endpoint.
const PATH: &str = "/mcp";
/// Timeouts for the head of a request, for its body, and for open connections at shutdown.
const HEAD: Duration = Duration::from_secs(10);
const BODY: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(2);

/// Response when no connection is available.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

type ResponseBody = http_body_util::combinators::BoxBody<hyper::body::Bytes, Infallible>;
type McpService = StreamableHttpService<Handler, NeverSessionManager>;

/// Serves until `end` is cancelled.
pub(super) async fn serve(
    registry: &Arc<SessionRegistry>,
    door: NetworkGuard,
    end: &CancellationToken,
    ui: &Ui,
) -> Result<(), String> {
    if !door.at.ip().is_loopback() && door.token.is_none() {
        return Err(format!("{} is reachable from other machines, but no token is set", door.at.ip()));
    }
    let listener = TcpListener::bind(door.at).await.map_err(|error| format!("cannot listen at {}: {error}", door.at))?;
    let at = listener.local_addr().map_err(|error| error.to_string())?;
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(Some(Duration::from_secs(15)))
        .with_max_request_body_bytes(MAX_BYTES)
        .with_allowed_hosts(door.all_hosts())
        .with_allowed_origins(door.all_origins())
        .with_cancellation_token(end.child_token());
    let handler = Handler::new(Arc::clone(registry));
    let service: McpService =
        StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(NeverSessionManager::default()), config);
    let door = Arc::new(door);
    let connections = ConnectionLimits::new(door.connections, door.from_one);
    let http = hyper::server::conn::http1::Builder::new();
    ui.note(&format!("serving http://{at}{PATH}"));
    loop {
        tokio::select! {
            () = connections.wait_for_capacity() => {}
            () = end.cancelled() => break,
        }
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                // Too many open files, or the client is gone: later clients are still served.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = end.cancelled() => break,
        };
        drop(stream.set_nodelay(true));
        let Some(client) = connections.enter(peer.ip()) else {
            drop(stream.try_write(FULL));
            continue;
        };
        let (service, door, end, mut http) = (service.clone(), Arc::clone(&door), end.clone(), http.clone());
        http.timer(TokioTimer::new()).header_read_timeout(HEAD);
        tokio::spawn(async move {
            let leave = client.leave.clone();
            let answer =
                hyper::service::service_fn(move |request| one(service.clone(), Arc::clone(&door), Arc::clone(&client), request));
            let connection = http.serve_connection(TokioIo::new(stream), answer);
            let mut connection = std::pin::pin!(connection);
            tokio::select! {
                _ = connection.as_mut() => {}
                // An idle connection has nothing to finish.
                () = leave.cancelled() => {}
                () = end.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    drop(tokio::time::timeout(GRACE, connection).await);
                }
            }
        });
    }
    // Requests in progress are answered that the run is stopped.
    if let Some(served) = registry.current() {
        served.end(&asterisk_adapters::agent::QueueClosed::Cancelled);
    }
    drop(tokio::time::timeout(GRACE, connections.wait_until_empty()).await);
    Ok(())
}

/// Handles a request. The token is checked before anything else.
async fn one(
    service: McpService,
    door: Arc<NetworkGuard>,
    client: Arc<ClientConnection>,
    request: Request<Incoming>,
) -> Result<Response<ResponseBody>, Infallible> {
    if let Some(token) = &door.token
        && !token.is_shown(request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes))
    {
        let mut refused = plain(StatusCode::UNAUTHORIZED);
        refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        refused.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        return Ok(refused);
    }
    let _busy = client.busy();
    // With several headers, an intermediary may have used another than the one checked here.
    if request.headers().get_all(HOST).iter().count() > 1 {
        return Ok(plain(StatusCode::BAD_REQUEST));
    }
    if request.uri().path() != PATH {
        return Ok(plain(StatusCode::NOT_FOUND));
    }
    Ok(service.handle(request.map(|body| TimedBody::new(body, BODY))).await)
}

fn plain(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::default());
    *response.status_mut() = status;
    response
}
