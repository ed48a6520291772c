//! Destinations of the records of completed requests: none, the sink of a caller, or a program that steps the drive.

use crate::host::status::Status;
use crate::units::Time;

use super::log::RequestSink;

/// A request that a drive which is stepped has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Its id, as it was given when it was submitted.
    pub id: u64,
    /// When its completion reached the host.
    pub time: Time,
    /// From its arrival to its completion.
    pub latency: Time,
    /// How it ended.
    pub status: Status,
}

/// Where a drive pauses that is being advanced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Pauses {
    /// At the time that it was given.
    #[default]
    WhereTold,
    /// At the next completion too.
    AtNext,
    /// At this completion too, which has come.
    At(Time),
}

/// The requests that were completed during the last step.
#[derive(Clone, Debug, Default)]
pub struct Completions {
    pub done: Vec<Completion>,
    /// The number of requests that were submitted.
    pub submitted: u64,
    pauses: Pauses,
}

impl Completions {
    /// Begins a step.
    pub fn begin(&mut self, to_completion: bool) {
        self.done.clear();
        self.pauses = if to_completion { Pauses::AtNext } else { Pauses::WhereTold };
    }

    /// A request has completed: whether the drive is to pause now.
    #[inline]
    pub fn push(&mut self, last_bits: u32, time: Time, latency: Time, status: Status) -> bool {
        self.done.push(Completion { id: self.id_of(last_bits), time, latency, status });
        let pauses = self.pauses == Pauses::AtNext;
        if pauses {
            self.pauses = Pauses::At(time);
        }
        pauses
    }

    /// Whether the drive has paused at `now` because of a completion.
    pub fn pauses_at(&self, now: Time) -> bool {
        self.pauses == Pauses::At(now)
    }

    /// The whole id of a request in flight: far fewer than 2^32 are.
    #[inline]
    fn id_of(&self, last_bits: u32) -> u64 {
        let after = (self.submitted as u32).wrapping_sub(last_bits);
        self.submitted - u64::from(after)
    }
}

/// Where records go.
pub enum Records {
    /// Nobody wants them.
    Dropped,
    /// To the sink of a caller.
    Sink(Box<dyn RequestSink>),
    /// To those who step the drive.
    Completions(Completions),
}

impl Records {
    /// No more come.
    ///
    /// # Errors
    /// Why the sink could not keep those that it took.
    pub fn end(&mut self) -> Result<(), String> {
        if let Records::Sink(sink) = self { sink.end() } else { Ok(()) }
    }
}

impl Clone for Records {
    /// Drives that are copied have no sink.
    fn clone(&self) -> Records {
        match self {
            Records::Dropped => Records::Dropped,
            Records::Completions(completions) => Records::Completions(completions.clone()),
            Records::Sink(_) => unreachable!("a drive with a sink of the caller's own is not copied"),
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
