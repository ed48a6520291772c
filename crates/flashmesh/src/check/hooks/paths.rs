//! Hooks of the oracles (checks of a run) for paths, transfers and links between controllers and chips.

use crate::check::Oracles;
use crate::check::transfers::commands::Commands;
use crate::check::transfers::data::Data;
use crate::check::transfers::links::Links;
use crate::check::transfers::paths::Paths;
use crate::check::transfers::searches;
use crate::fabric::{Grant, LinkUse, Payload, ScoutSearch, SendOutcome, TransferPhase};
use crate::ids::{AcknowledgementId, DieId};
use crate::units::Time;

impl Oracles {
    pub fn path_requested(&mut self, die: DieId, _leg: TransferPhase, _now: Time) {
        self.links.asked(die);
    }

    pub fn path_granted(&mut self, grant: Grant, now: Time) {
        self.holds.granted(grant, now);
        let outcome = self.paths.granted(grant, now);
        self.judge(Paths::NAME, outcome, now);
    }

    pub fn sent(&mut self, grant: Grant, die: DieId, payload: Payload, sent: SendOutcome, now: Time) {
        self.energy.sent();
        self.holds.sent(grant, payload);
        let outcome = self.paths.sent(grant, payload, sent, now);
        self.judge(Paths::NAME, outcome, now);
        let outcome = self.commands.sent(die, payload, sent);
        self.judge(Commands::NAME, outcome, now);
        let outcome = self.data.sent(die, payload);
        self.judge(Data::NAME, outcome, now);
    }

    pub fn delivered(&mut self, grant: Grant, now: Time) {
        let outcome = self.paths.delivered(grant, now);
        self.judge(Paths::NAME, outcome, now);
    }

    pub fn path_released(&mut self, grant: Grant, now: Time) {
        self.holds.released(grant, now);
        let outcome = self.paths.released(grant);
        self.judge(Paths::NAME, outcome, now);
        let outcome = self.links.done(grant.die);
        self.judge(Links::NAME, outcome, now);
    }

    pub fn acknowledgement_sent(&mut self, die: DieId, id: AcknowledgementId) {
        self.holds.acknowledgement_sent(die, id);
        self.links.asked(die);
    }

    pub fn acknowledged(&mut self, die: DieId, id: AcknowledgementId, now: Time) {
        self.holds.acknowledged(die, id, now);
        let outcome = self.links.done(die);
        self.judge(Links::NAME, outcome, now);
    }

    pub fn searched(&mut self, search: ScoutSearch, now: Time) {
        let outcome = searches::judge(search);
        self.judge(searches::NAME, outcome, now);
    }

    pub fn link_used(&mut self, link_use: LinkUse, now: Time) {
        self.energy.used(link_use);
        self.holds.used(link_use);
        let outcome = self.links.used(link_use, now);
        self.judge(Links::NAME, outcome, now);
    }
}
