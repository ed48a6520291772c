//! Oracle `cores`: a core of the controller does one job at a time, each job takes the time configured for its kind, and jobs run in order of
//! arrival. Every command that begins, every completion that is sent and every page that moves had a job, except for kinds of jobs that take no time.
//! The oracle schedules the jobs itself and compares.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::config::{Config, CoreChoice, Firmware, FirmwarePolicy, PageMove};
use crate::ids::{Lpn, Ppn, RequestId};
use crate::kernel::job::Job;
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

use super::read_parts::ReadParts;

#[derive(Clone, Debug)]
pub(super) struct Cores {
    times: Firmware,
    unit: Bytes,
    /// Time at which each core will have finished all jobs assigned to it.
    free_at: Vec<Time>,
    under_way: Vec<(Job, Time)>,
    /// Commands whose job on a core has ended and which the controller has not started, with their kind and number of mapping units.
    commands: FxHashMap<RequestId, (RequestKind, u64)>,
    /// Requests whose completion job on a core has ended and whose completion has not been sent.
    completions: FxHashSet<RequestId>,
    /// Number of pages whose GC job on a core has ended and which are not programmed yet; `None` under the MBM policy, whose moves are not
    /// checked.
    moves: Option<u64>,
    parts: ReadParts,
}

impl Cores {
    pub(super) const NAME: &'static str = "cores";

