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

#[test]
fn means_of_windows_are_not_latencies_of_requests() {
    // Output of fio 3.33 with log_avg_msec=1000 has block size 0 and offset 0.
    let averaged = "1000, 100000, 0, 0, 0, 0\n2000, 100000, 0, 0, 0, 0\n3000, 10000000, 0, 0, 0, 0\n";
    let refused = |direction: &str| {
        let mut bench = workbench(5).file("x_clat.1.log", averaged);
        let value =
            format!("{{ kind = \"latency_log\", file = \"x_clat.1.log\", direction = \"{direction}\" }}");
        latency(&mut bench, &value).err().expect("it is refused").to_string()
    };
    assert_eq!(
        refused("read"),
        "latency.file (x_clat.1.log:1): a line with block size 0 is the mean or maximum of a time window (log_avg_msec), not a request, given x_clat.1.log; log again without log_avg_msec, or use fio's json+ \
         output (fio_json)"
    );
    assert!(refused("write").contains("it holds no latency of a write"), "no line of it is asked for");
}

#[test]
fn logs_of_other_quantities_are_refused_by_their_names() {
    for (file, holds) in [
        ("job_bw.1.log", "bandwidths"),
        ("job_iops.12.log", "IOPS"),
        ("job_slat.log", "submission latencies"),
        ("job_clat_hist.1.log", "histograms"),
    ] {
        let mut bench = workbench(5).file(file, LOG);
        let value = format!("{{ kind = \"latency_log\", file = \"{file}\", direction = \"read\" }}");
        let problem = latency(&mut bench, &value).err().expect("it is refused").to_string();
        assert!(problem.contains(&format!("by its name, it is a log of {holds}")), "{problem}");
    }
}
