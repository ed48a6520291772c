//! Page types of multi-bit cells, and their latencies.

use crate::config::{Config, PageTypes};
use crate::units::Time;

/// Type of a page: the bit of each cell that stores the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageType {
    /// Least significant bit; also the only bit of single-level cells.
    #[default]
    Lower,
    Middle,
    Upper,
    /// Fourth bit of a quad-level cell.
    Top,
    /// Only bit of a cell in the SLC cache.
    Slc,
}

impl PageType {
    pub const ALL: [PageType; 5] = [PageType::Lower, PageType::Middle, PageType::Upper, PageType::Top, PageType::Slc];

    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the type of the page at this offset in its block.
    ///
    /// A TLC block begins with six lower and two middle pages; after these the three types alternate in pairs of pages (Yaakobi et al.,
    /// "Characterization and error-correcting codes for TLC flash memories", ICNC 2012). In QLC blocks the pages of a word line have
    /// successive offsets \[choice\].
    #[inline]
    pub const fn from_offset(types: PageTypes, page_in_block: u32) -> PageType {
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

    /// Returns the type of a page in blocks where the pages of a word line have successive offsets, lower page first.
    #[inline]
    pub const fn from_word_line_offset(types: PageTypes, page_in_block: u32) -> PageType {
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
        (0..pages).map(|page| PageType::from_offset(types, page)).collect()
    }

    #[test]
    fn mlc_page_types_alternate() {
        assert_eq!(first(PageTypes::One, 4), [Lower; 4]);
        assert_eq!(first(PageTypes::Mlc, 4), [Lower, Upper, Lower, Upper]);
    }

    #[test]
    fn qlc_page_types_cycle() {
        assert_eq!(first(PageTypes::Qlc, 5), [Lower, Middle, Upper, Top, Lower]);
    }

    #[test]
    fn tlc_page_types_begin_with_lower_and_middle_pages_and_then_cycle() {
        let mut expected = vec![Lower; 6];
        expected.extend([Middle; 2]);
        for _ in 0..2 {
            expected.extend([Lower, Lower, Middle, Middle, Upper, Upper]);
        }
        assert_eq!(first(PageTypes::Tlc, 20), expected);
    }
}
