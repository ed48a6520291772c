//! The routers: which of their ports are busy, and their reservation tables.

use super::ports::{Port, Ports};
use super::tie_break::Lfsr;

/// A row of a reservation table (paper 000, section 4.2 and Fig 7). The packet id is where it is found.
///
/// Beside the columns of the paper it keeps which ports a scout has used, for as long as the scout is under way: the paper
/// demands that a port be tried once and does not say where that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Whether entry and exit port are connected.
    pub valid: bool,
    /// Where the scout came in.
    pub entry: Port,
    /// Where it went on; means something only while the row is valid.
    pub exit: Port,
    /// Ports the scout has come in by or gone out by.
    pub used: Ports,
}

impl Row {
    const EMPTY: Row = Row { valid: false, entry: Port::North, exit: Port::North, used: Ports::NONE };

    /// The bit of a valid row.
    const VALID: u16 = 1 << 11;

    /// The row as 12 bits; those of [`Row::EMPTY`] are 0.
    #[inline]
    const fn to_bits(self) -> u16 {
        self.used.to_bits() as u16 | (self.entry as u16) << 5 | (self.exit as u16) << 8 | (self.valid as u16) << 11
    }

    #[inline]
    const fn from_bits(bits: u16) -> Row {
        Row {
            valid: bits & Row::VALID != 0,
            entry: Port::numbered(bits >> 5 & 0b111),
            exit: Port::numbered(bits >> 8 & 0b111),
            used: Ports::from_bits((bits & 0b1_1111) as u8),
        }
    }
}

/// The reservation tables of all routers: a row for each controller in each of them.
///
/// Rows that no scout has touched are zero pages of the system, so a large mesh takes no more memory than its scouts visit.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    rows: Vec<u16>,
    routers: usize,
}

impl Tables {
    /// Empty tables.
    pub fn new(routers: u32, controllers: u32) -> Tables {
        let routers = routers as usize;
        Tables { rows: vec![0; routers * controllers as usize], routers }
    }

    /// The row of `packet` in the table of `router`.
    #[inline]
    pub fn row(&self, packet: usize, router: usize) -> Row {
        Row::from_bits(self.rows[packet * self.routers + router])
    }

    /// Whether `packet` holds `router`.
    #[inline]
    pub fn is_held(&self, packet: usize, router: usize) -> bool {
        self.rows[packet * self.routers + router] & Row::VALID != 0
    }

    /// Sets the row of `packet` in the table of `router`.
    #[inline]
    pub fn set(&mut self, packet: usize, router: usize, row: Row) {
        self.rows[packet * self.routers + router] = row.to_bits();
    }

    /// Takes out the row of `packet` in the table of `router`.
    #[inline]
    pub fn take(&mut self, packet: usize, router: usize) -> Row {
        let row = self.row(packet, router);
        self.set(packet, router, Row::EMPTY);
        row
    }

    /// Forgets what `packet` has used of `router`, unless it holds it.
    #[inline]
    pub fn forget(&mut self, packet: usize, router: usize) {
        if !self.row(packet, router).valid {
            self.set(packet, router, Row::EMPTY);
        }
    }

    /// Whether all rows are empty.
    pub fn is_clear(&self) -> bool {
        self.rows.iter().all(|&row| row == Row::EMPTY.to_bits())
    }
}

/// A router.
#[derive(Clone, Debug)]
pub(super) struct Router {
    /// Ports whose link is reserved, or which lead nowhere.
    pub busy: Ports,
    /// The tie-break.
    pub register: Lfsr,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_kept_as_it_was_set() {
        let mut tables = Tables::new(3, 2);
        for entry in Port::MESH {
            for exit in [Port::North, Port::East, Port::South, Port::West, Port::Chip] {
                for used in [Ports::NONE, Ports::MESH, Ports::of(Port::Chip).with(Ports::of(Port::East))] {
                    let row = Row { valid: true, entry, exit, used };
                    tables.set(1, 2, row);
                    assert_eq!(tables.row(1, 2), row);
                }
            }
        }
        assert_eq!(tables.row(1, 1), Row::EMPTY);
        assert!(!tables.is_clear());
        tables.forget(1, 2);
        assert!(!tables.is_clear(), "a valid row is kept");
        tables.take(1, 2);
        assert!(tables.is_clear());
    }
}
