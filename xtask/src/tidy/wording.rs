//! Check for banned words and phrases. Reports include suggestions.

use super::Problem;
use super::tree::{File, Tree};

/// A banned phrase.
struct Banned {
    /// Forms of the phrase in lower case. A form that ends in `*` matches the start of a word. A form that
    /// starts with `^` matches only at the start of a sentence, with a capital letter.
    forms: &'static [&'static str],
    /// Suggested replacement.
    instead: &'static str,
}

const BANNED: &[Banned] = &[
    Banned { forms: &["loss of power", "losses of power"], instead: "power loss" },
    Banned {
        forms: &[
            "lose power",
            "loses power",
            "lost power",
            "lose the power",
            "loses the power",
            "loses its power",
            "losing the power",
            "losing its power",
            "pull the power",
            "pulls the power",
            "pulled the power",
            "power is pulled",
            "losing power",
            "pulling the power",
        ],
        instead: "cut power, lose supply power",
    },
    Banned { forms: &["wrong bit", "wrong bits"], instead: "bit error" },
    Banned { forms: &["put right", "puts right", "putting right"], instead: "correct" },
    Banned {
        forms: &["sense again", "sensed again", "senses again", "sensing again"],
        instead: "read retry",
    },
    Banned { forms: &["one bit to a cell", "cells with one bit"], instead: "SLC mode" },
    Banned { forms: &["newest version", "newest versions"], instead: "valid page" },
    Banned {
        forms: &["operation that is being filled", "being filled"],
        instead: "open superblock, write frontier",
    },
    Banned { forms: &["so many", "so long", "so well"], instead: "N; up to N; until" },
    Banned { forms: &["goes on", "go on", "went on", "going on"], instead: "continue, resume" },
    Banned {
        forms: &[
            "is told",
            "are told",
            "was told",
            "were told",
            "be told",
            "is said",
            "are said",
            "was said",
            "be said",
        ],
        instead: "is notified, reports, lists",
    },
    Banned {
        forms: &["of yours", "of ours", "of its own", "of their own", "of his own"],
        instead: "your, our, its",
    },
    Banned { forms: &["is no"], instead: "is not a" },
    Banned { forms: &["beside"], instead: "next to, in addition to" },
    Banned { forms: &["in place of"], instead: "instead of" },
    Banned { forms: &["a fifth less"], instead: "+-20 %" },
    Banned { forms: &["mistake", "mistakes"], instead: "error" },
    Banned { forms: &["wish", "wishes", "wished"], instead: "request" },
    Banned { forms: &["nobody", "somebody", "whoever"], instead: "the component or the user by name" },
    Banned { forms: &["counted in"], instead: "currency, price basis" },
    Banned {
        forms: &[
            "catalogu*",
            "modell*",
            "behaviou*",
            "colou*",
            "utilis*",
            "ageing",
            "neighbou*",
            "summaris*",
            "serialis*",
            "initialis*",
            "optimisa*",
            "optimised",
            "normalis*",
            "levelling",
            "centre",
            "licence",
        ],
        instead: "American spelling",
    },
    Banned { forms: &["^What"], instead: "name the thing" },
    Banned { forms: &["^Where"], instead: "If, When" },
    Banned { forms: &["^Of"], instead: "name the thing" },
    Banned { forms: &["^Those"], instead: "name the thing" },
    Banned { forms: &["^So many"], instead: "N" },
    Banned { forms: &["^The same"], instead: "name the thing" },
    Banned { forms: &["^The one"], instead: "name the thing" },
    Banned { forms: &["as recalled", "is recalled", "are recalled"], instead: "from memory" },
    Banned { forms: &["unless told otherwise"], instead: "by default" },
    Banned {
        forms: &[
            "live page",
            "live pages",
            "live unit",
            "live units",
            "live data",
            "dead unit",
            "dead units",
        ],
        instead: "valid page, invalid page",
    },
    Banned { forms: &["promise", "promises", "promised"], instead: "guarantee" },
    Banned {
        forms: &["^How many", "^How much", "^How often", "^How long", "^How far", "^How well"],
        instead: "Number of; Time of",
    },
    Banned { forms: &["^Who", "^Whose", "^Whoever"], instead: "name the component or the user" },
    Banned { forms: &["a tenth", "a fifth", "two fifths"], instead: "10 %; 20 %; 40 %" },
    Banned { forms: &["power is lost", "loss of its power"], instead: "power fails, power loss" },
    Banned { forms: &["in sequence"], instead: "sequential" },
];

/// Acceptable phrases that contain a banned phrase.
const FINE: [&str; 18] = [
    "there is no",
    "is no longer",
    "is no more",
    "is no less",
    "is no room",
    "is no need",
    "is no other",
    "is no such",
    "so long as",
    "counted in a row",
    "in sequence.steps",
    // These are JavaScript syntax.
    "new promise(",
    "promise.all(",
    "promise.reject(",
    "promise.resolve(",
    // Former names in the changelog.
    "`promise`",
    "`promises`",
    "`beside`",
];

