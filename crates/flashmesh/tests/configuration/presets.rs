//! Presets compared with the tables of the papers: capacity, parallelism and latencies.

use flashmesh::config::{Allocation, Config, DieStart, Geometry, MultiPlane, Revisits, Suspension};
use flashmesh::units::{Bytes, Rate, Time};

fn preset(name: &str) -> Config {
    Config::from_preset(name).unwrap_or_else(|error| panic!("{error}"))
}

fn dies(geometry: &Geometry) -> u32 {
    geometry.channels * geometry.chips_per_channel * geometry.dies_per_chip
}

fn raw_bytes(geometry: &Geometry) -> u64 {
    u64::from(dies(geometry))
        * u64::from(geometry.planes_per_die)
        * u64::from(geometry.blocks_per_plane)
        * u64::from(geometry.pages_per_block)
        * geometry.page_size.as_u64()
}

fn page_on_channel(config: &Config) -> Time {
    config.fabric.channel_rate.time_for(config.geometry.page_size)
}

const TIB: u64 = 1 << 40;
const GIB: u64 = 1 << 30;

#[test]
fn every_preset_is_valid_and_can_be_written_in_full() {
    assert_eq!(Config::presets().len(), 11);
    for preset in Config::presets() {
        let config = Config::from_preset(preset.name).unwrap_or_else(|error| panic!("{error}"));
        config.validate().unwrap_or_else(|error| panic!("{error}"));
        let again = Config::from_str(&config.to_toml(), "canonical", &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again, config, "{}", preset.name);
        let named = Config::from_str(&format!("preset = \"{}\"", preset.name), "drive.toml", &[]).unwrap();
        assert_eq!(named, config, "{}", preset.name);
        assert!(!preset.summary.is_empty() && !preset.summary.contains('\n'));
    }
}

#[test]
fn a_former_name_is_the_same_drive_with_a_note_that_says_the_new_one() {
    let renamed: Vec<_> = Config::presets().iter().filter_map(|one| Some((one.former_name?, one.name))).collect();
    assert_eq!(renamed, [("z-nand", "venice-z-nand"), ("pm9a3", "venice-pm9a3")]);
    for (former, name) in renamed {
        let read = |name: &str, overrides: &[String]| {
            let text = if overrides.is_empty() { format!("preset = \"{name}\"") } else { String::new() };
            Config::from_str_with_jobs(&text, "drive.toml", &[], overrides).unwrap()
        };
        let now = read(name, &[]);
        assert!(now.notes.is_empty());
        let overridden = read(former, &[format!("preset={former}")]);
        for old in [read(former, &[]), overridden] {
            assert_eq!((&old.config, old.config.hash()), (&now.config, now.config.hash()));
            let [note] = old.notes.as_slice() else { panic!("{:?}", old.notes) };
            assert!(note.contains(&format!("the preset {former} is called {name} now")), "{note}");
        }
        assert_eq!(preset(former), now.config);
    }
}

#[test]
fn every_value_of_a_preset_states_its_source() {
    for preset in Config::presets() {
        assert!(preset.text.lines().filter(|line| line.contains(" = ")).count() > 5, "{}", preset.name);
        for line in preset.text.lines().filter(|line| line.contains(" = ")) {
            let (_, source) = line.split_once('#').unwrap_or_else(|| panic!("{}: no source: {line}", preset.name));
            let states = source.starts_with(" ... ")
                || ["Table", "section", "[choice]", "[fitted]", "data sheet"].iter().any(|word| source.contains(word));
            assert!(states || line.starts_with('#'), "{}: no source: {line}", preset.name);
        }
    }
}

