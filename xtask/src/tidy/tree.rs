//! Text files of the working tree, read once for all rules.

use std::fs;
use std::path::Path;

/// Names of folders that contain generated files.
const MADE: [&str; 7] = ["target", "dist", "out", "__pycache__", "node_modules", "corpus", "artifacts"];

/// A text file.
pub(crate) struct File {
    /// Path from the root, separated by `/`.
    pub(crate) path: String,
    /// Content of the file.
    pub(crate) text: String,
}

impl File {
    /// Returns whether the file name has one of these extensions.
    pub(crate) fn is(&self, extensions: &[&str]) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
    }

    /// Returns the lines with their numbers, counted from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// Returns the folder that contains the file, or an empty path for a file in the root.
    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// Files of the tree, except generated files and hidden folders. The folder `.ci` is included.
pub(crate) struct Tree {
    /// Text files, ordered by path.
    pub(crate) files: Vec<File>,
    /// Paths of all files and folders, ordered by path.
    pub(crate) paths: Vec<String>,
}

impl Tree {
    /// Reads all files below `root`.
    pub(crate) fn read(root: &Path) -> Tree {
        let mut tree = Tree { files: Vec::new(), paths: Vec::new() };
        tree.enter(root, "");
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        tree.paths.sort();
        tree
    }

    /// Creates a tree for a test from paths and texts, without files on disk.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let files: Vec<File> =
            files.iter().map(|&(path, text)| File { path: path.into(), text: text.into() }).collect();
        let mut paths: Vec<String> = Vec::new();
        for file in &files {
            let ends = file.path.match_indices('/').map(|(at, _)| at).chain([file.path.len()]);
            paths.extend(ends.map(|end| file.path[..end].to_string()));
        }
        paths.sort();
        paths.dedup();
        Tree { files, paths }
    }

    /// Returns the file at `path`, if it exists.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Returns whether a file or folder exists at `path`.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.paths.binary_search_by(|known| known.as_str().cmp(path)).is_ok()
    }

    fn enter(&mut self, folder: &Path, below: &str) {
        let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries.map(|entry| entry.expect("a folder can be listed")) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if (name.starts_with('.') && name != ".ci") || MADE.contains(&name.as_str()) {
                continue;
            }
            let path = format!("{below}{name}");
            if entry.path().is_dir() {
                self.enter(&entry.path(), &format!("{path}/"));
            } else if let Ok(text) = fs::read_to_string(entry.path()) {
                self.files.push(File { path: path.clone(), text });
            }
            self.paths.push(path);
        }
    }
}
