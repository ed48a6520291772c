//! Where a page lives: its number, digit by digit.

use crate::config;
use crate::ids::{BlockId, ChannelId, ChipId, DieId, PlaneId, Ppn};

/// The levels of the array, the outermost first.
const CHANNEL: usize = 0;
const CHIP: usize = 1;
const DIE: usize = 2;
const PLANE: usize = 3;
const BLOCK: usize = 4;
const PAGE: usize = 5;

/// A number in the array: at each level, which of those in the level above it is; zeros below the last level that counts.
type Digits = [u64; 6];

/// The array as a number system: each level has a digit of its own base.
#[derive(Clone, Debug)]
pub(in crate::check) struct Homes {
    /// How many of each level there are in one of the level above.
    counts: Digits,
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

    /// The digits of number `number` of `level`.
    fn digits(&self, level: usize, number: u32) -> Digits {
        let mut digits = Digits::default();
        let mut rest = u64::from(number);
        for at in (0..=level).rev() {
            digits[at] = rest % self.counts[at];
            rest /= self.counts[at];
        }
        digits
    }

    /// The number among all of `level` that these digits say.
    fn number(&self, level: usize, digits: &Digits) -> u32 {
        (0..=level).fold(0, |number, at| number * self.counts[at] + digits[at]) as u32
    }

    /// Which one of `outer` holds number `number` of `inner`.
    fn holder(&self, inner: usize, number: u32, outer: usize) -> u32 {
        self.number(outer, &self.digits(inner, number))
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
        self.digits(PAGE, ppn.0)[PAGE] as u32
    }

    /// The position of a block in its plane.
    pub(in crate::check) fn block_in_plane(&self, block: BlockId) -> u32 {
        self.digits(BLOCK, block.0)[BLOCK] as u32
    }

    /// Channel, chip in the channel, die in the chip and plane in the die.
    pub(in crate::check) fn position(&self, plane: PlaneId) -> [u32; 4] {
        let digits = self.digits(PLANE, plane.0);
        [CHANNEL, CHIP, DIE, PLANE].map(|level| digits[level] as u32)
    }

    /// The page at this offset of a block.
    pub(in crate::check) fn ppn(&self, block: BlockId, page_in_block: u32) -> Ppn {
        let mut digits = self.digits(BLOCK, block.0);
        digits[PAGE] = u64::from(page_in_block);
        Ppn(self.number(PAGE, &digits))
    }

    /// The block at this position of a plane.
    pub(in crate::check) fn block(&self, plane: PlaneId, block_in_plane: u32) -> BlockId {
        let mut digits = self.digits(PLANE, plane.0);
        digits[BLOCK] = u64::from(block_in_plane);
        BlockId(self.number(BLOCK, &digits))
    }

    /// All pages of a block, in order.
    pub(in crate::check) fn pages_of(&self, block: BlockId) -> impl Iterator<Item = Ppn> + use<> {
        let homes = self.clone();
        (0..homes.counts[PAGE] as u32).map(move |page| homes.ppn(block, page))
    }

    /// The dies of a chip.
    pub(in crate::check) fn dies_of(&self, chip: ChipId) -> impl Iterator<Item = DieId> + use<> {
        let homes = self.clone();
        let digits = homes.digits(CHIP, chip.0);
        (0..homes.counts[DIE]).map(move |die| {
            let mut digits = digits;
            digits[DIE] = die;
            DieId(homes.number(DIE, &digits))
        })
    }
}
