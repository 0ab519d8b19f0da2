//! `derive(WireObject)`.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{
    Attribute, Data, DeriveInput, Error, Fields, GenericArgument, Generics, Ident, PathArguments,
    Result, Type, parse_quote,
};

use crate::attrs::{WireAttrs, camel_case};

/// The most parameters a generated `new` takes; beyond that the reader cannot tell them apart.
const MOST_PARAMETERS: usize = 6;

/// One bit a field, see `Nulls` of `countersign-protocol`.
const MOST_OPTIONAL: usize = 64;

pub(crate) fn expand(input: DeriveInput) -> Result<TokenStream> {
    let object = Object::read(input)?;
    let parts = [
        object.slots(),
        object.wire_object(),
        object.known(),
        object.reading(),
        object.writing(),
        object.constructors(),
    ];
    Ok(quote!(#(#parts)*))
}

/// The struct, as it stands on the wire.
struct Object {
    ident: Ident,
    generics: Generics,
    fields: Vec<Field>,
    flattened: Vec<Flattened>,
    /// The field that tells whether the whole is of a known kind.
    decisive: Option<Ident>,
}

/// A field, and how it stands on the wire.
struct Field {
    ident: Ident,
    /// The type, without the `Option` around it.
    value: Type,
    presence: Presence,
    name: String,
    docs: Vec<Attribute>,
    /// Whether `new` takes it.
    in_new: bool,
    /// Whether `null` means something else than absent.
    nullable: bool,
}

/// Whether a field has to be there.
enum Presence {
    Required,
    /// The bit is its number among the optional ones.
    Optional {
        bit: u32,
    },
}

/// Another object that is read from the same JSON object.
struct Flattened {
    ident: Ident,
    ty: Type,
}

impl Object {
    fn read(input: DeriveInput) -> Result<Self> {
        let container = WireAttrs::read(&input.attrs)?;
        let refuse = |message| Err(Error::new(input.ident.span(), message));
        let Data::Struct(data) = input.data else {
            return refuse("WireObject is for structs");
        };
        let Fields::Named(named) = data.fields else {
            return refuse("WireObject needs named fields");
        };

        let (mut fields, mut flattened, mut decisive) = (Vec::new(), Vec::new(), None);
        let (mut has_extra, mut bits) = (false, 0..);
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
                flattened.push(Flattened { ident, ty: field.ty });
                continue;
            }
            let name = attrs.name.unwrap_or_else(|| match container.camel_case {
                true => camel_case(&ident.to_string()),
                false => ident.to_string(),
            });
            let (value, presence) = match generic_argument(&field.ty, "Option") {
                Some(value) => (value, Presence::Optional { bit: bits.next().unwrap_or_default() }),
                None => (field.ty, Presence::Required),
            };
            let docs = field.attrs.into_iter().filter(|attr| attr.path().is_ident("doc")).collect();
            let in_new = match presence {
                Presence::Required => !attrs.fixed,
                Presence::Optional { .. } => attrs.new,
            };
            let nullable = attrs.nullable;
            fields.push(Field { ident, value, presence, name, docs, in_new, nullable });
        }
        if !has_extra {
            return refuse("WireObject needs a field `extra: Extra`");
        }
        if fields.iter().filter(|field| field.is_optional()).count() > MOST_OPTIONAL {
            return refuse("WireObject takes at most 64 optional fields");
        }
        Ok(Self { ident: input.ident, generics: input.generics, fields, flattened, decisive })
    }

    fn slots_ident(&self) -> Ident {
        format_ident!("{}Slots", self.ident)
    }

    /// The struct that takes the fields one by one.
    fn slots(&self) -> TokenStream {
        let (slots, declared) = (self.slots_ident(), &self.generics);
        let generics = bounded(declared, &quote!(crate::wire::FromWire));
        let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
        let names: Vec<_> = self.fields.iter().map(|field| &field.ident).collect();
        let values = self.fields.iter().map(|field| &field.value);
        let flat_names: Vec<_> = self.flattened.iter().map(|flat| &flat.ident).collect();
        let flat_types = self.flattened.iter().map(|flat| &flat.ty);
        quote! {
            #[derive(Debug)]
            pub(crate) struct #slots #declared {
                nulls: crate::wire::Nulls,
                #(#names: Option<#values>,)*
                #(#flat_names: <#flat_types as crate::wire::WireObject>::Slots,)*
            }

            impl #impl_generics ::std::default::Default for #slots #type_generics #where_clause {
                fn default() -> Self {
                    Self {
                        nulls: ::std::default::Default::default(),
                        #(#names: None,)*
                        #(#flat_names: ::std::default::Default::default(),)*
                    }
                }
            }
        }
    }

    fn wire_object(&self) -> TokenStream {
        let (ident, slots) = (&self.ident, self.slots_ident());
        let generics = bounded(&self.generics, &quote!(crate::wire::FromWire));
        let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
        let arms = self.fields.iter().map(Field::accept_arm);
        let flat_names: Vec<_> = self.flattened.iter().map(|flat| &flat.ident).collect();
        let flat_types: Vec<_> = self.flattened.iter().map(|flat| &flat.ty).collect();
        let fields = self.fields.iter().map(Field::build);
        quote! {
            impl #impl_generics crate::wire::WireObject for #ident #type_generics #where_clause {
                type Slots = #slots #type_generics;

                fn accept<'de, A: serde::de::MapAccess<'de>>(
                    slots: &mut Self::Slots,
                    key: &str,
                    source: &mut crate::wire::Fields<'de, A>,
                ) -> Result<bool, A::Error> {
                    match key {
                        #(#arms)*
                        #(_ if <#flat_types as crate::wire::WireObject>::accept(
                            &mut slots.#flat_names, key, source,
                        )? => Ok(true),)*
                        _ => Ok(false),
                    }
                }

                fn build<E: serde::de::Error>(
                    slots: Self::Slots,
                    extra: crate::wire::Extra,
                ) -> Result<Self, E> {
                    Ok(Self {
                        #(#fields,)*
                        #(#flat_names: <#flat_types as crate::wire::WireObject>::build(
                            slots.#flat_names,
                            ::std::default::Default::default(),
                        )?,)*
                        extra: extra.with_nulls(slots.nulls),
                    })
                }
            }
        }
    }

    fn known(&self) -> TokenStream {
        let ident = &self.ident;
        let generics = bounded(&self.generics, &quote!(crate::wire::Known));
        let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
        let is_known = self.decisive.as_ref().map(|field| {
            quote! {
                fn is_known(&self) -> bool {
                    self.#field.is_known()
                }
            }
        });
        quote! {
            impl #impl_generics crate::wire::Known for #ident #type_generics #where_clause {
                #is_known
            }
        }
    }

    fn reading(&self) -> TokenStream {
        let ident = &self.ident;
        let generics = bounded(&self.generics, &quote!(crate::wire::FromWire));
        let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
        let mut de_generics = generics.clone();
        de_generics.params.insert(0, parse_quote!('de));
        let (de_generics, _, _) = de_generics.split_for_impl();
        quote! {
            impl #impl_generics crate::wire::ReadFields for #ident #type_generics #where_clause {
                fn read_fields<'de, A: serde::de::MapAccess<'de>>(
                    fields: &mut crate::wire::Fields<'de, A>,
                ) -> Result<Self, A::Error> {
                    crate::wire::read_slots(fields)
                }
            }

            impl #impl_generics crate::wire::FromWire for #ident #type_generics #where_clause {
                fn from_wire<'de, D: serde::Deserializer<'de>>(
                    source: D,
                    place: crate::wire::Place,
                ) -> Result<Self, D::Error> {
                    crate::wire::read_object(source, place)
                }
            }

            impl #de_generics serde::Deserialize<'de> for #ident #type_generics #where_clause {
                fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                    crate::wire::read_object(source, crate::wire::Place::OUTERMOST)
                }
            }
        }
    }

    fn writing(&self) -> TokenStream {
        let ident = &self.ident;
        let generics = bounded(&self.generics, &quote!(serde::Serialize));
        let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
        let fields = self.fields.iter().map(Field::write);
        let names = self.fields.iter().map(|field| &field.name);
        let flat_names = self.flattened.iter().map(|flat| &flat.ident);
        quote! {
            impl #impl_generics crate::wire::WriteFields for #ident #type_generics #where_clause {
                fn write_fields<M: serde::ser::SerializeMap>(
                    &self,
                    map: &mut M,
                ) -> Result<(), M::Error> {
                    #(#fields)*
                    #(crate::wire::WriteFields::write_fields(&self.#flat_names, map)?;)*
                    self.extra.write(map, &[#(#names),*])
                }
            }

            impl #impl_generics serde::Serialize for #ident #type_generics #where_clause {
                fn serialize<S: serde::Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
                    crate::wire::write_object(self, sink)
                }
            }
        }
    }

    /// `new`, the setters, and `Default` where `new` takes nothing.
    fn constructors(&self) -> TokenStream {
        let ident = &self.ident;
        let (impl_generics, type_generics, where_clause) = self.generics.split_for_impl();
        let setters = self.fields.iter().filter_map(Field::setter);
        let parameters = self.fields.iter().filter(|field| field.in_new);
        let count = parameters.clone().count() + self.flattened.len();
        let new = (count <= MOST_PARAMETERS).then(|| {
            let names = parameters.clone().map(|field| &field.ident);
            let parameter_types = parameters.clone().map(Field::parameter);
            let flat_names: Vec<_> = self.flattened.iter().map(|flat| &flat.ident).collect();
            let flat_types = self.flattened.iter().map(|flat| &flat.ty);
            let fields = self.fields.iter().map(Field::construct);
            let summary = format!("Makes a `{ident}` of its required fields.");
            quote! {
                #[doc = #summary]
                #[must_use]
                pub fn new(#(#names: #parameter_types,)* #(#flat_names: #flat_types,)*) -> Self {
                    Self {
                        #(#fields,)*
                        #(#flat_names,)*
                        extra: ::std::default::Default::default(),
                    }
                }
            }
        });
        let default = (count == 0).then(|| {
            quote! {
                impl #impl_generics ::std::default::Default for #ident #type_generics #where_clause {
                    fn default() -> Self {
                        Self::new()
                    }
                }
            }
        });
        quote! {
            impl #impl_generics #ident #type_generics #where_clause {
                #new
                #(#setters)*
            }
            #default
        }
    }
}

