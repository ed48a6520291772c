//! Where a page lives: its number, divided by what there is of each level.

use crate::config;
use crate::ids::{BlockId, ChannelId, ChipId, DieId, PlaneId, Ppn};

/// The levels of the array, the outermost first.
const CHANNEL: usize = 0;
const CHIP: usize = 1;
const DIE: usize = 2;
const PLANE: usize = 3;
const BLOCK: usize = 4;
const PAGE: usize = 5;

/// The array: levels one in the other, each numbered through.
#[derive(Clone, Debug)]
pub(in crate::check) struct Homes {
    /// How many of each level there are in one of the level above.
    counts: [u64; 6],
}

impl Homes {
    pub(in crate::check) fn new(config: &config::Geometry) -> Homes {
        let counts = [
            config.channels,
            config.chips_per_channel,
            config.dies_per_chip,
            config.planes_per_die,
            config.blocks_per_plane,
            config.pages_per_block,
        ];
        Homes { counts: counts.map(u64::from) }
    }

    /// How many there are of `level`.
    fn all(&self, level: usize) -> u64 {
        self.counts[..=level].iter().product()
    }

    /// How many of `inner` one of `outer` has.
    fn in_each(&self, inner: usize, outer: usize) -> u64 {
        self.counts[outer + 1..=inner].iter().product()
    }

    /// Which one of `outer` holds number `number` of `inner`.
    fn holder(&self, inner: usize, number: u32, outer: usize) -> u32 {
        (u64::from(number) / self.in_each(inner, outer)) as u32
    }

    /// The place of number `number` of `inner` in the one of `outer` that holds it.
    fn place(&self, inner: usize, number: u32, outer: usize) -> u32 {
        (u64::from(number) % self.in_each(inner, outer)) as u32
    }

    /// The number of the one of `inner` at this place in number `number` of `outer`.
    fn inside(&self, outer: usize, number: u32, inner: usize, place: u32) -> u32 {
        (u64::from(number) * self.in_each(inner, outer) + u64::from(place)) as u32
    }

    pub(in crate::check) fn chips(&self) -> usize {
        self.all(CHIP) as usize
    }

    pub(in crate::check) fn dies(&self) -> usize {
        self.all(DIE) as usize
    }

    pub(in crate::check) fn planes(&self) -> usize {
        self.all(PLANE) as usize
    }

    pub(in crate::check) fn blocks(&self) -> u64 {
        self.all(BLOCK)
    }

    pub(in crate::check) fn pages(&self) -> u64 {
        self.all(PAGE)
    }

    /// Planes in a die.
    pub(in crate::check) fn planes_per_die(&self) -> usize {
        self.counts[PLANE] as usize
    }

    /// Pages in a block.
    pub(in crate::check) fn pages_per_block(&self) -> u32 {
        self.counts[PAGE] as u32
    }

    pub(in crate::check) fn block_of(&self, ppn: Ppn) -> BlockId {
        BlockId(self.holder(PAGE, ppn.0, BLOCK))
    }

    pub(in crate::check) fn plane_of(&self, ppn: Ppn) -> PlaneId {
        PlaneId(self.holder(PAGE, ppn.0, PLANE))
    }

    pub(in crate::check) fn die_of(&self, ppn: Ppn) -> DieId {
        DieId(self.holder(PAGE, ppn.0, DIE))
    }

    pub(in crate::check) fn die_of_plane(&self, plane: PlaneId) -> DieId {
        DieId(self.holder(PLANE, plane.0, DIE))
    }

    pub(in crate::check) fn chip_of_plane(&self, plane: PlaneId) -> ChipId {
        ChipId(self.holder(PLANE, plane.0, CHIP))
    }

    pub(in crate::check) fn chip_of_die(&self, die: DieId) -> ChipId {
        ChipId(self.holder(DIE, die.0, CHIP))
    }

    pub(in crate::check) fn channel_of_die(&self, die: DieId) -> ChannelId {
        ChannelId(self.holder(DIE, die.0, CHANNEL))
    }

    /// The offset of a page in its block.
    pub(in crate::check) fn page_in_block(&self, ppn: Ppn) -> u32 {
        self.place(PAGE, ppn.0, BLOCK)
    }

    /// The position of a block in its plane.
    pub(in crate::check) fn block_in_plane(&self, block: BlockId) -> u32 {
        self.place(BLOCK, block.0, PLANE)
    }

    /// Channel, chip in the channel, die in the chip and plane in the die.
    pub(in crate::check) fn position(&self, plane: PlaneId) -> [u32; 4] {
        let (chip, die) = (self.chip_of_plane(plane).0, self.die_of_plane(plane).0);
        let channel = self.holder(CHIP, chip, CHANNEL);
        [channel, self.place(CHIP, chip, CHANNEL), self.place(DIE, die, CHIP), self.place(PLANE, plane.0, DIE)]
    }

    /// The page at this offset of a block.
    pub(in crate::check) fn ppn(&self, block: BlockId, page_in_block: u32) -> Ppn {
        Ppn(self.inside(BLOCK, block.0, PAGE, page_in_block))
    }

    /// The block at this position of a plane.
    pub(in crate::check) fn block(&self, plane: PlaneId, block_in_plane: u32) -> BlockId {
        BlockId(self.inside(PLANE, plane.0, BLOCK, block_in_plane))
    }

    /// All pages of a block, in order.
    pub(in crate::check) fn pages_of(&self, block: BlockId) -> impl Iterator<Item = Ppn> + use<> {
        let homes = self.clone();
        (0..homes.counts[PAGE] as u32).map(move |page| homes.ppn(block, page))
    }

    /// The dies of a chip.
    pub(in crate::check) fn dies_of(&self, chip: ChipId) -> impl Iterator<Item = DieId> + use<> {
        let homes = self.clone();
        (0..homes.counts[DIE] as u32).map(move |die| DieId(homes.inside(CHIP, chip.0, DIE, die)))
    }
}
