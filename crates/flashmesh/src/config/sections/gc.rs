//! The section `[gc]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::choices;
use crate::config::section::section;
use crate::config::{Config, FirmwarePolicy};
use crate::units::{Bytes, Share};

choices! {
    /// The rule that selects the victim block.
    VictimPolicy {
        /// Block with the fewest valid pages; among equal blocks, the one with the lowest number.
        Greedy = "greedy",
        /// Best of d random blocks (RGA).
        DChoices = "d-choices",
        /// Random block.
        Random = "random",
        /// Random block with at least one invalid page.
        RandomP = "random-p",
        /// Random block with at least the over-provisioned share of its pages invalid.
        RandomPp = "random-pp",
        /// Block that was filled first.
        Fifo = "fifo",
    }
}

choices! {
    /// The way in which garbage collection moves a valid page.
    PageMove {
        /// Move within the plane of the page: the data goes to the controller and back.
        ThroughController = "through-controller",
        /// Move to the same plane of another chip, directly over the channel or the network between the chips, if that plane has space;
        /// otherwise like `through-controller`.
        ChipToChip = "chip-to-chip",
        /// Move to a plane of another chip, all pages of a block together: one Clean packet lists them, the two chips read, send and
        /// program them on their own, and one CleanAck reports the end. Meanwhile other transactions of the victim's die wait. Pages
        /// without space in any plane go through the controller.
        Clean = "clean",
    }
}

impl PageMove {
    /// Returns whether pages move directly to another chip.
    pub const fn crosses_chips(self) -> bool {
        match self {
            PageMove::ThroughController => false,
            PageMove::ChipToChip | PageMove::Clean => true,
        }
    }
}

choices! {
    /// The open block to which collection moves a page.
    MovedPages {
        /// A separate open block for moved pages.
        OwnBlock = "own-block",
        /// The open block for writes; with separate blocks per stream, the block of the first stream.
        WriteBlock = "write-block",
    }
}

section! {
    /// Garbage collection.
    Gc, "gc" {
        /// Rule that selects the victim block.
        victim: VictimPolicy = VictimPolicy::Greedy, with "policy.victim" = [""] or "precondition.kind" = ["\"random\""], needs plain, step "greedy | d-choices | fifo";
        /// Number of random blocks of which the best is the victim.
        d: u32 = 10, in 1..=1024, with "victim" = ["\"d-choices\""],
            with "policy.victim" = [""] or "precondition.kind" = ["\"random\""], needs plain;
        /// Share of free pages below which a plane is collected. A plane with fewer free pages than two blocks have is collected in any
        /// case.
        threshold: f64 as Share = 0.02, in 0.0..=0.5, needs plain, step "x2";
        /// Share of free pages below which collection precedes user requests even with `preemptible`. Below one block of free pages,
        /// collection precedes them in any case.
        hard_threshold: f64 as Share = 0.005, in 0.0..=0.5, needs plain;
        /// Whether user requests precede the transactions of a collection.
        preemptible: bool = false, needs plain, step "false | true";
        /// Whether collection keeps pace with the writes of its plane. If the victim has v valid and i invalid pages, collection moves v /
        /// i pages per page written, so that space is freed as fast as space is used. Writes wait while collection is behind; reads do not.
        /// Moves that writes wait for precede reads once the moves have waited for `schedule.age-bound`. With `cache.destage-stripe`,
        /// collection makes its owed moves before each stripe.
        paced: bool = false, with "preemptible" = ["true"], needs any, step "false | true";
        /// Way in which a valid page moves.
        r#move: PageMove = PageMove::ThroughController, needs any, step "through-controller | chip-to-chip | clean";
        /// Open block to which collection moves a page.
        moved_pages: Option<MovedPages> = None, unset "own-block; write-block with the policies tbm and superblock",
            with "ftl.policy" = ["\"page\"", "\"sprinkler\"", "\"tbm\"", "\"superblock\""], needs plain, step "own-block | write-block";
        /// Whether pages that move within their plane stay in the chip (copyback), without a transfer to the controller.
        copyback: bool = false, needs plain, step "false | true";
        /// Share of free pages below which a plane of an idle die is collected; 0 turns background collection off.
        background_threshold: f64 as Share = 0.0, in 0.0..=0.9, needs plain;
    }
}

impl Config {
    /// Returns the open block to which collection moves pages; the policies `tbm` and `superblock` have a default of their own.
    pub(crate) fn moved_pages(&self) -> MovedPages {
        let has_superblocks = matches!(self.ftl.policy, FirmwarePolicy::Tbm | FirmwarePolicy::Superblock);
        let default = if has_superblocks { MovedPages::WriteBlock } else { MovedPages::OwnBlock };
        self.gc.moved_pages.unwrap_or(default)
    }

    /// Returns whether garbage collection alternates with destaging: collection is paced, and the device cache destages whole stripes.
    pub fn gc_alternates_with_destage(&self) -> bool {
        self.gc.paced && self.cache.destage_stripe.is_some() && self.cache.capacity > Bytes::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn superblocks_move_pages_to_the_write_block_unless_told_otherwise() {
        let moved = |policy, key| {
            let mut config = Config::default();
            (config.ftl.policy, config.gc.moved_pages) = (policy, key);
            config.moved_pages()
        };
        assert_eq!(moved(FirmwarePolicy::Tbm, None), MovedPages::WriteBlock);
        assert_eq!(moved(FirmwarePolicy::Superblock, None), MovedPages::WriteBlock);
        assert_eq!(moved(FirmwarePolicy::Tbm, Some(MovedPages::OwnBlock)), MovedPages::OwnBlock);
        assert_eq!(moved(FirmwarePolicy::Page, None), MovedPages::OwnBlock);
    }
}
