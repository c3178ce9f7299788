//! Comparisons between the rooms, and what holds for all of them.
