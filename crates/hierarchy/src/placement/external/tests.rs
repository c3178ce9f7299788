//! Tests that the function with the configured name is called, and that an unknown name is reported.

use super::{Decider, Exchange, MODEL, View};
use crate::placement::assignment::Speed;
use crate::placement::{PlacementContext, PlacementFamily};
use crate::workbench;
use nacre_config::{Configuration, ErrorCode, Families, Node, Problem, Problems, Reader, Slot};
use nacre_device::SizedAccesses;
use nacre_kernel::Time;
use nacre_kernel::state::State;

/// A document with the placement under test.
#[derive(Debug, Configuration)]
struct Document {
    /// The placement.
    placement: Slot<PlacementFamily>,
}

/// A caller that registered one function, `swap`.
struct Caller;

impl PlacementContext for Caller {
    fn families(&self) -> &dyn Families {
        &workbench::MODELS
    }

    fn extents(&self) -> &[u32] {
        &[1, 2]
    }

    fn speeds(&mut self, _: u32) -> Result<Vec<Speed>, Problems> {
        Ok(Vec::new())
    }

    fn accesses(&mut self) -> Result<Vec<Vec<SizedAccesses>>, Problems> {
        Ok(Vec::new())
    }

    fn external(&mut self, path: &str, name: &str) -> Result<Box<dyn Decider>, Problems> {
        match name {
            "swap" => Ok(Box::new(Swap)),
            _ => Err(Problem::new(ErrorCode::NoFunction, path, None, "no function has this name")
                .given(name)
                .into()),
        }
    }
}

#[derive(State)]
struct Swap;

impl Decider for Swap {
    fn decide(&mut self, view: &View<'_>, moves: &mut Vec<Exchange>) {
        let place = |tier: u8| view.homes.iter().position(|&home| home == tier).expect("a home") as u32;
        moves.push(Exchange { extent: place(1), partner: place(0) });
    }
}

fn slot(function: &str) -> Slot<PlacementFamily> {
    let toml = format!(
        "placement = {{ kind = \"external\", function = \"{function}\", epoch = \"5 s\", layout = \"in_order\" }}"
    );
    let node = Node::parse_toml(&toml, "test.toml").expect("well formed");
    Document::read(&node, &mut Reader::new(&workbench::MODELS)).expect("legal settings").placement
}

#[test]
fn the_function_decides_over_the_layout_and_epoch_that_were_set() {
    let mut placement = (MODEL.build)(&slot("swap"), &mut Caller).expect("it was brought");
    assert_eq!((placement.start(), placement.epoch()), (vec![0, 1, 1], Some(Time::from_s(5))));
    let mut moves = Vec::new();
    placement.decide(&View { homes: &[0, 1, 1], accesses: &[], skipped: 0 }, &mut moves);
    assert_eq!(moves, [Exchange { extent: 1, partner: 0 }]);
}

#[test]
fn an_unknown_function_is_named_with_its_path() {
    let problems = (MODEL.build)(&slot("other"), &mut Caller).err().expect("the name is unknown");
    assert!(problems.to_string().starts_with("placement.function: no function has this name"), "{problems}");
}
