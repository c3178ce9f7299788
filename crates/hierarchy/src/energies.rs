//! Checks that the energies and powers of a device are given together, because a missing value would count as
//! zero energy.

use crate::workbench::MODELS;
use nacre_kernel::event::{Completions, Payload, RequestId};
use nacre_kernel::{Activity, Op, Request, Streams, Time};
use nacre_testkit::Host;
use nacre_testkit::Workbench;

const BACKING: &str =
    "[device.backing]\nkind = \"measured\"\nread = \"1 ms\"\nwrite = \"1 ms\"\ncapacity = \"3 MiB\"\n";

#[test]
fn a_part_of_the_energies_is_an_error() {
    let code = "[device.ecc]\nkind = \"bch\"\nt = 1\n";
    let measured = "kind = \"measured\"\nread = \"10 us\"\nwrite = \"10 us\"\n";
    let pcm = "kind = \"pcm_disk_cache\"\ncapacity = \"64 KiB\"\n";
    let dram = "kind = \"dram_disk_cache\"\ncapacity = \"64 KiB\"\n";
    let flash = "kind = \"flash_disk_cache\"\nblocks = 64\n";
    for (device, given, missing, below) in [
        (measured, "read_energy = \"1 uJ\"", "write_energy", ""),
        (measured, "idle_power = \"1 W\"", "read_energy, write_energy", ""),
        ("kind = \"envy\"\n", "access_energy = \"1 nJ\"", "program_energy, erase_energy", ""),
        ("kind = \"onyx\"\n", "program_energy = \"1 nJ\"", "read_energy", ""),
        ("kind = \"onyx\"\n", "idle_power = \"1 W\"", "read_energy, program_energy", ""),
        (pcm, "write_energy = \"1 nJ\"", "read_energy", code),
        (flash, "active_power = \"1 W\"", "idle_power", code),
        (dram, "idle_power = \"1 W\"", "active_power", ""),
        (dram, "power_down_power = \"1 W\"", "active_power, idle_power", ""),
        (pcm, "", "encode_energy", &format!("{code}decode_energy = \"1 nJ\"\n")),
        (flash, "", "decode_energy", "[device.ecc]\nkind = \"ldpc\"\nencode_energy = \"1 nJ\"\n"),
    ] {
        let backing = if device == measured || !device.contains("cache") { "" } else { BACKING };
        let settings = format!("{device}{given}\n{below}{backing}");
        let problems = Workbench::new(MODELS, 1).build(&settings).err().expect(given).to_string();
        let expected = format!("energy also needs {missing}, given");
        assert!(problems.contains(&expected), "{given} of {device}: {problems}");
        assert!(problems.contains(&format!("also set {missing}")), "{problems}");
    }
}

/// Measures the coding energy of `cache`, whose encoding and decoding take 40 us each. Returns the energy
/// after a page write, the additional energy of a request 10 ms later, and the duration of this request.
/// With `failure`, a power loss interrupts this request at the time `failure` after its start.
fn coded(cache: &str, op: Op, failure: Option<Time>) -> (f64, f64, Time) {
    let code = "kind = \"bch\"\nt = 1\ndecode = \"40 us\"\nencode = \"40 us\"\ndecode_energy = \"8 nJ\"\nencode_energy = \"2 nJ\"\n";
    let built = Workbench::new(MODELS, 1)
        .with_bytes()
        .build(&format!("{cache}[device.ecc]\n{code}{BACKING}"))
        .unwrap_or_else(|problems| panic!("{cache}{problems}"));
    let mut host = Host::new(built);
    let energy = |host: &Host| {
        let resources = host.report().resources;
        let decoder = resources.into_iter().find(|resource| resource.name == "decoder").expect("a decoder");
        decoder.ledger.energy(Activity::Correct).0
    };
    let request = |op: Op| Request { arrival: Time::ZERO, address: 0, bytes: 2048, volume: 0, op };
    let data = |op: Op| if op == Op::Read { Payload::NONE } else { vec![7; 2048].into() };
    host.ask(Time::ZERO, request(Op::Write), data(Op::Write));
    let (before, begin) = (energy(&host), Time::from_ms(10));
    let Some(failure) = failure else {
        let done = host.ask(begin, request(op), data(op)).0;
        return (before, energy(&host) - before, done - begin);
    };
    host.run(begin);
    host.device.submit(begin, RequestId(0), &request(op), data(op));
    host.device.run(begin + failure, &mut Completions::new());
    host.device.power_fail(begin + failure, &mut Streams::new(1).stream("loss"));
    (before, energy(&host) - before, failure)
}

/// If a power loss interrupts decoding or encoding, only the energy of the completed portion is charged.
#[test]
fn a_code_takes_energy_until_the_power_fails() {
    let flash = "kind = \"flash_disk_cache\"\nblocks = 64\ndensity = \"slc\"\nbit_error_rate = 0\n";
    let pcm = "kind = \"pcm_disk_cache\"\ncapacity = \"64 KiB\"\nbit_error_rate = 0\nlookup = \"0 s\"\n";
    for cache in [flash, pcm] {
        let (encoded, decoded, read) = coded(cache, Op::Read, None);
        assert!(encoded > 0.0 && decoded > 0.0, "{cache}");
        for (before_end, share) in [(40_050, 0.0), (40_000, 0.0), (30_000, 0.25), (10_000, 0.75), (0, 1.0)] {
            let (_, energy, _) = coded(cache, Op::Read, Some(read - Time::from_ns(before_end)));
            assert!(
                (energy - share * decoded).abs() < 1e-15,
                "{energy} J {before_end} ns before the end: {cache}"
            );
        }
        for (after, share) in [(0, 0.0), (10, 0.25), (30, 0.75), (40, 1.0)] {
            let (_, energy, _) = coded(cache, Op::Write, Some(Time::from_us(after)));
            assert!((energy - share * encoded).abs() < 1e-15, "{energy} J after {after} us: {cache}");
        }
    }
}
