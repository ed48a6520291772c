//! Typed 32-bit ids, so that a die is never mistaken for a plane, nor a logical page for a physical one.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position of this id in a table indexed by it.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

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
    /// A host request in flight.
    RequestId
);
id!(
    /// A flash transaction in flight.
    TransactionId
);
