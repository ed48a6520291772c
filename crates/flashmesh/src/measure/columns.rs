//! The log of requests as columns, declared once: what a row says about a completed request.

use super::log::RequestRecord;
use crate::fabric::Cause;
use crate::host::status::Status;
use crate::results::{Name, Named, joined};
use crate::workload::RequestKind;

/// A column of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Name of the column.
    pub name: &'static str,
    /// Type of the values of the column.
    pub column_type: ColumnType,
    /// Meaning, for the documentation.
    pub doc: String,
}

/// Type of the values of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Whole numbers of 64 bits.
    UInt64,
    /// Whole numbers of 32 bits.
    UInt32,
    /// A byte each, 0 or 1.
    Boolean,
    /// The place of a name in this list, a byte each.
    Name(Vec<Name>),
    /// The place of a stream in the configuration, a byte each.
    Stream,
}

/// The types of columns, with the bytes of a value.
trait Column {
    type Value;

    fn column_type() -> ColumnType;

    fn append(value: &Self::Value, bytes: &mut Vec<u8>);
}

/// Declares how the values of a type are written.
macro_rules! column {
    ($column:ty, $value:ty, $column_type:expr, |$name:ident| $bytes:expr) => {
        impl Column for $column {
            type Value = $value;

            fn column_type() -> ColumnType {
                $column_type
            }

            #[inline]
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

/// Declares the columns: the only place where they are named.
macro_rules! columns {
    ($($(#[doc = $doc:expr])+ $name:ident: $column:ty = $value:expr;)+) => {
        /// Rows of the log, as the bytes of each column in the order of the machine.
        #[derive(Debug, Default)]
        pub struct RequestColumns {
            rows: usize,
            $($name: Vec<u8>,)+
        }

        impl RequestColumns {
            /// The columns, in their order.
            pub fn specs() -> Vec<ColumnSpec> {
                vec![$(ColumnSpec {
                    name: stringify!($name),
                    column_type: <$column as Column>::column_type(),
                    doc: joined(&[$($doc),+]),
                }),+]
            }

            /// Adds a row.
            pub fn push(&mut self, record: &RequestRecord) {
                self.rows += 1;
                $({
                    let value: fn(&RequestRecord) -> <$column as Column>::Value = $value;
                    <$column as Column>::append(&value(record), &mut self.$name);
                })+
            }

            /// The bytes of each column.
            pub fn bytes(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
                [$((stringify!($name), self.$name.as_slice())),+].into_iter()
            }

            /// Forgets all rows.
            pub fn clear(&mut self) {
                self.rows = 0;
                $(self.$name.clear();)+
            }
        }
    };
}

columns! {
    /// Number of the request in the order of issue, from 0.
    id: u64 = |record| record.id;
    /// Kind of the request.
    kind: RequestKind = |record| record.kind;
    /// Stream of the configuration that issued it; `host` where no streams are configured.
    stream_name: StreamIndex = |record| record.issuer.0;
    /// Device number of a trace, thread of a synthetic workload or a profile, member of a mix.
    stream: u32 = |record| record.stream;
    /// Where the request begins in its namespace.
    offset_bytes: u64 = |record| record.offset.as_u64();
    /// Bytes of the request; 0 for a flush.
    size_bytes: u64 = |record| record.size.as_u64();
    /// How it ended.
    status: Status = |record| record.status;
    /// When it arrived at the queue of the host.
    arrival_ps: u64 = |record| record.arrival.as_ps();
    /// When the drive took it from the queue.
    submitted_ps: u64 = |record| record.submitted.as_ps();
    /// When its completion reached the host; less `arrival_ps` it is the completion latency.
    completed_ps: u64 = |record| record.completed.as_ps();
    /// Part of the latency, as `breakdown_ps.*.host`. The parts add up to the latency.
    host_ps: u64 = |record| record.host().as_ps();
    /// Part of the latency, as `breakdown_ps.*.firmware`.
    firmware_ps: u64 = |record| record.firmware.as_ps();
    /// Part of the latency, as `breakdown_ps.*.cache`.
    cache_ps: u64 = |record| record.spent.cache.as_ps();
    /// Part of the latency, as `breakdown_ps.*.map_wait`.
    map_wait_ps: u64 = |record| record.spent.map_wait.as_ps();
    /// Part of the latency, as `breakdown_ps.*.die_wait`.
    die_wait_ps: u64 = |record| record.spent.die_wait.as_ps();
    /// Part of the latency, as `breakdown_ps.*.path_wait`.
    path_wait_ps: u64 = |record| record.spent.path_wait.as_ps();
    /// Part of the latency, as `breakdown_ps.*.array`.
    array_ps: u64 = |record| record.spent.array.as_ps();
    /// Part of the latency, as `breakdown_ps.*.transfer`.
    transfer_ps: u64 = |record| record.spent.transfer.as_ps();
    /// Part of the latency, as `breakdown_ps.*.behind_gc`.
    behind_gc_ps: u64 = |record| record.spent.behind_gc.as_ps();
    /// Whether any transfer of the request had to wait for a path.
    path_conflict: bool = |record| !record.path_conflict.is_empty();
    /// Whether any waited for the cause `path_conflict.causes.channel`.
    channel_conflict: bool = |record| record.path_conflict.contains(Cause::Channel);
    /// Whether any waited for the cause `path_conflict.causes.controller`.
    controller_conflict: bool = |record| record.path_conflict.contains(Cause::Controller);
    /// Whether any waited for the cause `path_conflict.causes.link`.
    link_conflict: bool = |record| record.path_conflict.contains(Cause::Link);
}

impl RequestColumns {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }
}
