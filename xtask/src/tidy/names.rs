//! Check that names of files and folders are descriptive.

use super::Problem;
use super::tree::Tree;

/// Words that are meaningless in names, with suggestions.
const BANNED: [(&str, &str); 9] = [
    ("util", "name what it does"),
    ("utils", "name what it does"),
    ("common", "name what is shared"),
    ("misc", "put each part where it belongs"),
    ("manager", "name what it does"),
    ("helper", "name what it does"),
    ("helpers", "name what they do"),
    ("old", "git keeps the past"),
    ("v2", "git keeps the versions"),
];

/// Reports paths that contain a banned word.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for path in &tree.paths {
        let name = path.rsplit('/').next().expect("a split has a last part").to_ascii_lowercase();
        let words = name.split(['_', '-', '.']);
        for (word, instead) in words.filter_map(|word| BANNED.iter().find(|banned| banned.0 == word)) {
            problems.push(Problem::new(path, 1, format!("\"{word}\" in a name says nothing: {instead}")));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::tree::Tree;

    #[test]
    fn words_that_say_nothing_are_found_in_files_and_folders() {
        let tree = Tree::of(&[
            ("crates/disk_utils/fold.rs", ""),
            ("python/cache-manager.py", ""),
            ("commons.rs", ""),
        ]);
        let found: Vec<String> = check(&tree).into_iter().map(|problem| problem.file).collect();
        assert_eq!(found, ["crates/disk_utils", "python/cache-manager.py"]);
    }
}
