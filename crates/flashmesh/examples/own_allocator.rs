//! Example of a user-defined allocator and victim selector: the plane for each write, and the block to collect.
//!
//! An [`Allocator`] is notified of every page that is written or read, with its request. The allocator sees the work queued at each die, and is
//! called when a write arrives and again when the write could be programmed. The drive refuses full planes and planes of other namespaces. In
//! this example each write goes to the die with the least work, and changes its die if transactions are queued at that die while another die is
//! idle. A [`VictimSelector`] chooses among the blocks of a plane.

use flashmesh::config::{Config, PreconditionKind};
use flashmesh::ids::{DieId, Lpn, PlaneId};
use flashmesh::placement::{Allocator, Candidates, DriveView, Geometry, PageRead, PageWrite, SimRng, VictimSelector};
use flashmesh::simulation::{Control, Simulation};

/// Allocator that chooses the die with the least queued work, on a tie the one with the fewest reads.
struct LeastLoaded {
    geometry: Geometry,
    /// Pages read by die.
    reads: Vec<u64>,
    /// Number of writes placed so far. Successive writes rotate over the planes of a die.
    writes: u32,
}

impl Allocator for LeastLoaded {
    fn place(&mut self, write: &PageWrite, drive: &DriveView<'_>) -> PlaneId {
        let geometry = &self.geometry;
        // The search starts at another channel for each page of a request.
        let position = write.request.map_or(0, |part| part.position) % geometry.channels;
        let first = position * geometry.dies() / geometry.channels;
        let dies = (0..geometry.dies()).map(|number| DieId((first + number) % geometry.dies()));
        let die =
            dies.min_by_key(|&die| (drive.outstanding(die), self.reads[die.index()])).expect("the drive has dies");
        self.writes += 1;
        PlaneId(geometry.first_plane(die).0 + self.writes % geometry.planes_per_die)
    }

    fn on_committed(&mut self, _: Lpn, _: PlaneId) {}

    // Called when the write could be programmed. The write is placed again if its die has a queue while another die is idle.
    fn keeps_plane(&self, _: &PageWrite, plane: PlaneId, drive: &DriveView<'_>) -> bool {
        drive.waiting(self.geometry.die_of_plane(plane)) == 0 || drive.idle_dies().is_empty()
    }

    fn on_read(&mut self, read: &PageRead) {
        self.reads[self.geometry.die_of_plane(read.plane).index()] += 1;
    }
}

/// Victim selector that chooses the fullest block with an invalid page. It is a poor policy with a visible effect.
struct Laziest;

impl VictimSelector for Laziest {
    fn select(&mut self, candidates: &Candidates<'_>, _: &mut SimRng) -> Option<u32> {
        let worthwhile = candidates.positions().filter(|&block| candidates.invalid_pages(block) > 0);
        worthwhile.min_by_key(|&block| candidates.invalid_pages(block))
    }
}

fn main() {
    // Requests have 16 pages, which the static order `PDWC` places on one slow channel.
    let text = "geometry.blocks-per-plane = 64\nftl.allocation = \"PDWC\"\nworkload.request-size = \"64KiB\"\nfabric.channel-rate = \"300MB/s\"";
    let mut config = Config::from_str(text, "drive.toml", &[]).expect("the configuration is valid");
    config.workload.read_share = 0.1;
    config.workload.requests = Some(2_000);
    config.replay.outstanding = 1;

    let run = |allocator: Option<LeastLoaded>| {
        let mut simulation = Simulation::new(&config).expect("the drive can be built");
        if let Some(allocator) = allocator {
            simulation.set_allocator(Box::new(allocator));
        }
        simulation.enable_checks();
        simulation.run(&Control::default()).expect("every request completes without a violation")
    };
    let geometry = Geometry::new(&config.geometry).expect("the geometry is valid");
    let reads = vec![0; geometry.dies() as usize];
    let (by_number, by_load) = (run(None), run(Some(LeastLoaded { geometry, reads, writes: 0 })));
    println!(
        "{} us with static allocation, {} us by load",
        by_number.makespan_ps / 1_000_000,
        by_load.makespan_ps / 1_000_000
    );
    assert!(by_load.makespan_ps * 5 < by_number.makespan_ps * 4);

    // On a full drive of one die, the victims of [`Laziest`] cause more moved pages per write than the default ones.
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.blocks_per_plane = 64;
    config.geometry.pages_per_block = 32;
    config.geometry.over_provisioning = 0.2;
    config.precondition.kind = PreconditionKind::Sequential;
    config.workload.read_share = 0.0;
    config.workload.requests = Some(200);
    let moved = |selector: Option<Laziest>| {
        let mut simulation = Simulation::new(&config).expect("the drive can be built");
        if let Some(selector) = selector {
            simulation.set_victim_selector(Box::new(selector));
        }
        simulation.enable_checks();
        simulation.run(&Control::default()).expect("every request completes without a violation").gc.pages_moved
    };
    let (greedy, laziest) = (moved(None), moved(Some(Laziest)));
    println!("pages moved: {greedy} from the emptiest blocks, {laziest} from the fullest");
    assert!(laziest > 2 * greedy);
}
