//! Write amplification under uniform random writes, from theory. This oracle shares no code with the simulator.
//!
//! # The model
//! Garbage collection works on a pool of blocks of `b` pages each; `rho` is the share of their pages that hold valid data. The pool has no free
//! blocks and no open blocks, because these cannot be collected. Each host write replaces a uniformly chosen logical page. When space is needed,
//! a victim is collected: its j valid pages are rewritten and the b - j pages gained take host writes, after which the block is full. All pages
//! are alike, so moved pages and host writes may share a block. In the limit of many blocks the occupancy of blocks is deterministic ("mean
//! field") and
//!
//! > write amplification = b / h, with h = b - E[valid pages of the victim] host writes per collection.
//!
//! # The balance of levels
//! Let m_i be the share of blocks with i valid pages, M_i = m_0 + ... + m_i, and P_i the probability that a victim has at most i valid pages.
//! One host write takes a block from i to i - 1 valid pages with probability i m_i / (rho b), because N i m_i of the N rho b valid pages are in
//! such blocks. A collection takes the victim to b. In steady state the flow down past level i, over h host writes per collection, equals the flow
//! up:
//!
//! > h i m_i / (rho b) = P_{i-1}    for i = 1..=b,
//!
//! and h = sum of P_i over i = 0..b-1. A victim policy adds P as a function of M; the one remaining unknown is h. This is the fixed point of Van
//! Houdt, "A mean field model for a class of garbage collection algorithms in flash-based solid state drives", SIGMETRICS 2013.
//!
//! - **random**: P_i = M_i. The victim is an average block, so h = b (1 - rho) and WA = 1 / (1 - rho).
//! - **d choices** (the emptiest of d blocks drawn with replacement): P_i = 1 - (1 - M_i)^d.
//! - **random among blocks with at most t valid pages**: P_i = min(1, M_i / M_t). With t = b - 1 this is "random-p" (at
//!   least one invalid page); with a lower t it is "random-pp".
//! - **greedy**: P_i = 1 for every i with M_i > 0. Victims sit at one level k and just below it: m_i = rho b / (h i) above
//!   k, nothing below it, and a block that falls to k - 1 is collected at once. With S = 1/(k+1) + ... + 1/b the shares sum
//!   to one when m_k = 1 - rho b S / h, the balance of level k is P_{k-1} = h k m_k / (rho b), and
//!   h = b - k + P_{k-1} gives h = (b - k - k S) / (1 - k / (rho b)). The right k is the one with 0 <= P_{k-1} <= 1.
//! - **FIFO** needs no levels: a block is collected when all others have been written since, that is after T pages of
//!   which T (1 - u) were host writes, u being the valid share of victims. A page survives one host write with
//!   probability 1 - 1 / (rho T), hence u = exp(-(1 - u) / rho) = -rho W(-exp(-1 / rho) / rho), W being the principal
//!   branch of Lambert's function (Menon, "A performance comparison of RAID-5 and log-structured arrays", HPDC 1995;
//!   Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012). With blocks of many pages greedy gives
//!   the same.

pub mod monte_carlo;

/// Returns the principal branch of Lambert's function: the w >= -1 with w exp(w) = `x`, for `x` of at least -1/e.
pub fn lambert_w(x: f64) -> f64 {
    let distance = (2.0 * (std::f64::consts::E * x + 1.0)).max(0.0).sqrt();
    // Starts from the series at the branch point, or far from it from a crude value; Halley's method converges from both.
    let mut w = if distance < 1.0 { -1.0 + distance - distance * distance / 3.0 } else { (1.0 + x).ln() * 0.75 };
    for _ in 0..64 {
        let excess = w * w.exp() - x;
        let slope = w.exp() * (w + 1.0);
        let step = excess / (slope - (w + 2.0) * excess / (2.0 * w + 2.0));
        if !step.is_finite() || step == 0.0 {
            break;
        }
        w -= step;
    }
    w
}

/// Returns the write amplification of FIFO victims at a share `rho` of valid pages, in blocks of many pages.
pub fn write_amplification_fifo(rho: f64) -> f64 {
    check(rho);
    1.0 / (1.0 + rho * lambert_w(-(-1.0 / rho).exp() / rho))
}

