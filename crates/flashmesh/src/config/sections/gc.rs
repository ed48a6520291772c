//! `[gc]`

use crate::config::Config;
use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::{Bytes, Share};

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
        /// To the same plane of another chip, directly over the channel or network between the chips, when such a plane has room;
        /// else as above.
        ChipToChip = "chip-to-chip",
        /// To a plane of another chip, all pages of a block at once: one Clean packet lists them, the two chips read, send and program
        /// them by themselves, and one CleanAck reports the end. Other transactions of the die of the block wait meanwhile. Pages that no
        /// plane can take go through the controller.
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
        /// A block of its own.
        OwnBlock = "own-block",
        /// The block that writes go to; that of the first stream where streams write apart.
        WriteBlock = "write-block",
    }
}

section! {
    /// Garbage collection.
    Gc, "gc" {
        /// Which block is collected.
        victim: VictimPolicy = VictimPolicy::Greedy, with "policy.victim" = [""] or "precondition.kind" = ["\"random\""], needs plain, step "greedy | d-choices | fifo";
        /// How many random blocks the victim is the best of.
        d: u32 = 10, in 1..=1024, with "victim" = ["\"d-choices\""],
            with "policy.victim" = [""] or "precondition.kind" = ["\"random\""], needs plain;
        /// A plane is collected when its share of free pages falls below this.
        threshold: f64 as Share = 0.02, in 0.0..=0.5, needs plain, step "x2";
        /// Below this share of free pages collection goes before user requests even when preemptible.
        hard_threshold: f64 as Share = 0.005, in 0.0..=0.5, needs plain;
        /// Whether user requests go before the transactions of a collection.
        preemptible: bool = false, needs plain, step "false | true";
        /// Whether a collection keeps pace with the writes of its die: for each page written it moves as many as its victim has valid ones
        /// for each invalid one, so that the space which it frees is there when it is needed. Writes wait while it is behind; reads do not. With
        /// `cache.destage-stripe` it works off what it owes before each stripe.
        paced: bool = false, with "preemptible" = ["true"], needs any, step "false | true";
        /// How a valid page moves.
        r#move: Move = Move::ThroughController, needs any, step "through-controller | chip-to-chip | clean";
        /// Which open block of its plane takes a page that collection moves.
        moved_pages: MovedPages = MovedPages::OwnBlock, with "ftl.policy" = ["\"page\"", "\"sprinkler\""], needs plain;
        /// Whether pages move inside their plane without leaving the chip.
        copyback: bool = false, needs plain, step "false | true";
        /// A plane of an idle die is collected when its share of free pages falls below this; 0 turns it off.
        background_threshold: f64 as Share = 0.0, in 0.0..=0.9, needs plain;
    }
}

impl Config {
    /// Whether collections take turns with the stripes that the device cache sends.
    pub fn collection_takes_turns(&self) -> bool {
        self.gc.paced && self.cache.destage_stripe.is_some() && self.cache.capacity > Bytes::ZERO
    }
}
