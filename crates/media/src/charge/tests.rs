//! Tests that energies are either all known or all unknown, and that every counted operation is charged.

use super::{Charges, Energies, check_energies};
use nacre_config::{Descriptor, Families, Reader};
use nacre_kernel::{Activity, Energy, Power, Time};

const READ: usize = 0;
const PROGRAM: usize = 1;

struct NoFamilies;

impl Families for NoFamilies {
    fn descriptor(&self, _family: &str, _kind: &str) -> Option<&'static Descriptor> {
        None
    }

    fn kinds(&self, _family: &str) -> Vec<&'static str> {
        Vec::new()
    }
}

fn problems(read: Option<f64>, program: Option<f64>, idle: Option<f64>) -> String {
    let mut reader = Reader::new(&NoFamilies);
    let energies = [("read_energy", read.map(Energy)), ("program_energy", program.map(Energy))];
    check_energies(&mut reader, &energies, idle.map(Power));
    reader.finish().map_or_else(|problems| problems.to_string(), |_| String::new())
}

#[test]
fn energies_are_given_together_or_not_at_all() {
    assert_eq!(problems(None, None, None), "");
    assert_eq!(problems(Some(1e-6), Some(2e-6), None), "");
    assert_eq!(problems(Some(1e-6), Some(2e-6), Some(1.0)), "");
    let lacks = |name: &str, given: &str| {
        format!("{name}: energy also needs {given}; also set {given}, or no energy and no idle_power")
    };
    assert_eq!(
        problems(Some(1e-6), None, None).replace(", given 0.000001 J", ""),
        lacks("read_energy", "program_energy")
    );
    assert_eq!(
        problems(None, Some(1e-6), None).replace(", given 0.000001 J", ""),
        lacks("program_energy", "read_energy")
    );
    let idle = problems(None, None, Some(1.0)).replace(", given 1 W", "");
    assert_eq!(idle, lacks("idle_power", "read_energy, program_energy"));
}

#[test]
fn energy_is_that_of_each_operation_by_their_number() {
    let mut charges = Charges::<2>::default();
    charges.count(READ, Activity::Read, 5);
    charges.count(READ, Activity::LevelWear, 2);
    charges.count(PROGRAM, Activity::LevelWear, 2);
    charges.charge(Activity::Read, Time::from_us(3));
    let mut both = charges.clone();
    both.add(&charges);
    let energies = Energies::of([Some(Energy(1.0)), Some(Energy(10.0))]).times(2.0);
    let ledger = both.ledger(&energies);
    assert_eq!(ledger.energy(Activity::Read), Energy(20.0), "ten reads of two parts");
    assert_eq!(ledger.energy(Activity::LevelWear), Energy(88.0), "four reads and four programs of two parts");
    assert_eq!(ledger.busy_ps(Activity::Read), 6_000_000);
    assert_eq!(both.counted(READ, Activity::Read), 10);
    let unknown = both.ledger(&Energies::of([None, None]));
    assert_eq!(unknown.energy(Activity::Read), Energy(0.0));
    assert!(energies.is_known() && !Energies::<2>::of([None, None]).is_known());
}