/// Returns the write amplification of FIFO victims if a share `space` of the logical pages takes a share `traffic` of the writes, and hot and
/// cold pages share blocks.
///
/// A block is collected when all others have been written since, that is after T pages, T / A of them by the host. A hot page survives with
/// probability s = exp(-traffic / (space rho A)); for cold pages s follows from 1 - traffic and 1 - space. Of the written copies of each kind a
/// share s is moved: A = 1 + the sum of traffic s / (1 - s) over both kinds (Desnoyers, SYSTOR 2012, section 4).
pub fn write_amplification_fifo_of_two(rho: f64, traffic: f64, space: f64) -> f64 {
    check(rho);
    let moved = |traffic: f64, space: f64, amplification: f64| {
        let survives = (-traffic / (space * rho * amplification)).exp();
        traffic * survives / (1.0 - survives)
    };
    // Iteration from below finds the smallest fixed point.
    (0..10_000).fold(1.0, |amplification, _| {
        1.0 + moved(traffic, space, amplification) + moved(1.0 - traffic, 1.0 - space, amplification)
    })
}

/// Returns the write amplification of uniformly random victims at a share `rho` of valid pages.
pub fn write_amplification_random(rho: f64) -> f64 {
    check(rho);
    1.0 / (1.0 - rho)
}

/// Returns the write amplification of greedy victims (the fewest valid pages) at a share `rho` of valid pages, in blocks of `b` pages.
pub fn write_amplification_greedy(rho: f64, b: u32) -> f64 {
    check(rho);
    let valid = rho * f64::from(b);
    let mut inverses = 0.0;
    for k in (1..b).rev() {
        inverses += 1.0 / f64::from(k + 1);
        let level = f64::from(k);
        if level >= valid {
            continue;
        }
        let h = (f64::from(b) - level - level * inverses) / (1.0 - level / valid);
        let below = h - (f64::from(b) - level);
        if (0.0..=1.0).contains(&below) {
            return f64::from(b) / h;
        }
    }
    // No number `level` of valid pages in a victim solves the equation: victims are empty, so no page is moved.
    1.0
}

/// Returns the write amplification if the victim is the emptiest of `d` blocks drawn at random with replacement, with `rho` and `b` as in the model.
pub fn write_amplification_d_choices(rho: f64, b: u32, d: u32) -> f64 {
    check(rho);
    let at_most = |share: f64| 1.0 - (1.0 - share).powf(f64::from(d));
    let gained = |h: f64| {
        let (mut share, mut sum) = (1.0, 0.0);
        for level in (1..=b).rev() {
            let scale = rho * f64::from(b) / (h * f64::from(level));
            let above = share;
            share = decreasing_root(0.0, above, |below| above - below - scale * at_most(below));
            sum += at_most(share);
        }
        sum
    };
    f64::from(b) / decreasing_root(0.0, f64::from(b), |h| gained(h) - h)
}

/// Returns the write amplification of random victims with at least one invalid page, with `rho` and `b` as in the model.
pub fn write_amplification_random_p(rho: f64, b: u32) -> f64 {
    write_amplification_random_pp(rho, b, b - 1)
}

/// Returns the write amplification of random victims with at most `valid_max` valid pages, with `rho` and `b` as in the model.
pub fn write_amplification_random_pp(rho: f64, b: u32, valid_max: u32) -> f64 {
    check(rho);
    let valid = rho * f64::from(b);
    let share_above = |h: f64| (valid_max + 1..=b).map(|level| valid / (h * f64::from(level))).sum::<f64>();
    let gained = |h: f64| {
        let eligible = 1.0 - share_above(h);
        let (mut share, mut sum) = (eligible, f64::from(b - valid_max));
        for level in (1..=valid_max.min(b)).rev() {
            share /= 1.0 + valid / (h * f64::from(level) * eligible);
            sum += share / eligible;
        }
        sum
    };
    // With fewer host writes per collection than this bound, no block would be eligible.
    let h_min = share_above(1.0);
    assert!(f64::from(b - valid_max) >= h_min, "blocks with at most {valid_max} valid pages run out");
    f64::from(b) / decreasing_root(h_min, f64::from(b), |h| gained(h) - h)
}

fn check(rho: f64) {
    assert!(rho > 0.0 && rho < 1.0, "a utilisation of {rho} is not between 0 and 1");
}

/// Returns the root of `f`, which is positive near `low` and negative at `high`.
fn decreasing_root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if f(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}
