//! What a power loss does to the tables: damaged word lines, and older versions that come back.

mod falling_back;
mod word_lines;
