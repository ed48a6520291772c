//! The machine behind synthetic workloads and profiles: kinds, sizes, addresses and arrivals put together.

use super::arrivals::Arrivals;
use super::bursts::{Bursts, StreamBursts};
use super::kinds::KindMix;
use super::layout::Layout;
use super::pattern::{AddressPattern, Addresses, Cursor};
use super::random::{self, Generator, Seed};
use super::sizes::SizesByKind;
use super::unaligned::Unaligned;
use super::unusable;
use crate::config::{Replay, ReplayMode};
use crate::error::WorkloadError;
use crate::request::{IoRequest, RequestKind};
use crate::units::{Bytes, Time};

/// What the requests of a workload are like; shared by its streams.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub(crate) layout: Layout,
    pub(crate) kinds: KindMix,
    pub(crate) sizes: SizesByKind,
    pub(crate) addresses: Addresses,
    /// What requests that come together have in common, if anything.
    pub(crate) bursts: Option<Bursts>,
    /// Whether some requests begin within a block.
    pub(crate) unaligned: Option<Unaligned>,
}

/// The streams of a workload: one for each thread of closed replay, a single one otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    recipe: Recipe,
    streams: Vec<Stream>,
    threaded: bool,
    /// Only open replay asks for arrival times.
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

/// How many streams `replay` asks for.
///
/// # Errors
/// When closed replay has no threads.
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
    /// `requests` of `recipe`, dealt out evenly to the streams that `replay` asks for; `arrivals` count in open replay.
    pub(crate) fn new(
        recipe: Recipe,
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

    /// The next request of `thread`, or of the one common stream.
    #[inline]
    pub(crate) fn next_request(&mut self, thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        let index = if self.threaded { thread } else { 0 };
        match self.streams.get_mut(index as usize) {
            Some(stream) if stream.left > 0 => stream.draw(index, &self.recipe, &mut self.arrivals).map(Some),
            _ => Ok(None),
        }
    }

    /// Adds the next requests of the common stream to `batch`, until it holds `count` or there are no more.
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
    /// Its next request, of which there is at least one; `index` says which stream it is.
    ///
    /// Always inlined: a request that is passed on is written in pieces and read again whole, which stalls a processor.
    #[inline(always)]
    fn draw(
        &mut self,
        index: u32,
        recipe: &Recipe,
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
        // Only places come again: sizes of the bursts that come most often would be those of the workload.
        let generator = self.bursts.as_mut().and_then(StreamBursts::draws).unwrap_or(&mut self.generator);
        let block = recipe.addresses.choose(generator, &mut self.cursor, size);
        let mut offset = recipe.layout.offset_of(block);
        if let Some(unaligned) = &recipe.unaligned {
            offset = unaligned.moved(offset, size.bytes, &recipe.layout, generator);
        }
        Ok(IoRequest { arrival, kind, offset, size: size.bytes, stream: index })
    }
}
