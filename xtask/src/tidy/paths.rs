//! Check for absolute paths that exist on one computer only.

use super::Problem;
use super::tree::Tree;

/// Folders at the root of a developer's computer.
const ROOT_FOLDERS: [&str; 5] = ["home", "root", "work", "Users", "mnt"];

/// Reports absolute paths to [`ROOT_FOLDERS`] in any text file.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let folders = ROOT_FOLDERS.map(|folder| format!("/{folder}/"));
    let mut problems = Vec::new();
    for file in &tree.files {
        for (number, line) in file.lines() {
            if let Some(folder) = folders.iter().find(|folder| has_absolute(line, folder)) {
                problems.push(Problem::new(
                    &file.path,
                    number,
                    format!("{folder}... is a path of one machine"),
                ));
            }
        }
    }
    problems
}

/// Returns whether `line` has an absolute path that starts with `folder`. A match that follows another path
/// component or a host name is not absolute.
fn has_absolute(line: &str, folder: &str) -> bool {
    let inside = |letter: char| letter.is_ascii_alphanumeric() || "._-~*)}".contains(letter);
    line.match_indices(folder).any(|(at, _)| !line[..at].ends_with(inside))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::tree::Tree;

    #[test]
    fn a_path_of_one_machine_is_found_and_a_relative_one_is_not() {
        let home = ["/ho", "me/ada/traces"].concat();
        let text = format!("see ../traces\nopen(\"{home}\")\nin docs{home}\nhttps://example.org{home}\n");
        let found: Vec<usize> =
            check(&Tree::of(&[("a.md", &text)])).into_iter().map(|problem| problem.line).collect();
        assert_eq!(found, [2]);
    }
}
