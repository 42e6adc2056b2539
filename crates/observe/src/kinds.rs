//! The registry of observers.

use super::observed::{MadeObserver, TriedObserver};
use super::out::ObserverOutput;
use super::{chrome, jsonl, metrics, text};
use asterisk_base::clock::Clock;
use asterisk_base::environment::Variables;
use asterisk_diag::did_you_mean;
use std::str::FromStr as _;
use std::sync::Arc;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

/// A kind of observer.
#[derive(Clone, Copy)]
pub struct ObserverKind {
    /// Its name in `--observe` and `observers:`.
    pub name: &'static str,
    /// What it writes.
    pub doc: &'static str,
    /// The default output.
    pub usual: DefaultOutput,
    /// Whether its output is JSON.
    pub json: bool,
    pub make: MakeObserver,
}

/// The constructor of an observer.
#[derive(Clone, Copy)]
pub enum MakeObserver {
    /// Writes to an output.
    Writes(fn(ObserverOutput, &ObserverOptions) -> MadeObserver),
    /// Sends to the server at this address, or at the one in the environment.
    Sends(fn(Option<&str>, &ObserverOptions) -> TriedObserver),
}

/// The output of an observer without a file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultOutput {
    Stderr,
    /// None: a file must be named, and is appended to.
    Append,
    /// None: a file must be named, and is replaced.
    Replace,
    /// The server named by the environment; an address is given instead of a file.
    Server,
}

/// What all observers of a run share.
pub struct ObserverOptions {
    /// How often `-v` was given.
    pub(super) verbose: u8,
    /// Directives that replace the default filter of every layer.
    filter: Option<Targets>,
    pub(super) clock: Arc<dyn Clock>,
    #[cfg_attr(not(feature = "otel"), expect(dead_code, reason = "only a collector's address is read from them"))]
    pub(super) variables: Variables,
}

impl ObserverOptions {
    /// Fails if `filter` has an invalid directive.
    pub fn new(
        verbose: u8,
        filter: Option<&str>,
        clock: &Arc<dyn Clock>,
        variables: &Variables,
    ) -> Result<Self, (String, String)> {
        let filter = filter.map(|directives| {
            Targets::from_str(directives).map_err(|error| {
                let help = "separate directives by commas: TARGET=LEVEL or LEVEL, such as asterisk=debug";
                (format!("the filter `{directives}` is invalid: {error}"), help.to_owned())
            })
        });
        Ok(Self { verbose, filter: filter.transpose()?, clock: Arc::clone(clock), variables: variables.clone() })
    }

    /// The filter of a layer: this program's spans and events up to a level, unless directives were given.
    pub(super) fn filter(&self, usual: LevelFilter) -> Targets {
        self.filter.clone().unwrap_or_else(|| Targets::new().with_target(asterisk_base::PROGRAM, usual))
    }

    /// The default level of layers that show spans.
    pub(super) fn of_spans(&self) -> LevelFilter {
        if self.verbose < 2 { LevelFilter::DEBUG } else { LevelFilter::TRACE }
    }
}

/// All kinds of observers.
pub const KINDS: &[ObserverKind] = &[
    ObserverKind {
        name: "narration",
        doc: "readable sentences with milestones",
        usual: DefaultOutput::Stderr,
        json: false,
        make: MakeObserver::Writes(text::narration),
    },
    ObserverKind {
        name: "log",
        doc: "a line with time and data for each transition, warning and error (-v: for each step and decision, -vv: for each edge considered)",
        usual: DefaultOutput::Stderr,
        json: false,
        make: MakeObserver::Writes(text::log),
    },
    ObserverKind {
        name: "log-json",
        doc: "the log as JSON, each line with the spans around it",
        usual: DefaultOutput::Stderr,
        json: true,
        make: MakeObserver::Writes(text::log_json),
    },
    ObserverKind {
        name: "jsonl",
        doc: "each recorded event as a line of JSON",
        usual: DefaultOutput::Append,
        json: true,
        make: MakeObserver::Writes(jsonl::jsonl),
    },
    ObserverKind {
        name: "metrics",
        doc: "counts and durations in the Prometheus text format, at the end of the run",
        usual: DefaultOutput::Replace,
        json: false,
        make: MakeObserver::Writes(metrics::metrics),
    },
    ObserverKind {
        name: "trace",
        doc: "a timeline of cases, steps, queries and commits by thread, for a viewer of Chrome traces (-vv: of script calls too)",
        usual: DefaultOutput::Replace,
        json: true,
        make: MakeObserver::Writes(chrome::trace),
    },
    ObserverKind {
        name: "otlp",
        doc: "the same as an OpenTelemetry trace, sent to a collector",
        usual: DefaultOutput::Server,
        json: false,
        #[cfg(feature = "otel")]
        make: MakeObserver::Sends(super::otlp::otlp),
        #[cfg(not(feature = "otel"))]
        make: MakeObserver::Sends(without_opentelemetry),
    },
];

