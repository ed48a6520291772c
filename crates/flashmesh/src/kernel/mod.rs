//! Infrastructure shared by all parts of a running drive: the clock with its event queue, notices to probes, and the compile-time choices of a run.

pub mod event;
pub mod job;
pub mod model;
pub mod probe;

use crate::engine::queue::{DueEvent, EventQueue};
use crate::error::RunError;
use crate::measure::report::Report;
use crate::units::Time;

use event::{Event, lane};
use model::Model;
use probe::{Notice, Probe, ReadNotice, Scope};

/// Number of notices of reads in a batch. Single notices would make the probe and the drive evict each other from the first-level CPU caches.
const READ_NOTICES_MAX: usize = 2048;

#[derive(Clone)]
pub struct Kernel<M> {
    events: EventQueue<Event>,
    /// Times of the scheduled pauses, without duplicates.
    pauses: Vec<Time>,
    /// Probes that receive all notices ([`Scope::All`]).
    probes: Vec<Box<dyn Probe + Send>>,
    /// Whether `probes` receive notices now. The end of the run is notified in any case.
    is_watched: bool,
    /// Probes that receive only notices of reads ([`Scope::Reads`]).
    probes_of_reads: Vec<Box<dyn Probe + Send>>,
    /// Notices not yet delivered to `probes_of_reads`.
    read_notices: Vec<(Time, ReadNotice)>,
    model: std::marker::PhantomData<fn() -> M>,
}

impl<M: Model> Default for Kernel<M> {
    fn default() -> Self {
        Kernel {
            events: EventQueue::default(),
            pauses: Vec::new(),
            probes: Vec::new(),
            is_watched: false,
            probes_of_reads: Vec::new(),
            read_notices: Vec::new(),
            model: std::marker::PhantomData,
        }
    }
}

impl<M: Model> Kernel<M> {
    pub fn into_model<N: Model>(self) -> Kernel<N> {
        let Kernel { events, pauses, probes, is_watched, probes_of_reads, read_notices, .. } = self;
        Kernel { events, pauses, probes, is_watched, probes_of_reads, read_notices, model: std::marker::PhantomData }
    }

    #[inline]
    pub fn now(&self) -> Time {
        self.events.now()
    }

    /// Returns the time of the next event; `Time::MAX` if there is none.
    #[inline]
    pub fn next_at(&self) -> Time {
        self.events.next_at()
    }

    /// Schedules `event` for `at`, which must not be in the past; see [`EventQueue::schedule`].
    #[inline(always)]
    pub fn schedule(&mut self, lane: usize, at: Time, event: Event) {
        self.events.schedule(lane, at, event);
    }

    /// Schedules `event` at `at` as the alarm, the only event that can be rescheduled. Replaces the pending alarm; see [`EventQueue::set_alarm`].
    #[inline(always)]
    pub fn set_alarm(&mut self, at: Time, event: Event) {
        self.events.set_alarm(at, event);
    }

    /// Schedules a pause of the event loop after all events of time `at`.
    pub fn schedule_pause(&mut self, at: Time) {
        // A step that ended early may have left a pause at this time in the queue.
        if !self.pauses.contains(&at) {
            self.pauses.push(at);
            self.events.schedule(lane::ARRIVAL, at, Event::Pause);
        }
    }

    /// Removes the record of the pause that is due now.
    #[cold]
    pub fn paused(&mut self) {
        let now = self.now();
        self.pauses.retain(|&at| at != now);
    }

    #[inline(always)]
    pub fn advance(&mut self) -> Option<DueEvent> {
        self.events.advance()
    }

    /// Advances the clock to `at`, for work that must precede all events of that time.
    #[inline]
    pub fn advance_to(&mut self, at: Time) {
        self.events.advance_to(at);
    }

    /// Dequeues the event to which the clock was just advanced.
    #[inline(always)]
    pub fn dequeue(&mut self, due: DueEvent) -> Event {
        self.events.dequeue(due)
    }

    pub fn add_probe(&mut self, probe: Box<dyn Probe + Send>) {
        match probe.scope() {
            Scope::All => {
                self.probes.push(probe);
                self.is_watched = true;
            }
            Scope::Reads => self.probes_of_reads.push(probe),
        }
    }

    /// Returns whether any probe receives notices of reads.
    #[inline(always)]
    pub fn watches_reads(&self) -> bool {
        self.is_probed() || !self.probes_of_reads.is_empty()
    }

    /// Notifies all probes of an event of a read. Probes of [`Scope::Reads`] get the notice later, in a batch.
    #[inline(always)]
    pub fn notify_read(&mut self, notice: ReadNotice) {
        if !self.probes_of_reads.is_empty() {
            self.read_notices.push((self.now(), notice));
            if self.read_notices.len() >= READ_NOTICES_MAX {
                self.deliver_read_notices();
            }
        }
        self.notify(|| Notice::Read(notice));
    }

    #[inline(never)]
    fn deliver_read_notices(&mut self) {
        self.probes_of_reads.iter_mut().for_each(|probe| probe.notify_reads(&self.read_notices));
        self.read_notices.clear();
    }

    /// Lets the probes add their results to the report.
    pub fn conclude(&mut self, report: &mut Report) {
        self.deliver_read_notices();
        let now = self.now();
        self.probes_of_reads.iter_mut().chain(&mut self.probes).for_each(|probe| probe.conclude(now, report));
    }

    #[inline(always)]
    pub fn is_probed(&self) -> bool {
        M::PROBES && self.is_watched
    }

    /// Returns whether all probes of [`Scope::All`] are done; `false` if there are none, or if notices are stopped.
    pub fn are_probes_done(&mut self) -> bool {
        let now = self.now();
        self.is_probed() && self.probes.iter_mut().all(|probe| probe.is_done(now))
    }

    /// Stops all notices to probes of [`Scope::All`] except the one of the end of the run.
    pub fn stop_notices(&mut self) {
        self.is_watched = false;
    }

    /// Notifies the probes of [`Scope::All`] of the end of the run, even if other notices are stopped.
    pub fn notify_end<'a>(&mut self, notice: impl FnOnce() -> Notice<'a>) {
        if !self.probes.is_empty() {
            self.notify_probes(notice);
        }
    }

    /// Notifies the probes of [`Scope::All`]. Without such probes, or while notices are stopped, `notice` is not called.
    #[inline(always)]
    pub fn notify<'a>(&mut self, notice: impl FnOnce() -> Notice<'a>) {
        if self.is_probed() {
            self.notify_probes(notice);
        }
    }

    /// Notifies the probes of [`Scope::All`]. Not inlined, to keep the code of the drive in the instruction cache.
    #[cold]
    #[inline(never)]
    fn notify_probes<'a>(&mut self, notice: impl FnOnce() -> Notice<'a>) {
        let (now, notice) = (self.now(), notice());
        self.probes.iter_mut().for_each(|probe| probe.notify(now, &notice));
    }

    /// Returns an error if the run has violated a rule that a probe of [`Scope::All`] checks. Checks nothing while notices are stopped.
    ///
    /// # Errors
    /// The first objection of a probe.
    #[inline(always)]
    pub fn check_probes(&self) -> Result<(), RunError> {
        if self.is_probed() { self.check_each_probe() } else { Ok(()) }
    }

    #[inline(never)]
    fn check_each_probe(&self) -> Result<(), RunError> {
        self.probes.iter().try_for_each(|probe| probe.check_run())
    }
}
