//! Limit on write-backs of translation pages in flight, and the write-back buffer, whose pages stay in DRAM before their program.

use std::collections::VecDeque;

use crate::config::{self, WriteBackRead};
use crate::ids::Lpn;

/// Number of write-backs in flight, and the write-back buffer.
#[derive(Clone, Debug)]
pub(super) struct WriteBacks {
    in_flight: u32,
    in_flight_max: u32,
    /// Buffered translation pages, oldest first. They do not count as in flight.
    buffer: VecDeque<Lpn>,
    buffer_pages: usize,
    read: WriteBackRead,
    is_use: bool,
}

impl WriteBacks {
    /// Creates the state without write-backs in flight, and with an empty buffer for `buffer_pages` translation pages.
    pub(super) fn new(config: &config::Mapping, buffer_pages: usize) -> WriteBacks {
        WriteBacks {
            in_flight: 0,
            in_flight_max: config.write_backs,
            buffer: VecDeque::new(),
            buffer_pages,
            read: config.write_back_read,
            is_use: config.write_back_is_use,
        }
    }

    /// Returns whether the limit of write-backs in flight allows another one for an eviction.
    pub(super) fn may_begin(&self) -> bool {
        self.in_flight < self.in_flight_max
    }

    /// Counts a write-back as in flight.
    pub(super) fn begin(&mut self) {
        self.in_flight += 1;
    }

    /// Counts a write-back in flight as ended or buffered.
    pub(super) fn end(&mut self) {
        self.in_flight -= 1;
    }

    /// Returns whether the cache has a write-back buffer (`mapping.write-back-buffer` is at least one page).
    pub(super) fn has_buffer(&self) -> bool {
        self.buffer_pages > 0
    }

    /// Moves `page`, whose write-back is in flight, into the buffer. If the buffer overflows, removes and returns its oldest page, whose write-back
    /// is then in flight; otherwise returns `None`.
    pub(super) fn buffer_write_back(&mut self, page: Lpn) -> Option<Lpn> {
        self.end();
        self.buffer.push_back(page);
        if self.buffer.len() <= self.buffer_pages {
            return None;
        }
        self.begin();
        self.buffer.pop_front()
    }

    /// Returns whether a translation page is read before its write-back even if all its entries are in DRAM.
    pub(super) fn always_reads(&self) -> bool {
        self.read == WriteBackRead::Always
    }

    /// Returns whether a write-back counts as a use of the entries whose changes it carries.
    pub(super) fn counts_as_use(&self) -> bool {
        self.is_use
    }
}

#[cfg(test)]
impl WriteBacks {
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Returns the capacity of the write-back buffer in pages.
    pub(super) fn buffer_pages(&self) -> usize {
        self.buffer_pages
    }
}
