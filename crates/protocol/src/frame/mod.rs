//! All frames of each direction.

mod from_cli;
mod to_cli;

pub use self::from_cli::FromCli;
pub use self::to_cli::{
    AppliedEnvironmentVariables, BashCommand, ToCli, UpdateEnvironmentVariables,
};
