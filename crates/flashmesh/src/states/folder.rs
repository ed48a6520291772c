//! Folder of stored drive states, which preconditioning has computed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::file::{self, StateKey, StateSummary, StoredState};
use crate::error::system_message;
use crate::units::{Bytes, printable_path};

const ENDING: &str = "state";
/// Prefix of the names of files that are being written.
const UNFINISHED: &str = ".unfinished-";
/// Age from which an unfinished file counts as abandoned by its writer.
const ABANDONED_AGE: Duration = Duration::from_secs(24 * 3600);

/// Default for the minimum number of page writes in the computation of a stored state. Cheaper states are computed anew for each run.
const WRITES_MIN: u64 = 1 << 22;
/// Maximum uncompressed size of a stored state, in bytes. Larger states have many planes with few pages each, and are computed about as fast as they
/// are read.
const BYTES_MAX: u64 = 1 << 28;

/// Folder of stored drive states. If their total size exceeds the limit of the folder, the least recently used states are removed.
#[derive(Debug)]
pub struct StateFolder {
    path: PathBuf,
    limit: Bytes,
    writes_min: u64,
    notes: Mutex<Vec<String>>,
}

impl StateFolder {
    /// Returns the folder at `path`, which is created when the first state is stored. `limit` is the maximum total size of its states.
    pub fn new(path: impl Into<PathBuf>, limit: Bytes) -> StateFolder {
        StateFolder { path: path.into(), limit, writes_min: WRITES_MIN, notes: Mutex::default() }
    }

    /// Sets the minimum number of page writes in the computation of a stored state; cheaper states are not stored. The default is 4 million, which
    /// take about a third of a second.
    pub fn with_writes_min(self, writes_min: u64) -> StateFolder {
        StateFolder { writes_min, ..self }
    }

    /// Returns whether a state is worth storing: its computation takes enough page writes (`writes`), and its uncompressed size (`bytes`) is not too
    /// large.
    pub(crate) fn is_worth(&self, writes: u64, bytes: u64) -> bool {
        writes >= self.writes_min && bytes <= BYTES_MAX
    }

