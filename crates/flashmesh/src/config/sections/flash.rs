//! The section `[flash]` of a configuration: its parameters, and the types of their values.

use crate::config::Config;
use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Time;

use super::TimesByPlanes;
use super::fabric::FabricKind;
use super::geometry::PLANES_PER_DIE_MAX;

pub(super) const ARRAY_TIME_MIN: Time = Time::from_ps(1);
pub(super) const ARRAY_TIME_MAX: Time = Time::from_ms(10_000);
const OVERHEAD_MAX: Time = Time::from_ms(1_000);

choices! {
    /// The order in which the planes of a multi-plane read send their data.
    PlaneOrder {
        /// Data of the plane of the oldest transaction first, then of the other planes by number.
        Number = "number",
        /// Data of the planes in the order in which their transactions arrived at the die.
        Arrival = "arrival",
    }
}

choices! {
    /// The condition under which planes of a die can join in one operation.
    MultiPlane {
        /// Planes never join: each plane has its own operations.
        Off = "off",
        /// Planes join if their operations have the same kind and the same page offset in the block (Venice, ISCA 2023; MBM).
        SameOffset = "same-offset",
        /// Planes join if their operations have the same kind, block and page offset (PACT 2014).
        SameBlockAndOffset = "same-block-and-offset",
        /// Reads never join: each plane reads by itself, while other planes read (independent multi-plane reads of ONFI 5 and of data sheets). Programs
        /// and erases join as with `same-offset`, and no plane reads meanwhile.
        Independent = "independent",
    }
}

choices! {
    /// The start of an operation of a die.
    DieStart {
        /// A die starts its operation as soon as possible, independent of the other dies of the chip.
        Independent = "independent",
        /// A die starts its operation when all dies of the chip are idle, together with the dies for which transactions wait (PACT 2014,
        /// section 4.3).
        Together = "together",
    }
}

choices! {
    /// The differences in array time between the pages of a block.
    PageTypes {
        /// No differences in array time between pages.
        One = "one",
        /// Two bits per cell: lower and upper pages alternate.
        Mlc = "mlc",
        /// Three bits per cell: six lower pages and two middle pages, then repeatedly two lower, two middle and two upper pages (Yaakobi et al., ICNC
        /// 2012).
        Tlc = "tlc",
        /// Four bits per cell: lower, middle, upper and top pages in turn.
        Qlc = "qlc",
    }
}

choices! {
    /// The amount of data that one program writes in a plane.
    ProgramUnit {
        /// One page per program.
        Page = "page",
        /// All pages of a word line at once (one-shot program): one to four pages, depending on `page-types`. The pages of a word line have
        /// consecutive numbers.
        WordLine = "word-line",
    }
}

choices! {
    /// The order in which the pages of a block can be programmed.
    ProgramOrder {
        /// Pages of a block are programmed in the order of their numbers only.
        InOrder = "in-order",
        /// Pages of a block can be programmed in any order.
        Any = "any",
    }
}

choices! {
    /// The operations that a read can suspend.
    Suspension {
        /// Reads suspend no operation.
        Off = "off",
        /// Reads suspend programs only.
        Program = "program",
        /// Reads suspend erases only.
        Erase = "erase",
        /// Reads suspend programs and erases.
        Both = "both",
    }
}

choices! {
    /// The scope of a suspension by a read.
    SuspensionScope {
        /// A read suspends only the operation of the die that it waits for.
        Die = "die",
        /// A read suspends the operations of all dies of the chip, even if the die of the read is idle.
        Chip = "chip",
    }
}

