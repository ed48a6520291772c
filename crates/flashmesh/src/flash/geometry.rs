//! The flash array's dimensions and the arithmetic of its addresses.

use super::divisor::Divisor;
pub use crate::config::PLANES_PER_DIE_MAX;
use crate::config::{self, Config};
use crate::engine::queue::NUMBERS;
use crate::error::GeometryError;
use crate::ids::{BlockId, ChannelId, ChipId, DieId, Lpn, PlaneId, Ppn};
use crate::units::Bytes;

/// Dimensions of the flash array, as integers.
///
/// A *page* is a mapping unit (`ftl.mapping-unit`), the size that one entry of the map covers; by default this is a page of the array. If units are
/// smaller, a page of the array holds [`units_per_page`](Geometry::units_per_page) of them. If units are larger, each covers
/// [`pages_per_unit`](Geometry::pages_per_unit) pages of one block. Page numbers count mapping units.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// Number of channels; in fabrics without channels, rows of chips.
    pub channels: u32,
    /// Number of chips on each channel; in fabrics without channels, chips in each row.
    pub chips_per_channel: u32,
    /// Number of dies in each chip.
    pub dies_per_chip: u32,
    /// Number of planes in each die, at most [`PLANES_PER_DIE_MAX`].
    pub planes_per_die: u32,
    /// Number of block ids in each plane: one for each erase block, and one for each alias of a dynamic SLC cache.
    pub blocks_per_plane: u32,
    /// Number of pages (mapping units) in each block outside the SLC cache.
    pub pages_per_block: u32,
    /// User data in a page (mapping unit).
    pub page_size: Bytes,
    /// Number of mapping units in a page of the array.
    pub units_per_page: u32,
    /// Number of pages of the array in a mapping unit. Either this number or [`units_per_page`](Geometry::units_per_page) is 1.
    pub pages_per_unit: u32,
    /// Number of mapping units programmed together in a plane: those of one page of the array, or of all pages of a word line.
    pub units_per_program: u32,
    /// Size of the metadata (spare area) that is transferred with each whole page of the array.
    pub page_spare: Bytes,
    /// Logical block size of the host.
    pub sector_size: Bytes,
    /// Number of pages visible to the host.
    pub logical_pages: u32,
    /// Blocks of the SLC cache.
    pub slc: SlcBlocks,
    page_shift: u32,
    divisors: Divisors,
}

/// Blocks of the SLC cache, which have the last block ids of each plane. A static cache has blocks of its own. In a dynamic cache, the ids
/// lie beyond the native blocks of the plane, and each stands for a free native block that is used in SLC mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlcBlocks {
    /// Number of SLC blocks in each plane; 0 without an SLC cache.
    pub per_plane: u32,
    /// Number of mapping units in each SLC block, where a word line stores one page of the array.
    pub pages_per_block: u32,
    /// Whether the SLC blocks are aliases of free native blocks.
    pub is_dynamic: bool,
}

#[derive(Clone, Debug)]
struct Divisors {
    pages_per_block: Divisor,
    pages_per_plane: Divisor,
    blocks_per_plane: Divisor,
    planes_per_die: Divisor,
    units_per_page: Divisor,
    units_per_program: Divisor,
}

/// Minimum number of blocks in each plane beyond its share of the logical pages. Two are for garbage collection: its open block and the
/// reserve. The other two ensure that full blocks always have invalid pages to collect. The doc of the module `ftl` has the proof.
pub const SPARE_BLOCKS_PER_PLANE_MIN: u64 = 4;

impl Geometry {
    /// Returns the array of the drive that `config` describes, with its mapping units and its SLC cache.
    ///
    /// # Errors
    /// If the array cannot be simulated, as for [`Geometry::new`].
    pub fn from_config(config: &Config) -> Result<Geometry, GeometryError> {
        let units_per_page = config.units_per_page();
        let mut geometry = Geometry::new(&config.unit_geometry()).map_err(|error| match error {
            GeometryError::Capacity { capacity, array, .. } => {
                GeometryError::Capacity { capacity, array, parity_stripe: config.parity_stripe() }
            }
            error => error,
        })?;
        let is_dynamic = config.slc.is_dynamic();
        if is_dynamic {
            geometry.add_blocks(config.slc.blocks_per_plane)?;
        }
        let pages_per_block = config.slc_units_per_block();
        let per_plane = config.slc.blocks_per_plane.min(geometry.blocks_per_plane);
        let units_per_program = config.units_per_program();
        geometry.divisors.units_per_page = Divisor::new(units_per_page);
        geometry.divisors.units_per_program = Divisor::new(units_per_program);
        Ok(Geometry {
            units_per_page,
            pages_per_unit: config.pages_per_unit(),
            units_per_program,
            slc: if per_plane > 0 {
                SlcBlocks { per_plane, pages_per_block, is_dynamic }
            } else {
                SlcBlocks::default()
            },
            ..geometry
        })
    }

