//! Assembles the answerers of a run from the settings.

use super::batch::BatchAgent;
use super::budget::BudgetedAnswerer;
use super::circuit_breaker::CircuitBreaker;
use super::concurrency::ConcurrencyLimit;
use super::context::ExternalContext;
use super::exec::ExecAgent;
use super::file::FileAgent;
use super::http::HttpAgent;
use super::manual::{MANUAL, ManualAgent};
use super::mcp::QueueAgent;
use super::retry::Retry;
use super::router::{AnswerRouter, RoutedAnswerer};
use super::script::ScriptAnswerer;
use super::settings::{AgentBounds, AgentSettings, Agents, AnswererKind};
use super::tools::ToolAnswerer;
use asterisk_walk::{Answerer, Name, ToolPlan, WORKDIR};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};

/// Name of the script answerer.
const SCRIPT: &str = "script";

/// Names of all answerers other than canned answers.
pub fn names(agents: &Agents) -> Vec<String> {
    let own = [SCRIPT, MANUAL].into_iter().map(str::to_owned);
    let ready = ready(agents).map(|kind| kind.name().to_owned());
    own.chain(ready).chain(agents.keys().filter(|name| *name != MANUAL).cloned()).collect()
}

/// Kinds that are available under their own name without configuration.
fn ready(agents: &Agents) -> impl Iterator<Item = AnswererKind> {
    AnswererKind::READY
        .iter()
        .copied()
        .filter(|kind| !agents.contains_key(kind.name()) && agents.values().all(|one| one.kind != *kind))
}

/// Names of the answerers whose answers are submitted manually.
pub fn manual_names(agents: &Agents) -> Vec<String> {
    let set_up =
        agents.iter().filter(|(name, one)| one.kind == AnswererKind::Manual && *name != MANUAL).map(|(name, _)| name.clone());
    [MANUAL.to_owned()].into_iter().chain(set_up).collect()
}

/// Builds the answerer of a run: `default_chain` for all nodes but those in `nodes`.
pub fn build<'a>(
    default_chain: &[String],
    nodes: &BTreeMap<String, Vec<String>>,
    outside: &ExternalContext<'a>,
) -> AnswerRouter<'a> {
    let name = |name: &String| Name::from(name.as_str());
    let mut answerers: BTreeMap<Name, RoutedAnswerer<'a>> = BTreeMap::new();
    answerers.insert(SCRIPT.into(), RoutedAnswerer::Own(Box::new(ScriptAnswerer)));
    for manual in manual_names(outside.agents) {
        answerers.insert(name(&manual), RoutedAnswerer::Own(Box::new(ManualAgent::new(&manual))));
    }
    let mut listeners: BTreeMap<Name, Arc<dyn Answerer + 'a>> = BTreeMap::new();
    let ready: Vec<(String, AgentSettings)> =
        ready(outside.agents).map(|kind| (kind.name().to_owned(), AgentSettings::of(kind))).collect();
    for (called, settings) in outside.agents.iter().chain(ready.iter().map(|(called, settings)| (called, settings))) {
        let counts = settings.kind == AnswererKind::BatchFile;
        let leaf: Box<dyn Answerer + 'a> = match settings.kind {
            AnswererKind::Manual => continue,
            AnswererKind::Exec => Box::new(ExecAgent::new(called, settings, outside)),
            AnswererKind::Http => Box::new(HttpAgent::new(called, settings, outside)),
            AnswererKind::Mcp => Box::new(QueueAgent::new(called, settings, outside)),
            AnswererKind::File | AnswererKind::BatchFile => {
                let answerer = through_files(called, settings, outside);
                listeners.insert(name(called), Arc::clone(&answerer));
                Box::new(answerer)
            }
        };
        answerers.insert(name(called), RoutedAnswerer::Outside(wrap_external(leaf, &settings.bounds, outside, counts)));
    }
    for (called, settings) in outside.servers {
        let tools = ToolAnswerer::new(called, settings, outside);
        answerers.insert(
            ToolPlan::via(called),
            RoutedAnswerer::Outside(wrap_external(Box::new(tools), &settings.bounds, outside, false)),
        );
    }
    #[cfg(unix)]
    answerers.insert(ToolPlan::via(WORKDIR), RoutedAnswerer::Own(Box::new(super::workdir::WorkdirAnswerer::new(outside))));
    let nodes = nodes.iter().map(|(node, chain)| (node.clone(), chain.iter().map(name).collect())).collect();
    AnswerRouter { default_chain: default_chain.iter().map(name).collect(), nodes, answerers, listeners }
}

/// Builds an answerer that communicates through files, single or batched.
fn through_files<'a>(called: &str, settings: &AgentSettings, outside: &ExternalContext<'a>) -> Arc<dyn Answerer + 'a> {
    let ExternalContext { clock, stop, budget, .. } = *outside;
    let file = FileAgent::new(called, settings, (outside.run_dir)(settings.dir.as_deref()), clock, stop);
    if settings.kind == AnswererKind::File {
        return Arc::new(file);
    }
    let (brief, spent) = (Arc::clone(&outside.brief), Arc::clone(&outside.spent));
    Arc::new(BatchAgent { file, budget, spent, brief, clock, stop, state: Mutex::default(), changed: Condvar::new() })
}

/// Wraps an external answerer with circuit breaker, budget and concurrency limit. `counts`: whether it counts itself what it spends.
fn wrap_external<'a>(
    leaf: Box<dyn Answerer + 'a>,
    AgentBounds { retry, breaker, concurrency, .. }: &AgentBounds,
    outside: &ExternalContext<'a>,
    counts: bool,
) -> Retry<'a> {
    let ExternalContext { clock, stop, budget, .. } = *outside;
    let breaker = CircuitBreaker::new(leaf, (breaker.failures, breaker.rest), clock, stop);
    let spent = (!counts).then(|| Arc::clone(&outside.spent));
    let metered: Box<dyn Answerer + 'a> = Box::new(BudgetedAnswerer { inner: Box::new(breaker), budget, spent });
    // The budget is checked when a request's turn comes, not when it is queued.
    let inner: Box<dyn Answerer + 'a> = match *concurrency {
        Some(most) => Box::new(ConcurrencyLimit { inner: metered, most, stop, busy: Mutex::new(0), freed: Condvar::new() }),
        None => metered,
    };
    Retry { inner, attempts: retry.attempts, wait: retry.wait, most: retry.most, clock, stop }
}
