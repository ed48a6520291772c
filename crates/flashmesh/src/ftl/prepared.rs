//! Preconditioned states, shared by runs that begin with the same one.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Ftl, FtlRules, Watch};
use crate::config::{Config, ExpectedWrites, PreconditionKind};
use crate::flash::geometry::Geometry;
use crate::states::StateFolder;

/// Sections of a configuration that have no part in the state in which a run begins, but for whether its workloads write. A section that is not named here counts:
/// two runs then prepare their drives apart, which takes time and is never wrong. What `[flash]` says of programs and of the bits of a cell
/// is in the geometry, which counts by itself.
const WITHOUT_PART: [&str; 15] = [
    "flash", "fabric", "packets", "pnssd", "nossd", "venice", "schedule", "nvme", "sata", "firmware", "cache", "power",
    "measure", "workload", "replay",
];

/// States that are kept at most. Each is as large as the tables of its drive.
const KEPT_MAX: usize = 2;

type State = Arc<Mutex<Option<Ftl>>>;

/// Preconditioned drives, prepared once for all runs whose configurations agree in what decides that state.
///
/// A run that takes a state from here gives the same report as one that has prepared its own.
#[derive(Debug, Default)]
pub struct PreparedDrives {
    /// What decides each state, and the state; the one used last comes last.
    kept: Mutex<Vec<(String, State)>>,
    folder: Option<StateFolder>,
    is_for_one_run: bool,
}

impl PreparedDrives {
    /// Keeps in `folder` what takes longest to prepare, for other programs and for later.
    pub fn kept_in(self, folder: StateFolder) -> PreparedDrives {
        PreparedDrives { folder: Some(folder), ..self }
    }

    /// Keeps nothing in memory: each drive is prepared for the run that asks for it.
    pub fn for_one_run(self) -> PreparedDrives {
        PreparedDrives { is_for_one_run: true, ..self }
    }

    /// What went wrong with the folder since this was asked last, a sentence each. None of it has changed a result.
    pub fn take_notes(&self) -> Vec<String> {
        self.folder.as_ref().map(StateFolder::take_notes).unwrap_or_default()
    }

    /// The translation layer in the state in which a run of `config` begins. Runs on other threads that want the same one wait
    /// until it is there; only the `watch` of the one that prepares it receives progress.
    ///
    /// # Panics
    /// As [`Ftl::new`].
    pub(crate) fn ftl(
        &self,
        geometry: &Geometry,
        config: &Config,
        rules: FtlRules,
        writes: &ExpectedWrites,
        watch: Watch<'_>,
    ) -> Ftl {
        let key = self.key(geometry, config, rules, writes);
        let prepare = || Ftl::prepared(geometry, config, rules, writes, self.folder.as_ref(), watch);
        let Some(state) = key.map(|key| self.state(key)) else { return prepare() };
        let mut prepared = state.lock().unwrap_or_else(PoisonError::into_inner);
        prepared.get_or_insert_with(prepare).clone()
    }

    /// What decides the state in which a run of `config` begins; `None` where that is not shared.
    pub(crate) fn key(
        &self,
        geometry: &Geometry,
        config: &Config,
        rules: FtlRules,
        writes: &ExpectedWrites,
    ) -> Option<String> {
        let is_shared = config.precondition.kind != PreconditionKind::None && !self.is_for_one_run;
        is_shared.then(|| format!("{}\n{geometry:?}\n{rules:?}\n{writes:?}", config.text_without(&WITHOUT_PART)))
    }

    fn state(&self, key: String) -> State {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().position(|(other, _)| *other == key);
        let entry = found.map_or_else(|| (key, State::default()), |at| kept.remove(at));
        let state = Arc::clone(&entry.1);
        kept.push(entry);
        if kept.len() > KEPT_MAX {
            kept.remove(0);
        }
        state
    }
}