    pub(super) fn new(config: &Config) -> Cores {
        let mut times = config.firmware.clone();
        // A page that is moved without the controller (by copyback, or from chip to chip) needs no job on a core.
        if config.gc.copyback || config.gc.r#move != PageMove::ThroughController {
            times.collect_time = Time::ZERO;
        }
        Cores {
            times,
            unit: config.ftl.mapping_unit.unwrap_or(config.geometry.page_size),
            free_at: vec![Time::ZERO; config.firmware.cores as usize],
            under_way: Vec::new(),
            commands: FxHashMap::default(),
            completions: FxHashSet::default(),
            // The firmware policy MBM also programs pages that requests read, and notices do not distinguish these programs from GC moves.
            // So moves are not checked under MBM.
            moves: (config.ftl.policy != FirmwarePolicy::Mbm).then_some(0),
            parts: ReadParts::new(config),
        }
    }

    fn time_of(&self, job: Job) -> Time {
        let Firmware {
            read_time, write_time, other_time, look_up_time, split_time, completion_time, collect_time, ..
        } = self.times.clone();
        // The number of mapping units of a command that will be rejected is not limited. So limit its lookup time to the maximum length of
        // a run.
        let with_look_ups = |time: Time, units: u64| {
            let total = u128::from(look_up_time.as_ps()) * u128::from(units) + u128::from(time.as_ps());
            u64::try_from(total).map_or(Time::RUN_MAX, Time::from_ps).min(Time::RUN_MAX)
        };
        match job {
            Job::Command(_, RequestKind::Read, _, units) => with_look_ups(read_time, units),
            Job::Command(_, RequestKind::Write, _, units) => with_look_ups(write_time, units),
            Job::Command(..) => other_time,
            Job::ReadPart(..) => split_time,
            Job::Completion(_) => completion_time,
            Job::Move(_) => collect_time,
        }
    }

    pub(super) fn asked(&mut self, job: Job, now: Time) {
        let time = self.time_of(job);
        let first = match job.address() {
            Some(Lpn(lpn)) if self.times.core_choice == CoreChoice::Address => lpn as usize % self.free_at.len(),
            _ => (0..self.free_at.len()).min_by_key(|&core| self.free_at[core]).unwrap_or_default(),
        };
        let begin = self.free_at[first].max(now);
        // Like in the drive, jobs that begin after the maximum length of a run take no time, so that sums of times do not overflow.
        let end = if begin > Time::RUN_MAX { begin } else { begin + time };
        self.free_at[first] = end;
        self.under_way.push((job, end));
        if let Job::ReadPart(id, first, pages) = job {
            self.parts.queued(id, first, pages);
        }
    }

    pub(super) fn moved(&self, now: Time) -> Result<(), String> {
        match self.under_way.iter().find(|(_, end)| *end < now) {
            Some((job, end)) => Err(format!("{job:?} was to be done at {end}")),
            None => Ok(()),
        }
    }

    pub(super) fn done(&mut self, job: Job, now: Time) -> Result<(), String> {
        let at = self.under_way.iter().position(|known| known.0 == job);
        let at = at.ok_or_else(|| format!("{job:?} is done and was not asked for"))?;
        let (_, end) = self.under_way.remove(at);
        if end != now {
            return Err(format!("{job:?} is done and takes until {end}"));
        }
        match job {
            Job::Command(id, kind, _, units) => {
                self.commands.insert(id, (kind, units));
            }
            Job::ReadPart(id, first, pages) => self.parts.done(id, first, pages),
            Job::Completion(id) => {
                self.completions.insert(id);
            }
            Job::Move(_) => self.moves = self.moves.map(|moves| moves + 1),
        }
        Ok(())
    }

    /// Checks that a command which the controller starts had a job on a core, unless jobs of its kind take no time.
    /// `location` returns the location of a logical page in flash, if it is known.
    pub(super) fn submitted(
        &mut self,
        id: RequestId,
        io: &IoRequest,
        location: impl Fn(Lpn) -> Option<Ppn>,
    ) -> Result<(), String> {
        self.parts.submitted(id, io, location);
        let moves_pages = matches!(io.kind, RequestKind::Read | RequestKind::Write);
        let (first, end) = (io.offset.as_u64() / self.unit.as_u64(), (io.offset + io.size).as_u64());
        let units = if moves_pages { end.div_ceil(self.unit.as_u64()) - first } else { 0 };
        let expected = (self.time_of(Job::Command(id, io.kind, None, units)) > Time::ZERO).then_some((io.kind, units));
        let taken = self.commands.remove(&id);
        if taken == expected {
            return Ok(());
        }
        Err(format!("request {} begins with {taken:?} taken by a core, not {expected:?}", id.0))
    }

    /// Checks that a logical page which the array reads for a command had a job on a core, unless the page needs none.
    /// `untouched` is as in [`ReadParts::read`].
    pub(super) fn read(&mut self, id: RequestId, lpn: Lpn, untouched: Option<Ppn>) -> Result<(), String> {
        self.parts.read(id, lpn, untouched)
    }

    /// Checks that a completion which is sent to the host had a job on a core, unless completion jobs take no time.
    pub(super) fn completed(&mut self, id: RequestId) -> Result<(), String> {
        let was_taken = self.completions.remove(&id);
        self.commands.remove(&id);
        self.parts.completed(id);
        if was_taken == (self.times.completion_time > Time::ZERO) {
            return Ok(());
        }
        Err(format!("the completion of request {} was taken by a core: {was_taken}", id.0))
    }

    /// Checks that a page which GC programmed had a job on a core, unless jobs of GC take no time.
    pub(super) fn programmed(&mut self) -> Result<(), String> {
        if self.times.collect_time == Time::ZERO {
            return Ok(());
        }
        let Some(moves) = &mut self.moves else { return Ok(()) };
        *moves = moves.checked_sub(1).ok_or("a page was moved that no core had taken")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TransactionId;

    const READ: IoRequest = IoRequest {
        arrival: Time::ZERO,
        kind: RequestKind::Read,
        offset: Bytes::from_kib(12),
        size: Bytes::from_kib(20),
        stream: 0,
    };

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    /// Returns the oracle for a controller with two cores and pages of 16 KiB. The job of a read takes 3 us, plus 1 us for each page that the read
    /// covers ([`READ`] covers two); the job of a completion takes 4 us, the job of a page that GC moves 2 us.
    fn cores() -> Cores {
        let firmware = Firmware {
            cores: 2,
            read_time: us(3),
            look_up_time: us(1),
            completion_time: us(4),
            collect_time: us(2),
            ..Firmware::default()
        };
        let mut config = Config { firmware, ..Config::default() };
        config.geometry.page_size = Bytes::from_kib(16);
        Cores::new(&config)
    }

    fn read(id: u32) -> Job {
        Job::Command(RequestId(id), RequestKind::Read, Some(Lpn(3)), 2)
    }

    #[test]
    fn the_core_that_is_free_first_takes_the_next_job() {
        let mut cores = cores();
        let jobs = [read(0), Job::Move(TransactionId(7)), Job::Completion(RequestId(3))];
        jobs.into_iter().for_each(|job| cores.asked(job, us(10)));
        assert_eq!(cores.done(Job::Move(TransactionId(7)), us(12)), Ok(()));
        assert_eq!(cores.done(read(0), us(15)), Ok(()));
        assert_eq!(cores.done(Job::Completion(RequestId(3)), us(16)), Ok(()));
        assert_eq!(cores.submitted(RequestId(0), &READ, |_| None), Ok(()));
        assert_eq!(cores.completed(RequestId(3)), Ok(()));
        assert_eq!(cores.programmed(), Ok(()));
    }

    #[test]
    fn a_job_that_ends_too_early_or_not_at_all_is_caught() {
        let mut cores = cores();
        cores.asked(read(0), us(10));
        assert_eq!(cores.moved(us(15)), Ok(()));
        assert!(cores.moved(us(16)).is_err());
        assert!(cores.done(read(0), us(14)).is_err());
        assert!(cores.done(read(1), us(15)).is_err());
    }

    #[test]
    fn what_no_core_has_taken_is_caught() {
        let mut cores = cores();
        assert!(cores.submitted(RequestId(0), &READ, |_| None).is_err());
        assert!(cores.completed(RequestId(0)).is_err());
        assert!(cores.programmed().is_err());
        cores.asked(Job::Command(RequestId(0), RequestKind::Read, Some(Lpn(3)), 3), us(0));
        assert_eq!(cores.done(Job::Command(RequestId(0), RequestKind::Read, Some(Lpn(3)), 3), us(6)), Ok(()));
        assert!(cores.submitted(RequestId(0), &READ, |_| None).is_err(), "three units in place of two");
    }
}
