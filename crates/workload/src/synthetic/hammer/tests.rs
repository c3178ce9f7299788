use crate::testing::{problems, requests, workload};
use nacre_kernel::Op;

const SETTINGS: &str = "kind = \"hammer\"\nrequests = 100\nrequest = \"512 B\"\naddress = \"64 KiB\"";

#[test]
fn every_request_writes_the_same_bytes() {
    let requests = requests(SETTINGS);
    assert_eq!(requests.len(), 100);
    assert!(
        requests
            .iter()
            .all(|request| (request.op, request.address, request.bytes) == (Op::Write, 65536, 512))
    );
}

#[test]
fn as_bursts_it_is_one_write_as_often_as_asked() {
    let mut bursts = Vec::new();
    workload(SETTINGS, 1).unwrap().fill_bursts(&mut bursts, 1 << 40).unwrap();
    assert_eq!(
        bursts.iter().map(|burst| (burst.request.address, burst.times)).collect::<Vec<_>>(),
        [(65536, 1 << 40)]
    );
}

#[test]
fn an_address_past_the_end_of_addresses_is_refused() {
    let found = problems("kind = \"hammer\"\nrequests = 1\naddress = \"8192 PiB\"");
    assert!(found.len() == 1 && found[0].starts_with("workload.address (test.toml"), "{found:?}");
}
