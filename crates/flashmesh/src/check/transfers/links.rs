//! Oracle `links`: a link is used for one die at a time, and only for a die to which it leads. No link stays held for a die that has
//! neither requested a path nor sent an acknowledgement. The oracle compares each use of a link with the previous use, and the number of
//! the link with the number that leads to the die.

use crate::check::arithmetic::{ArrayTree, in_units};
use crate::check::expected_fabrics::{ExpectedFabric, LinksToDie};
use crate::check::id_vec::IdVec;
use crate::config::Config;
use crate::fabric::LinkUse;
use crate::ids::{DieId, LinkId};
use crate::units::Time;

#[derive(Clone, Debug)]
pub(in super::super) struct Links {
    homes: ArrayTree,
    links: LinksToDie,
    last: IdVec<LinkId, Option<LinkUse>>,
    /// For each die, the number of reasons to hold links: paths requested and not yet released, and acknowledgements in flight.
    wanted: IdVec<DieId, u32>,
}

impl Links {
    pub(in super::super) const NAME: &'static str = "links";

    pub(in super::super) fn new(expected: &ExpectedFabric, config: &Config) -> Links {
        Links {
            homes: ArrayTree::new(&in_units(config)),
            links: expected.links,
            last: IdVec::default(),
            wanted: IdVec::default(),
        }
    }

    /// Returns the only link over which `die` can be reached; `None` if there are several links, or if their number is unknown.
    fn link_to(&self, die: DieId) -> Option<LinkId> {
        match self.links {
            LinksToDie::OfRow => Some(LinkId(self.homes.channel_of_die(die).0)),
            LinksToDie::OfChip => Some(LinkId(self.homes.chip_of_die(die).0)),
            LinksToDie::Several => None,
        }
    }

    /// Counts a reason of `die` to hold links: a path that it requests, or an acknowledgement that it sends.
    pub(in super::super) fn asked(&mut self, die: DieId) {
        *self.wanted.at(die) += 1;
    }

    pub(in super::super) fn done(&mut self, die: DieId) -> Result<(), String> {
        match self.wanted.at(die) {
            0 => Err(format!("die {} is done with a path that it did not ask for", die.0)),
            wanted => {
                *wanted -= 1;
                Ok(())
            }
        }
    }

    pub(in super::super) fn used(&mut self, link_use: LinkUse, now: Time) -> Result<(), String> {
        let LinkUse { link, die, from, until } = link_use;
        if from > until || until > now {
            return Err(format!("link {} was used for die {} from {from} until {until}, told at {now}", link.0, die.0));
        }
        if let Some(own) = self.link_to(die).filter(|own| *own != link) {
            return Err(format!("link {} was used for die {}, to which link {} leads", link.0, die.0, own.0));
        }
        match self.last.insert(link, link_use) {
            Some(last) if last.until > from => Err(format!(
                "link {} was used for die {} from {from}, but until {} for die {}",
                link.0, die.0, last.until, last.die.0
            )),
            _ => Ok(()),
        }
    }

    /// Checks that each link in `held`, the links held at the end of the run, is held for a die that has requested a path or is working
    /// (`works`). A working die can hold a path that is reserved for its data, before it requests this path.
    pub(in super::super) fn finish(
        &self,
        held: &[(LinkId, DieId)],
        works: impl Fn(DieId) -> bool,
    ) -> Result<(), String> {
        for (link, die) in held {
            if self.wanted.get(*die).is_none_or(|&wanted| wanted == 0) && !works(*die) {
                return Err(format!("link {} is held for die {}, which wants nothing any more", link.0, die.0));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::expected_fabrics::UNKNOWN;
    use crate::check::histories::{assert_fails, assert_silent, config, ns, oracles, oracles_with};
    use crate::config::FabricKind;
    use crate::fabric::{Grant, TransferPhase};
    use crate::ids::PathId;

    fn link_use(die: u32, from: u64, until: u64) -> LinkUse {
        LinkUse { link: LinkId(0), die: DieId(die), from: ns(from), until: ns(until) }
    }

    #[test]
    fn one_use_after_the_other_is_right() {
        let mut oracles = oracles();
        oracles.link_used(link_use(1, 5, 10), ns(10));
        oracles.link_used(link_use(0, 10, 12), ns(12));
        assert_silent(&oracles);
    }

    #[test]
    fn a_link_used_for_two_dies_at_once_is_caught() {
        let mut oracles = oracles();
        oracles.link_used(link_use(1, 5, 10), ns(10));
        oracles.link_used(link_use(0, 9, 12), ns(12));
        assert_fails(&oracles, "links", "link 0 was used for die 0 from 9ns, but until 10ns for die 1");
    }

    #[test]
    fn a_use_that_ends_in_the_future_is_caught() {
        let mut oracles = oracles();
        oracles.link_used(link_use(1, 5, 10), ns(9));
        assert_fails(&oracles, "links", "link 0 was used for die 1 from 5ns until 10ns, told at 9ns");
    }

    #[test]
    fn a_link_kept_for_a_die_that_is_done_is_caught() {
        let mut links = Links::new(&UNKNOWN, &config());
        links.asked(DieId(3));
        assert_eq!(links.finish(&[(LinkId(7), DieId(3))], |_| false), Ok(()));
        links.done(DieId(3)).expect("the die requested the link");
        assert_eq!(links.finish(&[(LinkId(7), DieId(3))], |die| die == DieId(3)), Ok(()));
        let error = links.finish(&[(LinkId(7), DieId(3))], |_| false).expect_err("die 3 is done");
        assert_eq!(error, "link 7 is held for die 3, which wants nothing any more");
    }

    #[test]
    fn a_link_that_leads_elsewhere_is_caught() {
        // Die 2 is the first die of channel 1, and of chip 2. With a link for each channel, link 1 leads to it; with a link for each chip, link 2.
        for (kind, own) in [(FabricKind::Bus, 1), (FabricKind::Pssd, 1), (FabricKind::Ideal, 2)] {
            for link in 0..4 {
                let mut config = config();
                config.fabric.kind = kind;
                let mut oracles = oracles_with(&config);
                oracles.link_used(LinkUse { link: LinkId(link), ..link_use(2, 5, 10) }, ns(10));
                if link == own {
                    assert_silent(&oracles);
                } else {
                    let message = format!("link {link} was used for die 2, to which link {own} leads");
                    assert_fails(&oracles, "links", &message);
                }
            }
        }
    }

    #[test]
    fn a_die_that_gives_back_what_it_did_not_ask_for_is_caught() {
        let mut oracles = oracles();
        let grant = Grant { die: DieId(3), phase: TransferPhase::Command, path: PathId(0) };
        oracles.path_granted(grant, ns(1));
        oracles.path_released(grant, ns(1));
        assert_fails(&oracles, "links", "die 3 is done with a path that it did not ask for");
    }
}
