//! What a stripe has to be.

use crate::tests::problems;

#[test]
fn contradictions_are_refused_in_words() {
    for (settings, expected) in [
        (
            "allocation = { kind = \"superblock\", parity = { stripe = 3 } }",
            "the 4 dies are not a whole number of stripes, given 3",
        ),
        ("allocation = { kind = \"superblock\", parity = { stripe = 3 } }", "the nearest allowed: 4, 2"),
        ("allocation = { kind = \"superblock\", parity = { stripe = 8 } }", "the nearest allowed: 4"),
        (
            "channels = 1\nways = 1\npages = 128\nallocation = { kind = \"superblock\", parity = {} }",
            "there is one die",
        ),
        ("allocation = { kind = \"superblock\", parity = {} }", "one page of 4 with parity"),
    ] {
        let found = problems(settings);
        assert!(found.contains(expected), "{expected} is not in\n{found}");
    }
}
