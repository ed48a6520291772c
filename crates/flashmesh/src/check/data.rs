//! The data of a program comes over the path with its command, or was copied from another chip before; never both, and not from
//! nowhere. Of a page that was read as much leaves the chip as was asked for. Where programs write several mapping units, the data of all
//! comes with the command, whether all of them are written or not.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::config::{Config, Move};
use crate::fabric::{Message, Payload};
use crate::ids::{DieId, PlaneId, Ppn};
use crate::units::Bytes;

use super::arithmetic::{Cuts, Homes, SlcArea, in_units, units_per_page, units_per_program};
use super::by_id::ById;

#[derive(Clone, Debug)]
pub(super) struct Data {
    homes: Homes,
    cuts: Cuts,
    /// Whether a partial program moves only the written sectors.
    partial: bool,
    /// Mapping units in a page.
    units: u32,
    /// What the data of a program of one plane is, where it is of several mapping units.
    program: Option<Bytes>,
    /// The same of a program of the SLC cache.
    slc_program: Bytes,
    slc: SlcArea,
    has_slc: bool,
    /// What the last program of each die brought for each plane, where programs are of several units.
    brought: ById<DieId, Bytes>,
    /// Bytes sent with the last program command of each die and not yet programmed, in multiples of [`page`](Data::page); unknown for a copyback.
    commanded: ById<DieId, Option<Bytes>>,
    /// Sources of what is in the page buffer of each plane: a page, or mapping units of the same victim's plane that one program writes.
    copied: FxHashMap<PlaneId, Vec<Ppn>>,
    parts: Parts,
    /// Mapping units that the page buffer of a plane has room for.
    buffered_max: usize,
    /// Pages that each die has read and not sent, next first.
    outgoing: ById<DieId, VecDeque<Outgoing>>,
    /// Operations of the array that have ended.
    ended: u64,
}

/// How it is known which units of a page leave at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parts {
    /// All do.
    Never,
    /// As many as their bytes are.
    Counted,
    /// It is told when they have come to another chip.
    Told,
}

/// A page that was read.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    ppn: Ppn,
    /// What of it is to leave, where that is known.
    wanted: Option<Bytes>,
    /// The operation that read it.
    operation: u64,
}

impl Data {
    pub(super) const NAME: &'static str = "data";

