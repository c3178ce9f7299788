//! Tests of invalid settings.

use super::{BARE, text};
use crate::workbench::{self, MODELS};
use nacre_config::ErrorCode;
use nacre_testkit::Workbench;

#[test]
fn a_mirror_needs_two_members_with_capacities() {
    let endless = "kind = \"network\", read = \"90 us\", write = \"130 us\"";
    let nine = [BARE; 9];
    for (settings, members, path, code) in [
        ("", &[BARE][..], "stack.member", ErrorCode::ConflictingSettings),
        ("", &nine[..], "stack.member", ErrorCode::ConflictingSettings),
        ("", &[BARE, endless][..], "stack.member[1]", ErrorCode::MissingSetting),
        ("hedge_after = \"0 s\"", &[BARE, BARE][..], "stack.hedge_after", ErrorCode::ConflictingSettings),
    ] {
        let refused = workbench::build(&text(settings, members), Workbench::new(MODELS, 1));
        let problems = refused.err().expect("it is refused").0;
        let found: Vec<(&str, ErrorCode)> =
            problems.iter().map(|problem| (problem.path.as_str(), problem.code)).collect();
        assert_eq!(found, [(path, code)], "{problems:?}");
    }
}
