//! The registry of observers.

use super::observed::{MadeObserver, Observer};
use super::out::ObserverOutput;
use super::{chrome_trace, jsonl, log, metrics, narration};
use crate::diag::did_you_mean;

/// A kind of observer.
#[derive(Clone, Copy)]
pub struct ObserverKind {
    /// Its name in `--observe` and `observers:`.
    pub name: &'static str,
    /// What it writes.
    pub doc: &'static str,
    /// Where to, if nobody says.
    pub usual: DefaultOutput,
    /// Whether what it writes is JSON.
    pub json: bool,
    /// How it is made.
    pub make: MakeObserver,
}

/// What makes an observer.
#[derive(Clone, Copy)]
pub enum MakeObserver {
    /// One that writes there.
    Writes(for<'o> fn(ObserverOutput<'o>, ObserverOptions) -> Box<dyn Observer + 'o>),
    /// One that sends to the server at this address, or at the one that the environment names.
    Sends(fn(Option<&str>) -> MadeObserver),
}

/// Where an observer writes if no file is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultOutput {
    /// Standard error, for people.
    Stderr,
    /// Nowhere: a file has to be named. What was there is kept, and what is new comes after it.
    Append,
    /// Nowhere: a file has to be named, which is written anew.
    Replace,
    /// To a server that the environment names. What is named instead is an address, not a file.
    Server,
}

/// What observers are told of the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObserverOptions {
    /// How often `-v` was given.
    pub verbose: u8,
}

/// All kinds there are.
pub const KINDS: &[ObserverKind] = &[
    ObserverKind {
        name: "narration",
        doc: "sentences for people, with milestones",
        usual: DefaultOutput::Stderr,
        json: false,
        make: MakeObserver::Writes(|out, _| Box::new(narration::Narration::new(out))),
    },
    ObserverKind {
        name: "log",
        doc: "a line for each turn, warning and error (-v: for each step and decision, -vv: for each edge considered)",
        usual: DefaultOutput::Stderr,
        json: false,
        make: MakeObserver::Writes(|out, options| Box::new(log::LogObserver::new(out, options.verbose))),
    },
    ObserverKind {
        name: "jsonl",
        doc: "every event as a line of JSON, once it is recorded",
        usual: DefaultOutput::Append,
        json: true,
        make: MakeObserver::Writes(|out, _| Box::new(jsonl::Jsonl::new(out))),
    },
    ObserverKind {
        name: "metrics",
        doc: "counts and times in Prometheus' text format, at the end",
        usual: DefaultOutput::Replace,
        json: false,
        make: MakeObserver::Writes(|out, _| Box::new(metrics::Metrics::new(out))),
    },
    ObserverKind {
        name: "trace",
        doc: "when which step of which case was taken, for a viewer of Chrome traces",
        usual: DefaultOutput::Replace,
        json: true,
        make: MakeObserver::Writes(|out, _| Box::new(chrome_trace::ChromeTrace::new(out))),
    },
    ObserverKind {
        name: "otlp",
        doc: "traces of OpenTelemetry, sent to a collector",
        usual: DefaultOutput::Server,
        json: false,
        #[cfg(feature = "otel")]
        make: MakeObserver::Sends(super::otlp::sender),
        #[cfg(not(feature = "otel"))]
        make: MakeObserver::Sends(|_| {
            let help = "build one that has it: cargo build --release --features otel";
            Err(("this build has no OpenTelemetry".into(), help.into()))
        }),
    },
];

/// The kind and the file (or address) of `KIND` or `KIND=FILE`; no file where the kind has a usual place. Otherwise what is wrong, and what
/// to do.
pub fn parse(text: &str) -> Result<(&'static ObserverKind, Option<&str>), (String, String)> {
    let (name, file) = text.split_once('=').map_or((text, None), |(name, file)| (name, Some(file)));
    let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
        let help = did_you_mean(name, KINDS.iter().map(|kind| kind.name)).unwrap_or_default();
        return Err((format!("there is no observer `{name}`"), help));
    };
    match file {
        Some("") => {
            let what = if kind.usual == DefaultOutput::Server { ("address", "URL") } else { ("file", "FILE") };
            Err((format!("the observer `{name}` has no {} behind its `=`", what.0), format!("name one: {name}={}", what.1)))
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
    fn what_is_asked_for_is_a_kind_with_a_place() {
        let read = |text: &'static str| match parse(text) {
            Ok((kind, file)) => format!("{} {file:?}", kind.name),
            Err((message, help)) => format!("{message}; {help}"),
        };
        let told: Vec<String> =
            ["log", "log=a=b", "jsonl=-", "otlp", "jsonl", "trace=", "otlp=", "metric=x", "x"].map(read).into();
        assert_eq!(
            told,
            [
                "log None",
                "log Some(\"a=b\")",
                "jsonl Some(\"-\")",
                "otlp None",
                "the observer `jsonl` needs a file to write to; name one: jsonl=FILE, or jsonl=- for standard output",
                "the observer `trace` has no file behind its `=`; name one: trace=FILE",
                "the observer `otlp` has no address behind its `=`; name one: otlp=URL",
                "there is no observer `metric`; did you mean `metrics`?",
                "there is no observer `x`; known here: `jsonl`, `log`, `metrics`, `narration`, `otlp`, `trace`",
            ]
        );
        assert!(KINDS.iter().all(|kind| !kind.doc.is_empty()));
    }
}
