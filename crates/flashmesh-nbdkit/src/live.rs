//! The figures of each second, a line of JSON each.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::Duration;

use crate::served::Served;

const PERIOD: Duration = Duration::from_millis(500);

/// Writes the figures for as long as the process lives and somebody reads them.
pub fn watch(served: &'static Served) {
    let Some(path) = served.live() else { return };
    let Ok(mut file) = OpenOptions::new().append(true).open(path) else {
        eprintln!("flashmesh: {}: the live figures cannot be written", path.display());
        return;
    };
    std::thread::spawn(move || {
        loop {
            let figures = served.figures();
            let line = serde_json::json!({
                "requests": figures.requests,
                "bytes": figures.bytes,
                "latency_ps": figures.latency_ps,
                "simulated_ps": figures.simulated.as_ps(),
                "outstanding": figures.outstanding,
                "late": figures.late,
                "late_max_us": figures.late_max.as_micros() as u64,
            });
            if writeln!(file, "{line}").is_err() {
                return;
            }
            std::thread::sleep(PERIOD);
        }
    });
}
