//! What the requests of a burst have in common: places to which they come again together, and what they ask.

use super::kinds::KindMix;
use super::pattern::Cursor;
use super::random::Generator;
use super::recurrence::{Groups, Recurrence};
use crate::config::BurstKinds;
use crate::request::RequestKind;

/// What bursts are like: so many requests of a stream each, one after the other, however they arrive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bursts {
    length: u32,
    /// Whether bursts come again; those of one kind among themselves, where bursts are of one.
    recurrence: Option<Recurrence>,
    kinds: BurstKinds,
}

impl Bursts {
    /// Bursts of `length` requests; nothing where their requests have nothing in common.
    pub(crate) fn new(length: u32, recurrence: Option<Recurrence>, kinds: BurstKinds) -> Option<Bursts> {
        let is_plain = recurrence.is_none() && kinds == BurstKinds::Mixed;
        (!is_plain).then_some(Bursts { length, recurrence, kinds })
    }

    /// The bursts of a stream, which follow from what its generator draws next.
    pub(crate) fn of_stream(self, generator: &mut Generator) -> StreamBursts {
        let others = self.kinds == BurstKinds::Alike;
        let groups = self.recurrence.map(|recurrence| {
            let first = Groups::new(recurrence, generator);
            [first.clone(), if others { Groups::new(recurrence, generator) } else { first }]
        });
        StreamBursts { bursts: self, left: 0, kind: RequestKind::Read, groups }
    }
}

/// The bursts of one stream.
#[derive(Clone, Debug)]
pub(crate) struct StreamBursts {
    bursts: Bursts,
    /// Requests of the present burst that are still to come.
    left: u32,
    /// What the present burst asks, where all of it asks the same.
    kind: RequestKind,
    /// Bursts that come again: all of them, or those that read and, apart, the others.
    groups: Option<[Groups; 2]>,
}

impl StreamBursts {
    /// What the next request asks; `cursor` stands nowhere where a burst begins that comes again.
    #[inline]
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

    /// What the place of the present request follows from, where its burst comes again.
    #[inline]
    pub(crate) fn draws(&mut self) -> Option<&mut Generator> {
        let place = self.place();
        self.groups.as_mut().map(|groups| groups[place].draws())
    }

    fn place(&self) -> usize {
        usize::from(self.bursts.kinds == BurstKinds::Alike && self.kind != RequestKind::Read)
    }
}
