//! Homes: addresses at which unmapped pages are read.
//!
//! A page that was never written, or was deallocated, has no map entry and takes no space. It is read at its *home*, a physical page that depends
//! only on its page number. The plane is that of the static order (the fixed assignment of logical pages to planes). On each plane, homes are sorted
//! by namespace, then by page number. So results do not depend on the order in which pages are read, consecutive pages join in multi-plane reads, and
//! a drive that is not written needs no map. No two pages have the same home.
//!
//! A home stands for data that was on the drive before the run (\[choice\]: a decision of this model). A read takes the time of the die, plane and
//! page type of the home. The home does not occupy a block: another page may be stored at this address, or the block may be free or erased. Garbage
//! collection neither moves the data of homes nor gains space from them, and they cause no wear.

use crate::ftl::{Ftl, PlaneOccupancy};
use crate::ids::{Lpn, Ppn, StreamId};

impl Ftl {
    /// Returns the location at which `lpn` is read: the mapped location, or for an unmapped page its home (an address that depends only on the page
    /// number).
    #[inline(always)]
    pub fn location(&self, lpn: Lpn) -> Ppn {
        self.mapping.get(lpn).unwrap_or_else(|| self.static_order().default_location_of(lpn))
    }

    /// Returns the home (address at which an unmapped page is read) of the unmapped page `lpn`, for a read that will be queued there.
    /// Counts this read in [`Mapping::unmapped_reads`](crate::ftl::Mapping::unmapped_reads).
    #[inline(always)]
    pub(crate) fn default_location_for_read(&mut self, lpn: Lpn) -> Ppn {
        self.mapping.count_unmapped_read();
        self.static_order().default_location_of(lpn)
    }

    /// Maps the unmapped page `lpn` to the next page of the open block of host writes, on the plane of its home (address at which an
    /// unmapped page is read). No flash operation takes place: the page counts as programmed before the run (`ftl.first-touch`). If host
    /// streams have open blocks of their own, the page goes to the open block of `stream`. If `stream` has none on the plane, the page goes
    /// to the open block of the first stream that has one there \[choice\].
    ///
    /// Returns the new location. Returns `None`, and leaves `lpn` unmapped, if only the reserve of collection is left, or the plane has no
    /// room for another page of the namespace.
    pub fn map_on_read(&mut self, lpn: Lpn, stream: Option<StreamId>) -> Option<Ppn> {
        let plane = self.allocation.static_order().plane_of(lpn);
        let occupancy = PlaneOccupancy::new(&self.blocks, &self.mapping, self.replicas.as_deref());
        if !self.allocation.has_room(lpn, plane, &occupancy) {
            return None;
        }
        let written = self.blocks.accounts.plane(plane).open.host_block_kind(stream);
        let ppn = self.blocks.allocate(plane, written)?;
        self.commit(lpn, ppn);
        Some(ppn)
    }
}