section! {
    /// Latencies and features of the flash chips.
    Flash, "flash" {
        /// Array read time tR; of lower pages, if page types differ.
        read_time: Time = Time::from_us(3), in ARRAY_TIME_MIN..=ARRAY_TIME_MAX, needs plain;
        /// Array program time tPROG; of lower pages, if page types differ.
        program_time: Time = Time::from_us(100), in ARRAY_TIME_MIN..=ARRAY_TIME_MAX, needs plain;
        /// Block erase time tBERS.
        erase_time: Time = Time::from_ms(1), in ARRAY_TIME_MIN..=ARRAY_TIME_MAX, needs plain;
        /// Differences in array time between the pages of a block. An operation takes as long as its slowest page.
        page_types: PageTypes = PageTypes::One, needs plain;
        /// Array read time of middle pages.
        middle_page_read_time: Option<Time> = None, unset "the read time", in ARRAY_TIME_MIN..=ARRAY_TIME_MAX,
            with "page-types" = ["\"tlc\"", "\"qlc\""], needs plain;
        /// Array read time of upper pages.
        upper_page_read_time: Option<Time> = None, unset "the read time", in ARRAY_TIME_MIN..=ARRAY_TIME_MAX,
            with "page-types" = ["\"mlc\"", "\"tlc\"", "\"qlc\""], needs plain;
        /// Array read time of top pages.
        top_page_read_time: Option<Time> = None, unset "the read time", in ARRAY_TIME_MIN..=ARRAY_TIME_MAX,
            with "page-types" = ["\"qlc\""], needs plain;
        /// Array program time of middle pages.
        middle_page_program_time: Option<Time> = None, unset "the program time", in ARRAY_TIME_MIN..=ARRAY_TIME_MAX,
            with "page-types" = ["\"tlc\"", "\"qlc\""], needs plain;
        /// Array program time of upper pages.
        upper_page_program_time: Option<Time> = None, unset "the program time", in ARRAY_TIME_MIN..=ARRAY_TIME_MAX,
            with "page-types" = ["\"mlc\"", "\"tlc\"", "\"qlc\""], needs plain;
        /// Array program time of top pages.
        top_page_program_time: Option<Time> = None, unset "the program time", in ARRAY_TIME_MIN..=ARRAY_TIME_MAX,
            with "page-types" = ["\"qlc\""], needs plain;
        /// Amount of data that one program writes in a plane. With `word-line`, the data of all pages follows the command, and `program-time` is the
        /// time of a word line.
        program_unit: ProgramUnit = ProgramUnit::Page, needs any, step "page | word-line";
        /// Time that a command with its address occupies the path.
        command_time: Time = Time::from_ns(10), in Time::ZERO..=OVERHEAD_MAX, needs plain;
        /// Additional time on the path for each further plane of a multi-plane command.
        command_time_per_extra_plane: Option<Time> = None, unset "the command time", in Time::ZERO..=OVERHEAD_MAX, needs plain;
        /// Time of a read command on the path: for one plane, for two, and so on.
        read_command_time: Option<TimesByPlanes> = None, unset "the command time, and that of each further plane",
            in Time::ZERO..=OVERHEAD_MAX, needs plain;
        /// Time of a program command on the path, without its data: for one plane, for two, and so on. A copyback takes a read command and a program
        /// command.
        program_command_time: Option<TimesByPlanes> = None, unset "the command time, and that of each further plane",
            in Time::ZERO..=OVERHEAD_MAX, needs plain;
        /// Time of an erase command on the path: for one plane, for two, and so on.
        erase_command_time: Option<TimesByPlanes> = None, unset "the command time, and that of each further plane",
            in Time::ZERO..=OVERHEAD_MAX, needs plain;
        /// Whether a program of a partly written page transfers only the written part to the chip, and the preceding read only the other
        /// part to the controller. Otherwise whole pages are transferred.
        partial_program: bool = false, needs plain;
        /// Whether the dies of a chip work in parallel. If false, a chip starts no operation while any of its dies works, holds data or has a
        /// suspended operation, and the transactions of all its dies wait in one queue.
        die_interleaving: bool = true, needs any where "geometry.dies-per-chip" != ["1"];
        /// Start of an operation of a die that works in parallel with others. Dies of NoSSD manage their own operations (PACT 2014, section 5.5), and
        /// are independent.
        die_start: DieStart = DieStart::Independent, with "die-interleaving" = ["true"], with "fabric.kind" != ["\"nossd\""], needs any where "geometry.dies-per-chip" != ["1"];
        /// Condition under which planes of a die can join in one operation.
        multi_plane: MultiPlane = MultiPlane::SameOffset, needs any where "multi-plane" = ["\"independent\""], step "off | same-offset | independent";
        /// Maximum number of planes of a die that read at the same time. The power of a die limits this number.
        plane_reads_max: Option<u32> = None, unset "all planes", in 1..=PLANES_PER_DIE_MAX as u32,
            with "multi-plane" = ["\"independent\""], with "geometry.planes-per-die" != ["1"], needs any;
        /// Order in which the planes of a multi-plane read send their data.
        plane_order: PlaneOrder = PlaneOrder::Number, with "multi-plane" != ["\"independent\""], needs plain;
        /// Order in which the pages of a block can be programmed.
        program_order: ProgramOrder = ProgramOrder::InOrder, needs plain;
        /// Whether a die is free for its next operation once data is in the cache register (after tR). Otherwise the die is free when the data has
        /// left.
        read_cache: bool = false, needs plain, step "false | true";
        /// Operations that a waiting host read suspends.
        suspension: Suspension = Suspension::Off, with "ftl.policy" != ["\"mbm\""], needs any, step "off | program | both";
        /// Scope of a suspension: the die of the read, or all dies of a chip that start together and are busy together. A chip resumes its suspended
        /// operations when no read waits for any of its dies. With `chip`, all of the operations must be suspendable.
        suspension_scope: SuspensionScope = SuspensionScope::Die, with "die-start" = ["\"together\""],
            with "suspension" != ["\"off\""] or "ftl.policy" = ["\"mbm\""],
            with "mbm.suspension" != ["\"off\""] or "ftl.policy" != ["\"mbm\""], needs any where "geometry.dies-per-chip" != ["1"];
        /// Time from the suspend command until the array is free.
        suspend_time: Time = Time::from_us(5), in Time::ZERO..=OVERHEAD_MAX,
            with "suspension" != ["\"off\""] or "ftl.policy" = ["\"mbm\""],
            with "mbm.suspension" != ["\"off\""] or "ftl.policy" != ["\"mbm\""], needs plain;
        /// Interval between the points of a program or erase at which it can be suspended, such as the ends of its pulses. A suspension waits
        /// until the operation reaches its next point, then takes `suspend-time`. With 0, an operation can be suspended at any time.
        suspend_interval: Time = Time::ZERO, in Time::ZERO..=ARRAY_TIME_MAX,
            with "suspension" != ["\"off\""] or "ftl.policy" = ["\"mbm\""],
            with "mbm.suspension" != ["\"off\""] or "ftl.policy" != ["\"mbm\""], needs plain, step "0us | 50us";
        /// Time from the resume command until the operation continues.
        resume_time: Time = Time::from_us(5), in Time::ZERO..=OVERHEAD_MAX,
            with "suspension" != ["\"off\""] or "ftl.policy" = ["\"mbm\""],
            with "mbm.suspension" != ["\"off\""] or "ftl.policy" != ["\"mbm\""], needs plain;
        /// Maximum number of suspensions of one operation.
        suspensions_max: u32 = 16, in 1..=1_000_000,
            with "suspension" != ["\"off\""] or "ftl.policy" = ["\"mbm\""],
            with "mbm.suspension" != ["\"off\""] or "ftl.policy" != ["\"mbm\""], needs plain;
        /// Remaining time at or below which an operation is not suspended.
        suspend_remaining_min: Time = Time::from_us(10), in Time::ZERO..=ARRAY_TIME_MAX,
            with "suspension" != ["\"off\""] or "ftl.policy" = ["\"mbm\""],
            with "mbm.suspension" != ["\"off\""] or "ftl.policy" != ["\"mbm\""], needs plain;
    }
}

impl Config {
    /// Returns whether the planes of a die read independently of each other.
    pub fn planes_read_alone(&self) -> bool {
        self.flash.multi_plane == MultiPlane::Independent && self.geometry.planes_per_die > 1
    }

    /// Returns whether chips have several dies and execute one operation at a time.
    pub fn dies_take_turns(&self) -> bool {
        !self.flash.die_interleaving && self.geometry.dies_per_chip > 1
    }

    /// Returns whether the dies of a chip start operations together.
    pub fn dies_start_together(&self) -> bool {
        let is_asked_for = self.flash.die_interleaving && self.flash.die_start == DieStart::Together;
        is_asked_for && self.fabric.kind != FabricKind::Nossd && self.geometry.dies_per_chip > 1
    }
}
