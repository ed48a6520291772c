//! Expected durations of commands, array operations and transfers, computed from the configuration.

use rustc_hash::FxHashSet;

use super::mapping_units::pages_per_unit;
use super::slc::PageAt;
use crate::check::expected_fabrics::{ExpectedFabric, TransferTiming};
use crate::config::{self, ChannelLoad, Config, Flash, PageTypes, ProgramUnit};
use crate::fabric::{Payload, TransferKind};
use crate::flash::die::OperationKind;
use crate::units::{Bytes, Rate, Time};

/// Types of the pages of a block in page order: `l`ower, `m`iddle, `u`pper or `t`op. The first string has the types of the first pages. The
/// second string is a pattern that repeats up to the end of the block.
const ONE: (&str, &str) = ("", "l");
const MLC: (&str, &str) = ("", "lu");
const TLC: (&str, &str) = ("llllllmm", "llmmuu");
const TLC_WORD_LINE: (&str, &str) = ("", "lmu");
const QLC: (&str, &str) = ("", "lmut");

#[derive(Clone, Debug)]
pub(in super::super) struct ExpectedTimes {
    flash: config::Flash,
    slc: config::Slc,
    decodes_on_die: bool,
    transfer: TransferTiming,
    packets: config::Packets,
    channel_rate: Rate,
    /// Number of array pages in a mapping unit; 1 if a mapping unit is at most a page.
    in_unit: u32,
}

/// Returns the time of a command for `planes` planes. `listed` has the times for one, two, ... planes. Each plane beyond the list adds the difference
/// of the last two times.
fn time_for_planes(listed: &[Time], planes: u32) -> Time {
    let mut time = Time::ZERO;
    let mut step = Time::ZERO;
    for plane in 0..planes as usize {
        match listed.get(plane) {
            Some(&next) => {
                step = next.saturating_sub(time);
                time = next;
            }
            None => time += step,
        }
    }
    time
}

impl ExpectedTimes {
    pub(in super::super) fn new(expected: &ExpectedFabric, config: &Config) -> ExpectedTimes {
        ExpectedTimes {
            flash: config.flash.clone(),
            slc: config.slc.clone(),
            decodes_on_die: expected.decodes_on_die,
            transfer: expected.transfer,
            packets: config.packets.clone(),
            channel_rate: ExpectedTimes::loaded(config),
            in_unit: pages_per_unit(config),
        }
    }

    /// Returns the channel rate, reduced by the RC delay of the chips on the channel if `fabric.channel-load` models it.
    fn loaded(config: &Config) -> Rate {
        let config::Fabric {
            channel_rate, driver_resistance_ohm, chip_capacitance_ff, controller_capacitance_ff, ..
        } = config.fabric;
        if config.fabric.channel_load == ChannelLoad::None {
            return channel_rate;
        }
        let loads = std::iter::repeat_n(chip_capacitance_ff, config.geometry.chips_per_channel as usize);
        let constant: u64 = loads.map(u64::from).sum::<u64>() + u64::from(controller_capacitance_ff);
        let mut byte = constant * u64::from(driver_resistance_ohm);
        if channel_rate != Rate::UNLIMITED {
            byte += 1_000_000_000_000_000 / channel_rate.as_bytes_per_second();
        }
        let rate = 1_000_000_000_000_000_u64.checked_div(byte);
        rate.map_or(Rate::UNLIMITED, |rate| Rate::from_bytes_per_second(rate.max(1)))
    }

    fn order(&self) -> (&'static str, &'static str) {
        match (self.flash.page_types, self.flash.program_unit) {
            (PageTypes::One, _) => ONE,
            (PageTypes::Mlc, _) => MLC,
            (PageTypes::Tlc, ProgramUnit::Page) => TLC,
            (PageTypes::Tlc, ProgramUnit::WordLine) => TLC_WORD_LINE,
            (PageTypes::Qlc, _) => QLC,
        }
    }

    /// Returns the element of `times` (of lower, middle, upper and top pages) for the type of the page at index `page` of its block.
    fn pick(&self, page: u32, times: [Time; 4]) -> Time {
        let (first, repeated) = self.order();
        let (first, repeated, page) = (first.as_bytes(), repeated.as_bytes(), page as usize);
        match first.get(page).unwrap_or_else(|| &repeated[(page - first.len()) % repeated.len()]) {
            b't' => times[3],
            b'u' => times[2],
            b'm' => times[1],
            _ => times[0],
        }
    }

