//! Commits of finished programs, and deallocations: changes of the map and of valid pages.

use std::ops::Range;

use crate::ftl::Ftl;
use crate::ftl::allocation::Allocator;
use crate::ids::{Lpn, PlaneId, Ppn};

impl Ftl {
    /// Commits a finished host write: maps `lpn` to `ppn`, and notifies the allocator.
    #[inline]
    pub fn commit_write(&mut self, lpn: Lpn, ppn: Ppn) {
        let plane = self.commit(lpn, ppn);
        self.allocation.on_committed(lpn, plane);
    }

    /// Maps `lpn` to `ppn`, which has been programmed, and invalidates the older version and the replica of `lpn`. Returns the plane of `ppn`.
    #[inline]
    pub(in super::super) fn commit(&mut self, lpn: Lpn, ppn: Ppn) -> PlaneId {
        let old = self.mapping.set(lpn, ppn);
        if let Some(old) = old {
            self.invalidate(old);
        }
        self.drop_stale_replica(lpn);
        self.notify_move(lpn, old, Some(ppn));
        self.blocks.accounts.program_valid(ppn)
    }

    /// Commits the finished program of a page moved from `from` to `to` (garbage collection, wear levelling, fold, or rewrite by a policy). If the
    /// original of `lpn` is still at `from`, maps `lpn` to `to`; if the replica is, records the replica at `to`. Returns true in both cases. If
    /// neither is at `from` any more, because the page was written, deallocated or moved meanwhile, returns false, and the copy at `to` counts as
    /// invalid.
    #[inline]
    pub fn commit_move(&mut self, lpn: Lpn, from: Ppn, to: Ppn) -> bool {
        if self.mapping.get(lpn) == Some(from) {
            self.mapping.set(lpn, to);
            let was_guest = self.invalidate(from);
            self.notify_move(lpn, Some(from), Some(to));
            let plane = self.blocks.accounts.program_valid(to);
            let before = self.geometry.plane_of(from);
            if was_guest && (plane == before || self.blocks.share_superblocks(plane, before)) {
                self.admit_guest(to, plane);
            }
            return true;
        }
        if self.replicas.as_mut().is_some_and(|replicas| replicas.relocate(lpn, from, to)) {
            self.mapping.set_reverse(to, lpn);
            self.invalidate(from);
            let plane = self.blocks.accounts.program_valid(to);
            self.admit_guest(to, plane);
            return true;
        }
        self.blocks.accounts.program_invalid(to);
        false
    }

    /// Deallocates `lpn` (TRIM of a whole page), and drops its replica. Returns whether `lpn` was mapped.
    pub fn deallocate(&mut self, lpn: Lpn) -> bool {
        let old = self.mapping.clear(lpn);
        self.drop_stale_replica(lpn);
        if let Some(old) = old {
            self.invalidate(old);
            self.notify_move(lpn, Some(old), None);
        }
        old.is_some()
    }

    /// Marks `ppn` as invalid. Returns whether `ppn` was a guest (page that replication has put on its plane).
    #[inline]
    pub(in super::super) fn invalidate(&mut self, ppn: Ppn) -> bool {
        let plane = self.blocks.accounts.invalidate(ppn);
        self.replicas.as_mut().is_some_and(|replicas| replicas.dismiss_guest(ppn, plane))
    }

    #[inline]
    fn drop_stale_replica(&mut self, lpn: Lpn) {
        if let Some(replica) = self.replicas.as_mut().and_then(|replicas| replicas.drop_stale(lpn)) {
            self.invalidate(replica);
        }
    }

    fn admit_guest(&mut self, ppn: Ppn, plane: PlaneId) {
        if let Some(replicas) = &mut self.replicas {
            replicas.admit_guest(ppn, plane);
        }
    }

    /// Notifies the allocator, if it counts valid pages, that `lpn` moved to another location. `from` is `None` if `lpn` was unmapped
    /// before; `to` is `None` if `lpn` is unmapped afterwards.
    #[inline]
    pub(in super::super) fn notify_move(&mut self, lpn: Lpn, from: Option<Ppn>, to: Option<Ppn>) {
        if self.counts_parts {
            let plane_of = |ppn: Option<Ppn>| ppn.map(|ppn| self.geometry.plane_of(ppn));
            self.allocation.on_moved(lpn, plane_of(from), plane_of(to));
        }
    }

    /// Notifies the allocator, if it counts valid pages, of the mapped pages in `pages`, a range of logical pages mapped without host writes.
    pub(in super::super) fn notify_filled(&mut self, pages: Range<u32>) {
        if self.counts_parts {
            self.mapping.materialize_all();
            for lpn in pages.map(Lpn) {
                if let Some(ppn) = self.mapping.get(lpn) {
                    self.notify_move(lpn, None, Some(ppn));
                }
            }
        }
    }
}
