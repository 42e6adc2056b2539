//! The health and the metrics of a worker over HTTP, for orchestrators and Prometheus: `/healthz` and `/metrics`.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;

/// How long a connection may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of connections; others wait.
const CONNECTIONS: usize = 32;

/// What the pages are made of. Called from other threads.
pub trait HealthSource: Send + Sync {
    /// Why it is not healthy.
    fn fault(&self) -> Option<String>;
    /// Its metrics in Prometheus' text format.
    fn metrics(&self) -> String;
}

/// Serves the pages until the process ends; returns the address, whose port may have been 0. Fails if it cannot listen there.
pub fn serve_health(at: SocketAddr, source: Arc<dyn HealthSource>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(at)?;
    listener.set_nonblocking(true)?;
    let at = listener.local_addr()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("health".into()).spawn(move || runtime.block_on(accept(listener, source)))?;
    Ok(at)
}

async fn accept(listener: TcpListener, source: Arc<dyn HealthSource>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let free = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&free).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, or the client is gone: later clients are still served.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let source = Arc::clone(&source);
        tokio::spawn(async move {
            let answer = hyper::service::service_fn(move |request| {
                let page = page(&request, &*source);
                async move { Ok::<_, Infallible>(page) }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(TIMEOUT).keep_alive(false);
            // The client may be gone.
            drop(tokio::time::timeout(TIMEOUT, http.serve_connection(TokioIo::new(stream), answer)).await);
            drop(place);
        });
    }
}

fn page(request: &Request<Incoming>, source: &dyn HealthSource) -> Response<Full<Bytes>> {
    let (status, text) = match (request.method(), request.uri().path()) {
        (&Method::GET | &Method::HEAD, "/healthz") => match source.fault() {
            None => (StatusCode::OK, "ok\n".to_owned()),
            Some(fault) => (StatusCode::SERVICE_UNAVAILABLE, format!("{fault}\n")),
        },
        (&Method::GET | &Method::HEAD, "/metrics") => (StatusCode::OK, source.metrics()),
        (&Method::GET | &Method::HEAD, _) => (StatusCode::NOT_FOUND, "there are /healthz and /metrics\n".to_owned()),
        _ => (StatusCode::METHOD_NOT_ALLOWED, String::new()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8"));
    response
}
