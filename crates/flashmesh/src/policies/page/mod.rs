//! The page policy: each plane is written and collected on its own; writes go to the plane that the allocator chooses, without delay. All
//! its decisions are the defaults of [`FirmwarePolicy`].

use crate::config;

use super::{AnyPolicy, FirmwarePolicy, PolicyInfo};

pub static INFO: PolicyInfo = PolicyInfo {
    kind: config::FirmwarePolicy::Page,
    build: |_, _| AnyPolicy::Page(PagePolicy),
    ftl_rules: |_, rules| rules,
    conflicts: |_, _| Vec::new(),
};

pub struct PagePolicy;

impl FirmwarePolicy for PagePolicy {
    fn snapshot(&self) -> Option<AnyPolicy> {
        Some(AnyPolicy::Page(PagePolicy))
    }
}
