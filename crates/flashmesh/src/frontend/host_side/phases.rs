//! Phases: streams of a phase begin when all streams of earlier phases have ended.

use crate::controller::Controller;
use crate::error::RunError;
use crate::host::replay::Mode;
use crate::ids::StreamId;
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::units::Time;

use super::{HostSide, HostStream};

/// Returns the phase numbers of `streams` in descending order, each once.
pub(super) fn of(streams: &[HostStream]) -> Vec<u32> {
    let mut phases: Vec<u32> = streams.iter().map(|stream| stream.config.replay.phase).collect();
    phases.sort_unstable_by(|a, b| b.cmp(a));
    phases.dedup();
    phases
}

impl<M: Model> HostSide<M> {
    /// Starts the phases that can start now: all streams of earlier phases have ended. Fails if a workload cannot be read.
    #[inline(never)]
    pub fn start_phases(&mut self, controller: &Controller, kernel: &mut Kernel<M>) -> Result<(), RunError> {
        while let Some(&phase) = self.phases_left.last() {
            let is_earlier = |stream: &&HostStream| stream.config.replay.phase < phase;
            if !self.streams.iter().filter(is_earlier).all(|stream| stream.replay.has_ended()) {
                return Ok(());
            }
            self.phases_left.pop();
            for index in 0..self.streams.len() {
                if self.streams[index].config.replay.phase != phase {
                    continue;
                }
                let stream = StreamId(index as u32);
                match self.streams[index].replay.start_phase(kernel.now()) {
                    Some(at) => kernel.schedule(lane::ARRIVAL, at, Event::Arrive(stream)),
                    None => self.issue_first(stream, controller, kernel)?,
                }
            }
        }
        Ok(())
    }

    /// Issues the first requests of a stream that has just begun. Fails if its workload cannot be read.
    pub(super) fn issue_first(
        &mut self,
        stream: StreamId,
        controller: &Controller,
        kernel: &mut Kernel<M>,
    ) -> Result<(), RunError> {
        let HostStream { config, replay, .. } = &self.streams[stream.index()];
        if config.replay.ramp_time > Time::ZERO {
            self.counters.streams[stream.index()].set_ramp(replay.begun() + config.replay.ramp_time);
        }
        match self.streams[stream.index()].replay.mode() {
            Mode::Open => self.issue_open(stream, controller, kernel),
            Mode::Stress { outstanding } => {
                (0..outstanding).try_for_each(|_| self.issue_next(stream, controller, kernel))
            }
            Mode::Closed { threads } => {
                (0..threads).try_for_each(|thread| self.issue_for(stream, thread, controller, kernel))
            }
        }
    }
}
