//! The time from saving a script until it is active, in a project of a thousand scripts. The floor is the debounce: the time without
//! writes before a reload starts.

mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_diag::Source;
use asterisk_files::{Area, DEBOUNCE, Overlay};
use asterisk_project::{CurrentProject, LinkSettings, Project, Sources};
use asterisk_session::SessionError;
use asterisk_session::reload::{LoadProject, ReloadFollower, ReloadListener};
use asterisk_walk::TextChange;
use harness::Table;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

const FILES: usize = 1000;
const ROUNDS: usize = 15;

const PIPELINE: &str = "pipeline: t\nnodes:\n  - { name: a, schema: { n: int } }\nedges:\n  - { id: A, from: a, to: _done, rule: \
                        \"rules/r0.rhai#far\" }\nstart: a\ndone: _done\n";

/// A script with three functions and an import.
fn rules(at: usize, round: usize) -> String {
    format!(
        "import \"lib/base\" as base;\n/// Far enough.\nfn far(artifact, state, vars) {{ artifact.n > base::least({round}) && near(artifact) }}\n\
         fn near(artifact) {{ artifact.n < {at} + 1000 }}\nfn other(list) {{ list.filter(|x| x > {at}).len() }}\n"
    )
}

fn base(round: usize) -> String {
    format!("fn least(n) {{ n + {round} }}\n")
}

struct Texts(PathBuf);

impl LoadProject for Texts {
    type Error = SessionError;

    fn load(&self, before: Option<&Project>) -> Result<Project, SessionError> {
        let overlay = Overlay::load(Area::Scripts, Some(&self.0))?;
        let (scripts, data) = overlay.sources().cloned().partition(|source| source.name().ends_with(".rhai"));
        let below = |source: Source| Source::new(source.name().trim_start_matches("data/"), source.text());
        let data = Vec::into_iter(data).map(below).collect();
        let templates = Overlay::load(Area::Templates, None)?.sources().cloned().collect();
        let sources = Sources {
            scripts,
            templates,
            data,
            pipeline: Source::new("t.yaml", PIPELINE),
            subpipelines: BTreeMap::new(),
            missing: BTreeMap::new(),
            bundle: None,
        };
        Ok(Project::relink(sources, LinkSettings::default(), before)?)
    }

    fn is_fixable(&self, _error: &SessionError) -> bool {
        false
    }

    fn paths(&self) -> Vec<PathBuf> {
        vec![self.0.clone()]
    }
}

struct Tell(Sender<Instant>);

impl ReloadListener<SessionError> for Tell {
    fn broken(&self, error: &SessionError, _last: bool) {
        panic!("{error}");
    }

    fn loaded(&self, _project: &Project, _changed: &[TextChange]) {
        self.0.send(Instant::now()).expect("somebody listens");
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn write(dir: &Path, name: &str, text: &str) {
    fs::write(dir.join(name), text).expect("written");
}

fn main() -> ExitCode {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("reload");
    fs::create_dir_all(dir.join("rules")).and_then(|()| fs::create_dir_all(dir.join("lib"))).expect("directories");
    write(&dir, "lib/base.rhai", &base(0));
    (0..FILES).for_each(|at| write(&dir, &format!("rules/r{at}.rhai"), &rules(at, 0)));
    let texts = || Texts(dir.clone());
    let time = |work: &dyn Fn() -> Project| {
        let start = Instant::now();
        let project = work();
        (milliseconds(start.elapsed()), project)
    };
    let (mut cold, mut same) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        let (took, project) = time(&|| texts().load(None).expect("links"));
        cold = cold.min(took);
        same = same.min(time(&|| texts().load(Some(&project)).expect("links")).0);
    }
    let read = (0..5).map(|_| {
        let start = Instant::now();
        drop(Overlay::load(Area::Scripts, Some(&dir)));
        milliseconds(start.elapsed())
    });
    let read = read.fold(f64::INFINITY, f64::min);
    let mut follower = ReloadFollower::new(texts(), DEBOUNCE).expect("watches");
    let (send, told) = channel();
    let tell = Tell(send);
    let first = follower.first(&tell).expect("links").expect("not stopped");
    let current = CurrentProject::new(first);
    let stopper = follower.stopper();
    let mut figures = [("one script of 1 000", f64::INFINITY, 0.0_f64), ("the script that all import", f64::INFINITY, 0.0)];
    std::thread::scope(|scope| {
        scope.spawn(|| follower.follow(&current, &tell));
        for round in 1..=ROUNDS {
            for (at, (_, best, worst)) in figures.iter_mut().enumerate() {
                let start = Instant::now();
                if at == 0 {
                    write(&dir, "rules/r7.rhai", &rules(7, round));
                } else {
                    write(&dir, "lib/base.rhai", &base(round));
                }
                let took = milliseconds(told.recv().expect("told") - start);
                (*best, *worst) = (best.min(took), worst.max(took));
            }
        }
        stopper.stop();
    });
    let floor = milliseconds(DEBOUNCE);
    let mut table = Table::new("reload: from saving until active; floor: the debounce", "ms");
    table.plain("reading 1 000 files", read);
    table.plain("linking 1 000 files cold", cold);
    table.plain("linking 1 000 unchanged files", same);
    for (name, best, worst) in figures {
        table.against(&format!("{name}, edited"), best, floor);
        table.at_most("  beyond the debounce", best - floor, 100.0);
        table.plain("  beyond the debounce, the slowest of 15", worst - floor);
    }
    table.finish()
}
