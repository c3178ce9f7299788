mod priority;
mod weights;

use crate::testing::{Host, drain, problems, requests, serve, workload, workload_over};
use nacre_kernel::state;
use nacre_kernel::{Request, Time};

const TWO: &str = "kind = \"tenants\"\n\
    [[workload.tenant]]\nname = \"log\"\n\
    workload = { kind = \"sequential\", requests = 40, footprint = \"3 MiB\", read_share = \"0 %\", \
    arrival = { kind = \"periodic\", rate = \"1 MHz\" } }\n\
    [[workload.tenant]]\nname = \"search\"\ncapacity = \"8 MiB\"\nweight = 3\n\
    workload = { kind = \"uniform\", requests = 60, footprint = \"1 MiB\", read_share = \"50 %\", \
    arrival = { kind = \"closed\", queue_depth = 4, think = \"2 us\" } }\n";

/// Returns the requests of `settings` on a device with the latency `latency`.
fn served(settings: &str, latency: Time) -> Vec<Request> {
    let mut asked = workload(settings, 1).unwrap();
    serve(asked.interactive().unwrap(), |_| latency)
}

/// Saves the workload of `settings` after 137 requests. Panics unless the restored workload continues with
/// the requests of the uninterrupted workload. Returns the total number of requests.
fn continues_from_its_state(settings: &str) -> usize {
    let mut asked = workload(settings, 1).unwrap();
    let mut host = Host::default();
    let advance = |host: &mut Host, asked: &mut dyn crate::Workload| {
        host.advance(asked.interactive().unwrap(), |_| Time::from_us(30))
    };
    while host.issued.len() < 137 {
        advance(&mut host, &mut *asked);
    }
    let (mut restored, mut other) = (workload(settings, 1).unwrap(), host.clone());
    state::restored(&mut *restored, &state::saved(&*asked).unwrap()).unwrap();
    while advance(&mut host, &mut *asked) {
        advance(&mut other, &mut *restored);
    }
    assert_eq!(host.issued, other.issued);
    host.issued.len()
}

#[test]
fn a_tenant_alone_asks_for_what_its_workload_asks_for() {
    let alone = "kind = \"sequential\"\nrequests = 40\nfootprint = \"3 MiB\"\nread_share = \"0 %\"\n\
                 arrival = { kind = \"periodic\", rate = \"1 MHz\" }";
    let of_log: Vec<Request> = requests(TWO).into_iter().filter(|request| request.volume == 0).collect();
    assert_eq!(of_log, requests(alone));
}

#[test]
fn every_request_lies_in_its_tenants_part_and_times_never_decrease() {
    let all = served(TWO, Time::from_us(10));
    assert_eq!(all.len(), 100);
    assert!(all.is_sorted_by_key(|request| request.arrival));
    for request in all {
        let end = request.address + u64::from(request.bytes);
        match request.volume {
            0 => assert!(end <= 3 << 20),
            // The range of the tenant starts at 3 MiB and has 8 MiB. Its workload uses the first MiB.
            _ => assert!(request.address >= 3 << 20 && end <= 4 << 20, "{request:?}"),
        }
    }
    assert_eq!(workload(TWO, 1).unwrap().reach(), Some(11 << 20));
}

#[test]
fn a_closed_loop_keeps_its_queue_depth_and_thinks() {
    let latency = Time::from_us(10);
    let all = served(TWO, latency);
    let of_search: Vec<Time> = all.iter().filter(|r| r.volume == 1).map(|r| r.arrival).collect();
    // Four requests are issued every 12 us, for 15 rounds.
    let expected: Vec<Time> = (0..60).map(|number| Time::from_us(12) * (number / 4)).collect();
    assert_eq!(of_search, expected);
    let of_log: Vec<Time> = all.iter().filter(|r| r.volume == 0).map(|r| r.arrival).collect();
    assert_eq!(of_log.last(), Some(&Time::from_us(39)), "an open loop never waits");
}

#[test]
fn a_request_nobody_says_the_end_of_is_done_at_once_however_many_are_asked_for() {
    let mut asked = workload(TWO, 1).unwrap();
    let all = drain(&mut *asked, 1000).unwrap();
    let mut again = workload(TWO, 1).unwrap();
    assert_eq!(drain(&mut *again, 1).unwrap(), all);
    assert_eq!(all, served(TWO, Time::ZERO));
    assert_eq!(asked.expected(), Some(100));
    assert_eq!(asked.notes().records, 100);
}

/// Tests that the search for writes in a read-only workload is performed only once, because this search
/// reads millions of requests.
#[test]
fn a_tenant_that_only_reads_is_asked_for_writes_once() {
    let reads = TWO.replace("requests = 60", "requests = 1000000000").replace("50 %", "100 %");
    let mut asked = workload(&reads, 1).unwrap();
    let mut batch = Vec::new();
    asked.fill_writes(&mut batch, 20_000).unwrap();
    assert_eq!(batch.iter().filter(|request| request.volume == 0).count(), 20_000);
}

#[test]
fn writes_of_preconditioning_come_by_weight() {
    let mut asked = workload(TWO, 1).unwrap();
    let mut batch = Vec::new();
    asked.fill_writes(&mut batch, 400).unwrap();
    assert_eq!(batch.len(), 400);
    let of_search = batch.iter().filter(|request| request.volume == 1).count();
    assert_eq!(of_search, 300, "three for each of the log's");
}

