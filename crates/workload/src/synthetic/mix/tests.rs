use crate::testing::{check_repeatable, check_share, problems, requests, workload};
use nacre_kernel::{Op, Request};

const ZIPF: &str = "pattern = { kind = \"zipf\", footprint = \"1 MiB\" }";
const LOG: &str =
    "pattern = { kind = \"sequential\", start = \"1 MiB\", footprint = \"1 MiB\", read_share = \"0 %\" }";

fn mix(parts: &[(&str, &str)]) -> String {
    let mut settings = "kind = \"mix\"\nrequests = 100_000\n".to_string();
    for (share, pattern) in parts {
        settings.push_str("[[workload.part]]\n");
        if !share.is_empty() {
            settings.push_str(&format!("share = \"{share}\"\n"));
        }
        settings.push_str(&format!("{pattern}\n"));
    }
    settings
}

fn of(op: Op, requests: &[Request]) -> Vec<Request> {
    requests.iter().filter(|request| request.op == op).copied().collect()
}

#[test]
fn parts_have_their_shares() {
    let requests = requests(&mix(&[("70 %", ZIPF), ("30 %", LOG)]));
    check_share(of(Op::Read, &requests).len(), requests.len(), 0.7);
    assert_eq!(of(Op::Read, &requests).len() + of(Op::Write, &requests).len(), 100_000);
}

#[test]
fn parts_mix_request_by_request() {
    let requests = requests(&mix(&[("50 %", ZIPF), ("50 %", LOG)]));
    let changes = requests.windows(2).filter(|pair| pair[0].op != pair[1].op).count();
    check_share(changes, 99_999, 0.5);
}

#[test]
fn a_part_takes_what_the_others_leave() {
    let explicit = requests(&mix(&[("70 %", ZIPF), ("30 %", LOG)]));
    assert_eq!(requests(&mix(&[("", ZIPF), ("30 %", LOG)])).len(), explicit.len());
    check_share(of(Op::Write, &requests(&mix(&[("", ZIPF), ("30 %", LOG)]))).len(), 100_000, 0.3);
    assert_eq!(requests(&mix(&[("70 %", ZIPF), ("", LOG)])), explicit);
}

#[test]
fn a_part_without_share_gives_nothing() {
    let last = requests(&mix(&[("100 %", ZIPF), ("0 %", LOG)]));
    assert_eq!(of(Op::Write, &last), []);
    let first = requests(&mix(&[("0 %", ZIPF), ("", LOG)]));
    assert_eq!(of(Op::Read, &first), []);
}

#[test]
fn neither_shares_nor_new_parts_disturb_a_parts_own_sequence() {
    let two = of(Op::Read, &requests(&mix(&[("70 %", ZIPF), ("30 %", LOG)])));
    let trims = "pattern = { kind = \"uniform\", footprint = \"1 MiB\", read_share = \"0 %\", trim_share = \"100 %\" }";
    let three = of(Op::Read, &requests(&mix(&[("50 %", ZIPF), ("30 %", LOG), ("20 %", trims)])));
    assert!(three.len() > 49_000 && three.len() < two.len());
    assert_eq!(two[..three.len()], three);
    let log = of(Op::Write, &requests(&mix(&[("70 %", ZIPF), ("30 %", LOG)])));
    for (place, request) in log.iter().enumerate() {
        assert_eq!(request.address, (1 << 20) + (place as u64 % 256) * 4096);
    }
}

#[test]
fn a_part_may_be_a_mix_again() {
    let inner = format!(
        "pattern = {{ kind = \"mix\", part = [{{ share = \"50 %\", {ZIPF} }}, {{ share = \"50 %\", {LOG} }}] }}"
    );
    let requests = requests(&mix(&[("40 %", &inner), ("60 %", LOG)]));
    check_share(of(Op::Read, &requests).len(), requests.len(), 0.2);
}

#[test]
fn the_same_seed_gives_the_same_requests() {
    check_repeatable(&mix(&[("70 %", ZIPF), ("30 %", LOG)]).replace("100_000", "5_000"));
}

#[test]
fn shares_that_do_not_add_up_are_refused() {
    for (shares, expected) in [
        (
            ["70 %", "20 %"],
            "workload.part[1].share (test.toml:8): the shares add up to 90 %; make it 100 %, or remove one share, which then gets the rest",
        ),
        (["", ""], "workload.part[1].share: two parts have no share; set all shares except one"),
    ] {
        assert_eq!(problems(&mix(&[(shares[0], ZIPF), (shares[1], LOG)])), [expected]);
    }
    let three = mix(&[("70 %", ZIPF), ("", LOG), ("70 %", LOG)]);
    let expected = "workload.part[2].share (test.toml:10): the shares add up to 140 %; lower them; the part without a share gets the rest";
    assert_eq!(problems(&three), [expected]);
}

#[test]
fn mistakes_within_a_part_name_their_place() {
    let settings = mix(&[("70 %", ZIPF), ("30 %", &LOG.replace("footprint", "footprnt"))]);
    let found = problems(&settings);
    assert!(
        found[0].starts_with("workload.part[1].pattern.footprnt (test.toml:9): there is no such setting"),
        "{found:?}"
    );
    let found = problems("kind = \"mix\"\nrequests = 3");
    assert!(found[0].starts_with("workload.part (test.toml:1): it is missing"), "{found:?}");
}

#[test]
fn a_mix_reaches_as_far_as_its_furthest_part() {
    let workload = workload(&mix(&[("70 %", ZIPF), ("30 %", LOG)]), 1).unwrap();
    assert_eq!(workload.reach(), Some(2 << 20));
}
