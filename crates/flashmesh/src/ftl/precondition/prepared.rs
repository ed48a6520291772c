//! Preconditioned drives, shared by runs that begin in the same state.

use std::sync::{Arc, Mutex, PoisonError};

use super::ProgressCallback;
use crate::config::{Config, ExpectedWrites, PreconditionKind};
use crate::flash::geometry::Geometry;
use crate::ftl::{Ftl, FtlRules};
use crate::states::StateFolder;

/// Sections of a configuration that do not affect the initial state of a run, except through the expected writes of its workloads, which
/// are compared separately. All sections not listed count as affecting this state. If an unlisted section does not affect it, two runs
/// prepare their drives separately, which costs time but is never wrong. Programs and bits per cell of `[flash]` do affect the state, but
/// are compared as part of the geometry.
const IRRELEVANT_SECTIONS: [&str; 15] = [
    "flash", "fabric", "packets", "pnssd", "nossd", "venice", "schedule", "nvme", "sata", "firmware", "cache", "power",
    "measure", "workload", "replay",
];

/// Maximum number of prepared states kept in memory. Each is as large as the tables of its drive.
const KEPT_MAX: usize = 2;

type SharedFtl = Arc<Mutex<Option<Ftl>>>;

/// Preconditioned drives, each prepared once for all runs whose configurations agree in everything that affects the initial state.
///
/// A run that starts from a shared state reports the same results as a run that prepares its own drive.
#[derive(Debug, Default)]
pub struct PreparedDrives {
    /// Preconditioned drives in memory, each with its key (text of the configuration), the most recently used last.
    kept: Mutex<Vec<(String, SharedFtl)>>,
    folder: Option<StateFolder>,
    is_for_one_run: bool,
}

impl PreparedDrives {
    /// Caches simulated states in files of `folder`, for other processes and later runs, if they take long to simulate and are not too large.
    pub fn with_folder(self, folder: StateFolder) -> PreparedDrives {
        PreparedDrives { folder: Some(folder), ..self }
    }

    /// Stores no state in memory, so that each run prepares its own drive.
    pub fn without_sharing(self) -> PreparedDrives {
        PreparedDrives { is_for_one_run: true, ..self }
    }

    /// Removes and returns the notes on problems with the folder of cached states, one sentence each. Empty without problems or without a folder.
    /// Such a problem never changes a result.
    pub fn take_warnings(&self) -> Vec<String> {
        self.folder.as_ref().map(StateFolder::take_notes).unwrap_or_default()
    }

    /// Returns the translation layer in the initial state of a run of `config`. `writes` are the writes that the run is expected to issue. Runs on
    /// other threads that need the same state wait until it is prepared. `watch` receives the progress of the preparation, unless another run
    /// prepares the state.
    ///
    /// # Panics
    /// As [`Ftl::new`].
    pub(crate) fn ftl(
        &self,
        geometry: &Geometry,
        config: &Config,
        rules: FtlRules,
        writes: &ExpectedWrites,
        watch: ProgressCallback<'_>,
    ) -> Ftl {
        let key = self.key(geometry, config, rules, writes);
        let prepare = || Ftl::preconditioned(geometry, config, rules, writes, self.folder.as_ref(), watch);
        let Some(state) = key.map(|key| self.state(key)) else { return prepare() };
        let mut prepared = state.lock().unwrap_or_else(PoisonError::into_inner);
        prepared.get_or_insert_with(prepare).clone()
    }

    /// Returns the key of the initial state of a run of `config`: equal keys mean equal states. `None` if the state is not shared, because the drive
    /// is not preconditioned or sharing is off.
    pub(crate) fn key(
        &self,
        geometry: &Geometry,
        config: &Config,
        rules: FtlRules,
        writes: &ExpectedWrites,
    ) -> Option<String> {
        let is_shared = config.precondition.kind != PreconditionKind::None && !self.is_for_one_run;
        is_shared.then(|| format!("{}\n{geometry:?}\n{rules:?}\n{writes:?}", config.text_without(&IRRELEVANT_SECTIONS)))
    }

    fn state(&self, key: String) -> SharedFtl {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().position(|(other, _)| *other == key);
        let entry = found.map_or_else(|| (key, SharedFtl::default()), |at| kept.remove(at));
        let state = Arc::clone(&entry.1);
        kept.push(entry);
        if kept.len() > KEPT_MAX {
            kept.remove(0);
        }
        state
    }
}
