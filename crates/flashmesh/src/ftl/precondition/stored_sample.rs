//! Saved states of samples (simulated planes). A later drive with the same sample reads them instead of simulating.

use std::time::{SystemTime, UNIX_EPOCH};

use super::phase::CollectionInProgress;
use super::sample::SteadyStateResult;
use super::sample_inputs::SampleInputs;
use crate::config::Config;
use crate::ftl::{BlockState, Ftl};
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::states::{BitReader, BitWriter, StateFolder, StateKey, StateSummary, bits_for};
use crate::units::Bytes;

/// Folder of saved states, with the configuration and capacity that describe the drive in listings of the folder.
#[derive(Clone, Copy)]
pub(in super::super) struct StateStore<'a> {
    pub(in super::super) folder: &'a StateFolder,
    pub(in super::super) config: &'a Config,
    /// Capacity of the drive visible to the host.
    pub(in super::super) capacity: Bytes,
}

impl StateStore<'_> {
    fn about(&self) -> StateSummary {
        let is_like = |preset: &Config| preset.geometry == self.config.geometry && preset.ftl == self.config.ftl;
        let presets = Config::presets().iter().map(|preset| preset.name);
        let preset = presets.into_iter().find(|name| Config::from_preset(name).is_ok_and(|preset| is_like(&preset)));
        StateSummary {
            drive: preset.map_or_else(|| format!("configuration {}", &self.config.hash()[..16]), str::to_owned),
            capacity_bytes: self.capacity.as_u64(),
            made_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        }
    }
}

enum Numbers {
    /// Reader of states that were saved in the folder.
    Read(BitReader),
    /// Collected states, to be saved in the folder.
    Written(BitWriter),
}

/// Saved states of one sample: read from the folder, or collected to be written to it.
pub(super) struct StoredSample<'a> {
    keeping: StateStore<'a>,
    key: StateKey,
    numbers: Numbers,
    instants: u32,
}

