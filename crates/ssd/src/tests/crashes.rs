//! Tests of data after power losses, in drives that are so small that garbage collection runs continuously.

use super::driven::Driven;
use super::*;
use nacre_kernel::event::Payload;
use nacre_kernel::{Status, ZoneCommand};
use nacre_testkit::durability;

/// Returns the settings of `drive`, with `settings` added or replaced.
fn with(drive: &str, settings: &str) -> String {
    let kept = drive.lines().filter(|line| {
        let name = line.split('=').next();
        !settings.lines().any(|given| given.split('=').next() == name)
    });
    kept.chain(settings.lines()).collect::<Vec<&str>>().join("\n")
}

fn keeps_its_bytes(drive: &str, settings: &str) {
    let text = with(drive, settings);
    for pause in [20, 100, 400, 2_000].map(Time::from_us) {
        let build = || {
            let device = workbench(1).with_bytes().build(&text);
            device.unwrap_or_else(|problems| panic!("{problems}"))
        };
        let kept = std::panic::catch_unwind(|| durability(pause, build));
        assert!(kept.is_ok(), "with {settings}, pauses of {pause}");
    }
}

/// Returns the settings of a drive of two dies with superblocks of 64 units.
fn tiny(blocks: u32, spare_blocks: u32) -> String {
    // The flash is slightly larger than the data and the reserve of four superblocks.
    let spare = blocks * 100 / (blocks - spare_blocks - 4) - 100 + 5;
    format!(
        "kind = \"ssd\"\nblocks = {blocks}\nspare_blocks = {spare_blocks}\nchannels = 2\nways = 1\npages = 32\npage = \"512 B\"\nunit = \"512 B\"\n\
         read = [\"50 us\"]\nprogram = [\"500 us\", \"900 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\n\
         link = \"1 GB/s\"\nover_provisioning = \"{spare} %\"\nbuffer = \"4 KiB\""
    )
}

fn flash(blocks: u32, spare_blocks: u32, settings: &str) {
    keeps_its_bytes(&tiny(blocks, spare_blocks), settings);
}

#[test]
fn a_flash_drive_keeps_its_bytes() {
    flash(11, 0, "power_protected = true");
    flash(11, 0, "power_protected = false");
    flash(
        11,
        0,
        "planes = 2\nbuffer = \"8 KiB\"\nbuffer_kept = \"50 %\"\npower_protected = false\n\
         scheduling = { kind = \"suspension\", suspend = \"20 us\" }\ngarbage_collection.wear_spread = 2\ngarbage_collection.policy = \"fifo\"",
    );
    flash(11, 0, "buffer = \"32 KiB\"\npower_protected = false\nerases_at_once = 1\nprograms_at_once = 1");
}

#[test]
fn a_flash_drive_that_fills_each_plane_by_itself_keeps_its_bytes() {
    let drive = "kind = \"ssd\"\nblocks = 11\nchannels = 2\nways = 1\nunit = \"512 B\"\n\
         read = [\"50 us\"]\nprogram = [\"500 us\", \"900 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\n\
         link = \"1 GB/s\"\nover_provisioning = \"62 %\"\nplanes = 2\npages = 32\npage = \"1 KiB\"\n\
         buffer = \"8 KiB\"\npower_protected = false";
    for settings in [
        "allocation = \"static\"",
        "allocation = { kind = \"static\", order = \"pwc\" }\ngarbage_collection.wear_spread = 2\nscheduling = { kind = \"suspension\", suspend = \"20 us\" }",
        "allocation = { kind = \"static\", order = \"pcw\" }\nregisters = 1\nbuffer_places = \"pool\"",
        "allocation = \"dynamic\"\nbuffer_kept = \"50 %\"\nerases_at_once = 1",
        "allocation = \"dynamic\"\npower_protected = true\nmulti_plane = false",
        "allocation = { kind = \"static\", copyback = true }\npower_protected = true\nunit = \"1 KiB\"\npages = 64",
    ] {
        keeps_its_bytes(drive, settings);
    }
}

#[test]
fn a_flash_drive_with_a_mapping_in_flash_keeps_its_bytes() {
    let mapping = "mapping = { kind = \"cached_pages\", size = \"1 KiB\", entry = \"4 B\" }";
    flash(12, 0, &format!("{mapping}\npower_protected = false\nqueue = {{ kind = \"shared\", depth = 4 }}"));
    flash(12, 0, &format!("{mapping}\nbuffer_kept = \"25 %\""));
}

/// Expected state of a zone: the tags of its units, and the request in progress. A request writes additional
/// units or resets the zone.
#[derive(Clone, Default)]
struct Known {
    tags: Vec<u8>,
    asked: Option<(usize, Option<Vec<u8>>)>,
}

impl Known {
    /// Applies a request to the expected state. `None` means a reset.
    fn settle(&mut self, wanted: Option<Vec<u8>>) {
        match wanted {
            Some(tags) => self.tags.extend(tags),
            None => self.tags.clear(),
        }
    }

