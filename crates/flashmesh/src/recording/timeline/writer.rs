//! Slices and counters, written as packets of a trace.

use std::io::{self, Write};

use prost::Message;

use crate::recording::Window;
use crate::units::Time;

use super::proto::{CounterDescriptor, DebugAnnotation, Kind, Trace, TracePacket, TrackDescriptor, TrackEvent};

/// The bytes that are written at once.
const CHUNK: usize = 64 * 1024;
/// Tracks below another stand in the order of their rank.
const EXPLICIT_ORDER: i32 = 3;
const COUNT: i32 = 2;

/// A track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Track(u64);

/// What a slice is.
#[derive(Debug)]
pub struct Slice<'a> {
    /// Where it stands.
    pub track: Track,
    /// From when.
    pub from: Time,
    /// Until when.
    pub until: Time,
    /// What it is called.
    pub name: String,
    /// What it is, to be filtered by.
    pub category: &'static str,
    /// The requests it is for, whose arrows lead through it.
    pub requests: &'a [u64],
    /// Numbers to be shown with it.
    pub notes: &'a [(&'static str, u64)],
}

/// Writes a trace.
pub struct Writer {
    sink: Box<dyn Write + Send>,
    bytes: Vec<u8>,
    tracks: u64,
    window: Window,
    events: u64,
    events_max: u64,
    failed: Option<io::Error>,
    /// When it became full.
    full_at: Option<Time>,
}

impl Writer {
    /// A trace of at most so many events in `window`, into `sink`.
    pub fn new(sink: Box<dyn Write + Send>, window: Window, events_max: u64) -> Writer {
        Writer { sink, bytes: Vec::new(), tracks: 0, window, events: 0, events_max, failed: None, full_at: None }
    }

    /// When it became full.
    pub fn full_at(&self) -> Option<Time> {
        self.full_at
    }

    /// Why writing failed.
    pub fn failed(&self) -> Option<&io::Error> {
        self.failed.as_ref()
    }

    /// A track that slices stand on, or other tracks below.
    pub fn track(&mut self, name: impl Into<String>, below: Option<Track>) -> Track {
        self.describe(name.into(), below, None)
    }

    /// The track of a counter.
    pub fn counter(&mut self, name: impl Into<String>, below: Option<Track>) -> Track {
        self.describe(name.into(), below, Some(CounterDescriptor { unit: Some(COUNT) }))
    }

    fn describe(&mut self, name: String, below: Option<Track>, counter: Option<CounterDescriptor>) -> Track {
        self.tracks += 1;
        let descriptor = TrackDescriptor {
            uuid: Some(self.tracks),
            name: Some(name),
            parent_uuid: below.map(|track| track.0),
            counter,
            child_ordering: Some(EXPLICIT_ORDER),
            sibling_order_rank: i32::try_from(self.tracks).ok(),
        };
        self.packet(None, None, Some(descriptor));
        Track(self.tracks)
    }

    /// Something was going on, and is over.
    pub fn slice(&mut self, slice: Slice<'_>) {
        if !self.window.overlaps(slice.from, slice.until) || !self.count(slice.until) {
            return;
        }
        let Slice { track, from, until, name, category, requests, notes } = slice;
        let debug_annotations = notes
            .iter()
            .map(|&(name, value)| DebugAnnotation { uint_value: Some(value), name: Some(name.to_owned()) })
            .collect();
        let begin = TrackEvent {
            name: Some(name),
            categories: vec![category.to_owned()],
            flow_ids: requests.to_vec(),
            debug_annotations,
            ..event(track, Kind::SliceBegin)
        };
        self.packet(Some(from), Some(begin), None);
        self.packet(Some(until), Some(event(track, Kind::SliceEnd)), None);
    }

    /// The arrows of a request end on this track, where its slice ends.
    pub fn end_arrows(&mut self, track: Track, at: Time, request: u64) {
        if self.window.overlaps(at, at) && self.count(at) {
            let name = Some("completed".to_owned());
            let event = TrackEvent { name, terminating_flow_ids: vec![request], ..event(track, Kind::Instant) };
            self.packet(Some(at), Some(event), None);
        }
    }

    /// A counter has another value.
    pub fn value(&mut self, track: Track, at: Time, value: i64) {
        if self.window.overlaps(at, at) && self.count(at) {
            self.packet(Some(at), Some(TrackEvent { counter_value: Some(value), ..event(track, Kind::Counter) }), None);
        }
    }

    /// Writes what has not been written yet.
    pub fn finish(&mut self) {
        self.write();
        if self.failed.is_none()
            && let Err(error) = self.sink.flush()
        {
            self.failed = Some(error);
        }
    }

    /// Counts an event; `false` when there is no room for it.
    fn count(&mut self, at: Time) -> bool {
        if self.events == self.events_max {
            self.full_at.get_or_insert(at);
            return false;
        }
        self.events += 1;
        true
    }

    fn packet(&mut self, at: Option<Time>, track_event: Option<TrackEvent>, descriptor: Option<TrackDescriptor>) {
        let packet = TracePacket {
            // Perfetto counts nanoseconds; all times are rounded down alike, so that their order stays.
            timestamp: Some(at.map_or(0, |at| at.as_ps() / 1000)),
            trusted_packet_sequence_id: Some(1),
            track_event,
            track_descriptor: descriptor,
        };
        Trace { packet: vec![packet] }.encode(&mut self.bytes).expect("a vector has room");
        if self.bytes.len() >= CHUNK {
            self.write();
        }
    }

    fn write(&mut self) {
        if self.failed.is_none()
            && let Err(error) = self.sink.write_all(&self.bytes)
        {
            self.failed = Some(error);
        }
        self.bytes.clear();
    }
}

fn event(track: Track, kind: Kind) -> TrackEvent {
    TrackEvent { r#type: Some(kind.into()), track_uuid: Some(track.0), ..TrackEvent::default() }
}
