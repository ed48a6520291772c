//! Check that a drive has blocks for its SLC cache, and no setting that conflicts with the cache.

use crate::config::{Config, ConfigConflict, PageTypes};

/// Returns the part of a message that explains why the SLC cache needs spare blocks in each plane.
pub(super) fn reason(config: &Config) -> String {
    let blocks = config.slc.blocks_per_plane;
    if config.slc.is_dynamic() {
        return "slc.region `dynamic` has an SLC cache, which needs three blocks of each plane for its open block and what is folded".to_owned();
    }
    format!(
        "slc.blocks-per-plane keeps {blocks} blocks of each plane for the SLC cache, which needs two more for what is folded"
    )
}

pub(super) fn add_conflicts(config: &Config, clashes: &mut Vec<ConfigConflict>) {
    if !config.slc.is_on() {
        return;
    }
    let (pages, types) = (config.pages_per_word_line(), config.flash.page_types);
    if types == PageTypes::One {
        let message = "slc.blocks-per-plane keeps blocks for an SLC cache, and with flash.page-types `one` all blocks hold one bit a cell";
        let clash = ConfigConflict::new(&["slc.blocks-per-plane", "flash.page-types"], message.to_owned());
        clashes
            .push(clash.with_help("set flash.page-types to \"mlc\", \"tlc\" or \"qlc\", or slc.blocks-per-plane to 0"));
    }
    let in_block = config.geometry.pages_per_block;
    if !in_block.is_multiple_of(pages) {
        let message = format!(
            "a block of the SLC cache holds a page for each word line, which has {pages} pages with flash.page-types `{types}`, and \
             geometry.pages-per-block ({in_block}) is no multiple of that"
        );
        let clash =
            ConfigConflict::new(&["geometry.pages-per-block", "slc.blocks-per-plane", "flash.page-types"], message);
        clashes.push(clash.with_help(&format!("set geometry.pages-per-block to a multiple of {pages}")));
    }
    let programs = in_block / pages / config.pages_per_unit();
    if config.parity_stripe().is_some() && programs < 2 {
        let message = format!(
            "ftl.parity is set, and a block of the SLC cache, which holds a page for each word line of geometry.pages-per-block ({in_block}), is one \
             program: none is left for data"
        );
        let clash = ConfigConflict::new(&["geometry.pages-per-block", "slc.blocks-per-plane", "ftl.parity"], message);
        clashes.push(clash.with_help("set geometry.pages-per-block to a larger number, or leave ftl.parity away"));
    }
}