/// Files that must contain banned phrases, e.g. because they list or quote them.
const EXEMPT: [&str; 3] = ["docs/glossary.md", "xtask/src/tidy/wording.rs", "LICENSE"];

/// Reports every use of a banned phrase.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let texts: Vec<(&File, Flowing)> = written(tree).map(|file| (file, Flowing::of(&file.text))).collect();
    let mut problems = Vec::new();
    for banned in BANNED {
        for (file, flowing) in &texts {
            for (line, form) in flowing.find(banned.forms) {
                let text = format!("\"{form}\" is a phrase to avoid: {}", banned.instead);
                problems.push(Problem::new(&file.path, line, text));
            }
        }
    }
    problems
}

/// Returns the files that contain text written by a person. Generated files are skipped, because their text
/// is checked in its source.
fn written(tree: &Tree) -> impl Iterator<Item = &File> {
    let made = |file: &File| {
        let head = file.text.split('\n').take(6);
        head.clone().any(|line| line.contains("enerated by") || line.contains("Written by `make"))
            || ["docs/models/", "docs/api"].iter().any(|folder| file.path.starts_with(folder))
    };
    tree.files.iter().filter(move |file| {
        file.is(&["md", "rs", "py", "pyi", "toml", "js", "html"])
            && !EXEMPT.contains(&file.path.as_str())
            && !made(file)
    })
}

/// A text without line breaks and comment markers, so that phrases are found across lines.
struct Flowing {
    /// Original text, with its lines joined by spaces. An empty line becomes a NUL.
    text: String,
    /// Text converted to lower case.
    small: String,
    /// Offset of the start of each line in `text`.
    starts: Vec<usize>,
}

impl Flowing {
    fn of(source: &str) -> Flowing {
        let (mut text, mut starts) = (String::with_capacity(source.len()), Vec::new());
        for line in source.lines() {
            starts.push(text.len());
            let bare = line.trim().trim_start_matches(['/', '!', '#', '*', '>', '-']).trim_start();
            text.push_str(if bare.is_empty() { "\0" } else { bare });
            text.push(' ');
        }
        let small = text.to_ascii_lowercase();
        Flowing { text, small, starts }
    }

    /// Returns the line number (counted from 1) and the matched form of each match of `forms`.
    fn find<'a>(&self, forms: &[&'a str]) -> Vec<(usize, &'a str)> {
        let mut found = Vec::new();
        for form in forms {
            let (word, opens, begins) = match (form.strip_prefix('^'), form.strip_suffix('*')) {
                (Some(word), _) => (word, true, false),
                (_, Some(word)) => (word, false, true),
                _ => (*form, false, false),
            };
            let text = if opens { &self.text } else { &self.small };
            for (at, _) in text.match_indices(word) {
                let end = at + word.len();
                let whole = !text[..at].ends_with(is_word) && (begins || !text[end..].starts_with(is_word));
                if whole && !self.is_fine(at, end) && (!opens || self.is_statement(end)) {
                    found.push((self.starts.partition_point(|start| *start <= at), *form));
                }
            }
        }
        found
    }

    /// Returns whether the phrase from `at` to `end` is part of an acceptable phrase.
    fn is_fine(&self, at: usize, end: usize) -> bool {
        FINE.iter().any(|fine| {
            fine.match_indices(&self.small[at..end]).any(|(before, _)| {
                at.checked_sub(before)
                    .is_some_and(|start| self.small.get(start..).is_some_and(|rest| rest.starts_with(fine)))
            })
        })
    }

    /// Returns whether the text that continues at `end` is a statement, and not a question or a heading of a
    /// table.
    fn is_statement(&self, end: usize) -> bool {
        let rest = &self.text[end..];
        let follows =
            rest.strip_prefix(' ').is_some_and(|rest| rest.starts_with(|c: char| is_word(c) || c == '`'));
        let mark = rest.find(['.', '?', '!', ':', ';', '|', '\0', '"']);
        follows && mark.is_none_or(|mark| !rest[mark..].starts_with('?'))
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::Flowing;

    fn lines(text: &str, forms: &[&str]) -> Vec<usize> {
        Flowing::of(text).find(forms).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn a_phrase_is_found_across_lines_and_comment_marks() {
        assert_eq!(lines("/// a loss of\n    /// power\n", &["loss of power"]), [1]);
        assert_eq!(lines("x\n# Loss of power\n", &["loss of power"]), [2]);
    }

    #[test]
    fn words_are_whole_unless_a_beginning_is_asked_for() {
        assert!(lines("mistaken my_mistake", &["mistake"]).is_empty());
        assert_eq!(lines("the modelled one", &["modell*"]), [1]);
    }

    #[test]
    fn good_phrases_around_a_banned_one_are_left_alone() {
        assert!(lines("There is no file, and it is no longer there.", &["is no"]).is_empty());
        assert_eq!(lines("it is no file", &["is no"]), [1]);
    }

    #[test]
    fn a_sentence_may_ask_what_and_not_say_what() {
        assert_eq!(lines("What it is, in bytes.", &["^What"]), [1]);
        assert!(lines("What is it? | What | is", &["^What"]).is_empty());
    }
}
