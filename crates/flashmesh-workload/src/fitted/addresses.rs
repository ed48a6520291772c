//! Address selection: chooses an address that matches the target of a request, a [`LocalityClass`].

use super::classes::{AGE_MAX, LocalityClass, PAGE_BYTES, PAGE_SECTORS, PageOverlap, Relation, USES_MAX, octave};
use super::fitted_profile::{FittedProfile, STRIPE_PAGES};
use super::history::{History, RECENT, REGION_PAGES};
use super::shuffle_bag::ShuffleBag;
use crate::synthetic::{Generator, below};

/// The maximum number of candidate addresses from each source. The sources are earlier requests of the wanted age, pages with the wanted
/// number of uses, and fresh (untouched) pages.
const TRIES: usize = 24;
/// The number of untouched pages that should follow a request on a fresh (untouched) page, so that a sequential run can continue there.
const ROOM_PAGES: u64 = 128;

/// The number of dies of the drive that generation assumes. Page n lies on die n modulo `DIES`.
const DIES: usize = 64;
/// The maximum cost added to a candidate on a die that already has its share of the requests.
const DIE_COST_MAX: f64 = 4.0;

/// The tolerated lack or surplus of fresh (untouched) pages, as a share of the fresh pages generated so far, in addition to the pages of the
/// next request. A larger lack moves that request to a fresh page, and a larger surplus to a touched page, unless the request continues a run.
const FRESH_IMBALANCE_MAX: f64 = 0.01;

/// The age of the page that is chosen instead of a fresh (untouched) page if too many fresh pages were generated: last touched about 2^10
/// requests ago.
const FALLBACK_AGE: u32 = 10;

/// The constraints on the address of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressConstraints {
    pub(super) target: LocalityClass,
    /// The index in the profile of the `Operation` (kind and size octave) of the request.
    pub(super) operation: usize,
    pub(super) kind: usize,
    pub(super) sectors: u64,
    /// The mean share of fresh (untouched) pages among the pages of requests with this target (locality class).
    pub(super) fresh_share: f64,
    /// The mean number of fresh (untouched) pages per request of the current segment.
    pub(super) fresh_pages_mean: f64,
}

/// The state of address selection, with its own history of the generated requests.
pub(super) struct AddressChooser {
    history: History,
    /// Pages where requests began, grouped by the octave of the number of these requests. A page can remain in the list of a lower octave.
    by_uses: Vec<Vec<u64>>,
    limit_pages: u64,
    phases: ShuffleBag,
    near_pages: Vec<i64>,
    /// The distribution of the first sector within its page (0 to 7), by the index of the operation.
    offsets: Vec<ShuffleBag>,
    generator: Generator,
    /// The fresh (untouched) pages still to be generated, negative after too many; `made_fresh` is the number generated so far.
    owed_fresh: f64,
    made_fresh: f64,
    /// The share of the trace's requests that begin on each die; `die_requests` is the number of generated requests that begin there.
    die_shares: [f64; DIES],
    die_requests: [f64; DIES],
}

/// The best candidate so far, with its cost.
struct Best {
    sector: u64,
    cost: u32,
    considered: u32,
}

impl AddressChooser {
    pub(super) fn new(model: &FittedProfile, capacity: u64, generator: Generator) -> AddressChooser {
        AddressChooser {
            history: History::default(),
            by_uses: vec![Vec::new(); USES_MAX as usize + 1],
            limit_pages: model.address_span.min(capacity) / PAGE_BYTES,
            phases: ShuffleBag::new(model.phases.clone()),
            near_pages: model.near_pages.clone(),
            offsets: model.operations.iter().map(|operation| ShuffleBag::new(operation.offsets.to_vec())).collect(),
            generator,
            owed_fresh: 0.0,
            made_fresh: 0.0,
            die_shares: die_shares(&model.phases),
            die_requests: [0.0; DIES],
        }
    }

