//! Pages of cells that hold several bits: which of them a page is, and what the array takes for it.

use crate::config::{Config, PageTypes};
use crate::units::Time;

/// Which bits of its cells a page uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageType {
    /// Least significant bits; all bits of single-level cells.
    #[default]
    Lower,
    Middle,
    Upper,
    /// The fourth bit of a cell.
    Top,
    /// The only bit of cells of the SLC cache.
    Slc,
}

impl PageType {
    pub const ALL: [PageType; 5] = [PageType::Lower, PageType::Middle, PageType::Upper, PageType::Top, PageType::Slc];

    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The type of the page at this offset in its block.
    ///
    /// In blocks of three bits a cell the first pages are programmed before the types alternate (Yaakobi et al.,
    /// "Characterization and error-correcting codes for TLC flash memories", ICNC 2012). In blocks of four bits a cell the pages of a word
    /// line follow each other \[choice\].
    #[inline]
    pub const fn of(types: PageTypes, page_in_block: u32) -> PageType {
        match (types, page_in_block) {
            (PageTypes::One, _) => PageType::Lower,
            (PageTypes::Mlc, page) if page.is_multiple_of(2) => PageType::Lower,
            (PageTypes::Mlc, _) => PageType::Upper,
            (PageTypes::Tlc, 0..=5) => PageType::Lower,
            (PageTypes::Tlc, 6..=7) => PageType::Middle,
            (PageTypes::Tlc, page) => PageType::ALL[((page - 8) / 2 % 3) as usize],
            (PageTypes::Qlc, page) => PageType::ALL[(page % 4) as usize],
        }
    }

    /// The type of a page where those of a word line have successive numbers, the lower first.
    #[inline]
    pub const fn of_word_line(types: PageTypes, page_in_block: u32) -> PageType {
        match types {
            PageTypes::One => PageType::Lower,
            PageTypes::Mlc => [PageType::Lower, PageType::Upper][(page_in_block % 2) as usize],
            PageTypes::Tlc => PageType::ALL[(page_in_block % 3) as usize],
            PageTypes::Qlc => PageType::ALL[(page_in_block % 4) as usize],
        }
    }

    pub fn read_time(self, config: &Config) -> Time {
        let flash = &config.flash;
        let own = match self {
            PageType::Lower => None,
            PageType::Middle => flash.middle_page_read_time,
            PageType::Upper => flash.upper_page_read_time,
            PageType::Top => flash.top_page_read_time,
            PageType::Slc => Some(config.slc.read_time),
        };
        own.unwrap_or(flash.read_time)
    }

    pub fn program_time(self, config: &Config) -> Time {
        let flash = &config.flash;
        let own = match self {
            PageType::Lower => None,
            PageType::Middle => flash.middle_page_program_time,
            PageType::Upper => flash.upper_page_program_time,
            PageType::Top => flash.top_page_program_time,
            PageType::Slc => Some(config.slc.program_time),
        };
        own.unwrap_or(flash.program_time)
    }
}

#[cfg(test)]
mod tests {
    use super::PageType::{Lower, Middle, Top, Upper};
    use super::*;

    fn first(types: PageTypes, pages: u32) -> Vec<PageType> {
        (0..pages).map(|page| PageType::of(types, page)).collect()
    }

    #[test]
    fn pages_of_two_bits_a_cell_alternate() {
        assert_eq!(first(PageTypes::One, 4), [Lower; 4]);
        assert_eq!(first(PageTypes::Mlc, 4), [Lower, Upper, Lower, Upper]);
    }

    #[test]
    fn pages_of_four_bits_a_cell_take_turns() {
        assert_eq!(first(PageTypes::Qlc, 5), [Lower, Middle, Upper, Top, Lower]);
    }

    #[test]
    fn pages_of_three_bits_a_cell_begin_with_lower_and_middle_ones_and_then_take_turns() {
        let mut expected = vec![Lower; 6];
        expected.extend([Middle; 2]);
        for _ in 0..2 {
            expected.extend([Lower, Lower, Middle, Middle, Upper, Upper]);
        }
        assert_eq!(first(PageTypes::Tlc, 20), expected);
    }
}
