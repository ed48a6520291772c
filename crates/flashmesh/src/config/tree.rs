//! The complete configuration: a struct with all parameters, by section.

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
    /// The top-level keys.
    Root, "" {
        /// Seed of all random choices of a run.
        seed: u64 = 0, in 0..=super::form::INTEGER_MAX, needs plain;
    }
}

/// A section in canonical form: its name, and its keys with their values (`None` for an unset key).
pub(super) type Written = (String, Vec<(&'static str, Option<String>)>);

/// Declares the struct of a configuration: its top-level keys (declared by [`Root`]), its sections, and its named tables (streams and namespaces).
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

            /// Returns the description of every section. The first section has the top-level keys, the last is `[namespace.NAME]`.
            pub fn sections() -> &'static [SectionSpec] {
                static SECTIONS: LazyLock<Vec<SectionSpec>> =
                    LazyLock::new(|| vec![Root::spec(), $(<$section as Section>::spec(),)+ Namespace::spec()]);
                &SECTIONS
            }

            /// Sets a key of a section outside named tables (streams and namespaces); section `""` has the top-level keys. Returns `None` if there is
            /// no such key, and an error if the value does not fit the key.
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

            /// Returns all sections, including named tables, with their keys and canonical values.
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

            /// Returns the values out of bounds: path of the section (such as `stream.a.workload`), section of the declaration, key, and error.
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
    /// The complete configuration of a run as plain data. The defaults are those of the preset `venice-z-nand`, except for
    /// `venice.revisits`.
    ///
    /// Configurations are usually loaded from a file ([`Config::from_file`]). [`Config::validate`] checks a configuration assembled in code.
    Config {
        root {
            /// Seed of all random choices of a run.
            seed: u64,
        }
        /// The flash array: channels, chips, dies, planes, blocks and pages.
        geometry: Geometry,
        /// Latencies and features of the flash chips.
        flash: Flash,
        /// The network between controllers and chips.
        fabric: Fabric,
        /// The packets of pSSD and pnSSD, whose chips have a controller on the die.
        packets: Packets,
        /// The horizontal and vertical channels of pnSSD, and their controllers.
        pnssd: Pnssd,
        /// NoSSD, a packet-switched network between the chips.
        nossd: Nossd,
        /// Venice, a mesh of routers in which scouts reserve circuits.
        venice: Venice,
        /// Scheduling of the transactions that wait for a die.
        schedule: Schedule,
        /// Flash translation layer: mapping and allocation of pages.
        ftl: Ftl,
        /// The mapping cache, for a mapping table that does not fit into DRAM.
        mapping: Mapping,
        /// Persistence of the mapping table across a power cut.
        persistence: Persistence,
        /// The parts of MBM (Maximizing Bandwidth Management FTL), each with its own switch.
        mbm: Mbm,
        /// Superblocks over the planes of several dies.
        superblock: Superblock,
        /// The SLC cache of each plane.
        slc: Slc,
        /// Garbage collection: choice of victim blocks, thresholds at which a collection begins, and moves of valid pages.
        gc: Gc,
        /// Policies in Python that replace built-in ones.
        policy: Policy,
        /// Wear levelling.
        wear: Wear,
        /// Replication of pages that repeatedly collide with others.
        replication: Replication,
        /// The queues and the link of the host.
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
        /// Power of the parts of the drive, and the power cut.
        power: Power,
        /// Area of the parts of the drive.
        area: Area,
        /// Measurement: warm-up, precision, epochs and recordings.
        measure: Measure,
        /// The source of requests.
        workload: Workload,
        /// The rule by which requests are issued.
        replay: Replay,
        /// The queue pair of a stream.
        queue: Queue,
        named {
            /// Several workloads at once, in the order of their stream numbers. If there are streams, the top-level `workload`, `replay` and `queue`
            /// have no effect. While a file is loaded, these sections are the defaults of its streams; afterwards, they are reset.
            stream: Vec<StreamConfig>,
            /// The namespaces, by name: parts of the space that the host sees.
            namespace: Vec<(String, Namespace)>,
        }
    }
}
