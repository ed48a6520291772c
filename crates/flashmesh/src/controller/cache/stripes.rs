//! Stripes of destages (`cache.destage-stripe`): the device cache destages whole stripes, like firmware that writes a superblock over all dies.
//!
//! Due pages wait until they make up a stripe. With `gc.paced`, collections then make the moves that they owe, because the stripe takes the space
//! that these moves free; the stripe is destaged afterwards. A smaller stripe is destaged if a write is stalled or a flush is pending, and no destage
//! is in flight that would help. Partly filled programs on the dies are issued first.

use crate::config::Config;
use crate::flash::geometry::Geometry;

/// Progress of the current stripe.
#[derive(Clone, Debug)]
pub struct Stripes {
    /// Pages of a whole stripe.
    pages: u64,
    /// Pages of the current stripe that are still to be destaged.
    left: u64,
    /// Number of destages in flight.
    on_their_way: u64,
    /// Whether the last destaged page is being read from DRAM. The next destage waits for this read, so that host accesses to DRAM can run between
    /// destages.
    is_read: bool,
    /// Whether partly filled programs have been issued since the current stripe began.
    has_hurried: bool,
}

/// Decision on the next due page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Destage the page.
    Goes,
    /// Hold the page.
    Waits,
    /// Hold the page, and issue partly filled programs: a write or a flush is stalled.
    Hurries,
    /// Begin a stripe with the page, unless collections are behind and take their turn first.
    Begins,
}

impl Stripes {
    /// Creates the state; `None` if pages are destaged one by one.
    pub fn new(config: &Config, geometry: &Geometry) -> Option<Stripes> {
        let pages = config.cache.destage_stripe?.as_u64().div_ceil(geometry.page_size.as_u64());
        Some(Stripes { pages, left: 0, on_their_way: 0, is_read: false, has_hurried: false })
    }

    /// Decides on the first of `due` pages. `presses` is true if a write is stalled or a flush is pending.
    pub fn next(&mut self, due: u64, presses: bool) -> Next {
        // Deallocated pages drop out of their stripe.
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

    /// Begins a stripe of at most `due` pages.
    pub fn begin(&mut self, due: u64) {
        self.left = due.min(self.pages);
        self.has_hurried = false;
    }

    /// Counts a page as destaged. `is_read` is true if the page is read from DRAM first.
    pub fn sent(&mut self, is_read: bool) {
        self.left -= 1;
        self.on_their_way += 1;
        self.is_read = is_read;
    }

    /// Records that the last destaged page has been read from DRAM.
    pub fn read(&mut self) {
        self.is_read = false;
    }

    /// Records that a destaged page has been programmed.
    pub fn saved(&mut self) {
        self.on_their_way -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    /// Creates stripes of three pages.
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