    /// Applies the requests that completed without a rejection to the expected state.
    fn take_completed(&mut self, device: &Driven) {
        let Some((number, wanted)) = self.asked.take() else { return };
        let answer = device.seen(number);
        if answer.done == Time::MAX {
            self.asked = Some((number, wanted));
        } else if answer.status == Status::Done {
            self.settle(wanted);
        }
    }
}

const UNIT: u64 = 512;

/// Writes and resets zones, with power losses at events or between events. Completed requests must persist.
/// An incomplete write may persist up to any unit.
fn zones_keep_their_bytes(settings: &str, seed: u64, pause: Time) {
    let device = workbench(1).with_bytes().build(&with(&tiny(11, 0), settings));
    let mut device = Driven::of(device.unwrap_or_else(|problems| panic!("{problems}")));
    let mut random = Streams::new(seed).stream("zones");
    let zone = |device: &Driven, address| device.device.zones().expect("it has zones").zone(address);
    let bytes = zone(&device, 0).end;
    let count = device.device.capacity().expect("it has one").0 / bytes;
    let mut known = vec![Known::default(); count as usize];
    for _ in 0..200 {
        for _ in 0..random.below(40) {
            device.run_to(device.now + Time::from_ps(random.below(pause.as_ps())));
            let number = random.below(count.min(3));
            let of = &mut known[number as usize];
            of.take_completed(&device);
            let (written, left) = (of.tags.len() as u64, bytes / UNIT - of.tags.len() as u64);
            if of.asked.is_some() {
                continue;
            }
            let address = number * bytes + written * UNIT;
            let (request, wanted) = if left == 0 || random.chance(0.05) {
                (Request { address: number * bytes, bytes: bytes as u32, ..unit(Op::Trim, 0) }, None)
            } else {
                let tags = vec![1 + random.below(255) as u8; left.min(1 + random.below(8)) as usize];
                let bytes = (tags.len() as u64 * UNIT) as u32;
                (Request { address, bytes, ..unit(Op::Write, 0) }, Some(tags))
            };
            let data = wanted.iter().flatten().flat_map(|&tag| [tag; UNIT as usize]).collect::<Vec<u8>>();
            let data = if wanted.is_some() { Payload::from(data) } else { Payload::NONE };
            let (zone, wants_append) = (number * bytes, wanted.is_some() && random.chance(0.5));
            let id = if wants_append {
                let append = Request { address: zone, ..request };
                device.submit_command(device.now, ZoneCommand::Append, &append, data)
            } else {
                device.submit_data(device.now, &request, data)
            };
            of.asked = Some((id, wanted));
            if random.chance(0.1) {
                // Neither command changes data, and either may be rejected.
                let asked = if random.chance(0.5) { ZoneCommand::Open } else { ZoneCommand::Close };
                let request = Request { address: zone, bytes: 0, ..unit(Op::Trim, 0) };
                device.submit_command(device.now, asked, &request, Payload::NONE);
            }
        }
        let next = device.device.next_event();
        let at = if next < Time::MAX && random.chance(0.5) { next } else { device.now };
        device.run_to(at);
        known.iter_mut().for_each(|of| of.take_completed(&device));
        let ready = device.fail(at).done;
        device.run_to(ready);
        for (number, of) in (0..).zip(&mut known) {
            let found = ((zone(&device, number * bytes).write_pointer - number * bytes) / UNIT) as usize;
            match of.asked.take() {
                Some((_, None)) if found == 0 => of.tags.clear(),
                Some((_, Some(tags))) if found > of.tags.len() => {
                    let more = found - of.tags.len();
                    assert!(more <= tags.len(), "zone {number} holds more than was written");
                    of.tags.extend(&tags[..more]);
                }
                _ => {}
            }
            assert_eq!(found, of.tags.len(), "units of zone {number}, {settings}");
            for (place, &tag) in (0..).zip(&of.tags) {
                let address = number * bytes + place * UNIT;
                let read =
                    device.ask(device.now, &Request { address, bytes: UNIT as u32, ..unit(Op::Read, 0) });
                let data = read.data.bytes().expect("a read returns bytes");
                assert!(data.iter().all(|&byte| byte == tag), "unit {place} of zone {number}, {settings}");
            }
        }
        device.check_invariants();
    }
}

#[test]
fn a_flash_drive_with_zones_keeps_its_bytes() {
    for settings in [
        "kind = \"zns_ssd\"\nactive_zones = 2",
        "blocks = 12\nbuffer = \"8 KiB\"\nkind = \"zns_ssd\"\nzone_superblocks = 2\nactive_zones = 3\nopen_zones = 1\nbuffer_places = \"pool\"",
        "planes = 2\nscheduling = { kind = \"suspension\", suspend = \"20 us\" }\nerases_at_once = 1\nkind = \"zns_ssd\"\nactive_zones = 1",
        "planes = 2\nbuffer = \"8 KiB\"\nkind = \"zns_ssd\"\nzone_dies = 1\nactive_zones = 3\nopen_zones = 2",
    ] {
        for seed in 0..3 {
            for pause in [20, 200, 2_000].map(Time::from_us) {
                zones_keep_their_bytes(settings, seed, pause);
            }
        }
    }
}
