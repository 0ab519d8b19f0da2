//! The one place that starts and ends processes.