    /// Removes and returns the notes on problems with the folder, one sentence each, for the caller to show. No such problem changes a result: the
    /// state is computed anew.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, text: String) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if !notes.contains(&text) {
            notes.push(text);
        }
    }

    fn file(&self, key: &StateKey) -> PathBuf {
        self.path.join(key.as_str()).with_extension(ENDING)
    }

    /// Returns the uncompressed data of the state `key`, which must have `bytes` bytes. `None` if the state is not stored or its file is unreadable
    /// or damaged; the caller then computes it. Removes a damaged file.
    pub(crate) fn read(&self, key: &StateKey, bytes: u64) -> Option<Vec<u8>> {
        let path = self.file(key);
        // Do not open a pipe, which would block until a writer opens it.
        let opened = match fs::metadata(&path) {
            Ok(metadata) if !metadata.is_file() => {
                self.remove_damaged(key, "it is no regular file");
                return None;
            }
            Ok(_) => File::open(&path),
            Err(error) => Err(error),
        };
        let opened = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                self.note(format!("{}: cannot be read: {}", printable_path(&path), system_message(&error)));
                return None;
            }
        };
        match file::read(&opened, key, bytes) {
            Ok(numbers) => {
                // Mark the state as used. Ignore an error: it occurs if the folder is read-only, and then no state is removed either.
                let _ = opened.set_modified(SystemTime::now()).or_else(|_| touch(&path));
                Some(numbers)
            }
            Err(reason) => {
                self.remove_damaged(key, &reason);
                None
            }
        }
    }

    /// Removes the file of the state `key`, which is damaged for `reason`, and adds a note.
    pub(crate) fn remove_damaged(&self, key: &StateKey, reason: &str) {
        let path = self.file(key);
        let removed = match fs::remove_file(&path) {
            Ok(()) => "it is removed, and the state made anew".to_owned(),
            Err(error) => format!("it cannot be removed: {}; the state is made anew", system_message(&error)),
        };
        self.note(format!("{}: damaged: {reason}: {removed}", printable_path(&path)));
    }

    /// Stores a state, and removes the least recently used states beyond the limit. Adds a note if the state cannot be stored.
    pub(crate) fn write(&self, key: &StateKey, about: &StateSummary, numbers: &[u8]) {
        if let Err(error) = self.try_write(key, about, numbers) {
            self.note(format!(
                "{}: a state of the drive is not kept: {}",
                printable_path(&self.path),
                system_message(&error)
            ));
        }
    }

    fn try_write(&self, key: &StateKey, about: &StateSummary, numbers: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.path)?;
        let mut unfinished = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.path)?;
        file::write(unfinished.as_file_mut(), key, about, numbers)?;
        let bytes = unfinished.as_file().metadata()?.len();
        if bytes > self.limit.as_u64() {
            return Err(io::Error::other(format!("it is larger than the limit of the folder, {}", self.limit)));
        }
        // Take the time from the system clock. File systems use a clock that lags behind it, so a state could seem to be used before it was created.
        unfinished.as_file().set_modified(SystemTime::now())?;
        unfinished.persist(self.file(key)).map_err(|error| error.error)?;
        self.trim();
        Ok(())
    }

    /// Removes the least recently used states until the total size is within the limit. Also removes abandoned unfinished files.
    fn trim(&self) {
        let mut kept = self.files();
        kept.sort_by_key(|(_, metadata)| std::cmp::Reverse(used(metadata)));
        let mut bytes = 0;
        for (path, metadata) in kept {
            bytes += metadata.len();
            if bytes > self.limit.as_u64() {
                // Ignore the error: another process may have removed the file.
                let _ = fs::remove_file(path);
            }
        }
        for (path, metadata) in self.unfinished() {
            if used(&metadata).elapsed().is_ok_and(|age| age > ABANDONED_AGE) {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// Returns the stored states, most recently used first; empty if the folder cannot be read.
    pub fn list(&self) -> Vec<StoredState> {
        let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut kept: Vec<StoredState> = self
            .files()
            .into_iter()
            .map(|(path, metadata)| {
                let (about, is_current) = file::about(&path).unzip();
                let key = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                let (bytes, used_s) = (metadata.len(), seconds(used(&metadata)));
                StoredState { key, about, is_current: is_current.unwrap_or(false), bytes, used_s }
            })
            .collect();
        kept.sort_by(|one, other| (other.used_s, &one.key).cmp(&(one.used_s, &other.key)));
        kept
    }

    /// Removes the states and unfinished files that were last used at least `unused` ago. Returns the number of removed files and their total size in
    /// bytes.
    ///
    /// # Errors
    /// If a file cannot be removed. Files removed before the error stay removed.
    pub fn clear(&self, unused: Duration) -> Result<(u64, u64), String> {
        let is_old = |metadata: &fs::Metadata| used(metadata).elapsed().is_ok_and(|age| age >= unused);
        let states = self.files().into_iter().filter(|(_, metadata)| unused.is_zero() || is_old(metadata));
        let unfinished = self.unfinished().into_iter().filter(|(_, metadata)| unused.is_zero() || is_old(metadata));
        let (mut count, mut bytes) = (0, 0);
        for (path, metadata) in states.chain(unfinished) {
            match fs::remove_file(&path) {
                Ok(()) => (count, bytes) = (count + 1, bytes + metadata.len()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(format!("{}: cannot be removed: {}", printable_path(&path), system_message(&error)));
                }
            }
        }
        Ok((count, bytes))
    }

    fn files(&self) -> Vec<(PathBuf, fs::Metadata)> {
        self.entries(|path| path.extension().is_some_and(|ending| ending == ENDING))
    }

    fn unfinished(&self) -> Vec<(PathBuf, fs::Metadata)> {
        self.entries(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(UNFINISHED)))
    }

    fn entries(&self, wanted: impl Fn(&Path) -> bool) -> Vec<(PathBuf, fs::Metadata)> {
        let Ok(entries) = fs::read_dir(&self.path) else { return Vec::new() };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| wanted(path));
        let files = paths.filter_map(|path| fs::symlink_metadata(&path).ok().map(|metadata| (path, metadata)));
        files.filter(|(_, metadata)| metadata.is_file()).collect()
    }
}

fn used(metadata: &fs::Metadata) -> SystemTime {
    metadata.modified().unwrap_or(UNIX_EPOCH)
}

/// Sets the modification time of the file at `path` to the current time, for systems that cannot set the time of a file opened for reading.
fn touch(path: &Path) -> io::Result<()> {
    File::options().append(true).open(path)?.set_modified(SystemTime::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_worth_storing_if_it_takes_many_writes_and_is_not_large() {
        let folder = StateFolder::new("unused", Bytes::ZERO);
        let (writes, bytes) = (1 << 22, 256 << 20);
        assert!(folder.is_worth(writes, bytes));
        assert!(!folder.is_worth(writes - 1, bytes), "a cheap state is computed anew");
        assert!(!folder.is_worth(writes, bytes + 1), "a large state is computed about as fast as it is read");
        assert!(folder.with_writes_min(0).is_worth(0, bytes));
    }
}
