//! The section `[firmware]` of a configuration.

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Time;

const FIRMWARE_TIME_MAX: Time = Time::from_ms(10);

choices! {
    /// The rule that selects the core of a job.
    CoreChoice {
        /// The core that is free first.
        FirstFree = "first-free",
        /// For a command and a part of a read, the core of its first address: the number of the mapping unit modulo the number of cores. For other
        /// jobs, the core that is free first.
        Address = "address",
    }
}

section! {
    /// The processor cores of the controller, and their time for commands ([firmware-time.md](firmware-time.md)).
    Firmware, "firmware" {
        /// Number of cores that share the work. Each executes its jobs in the order of arrival.
        cores: u32 = 1, in 1..=1024,
            with "read-time" != ["\"0ps\""] or "write-time" != ["\"0ps\""] or "other-time" != ["\"0ps\""] or "look-up-time" != ["\"0ps\""]
                or "completion-time" != ["\"0ps\""] or "collect-time" != ["\"0ps\""] or "split-time" != ["\"0ps\""],
            needs any;
        /// Rule that selects the core of a job.
        core_choice: CoreChoice = CoreChoice::FirstFree, with "cores" != ["1"], needs any where "core-choice" != ["\"first-free\""];
        /// Time for a read command, before anything is read for it.
        read_time: Time = Time::ZERO, in Time::ZERO..=FIRMWARE_TIME_MAX, needs any where "read-time" != ["\"0ps\""];
        /// Time for a write command, before its data goes to the device cache or to flash.
        write_time: Time = Time::ZERO, in Time::ZERO..=FIRMWARE_TIME_MAX, needs any where "write-time" != ["\"0ps\""];
        /// Time for any other command: flush, deallocate, write zeroes.
        other_time: Time = Time::ZERO, in Time::ZERO..=FIRMWARE_TIME_MAX, needs any where "other-time" != ["\"0ps\""];
        /// Additional time for each mapping unit that a command reads or writes.
        look_up_time: Time = Time::ZERO, in Time::ZERO..=FIRMWARE_TIME_MAX, needs any where "look-up-time" != ["\"0ps\""];
        /// Time for each part of a read command but the first: a job of its own before the part is read. A part of a command consists
        /// of mapping units with successive addresses in one page of flash.
        split_time: Time = Time::ZERO, in Time::ZERO..=FIRMWARE_TIME_MAX, with "ftl.policy" != ["\"mbm\""], needs any where "split-time" != ["\"0ps\""];
        /// Time for a completion, before it is sent to the host.
        completion_time: Time = Time::ZERO, in Time::ZERO..=FIRMWARE_TIME_MAX, needs any where "completion-time" != ["\"0ps\""];
        /// Time for each page, or unit of a page, that collection or wear levelling moves through the controller, between its read and its program.
        collect_time: Time = Time::ZERO, in Time::ZERO..=FIRMWARE_TIME_MAX,
            with "gc.copyback" = ["false"], with "gc.move" = ["\"through-controller\""],
            needs any where "collect-time" != ["\"0ps\""];
    }
}
