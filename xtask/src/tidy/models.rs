//! Check that components are complete, are listed in their family, and do not refer to each other.

use super::Problem;
use super::code;
use super::tree::{File, Tree};

/// Required headings in the documentation of a component, from which the model reference is generated.
const HEADINGS: [&str; 4] = ["Model", "Not modeled", "Sources", "Checks"];

/// Constants that declare a module folder as a component, each with the text that precedes the kind of the
/// component in the constant.
const CONSTANTS: [(&str, &str); 2] = [("MODEL", "Descriptor::of"), ("FORMAT", "kind:")];

/// A module folder that declares one of the [`CONSTANTS`].
struct Model<'a> {
    /// The `mod.rs` file of the folder.
    file: &'a File,
    /// Name of the constant.
    constant: &'static str,
    /// Text that precedes the kind of the component.
    before_kind: &'static str,
    /// Module path, starting with the crate.
    module: Vec<String>,
}

/// Reports components that lack a heading or tests, are not in the table of their family, or refer to another
/// component.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let models: Vec<Model<'_>> = tree.files.iter().filter_map(model).collect();
    let mut problems = Vec::new();
    for model in &models {
        problems.extend(missing_headings(model));
        problems.extend(missing_tests(tree, model));
        problems.extend(missing_in_table(tree, model));
        problems.extend(other_kind(model));
        problems.extend(names_another(tree, model, &models));
    }
    problems
}

fn model(file: &File) -> Option<Model<'_>> {
    let declares = |constant: &str| {
        let starts = ["const", "static"].map(|word| format!("pub {word} {constant}:"));
        file.text.lines().any(|line| starts.iter().any(|start| line.starts_with(start)))
    };
    let is_folder = file.path.ends_with("/mod.rs");
    let &(constant, before_kind) = CONSTANTS.iter().find(|(constant, _)| is_folder && declares(constant))?;
    Some(Model { file, constant, before_kind, module: module(&file.path)? })
}

/// Returns the module path of a file, e.g. `nacre_hierarchy::replacement::lru::tests` for
/// `crates/hierarchy/src/replacement/lru/tests.rs`.
pub(super) fn module(path: &str) -> Option<Vec<String>> {
    let (name, inside) = path.strip_prefix("crates/")?.strip_suffix(".rs")?.split_once("/src/")?;
    let krate = format!("nacre_{}", name.replace('-', "_"));
    let parts = inside.split('/').filter(|part| !["lib", "main", "mod"].contains(part)).map(String::from);
    Some([krate].into_iter().chain(parts).collect())
}

fn missing_headings(model: &Model<'_>) -> Vec<Problem> {
    let has = |heading: &str| {
        let lines = model.file.text.lines();
        lines.filter_map(|line| line.strip_prefix("//! # ")).any(|found| found.trim() == heading)
    };
    let missing = HEADINGS.iter().filter(|heading| !has(heading));
    missing
        .map(|heading| {
            Problem::new(&model.file.path, 1, format!("the model's documentation lacks \"# {heading}\""))
        })
        .collect()
}

fn missing_tests(tree: &Tree, model: &Model<'_>) -> Option<Problem> {
    let mut files = files_of(tree, model).map(|(file, _)| file);
    let tested = files.any(|file| file.text.contains("#[test]") || file.text.contains("proptest!"));
    (!tested).then(|| Problem::new(&model.file.path, 1, "a model without tests"))
}

/// Returns an error if the component is missing in the table of its family. The table is in the parent module
/// and contains `<model>::MODEL` or `<format>::FORMAT`.
fn missing_in_table(tree: &Tree, model: &Model<'_>) -> Option<Problem> {
    let (family_folder, kind) = model.file.folder().rsplit_once('/').expect("a model is in a folder of src");
    let family = ["mod.rs", "lib.rs"].iter().find_map(|name| tree.file(&format!("{family_folder}/{name}")));
    let entry = format!("{kind}::{}", model.constant);
    let listed = family.is_some_and(|family| family.text.contains(&entry));
    (!listed).then(|| {
        let text = format!("the model \"{kind}\" is in no table: add {entry} to {family_folder}");
        Problem::new(&model.file.path, 1, text)
    })
}

/// Returns an error if the name of the component differs from the name of its folder.
fn other_kind(model: &Model<'_>) -> Option<Problem> {
    let (_, descriptor) = model.file.text.split_once(model.before_kind)?;
    let kind = descriptor.split('"').nth(1)?;
    let folder = model.module.last().expect("a module has a name");
    (kind != folder).then(|| {
        Problem::new(
            &model.file.path,
            1,
            format!("the model in the folder \"{folder}\" calls itself \"{kind}\""),
        )
    })
}

