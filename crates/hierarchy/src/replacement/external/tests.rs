//! The policy of that name is asked for, with its place. That one in Python is LRU where LRU stands is in the tests of
//! the front.

use super::ROOM;
use crate::replacement::{Context, Replacement, ReplacementContext, ReplacementFamily};
use crate::workbench;
use nacre_config::{Configuration, ErrorCode, Families, Node, Problem, Problems, Reader, Slot};

/// The document around a policy.
#[derive(Debug, Configuration)]
struct Document {
    /// The policy.
    policy: Slot<ReplacementFamily>,
}

/// Says what it was asked for.
struct Caller;

impl ReplacementContext for Caller {
    fn families(&self) -> &dyn Families {
        &workbench::ROOMS
    }

    fn capacity(&self) -> usize {
        8
    }

    fn external(&mut self, path: &str, name: &str) -> Result<Box<dyn Replacement>, Problems> {
        Err(Problem::new(ErrorCode::NoFunction, path, None, "it was requested").given(name).into())
    }
}

fn slot() -> Slot<ReplacementFamily> {
    let toml = "policy = { kind = \"external\", function = \"mine\" }";
    let node = Node::parse_toml(toml, "test.toml").expect("well formed");
    Document::read(&node, &mut Reader::new(&workbench::ROOMS)).expect("legal settings").policy
}

#[test]
fn the_caller_is_asked_for_the_policy_by_its_name_and_place() {
    let problems = (ROOM.build)(&slot(), &mut Caller).err().expect("it says so");
    assert_eq!(problems.to_string(), "policy.function: it was requested, given mine");
}

#[test]
fn where_nobody_can_bring_one_that_is_said() {
    let mut context = Context { families: &workbench::ROOMS, capacity: 8 };
    let problems = (ROOM.build)(&slot(), &mut context).err().expect("there is none");
    assert!(problems.to_string().contains("no policy can be brought here"), "{problems}");
}
