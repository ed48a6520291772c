//! The requirements of open replay on the time stamps of a trace.

use super::TraceSummary;
use crate::config::{TraceFormat, TraceTimeUnit, Workload};
use crate::error::WorkloadError;
use crate::units::Time;

/// The minimum plausible mean rate of a trace, in requests per second; `RATE_MAX` is the maximum.
const RATE_MIN: f64 = 0.1;
const RATE_MAX: f64 = 1e6;
/// The longest plausible duration of a trace: a quarter of a year.
const SPAN_MAX_S: f64 = 92.0 * 86_400.0;
/// A typical rate, the centre of the plausible range, in requests per second.
const RATE_TYPICAL: f64 = 1e3;

/// Checks that the time stamps of a trace allow an open replay.
///
/// # Errors
/// If all time stamps are equal, or if the trace is of the ASCII family and the unit of its time stamps is not configured. The
/// message says what to set.
pub fn require_time_unit(summary: &TraceSummary, workload: &Workload) -> Result<(), WorkloadError> {
    if summary.requests > 1 && summary.span_ps == 0 {
        return Err(WorkloadError::Unusable(format!(
            "{}: all {} requests have the same time stamp, so nothing says when they arrive: set replay.mode = \"stress\"",
            summary.file, summary.requests
        )));
    }
    let is_free = summary.format == TraceFormat::Ascii.name();
    if !is_free || workload.time_unit.is_some() || summary.requests < 2 {
        return Ok(());
    }
    // The summary was computed with the default unit, nanoseconds.
    let span_ns = summary.span_ps as f64 / Time::from_ns(1).as_ps() as f64;
    let readings: Vec<TimeUnitGuess> =
        UNITS.iter().map(|&(unit, ns)| TimeUnitGuess::new(unit, span_ns * ns, summary.requests)).collect();
    let likely = readings.iter().filter(|reading| reading.is_plausible());
    let likely = likely.min_by(|one, other| one.rate_distance().total_cmp(&other.rate_distance()));
    let listed: Vec<String> = readings.iter().map(TimeUnitGuess::to_string).collect();
    let advice = match likely {
        Some(reading) => format!("set workload.time-unit = \"{}\" if that is right", reading.unit.name()),
        None => "set workload.time-unit".to_owned(),
    };
    Err(WorkloadError::Unusable(format!(
        "{}: traces of the ASCII family do not say the unit of their time stamps, and an open replay depends on it: {advice}, or \
         replay.mode = \"stress\" to ignore them\n  {}",
        summary.file,
        listed.join("\n  ")
    )))
}

/// The units of time stamps, each with its length in nanoseconds.
const UNITS: [(TraceTimeUnit, f64); 5] = [
    (TraceTimeUnit::Picoseconds, 1e-3),
    (TraceTimeUnit::Nanoseconds, 1.0),
    (TraceTimeUnit::Microseconds, 1e3),
    (TraceTimeUnit::Milliseconds, 1e6),
    (TraceTimeUnit::Seconds, 1e9),
];

/// The duration and rate of a trace under an assumed unit.
struct TimeUnitGuess {
    unit: TraceTimeUnit,
    span_s: f64,
    rate: f64,
}

impl TimeUnitGuess {
    fn new(unit: TraceTimeUnit, span_ns: f64, requests: u64) -> TimeUnitGuess {
        let span_s = span_ns / 1e9;
        TimeUnitGuess { unit, span_s, rate: (requests - 1) as f64 / span_s }
    }

    fn is_plausible(&self) -> bool {
        (RATE_MIN..=RATE_MAX).contains(&self.rate) && self.span_s <= SPAN_MAX_S
    }

    /// Returns the distance of the rate from [`RATE_TYPICAL`], on a logarithmic scale.
    fn rate_distance(&self) -> f64 {
        (self.rate / RATE_TYPICAL).ln().abs()
    }
}

impl std::fmt::Display for TimeUnitGuess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (unit, span_s, rate) = (self.unit.name(), self.span_s, self.rate);
        write!(f, "{unit}: {rate:.3e} requests a second for {span_s:.3e} s")?;
        f.write_str(if self.is_plausible() { "" } else { ", hardly possible" })
    }
}
