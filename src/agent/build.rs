//! Putting together who answers, by the settings.

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
use crate::walk::{Answerer, Name, ToolPlan};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};

/// The name of the answers by scripts.
const SCRIPT: &str = "script";

/// The names that can be asked, besides canned answers.
pub fn names(agents: &Agents) -> Vec<String> {
    let own = [SCRIPT, MANUAL].into_iter().map(str::to_owned);
    let ready = ready(agents).map(|kind| kind.name().to_owned());
    own.chain(ready).chain(agents.keys().filter(|name| *name != MANUAL).cloned()).collect()
}

/// The kinds that can be asked by their own name, without being set up.
fn ready(agents: &Agents) -> impl Iterator<Item = AnswererKind> {
    AnswererKind::READY
        .iter()
        .copied()
        .filter(|kind| !agents.contains_key(kind.name()) && agents.values().all(|one| one.kind != *kind))
}

/// The names of those for whom answers are brought.
pub fn manual_names(agents: &Agents) -> Vec<String> {
    let set_up =
        agents.iter().filter(|(name, one)| one.kind == AnswererKind::Manual && *name != MANUAL).map(|(name, _)| name.clone());
    [MANUAL.to_owned()].into_iter().chain(set_up).collect()
}

/// Whoever answers a run: `usual`, but for single `nodes`.
pub fn build<'a>(usual: &[String], nodes: &BTreeMap<String, Vec<String>>, outside: &ExternalContext<'a>) -> AnswerRouter<'a> {
    let name = |name: &String| Name::from(name.as_str());
    let mut who: BTreeMap<Name, RoutedAnswerer<'a>> = BTreeMap::new();
    who.insert(SCRIPT.into(), RoutedAnswerer::Own(Box::new(ScriptAnswerer)));
    for manual in manual_names(outside.agents) {
        who.insert(name(&manual), RoutedAnswerer::Own(Box::new(ManualAgent::new(&manual))));
    }
    let mut told: BTreeMap<Name, Arc<dyn Answerer + 'a>> = BTreeMap::new();
    let ready: Vec<(String, AgentSettings)> =
        ready(outside.agents).map(|kind| (kind.name().to_owned(), AgentSettings::of(kind))).collect();
    for (called, settings) in outside.agents.iter().chain(ready.iter().map(|(called, settings)| (called, settings))) {
        let leaf: Box<dyn Answerer + 'a> = match settings.kind {
            AnswererKind::Manual => continue,
            AnswererKind::Exec => Box::new(ExecAgent::new(called, settings, outside.root, &outside.withheld)),
            AnswererKind::Http => Box::new(HttpAgent::new(called, settings, outside)),
            AnswererKind::Mcp => pulling(called, settings, outside),
            AnswererKind::File | AnswererKind::BatchFile => {
                let answerer = through_files(called, settings, outside);
                told.insert(name(called), Arc::clone(&answerer));
                Box::new(answerer)
            }
        };
        who.insert(name(called), RoutedAnswerer::Outside(around(leaf, &settings.bounds, outside)));
    }
    for (called, settings) in outside.servers {
        let tools = ToolAnswerer::new(called, settings, outside);
        who.insert(ToolPlan::via(called), RoutedAnswerer::Outside(around(Box::new(tools), &settings.bounds, outside)));
    }
    let nodes = nodes.iter().map(|(node, chain)| (node.clone(), chain.iter().map(name).collect())).collect();
    AnswerRouter { usual: usual.iter().map(name).collect(), nodes, who, told }
}

fn pulling<'a>(name: &str, settings: &AgentSettings, outside: &ExternalContext<'a>) -> Box<dyn Answerer + 'a> {
    Box::new(QueueAgent::new(name, settings, outside.queue.clone()))
}

/// Who answers through files, one by one or by the batch.
fn through_files<'a>(called: &str, settings: &AgentSettings, outside: &ExternalContext<'a>) -> Arc<dyn Answerer + 'a> {
    let ExternalContext { clock, stop, budget, .. } = *outside;
    let file = FileAgent::new(called, settings, (outside.tray)(settings.dir.as_deref()), clock, stop);
    if settings.kind == AnswererKind::File {
        return Arc::new(file);
    }
    let (brief, state, turned) = (Arc::clone(&outside.brief), Mutex::default(), Condvar::new());
    Arc::new(BatchAgent { file, budget, brief, clock, stop, state, turned })
}

/// What stands around one who is asked outside.
fn around<'a>(
    leaf: Box<dyn Answerer + 'a>,
    AgentBounds { retry, breaker, concurrency, .. }: &AgentBounds,
    outside: &ExternalContext<'a>,
) -> Retry<'a> {
    let ExternalContext { clock, stop, budget, .. } = *outside;
    let limited: Box<dyn Answerer + 'a> = match *concurrency {
        Some(most) => Box::new(ConcurrencyLimit { inner: leaf, most, stop, busy: Mutex::new(0), freed: Condvar::new() }),
        None => leaf,
    };
    let breaker = CircuitBreaker::new(limited, (breaker.failures, breaker.rest), clock, stop);
    let metered = BudgetedAnswerer { inner: Box::new(breaker), budget, spent: Arc::clone(&outside.spent) };
    Retry { inner: Box::new(metered), attempts: retry.attempts, wait: retry.wait, most: retry.most, clock, stop }
}
