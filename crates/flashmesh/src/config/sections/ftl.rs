//! `[ftl]`

use crate::config::choices::{self, choices};
use crate::config::form::{Form, Misfit, toml_string};
use crate::config::node::Node;
use crate::config::reference::{Choice, ParameterType};
use crate::config::section::section;
use crate::units::{Bytes, Time};

use super::home_order::HomeOrder;
use super::parity::ParityShare;

/// One level of the array, as static allocation orders them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// C
    Channel,
    /// W: a chip of a channel.
    Way,
    /// D
    Die,
    /// P
    Plane,
}

impl Level {
    /// Every level, from the controllers to the cells.
    pub const ALL: [Level; 4] = [Level::Channel, Level::Way, Level::Die, Level::Plane];

    /// Its letter in the name of an order.
    pub const fn initial(self) -> char {
        match self {
            Level::Channel => 'C',
            Level::Way => 'W',
            Level::Die => 'D',
            Level::Plane => 'P',
        }
    }
}

/// Which plane a logical page goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Allocation {
    /// By the logical page number; the first level varies fastest. Text form: the four initials, "CWDP".
    Static([Level; 4]),
    /// Round-robin over idle dies. Text form: "dynamic".
    Dynamic,
    /// The next free channel, in it the next free chip. Text form: "free-channel".
    FreeChannel,
}

const STATIC_ORDERS: [&str; 24] = [
    "CWDP", "CWPD", "CDWP", "CDPW", "CPWD", "CPDW", "WCDP", "WCPD", "WDCP", "WDPC", "WPCD", "WPDC", "DCWP", "DCPW",
    "DWCP", "DWPC", "DPCW", "DPWC", "PCWD", "PCDW", "PWCD", "PWDC", "PDCW", "PDWC",
];

const DYNAMIC: &str = "dynamic";
const FREE_CHANNEL: &str = "free-channel";

impl Allocation {
    /// The static orders, then the dynamic allocations.
    pub fn all() -> impl Iterator<Item = (&'static str, Allocation)> {
        let orders = STATIC_ORDERS.into_iter().map(|name| {
            let mut order = Level::ALL;
            for (slot, letter) in order.iter_mut().zip(name.chars()) {
                *slot = Level::ALL.into_iter().find(|level| level.initial() == letter).unwrap_or(*slot);
            }
            (name, Allocation::Static(order))
        });
        orders.chain([(DYNAMIC, Allocation::Dynamic), (FREE_CHANNEL, Allocation::FreeChannel)])
    }

    /// Whether the plane depends on the state of the drive, not only on the page number.
    pub fn is_dynamic(self) -> bool {
        !matches!(self, Allocation::Static(_))
    }

    /// The text that chooses it.
    pub fn name(self) -> String {
        match self {
            Allocation::Static(order) => order.into_iter().map(Level::initial).collect(),
            Allocation::Dynamic => DYNAMIC.to_owned(),
            Allocation::FreeChannel => FREE_CHANNEL.to_owned(),
        }
    }
}

impl Form for Allocation {
    type Value = Allocation;
    type Bounded = &'static str;

    fn bounded(_: &Allocation) -> Vec<&'static str> {
        Vec::new()
    }

    fn parameter_type() -> ParameterType {
        ParameterType::Choice
    }

    fn choices() -> Vec<Choice> {
        let doc = |allocation| {
            match allocation {
            Allocation::Static(order) => {
                let words = order.map(|level| match level {
                    Level::Channel => "channel",
                    Level::Way => "way",
                    Level::Die => "die",
                    Level::Plane => "plane",
                });
                format!("By the logical page number: {}.", words.join(", then "))
            }
            Allocation::Dynamic => "Round-robin over idle dies.".to_owned(),
            Allocation::FreeChannel => {
                "The next channel that nothing is moved over or waits for, in it the next chip that does nothing, then the next die and \
                 plane (Network-on-SSD's baseline)."
                    .to_owned()
            }
        }
        };
        Allocation::all().map(|(name, allocation)| Choice { name, doc: doc(allocation) }).collect()
    }

    fn read(node: &Node) -> Result<Allocation, Misfit> {
        let (names, values): (Vec<_>, Vec<_>) = Allocation::all().unzip();
        choices::place_of(node, &names).map(|place| values[place]).map_err(|misfit| Misfit {
            help: misfit.help.or_else(|| {
                Some("write the four initials of channel, way, die and plane, the fastest first, or `dynamic`, or `free-channel`".into())
            }),
            ..misfit
        })
    }

    fn write(value: &Allocation) -> Option<String> {
        Some(toml_string(&value.name()))
    }

    fn show(bound: &&'static str) -> String {
        (*bound).to_owned()
    }
}

choices! {
    /// When a write gets its page.
    WriteBinding {
        /// When it is programmed: the next page of the open block, so that pages are programmed in the order of the block.
        Late = "late",
        /// When it arrives at its plane, before it is programmed. A plane preallocates at most a block of pages. Where a program writes several
        /// mapping units, it runs when all that were given its places wait, and the last place is given away or `gather-timeout` is over.
        Early = "early",
    }
}

