//! Timeline for Perfetto: activity of every die, link and queue, and arrows that connect the activities of a request.
//!
//! A die has four tracks: queued transactions, commands in transfer, array, and data in transfer. Planes that read independently have an array track
//! each. A link has one track, which shows the die that holds it. A stream has a counter of outstanding requests and, below it, a track for each
//! request slot, which shows one request at a time. There are as many slots as the maximum number of outstanding requests. An arrow leads from a
//! request to each of its commands, array operations and data transfers, in order of time, and to its completion.

pub mod proto;
mod tracks;
mod writer;

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::system_message;
use crate::fabric::{Cause, Causes, Grant, LinkUse, TransferPhase};
use crate::flash::die::{Extent, OperationKind};
use crate::ids::{DieId, RequestId};
use crate::kernel::probe::{Notice, Probe};
use crate::measure::recording::TimelineReport;
use crate::measure::report::Report;
use crate::units::Time;

use super::RecordingWindow;
use super::pending_paths::PendingPaths;
use super::requests::{RegisterContents, Requests};
use tracks::{DieTracks, OpenSlice, SliceTrack, Tracks};
use writer::{Slice, Track, Writer};

pub use tracks::DriveLayout;

/// Handle to the outcome of a timeline. A write error does not stop the run.
#[derive(Clone, Debug, Default)]
pub struct TimelineOutcome(Arc<Mutex<Ended>>);

#[derive(Clone, Debug, Default)]
struct Ended {
    full_at: Option<Time>,
    failed: Option<String>,
}

impl TimelineOutcome {
    /// Returns the simulated time at which the timeline became full and writing stopped; `None` if it never became full.
    pub fn full_at(&self) -> Option<Time> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).full_at
    }

    /// Returns the operating system's message for the error that stopped writing; `None` without an error.
    pub fn failed(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).failed.clone()
    }
}

pub struct Timeline {
    writer: Writer,
    tracks: Tracks,
    unfinished: PendingPaths,
    requests: Requests,
    pages: RegisterContents,
    outcome: TimelineOutcome,
}

impl Timeline {
    /// Creates a timeline that writes at most `events_max` events in `window` to `sink`, and a handle to its outcome after the run.
    pub fn new(
        shape: &DriveLayout<'_>,
        window: RecordingWindow,
        events_max: u64,
        sink: Box<dyn Write + Send>,
    ) -> (Timeline, TimelineOutcome) {
        let mut writer = Writer::new(sink, window, events_max);
        let tracks = Tracks::new(shape, &mut writer);
        let outcome = TimelineOutcome::default();
        let timeline = Timeline {
            writer,
            tracks,
            unfinished: PendingPaths::default(),
            requests: Requests::default(),
            pages: RegisterContents::default(),
            outcome: outcome.clone(),
        };
        (timeline, outcome)
    }

    fn completed(&mut self, id: RequestId, now: Time) {
        let Some(request) = self.requests.completed(id) else { return };
        let (counter, outstanding, slot) = self.tracks.completed(request.stream, request.number);
        self.writer.value(counter, now, outstanding);
        let (name, notes) = match request.io {
            Some(io) => (
                format!("{} {}", io.kind.name(), io.size),
                vec![("request", request.number), ("offset", io.offset.as_u64()), ("size", io.size.as_u64())],
            ),
            None => ("refused".to_owned(), vec![("request", request.number)]),
        };
        let requests = [request.number];
        let (from, until) = (request.issued, now);
        self.writer.slice(Slice {
            track: slot,
            from,
            until,
            name,
            category: "request",
            requests: &requests,
            notes: &notes,
        });
        self.writer.end_flow(slot, now, request.number);
    }

    fn end(&mut self, die: DieId, which: fn(&mut DieTracks) -> &mut SliceTrack, now: Time) {
        let ended = which(self.tracks.die(die)).end();
        self.write_ended(ended, now);
    }

    fn end_array(&mut self, die: DieId, extent: Extent, now: Time) {
        let ended = self.tracks.die(die).array_of(extent).and_then(SliceTrack::end);
        self.write_ended(ended, now);
    }

    fn write_ended(&mut self, ended: Option<(Track, OpenSlice)>, now: Time) {
        if let Some((track, begun)) = ended {
            let (from, requests, name) = (begun.at, begun.requests, begun.name);
            self.writer.slice(Slice {
                track,
                from,
                until: now,
                name,
                category: begun.category,
                requests: &requests,
                notes: &[],
            });
        }
    }

    fn queued(&mut self, die: DieId, change: i64, now: Time) {
        let (track, waiting) = self.tracks.die(die).queued(change);
        self.writer.value(track, now, waiting);
    }

    fn asked(&mut self, die: DieId, phase: TransferPhase, now: Time) {
        let tracks = self.tracks.die(die);
        match phase {
            TransferPhase::Command => tracks.commands.begin(now, "path set-up", "path", Vec::new()),
            TransferPhase::DataOut | TransferPhase::Copy => {
                let requests = self.pages.front_page(die).into_iter().collect();
                tracks.data.begin(now, "path set-up", "path", requests);
            }
        }
    }

    fn granted(&mut self, grant: Grant, now: Time) {
        let tracks = self.tracks.die(grant.die);
        let is_command = grant.phase == TransferPhase::Command;
        // A path granted at once has no set-up time, so drop its "path set-up" slice.
        let busy = if is_command { &mut tracks.commands } else { &mut tracks.data };
        busy.forget_if_begun(now);
        self.end(grant.die, if is_command { |die| &mut die.commands } else { |die| &mut die.data }, now);
    }

