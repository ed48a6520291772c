//! A page has been programmed, or a block erased: first the map knows, then, once the controller has been told, who waited for it.

use crate::datapath::Datapath;
use crate::ids::TransactionId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, Origin};
use crate::schedule::transaction::{Class, Transaction};
use crate::units::Bytes;

use super::Firmware;

impl Firmware {
    /// The array has programmed a page, or erased a block.
    #[inline]
    pub(super) fn commit<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Transaction { class, request, lpn, plane, from, to, successor, is_copied, has_page, .. } =
            *datapath.transaction(id);
        match class {
            Class::UserProgram => {
                self.counters.flash.user_programs += 1;
                kernel.tell(|| Notice::PageProgrammed(to, lpn, request.map_or(Origin::Destaged, Origin::User)));
                self.ftl.commit_write(lpn, to);
                if M::FULL {
                    self.page_written(lpn, true);
                    if request.is_none() && self.destage_programmed(lpn) {
                        // The host deallocated the page while it was on its way.
                        self.ftl.deallocate(lpn);
                        self.page_written(lpn, false);
                        kernel.tell(|| Notice::DestageForgotten(lpn));
                    }
                    self.entry_changed(lpn, datapath, kernel);
                    if has_page {
                        self.ftl.bound_programmed(plane);
                        self.start_blocked(plane, datapath, kernel);
                    }
                }
                self.start_successor(lpn, successor, datapath, kernel);
            }
            Class::CollectProgram => {
                self.counters.gc.pages_moved += 1;
                kernel.tell(|| Notice::PageProgrammed(to, lpn, Origin::Moved(from)));
                if self.ftl.commit_move(lpn, from, to) {
                    self.moved_entry_changed(lpn, self.geometry.plane_of(from), kernel);
                }
                if is_copied {
                    self.counters.gc.pages_copied += 1;
                    self.copy_ended(plane);
                }
            }
            Class::MapProgram => {
                self.counters.flash.map_programs += 1;
                kernel.tell(|| Notice::PageProgrammed(to, lpn, Origin::Map));
                self.ftl.commit_write(lpn, to);
            }
            Class::Erase => {
                let block = self.geometry.block_of(from);
                kernel.tell(|| Notice::BlockErased(block));
            }
            Class::MapRead | Class::UserRead | Class::CollectRead => {
                unreachable!("a read ends in the register, not in the array")
            }
        }
    }

    /// The firmware goes on from a page programmed, or a block erased.
    #[inline]
    pub(super) fn conclude<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Transaction { class, plane, from, lpn, request, is_cached, spent, conflict, .. } =
            *datapath.transaction(id);
        datapath.remove(id);
        match class {
            Class::UserProgram if request.is_none() => self.destaged(lpn, datapath, kernel),
            Class::UserProgram => {
                self.finished(request, Bytes::ZERO, spent, conflict);
                if is_cached {
                    self.passed_cache(lpn, datapath, kernel);
                }
            }
            Class::CollectProgram => self.advance(self.geometry.plane_of(from), datapath, kernel),
            Class::MapProgram => self.translation_programmed(lpn, datapath, kernel),
            Class::Erase => self.block_erased(plane, datapath, kernel),
            Class::MapRead | Class::UserRead | Class::CollectRead => {
                unreachable!("a read ends in the register, not in the array")
            }
        }
    }
}
