//! The events of the journal about requests to answerers, and about nodes with a policy, as events of `tracing`.

use super::journal_events::{TARGET, some, subject, tell};
use super::name_table::NameTable;
use asterisk_diag::counted;
use asterisk_walk::{Event, EventBody};
use tracing::{debug, error, info, warn};

/// Emits an event of a policy node, or of a request.
pub(super) fn answering(event: &Event, names: &NameTable) {
    let (subject, name) = (subject(event), |node: &str| names.node(&event.path, node));
    match &event.what {
        EventBody::Requested { id, node, via, .. } => {
            tell!(info, event, node = %node, via = %via, request = id, "{subject} asks {via} at {}", name(node));
        }
        EventBody::Rejected { id, via, errors } => {
            let errors = errors.join("; ");
            tell!(warn, event, via = %via, request = id, errors = %errors, "{subject} rejects the answer of {via}: {errors}");
        }
        EventBody::Unanswered { id, via, message } => {
            tell!(warn, event, via = %via, request = id, error = %message, "{subject} gets no answer from {via}: {message}");
        }
        EventBody::StepStart { node, agent, category, .. } => {
            tell!(info, event, node = %node, agent = %agent, category = %category, "{subject} begins {}, answered by {agent}", name(node));
        }
        EventBody::StepAttempt { node, attempt, .. } => {
            tell!(debug, event, node = %node, attempt, "{subject} makes attempt {attempt} at {}", name(node));
        }
        EventBody::CacheHit { node, agent } => {
            tell!(info, event, node = %node, agent = %agent, "{subject} takes the answer of {} from the cache", name(node));
        }
        EventBody::Answered { node, by, .. } => {
            tell!(debug, event, node = %node, by = %by, "{subject} is answered at {}, and is to be reviewed", name(node));
        }
        EventBody::AdvisorReview { node, advisor, score, approved, .. } => {
            let verb = if *approved { "approves" } else { "does not approve" };
            tell!(
                info, event, node = %node, advisor = %advisor, score, approved,
                "{subject}: {advisor} {verb} the answer of {} (score {score})", name(node)
            );
        }
        EventBody::StepRetry { node, attempt, reason, message, .. } => {
            tell!(
                warn, event, node = %node, attempt, reason = %reason, error = %message,
                "{subject} repeats {} after attempt {attempt}, {reason}: {message}", name(node)
            );
        }
        EventBody::StepComplete { node, score, attempts, .. } => {
            let many = counted(usize::try_from(*attempts).unwrap_or(usize::MAX), "attempt", "attempts");
            tell!(info, event, node = %node, score, attempts, "{subject} has answered {} after {many}", name(node));
        }
        EventBody::StepError { node, reason, message, .. } => {
            tell!(
                error, event, node = %node, reason = %reason, error = %message,
                "{subject} has no valid answer at {}, {reason}: {message}", name(node)
            );
        }
        EventBody::StepSkipped { node, because } => {
            let (node_name, failed) = (name(node), name(because));
            tell!(warn, event, node = %node, because = %because, "{subject} skips {node_name}, which waits for {failed}");
        }
        _ => {}
    }
}
