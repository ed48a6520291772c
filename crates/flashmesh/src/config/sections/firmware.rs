//! `[firmware]`

use crate::config::section::section;
use crate::units::Time;

const FIRMWARE_TIME_MAX: Time = Time::from_ms(10);

section! {
    /// The processor cores of the controller, and their time for commands ([firmware-time.md](firmware-time.md)).
    Firmware, "firmware" {
        /// Cores that share the work. Each does one job after the other, in the order in which they come.
        cores: u32 = 1, in 1..=1024,
            with "read-time" != ["\"0ps\""] or "write-time" != ["\"0ps\""] or "other-time" != ["\"0ps\""] or "look-up-time" != ["\"0ps\""]
                or "completion-time" != ["\"0ps\""] or "collect-time" != ["\"0ps\""],
            needs any;
        /// Time for a command that reads, before anything is read for it.
        read_time: Time = Time::ZERO, in Time::ZERO..=FIRMWARE_TIME_MAX, needs any where "read-time" != ["\"0ps\""];
        /// Time for a command that writes, before its data goes to the device cache or to flash.
        write_time: Time = Time::ZERO, in Time::ZERO..=FIRMWARE_TIME_MAX, needs any where "write-time" != ["\"0ps\""];
        /// Time for any other command: flush, deallocate, write zeroes.
        other_time: Time = Time::ZERO, in Time::ZERO..=FIRMWARE_TIME_MAX, needs any where "other-time" != ["\"0ps\""];
        /// Time more for each unit of the map that a command reads or writes.
        look_up_time: Time = Time::ZERO, in Time::ZERO..=FIRMWARE_TIME_MAX, needs any where "look-up-time" != ["\"0ps\""];
        /// Time for a completion, before the host is told.
        completion_time: Time = Time::ZERO, in Time::ZERO..=FIRMWARE_TIME_MAX, needs any where "completion-time" != ["\"0ps\""];
        /// Time for each page, or unit of a page, that collection or wear levelling moves through the controller, between its read and its program.
        collect_time: Time = Time::ZERO, in Time::ZERO..=FIRMWARE_TIME_MAX,
            with "gc.copyback" = ["false"], with "gc.move" = ["\"through-controller\""],
            needs any where "collect-time" != ["\"0ps\""];
    }
}
