use crate::cleaning::{Cleaner, CleaningContext, CleaningFamily, Decision, View};
use crate::workbench::{Workbench, workbench};
use nacre_config::{Configuration, ErrorCode, Families, Problem, Problems, Slot};
use nacre_device::Builder;
use nacre_kernel::Random;
use nacre_kernel::state::State;

/// A document with a cleaning policy.
#[derive(Debug, Configuration)]
struct Document {
    /// The cleaning policy.
    cleaning: Slot<CleaningFamily>,
}

/// A caller that provides one policy, `third`.
struct Caller(Workbench);

impl CleaningContext for Caller {
    fn families(&self) -> &dyn Families {
        self.0.families()
    }

    fn segments(&self) -> u32 {
        8
    }

    fn random(&self, name: &str) -> Random {
        self.0.random(name)
    }

    fn external(&mut self, path: &str, name: &str) -> Result<Box<dyn Cleaner>, Problems> {
        match name {
            "third" => Ok(Box::new(Third)),
            _ => Err(Problem::new(ErrorCode::NoFunction, path, None, "it is not registered")
                .given(name)
                .into()),
        }
    }
}

#[derive(State)]
struct Third;

impl Cleaner for Third {
    fn decide(&mut self, _view: &View<'_>, _partition: usize) -> Decision {
        Decision::clean(3)
    }
}

fn built(function: &str) -> Result<Box<dyn Cleaner>, Problems> {
    let mut caller = Caller(workbench(1));
    let text = format!("cleaning = {{ kind = \"external\", function = \"{function}\" }}");
    let document: Document = caller.0.read(&text)?;
    (super::MODEL.build)(&document.cleaning, &mut caller)
}

#[test]
fn the_callers_function_decides() {
    let view = View { pages_per_segment: 1, places: &[], partitions: &[], drained: 0 };
    assert_eq!(built("third").unwrap().decide(&view, 0), Decision::clean(3));
}

#[test]
fn a_name_nobody_brought_is_the_users_mistake() {
    let problems = built("fourth").err().unwrap().to_string();
    assert_eq!(problems, "cleaning.function: it is not registered, given fourth");
}
