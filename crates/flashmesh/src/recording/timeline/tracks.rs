//! Tracks of a timeline (rows in the viewer), and the slice in progress on each track.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::fabric::Layout;
use crate::flash::die::Extent;
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, LinkId, StreamId};
use crate::units::Time;

use super::writer::{Track, Writer};

#[derive(Debug)]
pub struct DriveLayout<'a> {
    pub geometry: &'a Geometry,
    pub layout: &'a Layout,
    pub streams: Vec<&'a str>,
}

#[derive(Debug)]
pub struct OpenSlice {
    pub at: Time,
    pub name: String,
    pub category: &'static str,
    pub requests: Vec<u64>,
}

/// A track (row in the viewer) that shows one slice (activity with a start and an end) at a time.
#[derive(Debug)]
pub struct SliceTrack {
    track: Track,
    begun: Option<OpenSlice>,
}

impl SliceTrack {
    fn new(track: Track) -> SliceTrack {
        SliceTrack { track, begun: None }
    }

    pub fn begin(&mut self, at: Time, name: &str, category: &'static str, requests: Vec<u64>) {
        self.begun = Some(OpenSlice { at, name: name.to_owned(), category, requests });
    }

    pub fn rename(&mut self, name: &str) {
        if let Some(begun) = &mut self.begun {
            name.clone_into(&mut begun.name);
        }
    }

    /// Drops the slice in progress if it began at `at`, the current time: it would have no duration.
    pub fn forget_if_begun(&mut self, at: Time) {
        self.begun.take_if(|begun| begun.at == at);
    }

    /// Returns whether a slice is in progress that began before the time `than`.
    fn is_older(&self, than: Time) -> bool {
        self.begun.as_ref().is_some_and(|begun| begun.at < than)
    }

    /// Ends the slice in progress. Returns its track and content, which the caller must write; `None` if no slice is in progress.
    pub fn end(&mut self) -> Option<(Track, OpenSlice)> {
        self.begun.take().map(|begun| (self.track, begun))
    }
}

#[derive(Debug)]
pub struct DieTracks {
    all: Track,
    queue: Track,
    waiting: i64,
    pub commands: SliceTrack,
    pub array: SliceTrack,
    /// Array tracks of the planes that read independently, by index in the die. A track is created at the first read of its plane.
    planes: BTreeMap<u8, SliceTrack>,
    pub data: SliceTrack,
    /// Sequence numbers of the requests whose transactions were dequeued for the next operation of the die.
    taken: Vec<u64>,
    /// Whether the last dequeued transaction is firmware work, such as GC.
    pub is_internal: bool,
    /// Name of the operation that began or resumed last on the die.
    pub operation: String,
    requests: Vec<u64>,
    suspended: Option<(String, Vec<u64>)>,
}

impl DieTracks {
    /// Adds `change` to the number of waiting transactions of the die. Returns the counter track of the die, and the new number.
    pub fn queued(&mut self, change: i64) -> (Track, i64) {
        self.waiting += change;
        (self.queue, self.waiting)
    }

    /// Adds a dequeued transaction to the next operation of the die. `request` is the sequence number of its request; `None` for firmware work, or if
    /// unknown.
    pub fn add_dequeued(&mut self, request: Option<u64>, is_internal: bool) {
        self.taken.extend(request);
        self.taken.dedup();
        self.is_internal = is_internal;
    }

    /// Starts the command of the next operation. Returns the name of the operation and the sequence numbers of its requests.
    pub fn begin_command(&mut self) -> (String, Vec<u64>) {
        self.requests = std::mem::take(&mut self.taken);
        (self.operation.clone(), self.requests.clone())
    }

    pub fn begin_array(&mut self, extent: Extent, at: Time, writer: &mut Writer) {
        let track = match extent {
            Extent::Die => &mut self.array,
            Extent::Plane(plane) => self
                .planes
                .entry(plane)
                .or_insert_with(|| SliceTrack::new(writer.track(format!("array of plane {plane}"), Some(self.all)))),
        };
        track.begin(at, &self.operation, "array", self.requests.clone());
    }

    /// Returns the track for array work of `extent`; `None` for a plane that has not begun an independent read.
    pub fn array_of(&mut self, extent: Extent) -> Option<&mut SliceTrack> {
        match extent {
            Extent::Die => Some(&mut self.array),
            Extent::Plane(plane) => self.planes.get_mut(&plane),
        }
    }

    /// Returns the indices in the die of the planes that have begun an independent read.
    pub fn planes(&self) -> Vec<u8> {
        self.planes.keys().copied().collect()
    }

    pub fn suspend(&mut self) {
        self.suspended = Some((self.operation.clone(), self.requests.clone()));
    }

    pub fn resume(&mut self, at: Time) {
        if let Some((operation, requests)) = self.suspended.take() {
            self.array.begin(at, &format!("{operation}, resumed"), "array", requests.clone());
            (self.operation, self.requests) = (operation, requests);
        }
    }
}

#[derive(Debug)]
struct StreamTracks {
    all: Track,
    counter: Track,
    outstanding: i64,
    /// Request slots: tracks that show one request at a time. `free` is a stack of the indices of slots without a request.
    slots: Vec<Track>,
    free: Vec<usize>,
    of_request: FxHashMap<u64, usize>,
}

