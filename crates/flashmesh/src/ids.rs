//! Typed 32-bit ids, so that a die is never mistaken for a plane, nor a logical page for a physical one.

/// A 32-bit id of an object of one kind, such as a die or a request.
pub trait Id: Copy {
    /// Returns the id with this number.
    fn from_u32(number: u32) -> Self;
    /// Returns the number of this id.
    fn as_u32(self) -> u32;
}

/// Declares an id type. An id type that only one module uses is declared in that module.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the number as an index into a table with an entry per id.
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
    /// A channel; in fabrics without channels, a row of chips: 0 to channels - 1.
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
    /// A path of the fabric: a channel, a chip's private channel, a circuit, a message of a packet-switched network.
    PathId
);
id!(
    /// A stream of requests: its index in the configuration; 0 if there is only one stream.
    StreamId
);
id!(
    /// A host request in flight.
    RequestId
);
id!(
    /// A flash transaction in flight: an operation on one page, or the erase of one block.
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
