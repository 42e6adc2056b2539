//! `doctor`: checks of a project's files, store, directories and repositories.

use super::{Session, SessionError};
use asterisk_adapters::workspace::{check, has_git};
use asterisk_base::model::shell;
use asterisk_diag::counted;
use asterisk_files::{Area, FileOrigin};
use asterisk_project::AnswererNames;
use asterisk_store::{Depth, RunStatus, Store, StoreError, VerifiedStore, health};
use serde::Serialize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckResult {
    /// `files`, `store`, ...
    pub area: &'static str,
    /// What was checked.
    pub name: String,
    pub state: CheckState,
    /// The finding.
    pub found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// The state of what was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    Ok,
    /// Worth knowing, not a problem.
    Note,
    /// A problem to be fixed.
    Wrong,
}

impl CheckResult {
    /// A result without help.
    pub fn new(area: &'static str, name: impl Into<String>, state: CheckState, found: impl Into<String>) -> Self {
        Self { area, name: name.into(), state, found: found.into(), help: None }
    }

    fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

impl Session {
    /// Runs all checks. Changes nothing.
    pub fn checkup(&self, depth: Depth) -> Vec<CheckResult> {
        let mut all = Vec::new();
        self.check_files(&mut all);
        self.check_pipelines(&mut all);
        self.check_store(&mut all, depth);
        self.check_runs(&mut all);
        if let Some(store) = self.setup.store.path() {
            all.extend(private("directories", "store's directory", store.parent().unwrap_or(Path::new("."))));
        }
        all.extend(private("directories", "output", &self.setup.out));
        self.check_workspace(&mut all);
        self.check_servers(&mut all);
        self.check_reportportal(&mut all);
        self.check_confinement(&mut all);
        all
    }

    /// Notes what this system cannot enforce on the commands of goals.
    fn check_confinement(&self, all: &mut Vec<CheckResult>) {
        let gaps = asterisk_adapters::agent::SandboxGaps::find(self.setup.environment.program());
        all.extend(gaps.sentences().into_iter().map(|found| {
            let refused = if gaps.landlock { "; `asterisk goal` runs none without approval or `--unconfined`" } else { "" };
            CheckResult::new("tools", "commands", CheckState::Note, format!("{found}{refused}"))
        }));
    }

    /// Checks the settings of ReportPortal, if there are any, without connecting.
    fn check_reportportal(&self, all: &mut Vec<CheckResult>) {
        if self.setup.reportportal == asterisk_adapters::reportportal::PortalSettings::default() {
            return;
        }
        all.push(match self.portal(&AtomicBool::new(false)) {
            Ok(portal) => {
                let found = format!("project `{}` of {}, not contacted", portal.place().project, portal.place().url);
                CheckResult::new("reportportal", "server", CheckState::Ok, found)
            }
            Err(error) => {
                let (found, help) = match error {
                    SessionError::BadRequest(why) => (why.message, why.help),
                    other => (other.to_string(), None),
                };
                CheckResult { help, ..CheckResult::new("reportportal", "server", CheckState::Wrong, found) }
            }
        });
    }

    fn check_files(&self, all: &mut Vec<CheckResult>) {
        let files = match self.files_used() {
            Ok(files) => files,
            Err(error) => {
                let help = "asterisk config --origin shows which setting names it";
                all.push(CheckResult::new("files", "all", CheckState::Wrong, error.to_string()).help(help));
                return;
            }
        };
        for area in Area::ALL {
            let of: Vec<_> = files.iter().filter(|file| file.area == area).collect();
            let bundled = of.iter().filter(|file| file.origin == FileOrigin::Embedded).count();
            let replaced = of.iter().filter(|file| file.replaces).count();
            let own = of.len() - bundled - replaced;
            let place = self.overlaid(area).map_or(String::new(), |dir| format!(" in {}", dir.display()));
            let found = format!("{bundled} bundled, {replaced} replaced by yours, {own} more of yours{place}");
            all.push(CheckResult::new("files", area.name(), CheckState::Ok, found));
        }
        for file in files.iter().filter(|file| !file.used) {
            let name = format!("{}/{}", file.area.name(), file.path);
            let why = if file.area.takes(&file.path) { "not used" } else { "not read: unsupported file extension" };
            all.push(match &file.meant {
                Some(meant) => CheckResult::new("files", name, CheckState::Wrong, why).help(format!("did you mean `{meant}`?")),
                None => CheckResult::new("files", name, CheckState::Note, why),
            });
        }
    }

