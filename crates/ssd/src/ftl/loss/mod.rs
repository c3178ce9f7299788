//! Effects of a power loss on the tables: damaged word lines, and restored older versions.

mod falling_back;
mod word_lines;
