//! Sizes of the replication tables in DRAM, as in the paper (Patterned Read Collisions, IEEE Access 2023, sections III and IV.A).

/// Bits of a physical page number: an entry of the map is 32 bits wide, and addresses in it are 4-byte aligned.
const PPN_BITS: u64 = 30;
/// Bits of a slack counter.
const SLACK_BITS: u64 = 16;
/// Bits of the counter of a replicated page (reads of its replica minus reads of its original), and of a list pointer.
const WORD_BITS: u64 = 32;

/// Returns the bits of a collision pair (two pages whose reads collided): two page numbers within their dies, and a slack counter for each die. The
/// slack counter of the die that owns the list counts the occurrences instead \[choice\].
pub fn pair_bits(dies: u32) -> u64 {
    let die_bits = u64::from(u32::BITS - dies.saturating_sub(1).leading_zeros());
    2 * (PPN_BITS - die_bits) + SLACK_BITS * u64::from(dies)
}

/// Returns the size of all collision pair lists, in bytes. An entry contains the pair (38.5 B with 16 dies) and two list pointers. Its node
/// in a hash table contains a key of two 32-bit words, and pointers to the next node and to the entry. Entries are aligned to 8 bytes
/// \[choice\]. With 16 dies and 5 pairs per die, the result is the 5 kB that the paper states.
pub fn list_bytes(dies: u32, pairs_per_die: u32) -> u64 {
    let entry = (pair_bits(dies) + 2 * WORD_BITS + 4 * WORD_BITS).div_ceil(64) * 8;
    u64::from(dies) * u64::from(pairs_per_die) * entry
}

/// Returns the bytes of an entry of the replication map: three page numbers, a counter and two pointers, aligned to 32 bits.
pub fn map_entry_bytes() -> u64 {
    (3 * PPN_BITS + WORD_BITS + 2 * WORD_BITS).div_ceil(32) * 4
}

/// Returns the bytes of the replication flags: one bit for each logical page, in its mapping entry.
pub fn flag_bytes(logical_pages: u32) -> u64 {
    u64::from(logical_pages).div_ceil(8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::flash::geometry::Geometry;

    #[test]
    fn the_tables_take_what_the_paper_states() {
        assert_eq!(pair_bits(16) as f64 / 8.0, 38.5);
        assert_eq!(map_entry_bytes(), 24);
        assert_eq!(list_bytes(16, 5), 5 << 10);
        // Replicas of 0.2 % of the pages of 1 TiB need a map of 3.22 MB. The paper states 3.23 MB, because its drive has 0.3 % more pages.
        let config = Config::from_preset("collisions").expect("the preset exists");
        let pages = Geometry::new(&config.geometry).expect("the geometry is valid").pages();
        let copies = config.replication.replicas_max(pages);
        let megabytes = (u64::from(copies) * map_entry_bytes()) as f64 / 1e6;
        assert!((megabytes / 3.23 - 1.0).abs() < 0.005, "{megabytes} MB");
    }
}
