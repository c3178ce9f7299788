mod events;

use crate::workbench::{Workbench, workbench};
use nacre_kernel::event::Device;
use nacre_kernel::{Activity, Energy, Op, Request, Span, Streams, Time};
use nacre_testkit::drive::poisson;
use nacre_testkit::oracle::Load;
use nacre_testkit::queueing::{md1_wait, mg1_wait, mm1_wait, mmc_wait};
use nacre_testkit::{Host, assert_close, closed_loop, open_loop, visits};

fn device(toml: &str) -> Box<dyn Device> {
    workbench(1).build(&format!("kind = \"measured\"\n{toml}")).expect("the test's device is legal")
}

fn request(op: Op, bytes: u32) -> Request {
    Request { arrival: Time::ZERO, address: 0, bytes, volume: 0, op }
}

fn host(toml: &str) -> Host {
    Host::new(device(toml))
}

/// Latencies of simultaneous requests.
fn latencies_of(host: &mut Host, now: Time, requests: &[(Op, u32)]) -> Vec<Time> {
    let numbers: Vec<usize> =
        requests.iter().map(|&(op, bytes)| host.submit(now, request(op, bytes))).collect();
    numbers.into_iter().map(|number| host.wait(number).latency).collect()
}

fn waited(spans: &[Span], activity: Activity) -> Time {
    spans.iter().filter(|span| span.activity == activity).fold(Time::ZERO, |sum, span| sum + span.time)
}

#[test]
fn an_idle_device_takes_its_measured_latency() {
    let mut ssd = host("read = \"6.7 us\"\nwrite = \"128.3 us\"");
    assert_eq!(ssd.latency(Time::ZERO, request(Op::Read, 4096)), Time::from_ps(6_700_000));
    assert_eq!(ssd.latency(Time::from_us(100), request(Op::Write, 512)), Time::from_ps(128_300_000));
}

#[test]
fn the_units_of_a_large_request_share_the_servers() {
    let mut ssd = host("read = \"10 us\"\nwrite = \"20 us\"\nparallelism = 4");
    let number = ssd.submit(Time::ZERO, request(Op::Read, 10 * 4096));
    let done = ssd.wait(number);
    assert_eq!(done.at, Time::from_us(30), "ten units on four servers take three rounds");
    assert_eq!(waited(&done.spans, Activity::Queue), Time::from_us(20));
    assert_eq!(ssd.device.report(done.at).busy_s(Activity::Read), 100e-6);
}

#[test]
fn a_shared_link_delays_only_where_it_is_busy() {
    let mut ssd = host(
        "read = \"10 us\"\nwrite = \"10 us\"\nparallelism = 8\nbandwidth = \"4096 MB/s\"\nunit = \"4 KiB\"",
    );
    let alone = ssd.latency(Time::ZERO, request(Op::Read, 4096));
    assert_eq!(alone, Time::from_us(10), "its transfer is in its latency");
    for (now, op) in [(100, Op::Read), (200, Op::Write)] {
        let latencies = latencies_of(&mut ssd, Time::from_us(now), &[(op, 4096); 4]);
        let expected = [10, 11, 12, 13].map(Time::from_us);
        assert_eq!(latencies, expected, "one microsecond of link each, one after the other");
    }
}

#[test]
fn a_link_slower_than_the_device_limits_its_bandwidth() {
    let mut ssd = device("read = \"10 us\"\nwrite = \"10 us\"\nparallelism = 32\nbandwidth = \"1 GB/s\"");
    let seen = closed_loop(&mut *ssd, 64, 20_000, |_| request(Op::Read, 4096));
    assert_close("bytes per second", seen.per_second() * 4096.0, 1e9, 0.01);
    let mut slow = host("read = \"1 us\"\nwrite = \"1 us\"\nbandwidth = \"1 GB/s\"");
    let number = slow.submit(Time::ZERO, request(Op::Read, 4096));
    let done = slow.wait(number);
    assert_eq!(done.at, Time::from_ns(4096), "the transfer takes longer than the latency");
    assert_eq!(waited(&done.spans, Activity::Link), Time::from_ns(3096));
}

