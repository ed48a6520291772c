//! The request streams of synthetic workloads and profiles, which combine kinds, sizes, addresses and arrivals.

use super::arrivals::Arrivals;
use super::bursts::{Bursts, StreamBursts};
use super::kinds::KindMix;
use super::layout::FootprintLayout;
use super::pattern::{AddressPattern, AnyPattern, Cursor};
use super::random::{self, Generator, Seed};
use super::sizes::SizesByKind;
use super::unaligned::Unaligned;
use super::unusable;
use crate::config::{Replay, ReplayMode};
use crate::error::WorkloadError;
use crate::request::{IoRequest, RequestKind};
use crate::units::{Bytes, Time};

/// The properties of the requests of a workload, which all its streams share.
#[derive(Clone, Debug)]
pub(crate) struct RequestSpec {
    pub(crate) layout: FootprintLayout,
    pub(crate) kinds: KindMix,
    pub(crate) sizes: SizesByKind,
    pub(crate) addresses: AnyPattern,
    /// The properties of bursts; `None` if the requests of a burst share neither kind nor addresses.
    pub(crate) bursts: Option<Bursts>,
    /// The share of requests that begin within a block; `None` if all requests begin at the start of a block.
    pub(crate) unaligned: Option<Unaligned>,
}

/// The streams of a workload: one per thread in closed replay, a single one otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    recipe: RequestSpec,
    streams: Vec<Stream>,
    threaded: bool,
    /// The arrival times; `None` except in open replay.
    arrivals: Option<Arrivals>,
    requests: u64,
}

#[derive(Clone, Debug)]
struct Stream {
    generator: Generator,
    cursor: Cursor,
    bursts: Option<StreamBursts>,
    left: u64,
}

/// Returns the number of streams for `replay`: one per thread in closed replay, otherwise 1.
///
/// # Errors
/// If closed replay has no threads.
pub(crate) fn streams_of(replay: &Replay) -> Result<u32, WorkloadError> {
    match replay.mode {
        ReplayMode::Open | ReplayMode::Stress => Ok(1),
        ReplayMode::Closed if replay.threads == 0 => {
            Err(unusable("replay.threads", "closed replay needs one at least"))
        }
        ReplayMode::Closed => Ok(replay.threads),
    }
}

impl Streams {
    /// Creates streams with `requests` requests of `recipe`, divided evenly. `arrivals` is only used in open replay. An error if closed replay has no
    /// threads.
    pub(crate) fn new(
        recipe: RequestSpec,
        arrivals: Arrivals,
        requests: u64,
        replay: &Replay,
        seed: impl Into<Seed>,
    ) -> Result<Streams, WorkloadError> {
        let count = streams_of(replay)?;
        let mut generator = random::stream_of(seed);
        let streams = (0..count)
            .map(|index| {
                let mut own = generator.clone();
                generator.jump();
                let (share, rest) = (requests / u64::from(count), requests % u64::from(count));
                let bursts = recipe.bursts.map(|bursts| bursts.of_stream(&mut own));
                Stream {
                    generator: own,
                    bursts,
                    cursor: Cursor::of_part(index, count, recipe.layout.blocks()),
                    left: share + u64::from(u64::from(index) < rest),
                }
            })
            .collect();
        Ok(Streams {
            recipe,
            streams,
            threaded: replay.mode == ReplayMode::Closed,
            arrivals: (replay.mode == ReplayMode::Open).then_some(arrivals),
            requests,
        })
    }

    /// Returns the next request of `thread` in closed replay, of the single stream otherwise; `None` if that stream has ended. An error if the
    /// request arrives after the longest time that can be simulated.
    pub(crate) fn next_request(&mut self, thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        let index = if self.threaded { thread } else { 0 };
        match self.streams.get_mut(index as usize) {
            Some(stream) if stream.left > 0 => stream.draw(index, &self.recipe, &mut self.arrivals).map(Some),
            _ => Ok(None),
        }
    }

    /// Appends the next requests of the single stream to `batch`, until `batch` holds `count` requests or the stream ends. An error if a request
    /// arrives after the longest time that can be simulated.
    pub(crate) fn fill(&mut self, batch: &mut Vec<IoRequest>, count: usize) -> Result<(), WorkloadError> {
        let Some(stream) = self.streams.first_mut() else { return Ok(()) };
        while batch.len() < count && stream.left > 0 {
            batch.push(stream.draw(0, &self.recipe, &mut self.arrivals)?);
        }
        Ok(())
    }

    pub(crate) fn request_count(&self) -> u64 {
        self.requests
    }
}

impl Stream {
    /// Draws the next request. At least one request must be left. `index` is the number of the stream.
    ///
    /// Always inlined: a returned request would be stored in pieces and loaded as a whole, which stalls the processor (failed
    /// store-to-load forwarding).
    #[inline(always)]
    fn draw(
        &mut self,
        index: u32,
        recipe: &RequestSpec,
        arrivals: &mut Option<Arrivals>,
    ) -> Result<IoRequest, WorkloadError> {
        self.left -= 1;
        let kind = match &mut self.bursts {
            Some(bursts) => bursts.next(&recipe.kinds, &mut self.generator, &mut self.cursor),
            None => recipe.kinds.choose(&mut self.generator),
        };
        let arrival = match arrivals {
            Some(arrivals) => arrivals.next()?,
            None => Time::ZERO,
        };
        if kind == RequestKind::Flush {
            return Ok(IoRequest { arrival, kind, offset: Bytes::ZERO, size: Bytes::ZERO, stream: index });
        }
        let size = recipe.sizes.choose(kind, &mut self.generator);
        // Only addresses recur, not sizes: otherwise the sizes of the most frequent bursts would dominate the workload.
        let generator = self.bursts.as_mut().and_then(StreamBursts::draws).unwrap_or(&mut self.generator);
        let block = recipe.addresses.choose(generator, &mut self.cursor, size);
        let mut offset = recipe.layout.offset_of(block);
        if let Some(unaligned) = &recipe.unaligned {
            offset = unaligned.misalign(offset, size.bytes, &recipe.layout, generator);
        }
        Ok(IoRequest { arrival, kind, offset, size: size.bytes, stream: index })
    }
}
