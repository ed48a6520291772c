//! Data of the clients, in a sparse file or in memory.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FallocateFlags, FlockOperation, MemfdFlags, fallocate, flock, memfd_create};
use rustix::io::Errno;

static ZEROS: [u8; 65_536] = [0; 65_536];

#[derive(Debug)]
pub struct Store {
    file: File,
    /// Whether `flush` has to sync a file on disk.
    is_on_disk: bool,
}

impl Store {
    /// Opens the file at `path`, or memory, for `size` bytes. An existing file keeps its data.
    ///
    /// # Errors
    /// If the file cannot be opened, is neither empty nor `size` bytes long, or is served by another process.
    pub fn open(path: Option<&Path>, size: u64) -> Result<Store, String> {
        let Some(path) = path else {
            let memory = memfd_create("flashmesh", MemfdFlags::CLOEXEC);
            let file = File::from(memory.map_err(|error| format!("no memory for the data: {error}"))?);
            file.set_len(size).map_err(|error| format!("no memory for the data: {error}"))?;
            return Ok(Store { file, is_on_disk: false });
        };
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let mut options = OpenOptions::new();
        // Readable only by its owner: the file holds data of clients.
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?.len();
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(format!("{}: another process serves this file", path.display()));
        }
        // An empty file is accepted for any size.
        if found != 0 && found != size {
            let name = path.display();
            return Err(format!("{name}: the file has {found} bytes, and the drive {size}: --size {found} serves it"));
        }
        file.set_len(size).map_err(failed)?;
        Ok(Store { file, is_on_disk: true })
    }

    pub fn read(&self, buffer: &mut [u8], offset: u64) -> Result<(), String> {
        self.file.read_exact_at(buffer, offset).map_err(|error| format!("the data cannot be read: {error}"))
    }

    pub fn write(&self, buffer: &[u8], offset: u64) -> Result<(), String> {
        self.file.write_all_at(buffer, offset).map_err(|error| format!("the data cannot be written: {error}"))
    }

    /// Sets `count` bytes from `offset` to zeros: punches a hole if the file system supports holes, and otherwise writes zeros.
    pub fn zero(&self, count: u64, offset: u64) -> Result<(), String> {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(&self.file, hole, offset, count) {
            Ok(()) => Ok(()),
            Err(Errno::OPNOTSUPP) => self.write_zeros(count, offset),
            Err(error) => Err(format!("the data cannot be deallocated: {error}")),
        }
    }

    fn write_zeros(&self, count: u64, offset: u64) -> Result<(), String> {
        let mut at = offset;
        while at < offset + count {
            let piece = (offset + count - at).min(ZEROS.len() as u64);
            self.write(&ZEROS[..piece as usize], at)?;
            at += piece;
        }
        Ok(())
    }

    pub fn flush(&self) -> Result<(), String> {
        if !self.is_on_disk {
            return Ok(());
        }
        self.file.sync_data().map_err(|error| format!("the data cannot be flushed: {error}"))
    }
}
