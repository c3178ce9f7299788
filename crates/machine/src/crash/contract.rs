//! Tests that random devices of every kind, and every device of the catalog, satisfy the device contract.

#![expect(clippy::print_stdout, reason = "what is printed is shown where a test fails")]

use super::NoFiles;
use super::random_stack::of_kind;
use super::tests::cataloged;
use crate::models::Models;
use crate::stack::build;
use nacre_config::Families;
use nacre_kernel::{Streams, Time};
use nacre_testkit::conformance;

/// Number of stacks of each device kind.
const STACKS: usize = 2;
/// Maximum time between requests. It is long enough for a disk cache to complete a request that misses 64
/// small pages.
const PAUSE: Time = Time::from_ms(40);

#[test]
fn every_generated_kind_of_device_keeps_the_contract() {
    for kind in Models::new().kinds("device") {
        let stacks = (1..).map(|seed| of_kind(kind, &mut Streams::new(seed).stream("stack")));
        let stacks = stacks.map(|stack| stack.expect("it is legal"));
        for (text, checked) in stacks.take(STACKS) {
            println!("{text}");
            conformance(PAUSE, || {
                build(&checked, &NoFiles).unwrap_or_else(|problems| panic!("{problems}")).device
            });
        }
    }
}

#[test]
fn every_device_of_the_catalog_keeps_the_contract() {
    let mut tried = 0;
    for (name, text) in crate::catalog::device_texts() {
        println!("{name}");
        // Each device uses a new workbench, so that all of them have the same names and random streams.
        conformance(PAUSE, || {
            let (mut workbench, toml) = cataloged(text);
            workbench.build(&toml).unwrap_or_else(|problems| panic!("{name}: {problems}"))
        });
        tried += 1;
    }
    assert!(tried >= 22, "{tried} devices");
}
