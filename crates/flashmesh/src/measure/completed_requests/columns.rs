//! Columns of the log of completed requests.

use super::request_log::RequestRecord;
use crate::fabric::Cause;
use crate::host::status::Status;
use crate::results::{Name, Named, joined};
use crate::workload::RequestKind;

/// Name, type and meaning of one column of the request log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Name of the column in files and tables, with the unit last.
    pub name: &'static str,
    /// Type of the values, which determines their encoding as bytes.
    pub column_type: ColumnType,
    /// Meaning of the column, for the documentation.
    pub doc: String,
}

/// Type of the values in a column, and their encoding as bytes in native byte order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Integers of 64 bits.
    UInt64,
    /// Integers of 32 bits.
    UInt32,
    /// Booleans: one byte each, 0 or 1.
    Boolean,
    /// Indices in this list of names, one byte each.
    Name(Vec<Name>),
    /// Indices of streams in the configuration, one byte each.
    Stream,
}

/// A column type, with the type of its values and their encoding as bytes.
trait Column {
    type Value;

    fn column_type() -> ColumnType;

    fn append(value: &Self::Value, bytes: &mut Vec<u8>);
}

/// Implements [`Column`] for a column type.
macro_rules! column {
    ($column:ty, $value:ty, $column_type:expr, |$name:ident| $bytes:expr) => {
        impl Column for $column {
            type Value = $value;

            fn column_type() -> ColumnType {
                $column_type
            }

            fn append($name: &$value, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&$bytes.to_ne_bytes());
            }
        }
    };
}

/// Index of a stream in the configuration, below 64.
struct StreamIndex;

column!(u64, u64, ColumnType::UInt64, |value| value);
column!(u32, u32, ColumnType::UInt32, |value| value);
column!(bool, bool, ColumnType::Boolean, |value| u8::from(*value));
column!(RequestKind, RequestKind, ColumnType::Name(RequestKind::names()), |kind| (kind.index() as i8));
column!(Status, Status, ColumnType::Name(Status::names()), |status| (status.index() as i8));
column!(StreamIndex, u32, ColumnType::Stream, |stream| (*stream as i8));

/// Declares the columns in order, each with its doc, name, type, and its value in a record. Generates [`RequestColumns`].
macro_rules! columns {
    ($($(#[doc = $doc:expr])+ $name:ident: $column:ty = $value:expr;)+) => {
        /// Rows of the log: the bytes of each column, in native byte order.
        #[derive(Debug, Default)]
        pub struct RequestColumns {
            rows: usize,
            $($name: Vec<u8>,)+
        }

        impl RequestColumns {
            /// Returns the columns in the order of their declaration.
            pub fn specs() -> Vec<ColumnSpec> {
                vec![$(ColumnSpec {
                    name: stringify!($name),
                    column_type: <$column as Column>::column_type(),
                    doc: joined(&[$($doc),+]),
                }),+]
            }

            /// Adds a row with the values of `record`.
            pub fn push(&mut self, record: &RequestRecord) {
                self.rows += 1;
                $({
                    let value: fn(&RequestRecord) -> <$column as Column>::Value = $value;
                    <$column as Column>::append(&value(record), &mut self.$name);
                })+
            }

            /// Returns the name and the bytes of each column, in the order of [`specs`](Self::specs). The bytes hold one value for each row.
            pub fn bytes(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
                [$((stringify!($name), self.$name.as_slice())),+].into_iter()
            }

            /// Removes all rows.
            pub fn clear(&mut self) {
                self.rows = 0;
                $(self.$name.clear();)+
            }
        }
    };
}

columns! {
    /// Sequence number of the request, in the order of issue from 0.
    id: u64 = |record| record.id;
    /// Kind of the request.
    kind: RequestKind = |record| record.kind;
    /// Stream that issued the request; `host` if no streams are configured.
    stream_name: StreamIndex = |record| record.issuer.0;
    /// Source within the stream: device number of a trace, thread of a synthetic workload or a profile, member of a mix.
    stream: u32 = |record| record.stream;
    /// Offset of the request in its namespace.
    offset_bytes: u64 = |record| record.offset.as_u64();
    /// Size of the request; 0 for a flush.
    size_bytes: u64 = |record| record.size.as_u64();
    /// Status with which the request completed.
    status: Status = |record| record.status;
    /// Time of the arrival at the queue of the host.
    arrival_ps: u64 = |record| record.arrival.as_ps();
    /// Time at which the drive fetched the request from the queue.
    submitted_ps: u64 = |record| record.submitted.as_ps();
    /// Time at which the completion reached the host. Minus `arrival_ps`, this is the completion latency.
    completed_ps: u64 = |record| record.completed.as_ps();
    /// Time in the queue of the host and on its link, as in `breakdown_ps.*.host`. All parts add up to the latency.
    host_ps: u64 = |record| record.host().as_ps();
    /// Time of the controller's cores, as in `breakdown_ps.*.firmware`.
    firmware_ps: u64 = |record| record.firmware.as_ps();
    /// Time in the device cache, as in `breakdown_ps.*.cache`.
    cache_ps: u64 = |record| record.breakdown.cache.as_ps();
    /// Time waiting for a map entry, as in `breakdown_ps.*.map_wait`.
    map_wait_ps: u64 = |record| record.breakdown.map_wait.as_ps();
    /// Time waiting for the die while it worked for other requests, as in `breakdown_ps.*.die_wait`.
    die_wait_ps: u64 = |record| record.breakdown.die_wait.as_ps();
    /// Time waiting for a path to the chip, as in `breakdown_ps.*.path_wait`.
    path_wait_ps: u64 = |record| record.breakdown.path_wait.as_ps();
    /// Time of array work, as in `breakdown_ps.*.array`.
    array_ps: u64 = |record| record.breakdown.array.as_ps();
    /// Time of command, address and data transfer, as in `breakdown_ps.*.transfer`.
    transfer_ps: u64 = |record| record.breakdown.transfer.as_ps();
    /// Time waiting for the die while it worked for GC or wear levelling, as in `breakdown_ps.*.behind_gc`.
    behind_gc_ps: u64 = |record| record.breakdown.behind_gc.as_ps();
    /// Whether a transfer of the request had to wait for a path.
    path_conflict: bool = |record| !record.path_conflict.is_empty();
    /// Whether a transfer waited because of `path_conflict.causes.channel`.
    channel_conflict: bool = |record| record.path_conflict.contains(Cause::Channel);
    /// Whether a transfer waited because of `path_conflict.causes.controller`.
    controller_conflict: bool = |record| record.path_conflict.contains(Cause::Controller);
    /// Whether a transfer waited because of `path_conflict.causes.link`.
    link_conflict: bool = |record| record.path_conflict.contains(Cause::Link);
}

impl RequestColumns {
    /// Returns the number of rows added since the last [`clear`](Self::clear).
    pub fn rows(&self) -> usize {
        self.rows
    }
}