#[test]
fn a_flush_waits_for_the_last_write_and_a_trim_for_nothing() {
    let mut ssd = host("read = \"1 us\"\nwrite = \"10 us\"\nflush = \"3 us\"\ntrim = \"2 us\"");
    ssd.submit(Time::ZERO, request(Op::Write, 4096));
    let latencies = latencies_of(&mut ssd, Time::from_us(4), &[(Op::Flush, 0), (Op::Trim, 4096)]);
    assert_eq!(latencies, [9, 2].map(Time::from_us));
    assert_eq!(ssd.latency(Time::from_us(40), request(Op::Flush, 0)), Time::from_us(3));
}

#[test]
fn energy_cost_and_lifetime_follow_from_the_counts() {
    let mut ssd = host(
        "read = \"10 us\"\nwrite = \"10 us\"\nread_energy = \"2 uJ\"\nwrite_energy = \"5 uJ\"\nidle_power = \"1 W\"\n\
         capacity = \"64 GiB\"\nprice = \"4 /GiB\"\nendurance = \"80 KiB\"",
    );
    latencies_of(&mut ssd, Time::ZERO, &[(Op::Read, 12 * 1024), (Op::Write, 8 * 1024)]);
    let report = ssd.device.report(Time::from_s(86_400));
    assert!((report.energy(Activity::Read).0 - 6e-6).abs() < 1e-18, "three units");
    assert!((report.energy(Activity::Write).0 - 10e-6).abs() < 1e-18, "two units");
    assert_eq!(report.idle_energy, Some(Energy(86_400.0)));
    assert_eq!(report.cost, Some(256.0));
    assert_eq!(report.lifetime_days, Some(10.0), "8 of 80 KiB in one day");
    let plain = device("read = \"1 us\"\nwrite = \"1 us\"\nprice = \"4 /GiB\"").report(Time::from_s(1));
    assert_eq!((plain.cost, plain.idle_energy, plain.lifetime_days), (None, None, None));
}

#[test]
fn servers_and_link_are_busy_apart() {
    let mut ssd = host("read = \"10 us\"\nwrite = \"10 us\"\nparallelism = 4\nbandwidth = \"4096 MB/s\"");
    ssd.latency(Time::ZERO, request(Op::Read, 4 * 4096));
    let report = ssd.device.report(Time::from_us(20));
    let found: Vec<_> = report
        .resources
        .iter()
        .map(|resource| (resource.name, resource.servers, resource.ledger.total_busy_s()))
        .collect();
    assert_eq!(found, [("servers", 4, 40e-6), ("link", 1, 4e-6)]);
    assert_eq!(report.resources[0].utilization(Time::from_us(20)), 0.5);
    assert_eq!(ssd.device.next_event(), Time::MAX, "it rests");
}

#[test]
fn energy_is_modeled_where_it_is_given() {
    let idle = device("read = \"1 us\"\nwrite = \"1 us\"\nread_energy = \"2 uJ\"\nwrite_energy = \"3 uJ\"");
    let idle = idle.report(Time::ZERO);
    assert!(idle.is_energy_modeled, "it knows what reads take, though there was none");
    assert!(!device("read = \"1 us\"\nwrite = \"1 us\"").report(Time::ZERO).is_energy_modeled);
}

#[test]
fn a_unit_is_a_sector_at_least() {
    let problem =
        workbench(1).build("kind = \"measured\"\nread = \"1 us\"\nwrite = \"1 us\"\nunit = \"1 B\"");
    assert!(problem.err().expect("it is refused").to_string().contains("512 B"));
}

/// Returns the mean wait of `count` reads with Poisson arrivals, and the mean wait according to the formula
/// `law`. The arguments of `law` are the actual arrival rate and the actual mean service time of these reads.
///
/// With actual instead of configured values, most of the random deviation cancels.
fn poisson_waits(toml: &str, lambda: f64, count: usize, law: impl Fn(f64, f64) -> f64) -> (f64, f64) {
    let mut ssd = device(toml);
    let arrivals: Vec<Time> = poisson(Streams::new(11).stream("arrivals"), lambda).take(count).collect();
    let seen =
        open_loop(&mut *ssd, arrivals.iter().map(|&arrival| Request { arrival, ..request(Op::Read, 4096) }));
    let drawn_lambda = count as f64 / arrivals[count - 1].as_secs_f64();
    let drawn_service = ssd.report(seen.end).busy_s(Activity::Read) / count as f64;
    assert_close("arrival rate", drawn_lambda, lambda, 0.01);
    assert_close("service", drawn_service, SERVICE_S, 0.01);
    (seen.mean_wait_s(), law(drawn_lambda, drawn_service))
}

