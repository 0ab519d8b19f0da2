//! `derive(WireObject)`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Attribute, Data, DeriveInput, Error, Fields, GenericArgument, Ident, PathArguments, Result,
    Type,
};

use crate::attrs::{WireAttrs, camel_case};

/// A field, and how it stands on the wire.
struct Field {
    ident: Ident,
    ty: Type,
    /// `T` of `Option<T>`.
    optional: Option<Type>,
    /// In the parameters of `new` although optional.
    in_new: bool,
    name: String,
    docs: Vec<Attribute>,
}

pub(crate) fn expand(input: DeriveInput) -> Result<TokenStream> {
    let container = WireAttrs::read(&input.attrs)?;
    let Data::Struct(data) = input.data else {
        return Err(Error::new(input.ident.span(), "WireObject is for structs"));
    };
    let Fields::Named(named) = data.fields else {
        return Err(Error::new(input.ident.span(), "WireObject needs named fields"));
    };

    let mut fields = Vec::new();
    let mut flattened = Vec::new();
    let mut decisive = None;
    let mut has_extra = false;
    for field in named.named {
        let Some(ident) = field.ident else { continue };
        if ident == "extra" {
            has_extra = true;
            continue;
        }
        let attrs = WireAttrs::read(&field.attrs)?;
        if attrs.decisive {
            decisive = Some(ident.clone());
        }
        if attrs.flatten {
            flattened.push((ident, field.ty));
            continue;
        }
        let plain = ident.to_string();
        let plain = plain.strip_prefix("r#").unwrap_or(&plain);
        let name = attrs.name.unwrap_or_else(|| {
            if container.camel_case { camel_case(plain) } else { plain.to_owned() }
        });
        let docs = field.attrs.into_iter().filter(|attr| attr.path().is_ident("doc")).collect();
        let optional = option_argument(&field.ty);
        fields.push(Field { ident, ty: field.ty, optional, in_new: attrs.new, name, docs });
    }
    if !has_extra {
        return Err(Error::new(input.ident.span(), "WireObject needs a field `extra: Extra`"));
    }
    if fields.iter().filter(|field| field.optional.is_some()).count() > 64 {
        return Err(Error::new(input.ident.span(), "at most 64 optional fields"));
    }

    let ident = &input.ident;
    let mut generics = input.generics.clone();
    for param in generics.type_params_mut() {
        param.bounds.push(syn::parse_quote!(crate::wire::FromWire));
    }
    let (read_generics, type_generics, read_where) = generics.split_for_impl();
    let mut de_generics = generics.clone();
    de_generics.params.insert(0, syn::parse_quote!('de));
    let (de_generics, _, _) = de_generics.split_for_impl();
    let mut write_generics = input.generics.clone();
    for param in write_generics.type_params_mut() {
        param.bounds.push(syn::parse_quote!(serde::Serialize));
    }
    let (write_generics, _, write_where) = write_generics.split_for_impl();

    let mut known_generics = input.generics.clone();
    for param in known_generics.type_params_mut() {
        param.bounds.push(syn::parse_quote!(crate::wire::Known));
    }
    let (known_generics, _, known_where) = known_generics.split_for_impl();
    let is_known = decisive.map(|field| {
        quote! {
            fn is_known(&self) -> bool {
                self.#field.is_known()
            }
        }
    });

    let slots = format_ident!("{ident}Slots");
    let slots_generics = &input.generics;
    let slot_fields = fields.iter().map(|Field { ident, ty, optional, .. }| {
        let ty = optional.as_ref().unwrap_or(ty);
        quote!(#ident: Option<#ty>)
    });
    let slot_flattened =
        flattened.iter().map(|(ident, ty)| quote!(#ident: <#ty as crate::wire::WireObject>::Slots));
    let slot_defaults = fields.iter().map(|Field { ident, .. }| quote!(#ident: None));
    let flat_defaults =
        flattened.iter().map(|(ident, _)| quote!(#ident: ::std::default::Default::default()));

    let mut next_null = 0u32;
    let mut accept_arms = Vec::new();
    let mut build_fields = Vec::new();
    let mut write_fields = Vec::new();
    for Field { ident: field, name, optional, .. } in &fields {
        if optional.is_some() {
            let bit = next_null;
            next_null += 1;
            accept_arms.push(quote! {
                #name => {
                    source.once(#name, slots.#field.is_some() || nulls.has(#bit))?;
                    slots.#field = source.value(#name)?;
                    if slots.#field.is_none() {
                        nulls.set(#bit);
                    }
                }
            });
            build_fields.push(quote!(#field: slots.#field));
            write_fields.push(quote! {
                match &self.#field {
                    Some(value) => map.serialize_entry(#name, value)?,
                    None if self.extra.nulls().has(#bit) => map.serialize_entry(#name, &())?,
                    None => {}
                }
            });
        } else {
            accept_arms.push(quote! {
                #name => {
                    source.once(#name, slots.#field.is_some())?;
                    slots.#field = Some(source.value(#name)?);
                }
            });
            build_fields.push(quote! {
                #field: slots.#field.ok_or_else(|| crate::wire::missing(#name))?
            });
            write_fields.push(quote!(map.serialize_entry(#name, &self.#field)?;));
        }
    }
    let flat_accept = flattened.iter().map(|(field, ty)| {
        quote! {
            if <#ty as crate::wire::WireObject>::accept(&mut slots.#field, key, source)? {
                return Ok(true);
            }
        }
    });
    let flat_build = flattened.iter().map(|(field, ty)| {
        quote! {
            #field: <#ty as crate::wire::WireObject>::build(
                slots.#field,
                ::std::default::Default::default(),
            )?
        }
    });
    let flat_write = flattened
        .iter()
        .map(|(field, _)| quote!(crate::wire::WriteFields::write_fields(&self.#field, map)?;));

    let constructors = constructors(&input.ident, &input.generics, &fields, &flattened);
    // Without a named field the `match` above never falls through.
    let refused = if fields.is_empty() { quote!(Ok(false)) } else { quote!(return Ok(false);) };
    let accepted = if fields.is_empty() { quote!() } else { quote!(Ok(true)) };
    let nulls_in_slots = if fields.iter().any(|field| field.optional.is_some()) {
        quote!(let nulls = &mut slots.nulls;)
    } else {
        quote!()
    };

    Ok(quote! {
        #[derive(Debug)]
        pub(crate) struct #slots #slots_generics {
            nulls: crate::wire::Nulls,
            #(#slot_fields,)*
            #(#slot_flattened,)*
        }

        impl #read_generics ::std::default::Default for #slots #type_generics #read_where {
            fn default() -> Self {
                Self { nulls: Default::default(), #(#slot_defaults,)* #(#flat_defaults,)* }
            }
        }

        impl #read_generics crate::wire::WireObject for #ident #type_generics #read_where {
            type Slots = #slots #type_generics;

            fn accept<'de, A: serde::de::MapAccess<'de>>(
                slots: &mut Self::Slots,
                key: &str,
                source: &mut crate::wire::Fields<'de, A>,
            ) -> Result<bool, A::Error> {
                #nulls_in_slots
                match key {
                    #(#accept_arms)*
                    _ => {
                        #(#flat_accept)*
                        #refused
                    }
                }
                #accepted
            }

            fn build<E: serde::de::Error>(
                slots: Self::Slots,
                extra: crate::wire::Extra,
            ) -> Result<Self, E> {
                Ok(Self {
                    #(#build_fields,)*
                    #(#flat_build,)*
                    extra: extra.with_nulls(slots.nulls),
                })
            }
        }

        impl #read_generics crate::wire::ReadFields for #ident #type_generics #read_where {
            fn read_fields<'de, A: serde::de::MapAccess<'de>>(
                fields: &mut crate::wire::Fields<'de, A>,
            ) -> Result<Self, A::Error> {
                crate::wire::read_slots(fields)
            }
        }

        impl #known_generics crate::wire::Known for #ident #type_generics #known_where {
            #is_known
        }

        impl #read_generics crate::wire::FromWire for #ident #type_generics #read_where {
            fn from_wire<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                crate::wire::read_object(source)
            }
        }

        impl #de_generics serde::Deserialize<'de> for #ident #type_generics #read_where {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                crate::wire::read_object(source)
            }
        }

        impl #write_generics crate::wire::WriteFields for #ident #type_generics #write_where {
            fn write_fields<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                #(#write_fields)*
                #(#flat_write)*
                self.extra.write(map)
            }
        }

        impl #write_generics serde::Serialize for #ident #type_generics #write_where {
            fn serialize<S: serde::Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
                crate::wire::write_object(self, sink)
            }
        }

        #constructors
    })
}

/// The most parameters a generated `new` takes; beyond that the reader cannot tell them apart.
const MOST_PARAMETERS: usize = 6;

fn constructors(
    ident: &Ident,
    generics: &syn::Generics,
    fields: &[Field],
    flattened: &[(Ident, Type)],
) -> TokenStream {
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let parameters = fields.iter().filter(|field| field.optional.is_none() || field.in_new);
    let setters = fields.iter().filter_map(|field| {
        let ty = field.optional.as_ref()?;
        let Field { ident, name, docs, .. } = field;
        let setter = format_ident!("with_{}", ident.to_string().trim_start_matches("r#"));
        let summary = format!("Sets [`{ident}`](Self::{ident}).");
        Some(quote! {
            #[doc = #summary]
            ///
            #(#docs)*
            #[must_use]
            pub fn #setter(mut self, #ident: impl Into<#ty>) -> Self {
                self.extra.forget(#name);
                self.#ident = Some(#ident.into());
                self
            }
        })
    });
    let count = parameters.clone().count() + flattened.len();
    let new = (count <= MOST_PARAMETERS).then(|| {
        let params = parameters.map(|Field { ident, ty, optional, .. }| {
            let ty = optional.as_ref().unwrap_or(ty);
            quote!(#ident: impl Into<#ty>)
        });
        let flat_params = flattened.iter().map(|(ident, ty)| quote!(#ident: #ty));
        let values = fields.iter().map(|Field { ident, optional, in_new, .. }| {
            match (optional.is_some(), in_new) {
                (false, _) => quote!(#ident: #ident.into()),
                (true, true) => quote!(#ident: Some(#ident.into())),
                (true, false) => quote!(#ident: None),
            }
        });
        let flat_values = flattened.iter().map(|(ident, _)| quote!(#ident));
        let default = (count == 0).then(|| {
            quote! {
                impl #impl_generics ::std::default::Default for #ident #type_generics #where_clause {
                    fn default() -> Self {
                        Self::new()
                    }
                }
            }
        });
        let summary = format!("Makes a `{ident}` of its required fields.");
        (
            quote! {
                #[doc = #summary]
                #[must_use]
                pub fn new(#(#params,)* #(#flat_params,)*) -> Self {
                    Self {
                        #(#values,)*
                        #(#flat_values,)*
                        extra: ::std::default::Default::default(),
                    }
                }
            },
            default,
        )
    });
    let (new, default) = new.unzip();
    let default = default.flatten();
    quote! {
        impl #impl_generics #ident #type_generics #where_clause {
            #new
            #(#setters)*
        }
        #default
    }
}

/// `T`, when the type is written `Option<T>`.
fn option_argument(ty: &Type) -> Option<Type> {
    generic_argument(ty, "Option")
}

/// `T`, when the type is written `wrapper<T>`.
pub(crate) fn generic_argument(ty: &Type, wrapper: &str) -> Option<Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    if last.ident != wrapper {
        return None;
    }
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(inner) => Some(inner.clone()),
        _ => None,
    }
}
