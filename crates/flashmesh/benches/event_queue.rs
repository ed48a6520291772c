//! Comparison of the event queue of the simulator, which has a lane (a mostly sorted list) per kind of event, with two other queues.
//!
//! The events are those of saturated reads on 64 dies and 8 channels: command (10 ns), tR (3 us) and transfer (3.413 us), bound by the channels. All
//! three queues must return the events in the same order, which the hash shows.
#![allow(missing_docs)]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Instant;

use flashmesh::engine::queue::{EventQueue, Queued};
use flashmesh::units::Time;

const READS: u64 = 3_000_000;
const DIES: u32 = 64;
const CHANNELS: u32 = 8;
const COMMAND_PS: u64 = 10_000;
const READ_PS: u64 = 3_000_000;
const TRANSFER_PS: u64 = 3_413_334;
const RUNS: usize = 5;

/// Completed step of a read, and the die that runs it.
#[derive(Clone, Copy, Debug)]
enum Step {
    Command(u32),
    Read(u32),
    Transfer(u32),
}

impl Queued for Step {
    fn parts(self) -> (u8, u32) {
        pack(self)
    }

    fn of_kind(kind: u8, take: impl FnOnce(usize) -> u32) -> Step {
        match kind {
            0 => Step::Command(take(0)),
            1 => Step::Read(take(1)),
            _ => Step::Transfer(take(2)),
        }
    }
}

trait Queue {
    fn schedule(&mut self, lane: usize, at_ps: u64, step: Step);
    fn pop(&mut self) -> Option<(u64, Step)>;
}

struct Lanes(EventQueue<Step>);

impl Queue for Lanes {
    fn schedule(&mut self, lane: usize, at_ps: u64, step: Step) {
        self.0.schedule(lane, Time::from_ps(at_ps), step);
    }

    fn pop(&mut self) -> Option<(u64, Step)> {
        self.0.pop().map(|step| (self.0.now().as_ps(), step))
    }
}

/// Binary heap, with time and order of scheduling packed into one key. Ignores the lanes.
#[derive(Default)]
struct PackedHeap {
    heap: BinaryHeap<Reverse<(u128, u8, u32)>>,
    sequence: u64,
}

impl Queue for PackedHeap {
    fn schedule(&mut self, _lane: usize, at_ps: u64, step: Step) {
        let (kind, die) = pack(step);
        self.heap.push(Reverse(((u128::from(at_ps) << 64) | u128::from(self.sequence), kind, die)));
        self.sequence += 1;
    }

    fn pop(&mut self) -> Option<(u64, Step)> {
        self.heap.pop().map(|Reverse((key, kind, die))| ((key >> 64) as u64, unpack(kind, die)))
    }
}

/// Hashed timing wheel of 8192 slots of 1.024 ns. Each slot is kept sorted by time and order of scheduling.
struct Wheel {
    slots: Vec<VecDeque<(u64, u64, u8, u32)>>,
    slot: u64,
    waiting: usize,
    sequence: u64,
}

const SLOTS: u64 = 8192;
const SLOT_SHIFT: u32 = 10;

impl Wheel {
    fn new() -> Wheel {
        Wheel { slots: (0..SLOTS).map(|_| VecDeque::new()).collect(), slot: 0, waiting: 0, sequence: 0 }
    }
}

impl Queue for Wheel {
    fn schedule(&mut self, _lane: usize, at_ps: u64, step: Step) {
        let (kind, die) = pack(step);
        let slot = &mut self.slots[((at_ps >> SLOT_SHIFT) % SLOTS) as usize];
        let entry = (at_ps, self.sequence, kind, die);
        let place = slot.partition_point(|other| *other < entry);
        slot.insert(place, entry);
        self.sequence += 1;
        self.waiting += 1;
    }

    fn pop(&mut self) -> Option<(u64, Step)> {
        if self.waiting == 0 {
            return None;
        }
        loop {
            let slot = &mut self.slots[(self.slot % SLOTS) as usize];
            // The slot is sorted by time, so entries of this turn of the wheel come first.
            if let Some(&(at_ps, _, kind, die)) = slot.front()
                && at_ps >> SLOT_SHIFT == self.slot
            {
                slot.pop_front();
                self.waiting -= 1;
                return Some((at_ps, unpack(kind, die)));
            }
            self.slot += 1;
        }
    }
}

fn pack(step: Step) -> (u8, u32) {
    match step {
        Step::Command(die) => (0, die),
        Step::Read(die) => (1, die),
        Step::Transfer(die) => (2, die),
    }
}

fn unpack(kind: u8, die: u32) -> Step {
    match kind {
        0 => Step::Command(die),
        1 => Step::Read(die),
        _ => Step::Transfer(die),
    }
}

/// Runs [`READS`] reads over a queue. Returns a hash of the events in order.
fn run(mut queue: impl Queue) -> u64 {
    let mut free_at = [0u64; CHANNELS as usize];
    let (mut left, mut hash) = (READS, 0xcbf2_9ce4_8422_2325u64);
    let begin = |queue: &mut dyn FnMut(usize, u64, Step), free_at: &mut [u64], now: u64, die: u32| {
        let channel = &mut free_at[(die % CHANNELS) as usize];
        *channel = (*channel).max(now) + COMMAND_PS;
        queue(0, *channel, Step::Command(die));
    };
    for die in 0..DIES {
        begin(&mut |lane, at, step| queue.schedule(lane, at, step), &mut free_at, 0, die);
    }
    while let Some((now, step)) = queue.pop() {
        let (kind, die) = pack(step);
        hash = (hash ^ now ^ u64::from(kind) << 60 ^ u64::from(die) << 50).wrapping_mul(0x0100_0000_01b3);
        match step {
            Step::Command(die) => queue.schedule(1, now + READ_PS, Step::Read(die)),
            Step::Read(die) => {
                let channel = &mut free_at[(die % CHANNELS) as usize];
                *channel = (*channel).max(now) + TRANSFER_PS;
                queue.schedule(2, *channel, Step::Transfer(die));
            }
            Step::Transfer(die) if left > u64::from(DIES) => {
                left -= 1;
                begin(&mut |lane, at, step| queue.schedule(lane, at, step), &mut free_at, now, die);
            }
            Step::Transfer(_) => {}
        }
    }
    hash
}

fn measure(name: &str, make_and_run: impl Fn() -> u64) {
    let mut seconds = Vec::new();
    let mut hash = 0;
    for _ in 0..RUNS {
        let started = Instant::now();
        hash = make_and_run();
        seconds.push(started.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    let rate = READS as f64 / seconds[RUNS / 2] / 1e6;
    println!("{name:<28} {rate:>8.2} M reads/s (3 events each)  {hash:016x}");
}

fn main() {
    measure("lanes of constant delay", || run(Lanes(EventQueue::default())));
    measure("binary heap of packed keys", || run(PackedHeap::default()));
    measure("timing wheel", || run(Wheel::new()));
}
