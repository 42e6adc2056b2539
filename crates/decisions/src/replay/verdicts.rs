//! Recorded verdicts, and in what others differ from them.

use super::replay_report::{ChangedVerdict, MOVED};
use crate::steps::damaged;
use asterisk_base::model::Hash;
use asterisk_session::{Record, SessionError};
use asterisk_walk::{EventBody, EventKind, Name, SpokenRule, Verdict};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// How many differences are listed of a verdict.
const LISTED: usize = 3;

/// The last verdict of each case of a run, as recorded, in the order of the cases' ids.
pub(crate) fn recorded_verdicts(record: &Record, run: &str) -> Result<Vec<(Name, Verdict)>, SessionError> {
    let mut last: HashMap<Name, Hash> = HashMap::new();
    record.store().each_event_of(EventKind::Verdict, run, |event| {
        if let EventBody::Verdict { verdict, .. } = &event.what {
            last.insert(event.case, verdict.hash());
        }
        ControlFlow::Continue(())
    })?;
    let mut last: Vec<(Name, Hash)> = last.into_iter().collect();
    last.sort();
    last.into_iter().map(|(case, verdict)| Ok((case.clone(), read(record, &case, &verdict)?))).collect()
}

fn read(record: &Record, case: &str, verdict: &Hash) -> Result<Verdict, SessionError> {
    let missing = || damaged(format!("the content {verdict} is missing"));
    let text = record.store().blob(verdict)?.ok_or_else(missing)?;
    serde_json::from_str(&text).map_err(|error| damaged(format!("the verdict of `{case}` cannot be read: {error}")))
}

/// How a verdict changed: the defect that it names, or else its probability by [`MOVED`] or more.
pub(super) fn changed_verdict((run, case): (&str, &str), before: &Verdict, now: &Verdict) -> Option<ChangedVerdict> {
    let changed = before.defect != now.defect || (before.probability - now.probability).abs() >= MOVED;
    changed.then(|| ChangedVerdict {
        run: run.to_owned(),
        case: case.to_owned(),
        from: before.defect.to_string(),
        to: now.defect.to_string(),
        before: before.probability,
        after: now.probability,
        because: differences(before, now),
    })
}

/// What matches otherwise for the defects that were and are the most probable, the largest difference first.
fn differences(before: &Verdict, now: &Verdict) -> Vec<String> {
    let best = |verdict: &Verdict| verdict.hypotheses.first().map(|one| one.defect.clone());
    let mut defects: Vec<Name> = best(now).into_iter().chain(best(before)).collect();
    defects.dedup();
    let said = |verdict: &Verdict, id: &Name, defect: &str| {
        let rule = verdict.spoke.iter().find(|rule| rule.id == *id && rule.counted);
        rule.map_or(0.0, |rule: &SpokenRule| rule.contribution(defect))
    };
    let mut ids: Vec<&Name> = before.spoke.iter().chain(&now.spoke).map(|rule| &rule.id).collect();
    ids.sort();
    ids.dedup();
    let mut found: Vec<(f64, String)> = Vec::new();
    for id in ids {
        for defect in &defects {
            let (was, is) = (said(before, id, defect), said(now, id, defect));
            if (was - is).abs() > 1e-9 {
                found.push(((was - is).abs(), format!("{id} {was:+.2} -> {is:+.2} ({defect})")));
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let more = found.len().saturating_sub(LISTED);
    let mut told: Vec<String> = found.into_iter().take(LISTED).map(|(_, said)| said).collect();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    if told.is_empty() {
        told.push(if before.floor.total_cmp(&now.floor).is_eq() {
            "the priors".to_owned()
        } else {
            format!("the floor {} -> {}", before.floor, now.floor)
        });
    }
    told
}
