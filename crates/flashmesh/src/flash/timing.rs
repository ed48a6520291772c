//! Array latencies, resolved before the run.

use crate::config::{self, Config, PageTypes, ProgramUnit, TimesByPlanes};
use crate::units::Time;

use super::die::OperationKind;
use super::geometry::PLANES_PER_DIE_MAX;
use super::page_type::PageType;

/// Types of the page read and of the page programmed by an operation, which determine its array time. One pair is enough for all planes,
/// because all planes of an operation use the same page offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationPageTypes {
    pub read: PageType,
    pub programmed: PageType,
}

#[derive(Clone, Debug)]
pub struct Timing {
    page_types: PageTypes,
    /// Whether one program writes all pages of a word line, outside the SLC cache.
    word_lines: bool,
    /// Array time by kind, type of the page read, and type of the page programmed.
    array: [[[Time; PageType::ALL.len()]; PageType::ALL.len()]; OperationKind::ALL.len()],
    /// Time of the on-die controller that is included in the array time, by kind of operation.
    decoding: [Time; OperationKind::ALL.len()],
    commands: [[Time; PLANES_PER_DIE_MAX]; OperationKind::ALL.len()],
    /// Time from the suspend command until the array is free.
    pub suspend: Time,
    /// Time from the resume command until the operation continues.
    pub resume: Time,
}

impl Timing {
    /// Resolves the latencies of `config`. An on-die controller adds `on_die_controller` to each command, and for a read once more for the data.
    pub fn new(config: &Config, on_die_controller: Time) -> Timing {
        let flash = &config.flash;
        let decoding =
            OperationKind::ALL.map(|kind| on_die_controller * if kind == OperationKind::Read { 2 } else { 1 });
        let array = |kind: OperationKind, read: PageType, programmed: PageType| {
            let (read, program) = (read.read_time(config), programmed.program_time(config));
            let alone = match kind {
                OperationKind::Read => read,
                OperationKind::Program => program,
                OperationKind::Erase => flash.erase_time,
                OperationKind::Copyback => read + program,
            };
            alone + decoding[kind.index()]
        };
        let of_types = |kind| PageType::ALL.map(|read| PageType::ALL.map(|programmed| array(kind, read, programmed)));
        Timing {
            page_types: flash.page_types,
            word_lines: flash.program_unit == ProgramUnit::WordLine,
            array: OperationKind::ALL.map(of_types),
            decoding,
            commands: OperationKind::ALL
                .map(|kind| std::array::from_fn(|planes_less_one| command(flash, kind, planes_less_one + 1))),
            suspend: flash.suspend_time,
            resume: flash.resume_time,
        }
    }

    #[inline(always)]
    pub fn page_type(&self, page_in_block: impl FnOnce() -> u32) -> PageType {
        if self.page_types == PageTypes::One { PageType::Lower } else { self.type_of_several(page_in_block) }
    }

    #[inline(never)]
    fn type_of_several(&self, page_in_block: impl FnOnce() -> u32) -> PageType {
        match self.page_types {
            types if self.word_lines => PageType::from_word_line_offset(types, page_in_block()),
            types => PageType::from_offset(types, page_in_block()),
        }
    }

    /// Returns the page type that selects the program time. For programs of whole word lines, this is the lower page, because `program-time` is then
    /// the time of the whole program.
    #[inline(always)]
    pub fn programmed_type(&self, page_in_block: impl FnOnce() -> u32) -> PageType {
        if self.word_lines { PageType::Lower } else { self.page_type(page_in_block) }
    }

    #[inline]
    pub fn array_time(&self, kind: OperationKind, pages: OperationPageTypes) -> Time {
        self.array[kind.index()][pages.read.index()][pages.programmed.index()]
    }

    /// Returns the array time of a command of `kind` that runs the operations `steps` one after the other. The time of an on-die controller is added
    /// once for the whole command.
    pub fn sequence_time(
        &self,
        kind: OperationKind,
        steps: impl Iterator<Item = (OperationKind, OperationPageTypes)>,
    ) -> Time {
        let alone = |(kind, pages)| self.array_time(kind, pages) - self.decoding[kind.index()];
        steps.map(alone).fold(self.decoding[kind.index()], |time, step| time + step)
    }

    /// Returns the number of pages of the array that one program writes in a plane: a whole word line, or one page.
    pub fn pages_per_program(&self) -> u32 {
        match self.page_types {
            PageTypes::Mlc if self.word_lines => 2,
            PageTypes::Tlc if self.word_lines => 3,
            PageTypes::Qlc if self.word_lines => 4,
            _ => 1,
        }
    }

    #[inline]
    pub fn command_time(&self, kind: OperationKind, planes: usize) -> Time {
        self.commands[kind.index()][planes - 1]
    }
}

fn command(config: &config::Flash, kind: OperationKind, planes: usize) -> Time {
    let alike = || {
        let extra = config.command_time_per_extra_plane.unwrap_or(config.command_time);
        config.command_time + extra * (planes as u64 - 1)
    };
    let of = |times: &Option<TimesByPlanes>| times.as_ref().map_or_else(alike, |times| times.for_planes(planes));
    match kind {
        OperationKind::Read => of(&config.read_command_time),
        OperationKind::Program => of(&config.program_command_time),
        OperationKind::Erase => of(&config.erase_command_time),
        OperationKind::Copyback if config.read_command_time.is_none() && config.program_command_time.is_none() => {
            alike()
        }
        OperationKind::Copyback => of(&config.read_command_time) + of(&config.program_command_time),
    }
}
