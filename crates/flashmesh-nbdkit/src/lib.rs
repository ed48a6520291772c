//! Plugin of nbdkit: holds data in a sparse file or in memory, and completes each request when the simulated drive completes
//! it.
//!
//! `flashmesh serve` starts nbdkit with this plugin. This crate has no unsafe code: the crate `nbdkit` wraps the C interface.
// This crate is empty on systems other than Linux: the plugin uses Linux system calls, and only Linux wheels contain it.
#![cfg(target_os = "linux")]
#![allow(missing_docs, reason = "nobody links it but nbdkit, whose macro documents nothing")]

mod clock;
mod engine;
mod link;
mod log;
mod served;
mod settings;
mod store;

use std::sync::{Mutex, OnceLock, PoisonError};

use nbdkit::{Error, Flags, FuaFlags, Result, Server, ThreadModel, plugin};

use flashmesh::requests::RequestKind;

use served::ServedDrive;
use settings::Settings;

static SETTINGS: Mutex<Settings> = Mutex::new(Settings::new());
static SERVED: OnceLock<ServedDrive> = OnceLock::new();

/// One connection. All connections share the drive.
struct Connection(&'static ServedDrive);

fn served() -> Result<&'static ServedDrive> {
    SERVED.get().ok_or_else(|| Error::new(libc::EIO, "the drive is not open"))
}

fn failed(message: String) -> Error {
    Error::new(libc::EIO, message)
}

impl Server for Connection {
    fn name() -> &'static str {
        "flashmesh"
    }

    fn longname() -> Option<&'static str> {
        Some("a simulated SSD")
    }

    fn version() -> Option<&'static str> {
        Some(env!("CARGO_PKG_VERSION"))
    }

    fn thread_model() -> Result<ThreadModel> {
        Ok(ThreadModel::Parallel)
    }

    fn config(key: &str, value: &str) -> Result<()> {
        let mut settings = SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
        settings.set(key, value).map_err(|message| Error::new(libc::EINVAL, message))
    }

    /// Opens the drive after nbdkit has forked, since threads do not survive a fork. An error ends nbdkit.
    fn after_fork() -> Result<()> {
        let settings = SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = ServedDrive::open(&settings).map_err(failed)?;
        SERVED.set(opened).map_err(|_| failed("the drive is open already".to_owned()))?;
        link::open(served()?).map_err(failed)
    }

    fn open(_readonly: bool) -> Result<Box<dyn Server>> {
        Ok(Box::new(Connection(served()?)))
    }

    fn get_size(&self) -> Result<i64> {
        i64::try_from(self.0.size()).map_err(|_| failed("the drive is larger than 2^63 bytes".to_owned()))
    }

    fn can_write(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_flush(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_trim(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_zero(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_fua(&self) -> Result<FuaFlags> {
        Ok(FuaFlags::Emulate)
    }

    /// Returns true: all connections share one drive and one file, so a flush on one covers the writes of all.
    fn can_multi_conn(&self) -> Result<bool> {
        Ok(true)
    }

    fn is_rotational(&self) -> Result<bool> {
        Ok(false)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        // Copy the data first, so that the copy adds no time after the drive's completion.
        self.0.store().read(buffer, offset).map_err(failed)?;
        self.0.request(RequestKind::Read, offset, buffer.len() as u64).map_err(failed)
    }

    fn write_at(&self, buffer: &[u8], offset: u64, _flags: Flags) -> Result<()> {
        self.0.store().write(buffer, offset).map_err(failed)?;
        self.0.request(RequestKind::Write, offset, buffer.len() as u64).map_err(failed)
    }

    fn flush(&self) -> Result<()> {
        self.0.request(RequestKind::Flush, 0, 0).map_err(failed)?;
        self.0.store().flush().map_err(failed)
    }

    fn trim(&self, count: u32, offset: u64, _flags: Flags) -> Result<()> {
        self.0.store().zero(u64::from(count), offset).map_err(failed)?;
        self.0.request(RequestKind::Deallocate, offset, u64::from(count)).map_err(failed)
    }

    fn zero(&self, count: u32, offset: u64, _flags: Flags) -> Result<()> {
        self.0.store().zero(u64::from(count), offset).map_err(failed)?;
        self.0.request(RequestKind::WriteZeroes, offset, u64::from(count)).map_err(failed)
    }
}

plugin!(Connection {
    after_fork,
    can_flush,
    can_fua,
    can_multi_conn,
    can_trim,
    can_write,
    can_zero,
    config,
    flush,
    is_rotational,
    thread_model,
    trim,
    write_at,
    zero
});
