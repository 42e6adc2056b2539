//! Storage for texts: limits, masking, and where logs are kept. Beyond a limit in memory, the logs of a launch are spilled to an
//! unnamed temporary file until they are stored.

use super::TextLimits;
use super::job_log::LogBaseline;
use asterisk_base::model::{LaunchText, TextStore};
use asterisk_evidence::Masker;
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum bytes of logs in memory.
const MAX_IN_MEMORY: usize = 8 << 20;

/// The storage shared by the texts of all inputs.
#[derive(Clone, Debug)]
pub(super) struct TextRoom {
    pub(super) limits: TextLimits,
    pub(super) masker: Arc<Masker>,
    /// What the logs of jobs that passed say.
    pub(super) baseline: Arc<LogBaseline>,
    logs: Arc<Mutex<RoomUse>>,
}

#[derive(Debug)]
struct RoomUse {
    /// The bytes that may still be kept in memory.
    memory_left: usize,
    spill: Option<Arc<SpillFile>>,
}

/// The temporary file and its length.
#[derive(Debug)]
struct SpillFile(Mutex<(BufWriter<File>, u64)>);

impl Default for TextRoom {
    fn default() -> Self {
        Self::new(TextLimits::default())
    }
}

impl TextRoom {
    pub(super) fn new(limits: TextLimits) -> Self {
        Self {
            limits,
            masker: Arc::default(),
            baseline: Arc::default(),
            logs: Arc::new(Mutex::new(RoomUse { memory_left: MAX_IN_MEMORY, spill: None })),
        }
    }

    /// Stores a log: in memory up to the limit, or if no temporary file can be created.
    pub(super) fn keep(&self, log: String) -> LaunchText {
        let mut kept = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        if log.len() <= kept.memory_left {
            kept.memory_left -= log.len();
            return log.into();
        }
        if kept.spill.is_none() {
            kept.spill = tempfile::tempfile().ok().map(|file| Arc::new(SpillFile(Mutex::new((BufWriter::new(file), 0)))));
        }
        match kept.spill.as_ref().and_then(|spill| Some((spill, spill.put(&log).ok()?))) {
            Some((spill, offset)) => LaunchText::aside(Arc::<SpillFile>::clone(spill), offset, log.len()),
            None => log.into(),
        }
    }
}

impl SpillFile {
    fn put(&self, text: &str) -> io::Result<u64> {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, end) = &mut *guard;
        let offset = *end;
        // Space of a partial write is skipped.
        *end += text.len() as u64;
        if let Err(error) = file.write_all(text.as_bytes()) {
            file.seek(SeekFrom::Start(*end)).ok();
            return Err(error);
        }
        Ok(offset)
    }
}

impl TextStore for SpillFile {
    fn text(&self, offset: u64, len: usize) -> io::Result<String> {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, end) = &mut *guard;
        // A buffered writer flushes before it seeks.
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = vec![0; len];
        let read = file.get_mut().read_exact(&mut bytes);
        file.seek(SeekFrom::Start(*end))?;
        read?;
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn logs_are_read_back_unchanged() {
        let logs = TextRoom::default();
        logs.logs.lock().unwrap().memory_left = 100;
        let texts: Vec<String> = (0..300).map(|n| format!("{n} é ").repeat(n % 7)).collect();
        let kept: Vec<LaunchText> = texts.iter().map(|text| logs.keep(text.clone())).collect();
        let more = logs.keep("more".repeat(5000));
        for (text, kept) in texts.iter().zip(&kept).rev() {
            assert_eq!(kept.read().unwrap(), *text);
        }
        assert_eq!(logs.keep("and more".into()).read().unwrap(), "and more");
        assert_eq!(more.read().unwrap(), "more".repeat(5000));
        assert!(logs.logs.lock().unwrap().spill.is_some());
    }
}
