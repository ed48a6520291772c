//! Oracle `paths`: a path carries one transfer at a time, and only for the die to which it was granted; every byte sent
//! arrives once. The oracle tracks the stage of each path and sums the bytes.

use crate::check::id_vec::IdVec;
use crate::fabric::{Grant, Payload, SendOutcome};
use crate::ids::PathId;
use crate::units::{Bytes, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Granted,
    Sent { bytes: Bytes, at: Time, least: Time },
    Delivered,
}

#[derive(Clone, Copy, Debug)]
struct PathHolder {
    grant: Grant,
    since: Time,
    stage: Stage,
}

#[derive(Clone, Debug, Default)]
pub(in super::super) struct Paths {
    held: IdVec<PathId, Option<PathHolder>>,
    bytes_sent: Bytes,
    bytes_arrived: Bytes,
}

fn name(grant: Grant) -> String {
    let Grant { die, phase, path } = grant;
    format!("path {} of die {} ({phase:?})", path.0, die.0)
}

impl Paths {
    pub(in super::super) const NAME: &'static str = "paths";

    /// Returns the state of the path of `grant`.
    ///
    /// # Errors
    /// A message, in which `does` is the verb for the access, if the path is not held under `grant`.
    fn holder(&mut self, grant: Grant, does: &str) -> Result<&mut PathHolder, String> {
        match self.held.find_mut(grant.path) {
            Some(held) if held.grant == grant => Ok(held),
            Some(held) => Err(format!("{}: {does}, but it was granted as the {}", name(grant), name(held.grant))),
            None => Err(format!("{}: {does}, but it was not granted", name(grant))),
        }
    }

    pub(in super::super) fn granted(&mut self, grant: Grant, now: Time) -> Result<(), String> {
        let held = PathHolder { grant, since: now, stage: Stage::Granted };
        match self.held.insert(grant.path, held) {
            None => Ok(()),
            Some(before) => Err(format!(
                "{}: granted, but it is held since {} as the {}",
                name(grant),
                before.since,
                name(before.grant)
            )),
        }
    }

    pub(in super::super) fn sent(
        &mut self,
        grant: Grant,
        payload: Payload,
        sent: SendOutcome,
        now: Time,
    ) -> Result<(), String> {
        let held = self.holder(grant, "sent over")?;
        if held.stage != Stage::Granted {
            return Err(format!("{}: sent over a second time under one grant; it is {:?}", name(grant), held.stage));
        }
        held.stage = Stage::Sent { bytes: payload.bytes, at: now, least: sent.min_duration };
        self.bytes_sent += payload.bytes;
        Ok(())
    }

    pub(in super::super) fn delivered(&mut self, grant: Grant, now: Time) -> Result<(), String> {
        let held = self.holder(grant, "delivered")?;
        let Stage::Sent { bytes, at, least } = held.stage else {
            return Err(format!("{}: delivered, but nothing is on its way; it is {:?}", name(grant), held.stage));
        };
        let earliest = at + least;
        if now < earliest {
            return Err(format!(
                "{}: delivered at {now}, but sent at {at} over a path that takes {least} at least: not before {earliest}",
                name(grant)
            ));
        }
        held.stage = Stage::Delivered;
        self.bytes_arrived += bytes;
        Ok(())
    }

    pub(in super::super) fn released(&mut self, grant: Grant) -> Result<(), String> {
        let held = self.holder(grant, "released")?;
        if let Stage::Sent { bytes, at, .. } = held.stage {
            return Err(format!("{}: released while {bytes} sent at {at} are on their way", name(grant)));
        }
        self.held.remove(grant.path);
        Ok(())
    }

