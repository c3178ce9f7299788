//! Check that the targets of links in documents exist.

use super::Problem;
use super::tree::Tree;

/// Reports Markdown links and images whose file does not exist.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files.iter().filter(|file| file.is(&["md"])) {
        let mut fenced = false;
        for (number, line) in file.lines() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            } else if !fenced {
                let missing = targets(line).filter_map(|target| local(file.folder(), &target));
                for path in missing.filter(|path| !path.is_empty() && !tree.has(path)) {
                    problems.push(Problem::new(
                        &file.path,
                        number,
                        format!("a link to {path}, which is not there"),
                    ));
                }
            }
        }
    }
    problems
}

/// Returns the link targets in a line: `[text](target)` and `src="target"`, outside code spans.
fn targets(line: &str) -> impl Iterator<Item = String> {
    let prose: String = line.split('`').step_by(2).collect();
    let links = ends(&prose, "](", ')');
    let pictures = ends(&prose, "src=\"", '"');
    links.into_iter().chain(pictures)
}

/// Returns the texts between `start` and `end` in a line.
fn ends(text: &str, start: &str, end: char) -> Vec<String> {
    text.split(start)
        .skip(1)
        .filter_map(|rest| rest.split_once(end))
        .map(|(target, _)| target.to_string())
        .collect()
}

/// Returns the path from the root to the target of a link in `folder`, or `None` if the target is outside the
/// tree.
fn local(folder: &str, target: &str) -> Option<String> {
    let target = target.split(['#', ' ']).next().expect("a split has a first part");
    if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let mut path: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                path.pop()?;
            }
            part => path.push(part),
        }
    }
    Some(path.join("/"))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::tree::Tree;

    #[test]
    fn a_link_to_nowhere_is_found_and_others_are_not() {
        let page = "[up](../README.md#top) [gone](gone.md) `[code](x)` [web](https://example.org/y)\n\
                    ```\n[fenced](z.md)\n```\n![](pictures/a.svg) [self](#part) [folder](pictures/)\n";
        let tree = Tree::of(&[("README.md", ""), ("docs/page.md", page), ("docs/pictures/a.svg", "")]);
        let found: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["docs/page.md:1: a link to docs/gone.md, which is not there"]);
    }
}
