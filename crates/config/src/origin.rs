//! Origins of the values of a document.

use std::sync::Arc;

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Written in a file.
    File {
        /// The file, as the user named it.
        name: Arc<str>,
        /// Line, from 1.
        line: u32,
    },
    /// Set on the command line or by a program; holds the text of the override.
    Override(Arc<str>),
    /// From a catalog entry.
    Catalog {
        /// The entry.
        entry: Arc<str>,
        /// Publication of the number.
        source: Arc<str>,
        /// Confidence in the number.
        confidence: Arc<str>,
    },
    /// The default of a model; holds `"<confidence>: <source>"`.
    Default(&'static str),
}

impl Origin {
    /// A short name of the origin: `server.toml:9`, `--set run.seed=3`, `catalog pcm_ssd`, `default`.
    pub fn place(&self) -> String {
        match self {
            Origin::File { name, line } => format!("{name}:{line}"),
            Origin::Override(text) => format!("--set {text}"),
            Origin::Catalog { entry, .. } => format!("catalog {entry}"),
            Origin::Default(_) => "default".into(),
        }
    }

    /// The path that an override sets.
    pub fn overridden(&self) -> Option<&str> {
        match self {
            Origin::Override(text) => Some(text.split_once('=').map_or(&**text, |(path, _)| path)),
            _ => None,
        }
    }
}
