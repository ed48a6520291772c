//! The section `[ftl]` of a configuration: its parameters, and the types of their values.

use std::convert::Infallible;

use crate::config::choices::{self, choices};
use crate::config::form::{Form, Misfit, toml_string};
use crate::config::node::Node;
use crate::config::reference::{Choice, ParameterType};
use crate::config::section::section;
use crate::units::{Bytes, Time};

use super::home_order::HomeOrder;
use super::parity::ParityShare;

/// A level of the flash array in the order of static allocation. An order is named by the letters of its levels, such as CWDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArrayLevel {
    /// Channels of the drive; letter C.
    Channel,
    /// Ways, the chips of a channel; letter W.
    Way,
    /// Dies of a chip; letter D.
    Die,
    /// Planes of a die; letter P.
    Plane,
}

impl ArrayLevel {
    /// All levels, from the controllers to the cells.
    pub const ALL: [ArrayLevel; 4] = [ArrayLevel::Channel, ArrayLevel::Way, ArrayLevel::Die, ArrayLevel::Plane];

    /// Returns the letter of the level in the name of an order.
    pub const fn initial(self) -> char {
        match self {
            ArrayLevel::Channel => 'C',
            ArrayLevel::Way => 'W',
            ArrayLevel::Die => 'D',
            ArrayLevel::Plane => 'P',
        }
    }
}

/// The rule that selects the plane of a written page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Allocation {
    /// Static: by the logical page number; the first level varies fastest. Text form: the letters of the four levels, such as "CWDP".
    Static([ArrayLevel; 4]),
    /// Dynamic: round robin over idle dies. Text form: "dynamic".
    Dynamic,
    /// Dynamic: the next free channel, and in it the next free chip. Text form: "free-channel".
    FreeChannel,
}

const STATIC_ORDERS: [&str; 24] = [
    "CWDP", "CWPD", "CDWP", "CDPW", "CPWD", "CPDW", "WCDP", "WCPD", "WDCP", "WDPC", "WPCD", "WPDC", "DCWP", "DCPW",
    "DWCP", "DWPC", "DPCW", "DPWC", "PCWD", "PCDW", "PWCD", "PWDC", "PDCW", "PDWC",
];

const DYNAMIC: &str = "dynamic";
const FREE_CHANNEL: &str = "free-channel";

impl Allocation {
    /// Returns the static orders, then the dynamic allocations, each with its text.
    pub fn all() -> impl Iterator<Item = (&'static str, Allocation)> {
        let orders = STATIC_ORDERS.into_iter().map(|name| {
            let mut order = ArrayLevel::ALL;
            for (slot, letter) in order.iter_mut().zip(name.chars()) {
                *slot = ArrayLevel::ALL.into_iter().find(|level| level.initial() == letter).unwrap_or(*slot);
            }
            (name, Allocation::Static(order))
        });
        orders.chain([(DYNAMIC, Allocation::Dynamic), (FREE_CHANNEL, Allocation::FreeChannel)])
    }

    /// Returns whether the selected plane depends on the state of the drive, not only on the page number.
    pub fn is_dynamic(self) -> bool {
        !matches!(self, Allocation::Static(_))
    }

    /// Returns the text that selects the allocation.
    pub fn name(self) -> String {
        match self {
            Allocation::Static(order) => order.into_iter().map(ArrayLevel::initial).collect(),
            Allocation::Dynamic => DYNAMIC.to_owned(),
            Allocation::FreeChannel => FREE_CHANNEL.to_owned(),
        }
    }
}

impl Form for Allocation {
    type Value = Allocation;
    type Bounded = Infallible;

    fn parameter_type() -> ParameterType {
        ParameterType::Choice
    }

