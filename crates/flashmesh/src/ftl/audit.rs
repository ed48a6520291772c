//! Consistency check of all tables of the translation layer.

use super::Ftl;
use crate::ids::{BlockId, PlaneId, Ppn};

impl Ftl {
    /// Checks that all tables agree, in time proportional to mapped pages and blocks. The map must be a bijection between mapped logical pages and
    /// valid physical pages. Counters must agree with the bitmaps of valid pages, and every block must be in exactly one state and counted by its
    /// plane. May be called while pages are in flight.
    ///
    /// # Errors
    /// A description of the first inconsistency found.
    pub fn audit(&self) -> Result<(), String> {
        let mapped = audit_map(self)?;
        self.blocks.audit(self.mapping.is_used())?;
        audit_valid_pages(self)?;
        if self.counts_parts {
            audit_parts(self)?;
        }
        let replicas = audit_replicas(self)?;
        // No two mapped pages share a valid page, because the reverse map gives one logical page for each physical page. So equal counts make the map
        // a bijection.
        let valid = self.blocks.valid_pages_of_drive();
        check(mapped + replicas == valid, || {
            format!("{mapped} logical pages are mapped, {replicas} have replicas, and {valid} physical pages are valid")
        })
    }
}

/// Checks that every mapped page is valid at its location, on a plane of its namespace. Returns the number of mapped pages of the drive, or a
/// description of the first fault.
fn audit_map(ftl: &Ftl) -> Result<u64, String> {
    let (order, table) = (ftl.allocation.static_order(), ftl.blocks.accounts.table());
    let mut mapped = 0;
    for (lpn, ppn) in ftl.mapping.mapped() {
        mapped += 1;
        check(ppn.0 < ftl.geometry.pages(), || format!("{lpn:?} is mapped beyond the drive, to {ppn:?}"))?;
        check(table.is_valid(ppn), || format!("{lpn:?} is mapped to {ppn:?}, which is not valid"))?;
        let back = ftl.mapping.lpn_at(ppn);
        check(back == lpn, || format!("{lpn:?} is mapped to {ppn:?}, which holds {back:?}"))?;
        let plane = ftl.geometry.plane_of(ppn);
        let members = order.members(order.part_of(lpn));
        check(members.binary_search(&plane).is_ok(), || {
            format!("{lpn:?} is mapped to {plane:?}, which is not a plane of its namespace")
        })?;
    }
    Ok(mapped)
}

/// Checks that every valid page holds the newest version of its logical page, and that no block marked for translation pages holds host data.
fn audit_valid_pages(ftl: &Ftl) -> Result<(), String> {
    let table = ftl.blocks.accounts.table();
    for block in (0..ftl.geometry.blocks()).map(BlockId).filter(|&block| table.valid_pages(block) > 0) {
        let say = |what: &str| format!("{block:?} ({:?}): {what}", table.state(block));
        for page in table.valid_offsets(block) {
            let ppn = ftl.geometry.ppn(block, page);
            let lpn = ftl.mapping.lpn_at(ppn);
            check(ftl.is_at(lpn, ppn), || say(&format!("page {page} is valid for {lpn:?}, which is elsewhere")))?;
            let is_data = ftl.translation.is_none_or(|translation| !translation.contains(lpn));
            check(!is_data || !table.holds_translation(block), || say("data lies among translation pages"))?;
        }
    }
    Ok(())
}

/// Checks that every replica is valid and is not the original of its page, and that each plane counts its guests (valid pages that replication
/// has put there). Returns the number of replicas of the drive; 0 without replication.
fn audit_replicas(ftl: &Ftl) -> Result<u64, String> {
    let Some(replicas) = &ftl.replicas else { return Ok(0) };
    let table = ftl.blocks.accounts.table();
    for (lpn, ppn) in replicas.iter() {
        check(table.is_valid(ppn), || format!("the replica of {lpn:?} is at {ppn:?}, which is not valid"))?;
        let back = ftl.mapping.lpn_at(ppn);
        check(back == lpn, || format!("the replica of {lpn:?} is at {ppn:?}, which holds {back:?}"))?;
        check(ftl.lookup(lpn) != Some(ppn), || format!("the replica of {lpn:?} at {ppn:?} is its original too"))?;
        check(replicas.is_guest(ppn), || format!("the replica of {lpn:?} at {ppn:?} is no guest"))?;
    }
    for plane in (0..ftl.geometry.planes()).map(PlaneId) {
        let pages = ftl.geometry.pages_per_plane();
        let is_guest = |ppn: &u32| replicas.is_guest(Ppn(*ppn)) && table.is_valid(Ppn(*ppn));
        let counted = (plane.0 * pages..(plane.0 + 1) * pages).filter(is_guest).count();
        let told = replicas.guests(plane);
        check(told as usize == counted, || format!("{plane:?}: guests: told {told}, counted {counted}"))?;
    }
    Ok(ftl.replica_count())
}

/// Checks the number of valid pages that the allocator counts for each plane and each part (range of logical pages with the same set of planes).
fn audit_parts(ftl: &Ftl) -> Result<(), String> {
    let order = ftl.allocation.static_order();
    let planes = ftl.geometry.planes() as usize;
    let mut counted = vec![0; ftl.partition.parts.len() * planes];
    for (lpn, ppn) in ftl.mapping.mapped() {
        counted[order.part_of(lpn) * planes + ftl.geometry.plane_of(ppn).index()] += 1;
    }
    for (at, &counted) in counted.iter().enumerate() {
        let (part, plane) = (at / planes, PlaneId((at % planes) as u32));
        let told = ftl.allocation.counted(part, plane);
        check(told == Some(counted), || format!("part {part} on {plane:?}: told {told:?}, counted {counted}"))?;
    }
    Ok(())
}

pub(super) fn check(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

#[cfg(test)]
mod tests;
