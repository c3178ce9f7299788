use crate::workbench::Workbench;
use nacre_kernel::{Activity, Device, Op, Request, Time, Trail};

fn device(toml: &str) -> Box<dyn Device> {
    Workbench::new(1).build(&format!("kind = \"measured\"\n{toml}")).expect("the test's device is legal")
}

fn request(op: Op, bytes: u32) -> Request {
    Request { arrival: Time::ZERO, address: 0, bytes, volume: 0, op }
}

fn latency_of(device: &mut dyn Device, now: Time, op: Op, bytes: u32) -> Time {
    device.submit(now, &request(op, bytes), &mut Trail::new()).done - now
}

#[test]
fn an_idle_device_takes_its_measured_latency() {
    let mut ssd = device("read = \"6.7 us\"\nwrite = \"128.3 us\"");
    assert_eq!(latency_of(&mut *ssd, Time::ZERO, Op::Read, 4096), Time::from_ps(6_700_000));
    assert_eq!(latency_of(&mut *ssd, Time::from_us(100), Op::Write, 512), Time::from_ps(128_300_000));
}

#[test]
fn the_units_of_a_large_request_share_the_servers() {
    let mut ssd = device("read = \"10 us\"\nwrite = \"20 us\"\nparallelism = 4");
    let mut trail = Trail::new();
    let done = ssd.submit(Time::ZERO, &request(Op::Read, 10 * 4096), &mut trail).done;
    assert_eq!(done, Time::from_us(30), "ten units on four servers take three rounds");
    assert_eq!(trail.segments()[0].activity, Activity::Queue);
    assert_eq!(trail.segments()[0].time, Time::from_us(20));
    assert_eq!(trail.total_from(0), done);
    assert_eq!(ssd.report(done).ledger.busy(Activity::Read), Time::from_us(100));
}
