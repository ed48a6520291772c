//! Oracle `addresses`: counts and addresses of the drive's geometry agree with the configuration. The oracle computes both by division; the
//! drive uses shifts and tables.

use crate::check::arithmetic::{ArrayTree, PageSplit, in_units};
use crate::config::Config;
use crate::flash::geometry::Geometry;
use crate::ids::{PlaneId, Ppn};
use crate::units::Bytes;

pub(in super::super) const NAME: &str = "addresses";

fn same<T: PartialEq + std::fmt::Debug>(what: &str, drive: T, expected: T) -> Result<(), String> {
    if drive == expected {
        return Ok(());
    }
    Err(format!("the drive has {what} = {drive:?}, and the configuration makes it {expected:?}"))
}

/// Checks the counts of chips, dies, planes, blocks, pages and logical pages, the capacity, and the sizes of pages and sectors. Then checks the first
/// and last byte of the first and last logical page, and the die, chip, channel, first block, and first and last page of every plane.
pub(in super::super) fn audit(geometry: &Geometry, config: &Config) -> Result<(), String> {
    let (homes, cuts) = (ArrayTree::new(&in_units(config)), PageSplit::new(config));
    same("chips", geometry.chips() as usize, homes.chips())?;
    same("dies", geometry.dies() as usize, homes.dies())?;
    same("planes", geometry.planes() as usize, homes.planes())?;
    same("blocks", u64::from(geometry.blocks()), homes.blocks())?;
    same("pages", u64::from(geometry.pages()), homes.pages())?;
    same("logical pages", geometry.logical_pages, cuts.logical_pages())?;
    same("capacity", geometry.capacity(), cuts.capacity())?;
    let page = cuts.page_size().as_u64();
    let sizes = (geometry.page_size, geometry.page_spare, geometry.sector_size);
    let expected = (cuts.page_size(), config.geometry.page_spare, cuts.sector_size());
    same("sizes of pages, their metadata and sectors", sizes, expected)?;
    for lpn in [0, cuts.logical_pages() - 1] {
        for offset in [0, page - 1].map(|within| Bytes::new(u64::from(lpn) * page + within)) {
            same(&format!("page of byte {}", offset.as_u64()), geometry.lpn_of(offset), cuts.page_at(offset))?;
        }
    }
    for plane in (0..homes.planes() as u32).map(PlaneId) {
        audit_plane(geometry, &homes, plane)?;
    }
    Ok(())
}

fn audit_plane(geometry: &Geometry, homes: &ArrayTree, plane: PlaneId) -> Result<(), String> {
    let per_plane = (homes.pages() / homes.planes() as u64) as u32;
    let die = homes.die_of_plane(plane);
    let found = (geometry.die_of_plane(plane), geometry.plane_in_die(plane), geometry.first_block(plane));
    let expected = (die, homes.position(plane)[3], homes.block(plane, 0));
    same(&format!("die, place in it and first block of plane {}", plane.0), found, expected)?;
    let chip = geometry.chip_of(die);
    let expected = (homes.chip_of_die(die), homes.channel_of_die(die));
    same(&format!("chip and channel of die {}", die.0), (chip, geometry.channel_of(chip)), expected)?;
    for ppn in [plane.0 * per_plane, plane.0 * per_plane + per_plane - 1].map(Ppn) {
        let block = geometry.block_of(ppn);
        let found = (block, geometry.plane_of_block(block), geometry.plane_of(ppn), geometry.page_in_block(ppn));
        let expected = (homes.block_of(ppn), homes.plane_of(ppn), homes.plane_of(ppn), homes.page_in_block(ppn));
        same(&format!("block, plane and offset of page {}", ppn.0), found, expected)?;
        same(&format!("page at the offset of page {}", ppn.0), geometry.ppn(block, found.3), ppn)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::check::Oracles;
    use crate::check::histories::{assert_fails, assert_silent, config, geometry};
    use crate::flash::geometry::Geometry;
    use crate::units::Bytes;

    #[test]
    fn the_geometry_of_the_configuration_is_right() {
        assert_silent(&Oracles::new(&geometry(), &config()));
    }

    #[test]
    fn a_geometry_that_counts_or_places_anything_else_is_caught() {
        type Fault = fn(&mut Geometry);
        let faults: [(Fault, &str); 6] = [
            (|geometry| geometry.channels = 3, "the drive has chips = 6, and the configuration makes it 4"),
            (|geometry| geometry.logical_pages += 1, "logical pages = 129"),
            (|geometry| geometry.sector_size = Bytes::from_kib(4), "sizes of pages"),
            // The counts stay the same, but each chip has its own channel, so die 1 is on another chip and channel.
            (|geometry| (geometry.channels, geometry.chips_per_channel) = (4, 1), "chip and channel of die 1"),
            (|geometry| (geometry.chips_per_channel, geometry.planes_per_die) = (1, 4), "chips = 2"),
            (|geometry| (geometry.blocks_per_plane, geometry.pages_per_block) = (4, 8), "blocks = 32"),
        ];
        for (fault, message) in faults {
            let mut geometry = geometry();
            fault(&mut geometry);
            assert_fails(&Oracles::new(&geometry, &config()), "addresses", message);
        }
    }

    #[test]
    fn a_byte_in_the_wrong_page_is_caught() {
        let mut twice = config();
        twice.geometry.page_size = Bytes::from_kib(8);
        twice.geometry.capacity = Some(Bytes::from_kib(8 * 128));
        // Built with twice the page size, so it divides byte addresses by the wrong page size.
        let mut geometry = Geometry::new(&twice.geometry).expect("the geometry is valid");
        geometry.page_size = Bytes::from_kib(4);
        assert_fails(&Oracles::new(&geometry, &config()), "addresses", "page of byte 520192 = Lpn(63)");
    }
}