    fn check_pipelines(&self, all: &mut Vec<CheckResult>) {
        // What keeps them from being listed is reported with the files.
        let Ok(listed) = self.pipelines() else { return };
        // Scripts that no pipeline reaches keep none from running.
        if let (Ok(_), Err(SessionError::Texts(found))) =
            (self.project(None, AnswererNames::Others), self.whole_project(None, AnswererNames::Others))
        {
            let first = found.iter().next().map_or(String::new(), ToString::to_string);
            let why = format!("do not all link, although the default pipeline does: {first}");
            all.push(CheckResult::new("files", "scripts", CheckState::Wrong, why).help("asterisk lint shows what is wrong"));
        }
        for entry in listed {
            let project = self.project(Some(&entry.source_path()), AnswererNames::Others);
            all.push(match project {
                Ok(project) if project.warnings.is_empty() => CheckResult::new("pipelines", entry.stem, CheckState::Ok, "links"),
                Ok(project) => {
                    let found = format!("links, with {} warnings", project.warnings.len());
                    CheckResult::new("pipelines", entry.stem, CheckState::Note, found)
                }
                Err(SessionError::Texts(found)) => {
                    let first = found.iter().next().map_or(String::new(), ToString::to_string);
                    let more = if found.len() > 1 { format!(", and {} more", found.len() - 1) } else { String::new() };
                    let found_text = format!("does not link: {first}{more}");
                    let help = format!("asterisk eval route {} --node NODE shows them with their locations", shell(&entry.stem));
                    CheckResult::new("pipelines", entry.stem, CheckState::Wrong, found_text).help(help)
                }
                Err(error) => CheckResult::new("pipelines", entry.stem, CheckState::Wrong, error.to_string()),
            });
        }
    }

    fn check_store(&self, all: &mut Vec<CheckResult>, depth: Depth) {
        let name = self.setup.store.to_string();
        let Some(path) = self.setup.store.path() else { return self.check_server(all, name, depth) };
        let health = match health(path, depth) {
            Ok(health) => health,
            Err(StoreError::Missing(_)) => {
                all.push(CheckResult::new("store", name, CheckState::Ok, "not created yet; the first run creates it"));
                return;
            }
            Err(error) => {
                let help = "--store names another one; a copy of a damaged one may still be read by `sqlite3 FILE .recover`";
                all.push(CheckResult::new("store", name, CheckState::Wrong, error.to_string()).help(help));
                return;
            }
        };
        #[expect(clippy::cast_precision_loss, reason = "a size for people")]
        let size = health.bytes as f64 / f64::from(1 << 20);
        let found = format!("{size:.1} MiB, {} runs, format {}", health.runs, health.version);
        all.push(match health.version.cmp(&health.newest) {
            std::cmp::Ordering::Equal => CheckResult::new("store", name.clone(), CheckState::Ok, found),
            std::cmp::Ordering::Less => {
                CheckResult::new("store", name.clone(), CheckState::Note, found).help("the next run brings its format up to date")
            }
            std::cmp::Ordering::Greater => {
                let help = format!("a newer program wrote it (format {} is the newest known here): update", health.newest);
                CheckResult::new("store", name.clone(), CheckState::Wrong, found).help(help)
            }
        });
        all.push(match health.trouble.as_slice() {
            [] => CheckResult::new("store", "integrity", CheckState::Ok, "the database is consistent"),
            trouble => {
                let help = "copy the file away first; `sqlite3 FILE .recover` reads what can be read";
                CheckResult::new("store", "integrity", CheckState::Wrong, trouble.join("; ")).help(help)
            }
        });
        if let Some((count, bad)) = &health.contents {
            let name = "contents";
            all.push(match bad.as_slice() {
                [] => CheckResult::new("store", name, CheckState::Ok, format!("all {count} match their hashes")),
                bad => CheckResult::new("store", name, CheckState::Wrong, list_damage(bad)).help(RESTORE),
            });
        }
        if let Some((count, bad)) = &health.events {
            let found = if bad.is_empty() { format!("all {count} match the record") } else { list_damage(bad) };
            let one = CheckResult::new("store", "events", if bad.is_empty() { CheckState::Ok } else { CheckState::Wrong }, found);
            all.push(if bad.is_empty() { one } else { one.help(RESTORE) });
        }
        if health.left > 0 {
            let found = format!(
                "{} next to it from runs whose process was killed; they are empty",
                counted(health.left, "file", "files")
            );
            all.push(
                CheckResult::new("store", "left behind", CheckState::Note, found)
                    .help("the next command that writes removes them"),
            );
        }
        let lock = if health.busy { (CheckState::Note, "another process is writing") } else { (CheckState::Ok, "free") };
        all.push(CheckResult::new("store", "lock", lock.0, lock.1));
        all.extend(private("store", "mode", path));
    }