const SERVICE_S: f64 = 10e-6;
const EXPONENTIAL: &str = "read = { kind = \"exponential\", mean = \"10 us\" }\nwrite = \"1 us\"";
const LOGNORMAL: &str =
    "read = { kind = \"lognormal\", mean = \"10 us\", deviation = \"5 us\" }\nwrite = \"1 us\"";

#[test]
fn poisson_arrivals_at_one_server_wait_as_queueing_theory_says() {
    // With higher load, the waits of more successive requests are correlated, so more requests are needed.
    for (rho, count) in [(0.3, 200_000), (0.5, 300_000), (0.8, 1_000_000)] {
        let lambda = rho / SERVICE_S;
        let (found, expected) = poisson_waits("read = \"10 us\"\nwrite = \"1 us\"", lambda, count, md1_wait);
        assert_close("M/D/1 wait", found, expected, 0.02);
        let (found, expected) = poisson_waits(EXPONENTIAL, lambda, count, mm1_wait);
        assert_close("M/M/1 wait", found, expected, 0.02);
        let law = |lambda, service| mg1_wait(lambda, service, service * service * 1.25);
        let (found, expected) = poisson_waits(LOGNORMAL, lambda, count, law);
        assert_close("M/G/1 wait", found, expected, 0.02);
    }
}

#[test]
fn poisson_arrivals_at_four_servers_wait_as_erlang_says() {
    for rho in [0.5, 0.8] {
        let toml = format!("{EXPONENTIAL}\nparallelism = 4");
        let law = |lambda, service| mmc_wait(4, lambda, service);
        let (found, expected) = poisson_waits(&toml, 4.0 * rho / SERVICE_S, 1_000_000, law);
        assert_close("M/M/4 wait", found, expected, 0.02);
    }
}

#[test]
fn requests_inside_are_arrival_rate_times_latency() {
    let (lambda, count) = (0.5 / SERVICE_S, 500_000);
    let arrivals: Vec<Time> = poisson(Streams::new(4).stream("arrivals"), lambda).take(count).collect();
    let requests = vec![request(Op::Read, 4096); count];
    let seen = visits(&mut *device(EXPONENTIAL), &requests, Load::Open(&arrivals));
    let mut events: Vec<(Time, i32)> =
        seen.iter().flat_map(|visit| [(visit.arrived, 1), (visit.done, -1)]).collect();
    events.sort();
    let (mut inside, mut area, mut last) = (0, 0.0, Time::ZERO);
    for (at, change) in events {
        area += f64::from(inside) * (at - last).as_secs_f64();
        (inside, last) = (inside + change, at);
    }
    assert_eq!(inside, 0, "all that came have left");
    let latency = SERVICE_S + mm1_wait(lambda, SERVICE_S);
    assert_close("requests inside", area / last.as_secs_f64(), lambda * latency, 0.02);
}

#[test]
fn a_closed_loop_is_bounded_by_its_depth_and_by_the_servers() {
    for parallelism in [1, 4, 32] {
        for depth in [1, 2, 8, 32, 64, 256] {
            let mut ssd = device(&format!("read = \"10 us\"\nwrite = \"1 us\"\nparallelism = {parallelism}"));
            let count = 200 * u64::from(depth.max(parallelism));
            let seen = closed_loop(&mut *ssd, depth, count, |_| request(Op::Read, 4096));
            let expected = f64::from(depth.min(parallelism)) / SERVICE_S;
            assert_close("requests per second", seen.per_second(), expected, 0.02);
            assert_close("latency", seen.mean_s(), f64::from(depth) / expected, 0.02);
        }
    }
}

/// Returns the mean latency of a cataloged device in microseconds, with one outstanding request. `read_share`
/// is the share of reads.
fn mean_us(ssd: &str, read_share: f64) -> f64 {
    let toml = Workbench::cataloged(ssd);
    let mut ssd = workbench(1).build(&toml).expect("the catalog is legal");
    let count = 100_000;
    let reads = (read_share * count as f64).round() as u64;
    let op = |number| if number < reads { Op::Read } else { Op::Write };
    closed_loop(&mut *ssd, 1, count, |number| request(op(number), 4096)).mean_s() * 1e6
}

/// Returns the position at which a straight line crosses zero, given its values at 0 and 1.
fn crossing(at_zero: f64, at_one: f64) -> f64 {
    at_zero / (at_zero - at_one)
}

