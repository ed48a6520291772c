//! Typed 32-bit ids, so that a die is never mistaken for a plane, nor a logical page for a physical one.

/// A 32-bit name of one thing among many of its kind.
pub trait Id: Copy {
    /// The id with this number.
    fn from_u32(number: u32) -> Self;
    /// The number of this id.
    fn as_u32(self) -> u32;
}

/// Declares an id; ids of a single part are declared beside its code.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position of this id in a table indexed by it.
            #[inline]
            #[allow(dead_code, reason = "an id that names slots of an arena indexes nothing else")]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl $crate::ids::Id for $name {
            #[inline]
            fn from_u32(number: u32) -> Self {
                $name(number)
            }

            #[inline]
            fn as_u32(self) -> u32 {
                self.0
            }
        }
    };
}

pub(crate) use id;

id!(
    /// A channel, or a row of chips where there is no channel: 0 to channels - 1.
    ChannelId
);
id!(
    /// A chip (package): channel x chips per channel + way.
    ChipId
);
id!(
    /// A die: chip x dies per chip + die in the chip.
    DieId
);
id!(
    /// A plane: die x planes per die + plane in the die.
    PlaneId
);
id!(
    /// An erase block: plane x blocks per plane + block in the plane.
    BlockId
);
id!(
    /// A physical page: block x pages per block + page in the block.
    Ppn
);
id!(
    /// A logical page: byte offset on the drive / page size.
    Lpn
);
id!(
    /// A path of the fabric: a channel, a chip's private channel, a circuit, a message in a network of packets.
    PathId
);
id!(
    /// A stream of requests: its place among the streams of the configuration, 0 where there is only one.
    StreamId
);
id!(
    /// A host request in flight.
    RequestId
);
id!(
    /// A flash transaction in flight.
    TransactionId
);
id!(
    /// A link of the fabric: a channel, a wire bundle between two routers, the pins of a chip.
    LinkId
);
id!(
    /// An acknowledgement on its way from a chip to a controller.
    AcknowledgementId
);
id!(
    /// A job of a core of the controller.
    JobId
);
