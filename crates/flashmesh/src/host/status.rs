//! How a command ended, as its completion entry tells the host.
//!
//! The names are those of the generic command status values of the NVM Express base specification 2.0 (figure 94), and of its NVM
//! command set specification. A SATA drive would set an error bit and abort the rest of its queue; here it answers as an NVMe drive
//! does [choice], so that results of the two can be compared.

use crate::names;

names! {
    /// How a command ended.
    #[derive(PartialOrd, Ord, Hash)]
    Status {
        /// It did what it was asked to.
        Success = "success",
        /// The drive does not know such commands.
        InvalidOpcode = "invalid_opcode",
        /// A field holds what it must not: no sectors at all, or more than the drive moves in one command.
        InvalidField = "invalid_field",
        /// The queue it came from is attached to no namespace. A configuration attaches every queue to one; a program that uses the
        /// library may not.
        InvalidNamespace = "invalid_namespace",
        /// It reaches beyond its namespace.
        LbaOutOfRange = "lba_out_of_range",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_found_at_its_index() {
        assert!(Status::ALL.iter().enumerate().all(|(index, status)| status.index() == index));
    }
}