impl Field {
    fn is_optional(&self) -> bool {
        matches!(self.presence, Presence::Optional { .. })
    }

    /// Takes the value from the wire into its slot.
    fn accept_arm(&self) -> TokenStream {
        let Self { ident, name, presence, .. } = self;
        match presence {
            Presence::Required => quote! {
                #name => {
                    source.once(#name, slots.#ident.is_some())?;
                    slots.#ident = Some(source.value(#name)?);
                    Ok(true)
                }
            },
            Presence::Optional { bit } => quote! {
                #name => {
                    source.once(#name, slots.#ident.is_some() || slots.nulls.has(#bit))?;
                    slots.#ident = source.value(#name)?;
                    if slots.#ident.is_none() {
                        slots.nulls.set(#bit);
                    }
                    Ok(true)
                }
            },
        }
    }

    /// The field of the struct, out of its slot.
    fn build(&self) -> TokenStream {
        let Self { ident, name, presence, .. } = self;
        match presence {
            Presence::Required => quote! {
                #ident: slots.#ident.ok_or_else(|| E::missing_field(#name))?
            },
            Presence::Optional { .. } => quote!(#ident: slots.#ident),
        }
    }

    /// Writes the field into the map.
    fn write(&self) -> TokenStream {
        let Self { ident, name, presence, .. } = self;
        match presence {
            Presence::Required => quote!(map.serialize_entry(#name, &self.#ident)?;),
            Presence::Optional { bit } => quote! {
                match &self.#ident {
                    Some(value) => map.serialize_entry(#name, value)?,
                    None if self.extra.nulls().has(#bit) => map.serialize_entry(#name, &())?,
                    None => {}
                }
            },
        }
    }

    /// The field of the struct, out of the parameters of `new`.
    fn construct(&self) -> TokenStream {
        let ident = &self.ident;
        match (self.is_optional(), self.in_new) {
            (false, true) => quote!(#ident: #ident.into()),
            (false, false) => quote!(#ident: ::std::default::Default::default()),
            (true, true) => quote!(#ident: Some(#ident.into())),
            (true, false) => quote!(#ident: None),
        }
    }

    /// How the field is passed. Numbers and truth values as they are: what converts into them is
    /// seldom meant.
    fn parameter(&self) -> TokenStream {
        let value = &self.value;
        match value {
            Type::Path(path) if path.path.is_ident("bool") || path.path.is_ident("u64") => {
                quote!(#value)
            }
            _ => quote!(impl Into<#value>),
        }
    }

    fn setter(&self) -> Option<TokenStream> {
        let Self { ident, name, docs, .. } = self;
        let Presence::Optional { bit } = self.presence else { return None };
        let set_null = self.nullable.then(|| {
            let setter = format_ident!("with_{ident}_null");
            let summary =
                format!("Sets [`{ident}`](Self::{ident}) to `null`, which is not absent.");
            quote! {
                #[doc = #summary]
                #[must_use]
                pub fn #setter(mut self) -> Self {
                    self.#ident = None;
                    self.extra.set_null(#bit);
                    self
                }
            }
        });
        let parameter = self.parameter();
        Some({
            let setter = format_ident!("with_{ident}");
            let summary = format!("Sets [`{ident}`](Self::{ident}).");
            quote! {
                #[doc = #summary]
                ///
                #(#docs)*
                #[must_use]
                pub fn #setter(mut self, #ident: #parameter) -> Self {
                    self.extra.forget(#name);
                    self.#ident = Some(#ident.into());
                    self
                }
                #set_null
            }
        })
    }
}

/// The generics with a bound on every type parameter.
fn bounded(generics: &Generics, bound: &impl ToTokens) -> Generics {
    let mut generics = generics.clone();
    for param in generics.type_params_mut() {
        param.bounds.push(parse_quote!(#bound));
    }
    generics
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