    /// Returns pages that cover all page types: native pages (outside the SLC cache) of every type, and a page of the SLC cache if there is one.
    pub(in super::super) fn kinds_of_pages(&self) -> impl Iterator<Item = PageAt> + Clone + use<> {
        let (first, repeated) = self.order();
        let native = (0..(first.len() + repeated.len()) as u32).map(PageAt::Native);
        native.chain((self.slc.blocks_per_plane > 0).then_some(PageAt::Slc))
    }

    pub(in super::super) fn read(&self, page: PageAt) -> Time {
        let PageAt::Native(page) = page else { return self.slc.read_time };
        let lower = self.flash.read_time;
        let Flash { middle_page_read_time, upper_page_read_time, top_page_read_time, .. } = self.flash;
        let own = [middle_page_read_time, upper_page_read_time, top_page_read_time];
        let [middle, upper, top] = own.map(|own| own.unwrap_or(lower));
        self.pick(page, [lower, middle, upper, top])
    }

    pub(in super::super) fn program(&self, page: PageAt) -> Time {
        let PageAt::Native(page) = page else { return self.slc.program_time };
        if self.flash.program_unit == ProgramUnit::WordLine {
            return self.flash.program_time;
        }
        let lower = self.flash.program_time;
        let Flash { middle_page_program_time, upper_page_program_time, top_page_program_time, .. } = self.flash;
        let own = [middle_page_program_time, upper_page_program_time, top_page_program_time];
        let [middle, upper, top] = own.map(|own| own.unwrap_or(lower));
        self.pick(page, [lower, middle, upper, top])
    }

    /// Returns the time for which an on-die controller decodes a command. Framing read data takes the same time. 0 without an on-die controller.
    fn on_die_controller(&self) -> Time {
        if self.decodes_on_die { self.packets.on_die_controller_time } else { Time::ZERO }
    }

    pub(in super::super) fn array(&self, kind: OperationKind, read: PageAt, programmed: PageAt) -> Time {
        let decoding = self.on_die_controller();
        match kind {
            OperationKind::Read => decoding + self.read(read) + decoding,
            OperationKind::Program => decoding + self.program(programmed),
            OperationKind::Erase => decoding + self.flash.erase_time,
            OperationKind::Copyback => decoding + self.read_of_program(read) + self.program(programmed),
        }
    }

    /// Returns the time to read all pages that are programmed together with `page`: a word line if programs write word lines, otherwise `page` alone.
    /// From the SLC cache, the same number of pages is read.
    pub(in super::super) fn read_of_program(&self, page: PageAt) -> Time {
        let pages = if self.flash.program_unit == ProgramUnit::WordLine { self.order().1.len() as u32 } else { 1 };
        let first = match page {
            PageAt::Native(page) => PageAt::Native(page - page % pages),
            PageAt::Slc => PageAt::Slc,
        };
        (0..pages).fold(Time::ZERO, |time, page| time + self.read(first.plus(page)))
    }

    /// Returns the read time of a copyback that starts at `from` and moves a mapping unit of several pages. The copyback reads at least the pages of
    /// one program.
    pub(in super::super) fn read_of_copyback(&self, from: PageAt) -> Time {
        self.read_of_unit(from, 0, self.in_unit).max(self.read_of_program(from))
    }

    /// Returns the time to read `pages` pages of the mapping unit that starts at `unit`, after the first `skipped` pages. Excludes the time of an
    /// on-die controller.
    pub(in super::super) fn read_of_unit(&self, unit: PageAt, skipped: u32, pages: u32) -> Time {
        (skipped..skipped + pages).fold(Time::ZERO, |time, page| time + self.read(unit.plus(page)))
    }

    /// Returns the time of all programs that write the mapping unit of several pages at `unit`. Excludes the time of an on-die controller.
    pub(in super::super) fn program_of_unit(&self, unit: PageAt) -> Time {
        let is_by_word_lines = self.flash.program_unit == ProgramUnit::WordLine && unit != PageAt::Slc;
        let at_once = if is_by_word_lines { (self.order().1.len() as u32).min(self.in_unit) } else { 1 };
        let first_pages = (0..self.in_unit).filter(|page| page % at_once == 0);
        first_pages.fold(Time::ZERO, |time, page| time + self.program(unit.plus(page)))
    }

    /// Returns the time of a copyback of a mapping unit of several pages from `from` to `to`. Excludes the time of an on-die controller.
    pub(in super::super) fn copyback_of_unit(&self, from: PageAt, to: PageAt) -> Time {
        self.read_of_copyback(from) + self.program_of_unit(to)
    }

