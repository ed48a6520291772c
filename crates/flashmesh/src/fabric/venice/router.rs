//! A router: which of its ports are busy, and its reservation table.

use crate::ids::ChannelId;

use super::ports::{Port, Ports};
use super::tie_break::Lfsr;

/// A row of the reservation table (paper 000, section 4.2 and Fig 7).
///
/// Beside the columns of the paper it keeps which ports a scout has used, for as long as the scout is under way: the paper
/// demands that a port be tried once and does not say where that is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The scout packet, named after its controller.
    pub packet: ChannelId,
    /// Whether entry and exit port are connected.
    pub valid: bool,
    /// Where the scout came in.
    pub entry: Port,
    /// Where it went on; means something only while the row is valid.
    pub exit: Port,
    /// Ports the scout has come in by or gone out by.
    pub used: Ports,
}

/// A router.
#[derive(Clone, Debug)]
pub(super) struct Router {
    /// Ports whose link is reserved, or which lead nowhere.
    pub busy: Ports,
    /// The tie-break.
    pub register: Lfsr,
    /// In no particular order: a router sees few scouts at a time.
    table: Vec<Row>,
}

impl Router {
    /// A router with `ports` towards other routers, as the `number`-th of its mesh.
    pub fn new(ports: Ports, number: u32) -> Router {
        Router { busy: Ports::MESH.without(ports), register: Lfsr::new(number), table: Vec::new() }
    }

    #[inline]
    fn position(&self, packet: ChannelId) -> Option<usize> {
        self.table.iter().position(|row| row.packet == packet)
    }

    /// The row of `packet`.
    #[inline]
    pub fn row(&mut self, packet: ChannelId) -> Option<&mut Row> {
        self.table.iter_mut().find(|row| row.packet == packet)
    }

    /// The valid row of `packet`.
    #[inline]
    pub fn circuit(&self, packet: ChannelId) -> Option<&Row> {
        self.table.iter().find(|row| row.packet == packet && row.valid)
    }

    /// `packet` comes in by `entry`; gives its row.
    #[inline]
    pub fn enter(&mut self, packet: ChannelId, entry: Port) -> &mut Row {
        let at = self.position(packet).unwrap_or_else(|| {
            self.table.push(Row { packet, valid: false, entry, exit: entry, used: Ports::NONE });
            self.table.len() - 1
        });
        let row = &mut self.table[at];
        row.entry = entry;
        row.used = row.used.with(Ports::of(entry));
        row
    }

    /// Takes out the row of `packet`.
    #[inline]
    pub fn remove(&mut self, packet: ChannelId) -> Option<Row> {
        self.position(packet).map(|at| self.table.swap_remove(at))
    }

    /// Forgets what `packet` has used, unless it holds the router.
    #[inline]
    pub fn forget(&mut self, packet: ChannelId) {
        self.table.retain(|row| row.packet != packet || row.valid);
    }

    /// The rows, for those who look on.
    pub fn rows(&self) -> &[Row] {
        &self.table
    }
}
