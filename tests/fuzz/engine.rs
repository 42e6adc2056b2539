//! Tries targets with inputs, and keeps those that fail.

use crate::mutate::recipes;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// The time limit of an input. It only distinguishes a hang from work: load must not reach it.
const PATIENCE: Duration = Duration::from_secs(120);
/// The stack that an input has: less than any thread of the program.
const STACK: usize = 2 << 20;

/// A reader of bytes from outside.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Real inputs.
    pub(crate) samples: fn() -> Vec<Vec<u8>>,
    /// How it is tried.
    pub(crate) tries: Tries,
    /// How many inputs the short run tries.
    pub(crate) few: u32,
    /// The files below `src/` that read these bytes.
    pub(crate) covers: &'static [&'static str],
}

/// How a target is tried.
pub(crate) enum Tries {
    /// With one input at a time. The limit of its total allocations: this many MiB, plus this many KiB for each byte of the input.
    Each { reads: fn(&[u8]), mib: usize, kib: usize },
    /// With this many inputs per process.
    Together { many: usize, reads: fn(&[Vec<u8>]) -> Result<(), String> },
}

/// The long run, if this is one.
struct Long {
    until: Instant,
    seed: [u8; 32],
}

/// Tries them all.
pub(crate) fn run(targets: &[Target]) {
    let wanted = std::env::var("ASTERISK_FUZZ").unwrap_or_default();
    let seconds: Option<u32> = std::env::var("ASTERISK_FUZZ_SECONDS").ok().map(|text| text.parse().expect("seconds"));
    let chosen: Vec<&Target> = targets.iter().filter(|target| target.name.contains(&wanted)).collect();
    assert!(!chosen.is_empty(), "no target has `{wanted}` in its name");
    // Panics are reported once, with the input that caused them.
    std::panic::set_hook(Box::new(|_| {}));
    let mut failures = Vec::new();
    for target in &chosen {
        let began = Instant::now();
        let long = seconds.map(|seconds| {
            let share = Duration::from_secs(seconds.into()) / u32::try_from(chosen.len()).unwrap();
            Long { until: began + share, seed: rand_seed() }
        });
        match target.run(long.as_ref()) {
            Ok(tried) => eprintln!("{:28} {tried:7} inputs in {:.1?}", target.name, began.elapsed()),
            Err(why) => {
                eprintln!("{:28} FAILED: {why}", target.name);
                failures.push(format!("{}: {why}", target.name));
            }
        }
    }
    drop(std::panic::take_hook());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// 32 bytes that no other run has.
fn rand_seed() -> [u8; 32] {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    *blake3::hash(format!("{now:?} {}", std::process::id()).as_bytes()).as_bytes()
}

impl Target {
    /// Where its failures are kept.
    fn corpus(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(self.name)
    }

    /// Tries the unchanged samples, earlier failures, then new inputs. Returns their number.
    fn run(&self, long: Option<&Long>) -> Result<u32, String> {
        let samples = (self.samples)();
        assert!(!samples.is_empty(), "{} lacks samples", self.name);
        let mut known: Vec<PathBuf> =
            std::fs::read_dir(self.corpus()).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
        known.sort();
        let kept = known.iter().map(|path| std::fs::read(path).unwrap());
        let first: Vec<Vec<u8>> = samples.iter().cloned().chain(kept).collect();
        let mut tried = 0;
        for some in first.chunks(self.at_once()) {
            tried += u32::try_from(some.len()).unwrap();
            self.read(some).map_err(|why| self.fails(some, &why))?;
        }
        loop {
            let config = Config { cases: self.few, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
            let rng = match long {
                None => TestRng::deterministic_rng(RngAlgorithm::ChaCha),
                Some(long) => TestRng::from_seed(
                    RngAlgorithm::ChaCha,
                    blake3::hash(&[&long.seed[..], &tried.to_le_bytes()].concat()).as_bytes(),
                ),
            };
            self.some(&mut TestRunner::new_with_rng(config, rng), &samples)?;
            tried += self.few;
            if long.is_none_or(|long| Instant::now() >= long.until) {
                return Ok(tried);
            }
        }
    }

    fn at_once(&self) -> usize {
        match self.tries {
            Tries::Each { .. } => 1,
            Tries::Together { many, .. } => many,
        }
    }

    /// Tries as many new inputs as the short run.
    fn some(&self, runner: &mut TestRunner, samples: &[Vec<u8>]) -> Result<(), String> {
        if let Tries::Together { many, .. } = self.tries {
            let mut left = self.few as usize;
            while left > 0 {
                let now = many.min(left);
                left -= now;
                let inputs: Vec<Vec<u8>> = (0..now).map(|_| recipes().new_tree(runner).unwrap().current().of(samples)).collect();
                self.read(&inputs).map_err(|why| self.fails(&inputs, &why))?;
            }
            return Ok(());
        }
        let outcome = runner.run(&recipes(), |recipe| self.read(&[recipe.of(samples)]).map_err(TestCaseError::fail));
        match outcome {
            Ok(()) => Ok(()),
            Err(TestError::Fail(why, recipe)) => Err(self.fails(&[recipe.of(samples)], why.message())),
            Err(TestError::Abort(why)) => Err(why.message().to_owned()),
        }
    }

    /// Keeps the input that fails; of several, one that fails alone.
    fn fails(&self, inputs: &[Vec<u8>], why: &str) -> String {
        let alone = |input: &&Vec<u8>| inputs.len() > 1 && self.read(std::slice::from_ref(input)).is_err();
        let culprit = inputs.iter().find(alone).cloned().unwrap_or_else(|| inputs.join(&b"\n\0\n"[..]));
        let dir = self.corpus();
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join(&blake3::hash(&culprit).to_hex()[..12]);
        std::fs::write(&path, culprit).unwrap();
        format!("{why}\n(the input is kept as {})", path.display())
    }

    fn read(&self, inputs: &[Vec<u8>]) -> Result<(), String> {
        match self.tries {
            Tries::Each { reads, mib, kib } => {
                inputs.iter().try_for_each(|input| self.each(reads, input, (mib << 20) + (kib << 10) * input.len()))
            }
            Tries::Together { reads, .. } => reads(inputs),
        }
    }

    /// One input, on a separate thread: a panic is caught there, a hang is abandoned.
    fn each(&self, reads: fn(&[u8]), input: &[u8], allowed: usize) -> Result<(), String> {
        // What ends the process, as a stack that is too deep does, leaves this behind.
        let last = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{}", self.name));
        std::fs::write(&last, input).unwrap();
        let owned = input.to_vec();
        let (send, ended) = channel();
        let work = move || {
            let region = Region::new(&INSTRUMENTED_SYSTEM);
            let outcome = catch_unwind(AssertUnwindSafe(|| reads(&owned)));
            let took = region.change().bytes_allocated;
            drop(send.send((outcome.map_err(|panic| said(&*panic)), took)));
        };
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(work).unwrap();
        let (outcome, took) = ended.recv_timeout(PATIENCE).map_err(|_| format!("it is not done after {PATIENCE:?}"))?;
        thread.join().unwrap();
        outcome?;
        if took > allowed {
            return Err(format!("{} bytes of input: {took} bytes allocated in all, of {allowed} at most", input.len()));
        }
        std::fs::remove_file(&last).unwrap();
        Ok(())
    }
}

/// What a panic says.
fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("a panic: {}", text.unwrap_or("without a word"))
}
