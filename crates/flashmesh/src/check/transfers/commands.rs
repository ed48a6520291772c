//! Oracle `commands`: a command is sent to the die that began the operation, has the kind and the planes of the operation, and takes the
//! time configured for both; a transfer over a channel takes the time of its bytes.

use crate::check::arithmetic::ExpectedTimes;
use crate::check::expected_fabrics::ExpectedFabric;
use crate::check::id_vec::IdVec;
use crate::config::Config;
use crate::fabric::{Payload, SendOutcome, TransferKind};
use crate::flash::die::OperationKind;
use crate::ids::DieId;
use crate::units::Time;

#[derive(Clone, Debug)]
pub(in super::super) struct Commands {
    times: ExpectedTimes,
    begun: IdVec<DieId, Option<(OperationKind, u32)>>,
}

impl Commands {
    pub(in super::super) const NAME: &'static str = "commands";

    pub(in super::super) fn new(expected: &ExpectedFabric, config: &Config) -> Commands {
        Commands { times: ExpectedTimes::new(expected, config), begun: IdVec::default() }
    }

    pub(in super::super) fn began(&mut self, die: DieId, kind: OperationKind, planes: usize) {
        *self.begun.at(die) = Some((kind, planes as u32));
    }

    pub(in super::super) fn sent(&mut self, die: DieId, payload: Payload, sent: SendOutcome) -> Result<(), String> {
        let kind = match payload.kind {
            TransferKind::Read => Some(OperationKind::Read),
            TransferKind::Program => Some(OperationKind::Program),
            TransferKind::Erase => Some(OperationKind::Erase),
            TransferKind::Copyback => Some(OperationKind::Copyback),
            TransferKind::Data | TransferKind::ChipToChipData => None,
        };
        let planes = payload.planes;
        let command = match kind {
            None => Time::ZERO,
            Some(kind) => {
                if let Some((begun, over)) = self.begun.at(die).take().filter(|begun| *begun != (kind, planes)) {
                    return Err(format!(
                        "die {} took a {begun:?} over {over} planes, and was sent the command for a {kind:?} over {planes}",
                        die.0
                    ));
                }
                self.times.command(kind, planes)
            }
        };
        if payload.command_time != command {
            let message = payload.kind;
            return Err(format!(
                "the command of a {message:?} over {planes} planes of die {} takes {}, but should take {command}",
                die.0, payload.command_time
            ));
        }
        match self.times.on_channel(payload) {
            Some(time) if time != sent.min_duration => Err(format!(
                "a {:?} of {} for die {} takes {} on its channel, but should take {time}",
                payload.kind, payload.bytes, die.0, sent.min_duration
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Oracles;
    use crate::check::histories::{assert_fails, assert_silent, config, ns, oracles_with, us};
    use crate::config::FabricKind;
    use crate::fabric::{Grant, TransferPhase};
    use crate::ids::PathId;
    use crate::units::{Bytes, Rate};

    const DIE: DieId = DieId(1);

    /// Returns a configuration with a transfer time of 1 ns per byte, a command time of 10 ns, and 30 ns for each further plane of a command.
    fn config_of(kind: FabricKind) -> Config {
        let mut config = config();
        config.fabric.kind = kind;
        config.fabric.channel_rate = Rate::from_bytes_per_second(1_000_000_000);
        config.flash.command_time_per_extra_plane = Some(ns(30));
        config
    }

    /// Reports the command of a two-plane program to the oracles, with payload and times altered by `change`.
    fn sent(config: &Config, change: impl Fn(&mut Payload, &mut SendOutcome)) -> Oracles {
        let mut oracles = oracles_with(config);
        let grant = Grant { die: DIE, phase: TransferPhase::Command, path: PathId(0) };
        oracles.path_requested(DIE, TransferPhase::Command, us(0));
        oracles.path_granted(grant, us(0));
        oracles.operation_began(DIE, OperationKind::Program, 2, us(0));
        let bytes = Bytes::from_kib(8);
        let mut payload = Payload { kind: TransferKind::Program, planes: 2, command_time: ns(40), bytes };
        let mut sent = SendOutcome { arrival: None, min_duration: ns(40 + 8192) };
        change(&mut payload, &mut sent);
        oracles.sent(grant, DIE, payload, sent, us(0));
        oracles
    }

    #[test]
    fn a_command_with_the_time_of_its_kind_and_planes_is_right() {
        assert_silent(&sent(&config_of(FabricKind::Bus), |_, _| ()));
        assert_silent(&sent(&config_of(FabricKind::Ideal), |_, _| ()));
        // A control packet of 8 B for each plane, and 8192 B of data with 24 B of framing, at 2 B per ns.
        assert_silent(&sent(&config_of(FabricKind::Pssd), |_, sent| sent.min_duration = ns(4 + 4 + (8192 + 24) / 2)));
    }

    #[test]
    fn a_command_of_a_wrong_time_is_caught() {
        let caught = sent(&config_of(FabricKind::Bus), |payload, _| payload.command_time = ns(20));
        let message = "the command of a Program over 2 planes of die 1 takes 20ns, but should take 40ns";
        assert_fails(&caught, "commands", message);
    }

    #[test]
    fn a_command_for_another_operation_is_caught() {
        let planes = sent(&config_of(FabricKind::Bus), |payload, _| payload.planes = 1);
        let message = "die 1 took a Program over 2 planes, and was sent the command for a Program over 1";
        assert_fails(&planes, "commands", message);
        let kind = sent(&config_of(FabricKind::Bus), |payload, _| payload.kind = TransferKind::Erase);
        assert_fails(&kind, "commands", "was sent the command for a Erase over 2");
    }

    #[test]
    fn a_transfer_that_is_a_picosecond_too_fast_for_its_channel_is_caught() {
        for kind in [FabricKind::Bus, FabricKind::Pssd, FabricKind::Ideal] {
            let least = Time::from_ps(if kind == FabricKind::Pssd { 4_115_999 } else { 8_231_999 });
            let caught = sent(&config_of(kind), |_, sent| sent.min_duration = least);
            assert_fails(&caught, "commands", "a Program of 8KiB for die 1 takes");
        }
    }
}