fn names_another(tree: &Tree, model: &Model<'_>, models: &[Model<'_>]) -> Vec<Problem> {
    let others: Vec<&Model<'_>> = models
        .iter()
        .filter(|other| !other.module.starts_with(&model.module) && !model.module.starts_with(&other.module))
        .collect();
    let mut problems = Vec::new();
    for (file, module) in files_of(tree, model) {
        for named in code::paths(&file.text) {
            let target = absolute(&module, &named.parts);
            if let Some(other) = others.iter().find(|other| target.starts_with(&other.module)) {
                let text = format!(
                    "a model names the model {}: models meet in their family only",
                    other.module.join("::")
                );
                problems.push(Problem::new(&file.path, named.line, text));
            }
        }
    }
    problems
}

/// Returns the Rust files of a component, each with its module path.
fn files_of<'a>(tree: &'a Tree, model: &Model<'_>) -> impl Iterator<Item = (&'a File, Vec<String>)> {
    let folder = format!("{}/", model.file.folder());
    let inside = tree.files.iter().filter(move |file| file.path.starts_with(&folder));
    inside.filter_map(|file| Some((file, module(&file.path)?)))
}

/// Returns the absolute form of the path `parts` in `module`.
pub(super) fn absolute(module: &[String], parts: &[String]) -> Vec<String> {
    let ups = parts.iter().take_while(|part| *part == "super").count();
    let (start, rest) = match parts[0].as_str() {
        "crate" => (&module[..1], &parts[1..]),
        "self" => (module, &parts[1..]),
        "super" => (&module[..module.len().saturating_sub(ups)], &parts[ups..]),
        _ => (&module[..0], parts),
    };
    start.iter().chain(rest).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::tree::Tree;

    const WHOLE: &str = "//! A model.\n//!\n//! # Model\n//! # Not modeled\n//! # Sources\n//! # Checks\n\
                         pub const MODEL: Model<F> = x;\n#[test]\nfn t() {}\n";
    const FAMILY: (&str, &str) = ("crates/media/src/lib.rs", "&[flash::MODEL, pcm::MODEL]");

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_complete_model_in_its_table_is_tidy() {
        let tests = "use super::Flash;\nuse crate::Medium;\nuse super::super::Geometry;\n";
        let files =
            [FAMILY, ("crates/media/src/flash/mod.rs", WHOLE), ("crates/media/src/flash/tests.rs", tests)];
        assert_eq!(found(&files), Vec::<String>::new());
    }

    #[test]
    fn a_model_needs_headings_tests_and_a_place_in_the_table() {
        let bare = "//! # Model\n//! # Sources\n//! # Checks\npub const MODEL: Model<F> = x;\n";
        let model = "crates/media/src/mram/mod.rs";
        let expected = [
            format!("{model}:1: the model's documentation lacks \"# Not modeled\""),
            format!("{model}:1: a model without tests"),
            format!("{model}:1: the model \"mram\" is in no table: add mram::MODEL to crates/media/src"),
        ];
        assert_eq!(found(&[FAMILY, (model, bare)]), expected);
    }

    #[test]
    fn a_model_is_named_like_its_folder() {
        let model = format!("{WHOLE}descriptor: Descriptor::of::<Config>(\n\"nand\", \"cells\")\n");
        let path = "crates/media/src/flash/mod.rs";
        let expected = format!("{path}:1: the model in the folder \"flash\" calls itself \"nand\"");
        assert_eq!(found(&[FAMILY, (path, &model)]), [expected]);
        assert_eq!(found(&[FAMILY, (path, &model.replace("nand", "flash"))]), Vec::<String>::new());
    }

    #[test]
    fn a_model_may_not_name_another_in_any_way() {
        let nosy = "use super::super::pcm::Pcm;\nuse crate::{pcm, Medium};\nuse nacre_media::pcm::X;\nuse super::pcm::mine;\n";
        let files = [
            FAMILY,
            ("crates/media/src/flash/mod.rs", WHOLE),
            ("crates/media/src/flash/page.rs", nosy),
            ("crates/media/src/pcm/mod.rs", WHOLE),
        ];
        let lines: Vec<usize> = check(&Tree::of(&files)).into_iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [1, 2, 3]);
    }
}
