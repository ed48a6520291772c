//! Log of the clients' requests as a fio iolog (version 3), which flashmesh can replay on other drives.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use flashmesh::requests::RequestKind;
use flashmesh::units::Time;

const PS_PER_US: u64 = Time::from_us(1).as_ps();

/// A log to which requests are appended as they arrive.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Log {
    /// Creates the log file, or truncates an existing one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(path: &Path) -> Result<Log, String> {
        let failed = |error: std::io::Error| format!("{}: the log cannot be written: {error}", path.display());
        let mut file = BufWriter::new(File::create(path).map_err(failed)?);
        writeln!(file, "fio version 3 iolog\n0 drive add\n0 drive open").map_err(failed)?;
        Ok(Log { path: path.to_owned(), file })
    }

    /// Appends a request. A write of zeros is recorded as a trim, since the format has no action for it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn record(&mut self, time: Time, kind: RequestKind, offset: u64, size: u64) -> Result<(), String> {
        let us = time.as_ps() / PS_PER_US;
        let action = match kind {
            RequestKind::Read => "read",
            RequestKind::Write => "write",
            RequestKind::Deallocate | RequestKind::WriteZeroes => "trim",
            RequestKind::Flush => "sync",
        };
        writeln!(self.file, "{us} drive {action} {offset} {size}").map_err(|error| self.failed(&error))
    }

    /// Flushes the buffer.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn flush(&mut self) -> Result<(), String> {
        self.file.flush().map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &std::io::Error) -> String {
        format!("{}: the log cannot be written: {error}", self.path.display())
    }
}
