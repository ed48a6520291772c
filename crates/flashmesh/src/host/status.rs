//! The status of a completed command, as reported in its completion entry.
//!
//! The names come from the generic command status values of the NVM Express base specification 2.0 (figure 94) and of the NVM command set
//! specification. A simulated SATA drive reports these values too, so that its results can be compared with those of an NVMe drive \[choice\]. A real
//! SATA drive sets an error bit and aborts the rest of its queue.

use crate::names;

names! {
    /// The status with which a command completed.
    #[derive(PartialOrd, Ord, Hash)]
    Status {
        /// The command was executed.
        Success = "success",
        /// The drive does not support the command.
        InvalidOpcode = "invalid_opcode",
        /// A field has an invalid value: a size of zero sectors, or more data than the drive transfers in one command.
        InvalidField = "invalid_field",
        /// The queue of the command is attached to no namespace. Only a program that uses the library can cause this status: a configuration attaches
        /// every queue to a namespace.
        InvalidNamespace = "invalid_namespace",
        /// The address range of the command ends beyond its namespace.
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
