//! The registry of observers.

use super::observed::Observer;
use super::out::Out;
use super::{jsonl, log, metrics, narration, trace};
use crate::diag::did_you_mean;

/// A kind of observer.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Its name in `--observe` and `observers:`.
    pub name: &'static str,
    /// What it writes.
    pub doc: &'static str,
    /// Where to, if nobody says.
    pub usual: Usual,
    make: for<'o> fn(Out<'o>, Options) -> Box<dyn Observer + 'o>,
}

/// Where an observer writes if no file is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usual {
    /// Standard error, for people.
    Stderr,
    /// Nowhere: a file has to be named. What was there is kept, and what is new comes after it.
    Append,
    /// Nowhere: a file has to be named, which is written anew.
    Replace,
}

/// What observers are told of the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How often `-v` was given.
    pub verbose: u8,
}

/// All kinds there are.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "narration",
        doc: "sentences for people, with milestones",
        usual: Usual::Stderr,
        make: |out, _| Box::new(narration::Narration::new(out)),
    },
    Kind {
        name: "log",
        doc: "a line for each turn, warning and error (-v: for each step and decision, -vv: for each edge considered)",
        usual: Usual::Stderr,
        make: |out, options| Box::new(log::Log::new(out, options.verbose)),
    },
    Kind {
        name: "jsonl",
        doc: "every event as a line of JSON, once it is recorded",
        usual: Usual::Append,
        make: |out, _| Box::new(jsonl::Jsonl::new(out)),
    },
    Kind {
        name: "metrics",
        doc: "counts and times in Prometheus' text format, at the end",
        usual: Usual::Replace,
        make: |out, _| Box::new(metrics::Metrics::new(out)),
    },
    Kind {
        name: "trace",
        doc: "when which step of which case was taken, for a viewer of Chrome traces",
        usual: Usual::Replace,
        make: |out, _| Box::new(trace::Trace::new(out)),
    },
];

/// The kind and the file of `KIND` or `KIND=FILE`; no file where the kind has a usual place. Otherwise what is wrong, and what
/// to do.
pub fn parse(text: &str) -> Result<(&'static Kind, Option<&str>), (String, String)> {
    let (name, file) = text.split_once('=').map_or((text, None), |(name, file)| (name, Some(file)));
    let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
        let help = did_you_mean(name, KINDS.iter().map(|kind| kind.name)).unwrap_or_default();
        return Err((format!("there is no observer `{name}`"), help));
    };
    match file {
        Some("") => Err((format!("the observer `{name}` has no file behind its `=`"), format!("name one: {name}=FILE"))),
        None if kind.usual != Usual::Stderr => {
            let help = format!("name one: {name}=FILE, or {name}=- for standard output");
            Err((format!("the observer `{name}` needs a file to write to"), help))
        }
        file => Ok((kind, file)),
    }
}

impl Kind {
    /// An observer of this kind that writes there.
    pub fn observer<'o>(&self, out: Out<'o>, options: Options) -> Box<dyn Observer + 'o> {
        (self.make)(out, options)
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
        let told: Vec<String> = ["log", "log=a=b", "jsonl=-", "jsonl", "trace=", "metric=x", "x"].map(read).into();
        assert_eq!(
            told,
            [
                "log None",
                "log Some(\"a=b\")",
                "jsonl Some(\"-\")",
                "the observer `jsonl` needs a file to write to; name one: jsonl=FILE, or jsonl=- for standard output",
                "the observer `trace` has no file behind its `=`; name one: trace=FILE",
                "there is no observer `metric`; did you mean `metrics`?",
                "there is no observer `x`; known here: `jsonl`, `log`, `metrics`, `narration`, `trace`",
            ]
        );
        assert!(KINDS.iter().all(|kind| !kind.doc.is_empty()));
    }
}
