//! Admission of writes to the cache: at once, or in order once there is space.

use super::slots::{SlotId, part_of};
use super::{Cache, CachePart, Sectors};
use crate::config::{CacheWrites, Caching, Priority};
use crate::ids::{Lpn, RequestId, StreamId};
use crate::units::{Bytes, Time};

/// A write of one page, whole or in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWrite {
    pub request: RequestId,
    pub stream: StreamId,
    pub priority: Priority,
    pub lpn: Lpn,
    pub sectors: Sectors,
    /// Payload of the write; may be less than whole sectors.
    pub bytes: Bytes,
    pub since: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admitted {
    /// The write completes once its data is in this slot of DRAM (write-back).
    InDram(SlotId),
    /// The data is stored in this slot of DRAM, and the write completes once the data is on flash. The caller then calls
    /// [`Cache::end_write_through`].
    InBoth(SlotId),
    OnFlash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteMode {
    Back,
    Through,
    /// Write to flash that bypasses the cache, and only updates a copy of the page that is already cached.
    Around,
}

#[derive(Clone, Debug)]
pub(super) struct Admission {
    caching: Vec<Caching>,
    writes: CacheWrites,
}

impl Admission {
    pub fn new(caching: &[Caching], writes: CacheWrites) -> Admission {
        Admission { caching: caching.to_vec(), writes }
    }

    pub fn keeps_reads(&self, stream: StreamId) -> bool {
        matches!(self.caching[stream.index()], Caching::All | Caching::Reads)
    }

    fn way(&self, stream: StreamId) -> WriteMode {
        match (self.caching[stream.index()], self.writes) {
            (Caching::All | Caching::Writes, CacheWrites::Back) => WriteMode::Back,
            (Caching::All | Caching::Writes, CacheWrites::Through) => WriteMode::Through,
            (Caching::None | Caching::Reads, _) => WriteMode::Around,
        }
    }
}

impl Cache {
    /// Admits a write, or queues the write and returns `None`; [`Cache::admit_next`] returns a queued write later.
    pub fn offer(&mut self, write: PageWrite) -> Option<Admitted> {
        let own = part_of(write.stream, self.parts.len());
        if self.lets_pass
            && self.admission.way(write.stream) == WriteMode::Around
            && !self.table.contains_key(&write.lpn)
            && !self.waiting.contains_key(&write.lpn)
        {
            return self.admit(&write);
        }
        // Queue behind an earlier stalled write of this page, even if that write waits in another part of the cache. So writes of a page
        // keep their order.
        let part = self.waiting.get(&write.lpn).map_or(own, |&(part, _)| part);
        if self.parts[part as usize].waiting.is_empty()
            && let Some(admitted) = self.admit(&write)
        {
            return Some(admitted);
        }
        self.counts.waits += 1;
        self.parts[part as usize].waiting.push_back(write);
        if self.parts.len() > 1 || self.lets_pass {
            self.waiting.entry(write.lpn).or_insert((part, 0)).1 += 1;
        }
        None
    }

    /// Admits the next stalled write if there is space. Returns the write with its admission; `None` if no stalled write can be admitted. Call this
    /// until it returns `None` after every offered write and every ended operation; then fetch the destages that are due.
    pub fn admit_next(&mut self) -> Option<(PageWrite, Admitted)> {
        (0..self.parts.len() as u32).find_map(|part| {
            let first = self.parts[part as usize].waiting.front().copied();
            let Some((write, admitted)) = first.and_then(|write| Some((write, self.admit(&write)?))) else {
                self.destage_to_marks(part);
                return None;
            };
            self.parts[part as usize].waiting.pop_front();
            if let Some((_, count)) = self.waiting.get_mut(&write.lpn) {
                *count -= 1;
                if *count == 0 {
                    self.waiting.remove(&write.lpn);
                }
            }
            Some((write, admitted))
        })
    }

    /// Closes or reopens the cache for streams with write-back caching: while the cache is closed, their writes stall even if there is space.
    pub fn close(&mut self, is_closed: bool) {
        self.is_closed = is_closed;
    }

    /// Returns whether a write is stalled, for space or because the cache is closed.
    pub fn has_waiting(&self) -> bool {
        self.parts.iter().any(|part| !part.waiting.is_empty())
    }

    /// Returns whether a write is stalled for space. While the cache is [closed](Self::close), writes stall for another reason: they count only if
    /// more than seven eighths \[choice\] of the dirty limit of their part are used, because they would soon lack space anyway.
    pub fn is_out_of_space(&self) -> bool {
        let is_nearly_full = |part: &CachePart| {
            u64::from(part.unsaved) * 8 > u64::from(part.dirty_limit) * 7 || self.destaging.is_full(part.carried)
        };
        self.parts.iter().any(|part| !part.waiting.is_empty() && (!self.is_closed || is_nearly_full(part)))
    }

    pub fn drop_waiting(&mut self) {
        self.parts.iter_mut().for_each(|part| part.waiting.clear());
        self.waiting.clear();
    }

    pub fn end_write_through(&mut self, lpn: Lpn) {
        let Some(&slot) = self.table.get(&lpn) else { return };
        self.slots[slot].passing -= 1;
        self.settle(slot);
    }

    fn admit(&mut self, write: &PageWrite) -> Option<Admitted> {
        let resident = self.table.get(&write.lpn).copied();
        let way = self.admission.way(write.stream);
        let admitted = match way {
            WriteMode::Back => Admitted::InDram(self.slot_for_write(write, resident)?),
            // If the cached data is newer than flash, the write overwrites that data in DRAM.
            WriteMode::Around => match resident {
                Some(slot) if !self.slots[slot].unsaved().is_empty() => Admitted::InDram(slot),
                Some(slot) => Admitted::InBoth(slot),
                None => Admitted::OnFlash,
            },
            WriteMode::Through => {
                let part = part_of(write.stream, self.parts.len());
                match resident.or_else(|| self.allocate(part, write.lpn)) {
                    Some(slot) => Admitted::InBoth(slot),
                    None => Admitted::OnFlash,
                }
            }
        };
        if way != WriteMode::Around {
            let before = resident.map(|slot| self.slots[slot].valid);
            let lookups = &mut self.counts.writes;
            match before {
                Some(valid) if write.sectors.without(valid).is_empty() => lookups.hits += 1,
                Some(_) => lookups.partial_hits += 1,
                None => lookups.misses += 1,
            }
        }
        match admitted {
            Admitted::OnFlash => {}
            Admitted::InBoth(slot) => {
                let page = &mut self.slots[slot];
                page.passing += 1;
                page.valid = page.valid.or(write.sectors);
                page.filling = page.filling.without(write.sectors);
                self.touch(slot);
            }
            Admitted::InDram(slot) => self.take(slot, write),
        }
        Some(admitted)
    }

    /// Returns the slot for a write that completes in DRAM. `None` if the write has to stall: the cache is closed, the destage limit or the dirty
    /// limit is reached, or there is no space.
    fn slot_for_write(&mut self, write: &PageWrite, resident: Option<SlotId>) -> Option<SlotId> {
        let own = part_of(write.stream, self.parts.len());
        if self.is_closed || self.destaging.is_full(self.parts[own as usize].carried) {
            return None;
        }
        let is_dirty = resident.is_some_and(|slot| !self.slots[slot].unsaved().is_empty());
        // A cached page stays in its part of the cache, even if a stream with another part writes it.
        let holder = resident.map_or(own, |slot| self.slots[slot].part);
        let part = &self.parts[holder as usize];
        let room = if !is_dirty && part.unsaved >= part.dirty_limit {
            None
        } else {
            resident.or_else(|| self.allocate(own, write.lpn))
        };
        if room.is_none() {
            self.destage_for_space(holder);
        }
        room
    }

    fn take(&mut self, slot: SlotId, write: &PageWrite) {
        let joins = self.slots[slot].destage.is_due;
        self.change(slot, |page| {
            page.writer = write.stream;
            page.valid = page.valid.or(write.sectors);
            let unsaved = if joins { &mut page.destage.sectors } else { &mut page.dirty };
            *unsaved = unsaved.or(write.sectors);
            page.filling = page.filling.without(write.sectors);
        });
        self.touch(slot);
        if joins {
            self.join_destage(slot);
        }
        let page = &self.slots[slot];
        let generation = if joins { page.destage.generation } else { page.generation };
        if let Some(acknowledged) = &mut self.acknowledged {
            acknowledged.record(write, generation);
        }
        let goes_at_once = self.first_writes.as_mut().is_some_and(|writes| writes.add(write.lpn, write.since));
        if goes_at_once && self.slots[slot].destage.sectors.is_empty() {
            self.begin_destage(slot, write.sectors);
        }
    }
}