    fn blocked(&mut self, grant: Grant, causes: Causes) {
        let name = match Cause::ALL.map(|cause| causes.contains(cause)) {
            [true, ..] => "wait for the channel",
            [_, true, true] => "wait for a controller, then for a link",
            [_, true, false] => "wait for a controller",
            [_, false, _] => "wait for a link",
        };
        let tracks = self.tracks.die(grant.die);
        let busy = if grant.phase == TransferPhase::Command { &mut tracks.commands } else { &mut tracks.data };
        busy.rename(name);
    }

    fn operation_began(&mut self, die: DieId, kind: OperationKind, planes: usize) {
        let tracks = self.tracks.die(die);
        let internal = if tracks.is_internal { " (collection)" } else { "" };
        let name = if planes > 1 {
            format!("{}{internal}, {planes} planes", name_of(kind))
        } else {
            format!("{}{internal}", name_of(kind))
        };
        tracks.operation = name;
    }

    fn link_used(&mut self, link_use: LinkUse) {
        let LinkUse { link, die, from, until } = link_use;
        let track = self.tracks.link(link);
        let notes = [("die", u64::from(die.0))];
        let name = format!("die {}", die.0);
        self.writer.slice(Slice { track, from, until, name, category: "link", requests: &[], notes: &notes });
    }

    fn ended(&mut self, now: Time) {
        for die in 0..self.tracks.dies() {
            self.end(DieId(die), |die| &mut die.commands, now);
            self.end(DieId(die), |die| &mut die.array, now);
            for plane in self.tracks.die(DieId(die)).planes() {
                self.end_array(DieId(die), Extent::Plane(plane), now);
            }
            self.end(DieId(die), |die| &mut die.data, now);
        }
        self.writer.finish();
        let failed = self.writer.failed().map(system_message);
        *self.outcome.0.lock().unwrap_or_else(PoisonError::into_inner) =
            Ended { full_at: self.writer.full_at(), failed };
    }
}

impl Probe for Timeline {
    /// Returns whether the timeline can be detached: writing has stopped, or the window and all activity that began in it have ended.
    fn is_done(&mut self, now: Time) -> bool {
        let end = self.writer.window().end;
        self.writer.is_stopped()
            || (now >= end
                && self.unfinished.is_empty()
                && !self.requests.has_older(end)
                && !self.tracks.has_older(end))
    }

    fn conclude(&mut self, now: Time, report: &mut Report) {
        let RecordingWindow { start, end } = self.writer.window();
        let end = self.writer.full_at().unwrap_or(end.min(now));
        let is_cut = self.writer.full_at().is_some();
        report.timeline = Some(TimelineReport { start_ps: start.min(end).as_ps(), end_ps: end.as_ps(), is_cut });
    }

    fn notify(&mut self, now: Time, notice: &Notice<'_>) {
        self.unfinished.record(now, self.writer.window().end, notice);
        match *notice {
            Notice::RequestIssued(id, stream) => {
                let number = self.requests.issued(id, stream, now);
                let (counter, outstanding) = self.tracks.issued(stream, number, &mut self.writer);
                self.writer.value(counter, now, outstanding);
            }
            Notice::RequestSubmitted(id, io) => self.requests.submitted(id, io),
            Notice::RequestCompleted(id) => self.completed(id, now),
            Notice::Enqueued(die, ..) => self.queued(die, 1, now),
            Notice::Rerouted(die, ..) => self.queued(die, -1, now),
            Notice::Taken(die, class, request) => {
                self.queued(die, -1, now);
                let number = self.requests.number(request);
                self.tracks.die(die).add_dequeued(number, class.is_internal());
            }
            Notice::PathAsked(die, phase) => self.asked(die, phase, now),
            Notice::PathBlocked(grant, causes, _) => self.blocked(grant, causes),
            Notice::PathGranted(grant) => self.granted(grant, now),
            Notice::OperationBegan(die, _, kind, planes) => self.operation_began(die, kind, planes),
            Notice::Sent(grant, die, ..) if grant.phase == TransferPhase::Command => {
                let tracks = self.tracks.die(die);
                let (name, requests) = tracks.begin_command();
                tracks.commands.begin(now, &name, "command", requests);
            }
            Notice::Sent(grant, die, ..) => {
                let requests: Vec<u64> = self.pages.front_page(die).into_iter().collect();
                let name = if grant.phase == TransferPhase::Copy { "data to a chip" } else { "data out" };
                self.tracks.die(grant.die).data.begin(now, name, "data", requests);
            }
            Notice::Delivered(grant) if grant.phase != TransferPhase::Command => {
                self.end(grant.die, |die| &mut die.data, now);
            }
            Notice::ArrayBegan(die, extent, ..) => {
                self.end(die, |die| &mut die.commands, now);
                self.tracks.die(die).begin_array(extent, now, &mut self.writer);
            }
            Notice::ArrayEnded(die, extent) => {
                self.end_array(die, extent, now);
                self.pages.set_current_die(die);
            }
            Notice::PageRead(_, _, request) => self.pages.push_page(self.requests.number(request)),
            Notice::DataLeft(die, _) => self.pages.pop_page(die),
            Notice::Suspended(die) => {
                self.end(die, |die| &mut die.array, now);
                self.tracks.die(die).suspend();
            }
            Notice::Resumed(die, _) => self.tracks.die(die).resume(now),
            Notice::LinkUsed(link_use) => self.link_used(link_use),
            Notice::Ended(_) => self.ended(now),
            _ => {}
        }
    }
}

fn name_of(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Read => "read",
        OperationKind::Program => "program",
        OperationKind::Erase => "erase",
        OperationKind::Copyback => "copyback",
    }
}
