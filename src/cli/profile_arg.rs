//! `--profile`: where the time of a command goes.

use super::run_observe::open;
use crate::ui::Ui;
use asterisk_files::OutDir;
use asterisk_observe::DefaultOutput;
use asterisk_report::page;
use asterisk_script::probe::{Cost, Profile, ProfileFrame, Profiler};
use asterisk_session::SessionError;
use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The name of the page in the directory of a run.
const PAGE: &str = "profile.html";
/// The maximum number of rows of a table on the terminal, and on the page.
const ROWS: usize = 12;
const PAGE_ROWS: usize = 100;
/// The least width of a box of the page, in percent.
const THINNEST: f64 = 0.05;
/// The height of a box, in rem.
const BOX: f64 = 1.2;

/// `--profile`, for commands that evaluate scripts.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ProfileArg {
    /// Measure where the time goes, by function, line, rule and query, and print it to standard error. FILE receives everything:
    /// stacks as a page (`.html`), as JSON (`.json`), or else in the folded form that flame graph tools read.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "the flag, and its file")]
    profile: Option<Option<PathBuf>>,
}

impl ProfileArg {
    /// Does the work of a command, and shows where its time went.
    pub(super) fn measured<T>(&self, ui: &Ui, work: impl FnOnce() -> Result<T, SessionError>) -> Result<T, SessionError> {
        self.measured_to(ui, work, |_| None)
    }

    /// [`ProfileArg::measured`]; the page is also written to the directory of what the work has made.
    pub(super) fn measured_to<T>(
        &self,
        ui: &Ui,
        work: impl FnOnce() -> Result<T, SessionError>,
        directory: impl FnOnce(&T) -> Option<OutDir>,
    ) -> Result<T, SessionError> {
        let Some(file) = &self.profile else { return work() };
        // Before the work, which may take long.
        let output = file.as_ref().map(|path| open(path, DefaultOutput::Replace).map_err(|source| failed(path, source)));
        let output = output.transpose()?;
        let profiler = Profiler::default();
        let done = profiler.watch(work)?;
        let profile = profiler.profile();
        print(ui, &profile);
        if let Some(directory) = directory(&done) {
            let path = directory.path().join(PAGE);
            directory.write(PAGE, &as_page(&profile)?).map_err(|source| failed(&path, source))?;
            ui.note(&format!("profile: {}", path.display()));
        }
        if let (Some(path), Some(mut output)) = (file, output) {
            let text = match path.extension().and_then(|extension| extension.to_str()) {
                Some("html") => as_page(&profile)?,
                Some("json") => format!("{:#}\n", as_json(&profile)),
                _ => profile.folded(),
            };
            output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(|source| failed(path, source))?;
            ui.note(&format!("profile: {}", path.display()));
        }
        Ok(done)
    }
}

fn failed(path: &Path, source: io::Error) -> SessionError {
    SessionError::Write { path: path.display().to_string(), source }
}

