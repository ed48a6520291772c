//! How long the array takes for a page by its offset in its block, as a table of the first pages and of those that repeat.

use crate::config::{Flash, PageTypes};
use crate::units::Time;

/// The bits of the cells, least significant first: of the pages that do not repeat, and of those that do.
const ONE: (&str, &str) = ("", "l");
const MLC: (&str, &str) = ("", "lu");
const TLC: (&str, &str) = ("llllllmm", "llmmuu");

/// Which of `times` (for lower, middle and upper pages) the page has.
fn pick(flash: &Flash, page: u32, times: [Time; 3]) -> Time {
    let (first, repeated) = match flash.page_types {
        PageTypes::One => ONE,
        PageTypes::Mlc => MLC,
        PageTypes::Tlc => TLC,
    };
    let (first, repeated, page) = (first.as_bytes(), repeated.as_bytes(), page as usize);
    match first.get(page).unwrap_or_else(|| &repeated[(page - first.len()) % repeated.len()]) {
        b'u' => times[2],
        b'm' => times[1],
        _ => times[0],
    }
}

/// How long the array reads the page.
pub(super) fn read(flash: &Flash, page: u32) -> Time {
    let lower = flash.read_time;
    let [middle, upper] = [flash.middle_page_read_time, flash.upper_page_read_time].map(|own| own.unwrap_or(lower));
    pick(flash, page, [lower, middle, upper])
}

/// How long the array programs the page.
pub(super) fn program(flash: &Flash, page: u32) -> Time {
    let lower = flash.program_time;
    let own = [flash.middle_page_program_time, flash.upper_page_program_time];
    let [middle, upper] = own.map(|own| own.unwrap_or(lower));
    pick(flash, page, [lower, middle, upper])
}
