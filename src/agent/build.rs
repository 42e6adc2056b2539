//! Putting together who answers, by the settings.

use super::batch::{Batch, Brief};
use super::breaker::Breaker;
use super::budget::{Budget, BudgetStatus, Metered};
use super::exec::Exec;
use super::file::File;
use super::http::Http;
use super::limit::Limit;
use super::manual::{MANUAL, Manual};
use super::mcp::Pulling;
use super::queue::Queue;
use super::retry::Retry;
use super::router::{Router, Who};
use super::script::Scripts;
use super::settings::{Agents, Bounds, Kind, Settings};
use super::tools::{Servers, Tools};
use super::tray::Tray;
use crate::clock::Clock;
use crate::net::ReadSecret;
use crate::walk::{Answer, Name, Tool};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex};

/// The name of the answers by scripts.
const SCRIPT: &str = "script";

/// Makes the directory of a run below another, or where runs write.
pub type Trays<'a> = dyn Fn(Option<&Path>) -> Option<Arc<dyn Tray>> + 'a;

/// What those outside need.
pub struct Outside<'a> {
    /// Where workers pull steps from, if they are served.
    pub queue: Option<Arc<Queue>>,
    /// Who there is.
    pub agents: &'a Agents,
    /// Reads secrets in files.
    pub secret: ReadSecret,
    /// The servers whose tools nodes may call.
    pub servers: &'a Servers,
    /// The variables that hold secrets: a command is told its own alone.
    pub withheld: BTreeSet<String>,
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
    /// Where prompts are laid out: below that directory, or where runs write. Nothing if nothing is written.
    pub tray: Box<Trays<'a>>,
    /// Writes the briefing of a batch.
    pub brief: Arc<Brief<'a>>,
}

/// The names that can be asked, besides canned answers.
pub fn names(agents: &Agents) -> Vec<String> {
    let own = [SCRIPT, MANUAL].into_iter().map(str::to_owned);
    let ready = ready(agents).map(|kind| kind.name().to_owned());
    own.chain(ready).chain(agents.keys().filter(|name| *name != MANUAL).cloned()).collect()
}

/// The kinds that can be asked by their own name, without being set up.
fn ready(agents: &Agents) -> impl Iterator<Item = Kind> {
    Kind::READY.iter().copied().filter(|kind| !agents.contains_key(kind.name()) && agents.values().all(|one| one.kind != *kind))
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
    let mut told: BTreeMap<Name, Arc<dyn Answer + 'a>> = BTreeMap::new();
    let ready: Vec<(String, Settings)> = ready(outside.agents).map(|kind| (kind.name().to_owned(), Settings::of(kind))).collect();
    for (called, settings) in outside.agents.iter().chain(ready.iter().map(|(called, settings)| (called, settings))) {
        let leaf: Box<dyn Answer + 'a> = match settings.kind {
            Kind::Manual => continue,
            Kind::Exec => Box::new(Exec::new(called, settings, outside.root, &outside.withheld)),
            Kind::Http => Box::new(Http::new(called, settings, outside)),
            Kind::Mcp => pulling(called, settings, outside),
            Kind::File | Kind::BatchFile => {
                let answerer = through_files(called, settings, outside);
                told.insert(name(called), Arc::clone(&answerer));
                Box::new(answerer)
            }
        };
        who.insert(name(called), Who::Outside(around(leaf, &settings.bounds, outside)));
    }
    for (called, settings) in outside.servers {
        let tools = Tools::new(called, settings, outside);
        who.insert(Tool::via(called), Who::Outside(around(Box::new(tools), &settings.bounds, outside)));
    }
    let nodes = nodes.iter().map(|(node, chain)| (node.clone(), chain.iter().map(name).collect())).collect();
    Router { usual: usual.iter().map(name).collect(), nodes, who, told }
}

fn pulling<'a>(name: &str, settings: &Settings, outside: &Outside<'a>) -> Box<dyn Answer + 'a> {
    Box::new(Pulling::new(name, settings, outside.queue.clone()))
}

/// Who answers through files, one by one or by the batch.
fn through_files<'a>(called: &str, settings: &Settings, outside: &Outside<'a>) -> Arc<dyn Answer + 'a> {
    let Outside { clock, stop, budget, .. } = *outside;
    let file = File::new(called, settings, (outside.tray)(settings.dir.as_deref()), clock, stop);
    if settings.kind == Kind::File {
        return Arc::new(file);
    }
    let (brief, state, turned) = (Arc::clone(&outside.brief), Mutex::default(), Condvar::new());
    Arc::new(Batch { file, budget, brief, clock, stop, state, turned })
}

/// What stands around one who is asked outside.
fn around<'a>(
    leaf: Box<dyn Answer + 'a>,
    Bounds { retry, breaker, concurrency, .. }: &Bounds,
    outside: &Outside<'a>,
) -> Retry<'a> {
    let Outside { clock, stop, budget, .. } = *outside;
    let limited: Box<dyn Answer + 'a> = match *concurrency {
        Some(most) => Box::new(Limit { inner: leaf, most, stop, busy: Mutex::new(0), freed: Condvar::new() }),
        None => leaf,
    };
    let breaker = Breaker::new(limited, (breaker.failures, breaker.rest), clock, stop);
    let metered = Metered { inner: Box::new(breaker), budget, spent: Arc::clone(&outside.spent) };
    Retry { inner: Box::new(metered), attempts: retry.attempts, wait: retry.wait, most: retry.most, clock, stop }
}
