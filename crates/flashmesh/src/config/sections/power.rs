//! The section `[power]` of a configuration.

use crate::config::section::section;
use crate::units::{Current, Time, Voltage, Wattage};

const POWER_MAX: Wattage = Wattage::from_watts(100);
const CURRENT_MAX: Current = Current::from_ma(10_000);

section! {
    /// Power of the parts of the drive, which has no effect on times, and the power cut.
    Power, "power" {
        /// Time of the power cut, at which the run ends ([power-loss.md](power-loss.md)).
        cut: Option<Time> = None, unset "never", in Time::ZERO..=Time::from_ms(1_000_000_000), needs any;
        /// Whether capacitors power the drive until all dirty pages of the device cache, and the journal, are on flash.
        capacitors: bool = true, with "cut" != [""] or "persistence.policy" = ["\"journal\""], needs any;
        /// Supply current of a die during an array read.
        read_current: Current = Current::from_ma(25), in Current::from_ma(0)..=CURRENT_MAX, needs plain;
        /// Supply current of a die during an array program.
        program_current: Current = Current::from_ma(25), in Current::from_ma(0)..=CURRENT_MAX, needs plain;
        /// Supply current of a die during an array erase.
        erase_current: Current = Current::from_ma(25), in Current::from_ma(0)..=CURRENT_MAX, needs plain;
        /// Supply voltage of the dies.
        supply_voltage: Voltage = Voltage::from_mv(3_300), in Voltage::from_mv(0)..=Voltage::from_mv(100_000), needs plain;
        /// Power of a channel of 8 wires with 8 chips while bytes move. The value is scaled to more wires and longer rows (Venice, ISCA 2023, section
        /// 6.6: a link draws 90 % less).
        channel_power: Wattage = Wattage::from_uw(10_800), in Wattage::ZERO..=POWER_MAX, needs plain;
        /// Power of a link of 8 wires with a driver at either end, while bytes move. The value is scaled to more wires (Venice, ISCA 2023, Table 4).
        link_power: Wattage = Wattage::from_uw(1_080), in Wattage::ZERO..=POWER_MAX, needs plain;
        /// Constant power of a router of Venice (Venice, ISCA 2023, Table 4).
        router_power: Wattage = Wattage::from_uw(241), in Wattage::ZERO..=POWER_MAX, needs plain;
        /// Constant power of a router of NoSSD with its buffers. No paper states this power. A drive with NoSSD draws about 1 % more than with Venice
        /// (Venice, ISCA 2023, section 6.4): 54 mW of 5.37 W, over 64 routers.
        buffered_router_power: Wattage = Wattage::from_uw(1_080), in Wattage::ZERO..=POWER_MAX, needs plain;
        /// Constant power of a flash controller. No paper states this power.
        controller_power: Wattage = Wattage::ZERO, in Wattage::ZERO..=POWER_MAX, needs plain;
    }
}