    pub(super) fn new(config: &Config) -> Data {
        let (units, cuts) = (units_per_page(config), Cuts::new(config));
        let of_program = units_per_program(config);
        let whole = cuts.moved(cuts.page_size() * u64::from(of_program));
        Data {
            units,
            parts: match config.gc.r#move {
                Move::ChipToChip | Move::Clean if of_program > 1 && config.cache.capacity > Bytes::ZERO => Parts::Told,
                Move::ChipToChip | Move::Clean if of_program > 1 => Parts::Counted,
                _ => Parts::Never,
            },
            buffered_max: of_program as usize,
            program: (of_program > 1).then_some(whole),
            slc_program: cuts.moved(cuts.page_size() * u64::from(units)),
            slc: SlcArea::new(config),
            has_slc: config.slc.blocks_per_plane > 0,
            brought: ById::default(),
            homes: Homes::new(&in_units(config)),
            cuts,
            partial: config.flash.partial_program,
            commanded: ById::default(),
            copied: FxHashMap::default(),
            outgoing: ById::default(),
            ended: 0,
        }
    }

    /// Returns the bytes of a page of which a request wrote `written` (all of it if `None`), with metadata. The metadata of a program of several
    /// units is that of the whole program, rounded up once, and is left out here.
    fn page(&self, written: Option<Bytes>) -> Bytes {
        if self.program.is_some() && !self.partial {
            return self.cuts.page_size();
        }
        self.cuts.moved(written.filter(|_| self.partial).unwrap_or(self.cuts.page_size()))
    }

    pub(super) fn read(&mut self, ppn: Ppn, wanted: Option<Bytes>) {
        let read = Outgoing { ppn, wanted, operation: self.ended };
        self.outgoing.at(self.homes.die_of(ppn)).push_back(read);
    }

    pub(super) fn array_ended(&mut self) {
        self.ended += 1;
    }

    /// Data leaves a die; what goes to the page buffer of another chip may be a part of a page, of which the rest leaves afterwards.
    fn left(&mut self, die: DieId, bytes: Bytes, is_copy: bool) -> Result<(), String> {
        // What is wanted of pages is not known beside a device cache: each unit that comes to another chip is told.
        if is_copy && self.parts == Parts::Told {
            return Ok(());
        }
        // Of a page that goes through the controller in part the rest goes to other chips.
        let (cuts, may_part) = (&self.cuts, self.parts == Parts::Counted);
        let is_enough = |wanted: Option<Bytes>| may_part && wanted.is_some_and(|wanted| cuts.moved(wanted) >= bytes);
        let outgoing = self.outgoing.at(die);
        let Some(Outgoing { ppn, mut wanted, operation }) = outgoing.pop_front() else {
            return Err(format!("{bytes} left die {}, which has read nothing that is still to leave", die.0));
        };
        // The units of a page leave together.
        while !is_enough(wanted)
            && let Some(&other) = outgoing.front()
            && (other.operation, other.ppn.0 / self.units) == (operation, ppn.0 / self.units)
        {
            wanted = wanted.zip(other.wanted).map(|(wanted, more)| wanted + more);
            outgoing.pop_front();
        }
        match wanted.map(|wanted| cuts.moved(wanted)) {
            Some(wanted) if wanted != bytes => {
                Err(format!("{bytes} of page {} left die {}, of which {wanted} were wanted", ppn.0, die.0))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn sent(&mut self, die: DieId, payload: Payload) -> Result<(), String> {
        let brought = match payload.message {
            Message::Program => Some(payload.bytes),
            Message::Copyback => None,
            Message::Data | Message::Copy => {
                return self.left(die, payload.bytes, payload.message == Message::Copy);
            }
            Message::Read | Message::Erase => return Ok(()),
        };
        let left = std::mem::replace(self.commanded.at(die), brought);
        if let (Some(program), false) = (self.program, self.partial) {
            if brought == Some(Bytes::ZERO) && self.has_copies(die) {
                return Ok(());
            }
            let expected = program * u64::from(payload.planes);
            let of_slc = self.slc_program * u64::from(payload.planes);
            let goes_to_slc = self.has_slc && brought == Some(of_slc);
            *self.brought.at(die) = if goes_to_slc { self.slc_program } else { program };
            let units = if goes_to_slc { u64::from(self.units) } else { self.buffered_max as u64 };
            let data = self.page(None) * (units * u64::from(payload.planes));
            *self.commanded.at(die) = brought.map(|_| data);
            return match brought {
                Some(bytes) if bytes != expected && !goes_to_slc => {
                    Err(format!("die {} was sent {bytes} for a program of {expected}", die.0))
                }
                _ => Ok(()),
            };
        }
        match left {
            Some(left) if left > Bytes::ZERO => {
                Err(format!("die {} was sent another program while {left} for the last one are left", die.0))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn copied(&mut self, from: Ppn, plane: PlaneId) -> Result<(), String> {
        if self.homes.chip_of_plane(self.homes.plane_of(from)) == self.homes.chip_of_plane(plane) {
            return Err(format!("page {} was copied to plane {}, which is of the same chip", from.0, plane.0));
        }
        if self.parts == Parts::Told {
            self.outgoing.at(self.homes.die_of(from)).retain(|read| read.ppn != from);
        }
        let (homes, held) = (&self.homes, self.copied.entry(plane).or_default());
        if let Some(before) = held.first()
            && (held.len() == self.buffered_max || homes.plane_of(*before) != homes.plane_of(from))
        {
            return Err(format!(
                "page {} was copied to plane {}, whose buffer holds what came from page {}",
                from.0, plane.0, before.0
            ));
        }
        held.push(from);
        Ok(())
    }

    /// Whether the page buffer of a plane of the die holds what came from other chips.
    fn has_copies(&self, die: DieId) -> bool {
        self.copied.iter().any(|(plane, held)| self.homes.die_of_plane(*plane) == die && !held.is_empty())
    }

    pub(super) fn dropped(&mut self, from: Ppn, plane: PlaneId) -> Result<(), String> {
        if self.take_copied(from, plane) {
            return Ok(());
        }
        Err(format!("page {} was dropped from the buffer of plane {}, which does not hold it", from.0, plane.0))
    }

    /// Takes what came from a page out of the buffer of a plane; false when it is not there.
    fn take_copied(&mut self, from: Ppn, plane: PlaneId) -> bool {
        let Some(held) = self.copied.get_mut(&plane) else { return false };
        let at = held.iter().position(|held| *held == from);
        at.is_some_and(|at| held.swap_remove(at) == from)
    }

    /// `from` is the old place of a moved page, `written` the bytes that a request wrote.
    pub(super) fn programmed(&mut self, ppn: Ppn, from: Option<Ppn>, written: Option<Bytes>) -> Result<(), String> {
        let plane = self.homes.plane_of(ppn);
        if from.is_some_and(|from| self.take_copied(from, plane)) {
            return Ok(());
        }
        let (die, page) = (self.homes.die_of(ppn), self.page(written));
        if let (Some(program), true, false) = (self.program, self.has_slc, self.partial) {
            let expected = if self.slc.holds(ppn) { self.slc_program } else { program };
            let brought = *self.brought.at(die);
            if brought != expected {
                return Err(format!("page {} was programmed, whose program takes {expected}, with {brought}", ppn.0));
            }
        }
        match self.commanded.at(die) {
            None => Ok(()),
            Some(left) if *left >= page => {
                *left = *left - page;
                Ok(())
            }
            _ => Err(format!("page {} was programmed, but no data for it has come to die {}", ppn.0, die.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Oracles;
    use super::super::histories::{assert_fails, assert_silent, config, operation, oracles_with, submit, us};
    use super::*;
    use crate::config::PreconditionKind;
    use crate::fabric::{Grant, Sent, TransferPhase};
    use crate::flash::die::OperationKind;
    use crate::ids::{Lpn, PathId, RequestId};
    use crate::units::{Rate, Time};
    use crate::workload::RequestKind;

    fn data() -> Data {
        Data::new(&config())
    }

    /// A program of die 1, whose planes have the pages from 64 and from 96 on, is sent with `pages` pages.
    fn send(data: &mut Data, pages: u64) -> Result<(), String> {
        let bytes = data.page(None) * pages;
        data.sent(DieId(1), Payload { message: Message::Program, planes: 2, command: Time::ZERO, bytes })
    }

    #[test]
    fn data_that_comes_with_the_command_and_data_that_was_copied_before_are_right() {
        let mut data = data();
        assert_eq!(send(&mut data, 2), Ok(()));
        assert_eq!(
            (data.programmed(Ppn(64), None, None), data.programmed(Ppn(96), Some(Ppn(100)), None)),
            (Ok(()), Ok(()))
        );
        assert_eq!(data.copied(Ppn(0), PlaneId(2)), Ok(()));
        assert_eq!(send(&mut data, 0), Ok(()));
        assert_eq!(data.programmed(Ppn(65), Some(Ppn(0)), None), Ok(()));
        assert_eq!(data.copied(Ppn(1), PlaneId(2)), Ok(()));
        assert_eq!(data.dropped(Ppn(1), PlaneId(2)), Ok(()));
    }

    #[test]
    fn a_program_whose_data_never_came_is_caught() {
        let mut data = data();
        assert_eq!(send(&mut data, 1), Ok(()));
        assert_eq!(data.programmed(Ppn(64), None, None), Ok(()));
        let error = data.programmed(Ppn(96), None, None).expect_err("one page came");
        assert_eq!(error, "page 96 was programmed, but no data for it has come to die 1");
        // A page in the buffer is not the data of another one.
        assert_eq!(data.copied(Ppn(0), PlaneId(2)), Ok(()));
        assert!(data.programmed(Ppn(65), Some(Ppn(1)), None).is_err());
    }

    #[test]
    fn data_that_comes_for_nothing_is_caught() {
        let mut data = data();
        assert_eq!((data.copied(Ppn(0), PlaneId(2)), send(&mut data, 1)), (Ok(()), Ok(())));
        assert_eq!(data.programmed(Ppn(64), Some(Ppn(0)), None), Ok(()));
        let error = send(&mut data, 1).expect_err("the page was in the buffer already");
        assert_eq!(error, "die 1 was sent another program while 4KiB for the last one are left");
    }

    #[test]
    fn a_buffer_that_is_full_empty_or_of_the_same_chip_is_caught() {
        let mut data = data();
        assert!(data.copied(Ppn(64), PlaneId(3)).is_err_and(|error| error.contains("of the same chip")));
        assert_eq!(data.copied(Ppn(0), PlaneId(2)), Ok(()));
        assert!(data.copied(Ppn(1), PlaneId(2)).is_err_and(|error| error.contains("holds what came from page 0")));
        assert!(data.dropped(Ppn(1), PlaneId(5)).is_err_and(|error| error.contains("plane 5, which does not hold")));
    }

    #[test]
    fn units_of_more_than_a_program_or_of_two_victims_in_a_buffer_are_caught() {
        let mut config = config();
        config.ftl.mapping_unit = Some(Bytes::new(config.geometry.page_size.as_u64() / 2));
        let mut data = Data::new(&config);
        assert_eq!((data.copied(Ppn(0), PlaneId(2)), data.copied(Ppn(1), PlaneId(2))), (Ok(()), Ok(())));
        assert!(data.copied(Ppn(3), PlaneId(2)).is_err_and(|error| error.contains("holds what came from page 0")));
        assert_eq!((data.dropped(Ppn(1), PlaneId(2)), data.dropped(Ppn(0), PlaneId(2))), (Ok(()), Ok(())));
        assert!(data.dropped(Ppn(0), PlaneId(2)).is_err());
        assert_eq!(data.copied(Ppn(0), PlaneId(2)), Ok(()));
        let of_plane_1 = Ppn(data.homes.ppn(data.homes.block(PlaneId(1), 0), 0).0);
        assert!(data.copied(of_plane_1, PlaneId(2)).is_err());
    }

    #[test]
    fn units_whose_metadata_is_rounded_up_once_for_their_program_are_right() {
        let mut config = config();
        (config.geometry.page_spare, config.ftl.mapping_unit) = (Bytes::new(100), Some(Bytes::new(512)));
        let mut data = Data::new(&config);
        let first = data.homes.ppn(data.homes.block(PlaneId(2), 0), 0).0;
        let bytes = Bytes::new(4096 + 100);
        let payload = Payload { message: Message::Program, planes: 1, command: Time::ZERO, bytes };
        assert_eq!(data.sent(DieId(1), payload), Ok(()));
        for unit in first..first + 8 {
            assert_eq!(data.programmed(Ppn(unit), None, None), Ok(()), "{unit}");
        }
        assert!(data.programmed(Ppn(first + 8), None, None).is_err(), "eight units came");
    }

    /// A request for 512 B in the middle of logical page 7 reaches the drive, which reads the page and sends so many bytes.
    fn page_read(config: &Config, kind: RequestKind, sent: u64) -> Oracles {
        let mut config = config.clone();
        config.precondition.kind = PreconditionKind::Sequential;
        let mut oracles = oracles_with(&config);
        submit(&mut oracles, 5, kind, 7 * 4096 + 512, 512, us(0));
        read_and_send(&mut oracles, 64, 7, Some(5), sent);
        oracles
    }

    fn read_and_send(oracles: &mut Oracles, ppn: u32, lpn: u32, request: Option<u32>, sent: u64) {
        let end = operation(oracles, DieId(1), OperationKind::Read, us(0));
        oracles.page_read(Ppn(ppn), Lpn(lpn), request.map(RequestId), end);
        let bytes = Bytes::new(sent);
        let payload = Payload { message: Message::Data, planes: 1, command: Time::ZERO, bytes };
        let grant = Grant { die: DieId(1), phase: TransferPhase::DataOut, path: PathId(0) };
        oracles.path_granted(grant, end);
        oracles.sent(grant, DieId(1), payload, Sent { delivered: None, least: Time::ZERO }, end);
    }

    #[test]
    fn another_cut_of_a_page_than_was_asked_for_is_caught() {
        let config_of = |partial_program| {
            let mut config = config();
            config.geometry.page_spare = Bytes::new(64);
            config.flash.partial_program = partial_program;
            config.fabric.channel_rate = Rate::UNLIMITED;
            config
        };
        // With its share of 64 B for a page of 4 KiB.
        for (partial, kind, right) in [
            (false, RequestKind::Read, 512 + 8),
            (true, RequestKind::Read, 512 + 8),
            (false, RequestKind::Write, 4096 + 64),
            (true, RequestKind::Write, 3584 + 56),
        ] {
            for wrong in [512, 1024 + 16, 4096 + 63] {
                let caught = page_read(&config_of(partial), kind, wrong);
                assert_fails(
                    &caught,
                    "data",
                    &format!("of page 64 left die 1, of which {} were wanted", Bytes::new(right)),
                );
            }
            assert_silent(&page_read(&config_of(partial), kind, right));
        }
        // What is moved is moved whole.
        for (sent, is_right) in [(4096 + 64, true), (512 + 8, false)] {
            let mut oracles = oracles_with(&config_of(true));
            read_and_send(&mut oracles, 64, 7, None, sent);
            assert_eq!(oracles.verdict().is_ok(), is_right, "{:?}", oracles.violation());
        }
    }

    #[test]
    fn data_of_a_page_that_was_not_read_is_caught() {
        let mut data = data();
        data.read(Ppn(0), None);
        let payload = Payload { message: Message::Copy, planes: 1, command: Time::ZERO, bytes: Bytes::new(512) };
        assert_eq!(data.sent(DieId(0), payload), Ok(()));
        let error = data.sent(DieId(0), payload).expect_err("one page was read");
        assert_eq!(error, "512B left die 0, which has read nothing that is still to leave");
    }

    #[test]
    fn what_was_written_of_a_page_is_all_that_comes_where_programs_are_partial() {
        for (partial, brought, right) in
            [(true, 512, true), (true, 4096, false), (false, 512, false), (false, 4096, true)]
        {
            let mut config = config();
            config.flash.partial_program = partial;
            let mut data = Data::new(&config);
            let bytes = Bytes::new(brought);
            let payload = Payload { message: Message::Program, planes: 1, command: Time::ZERO, bytes };
            assert_eq!(data.sent(DieId(1), payload), Ok(()));
            let programmed = data.programmed(Ppn(64), None, Some(Bytes::new(512)));
            let next = data.sent(DieId(1), payload);
            assert_eq!(programmed.is_ok() && next.is_ok(), right, "{partial}, {brought} B");
        }
    }
}
