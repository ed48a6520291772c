//! The DRAM, a single FIFO server.
//!
//! An access opens the rows it touches and moves its data in bursts. With the closed policy each row costs tRCD + tCL. Each row after the first of an
//! access also costs tRP, because the previous row must be closed first; closing the last row is hidden. With the open policy the last row stays
//! open. An access that begins in the open row costs tCL there; one that begins in another row costs tRP + tRCD + tCL there. Banks, refresh and bus
//! turnaround are not modelled \[choice\].

use crate::config::{self, AccessTime, RowPolicy};
use crate::units::{Bytes, Time, TransferTimes};

#[derive(Clone, Debug)]
pub struct Dram {
    row_size: u64,
    burst: u64,
    times: TransferTimes,
    /// tRCD + tCL: time to open a row and access a column.
    opening: Time,
    column: Time,
    precharge: Time,
    keeps_open: bool,
    /// Whether access times to the DRAM are those of MQSim (`cache.access-time = "mqsim"`).
    is_mqsim: bool,
    open_row: Option<u64>,
    free_at: Time,
    busy: Time,
}

impl Dram {
    pub fn new(config: &config::Cache) -> Dram {
        Dram {
            row_size: config.row_size.as_u64(),
            burst: config.burst.as_u64(),
            times: TransferTimes::new(config.data_rate),
            opening: config.row_to_column_delay + config.column_latency,
            column: config.column_latency,
            precharge: config.row_precharge,
            keeps_open: config.row_policy == RowPolicy::Open,
            is_mqsim: config.access_time == AccessTime::Mqsim,
            open_row: None,
            free_at: Time::ZERO,
            busy: Time::ZERO,
        }
    }

    /// Queues an access of `size` bytes at `address`. Returns the time at which the access ends.
    pub fn access(&mut self, now: Time, address: u64, size: Bytes) -> Time {
        let duration = self.duration(address, size);
        self.free_at = self.free_at.later(now) + duration;
        self.busy += duration;
        self.free_at
    }

    /// Returns the time that MQSim computes for an access of `size` bytes, truncated to nanoseconds.
    #[inline(never)]
    fn duration_in_mqsim(&mut self, size: u64) -> Time {
        if size <= self.row_size {
            return self.opening + self.transfer_in_mqsim(size);
        }
        let second_rows = size / self.row_size / 2;
        let rows = (self.transfer_in_mqsim(self.row_size) + self.precharge) * second_rows;
        // Reproduces an error of MQSim: it divides by the time of a burst instead of multiplying. Factor 2: a burst of MQSim has half of
        // this size.
        let burst_ps = self.times.time_for(Bytes::new(self.burst)).as_ps();
        let rest_ns = (size % self.row_size * 2000).checked_div(self.burst * burst_ps).unwrap_or(0);
        self.opening * 2 + rows + Time::from_ns(rest_ns)
    }

    fn transfer_in_mqsim(&mut self, size: u64) -> Time {
        let time = self.times.time_for(Bytes::new(size / self.burst * self.burst));
        Time::from_ns(time.as_ps() / 1000)
    }

    fn duration(&mut self, address: u64, size: Bytes) -> Time {
        if self.is_mqsim {
            return self.duration_in_mqsim(size.as_u64());
        }
        let end = address + size.as_u64();
        let first = address / self.row_size;
        let (last, moved) = if end <= (first + 1) * self.row_size {
            (first, size.as_u64().next_multiple_of(self.burst))
        } else {
            self.over_rows(first, address, end)
        };
        let begins = match self.open_row {
            Some(open) if open == first => self.column,
            Some(_) => self.precharge + self.opening,
            None => self.opening,
        };
        if self.keeps_open {
            self.open_row = Some(last);
        }
        begins + (self.precharge + self.opening) * (last - first) + self.times.time_for(Bytes::new(moved))
    }

    /// Returns the last row of an access to several rows, which begins in row `first`, and the bytes that it moves in whole bursts.
    #[inline(never)]
    fn over_rows(&self, first: u64, address: u64, end: u64) -> (u64, u64) {
        let last = (end - 1) / self.row_size;
        let in_row = |row: u64| end.min((row + 1) * self.row_size) - address.max(row * self.row_size);
        (last, (first..=last).map(|row| in_row(row).next_multiple_of(self.burst)).sum())
    }

