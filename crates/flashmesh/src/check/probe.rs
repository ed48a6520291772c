//! The oracles as a probe: each notice calls its hooks.

use crate::error::RunError;
use crate::kernel::probe::{Notice, Probe, RunEndState};
use crate::units::Time;

use super::Oracles;

impl Probe for Oracles {
    fn snapshot(&self) -> Option<Box<dyn Probe + Send>> {
        Some(Box::new(self.clone()))
    }

    fn notify(&mut self, now: Time, notice: &Notice<'_>) {
        match *notice {
            Notice::Event => self.event(now),
            Notice::Settled(ftl) => self.settled(ftl, now),
            Notice::Ended(RunEndState { ftl, links, power, power_cut, is_complete }) => {
                self.finish(ftl, links.held, is_complete, now);
                self.cache_finished(power_cut, now);
                self.reported(power, links, now);
            }
            Notice::Recovered(recovered) => self.recovered(recovered, now),
            Notice::RequestIssued(request, stream) => self.request_issued(request, stream, now),
            Notice::Interface(seen) => self.host(seen, now),
            Notice::RequestSubmitted(request, ref io) => self.request_submitted(request, io, now),
            Notice::RequestRefused(request) => self.request_refused(request, now),
            Notice::CoreAsked(job) => self.firmware_job_queued(job, now),
            Notice::CoreDone(job) => self.firmware_job_done(job, now),
            Notice::FlushBegan(request, ref pages) => self.flush_began(request, pages.clone(), now),
            Notice::RequestCompleted(request) => self.request_completed(request, now),
            Notice::Deallocated(lpn) => self.deallocated(lpn, now),
            Notice::PagePlaced(ppn, lpn) => self.page_placed(ppn, lpn, now),
            Notice::PathAsked(die, phase) => self.path_requested(die, phase, now),
            Notice::Read(_) => {}
            Notice::PathGranted(grant) => self.path_granted(grant, now),
            Notice::Sent(grant, die, payload, sent) => self.sent(grant, die, payload, sent, now),
            Notice::Delivered(grant) => self.delivered(grant, now),
            Notice::PathReleased(grant) => self.path_released(grant, now),
            Notice::LinkUsed(link_use) => self.link_used(link_use, now),
            Notice::Searched(search) => self.searched(search, now),
            Notice::AcknowledgementSent(die, id) => self.acknowledgement_sent(die, id),
            Notice::Acknowledged(die, id) => self.acknowledged(die, id, now),
            Notice::OperationBegan(die, extent, kind, planes) => self.operation_began((die, extent), kind, planes, now),
            Notice::ArrayBegan(die, extent, kind, until) => self.array_began((die, extent), kind, now, until),
            Notice::ArrayEnded(die, extent) => self.array_ended((die, extent), now),
            Notice::Suspended(die) => self.suspended(die, now),
            Notice::Resumed(die, until) => self.resumed(die, now, until),
            Notice::DataLeft(die, extent) => self.data_out_ended((die, extent), now),
            Notice::PageRead(ppn, lpn, request) => self.page_read(ppn, lpn, request, now),
            Notice::PageProgrammed(ppn, lpn, origin) => self.page_programmed(ppn, lpn, origin, now),
            Notice::ParityProgrammed(ppn) => self.parity_programmed(ppn, now),
            Notice::WholePageWanted(request, lpn) => self.whole_page_wanted(request, lpn),
            Notice::ReplicaSourceRead(lpn, ppn) => self.replica_source_read(lpn, ppn, now),
            Notice::ReplicaMade(lpn, ppn) => self.replica_made(lpn, ppn, now),
            Notice::ReplicaDropped(lpn) => self.replica_dropped(lpn, now),
            Notice::ReplicaKept(lpn) => self.replica_kept(lpn, now),
            Notice::BlockErased(block) => self.block_erased(block, now),
            Notice::PageCopied(from, plane) => self.page_copied(from, plane, now),
            Notice::CopyDropped(from, plane) => self.copy_dropped(from, plane, now),
            Notice::EntryWanted(request, lpn) => self.entry_wanted(request, lpn, now),
            Notice::EntryUsed(request, lpn) => self.entry_used(request, lpn, now),
            Notice::EntryChanged(event) => self.entry_changed(event, now),
            Notice::TranslationReadIssued(page) => self.translation_read_issued(page, now),
            Notice::TranslationReadEnded(page) => self.translation_read_ended(page, now),
            Notice::TranslationProgramIssued(page) => self.translation_program_issued(page, now),
            Notice::TranslationProgramBegan(page) => self.translation_program_began(page, now),
            Notice::TranslationProgramEnded(page) => self.translation_program_ended(page, now),
            Notice::CacheFound(request, lpn, sectors) => self.cache_found(request, lpn, sectors, now),
            Notice::CacheTook { request, lpn, sectors, stays } => {
                self.cache_write_accepted(request, lpn, sectors, stays, now)
            }
            Notice::CacheFilled(request, lpn, sectors) => self.cache_filled(request, lpn, sectors, now),
            Notice::CacheRemoved(lpn) => self.cache_removed(lpn, now),
            Notice::DestageBegan(lpn, sectors) => self.destage_began(lpn, sectors, now),
            Notice::DestageForgotten(lpn) => self.destage_forgotten(lpn, now),
            // The oracles need no notice of queueing: they check the operations and transfers that follow.
            Notice::Enqueued(..)
            | Notice::Taken(..)
            | Notice::Rerouted(..)
            | Notice::PathBlocked(..)
            | Notice::ScoutMoved(_) => {}
        }
    }

    fn check_run(&self) -> Result<(), RunError> {
        Oracles::verdict(self)
    }
}
