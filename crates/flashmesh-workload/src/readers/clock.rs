//! What an open replay needs of the clock of a trace: time stamps, in a unit that is known.

use super::TraceSummary;
use crate::config::{TraceFormat, TraceTimeUnit, Workload};
use crate::error::WorkloadError;
use crate::units::Time;

/// Mean rates, in requests a second, that traces of real systems have.
const RATE_MIN: f64 = 0.1;
const RATE_MAX: f64 = 1e6;
/// Limit of a plausible length: a quarter of a year.
const SPAN_MAX_S: f64 = 92.0 * 86_400.0;
/// The rate in the middle of what is plausible, in requests a second.
const RATE_TYPICAL: f64 = 1e3;

/// Refuses a trace that cannot be replayed at its arrivals: one without time stamps, or of the ASCII family where nobody has said
/// in which unit they are.
///
/// # Errors
/// When it is such a trace; the message says what to set.
pub fn require(summary: &TraceSummary, workload: &Workload) -> Result<(), WorkloadError> {
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
    // The summary was made with the default, nanoseconds.
    let span_ns = summary.span_ps as f64 / Time::from_ns(1).as_ps() as f64;
    let readings: Vec<Reading> =
        UNITS.iter().map(|&(unit, ns)| Reading::new(unit, span_ns * ns, summary.requests)).collect();
    let likely = readings.iter().filter(|reading| reading.is_plausible());
    let likely = likely.min_by(|one, other| one.oddness().total_cmp(&other.oddness()));
    let listed: Vec<String> = readings.iter().map(Reading::to_string).collect();
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

/// The units, each with how many nanoseconds it has.
const UNITS: [(TraceTimeUnit, f64); 5] = [
    (TraceTimeUnit::Picoseconds, 1e-3),
    (TraceTimeUnit::Nanoseconds, 1.0),
    (TraceTimeUnit::Microseconds, 1e3),
    (TraceTimeUnit::Milliseconds, 1e6),
    (TraceTimeUnit::Seconds, 1e9),
];

/// A trace, assuming a unit of its time stamps.
struct Reading {
    unit: TraceTimeUnit,
    span_s: f64,
    rate: f64,
}

impl Reading {
    fn new(unit: TraceTimeUnit, span_ns: f64, requests: u64) -> Reading {
        let span_s = span_ns / 1e9;
        Reading { unit, span_s, rate: (requests - 1) as f64 / span_s }
    }

    fn is_plausible(&self) -> bool {
        (RATE_MIN..=RATE_MAX).contains(&self.rate) && self.span_s <= SPAN_MAX_S
    }

    /// Distance of the rate from a typical one, in decades.
    fn oddness(&self) -> f64 {
        (self.rate / RATE_TYPICAL).ln().abs()
    }
}

impl std::fmt::Display for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (unit, span_s, rate) = (self.unit.name(), self.span_s, self.rate);
        write!(f, "{unit}: {rate:.3e} requests a second for {span_s:.3e} s")?;
        f.write_str(if self.is_plausible() { "" } else { ", hardly possible" })
    }
}
