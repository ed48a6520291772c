//! Stripes of destages (`cache.destage-stripe`): the device cache destages whole stripes, like firmware that writes a superblock over all dies.
//!
//! Due pages wait until they make up a stripe. With `gc.paced`, collections first make the page moves that they owe, to free the space for the
//! stripe. If a write is stalled or a flush is pending, a smaller stripe is destaged. While earlier destages are in flight, partly filled programs on
//! the dies are issued instead.

use crate::config::Config;
use crate::flash::geometry::Geometry;

/// Progress of the current stripe: the pages that the device cache destages together.
#[derive(Clone, Debug)]
pub struct Stripes {
    /// Number of pages of a complete stripe.
    pages: u64,
    /// Number of pages of the current stripe that are still to be destaged.
    remaining: u64,
    /// Number of pages whose destage has begun and is not acknowledged.
    in_flight: u64,
    /// Whether the page whose destage began last is being read from DRAM. The next destage waits for this read, so that host accesses to DRAM can run
    /// between destages.
    is_read: bool,
    /// Whether partly filled programs have been issued since the current stripe began, because a write was stalled or a flush was pending.
    has_hurried: bool,
}

/// Decision on the next page that is due for destage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StripeDecision {
    /// Destage the page.
    Destage,
    /// Hold the page, because no stripe is complete or the page whose destage began last is still being read from DRAM.
    Hold,
    /// Hold the page, and issue partly filled programs, because a write is stalled or a flush is pending.
    FlushPrograms,
    /// Begin a stripe with the page. If garbage collection owes page moves, it makes these moves first.
    BeginStripe,
}

impl Stripes {
    /// Creates the state before the first stripe; `None` if pages are destaged one by one.
    pub fn new(config: &Config, geometry: &Geometry) -> Option<Stripes> {
        let pages = config.cache.destage_stripe?.as_u64().div_ceil(geometry.page_size.as_u64());
        Some(Stripes { pages, remaining: 0, in_flight: 0, is_read: false, has_hurried: false })
    }

    /// Decides on the next page to destage. `due` is the number of pages to destage. `presses` is true if a write is stalled or a flush is pending; a
    /// smaller stripe may then begin.
    pub fn next(&mut self, due: u64, presses: bool) -> StripeDecision {
        // Pages that were deallocated before their destage are not replaced, so the stripe has fewer pages.
        self.remaining = self.remaining.min(due);
        if self.remaining > 0 {
            return if self.is_read { StripeDecision::Hold } else { StripeDecision::Destage };
        }
        if due >= self.pages || (due > 0 && presses && self.in_flight == 0) {
            return StripeDecision::BeginStripe;
        }
        let hurries = presses && !self.has_hurried;
        self.has_hurried |= hurries;
        if hurries { StripeDecision::FlushPrograms } else { StripeDecision::Hold }
    }

    /// Begins a stripe of at most `due` pages.
    pub fn begin(&mut self, due: u64) {
        self.remaining = due.min(self.pages);
        self.has_hurried = false;
    }

    /// Counts a page whose destage begins. `is_read` is true if the page must first be read from DRAM.
    pub fn sent(&mut self, is_read: bool) {
        self.remaining -= 1;
        self.in_flight += 1;
        self.is_read = is_read;
    }

    /// Records that the page whose destage began last has been read from DRAM.
    pub fn read(&mut self) {
        self.is_read = false;
    }

    /// Records that a destaged page has been programmed and acknowledged.
    pub fn saved(&mut self) {
        self.in_flight -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    /// Creates stripes of three pages: a size of two pages and one byte is rounded up.
    fn stripes() -> Stripes {
        let mut config = Config::default();
        let geometry = Geometry::from_config(&config).expect("the geometry is valid");
        config.cache.destage_stripe = Some(Bytes::new(2 * geometry.page_size.as_u64() + 1));
        Stripes::new(&config, &geometry).expect("stripes are enabled")
    }

    fn send(stripes: &mut Stripes, due: u64) -> u64 {
        stripes.begin(due);
        let mut sent = 0;
        while stripes.next(due - sent, false) == StripeDecision::Destage {
            stripes.sent(false);
            sent += 1;
        }
        sent
    }

    #[test]
    fn pages_go_when_they_make_a_stripe_and_as_many_as_make_one() {
        let mut stripes = stripes();
        assert_eq!(stripes.next(2, false), StripeDecision::Hold);
        assert_eq!(stripes.next(5, false), StripeDecision::BeginStripe);
        assert_eq!(send(&mut stripes, 5), 3);
        assert_eq!(stripes.next(2, false), StripeDecision::Hold);
    }

    #[test]
    fn fewer_go_when_something_presses_and_nothing_is_on_its_way_which_is_hurried_once() {
        let mut stripes = stripes();
        assert_eq!(send(&mut stripes, 3), 3);
        assert_eq!(stripes.next(1, true), StripeDecision::FlushPrograms);
        assert_eq!(stripes.next(1, true), StripeDecision::Hold);
        (0..3).for_each(|_| stripes.saved());
        assert_eq!(stripes.next(0, true), StripeDecision::Hold);
        assert_eq!(stripes.next(1, true), StripeDecision::BeginStripe);
        assert_eq!(send(&mut stripes, 1), 1);
        assert_eq!(stripes.next(1, true), StripeDecision::FlushPrograms, "anew");
    }

    #[test]
    fn pages_that_were_deallocated_are_missing_from_their_stripe() {
        let mut stripes = stripes();
        stripes.begin(3);
        stripes.sent(false);
        assert_eq!(stripes.next(0, false), StripeDecision::Hold);
        assert_eq!(stripes.next(1, false), StripeDecision::Hold, "the page belongs to the next stripe");
    }

    #[test]
    fn a_page_goes_when_the_one_before_it_has_been_read() {
        let mut stripes = stripes();
        stripes.begin(3);
        stripes.sent(true);
        assert_eq!(stripes.next(2, true), StripeDecision::Hold);
        stripes.read();
        assert_eq!(stripes.next(2, false), StripeDecision::Destage);
    }
}
