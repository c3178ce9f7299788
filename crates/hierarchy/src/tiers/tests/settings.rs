//! Tests of rejected settings and their messages.

use crate::workbench::{self, MODELS};
use nacre_testkit::Workbench;

#[test]
fn errors_name_their_location_and_a_remedy() {
    let problems = |toml: &str| {
        let built = workbench::build(toml, Workbench::new(MODELS, 1));
        built.err().expect("an invalid configuration").to_string()
    };
    let device = "device = { kind = \"measured\", read = \"1 us\", write = \"1 us\" }";
    let text = problems(&format!("[stack]\nkind = \"tiers\"\n[[stack.tier]]\n{device}\n"));
    assert!(
        text.contains("stack.tier[0].device") && text.contains("needs a device with a capacity"),
        "{text}"
    );
    let tier = format!("[[stack.tier]]\nshare = \"40 %\"\n{device}\n");
    let text = problems(&format!("[stack]\nkind = \"tiers\"\nextent = \"3 MiB\"\n{tier}{tier}"));
    assert!(
        text.contains("not a power of two") && text.contains("give what all tiers hold together"),
        "{text}"
    );
    let text = problems(&format!("[stack]\nkind = \"tiers\"\ncapacity = \"4 GiB\"\n{tier}{tier}"));
    assert!(text.contains("do not add up to 100 %"), "{text}");
    let text = problems(&format!(
        "[stack]\nkind = \"tiers\"\ncapacity = \"4 GiB\"\n{tier}[[stack.tier]]\n{device}\n"
    ));
    assert!(text.contains("give all tiers a share, or none"), "{text}");
    let text = problems(&format!("[stack]\nkind = \"tiers\"\ncapacity = \"4 GiB\"\n{}", tier.repeat(5)));
    assert!(text.contains("5 tiers") && text.contains("give 1 to 4"), "{text}");
}
