//! `derive(WireTagged)`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Result};

use crate::attrs::WireAttrs;
use crate::object::generic_argument;

pub(crate) fn expand(input: DeriveInput) -> Result<TokenStream> {
    let ident = &input.ident;
    let Some(tag) = WireAttrs::read(&input.attrs)?.tag else {
        return Err(Error::new(ident.span(), "WireTagged needs #[wire(tag = \"…\")]"));
    };
    let Data::Enum(data) = input.data else {
        return Err(Error::new(ident.span(), "WireTagged is for enums"));
    };

    let mut read_arms = Vec::new();
    let mut name_arms = Vec::new();
    let mut known_arms = Vec::new();
    let mut write_arms = Vec::new();
    let mut untyped = Vec::new();
    let mut names = Vec::new();
    let mut internal = Vec::new();
    let mut conversions = Vec::new();
    let mut other = None;
    for variant in data.variants {
        let attrs = WireAttrs::read(&variant.attrs)?;
        let Fields::Unnamed(fields) = &variant.fields else {
            return Err(Error::new(variant.ident.span(), "a variant holds one unnamed field"));
        };
        let Some(ty) = fields.unnamed.first().map(|field| &field.ty) else {
            return Err(Error::new(variant.ident.span(), "a variant holds one unnamed field"));
        };
        let variant = &variant.ident;
        if attrs.other {
            other = Some(variant.clone());
        }
        if attrs.other || !attrs.internal.is_empty() {
            if !attrs.internal.is_empty() {
                let names = &attrs.internal;
                internal.extend(names.iter().cloned());
                read_arms.push(quote! {
                    #(#names)|* => Ok(Self::#variant(crate::wire::Named::read(name, fields)?)),
                });
            }
            let known = !attrs.other;
            known_arms.push(quote!(Self::#variant(_) => #known,));
            name_arms.push(quote!(Self::#variant(named) => named.name(),));
            untyped.push(variant.clone());
            continue;
        }
        let Some(name) = attrs.name else {
            return Err(Error::new(variant.span(), "a variant needs #[wire(name = \"…\")]"));
        };
        names.push(name.clone());
        let inner = generic_argument(ty, "Box").unwrap_or_else(|| ty.clone());
        read_arms.push(quote! {
            #name => Ok(Self::#variant(<#inner as crate::wire::ReadFields>::read_fields(fields)?.into())),
        });
        known_arms.push(
            quote!(Self::#variant(object) => <#inner as crate::wire::Known>::is_known(object),),
        );
        name_arms.push(quote!(Self::#variant(_) => #name,));
        write_arms.push(quote! {
            Self::#variant(object) => {
                <#inner as crate::wire::WriteFields>::write_fields(object, map)
            }
        });
        conversions.push((inner, variant.clone()));
    }
    let Some(other) = other else {
        return Err(Error::new(ident.span(), "WireTagged needs a variant marked #[wire(other)]"));
    };

    let untyped_arms = untyped
        .iter()
        .map(|variant| quote!(Self::#variant(named) => named.write(map, #tag, &[#(#names),*]),));
    // A type that stands in two variants does not tell which one is meant.
    let conversions = conversions.iter().filter_map(|(inner, variant)| {
        let unique = conversions.iter().filter(|(other, _)| other == inner).count() == 1;
        unique.then(|| {
            quote! {
                impl From<#inner> for #ident {
                    fn from(object: #inner) -> Self {
                        Self::#variant(object.into())
                    }
                }
            }
        })
    });

    Ok(quote! {
        impl #ident {
            /// Every name that this crate knows, with or without types for its fields.
            pub const KNOWN: &'static [&'static str] = &[#(#names,)* #(#internal,)*];

            /// The name that stands in the tag field.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    #(#name_arms)*
                }
            }

            /// Whether this crate knows what this is, with or without types for its fields.
            #[must_use]
            pub fn is_known(&self) -> bool {
                crate::wire::Known::is_known(self)
            }
        }

        impl crate::wire::Known for #ident {
            fn is_known(&self) -> bool {
                match self {
                    #(#known_arms)*
                }
            }
        }

        impl crate::wire::ReadFields for #ident {
            fn read_fields<'de, A: serde::de::MapAccess<'de>>(
                fields: &mut crate::wire::Fields<'de, A>,
            ) -> Result<Self, A::Error> {
                crate::wire::read_variant(fields)
            }
        }

        impl crate::wire::WireTagged for #ident {
            const TAG: &'static str = #tag;

            fn read_variant<'de, A: serde::de::MapAccess<'de>>(
                name: &str,
                fields: &mut crate::wire::Fields<'de, A>,
            ) -> Result<Self, A::Error> {
                match name {
                    #(#read_arms)*
                    _ => Ok(Self::#other(crate::wire::Named::read(name, fields)?)),
                }
            }
        }

        impl crate::wire::FromWire for #ident {
            fn from_wire<'de, D: serde::Deserializer<'de>>(
                source: D,
                place: crate::wire::Place,
            ) -> Result<Self, D::Error> {
                crate::wire::read_object(source, place)
            }
        }

        impl<'de> serde::Deserialize<'de> for #ident {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                crate::wire::read_object(source, crate::wire::Place::OUTERMOST)
            }
        }

        impl crate::wire::WriteFields for #ident {
            fn write_fields<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                map.serialize_entry(#tag, self.name())?;
                match self {
                    #(#write_arms)*
                    #(#untyped_arms)*
                }
            }
        }

        impl serde::Serialize for #ident {
            fn serialize<S: serde::Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
                crate::wire::write_object(self, sink)
            }
        }

        #(#conversions)*
    })
}
