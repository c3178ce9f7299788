//! Tests of power losses. The tests for all frame caches are in [frames](crate::frames).

mod modes;
mod naive;
mod tables;

use crate::workbench::MODELS;
use nacre_kernel::event::Payload;
use nacre_kernel::{Op, Request, Status, Streams, Time};
use nacre_testkit::Host;
use nacre_testkit::{Workbench, keeps_its_bytes};

const STORE: &str =
    "kind = \"measured\"\nread = \"100 us\"\nwrite = \"200 us\"\nparallelism = 8\ncapacity = \"3 MiB\"\n";
const BCH: &str = "ecc = { kind = \"bch\", t = 2, crc32 = true, decode = \"10 ns\" }";

fn toml(options: &str) -> String {
    format!("kind = \"pcm_disk_cache\"\ncapacity = \"64 KiB\"\n{options}\n[device.backing]\n{STORE}")
}

#[test]
fn power_losses_anywhere_break_no_guarantee() {
    // The settings move frames often.
    let moving =
        format!("wear_leveling = {{ kind = \"start_gap\", interval = 2 }}\nendurance = 100000\n{BCH}");
    let hot = format!("{BCH}\ncontroller = {{ promotes_at = 2 }}");
    let dram = format!("{BCH}\ntables = \"dram\"\nupdate = \"7 us\"");
    let moving_hot = format!("{moving}\ncontroller = {{ promotes_at = 2 }}");
    for options in [BCH, "page = \"1 KiB\"\nbanks = 1\necc = \"none\"", &moving, &hot, &moving_hot, &dram] {
        let crashes = keeps_its_bytes(Workbench::new(MODELS, 1), &toml(options), 400);
        assert!(
            crashes.points() > 30 && crashes.restarts > 4 && crashes.branches["stale_blocks"] > 3,
            "{crashes:?}"
        );
    }
}

/// A power loss undoes the rewrite of a lost page. The page remains lost, and the older version in the
/// backing does not reappear.
#[test]
fn a_lost_page_whose_new_write_is_undone_stays_lost() {
    const PAGE: u64 = 8192;
    let options = "page = \"8 KiB\"\nbanks = 1\nendurance = 20\nendurance_spread = 1.0\nbit_error_rate = 0.00001\n\
         ecc = { kind = \"crc32\" }";
    let mut host =
        Host::new(Workbench::new(MODELS, 1).with_bytes().build(&toml(options)).expect("it is legal"));
    let request = |op: Op, page: u64| {
        let (address, bytes) = (page * PAGE, PAGE as u32);
        Request { arrival: Time::ZERO, address, bytes, volume: 0, op }
    };
    let filled = |with: u64| Payload::from(vec![with as u8; PAGE as usize]);
    let mut random = Streams::new(2).stream("pages");
    let mut undone = 0;
    for number in 0..2_000_u64 {
        let (written, wanted) = (random.below(12), random.below(12));
        let mut now = host.ask(host.now, request(Op::Write, written), filled(number)).0;
        now = host.ask(now, request(Op::Read, wanted), Payload::NONE).0;
        let mut lost = None;
        for key in 0..12 {
            let (at, status, _) = host.ask(now, request(Op::Read, key), Payload::NONE);
            now = at;
            lost = lost.or((status == Status::MediaError).then_some(key));
        }
        host.rest();
        let Some(key) = lost else { continue };
        // Writing a ninth page evicts the least recently used page, which is this page.
        now = host.now;
        for key in [key].into_iter().chain(20..28) {
            host.submit_with(now, request(Op::Write, key), filled(number));
        }
        host.run(now + Time::from_ns(1));
        host.device.power_fail(now + Time::from_ns(1), &mut Streams::new(number).stream("loss"));
        let ready = host.device.recover(now + Time::from_ms(1)).done;
        let (at, status, _) = host.ask(ready, request(Op::Read, key), Payload::NONE);
        assert_eq!(status, Status::MediaError, "page {key}, {number} writes in");
        host.ask(at, request(Op::Write, key), filled(number));
        host.rest();
        undone += 1;
    }
    assert!(undone > 20, "{undone} pages were lost");
}
