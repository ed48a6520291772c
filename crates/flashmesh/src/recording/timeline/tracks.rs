//! The tracks of a timeline, and what is going on on each of them.

use rustc_hash::FxHashMap;

use crate::fabric::Layout;
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, LinkId, StreamId};
use crate::units::Time;

use super::writer::{Track, Writer};

/// What there are tracks for.
#[derive(Debug)]
pub struct Shape<'a> {
    /// The dies.
    pub geometry: &'a Geometry,
    /// The links.
    pub layout: &'a Layout,
    /// The streams of requests, by their names.
    pub streams: Vec<&'a str>,
}

/// What is going on on a track.
#[derive(Debug)]
pub struct Begun {
    pub at: Time,
    pub name: String,
    pub category: &'static str,
    pub requests: Vec<u64>,
}

/// A track on which one thing goes on at a time.
#[derive(Debug)]
pub struct Busy {
    track: Track,
    begun: Option<Begun>,
}

impl Busy {
    fn new(track: Track) -> Busy {
        Busy { track, begun: None }
    }

    /// Something begins.
    pub fn begin(&mut self, at: Time, name: &str, category: &'static str, requests: Vec<u64>) {
        self.begun = Some(Begun { at, name: name.to_owned(), category, requests });
    }

    /// What goes on is called otherwise.
    pub fn rename(&mut self, name: &str) {
        if let Some(begun) = &mut self.begun {
            name.clone_into(&mut begun.name);
        }
    }

    /// What began only at this moment has not been there.
    pub fn forget_if_begun(&mut self, at: Time) {
        self.begun.take_if(|begun| begun.at == at);
    }

    /// What went on is over; nothing when nothing did.
    pub fn end(&mut self) -> Option<(Track, Begun)> {
        self.begun.take().map(|begun| (self.track, begun))
    }
}

/// The tracks of a die.
#[derive(Debug)]
pub struct DieTracks {
    queue: Track,
    waiting: i64,
    /// Commands, with the data of programs.
    pub commands: Busy,
    /// The array at work.
    pub array: Busy,
    /// Data that leaves the register.
    pub data: Busy,
    /// The requests of the transactions that make up the operation that begins.
    taken: Vec<u64>,
    /// Whether they are work of collection.
    pub taken_internal: bool,
    /// What the operation that is under way is called, and whom it is for.
    pub operation: String,
    requests: Vec<u64>,
    /// The same of an operation that was suspended.
    suspended: Option<(String, Vec<u64>)>,
}

impl DieTracks {
    /// A transaction joins or leaves the queue: the counter of it with its value.
    pub fn queued(&mut self, change: i64) -> (Track, i64) {
        self.waiting += change;
        (self.queue, self.waiting)
    }

    /// A transaction becomes part of the operation that begins next.
    pub fn take(&mut self, request: Option<u64>, is_internal: bool) {
        self.taken.extend(request);
        self.taken.dedup();
        self.taken_internal = is_internal;
    }

    /// The command of the operation is sent: its name, and whom it is for.
    pub fn begin_command(&mut self) -> (String, Vec<u64>) {
        self.requests = std::mem::take(&mut self.taken);
        (self.operation.clone(), self.requests.clone())
    }

    /// The array begins to work.
    pub fn begin_array(&mut self, at: Time) {
        self.array.begin(at, &self.operation, "array", self.requests.clone());
    }

    /// What the array does is set aside.
    pub fn suspend(&mut self) {
        self.suspended = Some((self.operation.clone(), self.requests.clone()));
    }

    /// It goes on.
    pub fn resume(&mut self, at: Time) {
        if let Some((operation, requests)) = self.suspended.take() {
            self.array.begin(at, &format!("{operation}, resumed"), "array", requests.clone());
            (self.operation, self.requests) = (operation, requests);
        }
    }
}

/// The tracks of a stream.
#[derive(Debug)]
struct StreamTracks {
    all: Track,
    counter: Track,
    outstanding: i64,
    /// Tracks of one request at a time, and those of them that are free, the last one first.
    slots: Vec<Track>,
    free: Vec<usize>,
    of_request: FxHashMap<u64, usize>,
}

/// All tracks.
#[derive(Debug)]
pub struct Tracks {
    streams: Vec<StreamTracks>,
    dies: Vec<DieTracks>,
    links: Vec<Track>,
}

impl Tracks {
    /// Describes the tracks of a drive.
    pub fn new(shape: &Shape<'_>, writer: &mut Writer) -> Tracks {
        let host = writer.track("host", None);
        let stream = |(writer, name): (&mut Writer, &str)| {
            let all = writer.track(format!("queue {name}"), Some(host));
            let counter = writer.counter("outstanding requests", Some(all));
            let (slots, free, of_request) = (Vec::new(), Vec::new(), FxHashMap::default());
            StreamTracks { all, counter, outstanding: 0, slots, free, of_request }
        };
        let streams = shape.streams.iter().map(|name| stream((writer, name))).collect();
        let fabric = writer.track("interconnect", None);
        let links = shape.layout.links.iter().map(|link| writer.track(link.name.clone(), Some(fabric))).collect();
        let chips = writer.track("dies", None);
        let geometry = shape.geometry;
        let dies = (0..geometry.dies())
            .map(|die| {
                let chip = die / geometry.dies_per_chip;
                let (channel, way) = (chip / geometry.chips_per_channel, chip % geometry.chips_per_channel);
                let all = writer.track(format!("die {die} (channel {channel}, way {way})"), Some(chips));
                DieTracks {
                    queue: writer.counter("waiting transactions", Some(all)),
                    waiting: 0,
                    commands: Busy::new(writer.track("commands", Some(all))),
                    array: Busy::new(writer.track("array", Some(all))),
                    data: Busy::new(writer.track("data", Some(all))),
                    taken: Vec::new(),
                    taken_internal: false,
                    operation: String::new(),
                    requests: Vec::new(),
                    suspended: None,
                }
            })
            .collect();
        Tracks { streams, dies, links }
    }

    /// How many dies there are.
    pub fn dies(&self) -> u32 {
        self.dies.len() as u32
    }

    /// The tracks of a die.
    pub fn die(&mut self, die: DieId) -> &mut DieTracks {
        &mut self.dies[die.index()]
    }

    /// The track of a link.
    pub fn link(&self, link: LinkId) -> Track {
        self.links[link.index()]
    }

    /// A request of a stream is issued: the counter of the stream with its value.
    pub fn issued(&mut self, stream: StreamId, number: u64, writer: &mut Writer) -> (Track, i64) {
        let stream = &mut self.streams[stream.index()];
        let slot = stream.free.pop().unwrap_or_else(|| {
            stream.slots.push(writer.track(format!("request slot {}", stream.slots.len()), Some(stream.all)));
            stream.slots.len() - 1
        });
        stream.of_request.insert(number, slot);
        stream.outstanding += 1;
        (stream.counter, stream.outstanding)
    }

    /// A request is complete: the counter of its stream with its value, and the track of the request.
    pub fn completed(&mut self, stream: StreamId, number: u64) -> (Track, i64, Track) {
        let stream = &mut self.streams[stream.index()];
        let slot = stream.of_request.remove(&number).expect("a request that completes was issued");
        stream.free.push(slot);
        stream.outstanding -= 1;
        (stream.counter, stream.outstanding, stream.slots[slot])
    }
}
