//! Derive macros for the types of `countersign-protocol`.
//!
//! They do what `serde`'s derives cannot do together: keep every field a type does not know,
//! keep the difference between an absent field and `null`, and dispatch on a tag in one pass
//! wherever it stands in the object. The traits they implement live in the `wire` module of
//! `countersign-protocol`; the macros are of no use outside that crate.

mod attrs;
mod object;
mod tagged;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Maps a struct with named fields to a JSON object.
///
/// - A field of type `Option<T>` may be absent or `null`; every other field is required.
/// - The struct must have a field `extra: Extra`, which takes what the struct does not name.
/// - `#[wire(rename_all = "camelCase")]` on the struct and `#[wire(name = "…")]` on a field set
///   the spelling on the wire.
/// - `#[wire(flatten)]` reads another such struct from the same object.
/// - `#[wire(decisive)]` marks the field that tells whether the whole is of a known kind.
/// - `#[wire(new)]` makes an optional field a parameter of the generated `new`.
/// - `#[wire(fixed)]` keeps a required field that can have one value only out of `new`.
/// - `#[wire(nullable)]` adds `with_…_null` for a field in which `null` means something.
///
/// Besides the traits it writes `new`, which takes the required fields, and `with_…` for each
/// optional one.
#[proc_macro_derive(WireObject, attributes(wire))]
pub fn derive_wire_object(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    object::expand(input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Maps an enum to JSON objects that differ by a tag field.
///
/// - `#[wire(tag = "…")]` names the tag.
/// - Each variant holds one `WireObject` or `WireTagged`, boxed or not, and names its tag value with
///   `#[wire(name = "…")]`.
/// - One variant may be marked `#[wire(internal("a", "b", …))]`: names that are known but whose
///   fields are not typed. It holds a `Named`.
/// - One variant must be marked `#[wire(other)]` and hold a `Named`: everything else.
#[proc_macro_derive(WireTagged, attributes(wire))]
pub fn derive_wire_tagged(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    tagged::expand(input).unwrap_or_else(syn::Error::into_compile_error).into()
}
