//! One table for the routes of the API and for its description.

/// Declares the function `routes` and, with the feature `openapi`, the type `Operations`.
///
/// `routes` returns a router with these handlers, and `Operations` their description, so a handler
/// cannot be one and not the other. A test compares the paths and methods of the two.
macro_rules! operations {
    (
        $(#[$about:meta])*
        $visibility:vis routes: $state:ty;
        $($path:literal => $($method:ident $($handler:ident)::+),+;)+
    ) => {
        $(#[$about])*
        $visibility fn routes() -> axum::Router<$state> {
            axum::Router::new()
                $(.route($path, axum::routing::MethodRouter::new()$(.$method($($handler)::+))+))+
        }

        /// The description of the operations.
        #[cfg(feature = "openapi")]
        #[derive(utoipa::OpenApi)]
        #[openapi(paths($($($($handler)::+),+),+))]
        pub(crate) struct Operations;
    };
}

pub(crate) use operations;
