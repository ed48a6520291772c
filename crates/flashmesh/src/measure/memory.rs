//! Peak memory of the process.

use crate::units::Bytes;

/// Returns the peak resident set of this process; `None` if the system does not report it (other than Linux).
pub fn peak_rss() -> Option<Bytes> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes::from_kib(kib))
}
