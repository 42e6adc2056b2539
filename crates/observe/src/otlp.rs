//! A run as an OpenTelemetry trace. Spans are sent in batches, from a thread of the SDK, by OTLP over HTTP, with the HTTP client of all requests.
//!
//! A run waits for it only at its end, and for a limited time.

use super::kinds::ObserverOptions;
use super::observed::{Observer, TriedObserver};
use asterisk_adapters::net::{self, shown};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Hash;
use asterisk_session::StartedRun;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Context, KeyValue, SpanId, TraceId};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, IdGenerator, RandomIdGenerator, SdkTracerProvider, Span, SpanData, SpanProcessor,
};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tracing_subscriber::layer::Layer as _;

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
    ended: AtomicUsize,
    arrived: AtomicUsize,
    /// The last address, and its last error.
    last: Mutex<(String, Option<String>)>,
}

impl DeliveryState {
    fn last(&self, change: impl FnOnce(&mut (String, Option<String>))) {
        change(&mut self.last.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Delivers the spans of a run to a collector.
struct Otlp {
    provider: SdkTracerProvider,
    state: Arc<DeliveryState>,
    ids: RunIds,
}

/// A trace that is sent to the collector at this address, or at the one in the standard environment variable of OpenTelemetry
/// (`OTEL_EXPORTER_OTLP_ENDPOINT`). The SDK itself reads that and the other standard variables, from the process.
pub(super) fn otlp(address: Option<&str>, options: &ObserverOptions) -> TriedObserver {
    let state = Arc::new(DeliveryState::default());
    let http = OtlpHttp { client: net::HttpClient::new(PATIENCE, MOST), state: Arc::clone(&state) };
    let mut builder = SpanExporter::builder().with_http().with_http_client(http);
    if options.variables.get("OTEL_EXPORTER_OTLP_PROTOCOL").is_none() {
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
    let processor = CountingProcessor { processor: BatchSpanProcessor::new(exporter, config), state: Arc::clone(&state) };
    let ids = RunIds::default();
    let provider = SdkTracerProvider::builder().with_span_processor(processor).with_id_generator(ids.clone());
    let provider = provider.with_resource(resource()).build();
    // Spans start lazily, with their first child: the run's only once its id is known.
    let layer =
        tracing_opentelemetry::layer().with_tracer(provider.tracer(asterisk_base::PROGRAM)).with_context_activation(false);
    let layer = layer.with_location(false).with_threads(false).with_target(false).with_tracked_inactivity(false);
    let layer = layer.with_filter(options.filter(options.of_spans())).boxed();
    Ok((Box::new(Otlp { provider, state, ids }), Some(layer)))
}

impl Observer for Otlp {
    fn began(&mut self, begun: &StartedRun<'_>, _: Timestamp) {
        self.ids.begin(begun.run);
    }

    /// Delivers the rest. Fails if anything did not arrive.
    fn end(&mut self, _: Timestamp) -> io::Result<()> {
        // The result is determined by what arrived.
        let in_time = self.provider.shutdown_with_timeout(PATIENCE).is_ok();
        let ended = self.state.ended.load(Ordering::Acquire);
        let lost = ended - self.state.arrived.load(Ordering::Acquire).min(ended);
        if lost == 0 {
            return Ok(());
        }
        let (address, why) = std::mem::take(&mut *self.state.last.lock().unwrap_or_else(PoisonError::into_inner));
        let why = why.unwrap_or_else(|| if in_time { "the queue was full".into() } else { "it does not answer".into() });
        let message = format!(
            "{lost} of {ended} spans did not arrive at {address}: {why}; check that a collector listens there, or name another: --observe otlp=URL"
        );
        Err(io::Error::other(message))
    }
}

/// Derives the id of a trace from the run's: a resumed run continues its trace, and workers add to it.
#[derive(Clone, Debug, Default)]
struct RunIds {
    trace: Arc<Mutex<Option<TraceId>>>,
    random: RandomIdGenerator,
}

impl RunIds {
    fn begin(&self, run: &str) {
        let hash = Hash::of(run.as_bytes());
        *self.trace.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(TraceId::from_bytes(std::array::from_fn(|at| hash.bytes()[at])));
    }
}

impl IdGenerator for RunIds {
    fn new_trace_id(&self) -> TraceId {
        let trace = *self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        trace.unwrap_or_else(|| self.random.new_trace_id())
    }

    fn new_span_id(&self) -> SpanId {
        self.random.new_span_id()
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

/// Counts spans that ended.
#[derive(Debug)]
struct CountingProcessor {
    processor: BatchSpanProcessor,
    state: Arc<DeliveryState>,
}

impl SpanProcessor for CountingProcessor {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.processor.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        self.state.ended.fetch_add(1, Ordering::Release);
        self.processor.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.processor.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.processor.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.processor.set_resource(resource);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_has_the_id_of_its_run() {
        let ids = |run: &str| {
            let ids = RunIds::default();
            ids.begin(run);
            (ids.new_trace_id(), ids.new_span_id())
        };
        let [one, again, other] = ["r", "r", "s"].map(ids);
        assert_eq!(one.0, again.0);
        assert_ne!(one.0, other.0);
        assert_ne!(one.1, again.1);
        assert_ne!(RunIds::default().new_trace_id(), RunIds::default().new_trace_id());
    }
}
