//! Time, sizes, rates and electric quantities as newtypes, with the text form that configurations use.
//!
//! Every quantity that event times depend on is an integer: picoseconds, bytes, bytes per second.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

mod electric;
mod printable;
mod text;

pub use electric::{Current, Voltage, Wattage};
pub use printable::{printable, printable_path};
pub use text::quoted;
pub use text::{Count, Quantity, UnitError, UnitErrorKind};

/// A point in simulated time, or a span of it, in picoseconds.
///
/// The largest value is about 213 days. A run lasts at most [`Time::RUN_MAX`], 106 days, longer than any published trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of every run, and the empty span.
    pub const ZERO: Time = Time(0);
    /// The largest time, later than every event.
    pub const MAX: Time = Time(u64::MAX);
    /// The longest run: half of the largest time, so that adding a delay to a time within the run cannot overflow.
    pub const RUN_MAX: Time = Time(u64::MAX / 2);
    /// The picoseconds in a second.
    pub const PS_PER_SECOND: u64 = 1_000_000_000_000;

    /// Creates a span of `picoseconds`.
    pub const fn from_ps(picoseconds: u64) -> Time {
        Time(picoseconds)
    }

    /// Creates a span of `nanoseconds`.
    pub const fn from_ns(nanoseconds: u64) -> Time {
        Time(nanoseconds * 1_000)
    }

    /// Creates a span of `microseconds`.
    pub const fn from_us(microseconds: u64) -> Time {
        Time(microseconds * 1_000_000)
    }

    /// Creates a span of `milliseconds`.
    pub const fn from_ms(milliseconds: u64) -> Time {
        Time(milliseconds * 1_000_000_000)
    }

    /// Returns the span in picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the span in seconds, for reports only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / Self::PS_PER_SECOND as f64
    }

    /// Returns the span from `earlier` to `self`, or zero if `earlier` is later.
    pub const fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }

    /// Returns the later of the two times.
    pub const fn later(self, other: Time) -> Time {
        if self.0 > other.0 { self } else { other }
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}

impl Sub for Time {
    type Output = Time;
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}

impl SubAssign for Time {
    fn sub_assign(&mut self, other: Time) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Time {
    type Output = Time;
    fn mul(self, times: u64) -> Time {
        Time(self.0 * times)
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Time>>(spans: I) -> Time {
        spans.fold(Time::ZERO, Add::add)
    }
}

/// A number of bytes: a size, or an offset on the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// Creates a size of `count` bytes.
    pub const fn new(count: u64) -> Bytes {
        Bytes(count)
    }

    /// Creates a size of `count` KiB.
    pub const fn from_kib(count: u64) -> Bytes {
        Bytes(count << 10)
    }

    /// Returns the number of bytes.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;
    fn mul(self, times: u64) -> Bytes {
        Bytes(self.0 * times)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(sizes: I) -> Bytes {
        sizes.fold(Bytes::ZERO, Add::add)
    }
}

/// The duration of transfers over one link. Caches the duration of the last size, because most transfers of a link have the same size.
#[derive(Clone, Debug)]
pub struct TransferTimes {
    rate: Rate,
    size: Bytes,
    time: Time,
}

impl TransferTimes {
    /// Creates an empty cache for a link with `rate`.
    pub fn new(rate: Rate) -> TransferTimes {
        TransferTimes { rate, size: Bytes::ZERO, time: Time::ZERO }
    }

    /// Returns the duration of a transfer of `size`, like [`Rate::time_for`].
    #[inline]
    pub fn time_for(&mut self, size: Bytes) -> Time {
        if size != self.size {
            self.size = size;
            self.time = self.rate.time_for(size);
        }
        self.time
    }
}

/// A transfer rate, in bytes per second. At [`Rate::UNLIMITED`] a transfer takes no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// The rate of transfers that take no time.
    pub const UNLIMITED: Rate = Rate(u64::MAX);

    /// Creates a rate of `bytes` per second.
    ///
    /// # Panics
    /// If `bytes` is zero.
    pub const fn from_bytes_per_second(bytes: u64) -> Rate {
        assert!(bytes > 0, "a rate of zero never moves a byte");
        Rate(bytes)
    }

    /// Returns the bytes per second; [`u64::MAX`] if unlimited.
    pub const fn as_bytes_per_second(self) -> u64 {
        self.0
    }

    /// Returns the duration of a transfer of `size`, rounded up to the next picosecond.
    pub fn time_for(self, size: Bytes) -> Time {
        if self == Rate::UNLIMITED {
            return Time::ZERO;
        }
        // The product fits 64 bits for transfers up to 18 MB. A page is always smaller.
        match size.0.checked_mul(Time::PS_PER_SECOND) {
            Some(scaled) => Time(scaled.div_ceil(self.0)),
            None => {
                let scaled = u128::from(size.0) * u128::from(Time::PS_PER_SECOND);
                Time(scaled.div_ceil(u128::from(self.0)) as u64)
            }
        }
    }
}

/// A share of a whole, where 1.0 is the whole. Text form: "7%" or 0.07.
///
/// The only quantity that is not an integer. A share sizes pools and parametrizes random choices, but never becomes an event time.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(pub f64);
