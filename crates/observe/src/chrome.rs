//! Spans in Chrome's trace event format (for `chrome://tracing`, Perfetto, speedscope): a line for each thread.

use super::kinds::ObserverOptions;
use super::observed::{MadeObserver, Observer};
use super::out::ObserverOutput;
use super::text::LogLine;
use asterisk_base::clock::Timestamp;
use std::fmt::Debug;
use std::io;
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing_chrome::{ChromeLayerBuilder, EventOrSpan, FlushGuard};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

pub(super) fn trace(out: ObserverOutput, options: &ObserverOptions) -> MadeObserver {
    let builder = ChromeLayerBuilder::<Registry>::new().writer(out.clone()).include_args(true).include_locations(false);
    let builder = builder.category_fn(Box::new(|it| match it {
        EventOrSpan::Event(_) => "event".to_owned(),
        EventOrSpan::Span(span) => span.name().to_owned(),
    }));
    let builder = builder.name_fn(Box::new(|it| match it {
        EventOrSpan::Event(event) => {
            let mut line = LogLine::default();
            event.record(&mut line);
            line.message
        }
        EventOrSpan::Span(span) => span.extensions().get::<SpanName>().map_or_else(String::new, |name| name.0.clone()),
    }));
    let (layer, guard) = builder.build();
    let layer = SpanNames.and_then(layer).with_filter(options.filter(options.of_spans()));
    (Box::new(Trace { guard: Some(guard), out }), Some(layer.boxed()))
}

/// A trace that is written.
struct Trace {
    guard: Option<FlushGuard>,
    out: ObserverOutput,
}

impl Observer for Trace {
    fn end(&mut self, _: Timestamp) -> io::Result<()> {
        // Waits for the thread that writes.
        drop(self.guard.take());
        self.out.end()
    }
}

/// Names spans after what they are about.
struct SpanNames;

struct SpanName(String);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpanNames {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut name = SpanName(String::new());
        attributes.record(&mut name);
        if name.0.is_empty() {
            attributes.metadata().name().clone_into(&mut name.0);
        }
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(name);
        }
    }
}

impl Visit for SpanName {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "otel.name" {
            self.0 = format!("{value:?}");
        }
    }
}
