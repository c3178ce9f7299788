//! Devices of every kind, killed and served again, against one that was never interrupted.

use super::{EMULATED, Folder, offer, opened, us};
use crate::model::{Asking, HostRequest};
use crate::server::Offer;
use crate::serving::Disk;
use nacre_kernel::{ComponentReport, Device, Op, Random, Streams, Time};
use nacre_machine::identity::identity;
use nacre_machine::{Checked, Document, Files, check};
use std::io::{self, BufRead};

struct NoFiles;

impl Files for NoFiles {
    fn text(&self, _file: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, _file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }
}

fn checked(stack: &str) -> Checked {
    let text = format!(
        "schema = 1\nname = \"test\"\n[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"4 KiB\"\n{stack}\n\
         [run]\nseed = 3\n"
    );
    check(&Document { text: &text, name: "test.toml", overrides: &[], seed: None }).expect("a scenario")
}

fn device(checked: &Checked) -> Box<dyn Device> {
    nacre_machine::stack::build(checked, &NoFiles).expect("it can be built").device
}

/// The next request of a host that writes more than it reads, mostly to one part.
fn next(random: &mut Random, capacity: u64) -> HostRequest {
    let bytes = [512, 4096, 4096, 4096, 16384, 65536][random.below(6) as usize];
    let reach = if random.chance(0.7) { capacity / 8 } else { capacity };
    let offset = random.below((reach - u64::from(bytes)) / 512 + 1) * 512;
    match random.below(20) {
        0 => HostRequest { op: Op::Flush, offset: 0, bytes: 0, forced: false },
        1 => HostRequest { op: Op::Trim, offset, bytes, forced: false },
        2..8 => HostRequest { op: Op::Read, offset, bytes, forced: false },
        draw => HostRequest { op: Op::Write, offset, bytes, forced: draw == 8 },
    }
}

/// What the device did until it has done all its work.
fn report(asking: &Asking) -> ComponentReport {
    asking.device().report(asking.device().busy_until())
}

/// Asks both the same and expects the same.
fn ask(disk: &Disk, twin: &mut Asking, came: &mut Time, random: &mut Random, requests: u32) {
    for number in 0..requests {
        let asked = next(random, disk.export.bytes);
        let HostRequest { op, offset, bytes, forced } = asked;
        let said = disk.ask_at(*came, op, offset, bytes, forced);
        let expected = twin.submit(said.now, asked);
        assert_eq!(said, expected, "request {number}: {asked:?}");
        // Some wait for their answer, some come at once, and now and then nobody asks for a while.
        *came = match random.below(10) {
            0 => said.done + us(random.below(20_000)),
            1..6 => said.done,
            _ => said.now + Time::from_ps(random.below(50_000_000)),
        };
    }
}

/// Kills the server of `stack` three times.
fn survives_kills(stack: &str, requests: u32) {
    let checked = checked(stack);
    let folder = Folder::new();
    let open = || {
        let identity = identity(&checked);
        let offer = Offer { identity, ..offer(device(&checked), &folder.image()) };
        opened(offer, EMULATED).expect("it was served before").0
    };
    let mut twin = Asking::new(device(&checked));
    let mut random = Streams::new(11).stream("replay");
    let mut came = Time::ZERO;
    for _ in 0..3 {
        // Dropping it does no more than a kill does: nothing is written then.
        let disk = open();
        assert_eq!(disk.model.report(), report(&twin), "counts and wear");
        assert!(disk.model.now() >= twin.device().busy_until(), "its time goes on after all its work");
        came = came.max(disk.model.now());
        ask(&disk, &mut twin, &mut came, &mut random, requests);
        assert_eq!(disk.model.report(), report(&twin));
    }
    assert_eq!(open().model.report(), report(&twin));
}

#[test]
fn an_ssd_with_cleaning_and_a_cached_mapping_table_goes_on_as_it_was() {
    survives_kills(
        "[stack]\npreset = \"tlc_nvme\"\nchannels = 2\nways = 1\nplanes = 1\nblocks = 40\nspare_blocks = 0\npages = 12\n\
         factory_bad = \"0 %\"\nbuffer = \"256 KiB\"\nmapping_cache = \"4 KiB\"\nover_provisioning = \"30 %\"",
        700,
    );
}

#[test]
fn a_server_cache_goes_on_as_it_was() {
    survives_kills(
        "[stack]\nkind = \"server_cache\"\n[[stack.level]]\ndevice = { preset = \"pcm_ssd\", capacity = \"1 MiB\" }\n\
         policy = \"arc\"\n[stack.backing]\npreset = \"network_store\"\ncapacity = \"16 MiB\"",
        500,
    );
}

#[test]
fn tiers_that_move_extents_go_on_as_they_were() {
    survives_kills(
        "[stack]\nkind = \"tiers\"\ncapacity = \"64 MiB\"\nextent = \"1 MiB\"\n\
         placement = { kind = \"dynamic\", epoch = \"500 ms\" }\n\
         [[stack.tier]]\nshare = \"25 %\"\ndevice = { preset = \"pcm_ssd\" }\n\
         [[stack.tier]]\nshare = \"75 %\"\ndevice = { preset = \"disk_15k_kim\" }",
        300,
    );
}

#[test]
fn onyx_goes_on_as_it_was() {
    survives_kills(
        "[stack]\npreset = \"onyx\"\nchip = \"256 KiB\"\ncontrollers = 2\nwear_levelling = { kind = \"start_gap\", interval = 3, randomise = true }",
        500,
    );
}

#[test]
fn envy_goes_on_as_it_was() {
    survives_kills(
        "[stack]\npreset = \"envy_2gb\"\nsegments = 16\nsegment = \"256 KiB\"\nbuffer = \"64 KiB\"",
        150,
    );
}

#[test]
fn a_disk_goes_on_as_it_was() {
    survives_kills("[stack]\npreset = \"disk_15k\"\ncapacity = \"1 GiB\"", 500);
}
