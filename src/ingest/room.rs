//! Room for texts: how much of them is kept, and where logs stand. Of a launch with many, all but the first stand in a file
//! without a name until they are stored.

use super::TextLimits;
use crate::evidence::Masker;
use crate::model::{LaunchText, TextStore};
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of logs that stay in memory.
const HERE: usize = 8 << 20;

/// The room that the texts of all inputs share.
#[derive(Clone, Debug)]
pub(super) struct TextRoom {
    pub(super) limits: TextLimits,
    pub(super) masker: Arc<Masker>,
    logs: Arc<Mutex<RoomUse>>,
}

#[derive(Debug)]
struct RoomUse {
    /// Bytes that may still be kept in memory.
    here: usize,
    shelf: Option<Arc<SpillFile>>,
}

/// The file.
#[derive(Debug)]
struct SpillFile(Mutex<(BufWriter<File>, u64)>);

impl Default for TextRoom {
    fn default() -> Self {
        Self::new(TextLimits::default())
    }
}

impl TextRoom {
    /// All of it.
    pub(super) fn new(limits: TextLimits) -> Self {
        Self { limits, masker: Arc::default(), logs: Arc::new(Mutex::new(RoomUse { here: HERE, shelf: None })) }
    }

    /// The log as it is kept: in memory as long as there are few, or if no file can be had.
    pub(super) fn keep(&self, log: String) -> LaunchText {
        let mut kept = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        if log.len() <= kept.here {
            kept.here -= log.len();
            return log.into();
        }
        if kept.shelf.is_none() {
            kept.shelf = tempfile::tempfile().ok().map(|file| Arc::new(SpillFile(Mutex::new((BufWriter::new(file), 0)))));
        }
        match kept.shelf.as_ref().and_then(|shelf| Some((shelf, shelf.put(&log).ok()?))) {
            Some((shelf, place)) => LaunchText::aside(Arc::<SpillFile>::clone(shelf), place, log.len()),
            None => log.into(),
        }
    }
}

impl SpillFile {
    fn put(&self, text: &str) -> io::Result<u64> {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, end) = &mut *guard;
        let place = *end;
        // What is written in part is passed over.
        *end += text.len() as u64;
        if let Err(error) = file.write_all(text.as_bytes()) {
            file.seek(SeekFrom::Start(*end)).ok();
            return Err(error);
        }
        Ok(place)
    }
}

impl TextStore for SpillFile {
    fn text(&self, place: u64, len: usize) -> io::Result<String> {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, end) = &mut *guard;
        // A buffered writer writes out what it has before it goes elsewhere.
        file.seek(SeekFrom::Start(place))?;
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
    fn logs_read_as_they_were_wherever_they_stand() {
        let logs = TextRoom::default();
        logs.logs.lock().unwrap().here = 100;
        let texts: Vec<String> = (0..300).map(|n| format!("{n} é ").repeat(n % 7)).collect();
        let kept: Vec<LaunchText> = texts.iter().map(|text| logs.keep(text.clone())).collect();
        let more = logs.keep("more".repeat(5000));
        for (text, kept) in texts.iter().zip(&kept).rev() {
            assert_eq!(kept.read().unwrap(), *text);
        }
        assert_eq!(logs.keep("and more".into()).read().unwrap(), "and more");
        assert_eq!(more.read().unwrap(), "more".repeat(5000));
        assert!(logs.logs.lock().unwrap().shelf.is_some());
    }
}