#[test]
fn pcm_beats_emlc_above_the_read_fractions_kim_implies() {
    let pcm = include_str!("../../../../../catalog/devices/pcm_ssd.toml");
    let emlc = include_str!("../../../../../catalog/devices/emlc_ssd.toml");
    let difference = |weight_pcm: f64, weight_emlc: f64, share| {
        weight_pcm * mean_us(pcm, share) - weight_emlc * mean_us(emlc, share)
    };
    let faster = crossing(difference(1.0, 1.0, 0.0), difference(1.0, 1.0, 1.0));
    assert_eq!(format!("{faster:.4}"), "0.4738");
    // Requests per second and cost are 1 / (mean * price). Two devices are therefore equal if their products
    // price * mean are equal.
    let better_per_cost = crossing(difference(24.0, 6.0, 0.0), difference(24.0, 6.0, 1.0));
    assert_eq!(format!("{better_per_cost:.4}"), "0.8543");
    for (share, pcm_us, emlc_us) in
        [(0.5, 67.5, 72.55), (0.7, 43.18, 86.73), (0.8, 31.02, 93.82), (0.9, 18.86, 100.91)]
    {
        assert!((mean_us(pcm, share) - pcm_us).abs() < 1e-9, "PCM at {share} reads");
        assert!((mean_us(emlc, share) - emlc_us).abs() < 1e-9, "eMLC at {share} reads");
    }
    assert_close("reads are 16 times faster", mean_us(emlc, 1.0) / mean_us(pcm, 1.0), 108.0 / 6.7, 1e-9);
    assert_close("writes are 3.4 times slower", mean_us(pcm, 0.0) / mean_us(emlc, 0.0), 128.3 / 37.1, 1e-9);
}

/// Cost, idle energy in joules, and lifetime in days of a share of a drive of 8 GiB. `capacity` is the
/// capacity of the share. The host writes `bytes` bytes in 1,000 s.
fn bought(capacity: &str, bytes: u64) -> (f64, f64, f64) {
    let mut device = device(&format!(
        "capacity = \"{capacity}\"\ndrive = \"8 GiB\"\nread = \"10 us\"\nwrite = \"20 us\"\nidle_power = \"4 W\"\n\
         read_energy = \"1 uJ\"\nwrite_energy = \"1 uJ\"\n\
         endurance = \"40 TiB\"\nprice = \"2 /GiB\""
    ));
    let writes = (0..bytes / 4096).map(|number| Time::from_us(100 * number));
    open_loop(&mut *device, writes.map(|arrival| Request { arrival, ..request(Op::Write, 4096) }));
    let report = device.report(Time::from_us(1_000_000_000));
    let idle = report.idle_energy.expect("it has an idle power").0;
    (report.cost.expect("it has a price"), idle, report.lifetime_days.expect("it was written"))
}

#[test]
fn shares_of_a_drive_cost_idle_and_last_together_as_the_drive() {
    let (cost, idle, days) = bought("8 GiB", 64 << 20);
    assert_eq!((cost, idle), (16.0, 4_000.0));
    assert_close("40 TiB at 64 MiB in 1,000 s", days, (40 << 20) as f64 / 64.0 * 1_000.0 / 86_400.0, 1e-9);
    for (parts, capacity) in [(2, "4 GiB"), (8, "1 GiB"), (64, "128 MiB"), (256, "32 MiB")] {
        let (share_cost, share_idle, share_days) = bought(capacity, (64 << 20) / parts);
        assert_close("costs add up", share_cost * parts as f64, cost, 1e-9);
        assert_close("powers add up", share_idle * parts as f64, idle, 1e-9);
        assert_close("they are worn out together", share_days, days, 1e-6);
    }
    let (pair_cost, pair_idle, pair_days) = bought("16 GiB", 128 << 20);
    assert_eq!((pair_cost, pair_idle), (2.0 * cost, 2.0 * idle), "two drives");
    assert_close("they are worn out together", pair_days, days, 1e-9);
}

#[test]
fn a_share_says_what_part_of_a_drive_it_is() {
    let share = |settings: &str| {
        let device = device(&format!("read = \"10 us\"\nwrite = \"20 us\"\n{settings}"));
        device.report(Time::ZERO).drive_share
    };
    let part = share("capacity = \"1 GiB\"\ndrive = \"8 GiB\"");
    assert_eq!(part, Some(0.125));
    assert_eq!(share("capacity = \"1 GiB\""), None, "a drive of that size");
    assert_eq!(share("drive = \"8 GiB\""), None, "it serves every address, so its part is not known");
}
