//! Check that source text is ASCII and has no trailing blanks.

use super::Problem;
use super::tree::Tree;

/// Reports source text that is not ASCII, and lines with trailing blanks.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files.iter().filter(|file| file.is(&["rs", "py", "pyi", "toml"])) {
        for (number, line) in file.lines() {
            if let Some(letter) = line.chars().find(|letter| !letter.is_ascii()) {
                problems.push(Problem::new(&file.path, number, format!("{letter:?} is not ASCII")));
            }
            if line.ends_with([' ', '\t', '\r']) {
                problems.push(Problem::new(&file.path, number, "the line ends in a blank"));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::tree::Tree;

    #[test]
    fn a_letter_beyond_ascii_and_a_trailing_blank_are_found_in_source_only() {
        let text = "fine\n5 \u{b5}s\nblank \n";
        let found: Vec<String> =
            check(&Tree::of(&[("a.toml", text), ("a.md", text)])).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["a.toml:2: '\u{b5}' is not ASCII", "a.toml:3: the line ends in a blank"]);
    }
}
