//! Programs that are not full yet. The next writes go to the planes of these programs first.

use crate::ids::PlaneId;

/// A partly filled program that has not started, and its plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FillingProgram {
    pub plane: PlaneId,
    /// Number of mapping units in a full program.
    pub units: u32,
    /// Number of mapping units that can still be added to the program.
    pub free_units: u32,
}

/// All partly filled programs, at most one for each plane, in the order in which they were begun. Empty if a program writes one mapping unit.
#[derive(Clone, Debug, Default)]
pub(super) struct FillingPrograms(Vec<FillingProgram>);

impl FillingPrograms {
    /// Returns a copy of the list, in the order in which the programs were begun.
    pub(super) fn all(&self) -> Vec<FillingProgram> {
        self.0.clone()
    }

    /// Updates the list after a dispatch to the plane of `gathering`: adds or replaces the program of this plane, or removes the program if
    /// it is full or empty.
    pub(super) fn set(&mut self, gathering: FillingProgram) {
        let is_open = gathering.free_units > 0 && gathering.free_units < gathering.units;
        match self.0.iter().position(|other| other.plane == gathering.plane) {
            Some(at) if is_open => self.0[at] = gathering,
            Some(at) => {
                self.0.remove(at);
            }
            None if is_open => self.0.push(gathering),
            None => {}
        }
    }

    /// Removes the program of `plane`, which starts, full or not.
    pub(super) fn on_program_start(&mut self, plane: PlaneId) {
        self.0.retain(|gathering| gathering.plane != plane);
    }

    /// Removes a cancelled write from the program of `plane`. The program then has space for another write; an empty program leaves the list.
    pub(super) fn remove_write(&mut self, plane: PlaneId) {
        if let Some(&gathering) = self.0.iter().find(|gathering| gathering.plane == plane) {
            self.set(FillingProgram { free_units: gathering.free_units + 1, ..gathering });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLANES: [PlaneId; 2] = [PlaneId(3), PlaneId(1)];

    #[test]
    fn a_plane_gathers_until_its_program_is_full_or_begins_or_nothing_waits_for_it() {
        let open = |plane, room| FillingProgram { plane, units: 4, free_units: room };
        let mut planes = FillingPrograms::default();
        for plane in PLANES {
            planes.set(open(plane, 4));
            assert_eq!(planes.all().len(), usize::from(plane != PLANES[0]), "no unit has arrived yet");
            planes.set(open(plane, 2));
        }
        assert_eq!(planes.all(), PLANES.map(|plane| open(plane, 2)));
        planes.remove_write(PLANES[0]);
        assert_eq!(planes.all()[0], open(PLANES[0], 3));
        planes.remove_write(PLANES[0]);
        planes.remove_write(PLANES[0]);
        assert_eq!(planes.all(), [open(PLANES[1], 2)]);
        planes.set(open(PLANES[1], 0));
        planes.set(open(PLANES[0], 1));
        planes.on_program_start(PLANES[1]);
        planes.on_program_start(PLANES[0]);
        assert_eq!(planes.all(), []);
    }
}