    pub(super) fn choose(&mut self, mut wanted: AddressConstraints) -> u64 {
        let pages = wanted.sectors.div_ceil(PAGE_SECTORS) as f64;
        self.owed_fresh += wanted.fresh_pages_mean;
        let slack = pages + self.made_fresh * FRESH_IMBALANCE_MAX;
        match wanted.target.relation {
            Relation::Return | Relation::Inside if self.owed_fresh > slack => {
                wanted.target =
                    LocalityClass { relation: Relation::Fresh, age: 0, uses: 0, touched: PageOverlap::Never };
            }
            Relation::Fresh if self.owed_fresh < -slack => {
                wanted.target = LocalityClass {
                    relation: Relation::Return,
                    age: FALLBACK_AGE,
                    uses: 0,
                    touched: PageOverlap::Alike,
                };
            }
            _ => {}
        }
        let mut best = Best { sector: 0, cost: u32::MAX, considered: 0 };
        match wanted.target.relation {
            Relation::Next => self.try_runs(wanted, &mut best),
            Relation::Return => self.try_returns(wanted, &mut best),
            Relation::Inside => self.try_inside(wanted, &mut best),
            Relation::Fresh => {}
        }
        if wanted.target.relation == Relation::Fresh || best.cost > SIMILAR {
            self.try_fresh(wanted, &mut best);
        }
        let page = best.sector / PAGE_SECTORS;
        let pages = (best.sector + wanted.sectors).div_ceil(PAGE_SECTORS) - page;
        let fresh = self.history.pages.fresh_in(page, pages) as f64;
        self.owed_fresh -= fresh;
        self.made_fresh += fresh;
        self.die_requests[page as usize % DIES] += 1.0;
        let uses = self.history.record(best.sector, wanted.sectors, wanted.kind);
        if uses.is_power_of_two() && octave(uses, 63) <= USES_MAX {
            self.by_uses[octave(uses, USES_MAX) as usize].push(best.sector / PAGE_SECTORS);
        }
        best.sector
    }

    /// Makes `sector` the best candidate if its cost plus `extra` is the lowest so far. Returns whether the best candidate is good enough
    /// to end the search; the tolerated cost grows with the number of candidates.
    fn consider(&self, sector: u64, wanted: AddressConstraints, extra: u32, best: &mut Best) -> bool {
        if sector + wanted.sectors <= self.limit_pages * PAGE_SECTORS {
            let found = self.history.classify(sector, wanted.sectors, wanted.kind);
            let cost = cost(wanted.target, found) + self.cost_of_pages(sector, wanted) + extra;
            if cost < best.cost {
                (best.sector, best.cost) = (sector, cost);
            }
        }
        best.considered += 1;
        best.cost <= best.considered / 8
    }

    /// Returns the cost of touching more or fewer fresh (untouched) pages than requests with this target (locality class) do on average. The
    /// cost is 0 if the difference makes up for an earlier lack or surplus, or is less than half a page. For a fresh target, adds the cost of a
    /// die that exceeds its share of the requests.
    fn cost_of_pages(&self, sector: u64, wanted: AddressConstraints) -> u32 {
        let page = sector / PAGE_SECTORS;
        let pages = (sector + wanted.sectors).div_ceil(PAGE_SECTORS) - page;
        let surplus = self.history.pages.fresh_in(page, pages) as f64 - wanted.fresh_share * pages as f64;
        let is_owed = if surplus > 0.0 { self.owed_fresh >= surplus } else { self.owed_fresh <= surplus };
        let fresh = if surplus.abs() < 0.5 || is_owed { 0.0 } else { 1.0 + 8.0 * surplus.abs() / pages as f64 };
        let die = page as usize % DIES;
        let excess = self.die_requests[die] + 1.0 - self.die_shares[die] * (self.history.now + 1) as f64;
        let is_fresh = wanted.target.relation == Relation::Fresh;
        (fresh + if is_fresh { excess.clamp(0.0, DIE_COST_MAX) } else { 0.0 }) as u32
    }

    fn try_runs(&mut self, wanted: AddressConstraints, best: &mut Best) {
        for rank in 0..self.history.runs.len() {
            if self.consider(self.history.runs[rank].end, wanted, 0, best) {
                return;
            }
        }
    }

    fn try_returns(&mut self, wanted: AddressConstraints, best: &mut Best) {
        for _ in 0..TRIES {
            let Some((sector, _)) = self.request_of_age(wanted.target.age) else { break };
            if self.consider(sector, wanted, 0, best) {
                return;
            }
        }
        let uses = wanted.target.uses as usize;
        for _ in 0..TRIES {
            let count = self.by_uses[uses].len();
            if count == 0 {
                break;
            }
            let index = below(&mut self.generator, count as u64) as usize;
            let start = self.history.starts[&self.by_uses[uses][index]];
            if octave(start.uses, USES_MAX) as usize != uses {
                self.by_uses[uses].swap_remove(index);
            } else if self.consider(start.sector, wanted, 0, best) {
                return;
            }
        }
    }

