//! Delivery of spans to a collector: in batches, from a thread of the SDK, by OTLP over HTTP, with the HTTP client of all requests.
//!
//! A run waits for it only at its end, and for a limited time.

use asterisk_adapters::net::{self, shown};
use asterisk_base::environment::Variables;
use opentelemetry::KeyValue;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanProcessor};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the end of a run waits for a collector, and a request for its response.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most bytes of a collector's response that are read.
const MOST: usize = 64 * 1024;
/// The most spans in the queue; those beyond are dropped, and counted.
const QUEUE: usize = 16 * 1024;
/// The path of traces, below the collector's address.
const TRACES: &str = "/v1/traces";

/// The state of the delivery.
#[derive(Debug, Default)]
struct DeliveryState {
    arrived: AtomicUsize,
    /// The last address, and its last error.
    last: Mutex<(String, Option<String>)>,
}

impl DeliveryState {
    fn last(&self, change: impl FnOnce(&mut (String, Option<String>))) {
        change(&mut self.last.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Delivers spans.
pub(super) struct Delivery {
    processor: BatchSpanProcessor,
    state: Arc<DeliveryState>,
    taken: usize,
}

impl Delivery {
    /// To the collector at this address, or at the one in the standard environment variable of OpenTelemetry
    /// (`OTEL_EXPORTER_OTLP_ENDPOINT`). The exporter itself reads that and the other standard variables, from the process.
    pub(super) fn to(address: Option<&str>, variables: &Variables) -> Result<Self, (String, String)> {
        let state = Arc::new(DeliveryState::default());
        let http = OtlpHttp { client: net::HttpClient::new(PATIENCE, MOST), state: Arc::clone(&state) };
        let mut builder = SpanExporter::builder().with_http().with_http_client(http);
        if variables.get("OTEL_EXPORTER_OTLP_PROTOCOL").is_none() {
            builder = builder.with_protocol(Protocol::HttpBinary);
        }
        if let Some(address) = address {
            if !address.starts_with("http://") && !address.starts_with("https://") {
                let message = format!("`{address}` is not the URL of a collector");
                return Err((message, "write it as otlp=http://HOST:4318".into()));
            }
            let base = address.trim_end_matches('/').trim_end_matches(TRACES);
            builder = builder.with_endpoint(format!("{base}{TRACES}"));
        }
        let exporter = builder.build().map_err(|error: ExporterBuildError| {
            let help = "give an address, otlp=http://HOST:4318, or correct the variables OTEL_EXPORTER_OTLP_*";
            (format!("OpenTelemetry cannot be set up: {error}"), help.into())
        })?;
        let exporter = CountingExporter { exporter, state: Arc::clone(&state) };
        let config = BatchConfigBuilder::default().with_max_queue_size(QUEUE).build();
        let mut processor = BatchSpanProcessor::new(exporter, config);
        processor.set_resource(&resource());
        Ok(Self { processor, state, taken: 0 })
    }

    /// Queues a span.
    pub(super) fn take(&mut self, span: SpanData) {
        self.taken += 1;
        self.processor.on_end(span);
    }

    /// Delivers the rest. Fails if anything did not arrive.
    pub(super) fn end(&mut self) -> io::Result<()> {
        // The result is determined by what arrived.
        let in_time = self.processor.shutdown_with_timeout(PATIENCE).is_ok();
        let lost = self.taken - self.state.arrived.load(Ordering::Acquire).min(self.taken);
        if lost == 0 {
            return Ok(());
        }
        let (address, why) = std::mem::take(&mut *self.state.last.lock().unwrap_or_else(PoisonError::into_inner));
        let why = why.unwrap_or_else(|| if in_time { "the queue was full".into() } else { "it does not answer".into() });
        let message = format!(
            "{lost} of {} spans did not arrive at {address}: {why}; check that a collector listens there, or name another: --observe otlp=URL",
            self.taken
        );
        Err(io::Error::other(message))
    }
}

/// The sender's name: this program, unless the environment sets another.
fn resource() -> Resource {
    let usual = Resource::builder().build();
    let named = usual.get(&"service.name".into()).is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    let mut builder = Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    if !named {
        builder = builder.with_service_name(asterisk_base::PROGRAM);
    }
    builder.build()
}

/// Counts delivered spans.
#[derive(Debug)]
struct CountingExporter {
    exporter: SpanExporter,
    state: Arc<DeliveryState>,
}

impl opentelemetry_sdk::trace::SpanExporter for CountingExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let many = batch.len();
        let result = self.exporter.export(batch).await;
        match &result {
            Ok(()) => drop(self.state.arrived.fetch_add(many, Ordering::Release)),
            Err(error) => self.state.last(|(_, why)| *why = why.take().or_else(|| Some(error.to_string()))),
        }
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// The HTTP client of the exporter.
#[derive(Debug)]
struct OtlpHttp {
    client: net::HttpClient,
    state: Arc<DeliveryState>,
}

impl OtlpHttp {
    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let address = request.uri().to_string();
        self.state.last(|last| *last = (address, None));
        let (parts, body) = request.into_parts();
        let back = self.client.send(Request::from_parts(parts, &body[..]), None).inspect_err(|error| {
            self.state.last(|(_, why)| *why = Some(error.to_string()));
        })?;
        if !(200..300).contains(&back.status) {
            self.state.last(|(_, why)| *why = Some(format!("it answers {}, {}", back.status, shown(&back.body))));
        }
        Ok(Response::builder().status(back.status).body(back.body.into_bytes().into())?)
    }
}

impl HttpClient for OtlpHttp {
    fn send_bytes<'life0, 'async_trait>(
        &'life0 self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move { self.send(request) })
    }
}