#[cfg(any(test, not(feature = "otel")))]
fn without_opentelemetry(_: Option<&str>, _: &ObserverOptions) -> TriedObserver {
    let help = "build with the feature: cargo build --release --features otel";
    Err(("this build does not include OpenTelemetry".into(), help.into()))
}

/// Parses `KIND` or `KIND=FILE` into the kind and the file (or address), which may be absent where the kind has a default. The
/// error is a message with a hint.
pub fn parse(text: &str) -> Result<(&'static ObserverKind, Option<&str>), (String, String)> {
    let (name, file) = text.split_once('=').map_or((text, None), |(name, file)| (name, Some(file)));
    let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
        let help = did_you_mean(name, KINDS.iter().map(|kind| kind.name)).unwrap_or_default();
        return Err((format!("unknown observer `{name}`"), help));
    };
    match file {
        Some("") => {
            let what = if kind.usual == DefaultOutput::Server { ("address", "URL") } else { ("file", "FILE") };
            Err((format!("the observer `{name}` has no {} after `=`", what.0), format!("name one: {name}={}", what.1)))
        }
        None if matches!(kind.usual, DefaultOutput::Append | DefaultOutput::Replace) => {
            let help = format!("name one: {name}=FILE, or {name}=- for standard output");
            Err((format!("the observer `{name}` needs a file to write to"), help))
        }
        file => Ok((kind, file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_base::clock::{FixedClock, Timestamp};

    fn options(filter: Option<&str>) -> Result<ObserverOptions, (String, String)> {
        let clock: Arc<dyn Clock> = Arc::new(FixedClock::new(Timestamp::from_millis(0), 1));
        ObserverOptions::new(0, filter, &clock, &Variables::default())
    }

    #[test]
    fn directives_replace_the_default_filter() {
        let shown = |filter| options(filter).map(|options| options.filter(LevelFilter::INFO).to_string());
        assert_eq!(shown(None), Ok("asterisk=info".to_owned()));
        assert_eq!(shown(Some("warn,asterisk_script=trace")), Ok("asterisk_script=trace,warn".to_owned()));
        assert!(
            shown(Some("asterisk=loud"))
                .is_err_and(|(message, _)| message.starts_with("the filter `asterisk=loud` is invalid: "))
        );
    }

    #[test]
    fn a_build_without_opentelemetry_says_how_to_get_one_that_has_it() {
        let said = without_opentelemetry(None, &options(None).expect("no filter"))
            .err()
            .map(|(message, help)| format!("{message}; {help}"));
        let expected = "this build does not include OpenTelemetry; build with the feature: cargo build --release --features otel";
        assert_eq!(said.as_deref(), Some(expected));
    }

    #[test]
    fn observers_are_parsed() {
        let read = |text: &'static str| match parse(text) {
            Ok((kind, file)) => format!("{} {file:?}", kind.name),
            Err((message, help)) => format!("{message}; {help}"),
        };
        let shown: Vec<String> =
            ["log", "log=a=b", "jsonl=-", "otlp", "jsonl", "trace=", "otlp=", "metric=x", "x"].map(read).into();
        assert_eq!(
            shown,
            [
                "log None",
                "log Some(\"a=b\")",
                "jsonl Some(\"-\")",
                "otlp None",
                "the observer `jsonl` needs a file to write to; name one: jsonl=FILE, or jsonl=- for standard output",
                "the observer `trace` has no file after `=`; name one: trace=FILE",
                "the observer `otlp` has no address after `=`; name one: otlp=URL",
                "unknown observer `metric`; did you mean `metrics`?",
                "unknown observer `x`; known here: `jsonl`, `log`, `log-json`, `metrics`, `narration`, `otlp`, `trace`",
            ]
        );
        assert!(KINDS.iter().all(|kind| !kind.doc.is_empty()));
    }
}
