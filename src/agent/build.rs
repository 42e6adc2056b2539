//! Putting together who answers, by the settings.

use super::breaker::Breaker;
use super::budget::{Budget, BudgetStatus, Metered};
use super::exec::Exec;
use super::limit::Limit;
use super::manual::{MANUAL, Manual};
use super::mcp::{MCP, Pulling};
use super::queue::Queue;
use super::retry::Retry;
use super::router::{Router, Who};
use super::script::Scripts;
use super::settings::{Agents, Kind, Settings};
use crate::clock::Clock;
use crate::walk::{Answer, Name};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex};

/// The name of the answers by scripts.
const SCRIPT: &str = "script";

/// What those outside need.
pub struct Outside<'a> {
    /// Where workers pull steps from, if they are served.
    pub queue: Option<Arc<Queue>>,
    /// Who there is.
    pub agents: &'a Agents,
    /// Where commands run.
    pub root: &'a Path,
    /// The time.
    pub clock: &'a dyn Clock,
    /// Once true, nobody waits any longer.
    pub stop: &'a AtomicBool,
    /// What may be spent.
    pub budget: &'a Budget,
    /// Is told when something was spent.
    pub spent: Arc<dyn Fn(&BudgetStatus) + Send + Sync + 'a>,
}

/// The names that can be asked, besides canned answers.
pub fn names(agents: &Agents) -> Vec<String> {
    let own = [SCRIPT, MANUAL, MCP].into_iter().map(str::to_owned);
    own.chain(agents.keys().filter(|name| ![MANUAL, MCP].contains(&name.as_str())).cloned()).collect()
}

/// The names of those for whom answers are brought.
pub fn manual_names(agents: &Agents) -> Vec<String> {
    let set_up = agents.iter().filter(|(name, one)| one.kind == Kind::Manual && *name != MANUAL).map(|(name, _)| name.clone());
    [MANUAL.to_owned()].into_iter().chain(set_up).collect()
}

/// Whoever answers a run: `usual`, but for single `nodes`.
pub fn build<'a>(usual: &[String], nodes: &BTreeMap<String, Vec<String>>, outside: &Outside<'a>) -> Router<'a> {
    let name = |name: &String| Name::from(name.as_str());
    let mut who: BTreeMap<Name, Who<'a>> = BTreeMap::new();
    who.insert(SCRIPT.into(), Who::Own(Box::new(Scripts)));
    for manual in manual_names(outside.agents) {
        who.insert(name(&manual), Who::Own(Box::new(Manual::new(&manual))));
    }
    for (called, settings) in outside.agents {
        let leaf: Box<dyn Answer + 'a> = match settings.kind {
            Kind::Manual => continue,
            Kind::Exec => Box::new(Exec::new(called, settings, outside.root)),
            Kind::Mcp => pulling(called, settings, outside),
        };
        who.insert(name(called), Who::Outside(around(leaf, settings, outside)));
    }
    if !outside.agents.contains_key(MCP) {
        let settings = Settings::of(Kind::Mcp);
        who.insert(MCP.into(), Who::Outside(around(pulling(MCP, &settings, outside), &settings, outside)));
    }
    let nodes = nodes.iter().map(|(node, chain)| (node.clone(), chain.iter().map(name).collect())).collect();
    Router { usual: usual.iter().map(name).collect(), nodes, who }
}

fn pulling<'a>(name: &str, settings: &Settings, outside: &Outside<'a>) -> Box<dyn Answer + 'a> {
    Box::new(Pulling::new(name, settings, outside.queue.clone()))
}

/// What stands around one who is asked outside.
fn around<'a>(leaf: Box<dyn Answer + 'a>, settings: &Settings, outside: &Outside<'a>) -> Retry<'a> {
    let Outside { clock, stop, budget, .. } = *outside;
    let limited: Box<dyn Answer + 'a> = match settings.concurrency {
        Some(most) => Box::new(Limit { inner: leaf, most, stop, busy: Mutex::new(0), freed: Condvar::new() }),
        None => leaf,
    };
    let breaker = Breaker::new(limited, (settings.breaker.failures, settings.breaker.rest), clock, stop);
    let metered = Metered { inner: Box::new(breaker), budget, spent: Arc::clone(&outside.spent) };
    let retry = &settings.retry;
    Retry { inner: Box::new(metered), attempts: retry.attempts, wait: retry.wait, most: retry.most, clock, stop }
}
