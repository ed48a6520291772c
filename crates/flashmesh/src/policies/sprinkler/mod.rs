//! Sprinkler (HPCA 2014) as a firmware policy: pages are placed as by the page policy, and the [Sprinkler scheduler](crate::schedule::sprinkler)
//! schedules the transactions.

use crate::config::{self, Config, ConfigConflict, KindOrder, Priorities, SchedulePolicy};

use super::page::PagePolicy;
use super::{AnyPolicy, PolicyInfo};

pub static INFO: PolicyInfo = PolicyInfo {
    kind: config::FirmwarePolicy::Sprinkler,
    build: |_, _| AnyPolicy::Page(PagePolicy),
    ftl_rules: |_, rules| rules,
    conflicts: |config, _| conflicts(config),
};

/// Returns the conflicts with other scheduling settings, because the policy brings its own scheduler; empty if there are none.
fn conflicts(config: &Config) -> Vec<ConfigConflict> {
    let mut clashes = Vec::new();
    if let Some(policy) = &config.policy.scheduler {
        let message =
            format!("ftl.policy is `sprinkler`, which schedules as Sprinkler does, and policy.scheduler is `{policy}`");
        let help = "set ftl.policy to \"page\", which places pages as `sprinkler` does, or leave policy.scheduler away";
        clashes.push(ConfigConflict::new(&["policy.scheduler", "ftl.policy"], message).with_help(help));
    }
    let schedule = &config.schedule;
    let others = [
        (
            "schedule.policy",
            schedule.policy.name(),
            [SchedulePolicy::OutOfOrder, SchedulePolicy::Sprinkler].contains(&schedule.policy),
        ),
        ("schedule.order", schedule.order.name(), schedule.order == KindOrder::ReadFirst),
        ("schedule.priorities", schedule.priorities.name(), schedule.priorities == Priorities::Off),
    ];
    for (key, value, is_default) in others {
        if !is_default {
            let message =
                format!("ftl.policy is `sprinkler`, which schedules as Sprinkler does, and {key} is `{value}`");
            clashes.push(
                ConfigConflict::new(&[key, "ftl.policy"], message)
                    .with_help(&format!("leave {key} away, or set ftl.policy to \"page\"")),
            );
        }
    }
    clashes
}
