//! The section `[mbm]` of a configuration: its parameters, and the types of their values.

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

choices! {
    /// The die of a write to a read-intensive area.
    AreaWrites {
        /// The die with the fewest pages of the area, among those without a program in flight: "we will distribute them into all corresponding
        /// dies of the area averagely" (section IV.B). These writes go before others, outside the limits of `Channel_Max_Subs` and MCS.
        FewestPages = "fewest-pages",
        /// The die of the static order, free or not.
        StaticDie = "static-die",
    }
}

choices! {
    /// The layouts of a long request that are reallocated (section IV.B: "if data distribution satisfies one of the following conditions").
    ReallocationTrigger {
        /// Layouts that satisfy the first condition, the second, or both.
        Either = "either",
        /// Layouts that satisfy the first condition: "the transactions number of a request is greater than the theoretical number".
        Transactions = "transactions",
        /// Layouts that satisfy the second condition: "the subrequests of a request distributed in a channel are excessive". Only pages beyond
        /// the even share of their channel move, to underloaded channels: "migrating redundant data from an overloaded channel to an
        /// underloaded channel".
        Channel = "channel",
    }
}

section! {
    /// The parts of MBM (Maximizing Bandwidth Management FTL), each with its own switch.
    Mbm, "mbm", with "ftl.policy" = ["\"mbm\""] but for [] {
        /// Write strategy (WS): pages moved by collection have their own open block, the planes of a die keep equal write pointers, and channels
        /// share the waiting writes by `Channel_Max_Subs`. If `false`, moved pages go to the block for writes, and planes and channels take turns.
        ws: bool = true, needs any;
        /// Read strategy (RS): planes join in a read only for pages of one request. Areas read by long requests are laid out over all dies,
        /// and their pages are moved if they are distributed unevenly.
        rs: bool = true, needs any;
        /// Minimizing Chip consumption Strategy (MCS): waiting writes first go to the free chip that takes the fewest pages at once, then to the
        /// chips that take the most. If `false`, chips take turns.
        mcs: bool = true, needs any;
        /// Operations that a waiting host read suspends under this policy. Replaces `flash.suspension`.
        suspension: Suspension = Suspension::Both, needs any;
        /// Whether host reads precede the operations of a collection on their die, and suspend them according to `suspension`,
        /// whatever `gc.preemptible` says about requests. All erases belong to collections: if `false`, no erase is ever suspended
        /// under this policy. The paper suspends "the on-going program or erase operation" (section IV.C) and is silent about queued operations.
        reads_before_collection: bool = true, needs any;
        /// How often MCS restarts with the chip that takes the fewest pages.
        mcs_begins: McsBegins = McsBegins::EachAllocation, with "mcs" = ["true"], needs any;
        /// Size above which a read request makes its area read-intensive, and checks the layout of its pages. The paper prints no value: "we set a
        /// threshold of a read request length" (section IV.B).
        read_threshold: Bytes = Bytes::from_kib(32), in Bytes::new(512).., with "rs" = ["true"], needs any;
        /// Reads that decide whether an area is read-intensive.
        area_rule: AreaRule = AreaRule::LatestRead, with "rs" = ["true"], needs any;
        /// Size of the areas that are classified as read-intensive or not.
        area_size: Option<Bytes> = None, unset "a page on each die", in Bytes::new(512)..,
            with "rs" = ["true"], needs any;
        /// Die of a write to a read-intensive area.
        area_writes: AreaWrites = AreaWrites::FewestPages, with "rs" = ["true"], needs any;
        /// Layouts of a long request that are reallocated. The paper counts as a condition what is "greater than the theoretical number" or
        /// "excessive", without numbers (section IV.B).
        reallocation_trigger: ReallocationTrigger = ReallocationTrigger::Either, with "rs" = ["true"], needs any;
        /// Maximum number of reallocated pages that wait for their programs; 0 turns reallocation off. A request whose pages would exceed the
        /// number is not reallocated. The paper sets no limit: "we will initiate a reallocation" (section IV.B).
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