    /// Checks at the end of the run that no path is held without a transfer in flight, and that all bytes sent have arrived or are in flight.
    /// Transfers of GC may be in flight, because the run ends with its last request.
    pub(in super::super) fn finish(&self) -> Result<(), String> {
        let mut on_their_way = Bytes::ZERO;
        for (_, held) in self.held.iter() {
            match held.stage {
                Stage::Sent { bytes, .. } => on_their_way += bytes,
                Stage::Granted | Stage::Delivered => {
                    let PathHolder { grant, since, stage } = held;
                    return Err(format!("{}: never released, held since {since}, {stage:?}", name(*grant)));
                }
            }
        }
        if self.bytes_sent != self.bytes_arrived + on_their_way {
            return Err(format!(
                "{} B were sent, {} B arrived and {} B are on their way",
                self.bytes_sent.as_u64(),
                self.bytes_arrived.as_u64(),
                on_their_way.as_u64()
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::check::Oracles;
    use crate::check::histories::{assert_fails, assert_silent, config, end, ns, oracles_with};
    use crate::fabric::{Grant, Payload, SendOutcome, TransferKind, TransferPhase};
    use crate::ids::{DieId, PathId};
    use crate::units::{Bytes, Rate, Time};

    const COMMAND: Grant = Grant { die: DieId(3), phase: TransferPhase::Command, path: PathId(1) };
    const DATA: Grant = Grant { die: DieId(2), phase: TransferPhase::DataOut, path: PathId(1) };
    const PAGE: Payload =
        Payload { kind: TransferKind::Program, planes: 1, command_time: Time::from_ns(10), bytes: Bytes::from_kib(4) };
    const SENT: SendOutcome = SendOutcome { arrival: None, min_duration: Time::from_ns(10) };

    /// Creates oracles of a bus whose transfers take no time.
    fn oracles() -> Oracles {
        let mut config = config();
        config.fabric.channel_rate = Rate::UNLIMITED;
        oracles_with(&config)
    }

    fn sent() -> Oracles {
        let mut oracles = oracles();
        oracles.path_requested(COMMAND.die, COMMAND.phase, ns(5));
        oracles.path_granted(COMMAND, ns(5));
        oracles.sent(COMMAND, COMMAND.die, PAGE, SENT, ns(5));
        oracles
    }

    #[test]
    fn one_transfer_after_the_other_and_an_unused_grant_are_right() {
        let mut oracles = sent();
        oracles.delivered(COMMAND, ns(15));
        oracles.path_released(COMMAND, ns(15));
        oracles.path_requested(DATA.die, DATA.phase, ns(10));
        oracles.path_granted(DATA, ns(15));
        oracles.path_released(DATA, ns(15));
        oracles.path_requested(DATA.die, DATA.phase, ns(18));
        oracles.path_granted(DATA, ns(20));
        oracles.sent(DATA, DATA.die, PAGE, SENT, ns(20));
        end(&mut oracles, ns(25));
        assert_silent(&oracles);
    }

    #[test]
    fn a_path_granted_to_two_dies_is_caught() {
        let mut oracles = sent();
        oracles.path_granted(DATA, ns(6));
        let message = "path 1 of die 2 (DataOut): granted, but it is held since 5ns as the path 1 of die 3 (Command)";
        assert_fails(&oracles, "paths", message);
    }

    #[test]
    fn sending_without_a_grant_is_caught() {
        let mut oracles = oracles();
        oracles.sent(DATA, DATA.die, PAGE, SENT, ns(1));
        assert_fails(&oracles, "paths", "path 1 of die 2 (DataOut): sent over, but it was not granted");
    }

    #[test]
    fn sending_over_the_path_of_another_die_is_caught() {
        let mut oracles = sent();
        oracles.sent(DATA, DATA.die, PAGE, SENT, ns(6));
        assert_fails(&oracles, "paths", "sent over, but it was granted as the path 1 of die 3 (Command)");
    }

    #[test]
    fn sending_twice_under_one_grant_is_caught() {
        let mut oracles = sent();
        oracles.sent(COMMAND, COMMAND.die, PAGE, SENT, ns(6));
        assert_fails(&oracles, "paths", "sent over a second time under one grant");
    }

    #[test]
    fn bytes_that_arrive_twice_are_caught() {
        let mut oracles = sent();
        oracles.delivered(COMMAND, ns(15));
        oracles.delivered(COMMAND, ns(16));
        assert_fails(&oracles, "paths", "delivered, but nothing is on its way; it is Delivered");
    }

    #[test]
    fn bytes_that_arrive_before_their_command_is_over_are_caught() {
        let mut oracles = sent();
        oracles.delivered(COMMAND, Time::from_ps(14_999));
        let message = "delivered at 14.999ns, but sent at 5ns over a path that takes 10ns at least: not before 15ns";
        assert_fails(&oracles, "paths", message);
    }

    #[test]
    fn a_path_released_under_its_transfer_is_caught() {
        let mut oracles = sent();
        oracles.path_released(COMMAND, ns(6));
        assert_fails(&oracles, "paths", "released while 4KiB sent at 5ns are on their way");
    }

    #[test]
    fn a_path_that_is_never_released_is_caught_at_the_end() {
        let mut oracles = sent();
        oracles.delivered(COMMAND, ns(15));
        end(&mut oracles, ns(20));
        assert_fails(&oracles, "paths", "path 1 of die 3 (Command): never released, held since 5ns, Delivered");
    }

    #[test]
    fn bytes_that_are_lost_on_their_way_are_caught_at_the_end() {
        let mut oracles = sent();
        oracles.delivered(COMMAND, ns(15));
        oracles.path_released(COMMAND, ns(15));
        oracles.paths.bytes_arrived = Bytes::from_kib(3);
        end(&mut oracles, ns(20));
        assert_fails(&oracles, "paths", "4096 B were sent, 3072 B arrived and 0 B are on their way");
    }
}