/// A table of a profile.
#[derive(Serialize)]
struct ProfileTable {
    title: &'static str,
    head: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

/// The tables: functions, lines, and what the host did.
fn tables(profile: &Profile, rows: usize) -> Vec<ProfileTable> {
    let whole = profile.time();
    let frames = profile.frames();
    let is_script = |frame: &ProfileFrame| matches!(frame, ProfileFrame::Script(..));
    let functions = frames.iter().filter(|cost| is_script(&cost.frame)).take(rows).map(|cost| {
        let Cost { time, operations, bytes, calls, reused } = cost.own;
        vec![
            share(time, whole),
            milliseconds(time),
            milliseconds(cost.total.time),
            calls.to_string(),
            reused.to_string(),
            operations.to_string(),
            kilobytes(bytes),
            cost.frame.to_string(),
        ]
    });
    let lines = profile.lines();
    let lines = lines.iter().take(rows).map(|cost| {
        let Cost { time, operations, bytes, calls, .. } = cost.own;
        let place = format!("{}:{}", cost.file, cost.line);
        vec![share(time, whole), milliseconds(time), calls.to_string(), operations.to_string(), kilobytes(bytes), place]
    });
    let mut host: Vec<_> = frames.iter().filter(|cost| !is_script(&cost.frame)).collect();
    host.sort_by(|a, b| b.total.time.cmp(&a.total.time).then_with(|| a.frame.cmp(&b.frame)));
    let host = host.into_iter().take(rows).map(|cost| {
        let total = cost.total.time;
        vec![
            share(total, whole),
            milliseconds(cost.own.time),
            milliseconds(total),
            cost.own.calls.to_string(),
            cost.frame.to_string(),
        ]
    });
    vec![
        ProfileTable {
            title: "Functions",
            head: &["share", "self ms", "total ms", "calls", "reused", "operations", "held kB", "function"],
            rows: functions.collect(),
        },
        ProfileTable {
            title: "Lines",
            head: &["share", "self ms", "reached", "operations", "held kB", "line"],
            rows: lines.collect(),
        },
        ProfileTable {
            title: "Steps, queries and rules",
            head: &["share", "self ms", "total ms", "calls", "what"],
            rows: host.collect(),
        },
    ]
}

fn print(ui: &Ui, profile: &Profile) {
    if profile.is_empty() {
        ui.note("profile: nothing was evaluated");
        return;
    }
    let (time, scripts) = (milliseconds(profile.time()), milliseconds(profile.script_time()));
    ui.note(&format!("profile: {time} ms measured, over all threads; {scripts} ms in scripts"));
    for made in tables(profile, ROWS) {
        let mut table = ui.table(made.head);
        for row in made.rows {
            table.row(row);
        }
        ui.note("");
        ui.note(&table.text());
    }
}

fn as_json(profile: &Profile) -> Value {
    let cost = |cost: &Cost| json!({ "calls": cost.calls, "us": micros(cost.time), "operations": cost.operations, "held_bytes": cost.bytes, "reused": cost.reused });
    let frame = |frame: &ProfileFrame| match frame {
        ProfileFrame::Host(kind, name) => json!({ "kind": kind, "name": name }),
        ProfileFrame::Script(file, name, line) => json!({ "kind": "function", "file": file, "name": name, "line": line }),
    };
    let frames = profile.frames();
    let frames: Vec<Value> = frames
        .iter()
        .map(|one| {
            let mut value = frame(&one.frame);
            (value["self"], value["total"]) = (cost(&one.own), cost(&one.total));
            value
        })
        .collect();
    let lines = profile.lines();
    let lines: Vec<Value> =
        lines.iter().map(|one| json!({ "file": one.file, "line": one.line, "self": cost(&one.own) })).collect();
    let stack = |(frames, time): (Vec<&ProfileFrame>, Duration)| json!({ "stack": frames.iter().map(ToString::to_string).collect::<Vec<_>>(), "us": micros(time) });
    let stacks: Vec<Value> = profile.stacks().into_iter().map(stack).collect();
    json!({
        "schema_version": 1, "us": micros(profile.time()), "script_us": micros(profile.script_time()), "frames": frames,
        "lines": lines, "stacks": stacks,
    })
}

/// A box of the page.
#[derive(Serialize)]
struct FlameBox {
    name: String,
    title: String,
    host: bool,
    left: f64,
    width: f64,
    top: f64,
}

fn as_page(profile: &Profile) -> Result<String, SessionError> {
    let stacks = profile.stacks();
    let (boxes, deepest) = boxes(&stacks, profile.time());
    let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
    #[expect(clippy::cast_precision_loss, reason = "a number of boxes")]
    let height = deepest as f64 * BOX;
    page(
        include_str!("profile_arg.html"),
        &json!({
            "time": seconds(profile.time()), "scripts": seconds(profile.script_time()), "boxes": boxes, "height": height,
            "tables": tables(profile, PAGE_ROWS),
        }),
    )
    .map_err(|error| SessionError::Texts((*error).into()))
}

/// The boxes of sorted stacks, each next to those before it and below the one around it; and the depth.
fn boxes(stacks: &[(Vec<&ProfileFrame>, Duration)], whole: Duration) -> (Vec<FlameBox>, usize) {
    let percent = |time: Duration| 100.0 * time.as_secs_f64() / whole.as_secs_f64().max(f64::MIN_POSITIVE);
    let (mut boxes, mut deepest) = (Vec::new(), 0);
    let mut open: Vec<(&ProfileFrame, Duration)> = Vec::new();
    let mut at = Duration::ZERO;
    let mut close = |open: &mut Vec<(&ProfileFrame, Duration)>, depth: usize, at: Duration| {
        while open.len() > depth {
            let Some((frame, from)) = open.pop() else { return };
            let (took, name) = (at.saturating_sub(from), frame.to_string());
            if percent(took) < THINNEST {
                continue;
            }
            deepest = deepest.max(open.len() + 1);
            #[expect(clippy::cast_precision_loss, reason = "a number of boxes")]
            let top = open.len() as f64 * BOX;
            boxes.push(FlameBox {
                title: format!("{name}: {} ms, {}", milliseconds(took), share(took, whole)),
                name,
                host: matches!(frame, ProfileFrame::Host(..)),
                left: percent(from),
                width: percent(took),
                top,
            });
        }
    };
    for (frames, time) in stacks {
        let same = open.iter().zip(frames).take_while(|((open, _), frame)| open == *frame).count();
        close(&mut open, same, at);
        open.extend(frames[same..].iter().map(|frame| (*frame, at)));
        at += *time;
    }
    close(&mut open, 0, at);
    (boxes, deepest)
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1000.0)
}

fn share(time: Duration, whole: Duration) -> String {
    format!("{:.1} %", 100.0 * time.as_secs_f64() / whole.as_secs_f64().max(f64::MIN_POSITIVE))
}

#[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
fn kilobytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_as_wide_as_their_time_and_below_those_around_them() {
        let [a, b, c] = ["a", "b", "c"].map(|name| ProfileFrame::Host("step", name.into()));
        let ms = Duration::from_millis;
        let stacks = [(vec![&a], ms(10)), (vec![&a, &b], ms(20)), (vec![&a, &c], ms(30)), (vec![&b], ms(40))];
        let (boxes, deepest) = boxes(&stacks, ms(100));
        let of = |name: &str, top: f64| {
            let found = boxes.iter().find(|one| one.name == format!("step {name}") && (one.top - top).abs() < 0.01);
            let one = found.unwrap_or_else(|| panic!("{name} at {top}"));
            [one.left.round(), one.width.round()]
        };
        assert_eq!(deepest, 2);
        assert_eq!(
            [of("a", 0.0), of("b", BOX), of("c", BOX), of("b", 0.0)],
            [[0.0, 60.0], [10.0, 20.0], [30.0, 30.0], [60.0, 40.0]]
        );
    }
}