/// Returns `names` with zero-padded numbers, because Perfetto sorts groups and search results by name. The numbers at one position of otherwise equal
/// names get the same width.
fn sortable(names: Vec<String>) -> Vec<String> {
    let mut digits_max: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for name in &names {
        let places = digits_max.entry(without_digits(name)).or_default();
        places.resize(numbers(name).count(), 0);
        for (digits, (number, _)) in places.iter_mut().zip(numbers(name)) {
            *digits = number.len().max(*digits);
        }
    }
    let padded = |name: &String| {
        let begin = name.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default().to_owned();
        numbers(name)
            .zip(&digits_max[&without_digits(name)])
            .fold(begin, |begun, ((number, behind), &digits)| format!("{begun}{number:0>digits$}{behind}"))
    };
    names.iter().map(padded).collect()
}

/// Returns `name` with each number replaced by a space, for comparison of names apart from their numbers.
fn without_digits(name: &str) -> String {
    let begin = name.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
    numbers(name).fold(begin.to_owned(), |begun, (_, behind)| format!("{begun} {behind}"))
}

/// Returns for each number in a name its digits, and the text up to the next number.
fn numbers(name: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    std::iter::from_fn(move || {
        let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let after = behind.trim_start_matches(|c: char| !c.is_ascii_digit());
        let found = (&rest[..rest.len() - behind.len()], &behind[..behind.len() - after.len()]);
        rest = after;
        (!found.0.is_empty()).then_some(found)
    })
}

#[derive(Debug)]
pub struct Tracks {
    streams: Vec<StreamTracks>,
    dies: Vec<DieTracks>,
    links: Vec<Track>,
}

impl Tracks {
    pub fn new(shape: &DriveLayout<'_>, writer: &mut Writer) -> Tracks {
        let host = writer.track("host", None);
        let stream = |(writer, name): (&mut Writer, &str)| {
            let all = writer.track(format!("queue {name}"), Some(host));
            let counter = writer.counter("outstanding requests", Some(all));
            let (slots, free, of_request) = (Vec::new(), Vec::new(), FxHashMap::default());
            StreamTracks { all, counter, outstanding: 0, slots, free, of_request }
        };
        let streams = shape.streams.iter().map(|name| stream((writer, name))).collect();
        let fabric = writer.track("interconnect", None);
        let links = sortable(shape.layout.links.iter().map(|link| link.name.clone()).collect());
        let links = links.into_iter().map(|name| writer.track(name, Some(fabric))).collect();
        let chips = writer.track("dies", None);
        let geometry = shape.geometry;
        let names = (0..geometry.dies()).map(|die| {
            let chip = die / geometry.dies_per_chip;
            let (channel, way) = (chip / geometry.chips_per_channel, chip % geometry.chips_per_channel);
            format!("die {die} (channel {channel}, way {way})")
        });
        let dies = sortable(names.collect())
            .into_iter()
            .map(|name| {
                let all = writer.track(name, Some(chips));
                DieTracks {
                    all,
                    queue: writer.counter("waiting transactions", Some(all)),
                    waiting: 0,
                    commands: SliceTrack::new(writer.track("commands", Some(all))),
                    array: SliceTrack::new(writer.track("array", Some(all))),
                    planes: BTreeMap::new(),
                    data: SliceTrack::new(writer.track("data", Some(all))),
                    taken: Vec::new(),
                    is_internal: false,
                    operation: String::new(),
                    requests: Vec::new(),
                    suspended: None,
                }
            })
            .collect();
        Tracks { streams, dies, links }
    }

    pub fn dies(&self) -> u32 {
        self.dies.len() as u32
    }

    pub fn die(&mut self, die: DieId) -> &mut DieTracks {
        &mut self.dies[die.index()]
    }

    /// Returns whether any die has a slice in progress that began before `than`, and is still to be written.
    pub fn has_older(&self, than: Time) -> bool {
        let has_older = |die: &DieTracks| {
            let mut tracks = [&die.commands, &die.array, &die.data].into_iter().chain(die.planes.values());
            tracks.any(|busy| busy.is_older(than))
        };
        self.dies.iter().any(has_older)
    }

    pub fn link(&self, link: LinkId) -> Track {
        self.links[link.index()]
    }

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

    pub fn completed(&mut self, stream: StreamId, number: u64) -> (Track, i64, Track) {
        let stream = &mut self.streams[stream.index()];
        let slot = stream.of_request.remove(&number).expect("a request that completes was issued");
        stream.free.push(slot);
        stream.outstanding -= 1;
        (stream.counter, stream.outstanding, stream.slots[slot])
    }
}

#[cfg(test)]
mod tests {
    use super::sortable;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn names_sort_as_their_numbers_do() {
        let dies: Vec<String> =
            (0..130).map(|die| format!("die {die} (channel {}, way {})", die / 8, die % 8)).collect();
        let named = sortable(dies);
        assert!(named.is_sorted());
        assert_eq!(named[9], "die 009 (channel 01, way 1)");
    }

    #[test]
    fn names_without_numbers_or_with_few_stay() {
        assert_eq!(sortable(owned(&["link", "a 3"])), ["link", "a 3"]);
        assert_eq!(
            sortable(owned(&["router (0, 9) to (1, 9)", "router (0, 10) to (1, 10)"])),
            ["router (0, 09) to (1, 09)", "router (0, 10) to (1, 10)"]
        );
        assert_eq!(sortable(owned(&["chip 10", "router (1, 2)"])), ["chip 10", "router (1, 2)"]);
        assert!(sortable(Vec::new()).is_empty());
    }
}