    fn try_inside(&mut self, wanted: AddressConstraints, best: &mut Best) {
        for _ in 0..TRIES {
            let Some((sector, sectors)) = self.request_of_age(wanted.target.age) else { break };
            let (first, end) = (sector / PAGE_SECTORS, (sector + sectors).div_ceil(PAGE_SECTORS));
            let page = first + below(&mut self.generator, end - first);
            let sector = page * PAGE_SECTORS + self.offsets[wanted.operation].draw(&mut self.generator) as u64;
            if self.consider(sector, wanted, 0, best) {
                return;
            }
        }
    }

    /// Returns the first sector and the number of sectors of a random earlier request whose age lies in the octave `age`. `None` if the request drawn
    /// is no longer kept.
    fn request_of_age(&mut self, age: u32) -> Option<(u64, u64)> {
        let oldest = if age == AGE_MAX { self.history.now } else { self.history.now.min((2 << age) - 1) };
        let youngest = (1 << age).min(oldest);
        let age = youngest + below(&mut self.generator, oldest - youngest + 1);
        self.history.before(age)
    }

    fn try_fresh(&mut self, wanted: AddressConstraints, best: &mut Best) {
        for _ in 0..TRIES {
            let place = if wanted.target.relation == Relation::Fresh { wanted.target.age } else { 0 };
            let page = if place == 2 {
                let age = 1 + below(&mut self.generator, self.history.now.min(1 << 16));
                let Some((sector, _)) = self.history.before(age) else { continue };
                let stripe = sector / PAGE_SECTORS / REGION_PAGES * (REGION_PAGES / STRIPE_PAGES)
                    + below(&mut self.generator, REGION_PAGES / STRIPE_PAGES);
                stripe * STRIPE_PAGES + self.phases.draw(&mut self.generator) as u64
            } else if place == 1 && !self.near_pages.is_empty() {
                let age = 1 + below(&mut self.generator, RECENT as u64);
                let Some((sector, _)) = self.history.before(age) else { continue };
                let distance = self.near_pages[below(&mut self.generator, self.near_pages.len() as u64) as usize];
                (sector / PAGE_SECTORS).saturating_add_signed(distance)
            } else {
                self.far()
            };
            let offset = self.offsets[wanted.operation].draw(&mut self.generator) as u64;
            let sector = page * PAGE_SECTORS + offset;
            let pages = (offset + wanted.sectors).div_ceil(PAGE_SECTORS);
            let has_room = self.history.pages.fresh_in(page, pages + ROOM_PAGES) == pages + ROOM_PAGES;
            let lack = if has_room { 0 } else { 2 };
            if self.consider(sector, wanted, lack, best) {
                return;
            }
        }
    }

    /// Returns a page of a random stripe (256 pages) of the address range. Its position in the stripe is distributed like the first pages of the
    /// trace's requests.
    fn far(&mut self) -> u64 {
        let stripes = (self.limit_pages / STRIPE_PAGES).max(1);
        let stripe = below(&mut self.generator, stripes);
        stripe * STRIPE_PAGES + self.phases.draw(&mut self.generator) as u64
    }
}

/// Computes the share of the requests that begin on each die from `phases`, the number of requests by the position of their first page in its
/// stripe (256 pages).
fn die_shares(phases: &[u64]) -> [f64; DIES] {
    let total = phases.iter().sum::<u64>().max(1) as f64;
    std::array::from_fn(|die| phases.iter().skip(die).step_by(DIES).sum::<u64>() as f64 / total)
}

/// The maximum cost at which the best candidate from runs and earlier requests is accepted without also trying fresh (untouched) pages.
const SIMILAR: u32 = 20;

/// Returns the cost of an address whose locality class is `found` instead of `wanted`; 0 if the classes are equal.
fn cost(wanted: LocalityClass, found: LocalityClass) -> u32 {
    let is_fresh = |target: LocalityClass| matches!(target.touched, PageOverlap::Never);
    let touched = match (wanted.touched, found.touched) {
        (wanted, found) if wanted == found => 0,
        _ if is_fresh(wanted) != is_fresh(found) => 24,
        _ => 4,
    };
    if wanted.relation != found.relation {
        return 12 + touched;
    }
    touched + 2 * wanted.uses.abs_diff(found.uses).min(4) + wanted.age.abs_diff(found.age).min(4)
}
