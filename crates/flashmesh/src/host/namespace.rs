//! Namespaces: the address ranges that the commands of a queue can reach.

use crate::ids::{StreamId, id};
use crate::units::Bytes;
use crate::workload::IoRequest;

use super::status::Status;

id!(
    /// The number of a namespace, in the order of the configuration.
    NamespaceId
);

/// A contiguous range of the drive. Addresses within the namespace begin at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    pub first: Bytes,
    pub capacity: Bytes,
}

/// The namespaces of a drive, and the assignment of streams to them.
#[derive(Clone, Debug)]
pub struct Namespaces {
    namespaces: Vec<Namespace>,
    of_stream: Vec<NamespaceId>,
    /// The namespace range of each stream, cached for [`locate`](Self::locate).
    ranges: Vec<Namespace>,
}

impl Namespaces {
    pub fn new(namespaces: Vec<Namespace>, of_stream: Vec<NamespaceId>) -> Namespaces {
        let ranges = of_stream.iter().map(|of| namespaces[of.index()]).collect();
        Namespaces { namespaces, of_stream, ranges }
    }

    pub fn count(&self) -> usize {
        self.namespaces.len()
    }

    /// Returns the namespace whose addresses `stream` uses.
    ///
    /// # Errors
    /// If the stream is attached to no namespace.
    #[inline]
    pub fn namespace_of(&self, stream: StreamId) -> Result<NamespaceId, Status> {
        self.of_stream.get(stream.index()).copied().ok_or(Status::InvalidNamespace)
    }

    pub fn range(&self, namespace: NamespaceId) -> Namespace {
        self.namespaces[namespace.index()]
    }

    /// Returns the byte offset on the drive at which a request of `stream` begins.
    ///
    /// # Errors
    /// If the request ends beyond its namespace, or the stream is attached to none.
    #[inline(always)]
    pub fn locate(&self, stream: StreamId, io: &IoRequest) -> Result<Bytes, Status> {
        let &Namespace { first, capacity } = self.ranges.get(stream.index()).ok_or(Status::InvalidNamespace)?;
        // Offset and size come from a trace and may be any number: neither sum nor difference may overflow.
        if io.size > capacity || io.offset > capacity - io.size {
            return Err(Status::LbaOutOfRange);
        }
        Ok(first + io.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;
    use crate::workload::RequestKind;

    #[test]
    fn requests_are_located_within_the_namespace_of_their_stream() {
        let halves = [0, 4096].map(|first| Namespace { first: Bytes::new(first), capacity: Bytes::new(4096) });
        let namespaces = Namespaces::new(halves.to_vec(), vec![NamespaceId(1), NamespaceId(0)]);
        let locate = |stream, offset, size| {
            let (offset, size) = (Bytes::new(offset), Bytes::new(size));
            let io = IoRequest { arrival: Time::ZERO, kind: RequestKind::Read, offset, size, stream: 0 };
            namespaces.locate(StreamId(stream), &io).map(Bytes::as_u64)
        };
        assert_eq!((locate(0, 512, 512), locate(1, 512, 512)), (Ok(4608), Ok(512)));
        assert_eq!((locate(0, 3584, 512), locate(0, 3584, 1024)), (Ok(7680), Err(Status::LbaOutOfRange)));
        assert_eq!(
            (locate(0, 0, u64::MAX), locate(0, u64::MAX, 512)),
            (Err(Status::LbaOutOfRange), Err(Status::LbaOutOfRange))
        );
        assert_eq!(locate(2, 0, 512), Err(Status::InvalidNamespace));
    }
}
