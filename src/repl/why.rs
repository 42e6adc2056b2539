//! Why a step went where it went, and what one edge saw.

use super::graph::targets;
use super::here::Here;
use super::show::{choice, considered, short, went};
use crate::pipeline::{EdgeIx, When};
use crate::script::Verdict;
use crate::session::SessionError;
use crate::walk::Failure;

/// The decision of a step: what was recorded, and what it would be now if that is something else.
pub(super) fn decision(here: &Here) -> Result<(Vec<String>, Option<Failure>), SessionError> {
    let mut lines = Vec::new();
    let decided = here.decide()?;
    let recorded = here.step.as_ref().filter(|step| step.inputs.is_some());
    let now = match &decided {
        Ok(decision) => choice(&here.plan, here.node_name(), decision.choice.as_ref()),
        Err((_, failure)) => format!("{}: {}", here.node_name(), failure.kind.word()),
    };
    match recorded {
        Some(step) if here.changed => {
            let recorded = went(step);
            let same = recorded == now;
            lines.push(format!("recorded: {recorded}"));
            lines.push(if same { "now:      the same".to_owned() } else { format!("now:      {now}") });
        }
        _ => lines.push(now),
    }
    let (all, failure) = match decided {
        Ok(decision) => (decision.considered, None),
        Err((considered, failure)) => (considered, Some(failure)),
    };
    lines.extend(considered(&all));
    Ok((lines, failure))
}

/// One edge: what it goes by, what that says of itself, what it says here, and the values it read.
pub(super) fn edge(here: &Here, edge: EdgeIx) -> Vec<String> {
    let pipeline = &here.plan.pipeline;
    let spec = pipeline.edge_at(edge);
    let by = match &spec.when {
        When::Always => "no condition".to_owned(),
        When::Rule(reference) => reference.to_string(),
        When::Condition(text) => format!("condition {}", text.text().trim()),
    };
    let to = match (spec.advisory, targets(pipeline, spec)) {
        (true, _) => "advises".to_owned(),
        (false, targets) => format!("to {}", targets.join(" or ")),
    };
    let mut lines = vec![format!("{} {to}, by {by}", spec.id.value)];
    let Some(rule) = here.plan.rule(edge) else {
        lines.push("  fires always".to_owned());
        return lines;
    };
    let first = rule.function.doc().split("\n\n").next().unwrap_or_default();
    lines.extend(first.lines().map(|line| format!("  {line}").trim_end().to_owned()));
    lines.push(match rule.function.decide(&here.artifact, &here.state, here.plan.vars()) {
        Ok(Verdict::No) => "  does not hold here".to_owned(),
        Ok(Verdict::Yes { because: Some(because), .. }) => format!("  holds here: {because}"),
        Ok(Verdict::Yes { .. }) => "  holds here".to_owned(),
        Err(diagnostic) => format!("  throws here: {}", diagnostic.message),
    });
    let wide = rule.reads.iter().map(|read| read.len()).max().unwrap_or_default();
    for read in &rule.reads {
        let path = read.split("[]").next().unwrap_or(read);
        let mut parts = path.split('.');
        let root = parts.next().unwrap_or_default();
        let view = here.inputs().into_iter().find(|(name, _)| *name == root).map(|(_, view)| view);
        let value = parts.try_fold(view, |view, key| Some(view?.get(key))).flatten();
        if let (Some(value), true) = (value, path != root) {
            lines.push(format!("    {path:<wide$}  {}", short(&value.json())));
        }
    }
    lines
}
