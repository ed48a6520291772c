//! The presets: configuration files that are compiled into the program.

/// A named configuration that other configurations start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name for `preset = "..."`.
    pub name: &'static str,
    /// The former name, which is still accepted; `None` if the preset was never renamed.
    pub former_name: Option<&'static str>,
    /// The description, in one line.
    pub summary: &'static str,
    /// The text of the file, which states the source of each value.
    pub text: &'static str,
}

/// Embeds a file of the presets folder.
macro_rules! preset {
    ($name:literal, $summary:literal) => {
        preset!($name, None, $summary)
    };
    ($name:literal, formerly $former:literal, $summary:literal) => {
        preset!($name, Some($former), $summary)
    };
    ($name:literal, $former:expr, $summary:literal) => {
        Preset {
            name: $name,
            former_name: $former,
            summary: $summary,
            text: include_str!(concat!("presets/", $name, ".toml")),
        }
    };
}

/// All presets: one file in the presets folder and one line here each.
pub(super) const PRESETS: &[Preset] = &[
    preset!(
        "venice-z-nand",
        formerly "z-nand",
        "Performance-optimized drive of Venice (ISCA 2023), named Z-NAND there: 8 x 8 chips, tR 3 us"
    ),
    preset!(
        "venice-pm9a3",
        formerly "pm9a3",
        "Cost-optimized drive of Venice (ISCA 2023), named PM9A3 there: 8 x 8 chips of TLC, tR 45 us"
    ),
    preset!(
        "enterprise-slc",
        "2 TiB of SLC with 30 % spare, from Design for Scalability in Enterprise SSDs (PACT 2014)"
    ),
    preset!("nossd12", "4 x 4 packages on a slow 16-bit bus, from Network-on-SSD (IEEE CAL 2012)"),
    preset!("mbm", "4 x 2 chips of TLC with long programs, from Maximizing Bandwidth Management FTL"),
    preset!(
        "samsung-pm9a3",
        "Samsung PM9A3 960 GB as it was measured: 4 KiB units, word lines of dies, a protected write buffer"
    ),
    preset!(
        "sk-hynix-pe8110",
        "SK Hynix PE8110 960 GB as it was measured: like the PM9A3, with commands in order behind a full buffer and moved pages in blocks of their own"
    ),
    preset!(
        "solidigm-p5520",
        "Solidigm D7-P5520 1.92 TB as it was measured: like the PM9A3, with dies of twice the capacity"
    ),
    preset!("kioxia-cm7-r", "Kioxia CM7-R 3.84 TB as it was measured: like the PM9A3, with 64 dies and PCIe 5.0"),
    preset!(
        "samsung-980-pro",
        "Samsung 980 PRO 1 TB as it was measured: a client drive of 16 dies with a static SLC cache"
    ),
    preset!("collisions", "1 TB of TLC on 16 dies, from Patterned Read Collisions in Flash SSDs (IEEE Access)"),
];

/// Returns the preset with this name or former name; `None` if there is none.
pub(super) fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name || preset.former_name == Some(name))
}
