//! The uniform random pattern.

use super::{AddressPattern, Cursor};
use crate::synthetic::random::{self, Generator};
use crate::synthetic::sizes::Size;

/// The uniform pattern: all blocks in which the request fits are equally likely.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uniform;

impl AddressPattern for Uniform {
    fn choose(&self, generator: &mut Generator, _cursor: &mut Cursor, size: &Size) -> u64 {
        random::below(generator, size.starts)
    }
}
