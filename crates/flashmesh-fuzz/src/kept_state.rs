//! Fuzz target of kept states (stored states of preconditioned drives): the file of a state with damage, also with damaged numbers under a valid
//! checksum.

use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::LazyLock;
use std::thread;

use flashmesh::config::Config;
use flashmesh::ftl::PreparedDrives;
use flashmesh::ids::Lpn;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::states::StateFolder;
use flashmesh::units::Bytes;

use crate::choices::FuzzInput;

/// Small drive that is filled at random.
const DRIVE: &str = "\
precondition.kind = \"random\"
workload.requests = 20
workload.read-share = 0.3
[geometry]
channels = 1
chips-per-channel = 1
blocks-per-plane = 16
pages-per-block = 8
over-provisioning = 0.5
";
const LIMIT: Bytes = Bytes::new(1 << 30);
const COMPRESSION_LEVEL: i32 = 1;

/// Physical page of each logical page; `None` for an unmapped page.
type Pages = Vec<Option<u32>>;

/// The drive, with the undamaged file of its kept state and the locations of its pages.
struct Sound {
    config: Config,
    name: PathBuf,
    file: Vec<u8>,
    pages: Pages,
}

/// Folder of one thread, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let name = format!("flashmesh-fuzz-{}-{:?}", process::id(), thread::current().id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("the folder can be created");
        Folder(path)
    }

    fn drives(&self) -> PreparedDrives {
        PreparedDrives::default().without_sharing().with_folder(StateFolder::new(&self.0, LIMIT).with_writes_min(0))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs the drive to its end, which must succeed. Returns the location of each logical page before the run.
fn run(config: &Config, drives: &PreparedDrives) -> Pages {
    let mut simulation = Simulation::prepared(config, None, drives).expect("the drive can be built");
    simulation.ftl().audit().expect("the tables agree");
    let pages = (0..simulation.geometry().logical_pages).map(Lpn);
    let places = pages.map(|lpn| simulation.ftl().lookup(lpn).map(|ppn| ppn.0)).collect();
    simulation.enable_checks();
    simulation.run(&Control::default()).expect("the run has no violation");
    places
}

static SOUND: LazyLock<Sound> = LazyLock::new(|| {
    let config = Config::from_str(DRIVE, "drive.toml", &[]).expect("the configuration is valid");
    let folder = Folder::new();
    let pages = run(&config, &folder.drives());
    let entry = fs::read_dir(&folder.0).expect("the folder can be read").next().expect("a state is stored");
    let path = entry.expect("the entry can be read").path();
    let name = path.file_name().expect("the file has a name").into();
    let file = fs::read(path).expect("the state can be read");
    Sound { config, name, file, pages }
});

/// Returns the length of the two lines before the data.
fn head_length(file: &[u8]) -> usize {
    let ends = file.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
    ends.map(|(at, _)| at + 1).nth(1).expect("a state has two lines")
}

/// Changes, removes or doubles bytes.
fn damage(bytes: &mut Vec<u8>, choices: &mut FuzzInput<'_>) {
    for _ in 0..1 + choices.below(3) {
        if bytes.is_empty() {
            return;
        }
        let at = choices.number() as usize % bytes.len();
        let end = (at + 1 + choices.below(16)).min(bytes.len());
        match choices.below(6) {
            0 => bytes[at] ^= 1 << choices.below(8),
            1 => bytes[at] = choices.byte(),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => bytes.extend_from_within(at..end),
            _ => bytes[at..end].fill(choices.byte()),
        }
    }
}

/// Returns the file with damage: in half of the cases anywhere, otherwise in the two lines before the data.
fn damaged(sound: &[u8], choices: &mut FuzzInput<'_>) -> Vec<u8> {
    let (head, data) = sound.split_at(if choices.one_in(2) { sound.len() } else { head_length(sound) });
    let mut head = head.to_vec();
    damage(&mut head, choices);
    [&head, data].concat()
}

/// Returns the file with damaged numbers that the decoder accepts, because sizes and compression are made to fit. `None` if the file cannot be
/// recompressed.
fn forged(sound: &[u8], choices: &mut FuzzInput<'_>) -> Option<Vec<u8>> {
    let (head, data) = sound.split_at(head_length(sound));
    let mut numbers = zstd::decode_all(data).ok()?;
    damage(&mut numbers, choices);
    let before = data.len();
    let data = zstd::encode_all(numbers.as_slice(), COMPRESSION_LEVEL).ok()?;
    let head = String::from_utf8(head.to_vec()).ok()?;
    let (old, new) = (format!("\"compressed_bytes\":{before}"), format!("\"compressed_bytes\":{}", data.len()));
    Some([head.replace(&old, &new).into_bytes(), data].concat())
}

/// Checks that pages have the same locations with a damaged file of the kept state (stored state of a preconditioned drive) as with the
/// undamaged one: the drive is preconditioned anew if the damage affects the state. The checksum does not detect forged numbers, so with these
/// the drive is only built.
pub fn kept_state(bytes: &[u8]) {
    let sound = &*SOUND;
    let mut choices = FuzzInput::new(bytes);
    let folder = Folder::new();
    let path = folder.0.join(&sound.name);
    let drives = folder.drives();
    if choices.one_in(3) {
        let Some(file) = forged(&sound.file, &mut choices) else { return };
        fs::write(&path, &file).expect("the file can be written");
        let _ = Simulation::prepared(&sound.config, None, &drives).expect("the drive can be built");
        return;
    }
    let file = damaged(&sound.file, &mut choices);
    fs::write(&path, &file).expect("the file can be written");
    assert_eq!(run(&sound.config, &drives), sound.pages, "the state is made anew");
    // Damage in the description of the drive is not detected, because no run reads the description.
    assert!(!drives.take_warnings().is_empty() || fs::read(&path).is_ok_and(|now| now == file), "damage is a warning");
}
