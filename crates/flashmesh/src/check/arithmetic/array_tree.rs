//! The flash array as a tree of channels, chips, dies, planes, blocks and pages; positions in the tree are computed by division.

use crate::config;
use crate::ids::{BlockId, ChannelId, ChipId, DieId, PlaneId, Ppn};

/// Index of the channels in `ArrayTree::counts`. The other levels of the flash array follow, from the outermost to the innermost.
const CHANNEL: usize = 0;
const CHIP: usize = 1;
const DIE: usize = 2;
const PLANE: usize = 3;
const BLOCK: usize = 4;
const PAGE: usize = 5;

/// The flash array as a tree of channels, chips, dies, planes, blocks and pages. At each level, the elements (such as planes) are numbered over the
/// whole drive.
#[derive(Clone, Debug)]
pub(in super::super) struct ArrayTree {
    /// For each level of the array, the number of its elements in one element of the next outer level, for example of dies in a chip. For channels,
    /// their number in the drive.
    counts: [u64; 6],
}

impl ArrayTree {
    pub(in super::super) fn new(config: &config::Geometry) -> ArrayTree {
        let counts = [
            config.channels,
            config.chips_per_channel,
            config.dies_per_chip,
            config.planes_per_die,
            config.blocks_per_plane,
            config.pages_per_block,
        ];
        ArrayTree { counts: counts.map(u64::from) }
    }

    fn all(&self, level: usize) -> u64 {
        self.counts[..=level].iter().product()
    }

    fn units_per(&self, inner: usize, outer: usize) -> u64 {
        self.counts[outer + 1..=inner].iter().product()
    }

    fn ancestor(&self, inner: usize, number: u32, outer: usize) -> u32 {
        (u64::from(number) / self.units_per(inner, outer)) as u32
    }

    /// Returns the index of element `number` of level `inner` within its element of level `outer`, for example of a plane within its chip.
    fn offset(&self, inner: usize, number: u32, outer: usize) -> u32 {
        (u64::from(number) % self.units_per(inner, outer)) as u32
    }

    /// Returns the drive-wide number of the element of level `inner` (such as a page) with the index `offset` within element `number` of level
    /// `outer` (such as a block).
    fn descendant(&self, outer: usize, number: u32, inner: usize, offset: u32) -> u32 {
        (u64::from(number) * self.units_per(inner, outer) + u64::from(offset)) as u32
    }

    pub(in super::super) fn chips(&self) -> usize {
        self.all(CHIP) as usize
    }

    pub(in super::super) fn dies(&self) -> usize {
        self.all(DIE) as usize
    }

    pub(in super::super) fn planes(&self) -> usize {
        self.all(PLANE) as usize
    }

    pub(in super::super) fn blocks(&self) -> u64 {
        self.all(BLOCK)
    }

    pub(in super::super) fn pages(&self) -> u64 {
        self.all(PAGE)
    }

    pub(in super::super) fn plane_in_die(&self, plane: PlaneId) -> u32 {
        plane.0 % self.counts[PLANE] as u32
    }

    pub(in super::super) fn planes_per_die(&self) -> usize {
        self.counts[PLANE] as usize
    }

    pub(in super::super) fn pages_per_block(&self) -> u32 {
        self.counts[PAGE] as u32
    }

    pub(in super::super) fn block_of(&self, ppn: Ppn) -> BlockId {
        BlockId(self.ancestor(PAGE, ppn.0, BLOCK))
    }

    pub(in super::super) fn plane_of(&self, ppn: Ppn) -> PlaneId {
        PlaneId(self.ancestor(PAGE, ppn.0, PLANE))
    }

    pub(in super::super) fn die_of(&self, ppn: Ppn) -> DieId {
        DieId(self.ancestor(PAGE, ppn.0, DIE))
    }

    pub(in super::super) fn die_of_plane(&self, plane: PlaneId) -> DieId {
        DieId(self.ancestor(PLANE, plane.0, DIE))
    }

    pub(in super::super) fn chip_of_plane(&self, plane: PlaneId) -> ChipId {
        ChipId(self.ancestor(PLANE, plane.0, CHIP))
    }

    pub(in super::super) fn chip_of_die(&self, die: DieId) -> ChipId {
        ChipId(self.ancestor(DIE, die.0, CHIP))
    }

    pub(in super::super) fn channel_of_die(&self, die: DieId) -> ChannelId {
        ChannelId(self.ancestor(DIE, die.0, CHANNEL))
    }

    pub(in super::super) fn page_in_block(&self, ppn: Ppn) -> u32 {
        self.offset(PAGE, ppn.0, BLOCK)
    }

    pub(in super::super) fn block_in_plane(&self, block: BlockId) -> u32 {
        self.offset(BLOCK, block.0, PLANE)
    }

    /// Returns four indices of a plane: its channel, its chip within the channel, its die within the chip, and the plane within the die.
    pub(in super::super) fn position(&self, plane: PlaneId) -> [u32; 4] {
        let (chip, die) = (self.chip_of_plane(plane).0, self.die_of_plane(plane).0);
        let channel = self.ancestor(CHIP, chip, CHANNEL);
        [channel, self.offset(CHIP, chip, CHANNEL), self.offset(DIE, die, CHIP), self.offset(PLANE, plane.0, DIE)]
    }

    pub(in super::super) fn ppn(&self, block: BlockId, page_in_block: u32) -> Ppn {
        Ppn(self.descendant(BLOCK, block.0, PAGE, page_in_block))
    }

    pub(in super::super) fn block(&self, plane: PlaneId, block_in_plane: u32) -> BlockId {
        BlockId(self.descendant(PLANE, plane.0, BLOCK, block_in_plane))
    }

    pub(in super::super) fn pages_of(&self, block: BlockId) -> impl Iterator<Item = Ppn> + use<> {
        let homes = self.clone();
        (0..homes.counts[PAGE] as u32).map(move |page| homes.ppn(block, page))
    }

    pub(in super::super) fn dies_of(&self, chip: ChipId) -> impl Iterator<Item = DieId> + use<> {
        let homes = self.clone();
        (0..homes.counts[DIE] as u32).map(move |die| DieId(homes.descendant(CHIP, chip.0, DIE, die)))
    }
}
