//! Events as text: sentences, lines of a log, or JSON.

use super::kinds::ObserverOptions;
use super::observed::{MadeObserver, Observer};
use super::out::{ObserverOutput, flat};
use asterisk_base::clock::{Clock, Timestamp};
use std::fmt::{self, Debug, Write as _};
use std::io;
use std::sync::Arc;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, layer};
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

/// Only the messages.
pub(super) fn narration(out: ObserverOutput, options: &ObserverOptions) -> MadeObserver {
    lines(out, LineFormat { time: None }, options, LevelFilter::INFO)
}

/// Lines with time, level, message and fields.
pub(super) fn log(out: ObserverOutput, options: &ObserverOptions) -> MadeObserver {
    lines(out, LineFormat { time: Some(Time(Arc::clone(&options.clock))) }, options, of_log(options))
}

/// The same as JSON, with the spans around each event.
pub(super) fn log_json(out: ObserverOutput, options: &ObserverOptions) -> MadeObserver {
    let (writer, time) = (out.clone(), Time(Arc::clone(&options.clock)));
    let json = layer().json().flatten_event(true).with_current_span(false).with_timer(time);
    let json = json.log_internal_errors(false).with_writer(move || writer.clone());
    (Box::new(out), Some(json.with_filter(options.filter(of_log(options))).boxed()))
}

fn lines(out: ObserverOutput, format: LineFormat, options: &ObserverOptions, usual: LevelFilter) -> MadeObserver {
    let writer = out.clone();
    let lines = layer().event_format(format).log_internal_errors(false).with_ansi(false).with_writer(move || writer.clone());
    (Box::new(out), Some(lines.with_filter(options.filter(usual)).boxed()))
}

fn of_log(options: &ObserverOptions) -> LevelFilter {
    match options.verbose {
        0 => LevelFilter::INFO,
        1 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    }
}

/// An output that a layer writes to.
impl Observer for ObserverOutput {
    fn end(&mut self, _: Timestamp) -> io::Result<()> {
        Self::end(self)
    }
}

/// The time by the program's clock.
struct Time(Arc<dyn Clock>);

impl FormatTime for Time {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        writer.write_str(&to_the_millisecond(self.0.now()))
    }
}

/// Formats an instant with exactly three decimals, so that lines are aligned.
fn to_the_millisecond(at: Timestamp) -> String {
    let text = at.to_string();
    let (seconds, fraction) = text.trim_end_matches('Z').split_once('.').unwrap_or((text.trim_end_matches('Z'), ""));
    format!("{seconds}.{fraction:0<3}Z")
}

/// A line for each event: its message, and with `time` all the rest.
struct LineFormat {
    time: Option<Time>,
}

impl<S, N> FormatEvent<S, N> for LineFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut line = LogLine::default();
        event.record(&mut line);
        let Some(time) = &self.time else { return writeln!(writer, "{}", line.message) };
        time.format_time(&mut writer)?;
        writeln!(writer, " {:>5} {}{}", event.metadata().level(), line.message, line.fields)
    }
}

/// The message of an event, and its fields as ` key=value`. What comes from outside cannot begin another line.
#[derive(Default)]
pub(super) struct LogLine {
    pub(super) message: String,
    fields: String,
}

impl LogLine {
    fn put(&mut self, name: &str, value: &str) {
        let value = flat(value);
        _ = match name {
            "message" => return self.message = value,
            _ if value.is_empty() || value.contains([' ', '"', '=']) => {
                write!(self.fields, " {name}={}", serde_json::Value::from(value))
            }
            _ => write!(self.fields, " {name}={value}"),
        };
    }
}

impl Visit for LogLine {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field.name(), value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field.name(), &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_of_one_width() {
        let shown =
            [0, 10, 1_771_104_069_100, 1_771_104_069_123].map(|millis| to_the_millisecond(Timestamp::from_millis(millis)));
        assert_eq!(
            shown,
            ["1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.010Z", "2026-02-14T21:21:09.100Z", "2026-02-14T21:21:09.123Z"]
        );
    }

    #[test]
    fn values_stay_on_their_line() {
        let mut line = LogLine::default();
        for (name, value) in
            [("message", "a\nb\u{1b}[1m\u{9b}"), ("plain", "x"), ("forged", "x\n2026 ERROR y=\"z\""), ("none", "")]
        {
            line.put(name, value);
        }
        assert_eq!(line.message, "a b [1m ");
        assert_eq!(line.fields, " plain=x forged=\"x 2026 ERROR y=\\\"z\\\"\" none=\"\"");
    }
}
