//! The spans of the steps of a walk, for a subscriber of `tracing`. A step around an inner walk or branches is taken in parts; its span is open
//! until its last part.

use super::branch::BranchKind;
use super::event::{Event, EventBody};
use super::path::BRANCH;
use super::step::Stepper;
use std::collections::BTreeMap;
use tracing::field::Empty;
use tracing::{Span, info_span};

/// The open spans, by path.
#[derive(Default)]
pub(super) struct StepSpans(BTreeMap<String, Span>);

impl StepSpans {
    /// The span of a step after those around it, outermost first. Those that are not open yet are opened: they were begun by an
    /// earlier process, or only hold branches.
    pub(super) fn around(&mut self, step: &Stepper<'_>) -> Vec<Span> {
        let path = step.state.next_path();
        let mut spans: Vec<Span> = Vec::new();
        // A step is a number, an inner walk a name: `3/court/1`.
        for end in path.match_indices('/').map(|(at, _)| at).step_by(2).chain([path.len()]) {
            let (path, inner) = path.split_at(end);
            let span = self.0.entry(path.to_owned()).or_insert_with(|| {
                let parent = spans.last().map_or_else(Span::current, Clone::clone);
                let node = match inner.trim_start_matches('/').split('/').next() {
                    None | Some("") => step.name().as_str(),
                    Some(inner) if inner.starts_with(BRANCH) => "branches",
                    Some(inner) => inner,
                };
                info_span!(
                    parent: &parent, "step", otel.name = %node, case = %step.case_name, path = %path, node = %node, walker = Empty,
                    pipeline = Empty, branches = Empty, by = Empty, via = Empty, confidence = Empty,
                    gen_ai.usage.input_tokens = Empty, gen_ai.usage.output_tokens = Empty, cost_usd = Empty, edge = Empty,
                    to = Empty, because = Empty, counter = Empty, otel.status_code = Empty, otel.status_description = Empty,
                )
            });
            spans.push(span.clone());
        }
        spans
    }

    /// Closes the span of the step that an event ends.
    pub(super) fn close(&mut self, event: &Event) {
        let ends = match &event.what {
            EventBody::Transition { .. }
            | EventBody::Join { .. }
            | EventBody::WalkComplete { .. }
            | EventBody::WalkError { .. } => true,
            EventBody::Fork { by, .. } => *by != BranchKind::Items,
            _ => false,
        };
        if ends {
            self.0.remove(event.path.as_str());
        }
    }
}

/// Does work within spans.
pub(super) fn in_spans<T>(spans: &[Span], work: impl FnOnce() -> T) -> T {
    match spans {
        [] => work(),
        [outer, inner @ ..] => outer.in_scope(|| in_spans(inner, work)),
    }
}
