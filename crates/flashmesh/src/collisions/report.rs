//! Results of the analysis of read collisions.

use crate::quantities;

quantities! {
    /// Read collisions of the run ([read-collisions.md](read-collisions.md)).
    CollisionsReport as "Collisions" {
        /// Dies of the drive.
        dies: u32, in "dies";
        /// Reads put into the queues of the dies, as `replication.counted-reads` says. A read whose page moves while it waits counts once, at
        /// the die that it came to first.
        reads: u64, in "pages";
        /// Reads that arrived at a die on which other reads were outstanding.
        collisions: u64, in "pages";
        /// Of `collisions`, those at which the die had at most one read more outstanding than the least loaded die.
        balanced: u64, in "pages";
        /// Of `collisions`, those at which it had at least two more.
        imbalanced: u64, in "pages";
        /// `imbalanced` over `collisions`.
        imbalanced_share: Option<f64>, in "share", null "without collisions";
        /// `collisions` over `reads`.
        read_collision_ratio: Option<f64>, in "ratio", null "without reads";
        /// `read_collision_ratio` of reads at random dies while as many are outstanding, simulated beside the run.
        read_collision_ratio_expected: Option<f64>, in "ratio", null "without reads";
        /// `read_collision_ratio_expected` in closed form: the mean of 1 - (1 - 1/n)^(k-1) over reads that arrive as one of k, on n dies.
        read_collision_ratio_closed_form: Option<f64>, in "ratio", null "without reads";
        /// Points of time, `measure.collision-interval` apart, at which reads were outstanding.
        observations: u64, in "observations";
        /// Average outstanding command count: reads outstanding at an observation, mean.
        average_occ: Option<f64>, in "reads", null "without observations";
        /// Share of the observations at which some die had more than one read outstanding: the measured collision ratio of Table 2.
        collision_ratio: Option<f64>, in "ratio", null "without observations";
        /// `collision_ratio` of reads at random dies while as many are outstanding, simulated beside the run.
        collision_ratio_expected: Option<f64>, in "ratio", null "without observations";
        /// `collision_ratio_expected` in closed form: the mean of 1 - n! / ((n-k)! n^k) over observations of k reads on n dies.
        collision_ratio_closed_form: Option<f64>, in "ratio", null "without observations";
        /// `collision_ratio` over `collision_ratio_expected` (Figure 3).
        collision_ratio_normalized: Option<f64>, in "ratio", null "where no collision is expected";
        /// Share of the observations at which a die had no read outstanding.
        idle_die_share: Option<f64>, in "share", null "without observations";
        /// Pairs of pages that took part in imbalanced collisions, each pair once. Exact while `pairs_kept_share` is 1.
        pairs: u64, in "pairs";
        /// Times that these pairs were outstanding together on a die with an imbalanced collision.
        pair_occurrences: u64, in "occurrences";
        /// Mean of occurrences over pairs.
        mean_repetition: Option<f64>, in "occurrences", null "without pairs";
        /// Share of the pairs that are kept, each with all its occurrences; below 1 when there were more than
        /// `measure.collision-pairs`. Pairs are chosen by a hash, so what is kept is a fair sample.
        pairs_kept_share: f64, in "share";
        /// Share of the occurrences that the most repeated 5 % of the pairs account for.
        top_5_percent_share: Option<f64>, in "share", null "without pairs";
        /// The kept pairs by how often they occurred (Figure 4).
        repetitions: Vec<RepetitionBin>;
        /// The most repeated pairs that are kept, the first one first.
        top_pairs: Vec<CollisionPair>;
        /// Reads of each die, in the order of channel, way, die.
        reads_per_die: Vec<u64>, in "pages";
        /// Standard deviation of `reads_per_die` over their mean (Table 3).
        reads_per_die_rsd: Option<f64>, in "ratio", null "without reads";
        /// Reads that completed a write of a part of a page (read-modify-write). With `replication.counted-reads = "host"` they are in none of
        /// these figures but the three that end in `_of_all`.
        reads_of_writes: u64, in "pages";
        /// Value of `collisions` if reads that complete a write count as outstanding, too.
        collisions_of_all: u64, in "pages";
        /// Value of `imbalanced` if reads that complete a write count as outstanding, too.
        imbalanced_of_all: u64, in "pages";
        /// Value of `pair_occurrences` if reads that complete a write count as outstanding, too.
        pair_occurrences_of_all: u64, in "occurrences";
        /// Gain of `replication.enabled`, estimated beside a run without replicas.
        replication: ReplicationGain;
    }
}

quantities! {
    /// Pairs that occurred as often as one another, within a factor of two.
    RepetitionBin as "RepetitionBin" {
        /// The least occurrences of a pair here: a power of two.
        times_min: u64, in "occurrences";
        /// Pairs with as many occurrences.
        pairs: u64, in "pairs";
        /// Occurrences of these pairs.
        occurrences: u64, in "occurrences";
    }
}

quantities! {
    /// Two pages that were outstanding together on a die, out of balance.
    CollisionPair as "CollisionPair" {
        /// The lower logical page.
        first: u32;
        /// The higher logical page.
        second: u32;
        /// How often.
        occurrences: u64, in "occurrences";
    }
}

quantities! {
    /// Estimated gain from replicating pages of collision pairs.
    #[derive(Default)]
    ReplicationGain as "ReplicationGain" {
        /// Pages for which the benefit of a copy exceeded its cost.
        replications: u64, in "pages";
        /// Pages among `replications` whose copy was the least recently used of `l_M` later on.
        evictions: u64, in "pages";
        /// Of `replications`, pages that were written or deallocated later on, which ends their copy.
        ended_by_writes: u64, in "pages";
        /// Reads of pages that would have had a copy.
        reads: u64, in "pages";
        /// Of `reads`, those whose other die had fewer reads outstanding.
        reads_moved: u64, in "pages";
        /// Imbalanced collisions that would have been none, or balanced ones, on the other die.
        imbalanced_avoided: u64, in "pages";
        /// `imbalanced_avoided` over the imbalanced collisions.
        imbalanced_avoided_share: Option<f64>, in "share", null "without imbalanced collisions";
        /// Time that `reads_moved` would have waited less: `flash.read-time` for each read that the other die had fewer of.
        wait_saved_ps: u64, in "ps";
    }
}
