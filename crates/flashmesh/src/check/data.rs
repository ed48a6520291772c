//! The data of a program comes over the path with its command, or was copied from another chip before; never both, and not from
//! nowhere.

use rustc_hash::FxHashMap;

use crate::fabric::{Message, Payload};
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, PlaneId, Ppn};
use crate::units::Bytes;

/// The data that the chips hold for programs.
#[derive(Debug)]
pub(super) struct Data {
    geometry: Geometry,
    /// Whether a program brings only what was written of a page.
    partial: bool,
    /// What came with the command of the last program of each die, and was not programmed yet; nothing is known
    /// of a copyback, and of a die that was sent no program yet.
    commanded: FxHashMap<DieId, Option<Bytes>>,
    /// Where the page in the page buffer of a plane came from.
    copied: FxHashMap<PlaneId, Ppn>,
}

impl Data {
    pub(super) const NAME: &'static str = "data";

    pub(super) fn new(geometry: &Geometry, partial: bool) -> Data {
        Data { geometry: geometry.clone(), partial, commanded: FxHashMap::default(), copied: FxHashMap::default() }
    }

    /// A page of which a request wrote so much, or all of it, with its metadata.
    fn page(&self, written: Option<Bytes>) -> Bytes {
        let Geometry { page_size, page_spare, .. } = self.geometry;
        let bytes = written.filter(|_| self.partial).unwrap_or(page_size);
        bytes + Bytes::new((bytes.as_u64() * page_spare.as_u64()).div_ceil(page_size.as_u64()))
    }

    pub(super) fn sent(&mut self, die: DieId, payload: Payload) -> Result<(), String> {
        let brought = match payload.message {
            Message::Program => Some(payload.bytes),
            Message::Copyback => None,
            Message::Read | Message::Erase | Message::Data | Message::Copy => return Ok(()),
        };
        match self.commanded.insert(die, brought) {
            Some(Some(left)) if left > Bytes::ZERO => {
                Err(format!("die {} was sent another program while {left} for the last one are left", die.0))
            }
            _ => Ok(()),
        }
    }

    /// The page read from `from` has arrived in the page buffer of `plane`.
    pub(super) fn copied(&mut self, from: Ppn, plane: PlaneId) -> Result<(), String> {
        let chip_of = |plane: PlaneId| self.geometry.chip_of(self.geometry.die_of_plane(plane));
        if chip_of(self.geometry.plane_of(from)) == chip_of(plane) {
            return Err(format!("page {} was copied to plane {}, which is of the same chip", from.0, plane.0));
        }
        match self.copied.insert(plane, from) {
            None => Ok(()),
            Some(before) => Err(format!(
                "page {} was copied to plane {}, whose buffer holds what came from page {}",
                from.0, plane.0, before.0
            )),
        }
    }

    /// What lies in the page buffer of `plane` is not needed any more.
    pub(super) fn dropped(&mut self, plane: PlaneId) -> Result<(), String> {
        match self.copied.remove(&plane) {
            Some(_) => Ok(()),
            None => Err(format!("a page was dropped from the buffer of plane {}, which holds none", plane.0)),
        }
    }

    /// The array programmed `ppn`; `from` is where the content was, when it was moved, `written` how much of it a request wrote.
    pub(super) fn programmed(&mut self, ppn: Ppn, from: Option<Ppn>, written: Option<Bytes>) -> Result<(), String> {
        let plane = self.geometry.plane_of(ppn);
        if let Some(from) = from
            && self.copied.get(&plane) == Some(&from)
        {
            self.copied.remove(&plane);
            return Ok(());
        }
        let (die, page) = (self.geometry.die_of_plane(plane), self.page(written));
        match self.commanded.get_mut(&die) {
            None | Some(None) => Ok(()),
            Some(Some(left)) if *left >= page => {
                *left = *left - page;
                Ok(())
            }
            _ => Err(format!("page {} was programmed, but no data for it has come to die {}", ppn.0, die.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::planted::geometry;
    use super::*;
    use crate::units::Time;

    fn data() -> Data {
        Data::new(&geometry(), false)
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
        assert_eq!(data.dropped(PlaneId(2)), Ok(()));
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
        assert!(data.dropped(PlaneId(5)).is_err_and(|error| error.contains("plane 5, which holds none")));
    }

    #[test]
    fn what_was_written_of_a_page_is_all_that_comes_where_programs_are_partial() {
        for (partial, brought, right) in
            [(true, 512, true), (true, 4096, false), (false, 512, false), (false, 4096, true)]
        {
            let mut data = Data::new(&geometry(), partial);
            let bytes = Bytes::new(brought);
            let payload = Payload { message: Message::Program, planes: 1, command: Time::ZERO, bytes };
            assert_eq!(data.sent(DieId(1), payload), Ok(()));
            let programmed = data.programmed(Ppn(64), None, Some(Bytes::new(512)));
            let next = data.sent(DieId(1), payload);
            assert_eq!(programmed.is_ok() && next.is_ok(), right, "{partial}, {brought} B");
        }
    }
}
