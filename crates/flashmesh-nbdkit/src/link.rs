//! Pipes to the command that started nbdkit: the command reads the figures and the report from one pipe, and closes the other pipe to close the
//! drive.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::engine::LiveStats;
use crate::served::ServedDrive;

const PERIOD: Duration = Duration::from_millis(250);

/// Opens both pipes, and starts a thread for each.
///
/// # Errors
/// If a pipe cannot be opened.
pub fn open(served: &'static ServedDrive) -> Result<(), String> {
    let (closing, closed) = channel();
    if let Some(path) = served.control() {
        let control = opened(path, OpenOptions::new().read(true))?;
        thread::spawn(move || wait_for_end(control, &closing));
    }
    if let Some(path) = served.live() {
        let live = opened(path, OpenOptions::new().append(true))?;
        thread::spawn(move || write_live_stats(served, live, &closed));
    }
    Ok(())
}

fn opened(path: &Path, options: &OpenOptions) -> Result<File, String> {
    options.open(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Waits until the other end of the control pipe is closed, then signals `closing`.
fn wait_for_end(mut control: File, closing: &Sender<()>) {
    let mut nothing = [0; 16];
    while matches!(control.read(&mut nothing), Ok(1..)) {}
    let _ = closing.send(());
}

/// Writes the figures periodically, and the report when the drive is closed. Then exits the process, even if clients are
/// connected.
fn write_live_stats(served: &ServedDrive, mut live: File, closed: &Receiver<()>) {
    loop {
        let _ = writeln!(live, "{}", shown(served, &served.take_stats()));
        match closed.recv_timeout(PERIOD) {
            Ok(()) => break,
            Err(RecvTimeoutError::Timeout) => {}
            // Without a control pipe the drive is never closed from here.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(PERIOD),
        }
        if let Err(message) = served.write_log() {
            let _ = writeln!(live, "{}", json!({ "error": message }));
        }
    }
    let line = match served.close() {
        Ok(report) => format!("{{\"report\":{report}}}"),
        Err(message) => json!({ "error": message }).to_string(),
    };
    let _ = writeln!(live, "{}", shown(served, &served.take_stats()));
    let _ = writeln!(live, "{line}");
    std::process::exit(0);
}

fn shown(served: &ServedDrive, figures: &LiveStats) -> Value {
    json!({
        "size": served.size(),
        "requests": figures.requests,
        "bytes": figures.bytes,
        "latency_ps": u64::try_from(figures.latency_ps).unwrap_or(u64::MAX),
        "simulated_ps": figures.simulated.as_ps(),
        "outstanding": figures.outstanding,
        "late": figures.late,
        "late_max_us": figures.late_max.as_micros() as u64,
    })
}
