//! The latencies of the array, resolved before the run.

use crate::config;
use crate::units::Time;

use super::die::OperationKind;

/// How long each operation and each command takes.
#[derive(Clone, Debug)]
pub struct Timing {
    read: Time,
    program: Time,
    erase: Time,
    copyback: Time,
    command: Time,
    command_per_extra_plane: Time,
    /// From the suspend command until the array is free.
    pub suspend: Time,
    /// From the resume command until the operation goes on.
    pub resume: Time,
}

impl Timing {
    /// Takes the latencies from `config`; beside the array, a controller on the die takes `on_die_controller` for each
    /// command, and again for the data of a read.
    pub fn new(config: &config::Flash, on_die_controller: Time) -> Timing {
        Timing {
            read: config.read_time + on_die_controller * 2,
            program: config.program_time + on_die_controller,
            erase: config.erase_time + on_die_controller,
            copyback: config.read_time + config.program_time + on_die_controller,
            command: config.command_time,
            command_per_extra_plane: config.command_time_per_extra_plane.unwrap_or(config.command_time),
            suspend: config.suspend_time,
            resume: config.resume_time,
        }
    }

    /// How long the array is busy with one operation, over however many planes.
    #[inline]
    pub fn array(&self, kind: OperationKind) -> Time {
        match kind {
            OperationKind::Read => self.read,
            OperationKind::Program => self.program,
            OperationKind::Erase => self.erase,
            OperationKind::Copyback => self.copyback,
        }
    }

    /// How long command and address of an operation over `planes` planes take on the path.
    #[inline]
    pub fn command(&self, planes: usize) -> Time {
        self.command + self.command_per_extra_plane * (planes as u64 - 1)
    }
}
