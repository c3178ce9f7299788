//! Tests of the busy time of servers and links.

use nacre_kernel::event::Link;
use nacre_kernel::{Activity, Bandwidth, HostCounts, Ledger, Op, Request, Resource, Time};

#[test]
fn the_time_of_many_servers_may_sum_to_more_than_time_reaches() {
    // 4096 servers that are busy for 100 days accumulate 1122 years, although a `Time` ends after 213 days.
    let day = Time::from_s(86_400);
    let mut ledger = Ledger::default();
    for _ in 0..4096 * 50 {
        ledger.charge(Activity::Read, day);
        ledger.charge(Activity::Write, day);
    }
    let each = 4096.0 * 50.0 * 86_400.0;
    assert_eq!((ledger.busy_s(Activity::Read), ledger.busy_s(Activity::Write)), (each, each));
    assert_eq!(ledger.total_busy_s(), 2.0 * each);
    let servers = Resource { name: "servers", servers: 4096, ledger };
    assert_eq!(servers.utilization(day * 200), 0.5);
    assert_eq!(servers.utilization(Time::ZERO), 0.0);
}

#[test]
fn a_link_carries_one_transfer_after_the_other() {
    let mut link = Link::new(Bandwidth(1e9));
    let time = link.time_for(4096);
    assert_eq!(time, Time::from_ns(4096));
    let us = Time::from_us;
    assert_eq!(link.cross(us(10), time), us(10) + time);
    assert_eq!(link.cross(us(11), time), us(10) + time * 2, "it waits for the first");
    assert_eq!(link.cross(us(30), time), us(30) + time, "it is free by then");
    let resource = link.resource("way");
    assert_eq!((resource.name, resource.servers), ("way", 1));
    assert_eq!(resource.ledger.busy_s(Activity::Link), (time * 3).as_secs_f64());
    link.restart_ledger();
    assert_eq!(link.resource("way").ledger, Ledger::default());
    assert_eq!(link.cross(us(31), time), us(30) + time * 2, "what it carries stays");
    // After a power loss, the time of finished transfers remains charged.
    link.restart_ledger();
    link.cross(us(50), time * 2);
    link.power_fail(us(50) + time - us(1));
    assert_eq!(link.resource("way").ledger.busy_s(Activity::Link), (time - us(1)).as_secs_f64());
}

#[test]
fn requests_are_counted_by_kind_and_bytes_only_where_they_move() {
    let mut counts = HostCounts::default();
    for (op, bytes) in [(Op::Read, 1), (Op::Write, 10), (Op::Write, 100), (Op::Trim, 1000), (Op::Flush, 0)] {
        counts.record(&Request { arrival: Time::ZERO, address: 0, bytes, volume: 0, op });
    }
    let expected = [
        ("reads", 1),
        ("writes", 2),
        ("trims", 1),
        ("flushes", 1),
        ("bytes_read", 1),
        ("bytes_written", 110),
    ];
    assert_eq!(counts.counters(), expected);
    assert_eq!((counts.requests(Op::Write), counts.bytes_written()), (2, 110));
}
