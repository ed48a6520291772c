//! Where pages that hold nothing are read.
//!
//! A page that was never written, or was deallocated, has no entry in the map, takes no space and has no valid page. It is read at its
//! *home*, a page that follows from its number alone: on the plane of the static order, as many pages from the first as pages of its
//! namespace with lower numbers lie on that plane, behind the homes of the namespaces before. So results do not depend on the order
//! in which pages are read, pages that follow each other join in a multi-plane read, and a drive that is not written needs no map.
//! No two pages have the same home.
//!
//! The home is the address of data that the drive came with, which the simulation has no other record of \[choice\]. The read takes the
//! time of that die, plane and type of page. No block is charged for it: the physical page at this address may hold another page, be free
//! or be erased, collection neither moves such data nor gains from it, and it wears nothing.

use super::{Ftl, Occupancy};
use crate::ids::{Lpn, Ppn};

impl Ftl {
    /// Where `lpn` is read: where it is, or at its home while it holds nothing.
    #[inline(always)]
    pub fn location(&self, lpn: Lpn) -> Ppn {
        self.mapping.get(lpn).unwrap_or_else(|| self.home(lpn))
    }

    /// The home of `lpn`, an unmapped page, for a read that is queued there.
    #[inline(always)]
    pub(crate) fn read_home(&mut self, lpn: Lpn) -> Ppn {
        self.mapping.note_unmapped_read();
        self.home(lpn)
    }

    #[inline(always)]
    pub(crate) fn home(&self, lpn: Lpn) -> Ppn {
        self.allocation.static_order().home_of(lpn)
    }

    /// Gives `lpn`, which holds nothing, the next page of the block that the host writes, on the plane of its home, without any flash
    /// operation: it was programmed before the run (`ftl.first-touch = "write-block"`). Where streams write apart, the block is that of
    /// the first which writes to the plane, as for all data that was there before \[choice\].
    ///
    /// `None` when only the reserve of collection is left, or the plane has no room for another page of the namespace.
    pub fn place_for_read(&mut self, lpn: Lpn) -> Option<Ppn> {
        let plane = self.allocation.static_order().plane_of(lpn);
        let occupancy = Occupancy::new(&self.blocks, &self.mapping, self.replicas.as_deref());
        if !self.allocation.has_room(lpn, plane, &occupancy) {
            return None;
        }
        let written = self.blocks.plane(plane).open.writer(None);
        let ppn = self.blocks.allocate(plane, written)?;
        self.commit(lpn, ppn);
        Some(ppn)
    }
}
