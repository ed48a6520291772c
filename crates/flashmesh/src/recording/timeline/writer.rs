//! Encoding of slices and counters as Perfetto packets.

use std::io::{self, Write};

use prost::Message;

use crate::recording::RecordingWindow;
use crate::units::Time;

use super::proto::{CounterDescriptor, DebugAnnotation, Kind, Trace, TracePacket, TrackDescriptor, TrackEvent};

const CHUNK: usize = 64 * 1024;
/// Value of `child_ordering` by which the viewer sorts sibling tracks by rank.
const EXPLICIT_ORDER: i32 = 3;
const COUNT: i32 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Track(u64);

#[derive(Debug)]
pub struct Slice<'a> {
    pub track: Track,
    pub from: Time,
    pub until: Time,
    pub name: String,
    pub category: &'static str,
    /// Sequence numbers of the requests whose arrows pass through the slice.
    pub requests: &'a [u64],
    /// Named numbers that the viewer shows with the slice.
    pub notes: &'a [(&'static str, u64)],
}

pub struct Writer {
    sink: Box<dyn Write + Send>,
    bytes: Vec<u8>,
    tracks: u64,
    window: RecordingWindow,
    events: u64,
    events_max: u64,
    failed: Option<io::Error>,
    full_at: Option<Time>,
}

impl Writer {
    pub fn new(sink: Box<dyn Write + Send>, window: RecordingWindow, events_max: u64) -> Writer {
        Writer { sink, bytes: Vec::new(), tracks: 0, window, events: 0, events_max, failed: None, full_at: None }
    }

    pub fn window(&self) -> RecordingWindow {
        self.window
    }

    /// Returns whether all later events are dropped, because the timeline is full or writing has failed.
    pub fn is_stopped(&self) -> bool {
        self.full_at.is_some() || self.failed.is_some()
    }

    /// Returns the simulated time of the first event that was dropped because the timeline was full; `None` if none was dropped.
    pub fn full_at(&self) -> Option<Time> {
        self.full_at
    }

    pub fn failed(&self) -> Option<&io::Error> {
        self.failed.as_ref()
    }

    pub fn track(&mut self, name: impl Into<String>, below: Option<Track>) -> Track {
        self.describe(name.into(), below, None)
    }

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

    pub fn end_flow(&mut self, track: Track, at: Time, request: u64) {
        if self.window.overlaps(at, at) && self.count(at) {
            let name = Some("completed".to_owned());
            let event = TrackEvent { name, terminating_flow_ids: vec![request], ..event(track, Kind::Instant) };
            self.packet(Some(at), Some(event), None);
        }
    }

    pub fn value(&mut self, track: Track, at: Time, value: i64) {
        if self.window.overlaps(at, at) && self.count(at) {
            self.packet(Some(at), Some(TrackEvent { counter_value: Some(value), ..event(track, Kind::Counter) }), None);
        }
    }

    pub fn finish(&mut self) {
        self.write();
        if self.failed.is_none()
            && let Err(error) = self.sink.flush()
        {
            self.failed = Some(error);
        }
    }

    /// Counts an event at `at` before it is written. Returns `false` if the timeline is full; the event must then be dropped.
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
            // Perfetto expects nanoseconds. Rounding all times down keeps their order.
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
