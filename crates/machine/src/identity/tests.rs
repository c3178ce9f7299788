use super::*;
use crate::{Document, check};
use std::collections::BTreeSet;

/// A cache over a flash drive, with components of five families. One component is given in short form.
const NESTED: &str = r#"
[workload]
kind = "uniform"
requests = 10
footprint = "1 MiB"
arrival = { kind = "closed", queue_depth = 1 }
[stack]
kind = "server_cache"
[[stack.level]]
device = { kind = "measured", capacity = "4 MiB", read = "10 us", write = { kind = "exponential", mean = "20 us" } }
policy = { kind = "two_q" }
[stack.backing]
preset = "tlc_nvme"
garbage_collection = { policy = "cost_benefit" }
"#;

fn checked(text: &str) -> Checked {
    let document = Document { text, name: "test.toml", overrides: &[], seed: None };
    check(&document).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn every_room_of_the_stack_is_there_with_the_version_of_its_model() {
    let text = identity(&checked(NESTED));
    let models: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("version of the model of ")?.split_once(" = "))
        .map(|(model, _)| model)
        .collect();
    let expected = [
        "stack",
        "stack.backing",
        "stack.backing.garbage_collection.policy",
        "stack.level[0].device",
        "stack.level[0].device.read",
        "stack.level[0].device.write",
        "stack.level[0].policy",
    ];
    assert_eq!(models, BTreeSet::from(expected));
}

#[test]
fn a_changed_model_anywhere_in_the_stack_is_another_device() {
    let Checked { mut resolved, run, .. } = checked(NESTED);
    let before = of_stack(&resolved, run.seed);
    let models: Vec<usize> = (0..resolved.len())
        .filter(|&at| resolved[at].model_version.is_some() && resolved[at].path.starts_with("stack."))
        .collect();
    assert_eq!(models.len(), 7);
    for at in models {
        let version = resolved[at].model_version.replace(1_000_000).expect("it is a model");
        let after = of_stack(&resolved, run.seed);
        let changed: Vec<&str> =
            after.lines().zip(before.lines()).filter(|(a, b)| a != b).map(|(a, _)| a).collect();
        let model = resolved[at].path.strip_suffix(".kind").expect("a model is named by its kind");
        assert_eq!(changed, [format!("version of the model of {model} = 1000000")]);
        resolved[at].model_version = Some(version);
    }
}

#[test]
fn a_changed_model_of_the_workload_is_the_same_device() {
    let text = identity(&checked(NESTED));
    assert!(!text.contains("workload"), "{text}");
}
