//! A page has been programmed, or a block erased: first the map knows, then, once the controller has been told, who waited for it.

use crate::datapath::Datapath;
use crate::ids::TransactionId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, Origin};
use crate::persistence::Programmed;
use crate::schedule::transaction::{Class, Transaction};

use super::Firmware;

impl Firmware {
    /// The array has programmed a page, or erased a block.
    #[inline]
    pub(super) fn commit<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Transaction { class, request, lpn, plane, from, to, successor, is_copied, is_cleaned, has_page, .. } =
            *datapath.transaction(id);
        match class {
            Class::UserProgram if M::FULL && datapath.transaction(id).is_reallocated => {
                self.reallocated(id, datapath, kernel);
            }
            Class::UserProgram => {
                self.counters.flash.user_programs += 1;
                kernel.tell(|| Notice::PageProgrammed(to, lpn, request.map_or(Origin::Destaged, Origin::User)));
                self.ftl.commit_write(lpn, to);
                if M::CACHES {
                    // The host may have deallocated the page while it was on its way.
                    let is_wanted = request.is_some() || !self.is_destage_forgotten(lpn);
                    self.persist_program(lpn, to, if is_wanted { Programmed::Written } else { Programmed::Superseded });
                    self.forget_placement(id);
                    self.page_superseded(lpn, kernel);
                    self.page_written(lpn, true);
                    if request.is_none() && self.destage_programmed(lpn) {
                        self.ftl.deallocate(lpn);
                        self.page_written(lpn, false);
                        kernel.tell(|| Notice::DestageForgotten(lpn));
                        self.page_superseded(lpn, kernel);
                    }
                    self.entry_changed(lpn, datapath, kernel);
                }
                if M::PREALLOCATES && has_page {
                    self.ftl.preallocated_programmed(plane);
                    self.start_blocked(plane, datapath, kernel);
                }
                self.start_successor(lpn, successor, datapath, kernel);
            }
            Class::CollectProgram => {
                self.counters.gc.pages_moved += 1;
                kernel.tell(|| Notice::PageProgrammed(to, lpn, Origin::Moved(from)));
                // A replica is in no entry of the map.
                let is_original = self.ftl.lookup(lpn) == Some(from);
                let is_wanted = self.ftl.commit_move(lpn, from, to);
                if M::FULL {
                    let moved = if is_original { Programmed::Moved } else { Programmed::Copied };
                    self.persist_program(lpn, to, if is_wanted { moved } else { Programmed::Superseded });
                }
                if is_wanted && is_original {
                    self.moved_entry_changed(lpn, self.geometry.plane_of(from), kernel);
                }
                if is_copied {
                    self.counters.gc.pages_copied += 1;
                    if M::FULL && is_cleaned {
                        self.cleaned(lpn, from, to, is_wanted);
                    } else {
                        self.copy_ended(plane);
                    }
                }
            }
            Class::MapProgram => {
                kernel.tell(|| Notice::PageProgrammed(to, lpn, Origin::Map));
                self.ftl.commit_write(lpn, to);
                self.count_map_program(lpn);
            }
            Class::ReplicaProgram => self.replica_programmed(id, datapath, kernel),
            Class::Erase => {
                let block = self.geometry.block_of(from);
                kernel.tell(|| Notice::BlockErased(block));
                if M::FULL {
                    self.persist_erase(block);
                }
            }
            Class::MapRead | Class::UserRead | Class::CollectRead => {
                unreachable!("a read ends in the register, not in the array")
            }
        }
    }

    /// The firmware goes on from a page programmed, or a block erased.
    #[inline]
    pub(super) fn conclude<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Transaction { class, plane, from, lpn, request, is_cached, is_cleaned, ends_clean, is_reallocated, .. } =
            *datapath.transaction(id);
        if M::FULL && class == Class::UserProgram {
            self.write_ended(plane);
        }
        if class == Class::UserProgram && request.is_some() {
            self.finished(id, request, datapath);
            if M::CACHES && is_cached {
                self.passed_cache(lpn, datapath, kernel);
            }
            return;
        }
        datapath.remove(id);
        match class {
            Class::UserProgram if M::FULL && is_reallocated => {}
            Class::UserProgram => self.destaged(lpn, datapath, kernel),
            Class::CollectProgram if M::FULL && is_cleaned => {
                self.clean_goes_on(self.geometry.plane_of(from), ends_clean, datapath, kernel);
            }
            Class::CollectProgram => self.advance(self.geometry.plane_of(from), datapath, kernel),
            Class::MapProgram => self.translation_programmed(lpn, datapath, kernel),
            Class::ReplicaProgram => {}
            Class::Erase => self.block_erased(plane, datapath, kernel),
            Class::MapRead | Class::UserRead | Class::CollectRead => {
                unreachable!("a read ends in the register, not in the array")
            }
        }
    }
}