    /// Adds `per_plane` block ids, the aliases of a dynamic SLC cache, at the end of each plane. Returns an error if the page ids of the
    /// drive would exceed 32 bits.
    fn add_blocks(&mut self, per_plane: u32) -> Result<(), GeometryError> {
        let blocks = u64::from(self.blocks_per_plane) + u64::from(per_plane);
        let of_plane = blocks * u64::from(self.pages_per_block);
        let (pages, max) = (of_plane.saturating_mul(u64::from(self.planes())), u64::from(u32::MAX) - 1);
        if pages > max {
            return Err(GeometryError::TooManyPages { pages, max });
        }
        self.blocks_per_plane = blocks as u32;
        self.divisors.pages_per_plane = Divisor::new(of_plane as u32);
        self.divisors.blocks_per_plane = Divisor::new(blocks as u32);
        Ok(())
    }

    /// Checks `config` and returns the array that it describes. Each mapping unit is one page of the array.
    ///
    /// # Errors
    /// If the array cannot be simulated; the error names the keys to change.
    pub fn new(config: &config::Geometry) -> Result<Geometry, GeometryError> {
        let key = |key, value: String, reason: &str| GeometryError::Key { key, value, reason: reason.to_owned() };
        if !config.page_size.as_u64().is_power_of_two() {
            return Err(key("page-size", config.page_size.to_string(), "must be a power of two"));
        }
        let sector = config.sector_size.as_u64();
        if !sector.is_power_of_two() || sector > config.page_size.as_u64() {
            return Err(key(
                "sector-size",
                config.sector_size.to_string(),
                "must be a power of two no larger than page-size",
            ));
        }
        if config.planes_per_die as usize > PLANES_PER_DIE_MAX {
            return Err(key("planes-per-die", config.planes_per_die.to_string(), "must be at most 8"));
        }
        let dies = u64::from(config.channels) * u64::from(config.chips_per_channel) * u64::from(config.dies_per_chip);
        let max = u64::from(NUMBERS);
        if dies > max {
            return Err(GeometryError::TooManyDies { dies, max });
        }
        let planes = dies * u64::from(config.planes_per_die);
        let pages_per_plane = u64::from(config.blocks_per_plane) * u64::from(config.pages_per_block);
        // Saturating, because the configuration allows values whose product exceeds 64 bits.
        let pages = planes.saturating_mul(pages_per_plane);
        // The highest page id is reserved for "no page".
        let max = u64::from(u32::MAX) - 1;
        if pages > max {
            return Err(GeometryError::TooManyPages { pages, max });
        }
        let logical_pages = match config.capacity {
            Some(capacity) => {
                let page_size = config.page_size.as_u64();
                if capacity.as_u64() < page_size || capacity.as_u64() > pages * page_size {
                    let array = Bytes::new(pages * page_size);
                    return Err(GeometryError::Capacity { capacity, array, parity_stripe: None });
                }
                capacity.as_u64() / page_size
            }
            None => (pages as f64 * (1.0 - config.over_provisioning)) as u64,
        };
        let logical_blocks_per_plane = logical_pages.div_ceil(planes).div_ceil(u64::from(config.pages_per_block));
        let spare = u64::from(config.blocks_per_plane).saturating_sub(logical_blocks_per_plane);
        if spare < SPARE_BLOCKS_PER_PLANE_MIN {
            return Err(GeometryError::TooLittleSpare { needed: SPARE_BLOCKS_PER_PLANE_MIN, spare });
        }
        Ok(Geometry {
            channels: config.channels,
            chips_per_channel: config.chips_per_channel,
            dies_per_chip: config.dies_per_chip,
            planes_per_die: config.planes_per_die,
            blocks_per_plane: config.blocks_per_plane,
            pages_per_block: config.pages_per_block,
            page_size: config.page_size,
            units_per_page: 1,
            pages_per_unit: 1,
            units_per_program: 1,
            page_spare: config.page_spare,
            sector_size: config.sector_size,
            logical_pages: logical_pages as u32,
            slc: SlcBlocks::default(),
            page_shift: config.page_size.as_u64().trailing_zeros(),
            divisors: Divisors {
                pages_per_block: Divisor::new(config.pages_per_block),
                pages_per_plane: Divisor::new(pages_per_plane as u32),
                blocks_per_plane: Divisor::new(config.blocks_per_plane),
                planes_per_die: Divisor::new(config.planes_per_die),
                units_per_page: Divisor::new(1),
                units_per_program: Divisor::new(1),
            },
        })
    }