    /// Returns all times that an operation of `kind` on one mapping unit of several pages can take, for any position of the unit. Includes the time
    /// of an on-die controller.
    pub(in super::super) fn of_large_units(&self, kind: OperationKind) -> FxHashSet<Time> {
        let once = self.decoding(kind);
        let (first, repeated) = self.order();
        // Try one unit at each place in the page-type pattern at which a unit can start. Every other unit takes the same array times as one
        // of these units.
        let units = (0..(first.len() + repeated.len()) as u32).map(|unit| PageAt::Native(unit * self.in_unit));
        let units = units.chain((self.slc.blocks_per_plane > 0).then_some(PageAt::Slc));
        let others = units.clone();
        let alone = units.flat_map(|unit| match kind {
            OperationKind::Read => {
                let spans =
                    (0..self.in_unit).flat_map(|skip| (1..=self.in_unit - skip).map(move |pages| (skip, pages)));
                spans.map(|(skip, pages)| self.read_of_unit(unit, skip, pages)).collect::<Vec<Time>>()
            }
            OperationKind::Program => vec![self.program_of_unit(unit)],
            OperationKind::Erase => vec![self.flash.erase_time],
            OperationKind::Copyback => others.clone().map(|to| self.copyback_of_unit(unit, to)).collect(),
        });
        alone.map(|time| once + time).collect()
    }

    /// Returns the time that an on-die controller adds to an operation of `kind`; 0 without an on-die controller.
    pub(in super::super) fn decoding(&self, kind: OperationKind) -> Time {
        let once = self.on_die_controller();
        if kind == OperationKind::Read { once + once } else { once }
    }

    pub(in super::super) fn command(&self, kind: OperationKind, planes: u32) -> Time {
        let flash = &self.flash;
        let one = flash.command_time;
        let alike = [one, one + flash.command_time_per_extra_plane.unwrap_or(one)];
        let of = |own: &Option<config::TimesByPlanes>| match own {
            Some(config::TimesByPlanes(listed)) => time_for_planes(listed, planes),
            None => time_for_planes(&alike, planes),
        };
        match kind {
            OperationKind::Read => of(&flash.read_command_time),
            OperationKind::Program => of(&flash.program_command_time),
            OperationKind::Erase => of(&flash.erase_command_time),
            // Without configured times for reads and programs, one command time covers both commands of a copyback.
            OperationKind::Copyback => match (&flash.read_command_time, &flash.program_command_time) {
                (None, None) => time_for_planes(&alike, planes),
                (read, program) => of(read) + of(program),
            },
        }
    }

    /// Returns the transfer time of `bytes` at `rate`, rounded up to a picosecond.
    fn moving(bytes: u64, rate: Rate) -> Time {
        if rate == Rate::UNLIMITED {
            return Time::ZERO;
        }
        let (work, rate) = (u128::from(bytes) * 1_000_000_000_000, u128::from(rate.as_bytes_per_second()));
        Time::from_ps((work / rate + u128::from(work % rate > 0)) as u64)
    }

    /// Returns the time for which a transfer of `payload` holds a channel; `None` if this time depends on the path, or the interconnect is unknown.
    pub(in super::super) fn on_channel(&self, payload: Payload) -> Option<Time> {
        let Payload { kind: message, planes, command_time: command, bytes } = payload;
        match self.transfer {
            TransferTiming::Signals => Some(command + ExpectedTimes::moving(bytes.as_u64(), self.channel_rate)),
            TransferTiming::Packets(times) => {
                let multiplied = self.channel_rate.as_bytes_per_second().checked_mul(times);
                let rate = multiplied.map_or(Rate::UNLIMITED, Rate::from_bytes_per_second);
                let framed = self.packets.data_header.as_u64() + self.packets.data_crc.as_u64();
                let framed = bytes.as_u64() + u64::from(planes) * framed;
                let data = if bytes == Bytes::ZERO { Time::ZERO } else { ExpectedTimes::moving(framed, rate) };
                let is_data = matches!(message, TransferKind::Data | TransferKind::ChipToChipData);
                let packets = if is_data { 0 } else { planes };
                let control = ExpectedTimes::moving(self.packets.control_packet.as_u64(), rate);
                Some((0..packets).fold(data, |sum, _| sum + control))
            }
            TransferTiming::OfPath => None,
        }
    }
}
