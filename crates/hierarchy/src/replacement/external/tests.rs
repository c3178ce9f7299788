//! Tests that the policy with the configured name is requested from the caller, together with the path of its
//! setting. Tests of the Python package compare a Python LRU with the built-in one.

use super::MODEL;
use crate::replacement::{Context, Replacement, ReplacementContext, ReplacementFamily};
use crate::workbench;
use nacre_config::{Configuration, ErrorCode, Families, Node, Problem, Problems, Reader, Slot};

/// A document with the policy under test.
#[derive(Debug, Configuration)]
struct Document {
    /// The policy.
    policy: Slot<ReplacementFamily>,
}

/// A caller that reports the requested name in an error.
struct Caller;

impl ReplacementContext for Caller {
    fn families(&self) -> &dyn Families {
        &workbench::MODELS
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
    Document::read(&node, &mut Reader::new(&workbench::MODELS)).expect("legal settings").policy
}

#[test]
fn the_caller_is_asked_for_the_policy_by_its_name_and_place() {
    let problems = (MODEL.build)(&slot(), &mut Caller).err().expect("it says so");
    assert_eq!(problems.to_string(), "policy.function: it was requested, given mine");
}

#[test]
fn a_context_without_functions_reports_that() {
    let mut context = Context { families: &workbench::MODELS, capacity: 8 };
    let problems = (MODEL.build)(&slot(), &mut context).err().expect("there is none");
    assert!(problems.to_string().contains("policies of the caller are not available here"), "{problems}");
}