    pub fn busy(&self, now: Time) -> Time {
        // `busy` includes the accesses queued beyond `now`. They are contiguous up to `free_at`, so subtract `free_at - now`.
        self.busy.saturating_sub(self.free_at.saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    /// Creates a DRAM with tRCD = 10 ns, tCL = 20 ns, tRP = 5 ns, one byte per nanosecond, bursts of 32 B, and rows of 1 KiB.
    fn dram(row_policy: RowPolicy) -> Dram {
        Dram::new(&config::Cache {
            row_size: Bytes::new(1024),
            burst: Bytes::new(32),
            data_rate: Rate::from_bytes_per_second(1_000_000_000),
            row_to_column_delay: Time::from_ns(10),
            column_latency: Time::from_ns(20),
            row_precharge: Time::from_ns(5),
            row_policy,
            ..config::Cache::default()
        })
    }

    #[test]
    fn accesses_queue_open_each_row_and_move_whole_bursts() {
        let mut dram = dram(RowPolicy::Closed);
        assert_eq!(dram.access(Time::ZERO, 0, Bytes::new(512)), Time::from_ns(10 + 20 + 512));
        // An access of one byte takes a whole burst.
        assert_eq!(dram.access(Time::from_us(1), 0, Bytes::new(1)), Time::from_ns(1000 + 30 + 32));
        // The access covers 16 B of one row, a whole row and 16 B of a third, and queues behind the previous access.
        let three = 3 * 30 + 2 * 5 + 32 + 1024 + 32;
        assert_eq!(dram.access(Time::from_us(1), 1024 - 16, Bytes::new(1056)), Time::from_ns(1062 + three));
        assert_eq!(dram.busy(Time::from_us(10)), Time::from_ns(542 + 62 + three));
        assert_eq!(dram.busy(Time::from_ns(1062)), Time::from_ns(542 + 62));
    }

    #[test]
    fn an_access_to_the_open_row_costs_tcl_alone_and_another_row_trp_as_well() {
        let mut dram = dram(RowPolicy::Open);
        assert_eq!(dram.access(Time::ZERO, 0, Bytes::new(32)), Time::from_ns(30 + 32));
        assert_eq!(dram.access(Time::from_us(1), 512, Bytes::new(32)), Time::from_ns(1000 + 20 + 32));
        assert_eq!(dram.access(Time::from_us(2), 4096, Bytes::new(32)), Time::from_ns(2000 + 5 + 30 + 32));
        // The access ends in the next row, which then stays open: tCL in the open row, tRP + tRCD + tCL for the next row.
        assert_eq!(dram.access(Time::from_us(3), 4096 + 992, Bytes::new(64)), Time::from_ns(3000 + 20 + 35 + 64));
        assert_eq!(dram.access(Time::from_us(4), 5120, Bytes::new(32)), Time::from_ns(4000 + 20 + 32));
    }

    /// Rows of 2 KiB, 800 MT/s, bursts of 4 B: times printed by MQSim for 4, 8, 16 and 17 KiB, and for half a row.
    #[test]
    fn an_access_of_several_rows_takes_as_long_as_in_mqsim() {
        let mut dram = Dram::new(&config::Cache {
            row_size: Bytes::from_kib(2),
            burst: Bytes::new(8),
            data_rate: Rate::from_bytes_per_second(6_400_000_000),
            access_time: AccessTime::Mqsim,
            ..config::Cache::default()
        });
        for (bytes, ns) in [(1024, 26 + 160), (4096, 52 + 333), (8192, 52 + 666), (16_384, 1384), (17_408, 1384 + 204)]
        {
            assert_eq!(dram.duration(0, Bytes::new(bytes)), Time::from_ns(ns), "{bytes} B");
        }
    }

    #[test]
    fn the_default_takes_666_ns_for_a_page_of_4_kib() {
        let mut dram = Dram::new(&config::Cache::default());
        assert_eq!(dram.access(Time::ZERO, 4096, Bytes::from_kib(4)), Time::from_ns(13 + 13 + 640));
        // Two rows of 8 KiB: 2 x 26 + 13 ns to open them, 2 x 1280 ns to transfer the data.
        assert_eq!(dram.access(Time::from_us(10), 0, Bytes::from_kib(16)), Time::from_ns(10_000 + 65 + 2560));
    }
}
