//! Results of the analysis of read collisions.

use crate::quantities;

quantities! {
    /// Read collisions of the run ([read-collisions.md](read-collisions.md)).
    CollisionsReport as "Collisions" {
        /// Dies of the drive.
        dies: u32, in "dies";
        /// Reads enqueued at dies, of the kinds that `replication.counted-reads` selects. A read that is rerouted because its page has moved
        /// counts once, at its first die.
        reads: u64, in "pages";
        /// Reads that arrived at a die on which other reads were outstanding.
        collisions: u64, in "pages";
        /// Of `collisions`, those where the die had at most one more read outstanding than the least loaded die.
        balanced: u64, in "pages";
        /// Of `collisions`, those where the die had at least two more reads outstanding than the least loaded die.
        imbalanced: u64, in "pages";
        /// Share of the collisions that are imbalanced: `imbalanced` over `collisions`.
        imbalanced_share: Option<f64>, in "share", null "without collisions";
        /// Collisions per read: `collisions` over `reads`.
        read_collision_ratio: Option<f64>, in "ratio", null "without reads";
        /// Expected value of `read_collision_ratio` by chance, simulated beside the run: the same reads are outstanding, each at a random die.
        read_collision_ratio_expected: Option<f64>, in "ratio", null "without reads";
        /// `read_collision_ratio_expected` in closed form: the mean of 1 - (1 - 1/n)^(k-1) over reads that arrive as one of k outstanding reads, on n
        /// dies.
        read_collision_ratio_closed_form: Option<f64>, in "ratio", null "without reads";
        /// Points of time, `measure.collision-interval` apart, at which reads were outstanding.
        observations: u64, in "observations";
        /// Average outstanding command count (OCC): mean number of reads outstanding at an observation.
        average_occ: Option<f64>, in "reads", null "without observations";
        /// Share of the observations at which some die had more than one read outstanding: the measured collision ratio of Table 2.
        collision_ratio: Option<f64>, in "ratio", null "without observations";
        /// Expected value of `collision_ratio` by chance, simulated beside the run: the same reads are outstanding, each at a random die.
        collision_ratio_expected: Option<f64>, in "ratio", null "without observations";
        /// `collision_ratio_expected` in closed form: the mean of 1 - n! / ((n-k)! n^k) over observations of k reads on n dies.
        collision_ratio_closed_form: Option<f64>, in "ratio", null "without observations";
        /// Collision ratio relative to its expected value: `collision_ratio` over `collision_ratio_expected` (Figure 3).
        collision_ratio_normalized: Option<f64>, in "ratio", null "where no collision is expected";
        /// Share of the observations at which a die had no read outstanding.
        idle_die_share: Option<f64>, in "share", null "without observations";
        /// Pairs of pages that took part in imbalanced collisions, each pair once. Exact while `pairs_kept_share` is 1.
        pairs: u64, in "pairs";
        /// Number of times that the reads of a pair were outstanding together on a die with an imbalanced collision, summed over the pairs.
        pair_occurrences: u64, in "occurrences";
        /// Pairs whose reads were outstanding together on a die with an imbalanced collision, summed over the observations: a pair
        /// counts at each observation of its time together ("the OCC changes and collision patterns were monitored every 10 us", section II.C).
        pair_observations: u64, in "pairs";
        /// Mean number of occurrences of a pair.
        mean_repetition: Option<f64>, in "occurrences", null "without pairs";
        /// Share of the pairs that are kept, each with all its occurrences; below 1 when there were more than `measure.collision-pairs`. Kept pairs
        /// are selected by a hash and are a fair sample of all.
        pairs_kept_share: f64, in "share";
        /// Share of the occurrences that the most repeated 5 % of the pairs account for.
        top_5_percent_share: Option<f64>, in "share", null "without pairs";
        /// Distribution of the number of occurrences over the kept pairs (see `pairs_kept_share`; Figure 4).
        repetitions: Vec<RepetitionBin>;
        /// Kept pairs (see `pairs_kept_share`) with the most occurrences, in descending order.
        top_pairs: Vec<CollisionPair>;
        /// Reads of each die, in the order of channel, way, die.
        reads_per_die: Vec<u64>, in "pages";
        /// Standard deviation of `reads_per_die` over their mean (Table 3).
        reads_per_die_rsd: Option<f64>, in "ratio", null "without reads";
        /// Reads that completed a write of a part of a page (read-modify-write). With `replication.counted-reads = "host"` only the three
        /// figures that end in `_of_all` include them.
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
    /// Pairs whose numbers of occurrences differ by less than a factor of two.
    RepetitionBin as "RepetitionBin" {
        /// Smallest number of occurrences of a pair in this bin: a power of two.
        times_min: u64, in "occurrences";
        /// Number of page pairs in this bin.
        pairs: u64, in "pairs";
        /// Total number of occurrences of the page pairs in this bin.
        occurrences: u64, in "occurrences";
    }
}

quantities! {
    /// Two pages that were outstanding together on a die in an imbalanced collision. In such a collision another die has at least two fewer
    /// outstanding reads.
    CollisionPair as "CollisionPair" {
        /// Page of the pair with the lower logical page number.
        first: u32;
        /// Page of the pair with the higher logical page number.
        second: u32;
        /// Number of times that the two pages were outstanding together on a die while another die had at least two fewer reads
        /// outstanding.
        occurrences: u64, in "occurrences";
    }
}

quantities! {
    /// Estimated gain from replicating pages of collision pairs.
    #[derive(Default)]
    ReplicationGain as "ReplicationGain" {
        /// Pages for which the benefit of a copy exceeded its cost.
        replications: u64, in "pages";
        /// Of `replications`, pages whose copy was later evicted as the least recently read one, beyond the limit `l_M`.
        evictions: u64, in "pages";
        /// Of `replications`, pages that were later written or deallocated, which ends their copy.
        ended_by_writes: u64, in "pages";
        /// Reads of pages that would have a copy.
        reads: u64, in "pages";
        /// Of `reads`, reads for which the die of the copy had fewer reads outstanding.
        reads_moved: u64, in "pages";
        /// Reads in an imbalanced collision that would have been in a balanced collision, or in none, if the die of the copy had served them.
        imbalanced_avoided: u64, in "pages";
        /// Share of the imbalanced collisions that replication would avoid: `imbalanced_avoided` over their number.
        imbalanced_avoided_share: Option<f64>, in "share", null "without imbalanced collisions";
        /// Waiting time that `reads_moved` would have saved: `flash.read-time` for each read that the die of the copy had fewer outstanding.
        wait_saved_ps: u64, in "ps";
    }
}
