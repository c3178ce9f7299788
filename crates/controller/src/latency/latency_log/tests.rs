use crate::latency::tests::latency;
use crate::workbench::workbench;
use nacre_kernel::Time;

const LOG: &str =
    "0, 6700, 0, 4096, 0\n0, 128300, 1, 4096, 4096, 0\n1, 7000, 0, 4096, 8192\n1, 9000, 0, 512, 0\n\n";

fn drawn(options: &str) -> Result<(Vec<Time>, f64), String> {
    let value = format!("{{ kind = \"latency_log\", file = \"x_clat.1.log\", {options} }}");
    let mut bench = workbench(5).file("x_clat.1.log", LOG);
    let mut latency = latency(&mut bench, &value).map_err(|problems| problems.to_string())?;
    let mut values: Vec<Time> = (0..1000).map(|_| latency.draw()).collect();
    values.sort();
    values.dedup();
    Ok((values, latency.mean_s()))
}

#[test]
fn draws_are_the_logged_latencies_of_the_direction_and_size() {
    let (values, mean) = drawn("direction = \"read\"").unwrap();
    assert_eq!(values, [Time::from_ns(6700), Time::from_ns(7000), Time::from_ns(9000)]);
    assert!((mean - 22_700.0 / 3.0 * 1e-9).abs() < 1e-15);
    let (values, _) = drawn("direction = \"read\", block = \"4 KiB\"").unwrap();
    assert_eq!(values, [Time::from_ns(6700), Time::from_ns(7000)]);
    let (values, _) = drawn("direction = \"write\", count = \"1 us\"").unwrap();
    assert_eq!(values, [Time::from_us(128_300)]);
}

#[test]
fn a_wrong_log_is_refused_with_its_line() {
    assert_eq!(
        drawn("direction = \"trim\"").unwrap_err(),
        "latency.file: it holds no latency of a trim that is asked for, given x_clat.1.log; \
         check `direction` and `block`"
    );
    let mut bench = workbench(5).file("bad.log", "1, 2, 0, 4096\nhello\n");
    let value = "{ kind = \"latency_log\", file = \"bad.log\", direction = \"read\" }";
    let problems = latency(&mut bench, value).err().expect("it is refused");
    assert_eq!(
        problems.to_string(),
        "latency.file (bad.log:2): \"hello\" is not a line of a latency log, given bad.log; \
         expected: time in ms, latency, direction (0 read, 1 write, 2 trim), block size"
    );
}
