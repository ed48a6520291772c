//! Bursts of requests that share their kind, or that recur at the same addresses.

use super::kinds::KindMix;
use super::pattern::Cursor;
use super::random::Generator;
use super::recurrence::{Groups, Recurrence};
use crate::config::BurstKinds;
use crate::request::RequestKind;

/// The properties of bursts. A burst is `length` consecutive requests of a stream, whatever their arrival times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bursts {
    length: u32,
    /// The recurrence of bursts; `None` if bursts do not recur. With [`BurstKinds::Alike`], bursts of reads and other bursts recur separately.
    recurrence: Option<Recurrence>,
    kinds: BurstKinds,
}

impl Bursts {
    /// Creates bursts of `length` requests; `None` if the requests of a burst share neither kind nor addresses.
    pub(crate) fn new(length: u32, recurrence: Option<Recurrence>, kinds: BurstKinds) -> Option<Bursts> {
        let is_plain = recurrence.is_none() && kinds == BurstKinds::Mixed;
        (!is_plain).then_some(Bursts { length, recurrence, kinds })
    }

    /// Creates the state of the bursts of one stream, seeded by the next draws of its generator.
    pub(crate) fn of_stream(self, generator: &mut Generator) -> StreamBursts {
        let others = self.kinds == BurstKinds::Alike;
        let groups = self.recurrence.map(|recurrence| {
            let first = Groups::new(recurrence, generator);
            [first.clone(), if others { Groups::new(recurrence, generator) } else { first }]
        });
        StreamBursts { bursts: self, left: 0, kind: RequestKind::Read, groups }
    }
}

/// The state of the bursts of one stream.
#[derive(Clone, Debug)]
pub(crate) struct StreamBursts {
    bursts: Bursts,
    /// The remaining requests of the current burst.
    left: u32,
    /// The kind of the last request. With [`BurstKinds::Alike`], the kind of all requests of the current burst.
    kind: RequestKind,
    /// The recurring groups. With [`BurstKinds::Alike`], the first is for bursts of reads, the second for other bursts. Otherwise the first is for
    /// all bursts. `None` if bursts do not recur.
    groups: Option<[Groups; 2]>,
}

impl StreamBursts {
    /// Returns the kind of the next request. If bursts recur, resets `cursor` to [`Cursor::NOWHERE`] at the start of each burst.
    pub(crate) fn next(&mut self, kinds: &KindMix, generator: &mut Generator, cursor: &mut Cursor) -> RequestKind {
        let begins = self.left == 0;
        if begins {
            self.left = self.bursts.length;
        }
        self.left -= 1;
        if begins || self.bursts.kinds == BurstKinds::Mixed {
            self.kind = kinds.choose(generator);
        }
        let place = self.place();
        if begins && let Some(groups) = &mut self.groups {
            groups[place].begin();
            cursor.next = Cursor::NOWHERE;
        }
        self.kind
    }

    /// Returns the generator from which the address of the current request is drawn. The generator is restarted for each burst, so that a
    /// recurring burst repeats the addresses of an earlier one. `None` if the workload has no recurring bursts.
    pub(crate) fn draws(&mut self) -> Option<&mut Generator> {
        let place = self.place();
        self.groups.as_mut().map(|groups| groups[place].draws())
    }

    fn place(&self) -> usize {
        usize::from(self.bursts.kinds == BurstKinds::Alike && self.kind != RequestKind::Read)
    }
}
