//! Record of link uses for the oracle, a probe that checks the run.

use crate::fabric::Outbox;
use crate::ids::{DieId, LinkId};
use crate::units::Time;

/// Links that one controller holds, in order of reservation, each with the start of its use. Used only with an oracle (a probe that checks the run).
#[derive(Clone, Debug, Default)]
pub(super) struct LinkUseRecorder(Vec<(LinkId, Time)>);

impl LinkUseRecorder {
    /// Records that the controller holds `count` links for `die` at `now`, and adds the ended uses to the outbox. `last` is the link reserved last,
    /// if any. Between two calls, at most the last link is released and one link reserved, or all links are released.
    pub fn record_held(&mut self, count: usize, last: Option<LinkId>, die: DieId, now: Time, outbox: &mut Outbox) {
        let is_kept = self.0.get(count.wrapping_sub(1)).is_none_or(|(held, _)| Some(*held) == last);
        let kept = if is_kept { count } else { count - 1 };
        for (link, since) in self.0.drain(kept.min(self.0.len())..) {
            outbox.record_use(link, die, since, now);
        }
        if self.0.len() < count {
            self.0.extend(last.map(|link| (link, now)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::LinkUse;

    #[test]
    fn each_link_is_told_when_it_is_given_back() {
        let mut outbox = Outbox { link_uses: Some(Vec::new()), ..Outbox::default() };
        let mut trace = LinkUseRecorder::default();
        for (at, count, last) in [(1, 1, 4), (2, 2, 5), (3, 2, 6), (4, 3, 7), (5, 2, 6), (6, 0, 0)] {
            let last = (count > 0).then_some(LinkId(last));
            trace.record_held(count, last, DieId(9), Time::from_ns(at), &mut outbox);
        }
        let told = |link, from, until| LinkUse {
            link: LinkId(link),
            die: DieId(9),
            from: Time::from_ns(from),
            until: Time::from_ns(until),
        };
        assert_eq!(outbox.link_uses.unwrap(), [told(5, 2, 3), told(7, 4, 5), told(4, 1, 6), told(6, 3, 6)]);
    }
}
