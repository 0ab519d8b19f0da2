//! What the benchmarks share: the lines they work on, the reader they compare with, the clock, and a
//! server that can be killed.
//!
//! Figures are ratios within one run. Contenders take turns, so that a busy machine is equally
//! unfair to all of them, and the best of many rounds counts.

pub mod clocked;
pub mod crash;
pub mod host;
pub mod lines;
pub mod load;
pub mod programs;
pub mod race;
pub mod random;
pub mod stamps;
pub mod tagged;