    /// Checks that a store on a server can be reached and read, and with [`Depth::Contents`] all that it holds.
    fn check_server(&self, all: &mut Vec<CheckResult>, name: String, depth: Depth) {
        let figures = Store::read_only(&self.setup.store).and_then(|store| Ok((store.figures()?, store)));
        let (figures, store) = match figures {
            Ok(found) => found,
            Err(StoreError::Missing(_)) => {
                let found = "not created yet; the first run creates it, or `asterisk store migrate`";
                all.push(CheckResult::new("store", name, CheckState::Ok, found));
                return;
            }
            Err(error) => {
                let help = "--store names another one";
                all.push(CheckResult::new("store", name, CheckState::Wrong, error.to_string()).help(help));
                return;
            }
        };
        let found = format!("{} runs, format {}", figures.runs.values().sum::<u64>(), figures.format);
        all.push(CheckResult::new("store", name, CheckState::Ok, found));
        if depth == Depth::Pages {
            return;
        }
        all.push(match store.verify() {
            Ok(VerifiedStore { contents, events, damaged }) if damaged.is_empty() => {
                let found = format!("all {contents} contents and {events} events match");
                CheckResult::new("store", "contents", CheckState::Ok, found)
            }
            Ok(VerifiedStore { damaged, .. }) => {
                CheckResult::new("store", "contents", CheckState::Wrong, list_damage(&damaged)).help(RESTORE)
            }
            Err(error) => CheckResult::new("store", "contents", CheckState::Wrong, error.to_string()),
        });
    }

    /// Lists interrupted runs, which can be resumed.
    fn check_runs(&self, all: &mut Vec<CheckResult>) {
        /// More than these are counted only.
        const SHOWN: usize = 3;
        // What keeps the store from being read is reported with the store.
        let runs = self.runs().unwrap_or_default();
        let paused = || runs.iter().filter(|run| run.status == RunStatus::Paused);
        for run in paused().take(SHOWN) {
            let found = format!("{} of {} cases are done", run.done, run.cases);
            let help = format!("resume with: asterisk {} --resume {}", self.resumed_by(&run.run), run.run);
            all.push(CheckResult::new("runs", run.run.clone(), CheckState::Note, found).help(help));
        }
        let more = paused().skip(SHOWN).count();
        if more > 0 {
            all.push(
                CheckResult::new("runs", "older", CheckState::Note, format!("{more} more are not finished"))
                    .help("asterisk status"),
            );
        }
    }

    fn check_servers(&self, all: &mut Vec<CheckResult>) {
        for (name, server) in &self.setup.servers {
            let fault = server.fault(&self.setup.root, &self.setup.secrets());
            all.push(match fault {
                None => CheckResult::new("mcp_servers", name, CheckState::Ok, format!("{}, not contacted", server.place())),
                Some((why, help)) => CheckResult::new("mcp_servers", name, CheckState::Wrong, why).help(help),
            });
        }
    }

    fn check_workspace(&self, all: &mut Vec<CheckResult>) {
        let git = if has_git(self.setup.environment.variables()) {
            CheckResult::new("workspace", "git", CheckState::Ok, "found")
        } else {
            let help = "without it, the history of repositories is not used";
            CheckResult::new("workspace", "git", CheckState::Note, "not found").help(help)
        };
        all.push(git);
        for repository in check(
            self.setup.environment.variables(),
            &self.setup.root,
            &self.setup.workspace["repositories"],
            self.setup.clock.now(),
        ) {
            let state = match (repository.there, repository.notes.is_empty()) {
                (false, _) => CheckState::Wrong,
                (true, false) => CheckState::Note,
                (true, true) => CheckState::Ok,
            };
            let found_text = repository.notes.join("; ");
            let found = match (found_text.is_empty(), repository.there) {
                (true, true) => format!("{} {} {}", repository.path, repository.branch, repository.commit).trim().to_owned(),
                (true, false) => format!("{} does not exist", repository.path),
                (false, _) => found_text,
            };
            let one = CheckResult::new("workspace", repository.name, state, found);
            all.push(if state == CheckState::Wrong {
                one.help("set its `path` under `workspace` in asterisk.yaml")
            } else {
                one
            });
        }
    }
}

/// The hint for damage.
const RESTORE: &str = "restore the store from a backup, or repeat these runs";

/// The first few damaged items, one a line.
fn list_damage(bad: &[impl ToString]) -> String {
    const NAMED: usize = 20;
    let mut lines: Vec<String> = bad.iter().take(NAMED).map(ToString::to_string).collect();
    if bad.len() > NAMED {
        lines.push(format!("and {} more", bad.len() - NAMED));
    }
    lines.join("\n")
}

/// Checks that only the owner can read a file or directory; `None` if it does not exist.
#[cfg(unix)]
fn private(area: &'static str, name: &str, path: &Path) -> Option<CheckResult> {
    use std::os::unix::fs::PermissionsExt as _;
    let meta = std::fs::metadata(path).ok()?;
    let mode = meta.permissions().mode() & 0o777;
    let found = format!("{} has mode {mode:04o}", path.display());
    // Only directories that the program creates are checked; existing ones are their owner's business.
    let open = mode & 0o077 != 0 && (meta.is_file() || path.components().any(|part| part.as_os_str() == ".asterisk"));
    let one = CheckResult::new(area, name, if open { CheckState::Wrong } else { CheckState::Ok }, found);
    Some(if open { one.help(format!("readable by others: chmod go-rwx {}", shell(&path.display().to_string()))) } else { one })
}

#[cfg(not(unix))]
fn private(area: &'static str, name: &str, path: &Path) -> Option<CheckResult> {
    path.exists().then(|| CheckResult::new(area, name, CheckState::Ok, path.display().to_string()))
}
