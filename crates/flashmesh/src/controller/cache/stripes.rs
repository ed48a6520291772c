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
    /// Whether the next one waits for collection.
    awaits_collection: bool,
    /// Whether what gathers on dies has been hurried since the last one.
    has_hurried: bool,
}

/// What is to be done before the next page that is due goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// It may go.
    Nothing,
    /// It waits for others.
    Others,
    /// It waits for others, and what gathers on dies has to run, since they have no room.
    Hurry,
    /// Collection may have its turn.
    Collection,
}

impl Stripes {
    /// `None` where pages go one by one.
    pub fn new(config: &Config, geometry: &Geometry) -> Option<Stripes> {
        let pages = config.cache.destage_stripe?.as_u64().div_ceil(geometry.page_size.as_u64());
        Some(Stripes { pages, left: 0, on_their_way: 0, is_read: false, awaits_collection: false, has_hurried: false })
    }

    /// What comes before the next of `due` pages; something `presses`: a write waits for room, or a flush waits.
    pub fn before(&mut self, due: u64, presses: bool) -> Before {
        // Pages that were deallocated leave fewer.
        if due == 0 {
            self.left = 0;
        }
        if self.left > 0 {
            return if self.is_read { Before::Others } else { Before::Nothing };
        }
        let is_whole = due >= self.pages;
        if self.awaits_collection || (due > 0 && (is_whole || (presses && self.on_their_way == 0))) {
            return Before::Collection;
        }
        if presses && !self.has_hurried {
            self.has_hurried = true;
            return Before::Hurry;
        }
        Before::Others
    }

    /// Collection has its turn before the next stripe.
    pub fn await_collection(&mut self) {
        self.awaits_collection = true;
    }

    /// The next stripe goes, of `due` pages at most.
    pub fn begin(&mut self, due: u64) {
        self.left = due.min(self.pages);
        (self.awaits_collection, self.has_hurried) = (false, false);
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
        while stripes.before(due - sent, false) == Before::Nothing {
            stripes.sent(false);
            sent += 1;
        }
        sent
    }

    #[test]
    fn pages_go_when_they_make_a_stripe_and_as_many_as_make_one() {
        let mut stripes = stripes();
        assert_eq!(stripes.before(2, false), Before::Others);
        assert_eq!(stripes.before(5, false), Before::Collection);
        assert_eq!(send(&mut stripes, 5), 3);
        assert_eq!(stripes.before(2, false), Before::Others);
    }

    #[test]
    fn fewer_go_when_something_presses_and_nothing_is_on_its_way_which_is_hurried_once() {
        let mut stripes = stripes();
        assert_eq!(send(&mut stripes, 3), 3);
        assert_eq!(stripes.before(1, true), Before::Hurry);
        assert_eq!(stripes.before(1, true), Before::Others);
        (0..3).for_each(|_| stripes.saved());
        assert_eq!(stripes.before(0, true), Before::Others);
        assert_eq!(stripes.before(1, true), Before::Collection);
        assert_eq!(send(&mut stripes, 1), 1);
        assert_eq!(stripes.before(1, true), Before::Hurry, "anew");
    }

    #[test]
    fn a_stripe_that_waits_for_collection_goes_though_nothing_presses_any_more() {
        let mut stripes = stripes();
        assert_eq!(stripes.before(1, true), Before::Collection);
        stripes.await_collection();
        assert_eq!(stripes.before(1, false), Before::Collection);
        assert_eq!(send(&mut stripes, 1), 1);
    }

    #[test]
    fn a_page_goes_when_the_one_before_it_has_been_read() {
        let mut stripes = stripes();
        stripes.begin(3);
        stripes.sent(true);
        assert_eq!(stripes.before(2, true), Before::Others);
        stripes.read();
        assert_eq!(stripes.before(2, false), Before::Nothing);
    }
}
