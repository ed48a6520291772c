//! Recovery from states that rarely occur when a whole drive is simulated.

use super::{Persistence, PersistenceAction, ProgramReason};
use crate::config::{Config, Geometry as Shape, PersistencePolicy};
use crate::flash::geometry::Geometry;
use crate::ftl::{Ftl, FtlRules, OpenBlockKind};
use crate::ids::{DieId, Lpn, PlaneId, Ppn, StreamId};
use crate::units::Bytes;

/// Drive of two dies with one plane each, a journal and replication. `write` writes to die 0, `copy` adds a replica on die 1.
struct Drive {
    geometry: Geometry,
    ftl: Ftl,
    persistence: Box<Persistence>,
}

const PAGE: Lpn = Lpn(4);

impl Drive {
    fn new(entries: u64) -> Drive {
        let mut config = Config {
            geometry: Shape {
                channels: 2,
                chips_per_channel: 1,
                planes_per_die: 1,
                blocks_per_plane: 32,
                pages_per_block: 8,
                over_provisioning: 0.8,
                ..Shape::default()
            },
            ..Config::default()
        };
        config.persistence.policy = PersistencePolicy::Journal;
        config.persistence.entry_size = Bytes::new(config.geometry.page_size.as_u64() / entries);
        config.persistence.checkpoint_interval = 1;
        config.replication.enabled = true;
        let geometry = Geometry::new(&config.geometry).expect("the geometry is valid");
        let ftl = Ftl::new(&geometry, &config, FtlRules::new(&config));
        let persistence = Persistence::new(&config, &geometry, &ftl).expect("the drive has a journal");
        Drive { geometry, ftl, persistence }
    }

    fn allocate(&mut self, plane: u32) -> Ppn {
        self.ftl.allocate(PlaneId(plane), OpenBlockKind::Host(StreamId(0))).expect("the plane has space")
    }

    fn write(&mut self, lpn: Lpn) -> Ppn {
        let ppn = self.allocate(0);
        self.ftl.commit_write(lpn, ppn);
        self.persistence.programmed(lpn, ppn, ProgramReason::Written);
        ppn
    }

    fn copy(&mut self, lpn: Lpn) -> Ppn {
        let plane = self.ftl.plane_for_replica(lpn, DieId(1)).expect("the plane has space");
        self.ftl.replica_pages().begin(plane);
        let ppn = self.allocate(plane.0);
        self.ftl.replica_pages().commit(lpn, ppn);
        self.persistence.programmed(lpn, ppn, ProgramReason::Replicated);
        ppn
    }

    fn keep(&mut self, lpn: Lpn) {
        let ppn = self.ftl.replica_pages().promote(lpn).expect("the page has a copy");
        self.persistence.replica_promoted(lpn, ppn);
    }

    fn program(&mut self, page: Lpn) {
        self.persistence.program_began(page, &self.ftl);
        self.persistence.program_ended(page);
    }

    /// Completes all pending journal and checkpoint programs. Returns the number of programmed pages of the replication map.
    fn settle(&mut self) -> u32 {
        let mut of_replicas = 0;
        while let Some(PersistenceAction::Journal(page) | PersistenceAction::Checkpoint(page)) =
            self.persistence.next_action()
        {
            of_replicas += u32::from(self.persistence.pages.replica_pages().contains(&page.0));
            self.program(page);
        }
        of_replicas
    }

    fn flush(&mut self) -> u32 {
        self.persistence.flush(None);
        self.settle()
    }
}

#[test]
fn a_copy_that_became_the_original_is_recovered_with_or_without_its_journal_entry() {
    let mut drive = Drive::new(8);
    let original = drive.write(PAGE);
    let copy = drive.copy(PAGE);
    assert_eq!(drive.flush(), 1, "the checkpoint has the copy");

    // The replica becomes the original, and the replication map is programmed before the journal entry of that change. The programmed map must still
    // list the replica, because the block of the old original is erased.
    drive.keep(PAGE);
    let replicas = Lpn(drive.persistence.pages.replica_pages().start);
    drive.program(replicas);
    drive.persistence.erased(drive.geometry.block_of(original));
    let recovered = drive.persistence.recover(&drive.ftl);
    assert_eq!((recovered.lookup(PAGE), recovered.pages_lost), (Some(copy), 0));

    // With the journal entry on flash, recovery finds the promoted replica as the original.
    assert_eq!(drive.flush(), 1);
    let recovered = drive.persistence.recover(&drive.ftl);
    assert_eq!((recovered.lookup(PAGE), recovered.replica_count()), (Some(copy), 0));
}

#[test]
fn a_copy_that_the_map_holds_as_the_original_is_not_recovered_as_a_copy() {
    let mut drive = Drive::new(8);
    let original = drive.write(PAGE);
    let copy = drive.copy(PAGE);
    drive.keep(PAGE);
    let map = drive.persistence.pages.page_of(PAGE);
    drive.program(map);
    drive.persistence.erased(drive.geometry.block_of(original));
    let recovered = drive.persistence.recover(&drive.ftl);
    assert_eq!((recovered.lookup(PAGE), recovered.replica_count(), recovered.pages_lost), (Some(copy), 0, 0));
}
