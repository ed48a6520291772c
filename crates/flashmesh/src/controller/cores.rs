//! Processor cores of the controller (`[firmware]`), which process commands, completions and moved pages.

use std::collections::VecDeque;

use crate::config::{Config, CoreChoice, Firmware, FirmwarePolicy, PageMove};
use crate::engine::queue::NUMBERS;
use crate::ids::{JobId, Lpn};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::job::Job;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::units::Time;
use crate::workload::RequestKind;

/// Jobs queued or in progress. Jobs are numbered in order of arrival; jobs with equal end times end in this order.
#[derive(Clone, Debug, Default)]
struct Jobs {
    /// Number of the oldest job in `jobs`. A job id is a job number modulo [`NUMBERS`].
    first: u32,
    jobs: VecDeque<Option<Job>>,
}

impl Jobs {
    fn push(&mut self, job: Job) -> JobId {
        assert!((self.jobs.len() as u64) < u64::from(NUMBERS), "more jobs than job ids");
        let number = self.first.wrapping_add(self.jobs.len() as u32);
        self.jobs.push_back(Some(job));
        JobId(number % NUMBERS)
    }

    fn remove(&mut self, JobId(number): JobId) -> Job {
        let place = number.wrapping_sub(self.first) % NUMBERS;
        let job = self.jobs[place as usize].take().expect("a job is done once");
        while let Some(None) = self.jobs.front() {
            self.jobs.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        job
    }
}

/// The processor cores of a drive.
#[derive(Clone, Debug)]
pub struct Cores {
    times: Firmware,
    /// Time at which each core becomes free.
    free_at: Vec<Time>,
    jobs: Jobs,
    /// Total time of all jobs that have arrived, over all cores. The sum can exceed the length of a run.
    asked_ps: u128,
}

impl Cores {
    pub fn new(config: &Config) -> Option<Box<Cores>> {
        let mut times = config.firmware.clone();
        if config.gc.copyback || config.gc.r#move != PageMove::ThroughController {
            times.collect_time = Time::ZERO;
        }
        // MBM plans the reallocation of a command while all of its pages are read.
        if config.ftl.policy == FirmwarePolicy::Mbm {
            times.split_time = Time::ZERO;
        }
        let Firmware {
            read_time, write_time, other_time, look_up_time, split_time, completion_time, collect_time, ..
        } = times;
        let all = [read_time, write_time, other_time, look_up_time, split_time, completion_time, collect_time];
        all.iter().any(|&time| time > Time::ZERO).then(|| {
            let free_at = vec![Time::ZERO; times.cores as usize];
            Box::new(Cores { times, free_at, jobs: Jobs::default(), asked_ps: 0 })
        })
    }

    /// Returns whether a core spends time on each part of a read command after the first. A part consists of the mapping units in one page of flash.
    pub fn splits_reads(&self) -> bool {
        self.times.split_time > Time::ZERO
    }

    /// Returns the core time of a job. For a read or write command, this includes a look-up of each mapping unit. The time is limited to
    /// [`Time::RUN_MAX`], because a command can have a very large number of units.
    fn time_of(&self, job: Job) -> Time {
        let times = &self.times;
        let with_look_ups = |time: Time, units: u64| {
            let look_ups = times.look_up_time.as_ps().saturating_mul(units);
            Time::from_ps(look_ups.saturating_add(time.as_ps()).min(Time::RUN_MAX.as_ps()))
        };
        match job {
            Job::Command(_, RequestKind::Read, _, units) => with_look_ups(times.read_time, units),
            Job::Command(_, RequestKind::Write, _, units) => with_look_ups(times.write_time, units),
            Job::Command(..) => times.other_time,
            Job::ReadPart(..) => times.split_time,
            Job::Completion(_) => times.completion_time,
            Job::Move(_) => times.collect_time,
        }
    }

    /// Selects the core of a job (`firmware.core-choice`).
    fn core_of(&self, job: Job) -> usize {
        match job.address() {
            Some(Lpn(lpn)) if self.times.core_choice == CoreChoice::Address => lpn as usize % self.free_at.len(),
            _ => (0..self.free_at.len()).min_by_key(|&core| self.free_at[core]).unwrap_or_default(),
        }
    }

    /// Queues a job. Returns the time at which it ends and [`Event::CoreDone`] occurs; `None` if the job takes no time.
    pub fn queue_job<M: Model>(&mut self, job: Job, kernel: &mut Kernel<M>) -> Option<Time> {
        let time = self.time_of(job);
        if time == Time::ZERO {
            return None;
        }
        let now = kernel.now();
        kernel.notify(|| Notice::CoreAsked(job));
        let core = self.core_of(job);
        let begin = self.free_at[core].later(now);
        // A job that would begin after the longest allowed run takes no time, so that the sums cannot overflow.
        let end = if begin > Time::RUN_MAX { begin } else { begin + time };
        self.free_at[core] = end;
        self.asked_ps += u128::from((end - begin).as_ps());
        let id = self.jobs.push(job);
        kernel.schedule(lane::CORE, end, Event::CoreDone(id));
        Some(end)
    }

    /// Removes and returns job `id`, which ends now.
    pub fn done<M: Model>(&mut self, id: JobId, kernel: &mut Kernel<M>) -> Job {
        let job = self.jobs.remove(id);
        kernel.notify(|| Notice::CoreDone(job));
        job
    }

    /// Returns the time for which the cores were busy until `now`, as the mean over the cores.
    pub fn busy(&self, now: Time) -> Time {
        // `asked_ps` includes the full time of queued jobs. Subtract the part after `now`: each core is busy without a gap until its
        // `free_at`.
        let left: u128 = self.free_at.iter().map(|free_at| u128::from(free_at.saturating_sub(now).as_ps())).sum();
        Time::from_ps(((self.asked_ps - left) / u128::from(self.times.cores)) as u64)
    }
}