impl<'a> StoredSample<'a> {
    /// Opens the saved states of the sample with these `inputs`: for reading if the folder has them, otherwise for writing. Returns `None` if saving
    /// them is not worth their size. `fresh` is the sample before its first write, from which the size of a state is computed.
    pub(super) fn find(inputs: &SampleInputs, fresh: &Ftl, keeping: StateStore<'a>) -> Option<StoredSample<'a>> {
        let of_state = fresh.blocks.accounts.image_bits() + places_bits(fresh) + begun_bits(fresh);
        let bits = settled_bits() + of_state.saturating_mul(inputs.instants().into());
        let bytes = bits.div_ceil(u64::BITS.into()) * size_of::<u64>() as u64;
        if !keeping.folder.is_worth(inputs.writes(), bytes) {
            return None;
        }
        let key = StateKey::new(&inputs.store_key());
        let numbers = match keeping.folder.read(&key, bytes) {
            Some(numbers) => Numbers::Read(BitReader::new(numbers)),
            None => Numbers::Written(BitWriter::default()),
        };
        Some(StoredSample { keeping, key, numbers, instants: inputs.instants() })
    }

    /// Returns whether the folder has the states, so that the sample is read instead of simulated.
    pub(super) fn is_stored(&self) -> bool {
        matches!(self.numbers, Numbers::Read(_))
    }

    /// Reads the saved result of [`PlaneSample::settle`](super::sample::PlaneSample::settle); `None` if the folder has no states of the sample.
    pub(super) fn read_result(&mut self) -> Option<SteadyStateResult> {
        let Numbers::Read(from) = &mut self.numbers else { return None };
        let write_amplification = f64::from_bits(from.read(u64::BITS)?);
        Some(SteadyStateResult {
            write_amplification,
            windows: from.read(u32::BITS)? as u32,
            settled: from.read(1)? != 0,
        })
    }

    pub(super) fn write_result(&mut self, settled: SteadyStateResult) {
        let Numbers::Written(to) = &mut self.numbers else { return };
        to.put(settled.write_amplification.to_bits(), u64::BITS);
        to.put(settled.windows.into(), u32::BITS);
        to.put(settled.settled.into(), 1);
    }

    /// Sets `ftl` to the next saved state and returns its collection in progress (without victims if there is none). Returns `None` if no state is
    /// saved, or if the saved state is invalid; the damaged file is then removed.
    pub(super) fn read_state(&mut self, ftl: &mut Ftl, inputs: &SampleInputs) -> Option<CollectionInProgress> {
        let Numbers::Read(from) = &mut self.numbers else { return None };
        let begun = read_state(from, ftl, inputs);
        if begun.is_none() {
            self.keeping.folder.remove_damaged(&self.key, "its data is no valid state");
        }
        begun
    }

    /// Appends the state with number `instant`, from 1. After the last state of the sample, writes all of them to the folder.
    pub(super) fn write_state(&mut self, ftl: &Ftl, begun: &CollectionInProgress, instant: u32) {
        let Numbers::Written(to) = &mut self.numbers else { return };
        let bits = place_bits(ftl);
        for lpn in (0..ftl.mapping.logical_pages()).map(Lpn) {
            to.put(ftl.lookup(lpn).map_or(0, |ppn| u64::from(ppn.0) + 1), bits);
        }
        ftl.blocks.accounts.write_image(to);
        for plane in 0..ftl.geometry.planes() as usize {
            to.put(begun.victims.get(plane).map_or(0, |victim| u64::from(victim.0) + 1), u32::BITS);
            to.put(begun.valid_at_begin.get(plane).copied().unwrap_or(0).into(), u32::BITS);
        }
        if instant == self.instants {
            let numbers = std::mem::take(to).finish();
            self.keeping.folder.write(&self.key, &self.keeping.about(), &numbers);
        }
    }
}

fn read_state(from: &mut BitReader, ftl: &mut Ftl, inputs: &SampleInputs) -> Option<CollectionInProgress> {
    let (bits, pages) = (place_bits(ftl), u64::from(ftl.geometry.pages()));
    for lpn in (0..ftl.mapping.logical_pages()).map(Lpn) {
        match from.read(bits).filter(|&place| place <= pages)? {
            0 if inputs.writes_page(lpn) => return None,
            0 => {
                ftl.mapping.clear(lpn);
            }
            place => {
                ftl.mapping.set(lpn, Ppn(place as u32 - 1));
            }
        }
    }
    ftl.blocks.accounts.read_image(from)?;
    let mut begun = CollectionInProgress::default();
    for plane in (0..ftl.geometry.planes()).map(PlaneId) {
        let victim = from.read(u32::BITS)?;
        let valid = from.read(u32::BITS).filter(|&valid| valid <= ftl.geometry.pages_per_block.into())? as u32;
        if victim == 0 {
            continue;
        }
        let victim = BlockId(u32::try_from(victim - 1).ok().filter(|&block| block < ftl.geometry.blocks())?);
        let is_victim =
            ftl.blocks.state(victim) == BlockState::Collecting && ftl.geometry.plane_of_block(victim) == plane;
        if !is_victim || valid < ftl.blocks.valid_pages(victim) {
            return None;
        }
        begun.victims.push(victim);
        begun.valid_at_begin.push(valid);
    }
    // A valid state has a victim in every plane or in none.
    let collecting = begun.victims.len() as u32;
    let count =
        (0..ftl.geometry.blocks()).filter(|&block| ftl.blocks.state(BlockId(block)) == BlockState::Collecting).count();
    let is_whole = (collecting == 0 || collecting == ftl.geometry.planes()) && count == collecting as usize;
    ftl.blocks.accounts.set_collecting(u32::from(collecting > 0));
    is_whole.then_some(begun)
}

/// Returns the size in bits of a saved [`CollectionInProgress`], which does not depend on whether a collection is in progress.
fn begun_bits(ftl: &Ftl) -> u64 {
    u64::from(ftl.geometry.planes()) * u64::from(2 * u32::BITS)
}

/// Returns the size in bits of a saved [`SteadyStateResult`].
fn settled_bits() -> u64 {
    u64::from(u64::BITS + u32::BITS + 1)
}

/// Returns the size in bits of a saved page location: the physical page number + 1, or 0 for an unmapped page.
fn place_bits(ftl: &Ftl) -> u32 {
    bits_for(ftl.geometry.pages().into())
}

fn places_bits(ftl: &Ftl) -> u64 {
    u64::from(ftl.mapping.logical_pages()) * u64::from(place_bits(ftl))
}
