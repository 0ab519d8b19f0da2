//! What is said when a server listens.

use countersign_server::access::first::TOKEN_FILE;
use countersign_server::config::{Checked, Origin, Secret};
use countersign_server::server::Server;
use jiff::Timestamp;
use serde_json::json;

use crate::failure::Failure;
use crate::output::{Output, plain};
use crate::words::quoted;

/// Says where the server is and how to get in. It is no reason to end that nobody listens.
pub(super) async fn tell(server: &Server, checked: &Checked, with_link: bool, output: &mut Output) {
    let link = if with_link { link(server, output).await } else { None };
    tracing::info!(address = %server.address(), "the server listens");
    // Whoever closed standard output does not want to know.
    drop(say(server, checked, link.as_ref(), output));
}

/// A link that lets one browser in.
async fn link(server: &Server, output: &mut Output) -> Option<(Secret, Timestamp)> {
    match server.login_link().await {
        Ok(link) => Some(link),
        Err(error) => {
            super::warn(&format!("there is no link to sign in with: {error}"), output);
            None
        }
    }
}

fn say(
    server: &Server,
    checked: &Checked,
    link: Option<&(Secret, Timestamp)>,
    output: &mut Output,
) -> Result<(), Failure> {
    let config = &checked.config;
    let token = config.data.join(TOKEN_FILE);
    let token = token.is_file().then_some(token);
    if output.is_json() {
        output.json(&json!({
            "url": server.url(),
            "listening": server.address().to_string(),
            "data": config.data,
            "token_file": token,
            "login_link": link.map(|(url, _)| url.expose()),
        }))?;
        return output.flush();
    }
    output.line(format_args!("Countersign listens on {}", plain(server.url())))?;
    if let Some((url, _)) = link {
        output.line(format_args!("Sign in, once and soon:  {}", plain(url.expose())))?;
    }
    if let Some(token) = &token {
        let new = if server.token_file().is_some() { "The first token is" } else { "A token is" };
        let path = plain(&token.display().to_string());
        output.line(format_args!("{new} in {path}"))?;
    }
    let root = config.roots.first().map(|root| quoted(&root.display().to_string()));
    let root = plain(root.as_deref().unwrap_or("FOLDER"));
    let exports = exports(server, checked);
    if !exports.is_empty() {
        let exports = plain(&exports.join(" "));
        output.line(format_args!("In another terminal:     export {exports}"))?;
    }
    output.line(format_args!(
        "A session:               countersign sessions new --folder {root} \"…\""
    ))?;
    output.line("What waits for you:      countersign inbox")?;
    output.flush()
}

/// What other commands have to be told to find the server, because only its command line says it.
fn exports(server: &Server, checked: &Checked) -> Vec<String> {
    let by_flag = |key: &str| matches!(checked.origins.get(key), Some(Origin::Flag));
    let config = &checked.config;
    let mut exports = Vec::new();
    let said = ["listen", "public_url", "tls.certificate"].into_iter().any(by_flag);
    if said || config.listen.port() == 0 {
        exports.push(format!("COUNTERSIGN_SERVER={}", server.url()));
    }
    if by_flag("data") {
        exports.push(format!("COUNTERSIGN_DATA={}", quoted(&config.data.display().to_string())));
    }
    if by_flag("tls.certificate")
        && let Some(files) = config.tls.files()
    {
        let certificate = files.certificate.display().to_string();
        exports.push(format!("COUNTERSIGN_CA_FILE={}", quoted(&certificate)));
    }
    exports
}
