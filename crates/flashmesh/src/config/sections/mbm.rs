//! `[mbm]`

use super::flash::Suspension;
use super::ftl::FirmwarePolicy;
use crate::config::Config;
use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Bytes;

choices! {
    /// How often the Minimizing Chip consumption Strategy begins anew.
    McsBegins {
        /// Each time that waiting writes are given to chips: "when allocating pages for write requests" (section IV.C).
        EachAllocation = "each-allocation",
        /// Once for each channel until no write waits.
        OnceUntilDrained = "once-until-drained",
    }
}

choices! {
    /// Which reads decide whether an area is read-intensive.
    AreaRule {
        /// The latest one: one as long as that makes it so, a shorter one ends it (section IV.B: "otherwise, the area is not").
        LatestRead = "latest-read",
        /// One that is long enough makes it so for ever.
        AnyRead = "any-read",
    }
}

section! {
    /// The parts of MBM (Maximizing Bandwidth Management FTL), each with a switch of its own.
    Mbm, "mbm", with "ftl.policy" = ["\"mbm\""] but for [] {
        /// Write strategy (WS): pages that collection moves go to an open block of their own, the planes of a die keep equal write
        /// pointers, and channels share the waiting writes by `Channel_Max_Subs`. Without it moved pages go to the block that is
        /// written, planes take turns, and so do channels.
        ws: bool = true, needs any;
        /// Read strategy (RS): planes join in a read for pages of one request only, and areas that long requests read are laid
        /// out over all dies, and laid out anew where they lie unevenly.
        rs: bool = true, needs any;
        /// Minimizing Chip consumption Strategy (MCS): waiting writes first go to the free chip that takes the fewest pages at once,
        /// then to those that take the most. Without it chips take turns.
        mcs: bool = true, needs any;
        /// Which operations a waiting host read suspends under this policy, in place of `flash.suspension`.
        suspension: Suspension = Suspension::Both, needs any;
        /// Whether host reads go before the operations of a collection on their die, and suspend them as `suspension` says, whatever
        /// `gc.preemptible` says of requests. Erases are operations of collections: without it none is ever suspended there.
        reads_before_collection: bool = true, needs any;
        /// How often MCS begins with the chip that takes the fewest pages.
        mcs_begins: McsBegins = McsBegins::EachAllocation, with "mcs" = ["true"], needs any;
        /// A read request longer than this makes its area read-intensive.
        read_threshold: Bytes = Bytes::from_kib(32), in Bytes::new(512).., with "rs" = ["true"], needs any;
        /// Which reads decide whether an area is read-intensive.
        area_rule: AreaRule = AreaRule::LatestRead, with "rs" = ["true"], needs any;
        /// Size of the areas that are read-intensive or not.
        area_size: Option<Bytes> = None, unset "a page on each die", in Bytes::new(512)..,
            with "rs" = ["true"], needs any;
        /// Reallocated pages that may wait for their programs at a time; none turns reallocation off.
        reallocations_max: u32 = 64, in 0..=65_536, with "rs" = ["true"], needs any;
    }
}

impl Config {
    /// Whether host reads go before collection on their die where other requests may not.
    pub fn reads_go_before_collection(&self) -> bool {
        self.ftl.policy == FirmwarePolicy::Mbm && self.mbm.reads_before_collection
    }

    /// Which operations a waiting host read suspends: what the policy says that has a say in it, else the chips.
    pub fn suspension(&self) -> Suspension {
        match self.ftl.policy {
            FirmwarePolicy::Mbm => self.mbm.suspension,
            _ => self.flash.suspension,
        }
    }
}
