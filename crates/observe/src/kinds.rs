//! The registry of observers.

use super::observed::{MadeObserver, Observer};
use super::out::ObserverOutput;
use super::{chrome_trace, jsonl, log, metrics, narration};
use asterisk_base::environment::Variables;
use asterisk_diag::did_you_mean;

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
    Writes(for<'o> fn(ObserverOutput<'o>, ObserverOptions) -> Box<dyn Observer + 'o>),
    /// Sends to the server at this address, or at the one in the environment.
    Sends(fn(Option<&str>, &Variables) -> MadeObserver),
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

/// Options of the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObserverOptions {
    /// How often `-v` was given.
    pub verbose: u8,
}

/// All kinds of observers.
pub const KINDS: &[ObserverKind] = &[
    ObserverKind {
        name: "narration",
        doc: "readable sentences with milestones",
        usual: DefaultOutput::Stderr,
        json: false,
        make: MakeObserver::Writes(|out, _| Box::new(narration::Narration::new(out))),
    },
    ObserverKind {
        name: "log",
        doc: "a line for each transition, warning and error (-v: for each step and decision, -vv: for each edge considered)",
        usual: DefaultOutput::Stderr,
        json: false,
        make: MakeObserver::Writes(|out, options| Box::new(log::LogObserver::new(out, options.verbose))),
    },
    ObserverKind {
        name: "jsonl",
        doc: "each recorded event as a line of JSON",
        usual: DefaultOutput::Append,
        json: true,
        make: MakeObserver::Writes(|out, _| Box::new(jsonl::Jsonl::new(out))),
    },
    ObserverKind {
        name: "metrics",
        doc: "counts and durations in the Prometheus text format, at the end of the run",
        usual: DefaultOutput::Replace,
        json: false,
        make: MakeObserver::Writes(|out, _| Box::new(metrics::Metrics::new(out))),
    },
    ObserverKind {
        name: "trace",
        doc: "a timeline of the steps of each case, for a viewer of Chrome traces",
        usual: DefaultOutput::Replace,
        json: true,
        make: MakeObserver::Writes(|out, _| Box::new(chrome_trace::ChromeTrace::new(out))),
    },
    ObserverKind {
        name: "otlp",
        doc: "OpenTelemetry traces, sent to a collector",
        usual: DefaultOutput::Server,
        json: false,
        #[cfg(feature = "otel")]
        make: MakeObserver::Sends(super::otlp::sender),
        #[cfg(not(feature = "otel"))]
        make: MakeObserver::Sends(without_opentelemetry),
    },
];

#[cfg(any(test, not(feature = "otel")))]
fn without_opentelemetry(_: Option<&str>, _: &Variables) -> MadeObserver {
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

    #[test]
    fn a_build_without_opentelemetry_says_how_to_get_one_that_has_it() {
        let said = without_opentelemetry(None, &Variables::default()).err().map(|(message, help)| format!("{message}; {help}"));
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
                "unknown observer `x`; known here: `jsonl`, `log`, `metrics`, `narration`, `otlp`, `trace`",
            ]
        );
        assert!(KINDS.iter().all(|kind| !kind.doc.is_empty()));
    }
}
