//! The `#[wire(…)]` attributes.

use syn::punctuated::Punctuated;
use syn::{Attribute, Error, LitStr, Result, Token, parenthesized};

/// Everything that can stand in `#[wire(…)]`; which of it makes sense depends on the place.
#[derive(Default)]
pub(crate) struct WireAttrs {
    pub(crate) name: Option<String>,
    pub(crate) tag: Option<String>,
    pub(crate) camel_case: bool,
    pub(crate) flatten: bool,
    pub(crate) new: bool,
    pub(crate) fixed: bool,
    pub(crate) nullable: bool,
    pub(crate) decisive: bool,
    pub(crate) other: bool,
    pub(crate) internal: Vec<String>,
}

impl WireAttrs {
    pub(crate) fn read(attrs: &[Attribute]) -> Result<Self> {
        let mut found = Self::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("wire")) {
            attr.parse_nested_meta(|meta| {
                if meta.path.is_ident("name") {
                    found.name = Some(meta.value()?.parse::<LitStr>()?.value());
                } else if meta.path.is_ident("tag") {
                    found.tag = Some(meta.value()?.parse::<LitStr>()?.value());
                } else if meta.path.is_ident("rename_all") {
                    let case = meta.value()?.parse::<LitStr>()?;
                    if case.value() != "camelCase" {
                        return Err(Error::new(case.span(), "only \"camelCase\" is supported"));
                    }
                    found.camel_case = true;
                } else if meta.path.is_ident("flatten") {
                    found.flatten = true;
                } else if meta.path.is_ident("new") {
                    found.new = true;
                } else if meta.path.is_ident("fixed") {
                    found.fixed = true;
                } else if meta.path.is_ident("nullable") {
                    found.nullable = true;
                } else if meta.path.is_ident("decisive") {
                    found.decisive = true;
                } else if meta.path.is_ident("other") {
                    found.other = true;
                } else if meta.path.is_ident("internal") {
                    let names;
                    parenthesized!(names in meta.input);
                    let names = Punctuated::<LitStr, Token![,]>::parse_terminated(&names)?;
                    found.internal = names.iter().map(LitStr::value).collect();
                } else {
                    return Err(meta.error("unknown `wire` attribute"));
                }
                Ok(())
            })?;
        }
        Ok(found)
    }
}

/// `tool_use_id` to `toolUseId`.
pub(crate) fn camel_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut upper = false;
    for c in name.chars() {
        if c == '_' {
            upper = true;
        } else if upper {
            out.extend(c.to_uppercase());
            upper = false;
        } else {
            out.push(c);
        }
    }
    out
}