#[test]
fn the_fast_drive_of_venice_is_the_default() {
    let config = preset("venice-z-nand");
    // Only `venice.revisits` differs. The Venice paper allows a scout three revisits of a router (footnote 5). By default a scout leaves a
    // router only over unused ports, because a flood fill can then predict each step.
    let mut standard = Config::default();
    standard.venice.revisits = Revisits::ThreeTimes;
    assert_eq!(config, standard);
    assert_eq!(raw_bytes(&config.geometry), 412_316_860_416);
    assert_eq!(config.flash.read_time, Time::from_us(3));
    assert_eq!(config.flash.program_time, Time::from_us(100));
    assert_eq!(config.flash.erase_time, Time::from_ms(1));
    assert_eq!(config.host.link_rate, Rate::from_bytes_per_second(8_000_000_000));
}

#[test]
fn the_slow_drive_of_venice_has_a_terabyte() {
    let config = preset("venice-pm9a3");
    assert_eq!(raw_bytes(&config.geometry), TIB);
    assert_eq!(config.geometry.blocks_per_plane * config.geometry.planes_per_die, 1024);
    assert_eq!(config.flash.read_time, Time::from_us(45));
    assert_eq!(config.flash.program_time, Time::from_us(650));
    assert_eq!(config.flash.erase_time, Time::from_us(3_500));
}

#[test]
fn enterprise_slc_has_chips_of_32_gib() {
    let config = preset("enterprise-slc");
    assert_eq!(raw_bytes(&config.geometry), 64 * 32 * GIB);
    assert_eq!(dies(&config.geometry), 512);
    assert_eq!(config.geometry.page_spare, Bytes::new(224));
    assert_eq!(config.geometry.over_provisioning, 0.3);
    assert_eq!(config.gc.background_threshold, 0.4);
    assert_eq!(config.ftl.allocation, Allocation::FreeChannel);
    assert_eq!(config.flash.die_start, DieStart::Together);
    assert_eq!(config.flash.multi_plane, MultiPlane::SameBlockAndOffset);
    assert_eq!(page_on_channel(&config), Time::from_ns(5 * 4096), "5 ns per byte");
}

#[test]
fn enterprise_slc_comes_in_the_other_shape_too() {
    let overrides = ["geometry.channels=4".to_owned(), "geometry.chips-per-channel=16".to_owned()];
    let config = Config::from_str("preset = \"enterprise-slc\"", "drive.toml", &overrides).unwrap();
    assert_eq!(raw_bytes(&config.geometry), 64 * 32 * GIB);
}

#[test]
fn nossd12_has_packages_of_4_gib() {
    let config = preset("nossd12");
    assert_eq!(raw_bytes(&config.geometry), 16 * 4 * GIB);
    assert_eq!(page_on_channel(&config), Time::from_ns(25 * 4096 / 2), "two bytes per 25 ns");
    let overrides = ["geometry.chips-per-channel=8".to_owned(), "geometry.dies-per-chip=8".to_owned()];
    let config = Config::from_str("preset = \"nossd12\"", "drive.toml", &overrides).unwrap();
    assert_eq!(raw_bytes(&config.geometry), 32 * 8 * GIB);
}

#[test]
fn mbm_moves_a_byte_in_10_ns() {
    let config = preset("mbm");
    assert_eq!(dies(&config.geometry), 16);
    assert_eq!(page_on_channel(&config), Time::from_ns(10 * 8192));
    assert_eq!(config.flash.command_time, Time::from_ns(70));
    assert_eq!(config.flash.erase_time, Time::from_ms(15));
    assert_eq!(config.flash.suspension, Suspension::Off, "the FTLs compared with MBM have no suspension");
    assert_eq!(config.mbm.suspension, Suspension::Both);
}

#[test]
fn collisions_has_a_terabyte_on_16_dies() {
    let config = preset("collisions");
    assert_eq!(raw_bytes(&config.geometry), TIB);
    assert_eq!(dies(&config.geometry), 16);
    assert_eq!(config.geometry.page_spare, Bytes::from_kib(2));
    assert_eq!(config.geometry.over_provisioning, 0.07);
    assert_eq!(config.flash.suspend_time, Time::from_us(50));
    assert_eq!(config.fabric.channel_rate, Rate::from_bytes_per_second(1_000_000_000));
    assert_eq!(config.host.link_rate, Rate::from_bytes_per_second(3_940_000_000));
}
