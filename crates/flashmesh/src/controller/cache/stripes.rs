//! The device cache sends whole stripes to flash (`cache.destage-stripe`), as firmware does that writes a superblock over all dies.
//!
//! Pages that are due wait until they make a stripe. With `gc.paced` collections then work off what they owe, since the stripe takes the space that
//! these moves free, and the stripe goes when they have. Fewer pages go when a write waits for room, or a flush waits, and nothing is on its way that
//! would help them: what gathers on a die for want of others is hurried first.

use crate::config::Config;
use crate::flash::geometry::Geometry;

/// Which pages may go.
#[derive(Clone, Debug)]
pub struct Stripes {
    /// Pages of each.
    pages: u64,
    /// Pages of the present one that have still to go.
    left: u64,
    /// Pages that have gone and are not on flash.
    on_their_way: u64,
    /// Whether one of them is read from DRAM: the next one goes after it, so that what hosts write and read in DRAM comes between.
    is_read: bool,
    /// Whether what gathers on dies has been hurried since the last one.
    has_hurried: bool,
}

/// What becomes of the next page that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It goes.
    Goes,
    /// It waits.
    Waits,
    /// It waits, and what gathers on dies runs, since writes or flushes wait for that.
    Hurries,
    /// It is the first of a stripe, before which collection may have its turn.
    Begins,
}

impl Stripes {
    /// `None` where pages go one by one.
    pub fn new(config: &Config, geometry: &Geometry) -> Option<Stripes> {
        let pages = config.cache.destage_stripe?.as_u64().div_ceil(geometry.page_size.as_u64());
        Some(Stripes { pages, left: 0, on_their_way: 0, is_read: false, has_hurried: false })
    }

    /// What becomes of the first of `due` pages; something `presses`: a write waits for room, or a flush waits.
    pub fn next(&mut self, due: u64, presses: bool) -> Next {
        // Pages that were deallocated are missing from their stripe.
        self.left = self.left.min(due);
        if self.left > 0 {
            return if self.is_read { Next::Waits } else { Next::Goes };
        }
        if due >= self.pages || (due > 0 && presses && self.on_their_way == 0) {
            return Next::Begins;
        }
        let hurries = presses && !self.has_hurried;
        self.has_hurried |= hurries;
        if hurries { Next::Hurries } else { Next::Waits }
    }

    /// A stripe begins, of `due` pages at most.
    pub fn begin(&mut self, due: u64) {
        self.left = due.min(self.pages);
        self.has_hurried = false;
    }

    /// A page has gone, `is_read` from DRAM first.
    pub fn sent(&mut self, is_read: bool) {
        self.left -= 1;
        self.on_their_way += 1;
        self.is_read = is_read;
    }

    /// It has been read.
    pub fn read(&mut self) {
        self.is_read = false;
    }

    /// A page that has gone is on flash.
    pub fn saved(&mut self) {
        self.on_their_way -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    /// Stripes of three pages.
    fn stripes() -> Stripes {
        let mut config = Config::default();
        let geometry = Geometry::of(&config).expect("the geometry is possible");
        config.cache.destage_stripe = Some(Bytes::new(2 * geometry.page_size.as_u64() + 1));
        Stripes::new(&config, &geometry).expect("there are stripes")
    }

    fn send(stripes: &mut Stripes, due: u64) -> u64 {
        stripes.begin(due);
        let mut sent = 0;
        while stripes.next(due - sent, false) == Next::Goes {
            stripes.sent(false);
            sent += 1;
        }
        sent
    }

    #[test]
    fn pages_go_when_they_make_a_stripe_and_as_many_as_make_one() {
        let mut stripes = stripes();
        assert_eq!(stripes.next(2, false), Next::Waits);
        assert_eq!(stripes.next(5, false), Next::Begins);
        assert_eq!(send(&mut stripes, 5), 3);
        assert_eq!(stripes.next(2, false), Next::Waits);
    }

    #[test]
    fn fewer_go_when_something_presses_and_nothing_is_on_its_way_which_is_hurried_once() {
        let mut stripes = stripes();
        assert_eq!(send(&mut stripes, 3), 3);
        assert_eq!(stripes.next(1, true), Next::Hurries);
        assert_eq!(stripes.next(1, true), Next::Waits);
        (0..3).for_each(|_| stripes.saved());
        assert_eq!(stripes.next(0, true), Next::Waits);
        assert_eq!(stripes.next(1, true), Next::Begins);
        assert_eq!(send(&mut stripes, 1), 1);
        assert_eq!(stripes.next(1, true), Next::Hurries, "anew");
    }

    #[test]
    fn pages_that_were_deallocated_are_missing_from_their_stripe() {
        let mut stripes = stripes();
        stripes.begin(3);
        stripes.sent(false);
        assert_eq!(stripes.next(0, false), Next::Waits);
        assert_eq!(stripes.next(1, false), Next::Waits, "it is of the next one");
    }

    #[test]
    fn a_page_goes_when_the_one_before_it_has_been_read() {
        let mut stripes = stripes();
        stripes.begin(3);
        stripes.sent(true);
        assert_eq!(stripes.next(2, true), Next::Waits);
        stripes.read();
        assert_eq!(stripes.next(2, false), Next::Goes);
    }
}
