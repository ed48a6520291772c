//! The whole tree of parameters.

use std::sync::LazyLock;

use super::form::Misfit;
use super::node::Node;
use super::reference::SectionSpec;
use super::section::{Section, section};
use super::sections::{
    Area, Cache, Fabric, Firmware, Flash, Ftl, Gc, Geometry, Host, Mapping, Mbm, Measure, Namespace, Nossd, Nvme,
    Packets, Persistence, Pnssd, Policy, Power, Precondition, Queue, Replay, Replication, Sata, Schedule, Slc,
    Superblock, Venice, Wear, Workload,
};
use super::stream::StreamConfig;

section! {
    /// The keys above all sections.
    Root, "" {
        /// The number every random choice of a run grows from.
        seed: u64 = 0, in 0..=super::form::INTEGER_MAX, needs plain;
    }
}

/// A section in canonical form: name, keys and values.
pub(super) type Written = (String, Vec<(&'static str, Option<String>)>);

/// Declares the tree: keys of [`Root`], sections, named tables.
macro_rules! tree {
    (
        $(#[$tree_meta:meta])+
        $name:ident {
            root { $($(#[$root_meta:meta])+ $root_field:ident: $root_type:ty,)+ }
            $($(#[$meta:meta])+ $field:ident: $section:ident,)+
            named { $($(#[$named_meta:meta])+ $named:ident: $named_type:ty,)+ }
        }
    ) => {
        $(#[$tree_meta])+
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$root_meta])+ pub $root_field: $root_type,)+
            $($(#[$meta])+ pub $field: $section,)+
            $($(#[$named_meta])+ pub $named: $named_type,)+
        }

        impl $name {
            fn root(&self) -> Root {
                Root { $($root_field: self.$root_field.clone(),)+ }
            }

            /// What can be set, section by section; the first has the keys above all sections, the last is that of a
            /// namespace.
            pub fn sections() -> &'static [SectionSpec] {
                static SECTIONS: LazyLock<Vec<SectionSpec>> =
                    LazyLock::new(|| vec![Root::spec(), $(<$section as Section>::spec(),)+ Namespace::spec()]);
                &SECTIONS
            }

            /// Sets a key of a section without a name; `None` when there is no such key.
            pub(super) fn set(&mut self, section: &str, key: &str, node: &Node) -> Option<Result<(), Misfit>> {
                match section {
                    "" => {
                        let mut root = self.root();
                        let result = root.set(key, node);
                        $(self.$root_field = root.$root_field;)+
                        result
                    }
                    $(stringify!($field) => self.$field.set(key, node),)+
                    _ => None,
                }
            }

            /// The sections with their keys and canonical values, those with names included.
            pub(super) fn entries(&self) -> Vec<Written> {
                let mut entries = vec![
                    (String::new(), self.root().entries()),
                    $((stringify!($field).to_owned(), self.$field.entries())),+
                ];
                for (name, namespace) in &self.namespace {
                    entries.push((format!("namespace.{name}"), namespace.entries()));
                }
                for stream in &self.stream {
                    let sections = stream.entries().into_iter();
                    entries.extend(sections.map(|(section, keys)| (format!("stream.{}.{section}", stream.name), keys)));
                }
                entries
            }

            /// The values out of bounds, each with the name of its section, the section of its declaration, and key.
            pub(super) fn misfits(&self) -> Vec<(String, &'static str, &'static str, Misfit)> {
                let root = self.root().misfits().into_iter().map(|(key, misfit)| (String::new(), "", key, misfit));
                let mut misfits: Vec<_> = root.collect();
                $(
                    let (name, own) = (stringify!($field), self.$field.misfits().into_iter());
                    misfits.extend(own.map(|(key, misfit)| (name.to_owned(), name, key, misfit)));
                )+
                for (name, namespace) in &self.namespace {
                    let own = namespace.misfits().into_iter();
                    misfits.extend(
                        own.map(|(key, misfit)| (format!("namespace.{name}"), Namespace::spec().name, key, misfit)),
                    );
                }
                for stream in &self.stream {
                    let own = stream.misfits().into_iter();
                    misfits.extend(own.map(|(section, key, misfit)| {
                        (format!("stream.{}.{section}", stream.name), section, key, misfit)
                    }));
                }
                misfits
            }
        }
    };
}

tree! {
    /// Everything that decides a run: plain data, with the defaults of the `venice-z-nand` preset, but for `venice.revisits`.
    ///
    /// Mostly read from a file ([`Config::from_file`]); when put together in code, [`Config::validate`] tells whether
    /// it can be run.
    Config {
        root {
            /// The number every random choice of a run grows from.
            seed: u64,
        }
        /// The array of chips.
        geometry: Geometry,
        /// The latencies and abilities of the flash chips.
        flash: Flash,
        /// The network between controllers and chips.
        fabric: Fabric,
        /// The packets of pSSD and pnSSD, whose chips have a controller on the die.
        packets: Packets,
        /// The horizontal and vertical channels of pnSSD, and their controllers.
        pnssd: Pnssd,
        /// NoSSD, a network of packets between the chips.
        nossd: Nossd,
        /// Venice, a mesh of routers in which scouts reserve circuits.
        venice: Venice,
        /// Which waiting transaction a die runs next.
        schedule: Schedule,
        /// Where a page lives.
        ftl: Ftl,
        /// The cache of the map, when the map does not fit into DRAM.
        mapping: Mapping,
        /// What of the map is kept on flash, so that it is found again after a cut of the power.
        persistence: Persistence,
        /// The parts of MBM (Maximizing Bandwidth Management FTL), each with a switch of its own.
        mbm: Mbm,
        /// Superblocks over the planes of several dies.
        superblock: Superblock,
        /// The SLC cache.
        slc: Slc,
        /// Garbage collection.
        gc: Gc,
        /// Policies in Python, in place of built-in ones.
        policy: Policy,
        /// Wear levelling.
        wear: Wear,
        /// Copies of pages that collide with others again and again.
        replication: Replication,
        /// The queues and the link to the host.
        host: Host,
        /// The controller of `host.interface = "nvme"`.
        nvme: Nvme,
        /// The adapter and the queue of `host.interface = "sata"`.
        sata: Sata,
        /// The processor cores of the controller.
        firmware: Firmware,
        /// The cache in the DRAM of the drive.
        cache: Cache,
        /// The state of the drive before the first request.
        precondition: Precondition,
        /// What the parts of the drive draw.
        power: Power,
        /// How large the parts of the drive are.
        area: Area,
        /// The steady state and epochs.
        measure: Measure,
        /// Where requests come from.
        workload: Workload,
        /// When requests are issued.
        replay: Replay,
        /// The queue pair of a stream.
        queue: Queue,
        named {
            /// Several workloads at once, in the order in which they are numbered. Where there is any, `workload`, `replay` and
            /// `queue` above decide nothing: a file starts its streams from them, and forgets them.
            stream: Vec<StreamConfig>,
            /// The parts of the space that the host sees, by name.
            namespace: Vec<(String, Namespace)>,
        }
    }
}