    /// Returns a copy with blocks of `pages_per_block / times` pages, and with a capacity that is smaller by the factor `times`. `times`
    /// must divide `pages_per_block`.
    pub(crate) fn with_smaller_blocks(&self, times: u32) -> Geometry {
        let pages_per_block = self.pages_per_block / times;
        Geometry {
            pages_per_block,
            logical_pages: self.logical_pages.div_ceil(times),
            slc: SlcBlocks { pages_per_block: self.slc.pages_per_block / times, ..self.slc },
            divisors: Divisors {
                pages_per_block: Divisor::new(pages_per_block),
                pages_per_plane: Divisor::new(self.blocks_per_plane * pages_per_block),
                ..self.divisors.clone()
            },
            ..self.clone()
        }
    }

    /// Returns the number of chips of the drive.
    pub fn chips(&self) -> u32 {
        self.channels * self.chips_per_channel
    }

    /// Returns the number of dies of the drive.
    pub fn dies(&self) -> u32 {
        self.chips() * self.dies_per_chip
    }

    /// Returns the number of planes of the drive.
    pub fn planes(&self) -> u32 {
        self.dies() * self.planes_per_die
    }

    /// Returns the number of block ids of the drive: one for each erase block, and one for each alias of a dynamic SLC cache.
    pub fn blocks(&self) -> u32 {
        self.planes() * self.blocks_per_plane
    }

    /// Returns the number of native blocks of each plane: those outside the SLC cache, which use all bits of their cells.
    #[inline]
    pub fn native_blocks_per_plane(&self) -> u32 {
        self.blocks_per_plane - self.slc.per_plane
    }

    /// Returns the number of pages of each plane outside the SLC cache.
    pub fn native_pages_per_plane(&self) -> u32 {
        self.native_blocks_per_plane() * self.pages_per_block
    }

    /// Returns whether the drive has an SLC cache.
    #[inline]
    pub fn has_slc(&self) -> bool {
        self.slc.per_plane > 0
    }

    /// Returns whether the block with this index in its plane belongs to the SLC cache.
    #[inline]
    pub fn is_slc_position(&self, block_in_plane: u32) -> bool {
        self.has_slc() && block_in_plane >= self.native_blocks_per_plane()
    }

    /// Returns whether `block` belongs to the SLC cache.
    #[inline]
    pub fn is_slc(&self, block: BlockId) -> bool {
        self.has_slc()
            && self.is_slc_position(block.0 - self.divisors.blocks_per_plane.divide(block.0) * self.blocks_per_plane)
    }

    /// Returns whether a page lies in the SLC cache.
    #[inline]
    pub fn is_slc_page(&self, ppn: Ppn) -> bool {
        self.has_slc() && self.is_slc(self.block_of(ppn))
    }

    /// Returns the number of pages (mapping units) that a block holds.
    #[inline]
    pub fn pages_of(&self, block: BlockId) -> u32 {
        if self.is_slc(block) { self.slc.pages_per_block } else { self.pages_per_block }
    }

    /// Returns the number of mapping units that one program writes in `block`.
    #[inline]
    pub fn units_per_program_of(&self, block: BlockId) -> u32 {
        if self.is_slc(block) { self.units_per_page } else { self.units_per_program }
    }

    /// Returns the first page of the program that contains `ppn`.
    #[inline]
    pub fn program_start(&self, ppn: Ppn) -> Ppn {
        Ppn(ppn.0 - ppn.0 % self.units_per_program_of(self.block_of(ppn)))
    }

    /// Returns whether `ppn` is the last page of its program.
    #[inline]
    pub fn is_last_of_program(&self, ppn: Ppn) -> bool {
        (ppn.0 + 1).is_multiple_of(self.units_per_program_of(self.block_of(ppn)))
    }

    /// Returns the number of spare blocks of each plane: its native blocks beyond an even share of the logical pages.
    pub fn spare_blocks_per_plane(&self) -> u32 {
        let logical_pages = self.logical_pages.div_ceil(self.planes());
        self.native_blocks_per_plane().saturating_sub(logical_pages.div_ceil(self.pages_per_block))
    }

    /// Returns the number of page ids of each plane, including the ids for the SLC cache.
    pub fn pages_per_plane(&self) -> u32 {
        self.blocks_per_plane * self.pages_per_block
    }

    /// Returns the number of page ids of the drive, including the ids for the SLC cache.
    pub fn pages(&self) -> u32 {
        self.blocks() * self.pages_per_block
    }

    /// Returns the capacity visible to the host.
    pub fn capacity(&self) -> Bytes {
        self.page_size * u64::from(self.logical_pages)
    }

    /// Returns the logical page that contains the byte at `offset`.
    #[inline]
    pub fn lpn_of(&self, offset: Bytes) -> Lpn {
        Lpn((offset.as_u64() >> self.page_shift) as u32)
    }

    /// Returns the block of a page.
    #[inline]
    pub fn block_of(&self, ppn: Ppn) -> BlockId {
        BlockId(self.divisors.pages_per_block.divide(ppn.0))
    }

