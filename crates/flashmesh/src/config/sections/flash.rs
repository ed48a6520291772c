//! `[flash]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Time;

const ARRAY_TIME_MIN: Time = Time::from_ps(1);
const ARRAY_TIME_MAX: Time = Time::from_ms(10_000);
const OVERHEAD_MAX: Time = Time::from_ms(1_000);

choices! {
    /// When planes of a die may join in one operation.
    MultiPlane {
        /// Never.
        Off = "off",
        /// When kind and page offset in the block agree (papers 000 and 001).
        SameOffset = "same-offset",
        /// When kind, block and page offset agree (paper 003).
        SameBlockAndOffset = "same-block-and-offset",
    }
}

choices! {
    /// Which operations a read may suspend.
    Suspension {
        /// None.
        Off = "off",
        /// Programs.
        Program = "program",
        /// Erases.
        Erase = "erase",
        /// Programs and erases.
        Both = "both",
    }
}

section! {
    /// The latencies and abilities of the flash chips.
    Flash, "flash" {
        /// Array read time tR.
        read_time: Time = Time::from_us(3), in ARRAY_TIME_MIN..=ARRAY_TIME_MAX;
        /// Array program time tPROG.
        program_time: Time = Time::from_us(100), in ARRAY_TIME_MIN..=ARRAY_TIME_MAX;
        /// Block erase time tBERS.
        erase_time: Time = Time::from_ms(1), in ARRAY_TIME_MIN..=ARRAY_TIME_MAX;
        /// Time a command and its address take on the path.
        command_time: Time = Time::from_ns(10), in Time::ZERO..=OVERHEAD_MAX;
        /// Time each further plane of a multi-plane command adds on the path.
        command_time_per_extra_plane: Option<Time> = None, unset "the command time", in Time::ZERO..=OVERHEAD_MAX;
        /// When planes of a die join in one operation.
        multi_plane: MultiPlane = MultiPlane::SameOffset;
        /// Whether a die is free once data is in its cache register (after tR), not only when the data has left.
        read_cache: bool = false;
        /// Which operations a waiting host read suspends.
        suspension: Suspension = Suspension::Off;
        /// From the suspend command until the array is free.
        suspend_time: Time = Time::from_us(5), in Time::ZERO..=OVERHEAD_MAX;
        /// From the resume command until the operation goes on.
        resume_time: Time = Time::from_us(5), in Time::ZERO..=OVERHEAD_MAX;
        /// How often one operation may be suspended.
        suspensions_max: u32 = 16, in 1..=1_000_000;
        /// An operation with no more than this left is let finish.
        suspend_remaining_min: Time = Time::from_us(10), in Time::ZERO..=ARRAY_TIME_MAX;
    }
}