choices! {
    /// Reads of unwritten pages, which were never written or were deallocated.
    FirstTouch {
        /// The page is read at its home, which follows from its number alone, and stays unwritten: it has no entry in the map
        /// and takes no space.
        Home = "home",
        /// It gets the next page of the block that writes go to; that changes its entry of the map, as a write does. Where each stream
        /// writes to a block of its own, it is that of the first stream that writes to the plane. While the plane has no page for it,
        /// it is read at its home.
        WriteBlock = "write-block",
    }
}

choices! {
    /// Which open block of a plane a written page goes to (streams of the NVMe base specification, directive type 1; placement
    /// handles of Flexible Data Placement).
    WriteStreams {
        /// All streams share one in each plane.
        Shared = "shared",
        /// Each stream has one of its own in each plane of its namespace; pages that garbage collection moves share one.
        PerStream = "per-stream",
    }
}

choices! {
    /// Firmware policy ([firmware-policies.md](firmware-policies.md)).
    FirmwarePolicy {
        /// A page-level map; each plane is written and collected by itself.
        Page = "page",
        /// TBM, twin block management: the planes of a die use, collect and erase the same blocks together.
        Tbm = "tbm",
        /// MBM, maximizing bandwidth management: writes for parallel planes, reads for short responses (`[mbm]`).
        Mbm = "mbm",
        /// As `page`, with the scheduling of Sprinkler (`schedule.policy`, [scheduling.md](scheduling.md)).
        Sprinkler = "sprinkler",
        /// The planes of several dies use, collect and erase the same blocks together (`[superblock]`).
        Superblock = "superblock",
    }
}

section! {
    /// Where a page lives.
    Ftl, "ftl" {
        /// What the firmware makes of the state machines of the translation layer ([firmware-policies.md](firmware-policies.md)).
        policy: FirmwarePolicy = FirmwarePolicy::Page, needs any;
        /// Which plane a written page goes to. A page that holds nothing has its home by the static order (`home-order` when dynamic).
        allocation: Allocation = Allocation::Static(Level::ALL),
            with "policy.allocator" = [""] or "allocation" != ["\"dynamic\"", "\"free-channel\""], needs any where "allocation" = ["\"dynamic\"", "\"free-channel\""], step "CWDP | PDWC | dynamic";
        /// The static order of a dynamic allocation: where pages lie that it does not place, which hold nothing or were written before the run.
        home_order: HomeOrder = HomeOrder(Level::ALL),
            with "allocation" = ["\"dynamic\"", "\"free-channel\""], needs any, step "CWDP | DCWP";
        /// When a write of a request gets its page in the plane. Early, planes of a die join in a program when pages that were handed
        /// out agree, as deep in their queues as `schedule.lookahead`, and the read that a write of a part of a page needs
        /// does not cost the write its turn.
        write_binding: WriteBinding = WriteBinding::Late, needs plain, step "late | early";
        /// What becomes of a page that is read before it was written.
        first_touch: FirstTouch = FirstTouch::Home, with "write-binding" = ["\"early\""], needs plain;
        /// Which open block of its plane a written page goes to.
        write_streams: WriteStreams = WriteStreams::Shared, needs plain;
        /// What one entry of the map is for: a part of a page, or several pages of a block. Below a page, writes gather in their plane until
        /// they fill what one program writes (`flash.program-unit`), a read moves only the units it needs, and collection moves and packs valid
        /// units. Above, a smaller write reads the rest of its unit first, and a read senses only the pages it needs.
        mapping_unit: Option<Bytes> = None, unset "a page", in Bytes::new(512)..=Bytes::from_kib(256), needs any, step "4KiB | 16KiB";
        /// Share of the programs of a superblock that is parity, which drives keep against the loss of a die (RAIN). With `1/8` a die programs
        /// parity after each seven programs of data, and a block holds an eighth less. The stripe, of 8 programs here, divides `superblock.dies`.
        parity: Option<ParityShare> = None, unset "none", in ParityShare(2)..=ParityShare(1024),
            with "policy" = ["\"superblock\""], needs any, step "1/4 | 1/8";
        /// How long writes wait for others to fill a program with. After it the program runs with what there is, and the rest of its pages
        /// stays empty until the block is erased.
        gather_timeout: Time = Time::from_us(100), in Time::ZERO..=Time::from_ms(1_000_000),
            with "mapping-unit" != [""] or "flash.program-unit" = ["\"word-line\""], needs any;
    }
}

impl Ftl {
    /// The order of what the allocation does not place: that of a static one, or the one named beside a dynamic one.
    pub fn static_order(&self) -> [Level; 4] {
        match self.allocation {
            Allocation::Static(order) => order,
            Allocation::Dynamic | Allocation::FreeChannel => self.home_order.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_static_orders_are_the_24_permutations_and_are_named_after_themselves() {
        let orders: Vec<_> = Allocation::all().filter(|(_, allocation)| !allocation.is_dynamic()).collect();
        for (name, allocation) in &orders {
            assert_eq!(allocation.name(), *name);
        }
        let distinct: BTreeSet<_> = orders
            .iter()
            .map(|(name, _)| {
                let letters: BTreeSet<char> = name.chars().collect();
                assert_eq!(letters, BTreeSet::from(['C', 'W', 'D', 'P']), "{name}");
                *name
            })
            .collect();
        assert_eq!(distinct.len(), 24);
    }
}
