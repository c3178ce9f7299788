//! Origins of the values of a document.

use std::sync::Arc;

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The value is from a file.
    File {
        /// Name of the file as given by the user.
        name: Arc<str>,
        /// Line number, counted from 1.
        line: u32,
    },
    /// The value was set on the command line or by a program. Contains the text of the override.
    Override(Arc<str>),
    /// The value is from a catalog entry.
    Catalog {
        /// Name of the entry.
        entry: Arc<str>,
        /// Publication from which the number is taken.
        source: Arc<str>,
        /// Confidence level of the number.
        confidence: Arc<str>,
    },
    /// The value is a default of a model. Contains `"<confidence>: <source>"`.
    Default(&'static str),
}

impl Origin {
    /// Returns a short name of the origin, e.g. `server.toml:9`, `--set run.seed=3`, `catalog pcm_ssd`, or
    /// `default`.
    pub fn place(&self) -> String {
        match self {
            Origin::File { name, line } => format!("{name}:{line}"),
            Origin::Override(text) => format!("--set {text}"),
            Origin::Catalog { entry, .. } => format!("catalog {entry}"),
            Origin::Default(_) => "default".into(),
        }
    }

    /// Returns the path that the override sets, if the origin is an override.
    pub fn overridden(&self) -> Option<&str> {
        match self {
            Origin::Override(text) => Some(text.split_once('=').map_or(&**text, |(path, _)| path)),
            _ => None,
        }
    }
}
