//! x
use crate::decode::Frame;
use crate::line::Kind;
use crate::wire::{Extra, Named};
use countersign_protocol_derive::{WireObject, WireTagged};

/// x
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct KeepAlive {
    /// x
    pub startup_mark: Option<String>,
    /// x
    pub extra: Extra,
}
/// x
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum FromCli {
    /// x
    #[wire(name = "keep_alive")]
    KeepAlive(KeepAlive),
    /// x
    #[wire(other)]
    Other(Named),
}
impl Frame for FromCli {
    fn kind(&self) -> Kind {
        Kind { frame: self.name().into(), subtype: None }
    }
}
