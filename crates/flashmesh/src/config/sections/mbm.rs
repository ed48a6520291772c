//! `[mbm]`

use super::flash::Suspension;
use super::ftl::FirmwarePolicy;
use crate::config::Config;
use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Bytes;

choices! {
    /// How often the Minimizing Chip consumption Strategy restarts.
    McsBegins {
        /// Each time that waiting writes are assigned to chips: "when allocating pages for write requests" (section IV.C).
        EachAllocation = "each-allocation",
        /// Once for each channel, until no write waits.
        OnceUntilDrained = "once-until-drained",
    }
}

choices! {
    /// The reads that decide whether an area is read-intensive.
    AreaRule {
        /// The latest read: a long read makes the area read-intensive, a shorter read ends this state (section IV.B: "otherwise, the area is not").
        LatestRead = "latest-read",
        /// Any read: one long read makes the area read-intensive for the rest of the run.
        AnyRead = "any-read",
    }
}

section! {
    /// The parts of MBM (Maximizing Bandwidth Management FTL), each with its own switch.
    Mbm, "mbm", with "ftl.policy" = ["\"mbm\""] but for [] {
        /// Write strategy (WS): pages moved by collection have their own open block, the planes of a die keep equal write pointers, and channels
        /// share the waiting writes by `Channel_Max_Subs`. If `false`, moved pages go to the block for writes, and planes and channels take turns.
        ws: bool = true, needs any;
        /// Read strategy (RS): planes join in a read only for pages of one request, and areas read by long requests are laid out
        /// over all dies, and moved if they are distributed unevenly.
        rs: bool = true, needs any;
        /// Minimizing Chip consumption Strategy (MCS): waiting writes first go to the free chip that takes the fewest pages at once, then to the
        /// chips that take the most. If `false`, chips take turns.
        mcs: bool = true, needs any;
        /// Operations that a waiting host read suspends under this policy. Replaces `flash.suspension`.
        suspension: Suspension = Suspension::Both, needs any;
        /// Whether host reads precede the operations of a collection on their die, and suspend them according to `suspension`,
        /// whatever `gc.preemptible` says about requests. All erases belong to collections: if `false`, no erase is ever suspended
        /// under this policy.
        reads_before_collection: bool = true, needs any;
        /// How often MCS restarts with the chip that takes the fewest pages.
        mcs_begins: McsBegins = McsBegins::EachAllocation, with "mcs" = ["true"], needs any;
        /// Size above which a read request makes its area read-intensive.
        read_threshold: Bytes = Bytes::from_kib(32), in Bytes::new(512).., with "rs" = ["true"], needs any;
        /// Reads that decide whether an area is read-intensive.
        area_rule: AreaRule = AreaRule::LatestRead, with "rs" = ["true"], needs any;
        /// Size of the areas that are classified as read-intensive or not.
        area_size: Option<Bytes> = None, unset "a page on each die", in Bytes::new(512)..,
            with "rs" = ["true"], needs any;
        /// Maximum number of reallocated pages that wait for their programs; 0 turns reallocation off.
        reallocations_max: u32 = 64, in 0..=65_536, with "rs" = ["true"], needs any;
    }
}

impl Config {
    /// Returns whether host reads precede collection on their die even if other requests do not.
    pub fn reads_go_before_collection(&self) -> bool {
        self.ftl.policy == FirmwarePolicy::Mbm && self.mbm.reads_before_collection
    }

    /// Returns the operations that a waiting host read suspends: `mbm.suspension` under MBM, else `flash.suspension`.
    pub fn suspension(&self) -> Suspension {
        match self.ftl.policy {
            FirmwarePolicy::Mbm => self.mbm.suspension,
            _ => self.flash.suspension,
        }
    }
}
