//! How much memory the process ever held.

use crate::units::Bytes;

/// The peak resident set of this process, where the system tells it (Linux).
pub fn peak_rss() -> Option<Bytes> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes::from_kib(kib))
}
