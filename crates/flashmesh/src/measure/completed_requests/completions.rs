//! Destinations for the records of completed requests: none, the sink of a caller, or a program that steps the drive.

use crate::host::status::Status;
use crate::units::Time;

use super::request_log::RequestSink;

/// A completed request, as reported to a program that steps the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Id of the request, assigned at its submission.
    pub id: u64,
    /// Time at which the completion reached the host.
    pub time: Time,
    /// Time from the arrival of the request to its completion.
    pub latency: Time,
    /// Status with which the request completed.
    pub status: Status,
}

/// Condition on which a stepped drive pauses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PauseCondition {
    /// Pause only at the time to which the drive is stepped, whatever completes before.
    #[default]
    WhereTold,
    /// Pause at the next completion, or at the time to which the drive is stepped, whichever comes first.
    AtNext,
    /// Pause at this time, because a request has completed.
    At(Time),
}

/// Requests that completed during the current step of a stepped drive.
#[derive(Clone, Debug, Default)]
pub struct Completions {
    pub done: Vec<Completion>,
    /// Number of requests submitted since the start of the run.
    pub submitted: u64,
    pauses: PauseCondition,
}

impl Completions {
    /// Begins a step, and drops the completions of the previous step. With `to_completion`, the drive pauses at the next completion.
    pub fn begin(&mut self, to_completion: bool) {
        self.done.clear();
        self.pauses = if to_completion { PauseCondition::AtNext } else { PauseCondition::WhereTold };
    }

    /// Records the completion of the request whose id ends with `last_bits`. Returns whether the drive must pause, because the step ends at its first
    /// completion.
    pub fn push(&mut self, last_bits: u32, time: Time, latency: Time, status: Status) -> bool {
        self.done.push(Completion { id: self.id_of(last_bits), time, latency, status });
        let pauses = self.pauses == PauseCondition::AtNext;
        if pauses {
            self.pauses = PauseCondition::At(time);
        }
        pauses
    }

    /// Returns whether a completion at `now` requires the drive to pause.
    pub fn pauses_at(&self, now: Time) -> bool {
        self.pauses == PauseCondition::At(now)
    }

    /// Returns the full id of the request in flight whose lowest 32 bits are `last_bits`. Such a request is unique, because far fewer than 2^32
    /// requests are in flight.
    fn id_of(&self, last_bits: u32) -> u64 {
        let after = (self.submitted as u32).wrapping_sub(last_bits);
        self.submitted - u64::from(after)
    }
}

/// Destination of the records of completed requests.
pub enum RecordDestination {
    /// No destination: the records of completed requests are dropped.
    Dropped,
    /// The sink of a caller, which receives the records.
    Sink(Box<dyn RequestSink>),
    /// A program that steps the drive: the completions of the current step are kept for that program.
    Completions(Completions),
}

impl RecordDestination {
    /// Closes the destination after the last record.
    ///
    /// # Errors
    /// The reason if the sink could not keep its records.
    pub fn end(&mut self) -> Result<(), String> {
        if let RecordDestination::Sink(sink) = self { sink.end() } else { Ok(()) }
    }
}

impl Clone for RecordDestination {
    /// Clones the destination. Panics for a sink, because a drive with a sink is never cloned.
    fn clone(&self) -> RecordDestination {
        match self {
            RecordDestination::Dropped => RecordDestination::Dropped,
            RecordDestination::Completions(completions) => RecordDestination::Completions(completions.clone()),
            RecordDestination::Sink(_) => unreachable!("a drive with a sink of the caller's own is not copied"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_whole_again_beyond_32_bits() {
        let completions = Completions { submitted: (7 << 32) + 3, ..Completions::default() };
        assert_eq!(completions.id_of(2), (7 << 32) + 2);
        assert_eq!(completions.id_of(u32::MAX), (7 << 32) - 1);
    }
}
