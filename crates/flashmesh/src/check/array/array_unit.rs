//! Part of a die that executes operations independently of the other parts.

use std::fmt::{self, Display, Formatter};

use crate::flash::die::Extent;
use crate::ids::DieId;

/// A die, or one of its planes if planes read independently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArrayUnit {
    pub die: DieId,
    pub extent: Extent,
}

impl From<DieId> for ArrayUnit {
    fn from(die: DieId) -> ArrayUnit {
        ArrayUnit { die, extent: Extent::Die }
    }
}

impl From<(DieId, Extent)> for ArrayUnit {
    fn from((die, extent): (DieId, Extent)) -> ArrayUnit {
        ArrayUnit { die, extent }
    }
}

impl Display for ArrayUnit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.extent {
            Extent::Die => write!(f, "die {}", self.die.0),
            Extent::Plane(plane) => write!(f, "plane {plane} of die {}", self.die.0),
        }
    }
}