    /// Returns the plane of a block.
    #[inline]
    pub fn plane_of_block(&self, block: BlockId) -> PlaneId {
        PlaneId(self.divisors.blocks_per_plane.divide(block.0))
    }

    /// Returns the plane of a page.
    #[inline]
    pub fn plane_of(&self, ppn: Ppn) -> PlaneId {
        PlaneId(self.divisors.pages_per_plane.divide(ppn.0))
    }

    /// Returns the offset of a page in its block, in mapping units.
    #[inline]
    pub fn page_in_block(&self, ppn: Ppn) -> u32 {
        ppn.0 - self.block_of(ppn).0 * self.pages_per_block
    }

    /// Returns the offset, in its block, of the array page that holds mapping unit `ppn`. If the unit covers several array pages, returns
    /// the offset of the first.
    #[inline]
    pub fn array_page(&self, ppn: Ppn) -> u32 {
        self.array_page_at(self.page_in_block(ppn))
    }

    /// Like [`array_page`](Self::array_page), but for a mapping unit at `offset` in its block.
    #[inline]
    pub fn array_page_at(&self, offset: u32) -> u32 {
        if self.units_per_page == 1 {
            offset * self.pages_per_unit
        } else {
            self.divisors.units_per_page.divide(offset)
        }
    }

    /// Returns the number of whole programs that `units` mapping units of one plane fill. `in_slc` is whether they are programmed into the
    /// SLC cache.
    #[inline]
    pub fn programs_of(&self, units: u32, in_slc: bool) -> u32 {
        let divisor = if in_slc { self.divisors.units_per_page } else { self.divisors.units_per_program };
        divisor.divide(units)
    }

    /// Returns `bytes` of user data plus their share of the page's spare area.
    #[inline]
    pub fn with_spare_area(&self, bytes: Bytes) -> Bytes {
        if self.page_spare == Bytes::ZERO {
            return bytes;
        }
        bytes + Bytes::new((bytes.as_u64() * self.page_spare.as_u64()).div_ceil(self.array_page_size().as_u64()))
    }

    /// Returns the size of the user data in a page of the array.
    #[inline]
    pub fn array_page_size(&self) -> Bytes {
        Bytes::new((self.page_size * u64::from(self.units_per_page)).as_u64() / u64::from(self.pages_per_unit))
    }

    /// Returns whether a mapping unit covers several pages of the array.
    #[inline]
    pub fn has_large_units(&self) -> bool {
        self.pages_per_unit > 1
    }

    /// Returns whether a program writes several mapping units. If so, the writes of these units must be gathered first.
    #[inline]
    pub fn gathers_units(&self) -> bool {
        self.units_per_program > 1
    }

    /// Returns the page at offset `page_in_block` of `block`.
    #[inline]
    pub fn ppn(&self, block: BlockId, page_in_block: u32) -> Ppn {
        Ppn(block.0 * self.pages_per_block + page_in_block)
    }

    /// Returns the first block of a plane.
    #[inline]
    pub fn first_block(&self, plane: PlaneId) -> BlockId {
        BlockId(plane.0 * self.blocks_per_plane)
    }

    /// Returns the die of a plane.
    #[inline]
    pub fn die_of_plane(&self, plane: PlaneId) -> DieId {
        DieId(self.divisors.planes_per_die.divide(plane.0))
    }

    /// Returns the index of a plane in its die.
    #[inline]
    pub fn plane_in_die(&self, plane: PlaneId) -> u32 {
        plane.0 - self.die_of_plane(plane).0 * self.planes_per_die
    }

    /// Returns the first plane of a die.
    #[inline]
    pub fn first_plane(&self, die: DieId) -> PlaneId {
        PlaneId(die.0 * self.planes_per_die)
    }

    /// Returns the chip of a die.
    #[inline]
    pub fn chip_of(&self, die: DieId) -> ChipId {
        ChipId(die.0 / self.dies_per_chip)
    }

    /// Returns the channel of a chip; in fabrics without channels, its row.
    #[inline]
    pub fn channel_of(&self, chip: ChipId) -> ChannelId {
        ChannelId(chip.0 / self.chips_per_channel)
    }

    /// Returns the distance between the chips of two planes: the difference of their rows (channels) plus the difference of their columns (ways).
    pub(crate) fn distance(&self, from: PlaneId, to: PlaneId) -> u32 {
        let place = |plane: PlaneId| {
            let ChipId(chip) = self.chip_of(self.die_of_plane(plane));
            (chip / self.chips_per_channel, chip % self.chips_per_channel)
        };
        let ((from_row, from_column), (to_row, to_column)) = (place(from), place(to));
        from_row.abs_diff(to_row) + from_column.abs_diff(to_column)
    }
}