    fn choices() -> Vec<Choice> {
        let doc = |allocation| {
            match allocation {
            Allocation::Static(order) => {
                let words = order.map(|level| match level {
                    ArrayLevel::Channel => "channel",
                    ArrayLevel::Way => "way",
                    ArrayLevel::Die => "die",
                    ArrayLevel::Plane => "plane",
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
}

choices! {
    /// The moment at which a write is assigned its physical page.
    WriteBinding {
        /// A write is assigned its page when it is programmed: the next page of the open block, so that pages are programmed in order.
        Late = "late",
        /// A write is assigned its page when it arrives at its plane, before the program (early binding). A plane preassigns at most a
        /// block of pages. A program of several mapping units runs when all writes bound to the program are queued, and either its last
        /// unit is bound or `gather-timeout` has elapsed.
        Early = "early",
    }
}

choices! {
    /// The treatment of a read of an unwritten page: never written, or deallocated.
    FirstTouch {
        /// A read of the home of the page, the default location that follows from its number alone. The page stays unwritten, without a mapping entry
        /// and without occupied space.
        Home = "home",
        /// Assignment of the next page of the write block, which changes the mapping entry, like a write. If each stream has its own write block, the
        /// block of the first stream that writes to the plane is used. While the plane has no free page, the home of the page is read.
        WriteBlock = "write-block",
        /// Like `write-block`, but if each stream has its own write block, the block of the stream that reads the page is used.
        ReaderBlock = "reader-block",
    }
}

impl FirstTouch {
    /// Returns whether the first read of an unwritten page assigns a location.
    pub fn assigns_location(self) -> bool {
        matches!(self, FirstTouch::WriteBlock | FirstTouch::ReaderBlock)
    }
}

choices! {
    /// The open block of a plane that a written page goes to (streams of the NVMe base specification, directive type 1; placement handles of Flexible
    /// Data Placement).
    WriteStreams {
        /// One open block per plane for all streams.
        Shared = "shared",
        /// One open block per plane for each stream, in the planes of its namespace. Pages moved by garbage collection share one open block.
        PerStream = "per-stream",
        /// Like `per-stream`, but a page that the device cache destages goes to the open block of the stream that wrote the page, not to
        /// the open block of the first stream of the plane.
        PerStreamDestaged = "per-stream-destaged",
    }
}

impl WriteStreams {
    /// Returns whether each stream has an open block of its own.
    pub fn separates_streams(self) -> bool {
        matches!(self, WriteStreams::PerStream | WriteStreams::PerStreamDestaged)
    }
}

choices! {
    /// The firmware policy ([firmware-policies.md](firmware-policies.md)).
    FirmwarePolicy {
        /// A page-level mapping table; each plane is written and collected on its own.
        Page = "page",
        /// TBM, twin block management: the planes of a die write, collect and erase the same blocks together.
        Tbm = "tbm",
        /// MBM, maximizing bandwidth management: parallel planes for writes, short response times for reads (`[mbm]`).
        Mbm = "mbm",
        /// Like `page`, with the scheduling of Sprinkler (`schedule.policy`, [scheduling.md](scheduling.md)).
        Sprinkler = "sprinkler",
        /// Superblocks: the planes of several dies write, collect and erase the same blocks together (`[superblock]`).
        Superblock = "superblock",
    }
}

section! {
    /// The flash translation layer: mapping and allocation of pages.
    Ftl, "ftl" {
        /// Firmware policy of the translation layer ([firmware-policies.md](firmware-policies.md)).
        policy: FirmwarePolicy = FirmwarePolicy::Page, needs any;
        /// Rule that selects the plane of a written page. The home of a page without data (its default location) follows from the static order
        /// (`home-order` if the allocation is dynamic).
        allocation: Allocation = Allocation::Static(ArrayLevel::ALL),
            with "policy.allocator" = [""] or "allocation" != ["\"dynamic\"", "\"free-channel\""], needs any where "allocation" = ["\"dynamic\"", "\"free-channel\""], step "CWDP | PDWC | dynamic";
        /// Static order of the pages that a dynamic allocation does not place: pages without data, and pages written before the run.
        home_order: HomeOrder = HomeOrder(ArrayLevel::ALL),
            with "allocation" = ["\"dynamic\"", "\"free-channel\""], needs any, step "CWDP | DCWP";
        /// Moment at which a write is assigned its physical page. With `early`, planes of a die join in a program if their assigned pages allow it;
        /// the queues are searched up to `schedule.lookahead`. A write of a part of a page then keeps its turn while the rest of the page is read.
        write_binding: WriteBinding = WriteBinding::Late, needs plain, step "late | early";
        /// Treatment of a read of an unwritten page.
        first_touch: FirstTouch = FirstTouch::Home, with "write-binding" = ["\"early\""], needs plain;
        /// Open block of the plane that a written page goes to.
        write_streams: WriteStreams = WriteStreams::Shared, needs plain;
        /// Size of a mapping unit, which has one entry in the mapping table: a part of a page, or several pages of a block. With parts of a page,
        /// writes gather in their plane until they fill a program (`flash.program-unit`), a read transfers only the units it needs, and collection
        /// moves and packs valid units. With several pages, a smaller write first reads the rest of its unit, and a read senses only the pages it
        /// needs.
        mapping_unit: Option<Bytes> = None, unset "a page", in Bytes::new(512)..=Bytes::from_kib(256), needs any, step "4KiB | 16KiB";
        /// Share of the programs of a superblock that is parity, against the loss of a die (RAIN). With `1/8`, a die programs parity after every
        /// seven programs of data, and a block holds an eighth less data. The stripe, here of 8 programs, must divide `superblock.dies`.
        parity: Option<ParityShare> = None, unset "none", in ParityShare(2)..=ParityShare(1024),
            with "policy" = ["\"superblock\""], needs any, step "1/4 | 1/8";
        /// Maximum time that writes wait for further writes to fill a program. The program then runs partly filled, and its empty pages
        /// stay empty until the block is erased.
        gather_timeout: Time = Time::from_us(100), in Time::ZERO..=Time::from_ms(1_000_000),
            with "mapping-unit" != [""] or "flash.program-unit" = ["\"word-line\""], needs any;
    }
}

impl Ftl {
    /// Returns the order for pages that the allocation does not place: the order of a static allocation, or else `home-order`.
    pub fn static_order(&self) -> [ArrayLevel; 4] {
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
