//! `[gc]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Share;

choices! {
    /// Which block is collected.
    VictimPolicy {
        /// The block with the fewest valid pages; ties to the lowest block.
        Greedy = "greedy",
        /// The best of d random blocks (RGA).
        DChoices = "d-choices",
        /// Any block.
        Random = "random",
        /// A random block with at least one invalid page.
        RandomP = "random-p",
        /// A random block with at least the over-provisioned share of its pages invalid.
        RandomPp = "random-pp",
        /// The block that was filled first.
        Fifo = "fifo",
    }
}

choices! {
    /// How garbage collection moves a valid page.
    Move {
        /// Inside its plane: the data leaves for the controller and comes back.
        ThroughController = "through-controller",
        /// To the same plane of another chip, straight over the channel or network between the chips, when such a plane takes it;
        /// else as above.
        ChipToChip = "chip-to-chip",
        /// To a plane of another chip, all pages of a block at once: one Clean packet lists them, the two chips read, send and program
        /// them by themselves, and one CleanAck tells the end. What the die of the block is asked for meanwhile waits. Pages that no
        /// plane takes so go through the controller.
        Clean = "clean",
    }
}

impl Move {
    /// Whether pages go straight to another chip.
    pub const fn leaves_the_chip(self) -> bool {
        match self {
            Move::ThroughController => false,
            Move::ChipToChip | Move::Clean => true,
        }
    }
}

choices! {
    /// Which open block of its plane takes a page that collection moves.
    MovedPages {
        /// One for moved pages.
        OwnBlock = "own-block",
        /// The block that writes go to; that of the first stream where streams write apart.
        WriteBlock = "write-block",
    }
}

section! {
    /// Garbage collection.
    Gc, "gc" {
        /// Which block is collected.
        victim: VictimPolicy = VictimPolicy::Greedy;
        /// How many random blocks the victim is the best of.
        d: u32 = 10, in 1..=1024, with "victim" = ["\"d-choices\""];
        /// A plane is collected when its share of free pages falls below this.
        threshold: f64 as Share = 0.02, in 0.0..=0.5;
        /// Below this share of free pages collection goes before user requests even when preemptible.
        hard_threshold: f64 as Share = 0.005, in 0.0..=0.5;
        /// Whether user requests go before the transactions of a collection.
        preemptible: bool = false;
        /// How a valid page moves.
        r#move: Move = Move::ThroughController;
        /// Which open block of its plane takes a page that collection moves.
        moved_pages: MovedPages = MovedPages::OwnBlock, with "ftl.policy" = ["\"page\"", "\"sprinkler\""];
        /// Whether pages move inside their plane without leaving the chip.
        copyback: bool = false;
        /// A plane of an idle die is collected when its share of free pages falls below this; 0 turns it off.
        background_threshold: f64 as Share = 0.0, in 0.0..=0.9;
    }
}
