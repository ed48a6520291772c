//! What an oracle is told: from when until when each link was held.

use crate::fabric::Outbox;
use crate::ids::{DieId, LinkId};
use crate::units::Time;

/// The links that one controller holds, each since when; kept only while an oracle looks.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace(Vec<(LinkId, Time)>);

impl Trace {
    /// The controller, for `die`, holds the links of `path` now: those it held beyond it have been given back.
    pub fn follow(&mut self, path: impl Iterator<Item = LinkId>, die: DieId, now: Time, outbox: &mut Outbox) {
        let mut common = 0;
        let mut taken = Vec::new();
        for link in path {
            if taken.is_empty() && self.0.get(common).is_some_and(|(held, _)| *held == link) {
                common += 1;
            } else {
                taken.push((link, now));
            }
        }
        for (link, since) in self.0.drain(common..) {
            outbox.used(link, die, since, now);
        }
        self.0.append(&mut taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::LinkUse;

    #[test]
    fn each_link_is_told_when_it_is_given_back() {
        let mut outbox = Outbox { uses: Some(Vec::new()), ..Outbox::default() };
        let mut trace = Trace::default();
        for (at, path) in [(1, vec![4]), (2, vec![4, 5]), (3, vec![4, 6, 7]), (5, vec![])] {
            trace.follow(path.into_iter().map(LinkId), DieId(9), Time::from_ns(at), &mut outbox);
        }
        let told = |link, from, until| LinkUse {
            link: LinkId(link),
            die: DieId(9),
            from: Time::from_ns(from),
            until: Time::from_ns(until),
        };
        assert_eq!(outbox.uses.unwrap(), [told(5, 2, 3), told(4, 1, 5), told(6, 3, 5), told(7, 3, 5)]);
    }
}
