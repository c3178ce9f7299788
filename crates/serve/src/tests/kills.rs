//! Tests that devices of every type, when killed and served again, behave like a device that was never
//! interrupted.

use super::{BARE_SSD, CACHED_DISK, ENVY, Folder, NoFiles, SHORT_ONYX, checked, served, tiers, us};
use crate::serving::Disk;
use nacre_kernel::{Op, Random, Streams, Time};
use nacre_memory::Step;
use nacre_memory::{NotTaken, PersistentDevice};

const CACHE: &str = "kind = \"server_cache\"\nlevel = [{ device = { preset = \"pcm_ssd\", capacity = \"1 MiB\" }, \
    policy = \"arc\" }]\nbacking = { preset = \"network_store\", capacity = \"2 MiB\" }";

/// Runs the same requests one by one on `disk` and `twin`, with some pauses, and compares the replies.
fn drive(disk: &Disk, twin: &mut PersistentDevice, now: &mut Time, random: &mut Random) {
    let reach = disk.export.bytes.min(1 << 20) / 512 - 32;
    for number in 0..120_u64 {
        let (address, bytes) = (random.below(reach) * 512, 512 * (1 + random.below(31)) as u32);
        let data = vec![number as u8 + 1; bytes as usize];
        // The last request is a write, because reads after it would be lost.
        let kind = if number == 119 { 9 } else { random.below(10) };
        let (said, expected) = match kind {
            0..3 => {
                let (mut one, mut other) = (vec![0; bytes as usize], vec![0; bytes as usize]);
                let said = disk.read_at(*now, address, &mut one);
                let expected = twin.read(said.now, address, &mut other);
                assert!(one == other, "request {number}");
                (said, expected)
            }
            3 => {
                let said = disk.ask_at(*now, Op::Trim, address, bytes);
                (said, change(twin, said.now, Step::Trim { address, bytes }))
            }
            4 => {
                let said = disk.ask_at(*now, Op::Flush, 0, 0);
                (said, change(twin, said.now, Step::Flush))
            }
            _ => {
                let said = disk.write_at(*now, address, &data);
                (said, change(twin, said.now, Step::Write { address, bytes: &data }))
            }
        };
        assert_eq!((said.done, said.status), (expected.done, expected.status), "request {number}");
        *now = said.done + if random.chance(0.7) { Time::ZERO } else { us(random.below(30)) };
    }
}

fn change(twin: &mut PersistentDevice, now: Time, step: Step<'_>) -> nacre_kernel::Completion {
    let done: Result<_, NotTaken> = twin.change(now, step);
    done.expect("it is in memory").completion
}

#[test]
fn every_device_goes_on_as_it_was_after_a_kill() {
    for stack in [CACHE, SHORT_ONYX, BARE_SSD, ENVY, CACHED_DISK, &tiers()] {
        let folder = Folder::new();
        let mut twin = PersistentDevice::in_memory(&checked(stack), &NoFiles).expect("it carries bytes");
        let mut random = Streams::new(11).stream("kills");
        let mut now = Time::ZERO;
        for life in 0..4 {
            // Dropping the server does not write to the image, which is equivalent to a kill.
            let disk = served(stack, &folder.image());
            disk.model().with(|device| {
                device.device().check_invariants();
                let at = device.until().max(twin.until());
                assert_eq!(device.device().report(at), twin.device().report(at), "counts and wear");
                now = now.max(device.until());
            });
            drive(&disk, &mut twin, &mut now, &mut random);
            if life == 2 {
                disk.model().close().expect("there is room");
            }
        }
        let disk = served(stack, &folder.image());
        let mut expected = vec![0; disk.export.bytes as usize];
        let mut at = twin.until();
        for (number, part) in expected.chunks_mut(1 << 16).enumerate() {
            at = twin.read(at, (number as u64) << 16, part).done;
        }
        assert!(disk.bytes() == expected, "{stack}");
    }
}

#[test]
fn an_image_is_opened_from_its_last_checkpoint_and_little_more() {
    // This is four times the maximum number of replayed reads, with some writes.
    let folder = Folder::new();
    let disk = served(&super::PLAIN.replace("10 us", "1 ns"), &folder.image());
    let mut now = us(1);
    let mut sector = [0; 512];
    for number in 0..1_600_000_u64 {
        now = disk.read_at(now, number % 100 * 512, &mut sector).done;
        if number % 400 == 0 {
            now = disk.write_at(now, number % 128 * 512, &number.to_le_bytes()).done;
        }
    }
    let (until, longest) = disk.model().with(|device| (device.until(), device.steps_since_checkpoint()));
    assert!(longest <= 400_001, "{longest} steps to be played back");
    drop(disk);
    let again = served(&super::PLAIN.replace("10 us", "1 ns"), &folder.image());
    let (found, steps) = again.model().with(|device| (device.until(), device.steps_since_checkpoint()));
    assert!(found <= until && steps <= longest, "{steps} steps were played back");
}
