//! What a page loads beside itself. It is part of the program.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::OnceLock;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

/// The style, all parts as one.
const STYLE: &str = concat!(
    include_str!("../assets/style/base.css"),
    include_str!("../assets/style/frame.css"),
    include_str!("../assets/style/transcript.css"),
    include_str!("../assets/style/cards.css"),
    include_str!("../assets/style/session.css"),
    include_str!("../assets/style/views.css"),
    include_str!("../assets/style/sizes.css"),
);

/// The module, all parts as one: what is in one part can be used in all.
const SCRIPT: &str = concat!(
    include_str!("../assets/script/base.js"),
    include_str!("../assets/script/patches.js"),
    include_str!("../assets/script/live.js"),
    include_str!("../assets/script/commands.js"),
    include_str!("../assets/script/cards.js"),
    include_str!("../assets/script/keys.js"),
    include_str!("../assets/script/composer.js"),
    include_str!("../assets/script/session.js"),
    include_str!("../assets/script/views.js"),
    include_str!("../assets/script/begin.js"),
);
const WORKER: &str = include_str!("../assets/worker.js");
const ICON: &str = include_str!("../assets/icon.svg");
/// The icon for what does not draw SVG: home screens.
const ICON_180: &[u8] = include_bytes!("../assets/icon-180.png");
const ICON_512: &[u8] = include_bytes!("../assets/icon-512.png");
const MANIFEST: &str = include_str!("../assets/manifest.json");

/// The routes to it. There is nothing secret in it, and a browser asks for some of it without its cookie.
pub(crate) fn routes() -> Router {
    Router::new()
        .route("/assets/page.css", get(|| kept(STYLE, "text/css; charset=utf-8")))
        .route("/assets/page.js", get(|| kept(SCRIPT, "text/javascript; charset=utf-8")))
        .route("/assets/icon.svg", get(|| kept(ICON, "image/svg+xml")))
        // Some look for it there, without being told.
        .route("/apple-touch-icon.png", get(|| asked(ICON_180, "image/png")))
        .route("/assets/icon-512.png", get(|| asked(ICON_512, "image/png")))
        .route("/worker.js", get(|| asked(WORKER, "text/javascript; charset=utf-8")))
        .route("/manifest.webmanifest", get(|| asked(MANIFEST, "application/manifest+json")))
}

/// A name for what there is now. It is in the addresses, so that browsers can keep what they have.
pub(crate) fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        (STYLE, SCRIPT, ICON).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    })
}

/// Something that is asked for under a name of its own when it changes.
async fn kept(text: &'static str, kind: &'static str) -> Response {
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "public, max-age=31536000, immutable")], text)
        .into_response()
}

/// Something whose address stays.
async fn asked(content: impl IntoResponse, kind: &'static str) -> Response {
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-cache")], content).into_response()
}
