//! Recording of the interconnect in a window of a run. Records the request, grant and release of each transfer's path, the links held for the
//! transfer, and the moves of Venice's scouts.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::fabric::{Cause, FabricInfo, Grant, LinkUse, ScoutStep, TransferPhase};
use crate::ids::{DieId, RequestId};
use crate::kernel::probe::{Notice, Probe};
use crate::measure::network::{NetworkReport, RecordedHold, RecordedRequest, RecordedScoutStep, RecordedTransfer};
use crate::units::Time;
use crate::workload::RequestKind;

use super::RecordingWindow;
use super::pending_paths::PendingPaths;
use super::requests::{InFlight, RegisterContents, Requests};

/// Number of recent transfers that the recorder keeps for each die. A link use is reported only at its end, and is then matched with one of these.
const LATEST: usize = 4;

/// Handle to the recording of a [`NetworkRecorder`]. The recording is empty until the run has ended.
#[derive(Clone, Debug, Default)]
pub struct NetworkRecording(Arc<Mutex<NetworkReport>>);

impl NetworkRecording {
    pub fn take(&self) -> NetworkReport {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Use of a link. `transfer` is the number (in order of request) of the transfer that held it; `None` if unknown.
struct LinkHold {
    link_use: LinkUse,
    transfer: Option<u64>,
}

pub struct NetworkRecorder {
    info: &'static FabricInfo,
    window: RecordingWindow,
    events_max: usize,
    is_cut: bool,
    unfinished: PendingPaths,
    requests: Requests,
    pages: RegisterContents,
    taken: FxHashMap<DieId, Vec<u64>>,
    /// Number (in order of request) of the transfer of each die and phase whose path is requested and not released.
    open: FxHashMap<(DieId, TransferPhase), u64>,
    /// For each die, the numbers of its most recent transfers, from oldest to newest, at most [`LATEST`].
    latest: FxHashMap<DieId, Vec<u64>>,
    asked: u64,
    transfers: BTreeMap<u64, RecordedTransfer>,
    holds: Vec<LinkHold>,
    scouts: Vec<RecordedScoutStep>,
    completed: BTreeMap<u64, RecordedRequest>,
    recorded: NetworkRecording,
}

impl NetworkRecorder {
    /// Creates a recorder for the interconnect `info`, of at most `events_max` events in `window`, and the handle to take its recording after the
    /// run.
    pub fn new(
        info: &'static FabricInfo,
        window: RecordingWindow,
        events_max: u32,
    ) -> (NetworkRecorder, NetworkRecording) {
        let recorded = NetworkRecording::default();
        let recorder = NetworkRecorder {
            info,
            window,
            events_max: events_max as usize,
            is_cut: false,
            unfinished: PendingPaths::default(),
            requests: Requests::default(),
            pages: RegisterContents::default(),
            taken: FxHashMap::default(),
            open: FxHashMap::default(),
            latest: FxHashMap::default(),
            asked: 0,
            transfers: BTreeMap::new(),
            holds: Vec::new(),
            scouts: Vec::new(),
            completed: BTreeMap::new(),
            recorded: recorded.clone(),
        };
        (recorder, recorded)
    }

    fn truncate_if_full(&mut self, now: Time) {
        if !self.is_cut && self.transfers.len() + self.holds.len() + self.scouts.len() >= self.events_max {
            self.is_cut = true;
            self.window.end = self.window.end.min(now).later(self.window.start);
        }
    }

    fn record_path_request(&mut self, die: DieId, phase: TransferPhase, now: Time) {
        if now >= self.window.end {
            return;
        }
        self.asked += 1;
        let transfer = RecordedTransfer {
            die: die.0.into(),
            phase: phase.into(),
            message: None,
            requests: Vec::new(),
            asked_ps: now.as_ps(),
            granted_ps: None,
            delivered_ps: None,
            released_ps: None,
            causes: Vec::new(),
            blocked_ps: 0,
        };
        self.transfers.insert(self.asked, transfer);
        self.open.insert((die, phase), self.asked);
        let latest = self.latest.entry(die).or_default();
        latest.push(self.asked);
        if latest.len() > LATEST {
            latest.remove(0);
        }
    }

    fn transfer(&mut self, grant: Grant) -> Option<&mut RecordedTransfer> {
        self.transfers.get_mut(self.open.get(&(grant.die, grant.phase))?)
    }

    fn sent(&mut self, grant: Grant, die: DieId, message: crate::fabric::TransferKind) {
        let requests = match grant.phase {
            TransferPhase::Command => self.taken.remove(&die).unwrap_or_default(),
            TransferPhase::DataOut | TransferPhase::Copy => self.pages.front_page(die).into_iter().collect(),
        };
        if let Some(transfer) = self.transfer(grant) {
            (transfer.die, transfer.message, transfer.requests) = (die.0.into(), Some(message.into()), requests);
        }
    }

    fn released(&mut self, grant: Grant, now: Time) {
        if let Some(number) = self.open.remove(&(grant.die, grant.phase))
            && let Some(transfer) = self.transfers.get_mut(&number)
        {
            transfer.released_ps = Some(now.as_ps());
            if now < self.window.start {
                self.transfers.remove(&number);
            }
        }
    }

    /// Returns the number of the transfer that held a link; `None` if unknown. Candidates are the recent transfers of the die whose path was
    /// requested and not released when the use began. Returns the newest one with a granted path, otherwise the newest.
    fn holder(&self, link_use: LinkUse) -> Option<u64> {
        let latest = self.latest.get(&link_use.die)?;
        let held_from = |number: &&u64| {
            let transfer = self.transfers.get(*number)?;
            let ended = transfer.released_ps.is_some_and(|released| released <= link_use.from.as_ps());
            (transfer.asked_ps <= link_use.from.as_ps() && !ended).then_some(())
        };
        let granted = |number: &&u64| self.transfers.get(*number).is_some_and(|transfer| transfer.granted_ps.is_some());
        let candidates = || latest.iter().rev().filter(|number| held_from(number).is_some());
        candidates().find(granted).or_else(|| candidates().next()).copied()
    }

    fn link_used(&mut self, link_use: LinkUse) {
        if link_use.from < self.window.end && link_use.until > self.window.start {
            let transfer = self.holder(link_use);
            self.holds.push(LinkHold { link_use, transfer });
        }
    }

    fn scout_moved(&mut self, step: ScoutStep) {
        if self.window.overlaps(step.at, step.at) {
            self.scouts.push(RecordedScoutStep {
                at_ps: step.at.as_ps(),
                controller: step.controller.0.into(),
                die: step.die.0.into(),
                step: step.step,
                to_chip: step.to.map(|chip| chip.0.into()),
            });
        }
    }

    fn completed(&mut self, id: RequestId, now: Time) {
        let Some(request) = self.requests.completed(id) else { return };
        if self.window.overlaps(request.issued, now) {
            self.completed.insert(request.number, recorded_request(&request, Some(now)));
        }
    }

    fn ended(&mut self, now: Time) {
        let (start, end) = (self.window.start, self.window.end.min(now));
        for request in self.requests.in_flight() {
            // Leave out requests issued after the window: a recorder that is detached before they complete would show them as in flight.
            if self.window.overlaps(request.issued, now) {
                self.completed.insert(request.number, recorded_request(&request, None));
            }
        }
        let mut index = FxHashMap::default();
        let mut transfers = Vec::new();
        for (number, transfer) in mem::take(&mut self.transfers) {
            if transfer.released_ps.is_none_or(|released| released >= start.as_ps()) {
                index.insert(number, transfers.len() as u64);
                transfers.push(transfer);
            }
        }
        let mut wanted: Vec<u64> = transfers.iter().flat_map(|transfer| transfer.requests.iter().copied()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let requests = wanted.iter().filter_map(|number| self.completed.remove(number)).collect();
        let hold = |LinkHold { link_use: LinkUse { link, die, from, until }, transfer }: LinkHold| RecordedHold {
            link: link.0.into(),
            die: die.0.into(),
            transfer: transfer.and_then(|number| index.get(&number).copied()),
            from_ps: from.as_ps(),
            until_ps: until.as_ps(),
        };
        let holds = mem::take(&mut self.holds).into_iter().map(hold).collect();
        *self.recorded.0.lock().unwrap_or_else(PoisonError::into_inner) = NetworkReport {
            fabric: self.info.name,
            about: self.info.caption,
            start_ps: start.min(end).as_ps(),
            end_ps: end.as_ps(),
            is_cut: self.is_cut,
            requests,
            transfers,
            holds,
            scouts: mem::take(&mut self.scouts),
        };
    }
}

impl Probe for NetworkRecorder {
    /// Returns whether the recorder can be detached: the window has ended or the recording is full, and no path or request that began before the end
    /// of the window is pending.
    fn is_done(&mut self, now: Time) -> bool {
        let end = self.window.end;
        (self.is_cut || now >= end) && self.unfinished.is_empty() && !self.requests.has_older(end)
    }

    fn notify(&mut self, now: Time, notice: &Notice<'_>) {
        self.unfinished.record(now, self.window.end, notice);
        match *notice {
            Notice::RequestIssued(id, stream) => {
                self.requests.issued(id, stream, now);
            }
            Notice::RequestSubmitted(id, io) => self.requests.submitted(id, io),
            Notice::RequestCompleted(id) => self.completed(id, now),
            Notice::Taken(die, _, request) => {
                let number = self.requests.number(request);
                let taken = self.taken.entry(die).or_default();
                taken.extend(number);
                taken.dedup();
            }
            Notice::PathAsked(die, phase) => self.record_path_request(die, phase, now),
            Notice::PathBlocked(grant, causes, waited) => {
                if let Some(transfer) = self.transfer(grant) {
                    // List causes in the order of `Cause::ALL`: a path waits for a controller before links.
                    let met = Cause::ALL.into_iter().filter(|cause| causes.contains(*cause));
                    (transfer.causes, transfer.blocked_ps) = (met.map(Into::into).collect(), waited.as_ps());
                }
            }
            Notice::PathGranted(grant) => {
                if let Some(transfer) = self.transfer(grant) {
                    transfer.granted_ps = Some(now.as_ps());
                }
            }
            Notice::Sent(grant, die, payload, _) => self.sent(grant, die, payload.kind),
            Notice::Delivered(grant) => {
                if let Some(transfer) = self.transfer(grant) {
                    transfer.delivered_ps = Some(now.as_ps());
                }
            }
            Notice::PathReleased(grant) => self.released(grant, now),
            Notice::ArrayEnded(die, _) => self.pages.set_current_die(die),
            Notice::PageRead(_, _, request) => self.pages.push_page(self.requests.number(request)),
            Notice::DataLeft(die, _) => self.pages.pop_page(die),
            Notice::LinkUsed(link_use) => self.link_used(link_use),
            Notice::ScoutMoved(step) => self.scout_moved(step),
            Notice::Settled(_) => self.truncate_if_full(now),
            Notice::Ended(_) => self.ended(now),
            _ => {}
        }
    }
}

fn recorded_request(request: &InFlight, completed: Option<Time>) -> RecordedRequest {
    let io = request.io;
    RecordedRequest {
        number: request.number,
        stream: request.stream.0.into(),
        kind: io.map_or(RequestKind::Read, |io| io.kind),
        offset_bytes: io.map_or(0, |io| io.offset.as_u64()),
        size_bytes: io.map_or(0, |io| io.size.as_u64()),
        issued_ps: request.issued.as_ps(),
        completed_ps: completed.map(Time::as_ps),
    }
}
