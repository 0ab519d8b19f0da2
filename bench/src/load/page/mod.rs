//! The web page: how much a browser loads, how long a session may be before its page is slow, and how
//! long it takes until what the model says is on the screen.

mod long;
#[cfg(feature = "browser")]
mod screen;
mod script;
mod views;
mod visitor;
mod weight;

use std::time::Duration;

use self::long::Template;
use self::visitor::Visitor;
use super::report::{Report, now};
use super::stage::Stage;
use super::{Failure, Options};

/// How long the session that the long ones are made of keeps its process.
const IDLE_AFTER: Duration = Duration::from_millis(300);

/// How many messages a session has that is not long.
const FEW: u64 = 100;

pub(super) async fn measure(options: &Options, report: &mut Report) -> Result<(), Failure> {
    now("page: its weight");
    let stage = Stage::with_a_clock(options, script::script(options.pieces)?).await?;
    script::lay_out(&stage.host.root)?;
    let mut host = stage.host.clone();
    host.idle_after = Some(IDLE_AFTER);
    let served = stage.serve(&host).await?;
    weight::measure(&Visitor::of(&served)?, report).await?;
    let session = long::run(&stage, &served).await?;
    served.stop().await?;
    let template = Template::read(&stage, session).await?;
    let mut sessions = Vec::new();
    for messages in [FEW, options.messages] {
        now(&format!("page: a session with {messages} messages is written"));
        sessions.push(template.write(&stage, messages).await?);
    }
    now("page: the two are looked at");
    let served = stage.serve(&stage.host).await?;
    views::measure(options, &Visitor::of(&served)?, &sessions, report).await?;
    in_a_browser(options, &stage, &served, &sessions, report).await?;
    served.stop().await?;
    stage.close().await
}

#[cfg(feature = "browser")]
use self::screen::measure as in_a_browser;

#[cfg(not(feature = "browser"))]
async fn in_a_browser(
    _: &Options,
    _: &Stage,
    _: &super::stage::Served,
    _: &[long::Long],
    _: &mut Report,
) -> Result<(), Failure> {
    now("page: what a browser shows is measured with the feature `browser`");
    Ok(())
}