#[test]
fn it_goes_on_from_its_state() {
    let mut asked = workload(TWO, 1).unwrap();
    let mut host = Host::default();
    while host.issued.len() < 37 || host.outstanding() > 0 {
        host.advance(asked.interactive().unwrap(), |_| Time::from_ns(300));
    }
    let bytes = state::saved(&*asked).unwrap();
    let mut restored = workload(TWO, 1).unwrap();
    state::restored(&mut *restored, &bytes).unwrap();
    assert_eq!(drain(&mut *restored, 64).unwrap(), drain(&mut *asked, 64).unwrap());
}

#[test]
fn a_trace_needs_a_capacity_and_keeps_to_it() {
    const TRACE: &[u8] = b"timestamp_us,op,offset,length\n0,read,0,4096\n1,write,1048576,4096\n";
    let tenant = |capacity: &str| {
        format!(
            "kind = \"tenants\"\n[[workload.tenant]]\nname = \"mail\"\n{capacity}\
             workload = {{ kind = \"trace\", file = \"mail.csv\" }}\n"
        )
    };
    let files: &[(&str, &[u8])] = &[("mail.csv", TRACE)];
    let refused = |capacity: &str| match workload_over(files, &tenant(capacity), 1) {
        Ok(mut asked) => drain(&mut *asked, 10).unwrap_err().to_string(),
        Err(problems) => problems.to_string(),
    };
    let unknown = refused("");
    assert!(
        unknown.starts_with("workload.tenant[0].capacity: the size of the tenant's workload"),
        "{unknown}"
    );
    let past = refused("capacity = \"1 MiB\"\n");
    assert_eq!(
        past,
        "workload.tenant[0].capacity: request 2 of this tenant reaches to byte 1052672, and the tenant has \
         1048576; give at least 1028 KiB, or use placement = \"compact\" for a trace"
    );
}

#[test]
fn tenants_that_cannot_be_are_refused() {
    let twice = TWO.replace("\"search\"", "\"log\"");
    assert_eq!(problems(&twice).len(), 1);
    assert!(problems(&twice)[0].contains("another tenant has this name"), "{:?}", problems(&twice));
    let small = TWO.replace("8 MiB", "512 KiB");
    assert!(problems(&small)[0].contains("give at least 1 MiB"), "{:?}", problems(&small));
    let none = TWO.replace("weight = 3", "weight = 0").replace("\"log\"\n", "\"log\"\nweight = 0\n");
    assert!(problems(&none)[0].contains("no tenant has writes"), "{:?}", problems(&none));
}

const STORE: &str = "kind = \"kv\", keys = 2000, transactions = 300, cache = \"64 KiB\", threads = 5";

/// Tests that other tenants do not affect the requests of a key-value store if requests never wait in the
/// device.
#[test]
fn a_tenant_that_is_told_of_completions_asks_for_the_same_whoever_asks_beside_it() {
    let store =
        format!("kind = \"tenants\"\n[[workload.tenant]]\nname = \"store\"\nworkload = {{ {STORE} }}\n");
    let both = format!(
        "{store}[[workload.tenant]]\nname = \"other\"\nworkload = {{ {STORE} }}\n\
         [[workload.tenant]]\nname = \"log\"\nworkload = {{ kind = \"sequential\", requests = 5000, \
         footprint = \"3 MiB\", arrival = {{ kind = \"closed\", queue_depth = 3 }} }}\n"
    );
    let of_store = |requests: Vec<Request>| -> Vec<Request> {
        requests.into_iter().filter(|request| request.volume == 0).collect()
    };
    for latency in [Time::from_us(30), Time::from_ps(97_003_001)] {
        let alone = served(&store, latency);
        assert!(alone.len() > 1_000);
        assert!(alone == of_store(served(&both, latency)), "at {latency}");
    }
    assert!(requests(&store) == of_store(requests(&both)));
}

/// Tests that saving and restoring the state at every event does not change the requests. A key-value store
/// and an open loop share two slots.
#[test]
fn it_goes_on_from_its_state_at_every_event() {
    let store = STORE.replace("300", "60");
    let log = "kind = \"sequential\", requests = 300, footprint = \"3 MiB\", arrival = { kind = \"poisson\", rate = \"20 kHz\" }";
    let settings = format!(
        "kind = \"tenants\"\nplaces = 2\n[[workload.tenant]]\nname = \"log\"\nworkload = {{ {log} }}\n\
         [[workload.tenant]]\nname = \"store\"\nworkload = {{ {store} }}\n"
    );
    let latency = |request: &Request| Time::from_ns(1_000 + request.arrival.as_ps() % 70_001);
    let mut asked = workload(&settings, 1).unwrap();
    let all = serve(asked.interactive().unwrap(), latency);
    assert_eq!(all.iter().filter(|request| request.volume == 0).count(), 300);
    let (mut asked, mut host) = (workload(&settings, 1).unwrap(), Host::default());
    while host.advance(asked.interactive().unwrap(), latency) {
        assert!(host.outstanding() <= 2);
        let bytes = state::saved(&*asked).unwrap();
        asked = workload(&settings, 1).unwrap();
        state::restored(&mut *asked, &bytes).unwrap();
    }
    assert_eq!(host.issued.iter().map(|issued| issued.request).collect::<Vec<_>>(), all);
}
