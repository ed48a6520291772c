//! The whole tree of parameters.

use std::sync::LazyLock;

use super::form::Misfit;
use super::node::Node;
use super::reference::SectionSpec;
use super::section::{Section, section};
use super::sections::{
    Fabric, Flash, Ftl, Gc, Geometry, Host, Nossd, Packets, Pnssd, Power, Precondition, Replay, Schedule, Venice, Wear,
    Workload,
};

section! {
    /// The keys above all sections.
    Root, "" {
        /// The number every random choice of a run grows from.
        seed: u64 = 0, in 0..=super::form::INTEGER_MAX;
    }
}

/// Declares the tree: the keys of [`Root`], then the sections.
macro_rules! tree {
    (
        $(#[$tree_meta:meta])+
        $name:ident {
            root { $($(#[$root_meta:meta])+ $root_field:ident: $root_type:ty,)+ }
            $($(#[$meta:meta])+ $field:ident: $section:ident,)+
        }
    ) => {
        $(#[$tree_meta])+
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$root_meta])+ pub $root_field: $root_type,)+
            $($(#[$meta])+ pub $field: $section,)+
        }

        impl $name {
            fn root(&self) -> Root {
                Root { $($root_field: self.$root_field.clone(),)+ }
            }

            /// What can be set, section by section; the first has the keys above all sections.
            pub fn sections() -> &'static [SectionSpec] {
                static SECTIONS: LazyLock<Vec<SectionSpec>> =
                    LazyLock::new(|| vec![Root::spec(), $(<$section as Section>::spec()),+]);
                &SECTIONS
            }

            /// Sets a key; `None` when there is no such key.
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

            /// The sections with their keys and canonical values.
            pub(super) fn entries(&self) -> Vec<(&'static str, Vec<(&'static str, Option<String>)>)> {
                vec![("", self.root().entries()), $((stringify!($field), self.$field.entries())),+]
            }

            /// The values out of bounds, each with section and key.
            pub(super) fn misfits(&self) -> Vec<(&'static str, &'static str, Misfit)> {
                let root = self.root().misfits().into_iter().map(|(key, misfit)| ("", key, misfit));
                let mut misfits: Vec<_> = root.collect();
                $(
                    let own = self.$field.misfits().into_iter();
                    misfits.extend(own.map(|(key, misfit)| (stringify!($field), key, misfit)));
                )+
                misfits
            }
        }
    };
}

tree! {
    /// Everything that decides a run: plain data, with the defaults of the `z-nand` preset.
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
        /// Garbage collection.
        gc: Gc,
        /// Wear levelling.
        wear: Wear,
        /// The queue pair and the link to the host.
        host: Host,
        /// The state of the drive before the first request.
        precondition: Precondition,
        /// What the parts of the drive draw.
        power: Power,
        /// Where requests come from.
        workload: Workload,
        /// When requests are issued.
        replay: Replay,
    }
}
