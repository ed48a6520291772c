//! Victim policies in Python, for GC.

use pyo3::prelude::*;
use scoped_tls_hkt::scoped_thread_local;

use flashmesh::placement::{Candidates, SimRng, VictimSelector};

use super::arrays::{Shown, gone};
use super::asked::Policy;

scoped_thread_local!(static CANDIDATES: for<'a> Candidates<'a>);

/// Blocks of a plane, among which a victim policy chooses the block to collect.
///
/// Candidates are the full blocks that are not being collected. The position of a block is its index in the plane, from 0.
///
/// Usable only during the call of the policy, in the same thread. Arrays are read-only views of one buffer for each property: the next access of the
/// property overwrites the buffer, so copy an array to keep it.
#[pyclass(module = "flashmesh._native")]
pub struct Blocks {
    invalid_pages: Shown<u16>,
    filled: Shown<u32>,
    random: SimRng,
}

fn seen<T>(look: impl FnOnce(Candidates<'_>) -> T) -> PyResult<T> {
    if CANDIDATES.is_set() { Ok(CANDIDATES.with(look)) } else { Err(gone()) }
}

#[pymethods]
impl Blocks {
    /// Index of the plane; for superblocks, of one of the planes that are collected together.
    #[getter]
    fn plane(&self) -> PyResult<u32> {
        seen(|blocks| blocks.plane().0)
    }

    /// Number of invalid pages of each block, indexed by position; 0 for a block that is not a candidate. For superblocks, the sum over the planes
    /// that are collected together; if a sum exceeds 65,535, all sums are in units of 2, 4 or more pages.
    #[getter]
    fn invalid_pages(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        seen(|blocks| self.invalid_pages.copied(py, blocks.invalid_by_position()))?
    }

    /// Sequence number, from 1, at which each block became full; 0 for a block that is not a candidate. Indexed by position. A block with a lower
    /// number became full earlier.
    #[getter]
    fn filled(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        seen(|blocks| self.filled.copied(py, blocks.filled_by_position()))?
    }

    /// Returns the position of the candidate with the most invalid pages; None if all candidates have 0. Of several such candidates, the one with the
    /// lowest position.
    fn most_invalid(&self) -> PyResult<Option<u32>> {
        seen(|blocks| blocks.most_invalid())
    }

    /// Returns the position of the candidate that became full first; None if there is no candidate.
    fn first_filled(&self) -> PyResult<Option<u32>> {
        seen(|blocks| blocks.first_filled())
    }

    /// Returns the position of a random candidate with at least `invalid_min` invalid pages; None if there is none. Each of these candidates is
    /// equally likely. The draw uses the random numbers of the run, so that the seed of the run determines the result.
    #[pyo3(signature = (invalid_min=0))]
    fn draw(&mut self, invalid_min: u32) -> PyResult<Option<u32>> {
        let random = &mut self.random;
        seen(|blocks| {
            let qualifies = |position| blocks.invalid_pages(position) >= invalid_min;
            blocks.positions().any(qualifies).then(|| blocks.draw(random, |_, position| qualifies(position))).flatten()
        })
    }
}

/// A victim policy written in Python. Chooses the block of a plane to collect.
pub struct PythonVictim {
    policy: Policy,
    blocks: Py<Blocks>,
}

impl PythonVictim {
    /// Creates the policy for planes with `blocks` blocks.
    pub fn new(policy: Policy, py: Python<'_>, blocks: u32) -> PyResult<PythonVictim> {
        let blocks = Blocks {
            invalid_pages: Shown::new(py, blocks, "uint16", "uint16")?,
            filled: Shown::new(py, blocks, "uint32", "uint32")?,
            random: SimRng::new(0),
        };
        Ok(PythonVictim { policy, blocks: Py::new(py, blocks)? })
    }

    fn answer(&self, py: Python<'_>, candidates: &Candidates<'_>) -> Option<u32> {
        let answer = CANDIDATES.set(*candidates, || self.policy.ask(py, (&self.blocks,)))?;
        if answer.is_none() {
            return None;
        }
        let blocks = candidates.filled_by_position().len();
        match answer.extract::<u32>() {
            Ok(position) if (position as usize) < blocks && candidates.contains(position) => return Some(position),
            Ok(position) if (position as usize) < blocks => self.policy.refuse(
                &answer,
                "the block at that position is no candidate; candidates are those where filled is not 0",
            ),
            Ok(_) => {
                self.policy.refuse(&answer, &format!("the positions of the blocks of a plane are 0 to {}", blocks - 1));
            }
            Err(_) => self.policy.refuse(&answer, "a victim is the position of a block, a whole number, or None"),
        }
        candidates.most_invalid()
    }
}

impl VictimSelector for PythonVictim {
    fn select(&mut self, candidates: &Candidates<'_>, random: &mut SimRng) -> Option<u32> {
        if self.policy.has_failed() {
            return candidates.most_invalid();
        }
        Python::attach(|py| {
            // The policy draws from the random numbers of the run, so the seed determines the result.
            self.blocks.bind(py).borrow_mut().random = random.clone();
            let chosen = self.answer(py, candidates);
            random.clone_from(&self.blocks.bind(py).borrow().random);
            if self.policy.has_failed() { candidates.most_invalid() } else { chosen }
        })
    }
}
