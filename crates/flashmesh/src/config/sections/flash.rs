//! `[flash]`

use crate::config::Config;
use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Time;

use super::Times;
use super::fabric::FabricKind;

pub(super) const ARRAY_TIME_MIN: Time = Time::from_ps(1);
pub(super) const ARRAY_TIME_MAX: Time = Time::from_ms(10_000);
const OVERHEAD_MAX: Time = Time::from_ms(1_000);

choices! {
    /// When planes of a die may join in one operation.
    MultiPlane {
        /// Never.
        Off = "off",
        /// When kind and page offset in the block agree (Venice, ISCA 2023; MBM).
        SameOffset = "same-offset",
        /// When kind, block and page offset agree (PACT 2014).
        SameBlockAndOffset = "same-block-and-offset",
    }
}

choices! {
    /// When a die begins an operation.
    DieStart {
        /// As soon as it can, independently of the other dies of its chip.
        Independent = "independent",
        /// When all dies of its chip are idle, together with those of them for which something waits (PACT 2014, section 4.3).
        Together = "together",
    }
}

choices! {
    /// How the pages of a block differ in the time that the array takes for them.
    PageTypes {
        /// All are alike.
        One = "one",
        /// Two bits a cell: lower and upper pages alternate.
        Mlc = "mlc",
        /// Three bits a cell: six lower pages, two middle ones, then two lower, two middle and two upper ones repeatedly
        /// (Yaakobi et al., ICNC 2012).
        Tlc = "tlc",
        /// Four bits a cell: lower, middle, upper and top pages in turn.
        Qlc = "qlc",
    }
}

choices! {
    /// What one program writes in a plane.
    ProgramUnit {
        /// A page.
        Page = "page",
        /// All pages of a word line at once (one-shot program): one to four pages, as `page-types` says. The pages of a word line have
        /// successive numbers.
        WordLine = "word-line",
    }
}

choices! {
    /// Program order of the pages of a block.
    ProgramOrder {
        /// In the order of their numbers.
        InOrder = "in-order",
        /// In any order.
        Any = "any",
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

choices! {
    /// What a read suspends.
    SuspensionScope {
        /// The operation of its own die.
        Die = "die",
        /// The operations of all dies of its chip: of its own, and of others where its own die has nothing to do but wait for them.
        Chip = "chip",
    }
}

section! {
    /// Latencies and features of the flash chips.
    Flash, "flash" {
        /// Array read time tR; where pages differ, that of lower pages.
        read_time: Time = Time::from_us(3), in ARRAY_TIME_MIN..=ARRAY_TIME_MAX, needs plain;
        /// Array program time tPROG; where pages differ, that of lower pages.
        program_time: Time = Time::from_us(100), in ARRAY_TIME_MIN..=ARRAY_TIME_MAX, needs plain;
        /// Block erase time tBERS.
        erase_time: Time = Time::from_ms(1), in ARRAY_TIME_MIN..=ARRAY_TIME_MAX, needs plain;
        /// How the pages of a block differ in their array times; an operation takes as long as its slowest page.
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
        /// What one program writes in a plane. With `word-line` the data of all its pages comes with the command, and `program-time` is the
        /// time of a word line.
        program_unit: ProgramUnit = ProgramUnit::Page, needs any, step "page | word-line";
        /// Time a command and its address take on the path.
        command_time: Time = Time::from_ns(10), in Time::ZERO..=OVERHEAD_MAX, needs plain;
        /// Time each further plane of a multi-plane command adds on the path.
        command_time_per_extra_plane: Option<Time> = None, unset "the command time", in Time::ZERO..=OVERHEAD_MAX, needs plain;
        /// Time a read command takes on the path, over one plane, over two, and so on.
        read_command_time: Option<Times> = None, unset "the command time, and that of each further plane",
            in Time::ZERO..=OVERHEAD_MAX, needs plain;
        /// The same of a program command, without its data. A copyback takes a read command and a program command.
        program_command_time: Option<Times> = None, unset "the command time, and that of each further plane",
            in Time::ZERO..=OVERHEAD_MAX, needs plain;
        /// The same of an erase command.
        erase_command_time: Option<Times> = None, unset "the command time, and that of each further plane",
            in Time::ZERO..=OVERHEAD_MAX, needs plain;
        /// Whether a program brings only what was written of a page to the chip, and the read before it only the rest to the
        /// controller; whole pages move otherwise.
        partial_program: bool = false, needs plain;
        /// Whether the dies of a chip work side by side. If not, a chip takes no operation while any of its dies works, holds
        /// data or has an operation suspended, and all that waits for its dies waits in one queue.
        die_interleaving: bool = true, needs any where "geometry.dies-per-chip" != ["1"];
        /// When dies that work side by side begin an operation. Those of NoSSD manage their own operations (PACT 2014, section 5.5), and are
        /// independent.
        die_start: DieStart = DieStart::Independent, with "die-interleaving" = ["true"], with "fabric.kind" != ["\"nossd\""], needs any where "geometry.dies-per-chip" != ["1"];
        /// When planes of a die join in one operation.
        multi_plane: MultiPlane = MultiPlane::SameOffset, needs plain, step "off | same-offset";
        /// In which order the chips let the pages of a block be programmed.
        program_order: ProgramOrder = ProgramOrder::InOrder, needs plain;
        /// Whether a die is free once data is in its cache register (after tR), not only when the data has left.
        read_cache: bool = false, needs plain, step "false | true";
        /// Which operations a waiting host read suspends.
        suspension: Suspension = Suspension::Off, with "ftl.policy" != ["\"mbm\""], needs any, step "off | program | both";
        /// Whether a read suspends its own die alone, or all dies of a chip that begin together and are busy together. A chip goes on with what
        /// is suspended when no read waits for any of its dies. All of it has to be suspendable.
        suspension_scope: SuspensionScope = SuspensionScope::Die, with "die-start" = ["\"together\""],
            with "suspension" != ["\"off\""] or "ftl.policy" = ["\"mbm\""],
            with "mbm.suspension" != ["\"off\""] or "ftl.policy" != ["\"mbm\""], needs any where "geometry.dies-per-chip" != ["1"];
        /// From the suspend command until the array is free.
        suspend_time: Time = Time::from_us(5), in Time::ZERO..=OVERHEAD_MAX, needs plain;
        /// From the resume command until the operation goes on.
        resume_time: Time = Time::from_us(5), in Time::ZERO..=OVERHEAD_MAX, needs plain;
        /// How often one operation may be suspended.
        suspensions_max: u32 = 16, in 1..=1_000_000, needs plain;
        /// An operation with no more than this left is let finish.
        suspend_remaining_min: Time = Time::from_us(10), in Time::ZERO..=ARRAY_TIME_MAX, needs plain;
    }
}

impl Config {
    /// Whether dies of a chip begin operations together.
    pub fn dies_start_together(&self) -> bool {
        let is_asked_for = self.flash.die_interleaving && self.flash.die_start == DieStart::Together;
        is_asked_for && self.fabric.kind != FabricKind::Nossd && self.geometry.dies_per_chip > 1
    }
}
