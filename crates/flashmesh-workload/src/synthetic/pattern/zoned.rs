//! The zoned pattern: zones of the footprint, each with its share of the requests.

use super::{AddressPattern, Cursor};
use crate::error::WorkloadError;
use crate::synthetic::random::{self, Chance, Generator};
use crate::synthetic::sizes::{Size, SizeTable};
use crate::synthetic::unusable;

/// The tolerance for sums of percentages, which decimals do not represent exactly.
const ROUNDING: f64 = 1e-6;

/// A zone: its first block, its number of blocks, and the chance that a draw selects this zone or an earlier one.
#[derive(Clone, Copy, Debug)]
struct Zone {
    first: u64,
    blocks: u64,
    up_to: Chance,
}

/// The zoned pattern: consecutive zones from the start of the footprint. Within a zone, addresses are uniform.
#[derive(Clone, Debug)]
pub(crate) struct Zoned {
    zones: Vec<Zone>,
}

impl Zoned {
    /// Parses zones written as `requests/footprint:requests/footprint`, in percent, over the blocks in which the smallest size can begin. The error
    /// says which zone is invalid.
    pub(crate) fn new(text: &str, sizes: &SizeTable) -> Result<Zoned, WorkloadError> {
        let blocks = sizes.smallest().starts as f64;
        let (mut traffic, mut space) = (0.0, 0.0);
        let mut zones = Vec::new();
        for part in text.split(':') {
            let wrong =
                || unusable("workload.zones", format!("`{part}` is no zone: expected REQUESTS/FOOTPRINT in percent"));
            let (requests, footprint) = part.split_once('/').ok_or_else(wrong)?;
            let percent = |text: &str| text.trim().parse::<f64>().ok().filter(|share| (0.0..=100.0).contains(share));
            let (requests, footprint) = (percent(requests).ok_or_else(wrong)?, percent(footprint).ok_or_else(wrong)?);
            let first = (space / 100.0 * blocks) as u64;
            traffic += requests;
            space += footprint;
            let end = ((space / 100.0 + ROUNDING) * blocks) as u64;
            let blocks = end.min(blocks as u64).saturating_sub(first);
            if requests > 0.0 && blocks == 0 {
                return Err(unusable(
                    "workload.zones",
                    format!("the zone `{part}` holds no block of workload.alignment"),
                ));
            }
            zones.push(Zone { first, blocks, up_to: Chance::new(traffic / 100.0) });
        }
        for (sum, name) in [(traffic, "requests"), (space, "footprint")] {
            let is_whole = (sum - 100.0).abs() <= 100.0 * ROUNDING;
            if sum > 100.0 + 100.0 * ROUNDING || (name == "requests" && !is_whole) {
                return Err(unusable(
                    "workload.zones",
                    format!("the shares of the {name} add up to {sum} %, not to 100 %"),
                ));
            }
        }
        Ok(Zoned { zones })
    }
}

impl AddressPattern for Zoned {
    fn choose(&self, generator: &mut Generator, _cursor: &mut Cursor, size: &Size) -> u64 {
        let draw = Chance::draw(generator);
        let drawn = self.zones.iter().find(|zone| zone.up_to.holds(draw));
        // Rounding can leave the largest draws without a zone. They select the last zone that has blocks.
        let zone = drawn.or_else(|| self.zones.iter().rfind(|zone| zone.blocks > 0));
        zone.map_or(0, |zone| zone.first + random::below(generator, zone.blocks)).min(size.starts - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::layout::FootprintLayout;
    use super::super::super::random::stream_of;
    use super::*;
    use crate::config::Sizes;
    use crate::units::Bytes;

    fn table() -> SizeTable {
        let block = Bytes::from_kib(4);
        let layout = FootprintLayout::new(Bytes::ZERO, None, block, Bytes::from_kib(4000), Bytes::new(512)).unwrap();
        SizeTable::new(&Sizes(vec![(block, 1.0)]), &layout, Bytes::new(512)).unwrap()
    }

    #[test]
    fn each_zone_gets_its_share_of_the_requests() {
        let sizes = table();
        let zoned = Zoned::new("50/10:30/20:20/70", &sizes).unwrap();
        let mut generator = stream_of(5);
        let mut counts = [0; 3];
        let mut cursor = Cursor::of_part(0, 1, 1000);
        for _ in 0..100_000 {
            let block = zoned.choose(&mut generator, &mut cursor, sizes.smallest());
            counts[usize::from(block >= 100) + usize::from(block >= 300)] += 1;
        }
        for (count, share) in counts.into_iter().zip([0.5, 0.3, 0.2]) {
            assert!((f64::from(count) / 1e5 - share).abs() < 0.01, "{counts:?}");
        }
    }

    #[test]
    fn refuses_zones_that_cannot_be() {
        for text in ["", "50", "50/10", "60/50:50/50", "50/60:50/60", "50/x:50/1", "100/0.01"] {
            let message = Zoned::new(text, &table()).unwrap_err().to_string();
            assert!(message.starts_with("workload.zones: "), "{text}: {message}");
        }
    }
}
