//! How many translation pages are written back at once, and which stay in DRAM before they are.

use std::collections::VecDeque;

use crate::config::{self, WriteBackRead};
use crate::ids::Lpn;

/// The write-backs under way, and the buffer.
#[derive(Clone, Debug)]
pub(super) struct WriteBacks {
    under_way: u32,
    most: u32,
    /// Translation pages that stay in DRAM, in the order in which they came; they do not count as under way.
    buffer: VecDeque<Lpn>,
    buffer_pages: usize,
    read: WriteBackRead,
    is_use: bool,
}

impl WriteBacks {
    /// None is under way, and the buffer has room for so many pages.
    pub(super) fn new(config: &config::Mapping, buffer_pages: usize) -> WriteBacks {
        WriteBacks {
            under_way: 0,
            most: config.write_backs,
            buffer: VecDeque::new(),
            buffer_pages,
            read: config.write_back_read,
            is_use: config.write_back_is_use,
        }
    }

    /// Whether one more may begin for an entry that makes way.
    pub(super) fn may_begin(&self) -> bool {
        self.under_way < self.most
    }

    /// One begins.
    pub(super) fn begin(&mut self) {
        self.under_way += 1;
    }

    /// One is done.
    pub(super) fn end(&mut self) {
        self.under_way -= 1;
    }

    /// Whether there is a buffer.
    pub(super) fn has_buffer(&self) -> bool {
        self.buffer_pages > 0
    }

    /// A page that is being written back goes into the buffer and is not under way any more; gives the page that makes way for
    /// it, which is.
    pub(super) fn put_off(&mut self, page: Lpn) -> Option<Lpn> {
        self.end();
        self.buffer.push_back(page);
        if self.buffer.len() <= self.buffer_pages {
            return None;
        }
        self.begin();
        self.buffer.pop_front()
    }

    /// Whether a page is read for it in any case.
    pub(super) fn always_reads(&self) -> bool {
        self.read == WriteBackRead::Always
    }

    /// Whether the entries whose changes it takes along count as used.
    pub(super) fn is_use(&self) -> bool {
        self.is_use
    }
}

#[cfg(test)]
impl WriteBacks {
    /// How many are under way.
    pub(super) fn under_way(&self) -> u32 {
        self.under_way
    }

    /// How many pages the buffer has room for.
    pub(super) fn buffer_pages(&self) -> usize {
        self.buffer_pages
    }
}
