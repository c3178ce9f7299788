//! Check that files are not too long.

use super::Problem;
use super::tree::{File, Tree};

/// Number of lines above which a note about the file is printed.
const THINK_AT: usize = 400;
/// Number of lines above which a file must be split.
const LIMIT: usize = 600;
/// Files that may exceed the limit, each with the reason.
const MAY_BE_LONG: [(&str, &str); 2] =
    [("python/nacre/config/_generated.py", "generated"), ("python/nacre/results/_record.py", "generated")];

/// Reports files above the limit, and unused exceptions.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let too_long = sources(tree).filter(|&(file, lines)| lines > LIMIT && !may_be_long(file));
    too_long
        .map(|(file, lines)| {
            Problem::new(&file.path, LIMIT + 1, format!("{lines} lines; split it: the limit is {LIMIT}"))
        })
        .collect()
}

/// Reports files that are near the limit.
pub(crate) fn near(tree: &Tree) -> Vec<Problem> {
    let long =
        sources(tree).filter(|&(file, lines)| lines > THINK_AT && lines <= LIMIT && !may_be_long(file));
    long.map(|(file, lines)| {
        Problem::new(&file.path, THINK_AT + 1, format!("{lines} lines; is there a part waiting to get out?"))
    })
    .collect()
}

fn sources(tree: &Tree) -> impl Iterator<Item = (&File, usize)> {
    tree.files.iter().filter(|file| file.is(&["rs", "py"])).map(|file| (file, file.text.lines().count()))
}

fn may_be_long(file: &File) -> bool {
    MAY_BE_LONG.iter().any(|&(path, _)| path == file.path)
}

#[cfg(test)]
mod tests {
    use super::{LIMIT, check, near};
    use crate::tidy::tree::Tree;

    #[test]
    fn a_file_may_have_600_lines_and_not_601() {
        let (fits, over) = ("x\n".repeat(LIMIT), "x\n".repeat(LIMIT + 1));
        let tree = Tree::of(&[("fits.rs", &fits), ("over.py", &over), ("over.md", &over)]);
        let found: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["over.py:601: 601 lines; split it: the limit is 600"]);
        let near: Vec<String> = near(&tree).into_iter().map(|problem| problem.file).collect();
        assert_eq!(near, ["fits.rs"]);
    }
}
