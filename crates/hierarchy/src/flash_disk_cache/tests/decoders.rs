//! Tests of caches with different numbers of decoders.

use super::{build, request, settings, submit};
use crate::workbench::MODELS;
use nacre_kernel::{Op, Streams, Time};
use nacre_testkit::{Workbench, assert_close};

/// Number of pages read.
const PAGES: u64 = 32;
/// Time that a page occupies its die.
const SENSE: Time = Time::from_ns(1);
const DECODE: Time = Time::from_us(30);

/// Mean wait in M/D/k divided by the service time, from Crommelin's series (1932) at a load `a` of `erlangs`.
/// The series is the sum over i = 1, 2, ... of P(N >= i k) - k / a P(N >= i k + 1), where N is Poisson with
/// mean i a.
fn mdk_wait(servers: u32, erlangs: f64) -> f64 {
    let term = |i: u32| {
        let (mean, least) = (f64::from(i) * erlangs, i * servers);
        let below = |end: u32| {
            let mut log_factorial = 0.0;
            let terms = (0..end).map(|n| {
                log_factorial += libm::log(f64::from(n.max(1)));
                libm::exp(f64::from(n) * libm::log(mean) - mean - log_factorial)
            });
            terms.sum::<f64>()
        };
        (1.0 - below(least)) - f64::from(servers) / erlangs * (1.0 - below(least + 1))
    };
    (1..).map(term).take_while(|&term| term > 1e-12).sum()
}

#[test]
fn crommelins_series_is_the_law_of_one_server() {
    for load in [0.3, 0.5, 0.8] {
        assert_close("M/D/1", mdk_wait(1, load), load / (2.0 * (1.0 - load)), 1e-6);
    }
}

/// Tests that the completion times of random reads equal those of an independently calculated schedule, to
/// the picosecond. In this schedule, each page uses the decoder that is free first. The mean wait for a
/// decoder equals the mean wait in an M/D/k queue.
#[test]
fn pages_wait_for_the_first_decoder_that_is_free() {
    for (decoders, load) in [(1, 0.5), (1, 0.8), (2, 0.8), (4, 0.5), (4, 0.8), (8, 0.8)] {
        let options = format!(
            "blocks = 64\nslots = 4\ndensity = \"slc\"\nwrite_region = \"0 %\"\nbit_error_rate = 0\ndies = 1\n\
             promotes = false\nslc_read = \"{SENSE}\"\ndecoders = {decoders}"
        );
        let mut device = build(&options, "kind = \"bch\"\nt = 2");
        let mut now = Time::ZERO;
        for page in 0..PAGES {
            now = submit(&mut device, now, Op::Read, page * 2048, 2048).0 + Time::from_ms(5);
        }
        let mut random = Streams::new(3).stream("arrivals");
        let mut die = Time::ZERO;
        let mut free = vec![Time::ZERO; decoders as usize];
        let (reads, mut expected) = (60_000, Vec::new());
        let between = DECODE.as_secs_f64() / (load * f64::from(decoders));
        for _ in 0..reads {
            now += Time::from_secs_f64(random.exponential() * between);
            let number = device.submit(now, request(Op::Read, random.below(PAGES) * 2048, 2048));
            die = die.max(now) + SENSE;
            let first = free.iter_mut().min().expect("there is a decoder");
            *first = die.max(*first) + DECODE;
            expected.push((number, *first));
        }
        let mut waited = 0.0;
        for (number, end) in expected {
            let done = device.wait(number);
            assert_eq!(done.at, end, "{decoders} decoders");
            waited += (done.latency - SENSE - DECODE).as_secs_f64();
        }
        let mean = waited / f64::from(reads) / DECODE.as_secs_f64();
        let name = format!("M/D/{decoders} at {load}");
        assert_close(&name, mean, mdk_wait(decoders, load * f64::from(decoders)), 0.05);
        let report = device.device.report(now);
        let decoder =
            report.resources.iter().find(|resource| resource.name == "decoder").expect("it is named");
        assert_eq!(decoder.servers, decoders);
        assert_close(&name, decoder.ledger.total_busy_s(), f64::from(reads) * DECODE.as_secs_f64(), 1e-9);
    }
}

/// The energy depends on the number of encoded and decoded pages, not on the number of decoders. The area is
/// the cell area plus the area of all decoders.
#[test]
fn decoders_take_area_and_pages_take_energy() {
    let code = "kind = \"bch\"\nt = 2\ndecode_energy = \"8 nJ\"\nencode_energy = \"2 nJ\"";
    for decoders in [1_u32, 4] {
        let options = format!(
            "blocks = 64\nslots = 4\ndensity = \"slc\"\nbit_error_rate = 0\narea = \"0.0081 um2/bit\"\n\
             decoder_area = \"1.5 mm2\"\ndecoders = {decoders}"
        );
        let mut device = build(&options, code);
        for read in 0..11 {
            submit(&mut device, Time::from_ms(5 * read), Op::Read, 0, 2048);
        }
        let report = device.report();
        let cells = 0.0081e-6 * (64 * 4 * 2048 * 8) as f64;
        assert_close("area", report.area_mm2.expect("it is given"), cells + 1.5 * f64::from(decoders), 1e-9);
        let decoder =
            report.resources.iter().find(|resource| resource.name == "decoder").expect("it is named");
        let energy: f64 = decoder.ledger.energy(nacre_kernel::Activity::Correct).0;
        assert_close("energy", energy, 10.0 * 2.0 * 8e-9 + 2e-9, 1e-9);
    }
}

#[test]
fn an_area_without_that_of_several_decoders_is_an_error() {
    for (given, problem, remedy) in [
        (
            "area = \"0.0081 um2/bit\"\ndecoders = 2",
            "the area of 2 decoders is not known",
            "give decoder_area too",
        ),
        ("decoder_area = \"1 mm2\"", "the area of the cells next to it is not known", "give area too"),
    ] {
        let toml = settings(&format!("blocks = 64\n{given}"), "kind = \"bch\"\nt = 1");
        let problems = Workbench::new(MODELS, 1).build(&toml).err().expect(given).to_string();
        assert!(problems.contains(problem) && problems.contains(remedy), "{problems}");
    }
}
