//! The derive macros `#[derive(Configuration)]`, `#[derive(Choice)]`, and `#[derive(Kinds)]` for the
//! configurations of components.
//!
//! The fields of a struct, their doc comments, and their `#[config(...)]` attributes are the source of the
//! reading and checking code, the defaults with their sources, the JSON Schema, the Python classes, and the
//! model reference.
//!
//! Field attributes: `default` (a literal; text for quantities, choices and slots), `min`, `max` (literals
//! that are valid for the type of the field), `source` (required with a default: `"<confidence>: <origin>"`),
//! and `flatten` (the fields of a nested configuration become fields of this table). `flatten` may be
//! combined with `with(field(...), ...)`, which overrides `name`, `doc`, `default`, `min`, `max`, and
//! `source` of a nested field. With `after = "key"`, the nested field follows the field with that key. Struct
//! attributes: `#[config(check = "path")]` names a `fn(&Self, &mut Reader)` that checks rules about several
//! fields. `#[config(short = "key")]` allows the value of the field `key` instead of the whole table.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprLit, Fields, Ident, Lit, LitStr, Result, parse_macro_input,
};

/// Implements `nacre_config::Configuration` for a struct with named fields.
#[proc_macro_derive(Configuration, attributes(config))]
pub fn derive_configuration(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    configuration(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// Implements `nacre_config::FieldType` for an enum without data. Each variant is a word.
#[proc_macro_derive(Choice)]
pub fn derive_choice(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    choice(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// Implements `nacre_config::FieldType` for an enum whose variants are empty or hold one configuration each.
/// In a document, the value is a table with `kind`, which is the name of the variant, and the settings of the
/// variant. The name of the enum is the schema name of the setting.
#[proc_macro_derive(Kinds)]
pub fn derive_kinds(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    kinds(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn configuration(input: &DeriveInput) -> Result<Tokens> {
    let name = &input.ident;
    let doc = doc_of(&input.attrs);
    let attributes = Attributes::of(&input.attrs)?;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(name, "a configuration is a struct"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(name, "a configuration has named fields"));
    };
    let (mut described, mut reads, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let mut places = Vec::new();
    for field in &fields.named {
        places.extend(places_of(field)?);
        let (description, read) = described_and_read(field)?;
        described.push(description);
        reads.push(read);
        names.push(field.ident.as_ref().expect("named fields have names"));
    }
    let check = attributes.check.map(|path| {
        let path: Tokens = path.value().parse().expect("a path");
        quote! { #path(&config, reader); }
    });
    let count = described.len();
    let (mark, in_order) = match places.is_empty() {
        true => (quote!(), quote!()),
        false => {
            (quote! { let begin = reader.mark(); }, quote! { reader.in_order_of(begin, &Self::fields()); })
        }
    };
    let (impl_generics, type_generics, bounds) = input.generics.split_for_impl();
    let (shape, read) = match attributes.short {
        None => (
            quote! { ::nacre_config::Shape::Table(<Self as ::nacre_config::Configuration>::fields) },
            quote! { <Self as ::nacre_config::Configuration>::read(node, reader) },
        ),
        Some(key) => (
            quote! { ::nacre_config::Shape::Short(#key, <Self as ::nacre_config::Configuration>::fields) },
            quote! { ::nacre_config::read_short::<Self>(#key, node, reader) },
        ),
    };
    Ok(quote! {
        impl #impl_generics ::nacre_config::Configuration for #name #type_generics #bounds {
            const DOC: &'static str = #doc;
            fn fields() -> Vec<::nacre_config::Field> {
                let parts: [Vec<::nacre_config::Field>; #count] = [#(#described),*];
                ::nacre_config::placed(parts.concat(), &[#(#places),*])
            }
            fn read_fields(
                table: &::nacre_config::Node,
                reader: &mut ::nacre_config::Reader<'_>,
            ) -> Option<Self> {
                let _ = (&table, &reader);
                #mark
                #(#reads)*
                #in_order
                let config = Self { #(#names: #names?),* };
                #check
                Some(config)
            }
        }
        impl #impl_generics ::nacre_config::FieldType for #name #type_generics #bounds {
            fn shape() -> ::nacre_config::Shape {
                #shape
            }
            fn read(node: &::nacre_config::Node, reader: &mut ::nacre_config::Reader<'_>) -> Option<Self> {
                #read
            }
        }
    })
}

/// Generates the code that describes a field, and the code that reads the field.
fn described_and_read(field: &syn::Field) -> Result<(Tokens, Tokens)> {
    let ident = field.ident.as_ref().expect("named fields have names");
    let (key, ty, doc) = (ident.to_string(), &field.ty, doc_of(&field.attrs));
    let attributes = Attributes::of(&field.attrs)?;
    if attributes.flatten {
        if attributes.default.is_some() || attributes.min.is_some() || attributes.max.is_some() {
            return Err(Error::new_spanned(ident, "a flattened configuration has no default or bounds"));
        }
        let uses = attributes.with.iter().map(used).collect::<Result<Vec<_>>>()?;
        return Ok((
            quote! { ::nacre_config::used(<#ty as ::nacre_config::Configuration>::fields(), &[#(#uses),*]) },
            quote! { let #ident = reader.flattened::<#ty>(table, &[#(#uses),*]); },
        ));
    }
    if let Some((name, _)) = attributes.with.first() {
        return Err(Error::new_spanned(name, "it is used so where its configuration is flattened"));
    }
    if attributes.default.is_some() && attributes.source.is_none() {
        return Err(Error::new_spanned(ident, "a default needs a source"));
    }
    let [default, min, max] = [&attributes.default, &attributes.min, &attributes.max].map(literal_tokens);
    let source = attributes.source.map_or_else(|| quote!(None), |source| quote!(Some(#source)));
    let description = quote! {
        ::nacre_config::Field {
            name: #key, doc: #doc, shape: <#ty as ::nacre_config::FieldType>::shape(),
            default: #default, min: #min, max: #max, source: #source,
        }.of::<#ty>()
    };
    let read = quote! { let #ident = reader.field::<#ty>(table, &#description); };
    Ok((quote! { vec![#description] }, read))
}

/// Generates an override of a field in a flattened configuration.
fn used((of, attributes): &(Ident, Attributes)) -> Result<Tokens> {
    if attributes.default.is_some() && attributes.source.is_none() {
        return Err(Error::new_spanned(of, "a default needs a source"));
    }
    let of = of.to_string();
    let [default, min, max] = [&attributes.default, &attributes.min, &attributes.max].map(literal_tokens);
    let text = |text: &Option<LitStr>| text.as_ref().map_or_else(|| quote!(None), |text| quote!(Some(#text)));
    let [name, doc, source] = [&attributes.name, &attributes.doc, &attributes.source].map(text);
    Ok(quote! {
        ::nacre_config::Use {
            of: #of, name: #name, doc: #doc, default: #default, min: #min, max: #max, source: #source,
        }
    })
}

/// Returns the changes to the field order of a flattened configuration, as pairs of keys. The field with
/// the first key follows the field with the second key.
fn places_of(field: &syn::Field) -> Result<Vec<Tokens>> {
    let place = |(of, uses): (Ident, Attributes)| {
        let name = uses.name.map_or_else(|| of.to_string(), |name| name.value());
        uses.after.map(|after| quote! { (#name, #after) })
    };
    Ok(Attributes::of(&field.attrs)?.with.into_iter().filter_map(place).collect())
}

fn choice(input: &DeriveInput) -> Result<Tokens> {
    let name = &input.ident;
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(name, "a choice is an enum"));
    };
    let mut words = Vec::new();
    let mut idents = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new_spanned(variant, "a choice carries no data; use a slot"));
        }
        words.push(snake_case(&variant.ident.to_string()));
        idents.push(&variant.ident);
    }
    let docs: Vec<String> = data.variants.iter().map(|variant| doc_of(&variant.attrs)).collect();
    Ok(quote! {
        impl ::nacre_config::FieldType for #name {
            fn shape() -> ::nacre_config::Shape {
                ::nacre_config::Shape::Choice(&[#((#words, #docs)),*])
            }
            fn read(node: &::nacre_config::Node, reader: &mut ::nacre_config::Reader<'_>) -> Option<Self> {
                match reader.choice(node, &[#(#words),*])? {
                    #(#words => Some(Self::#idents),)*
                    _ => None,
                }
            }
        }
    })
}

fn kinds(input: &DeriveInput) -> Result<Tokens> {
    let ident = &input.ident;
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(ident, "kinds are an enum"));
    };
    let (mut described, mut reads) = (Vec::new(), Vec::new());
    for variant in &data.variants {
        let (kind, name, doc) =
            (&variant.ident, snake_case(&variant.ident.to_string()), doc_of(&variant.attrs));
        let (fields, read) = match &variant.fields {
            Fields::Unit => {
                (quote! { Vec::new }, quote! { reader.only_known(&settings, &[]).map(|()| Self::#kind) })
            }
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let ty = &fields.unnamed[0].ty;
                (
                    quote! { <#ty as ::nacre_config::Configuration>::fields },
                    quote! { <#ty as ::nacre_config::Configuration>::read(&settings, reader).map(Self::#kind) },
                )
            }
            _ => return Err(Error::new_spanned(variant, "a kind holds one configuration, or nothing")),
        };
        described.push(quote! { ::nacre_config::Kind { name: #name, doc: #doc, fields: #fields } });
        reads.push(quote! { #name => #read });
    }
    let name = snake_case(&ident.to_string());
    Ok(quote! {
        impl #ident {
            /// All kinds of the setting, in documentation order.
            pub const KINDS: &'static [::nacre_config::Kind] = &[#(#described),*];
        }
        impl ::nacre_config::FieldType for #ident {
            fn shape() -> ::nacre_config::Shape {
                ::nacre_config::Shape::Kinds(#name, Self::KINDS)
            }
            fn read(node: &::nacre_config::Node, reader: &mut ::nacre_config::Reader<'_>) -> Option<Self> {
                let (kind, settings) = ::nacre_config::read_kind(#name, Self::KINDS, node, reader)?;
                match kind {
                    #(#reads,)*
                    _ => None,
                }
            }
        }
    })
}

#[derive(Default)]
struct Attributes {
    default: Option<Lit>,
    min: Option<Lit>,
    max: Option<Lit>,
    source: Option<LitStr>,
    check: Option<LitStr>,
    short: Option<LitStr>,
    flatten: bool,
    name: Option<LitStr>,
    doc: Option<LitStr>,
    after: Option<LitStr>,
    with: Vec<(Ident, Attributes)>,
}

impl Attributes {
    fn of(attributes: &[Attribute]) -> Result<Attributes> {
        let mut found = Attributes::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("config")) {
            attribute.parse_nested_meta(|meta| found.take(&meta, false))?;
        }
        Ok(found)
    }

    /// Parses one attribute of a field, or one override of a flattened field.
    fn take(&mut self, meta: &ParseNestedMeta<'_>, is_use: bool) -> Result<()> {
        let is = |word| meta.path.is_ident(word);
        match () {
            () if is("default") => self.default = Some(meta.value()?.parse()?),
            () if is("min") => self.min = Some(meta.value()?.parse()?),
            () if is("max") => self.max = Some(meta.value()?.parse()?),
            () if is("source") => self.source = Some(meta.value()?.parse()?),
            () if is("name") && is_use => self.name = Some(meta.value()?.parse()?),
            () if is("doc") && is_use => self.doc = Some(meta.value()?.parse()?),
            () if is("after") && is_use => self.after = Some(meta.value()?.parse()?),
            () if is_use => return Err(meta.error("known: name, doc, default, min, max, source, after")),
            () if is("check") => self.check = Some(meta.value()?.parse()?),
            () if is("short") => self.short = Some(meta.value()?.parse()?),
            () if is("flatten") => self.flatten = true,
            () if is("with") => meta.parse_nested_meta(|field| {
                let mut uses = Attributes::default();
                field.parse_nested_meta(|word| uses.take(&word, true))?;
                self.with.push((field.path.require_ident()?.clone(), uses));
                Ok(())
            })?,
            () => return Err(meta.error("known: default, min, max, source, flatten, with, check, short")),
        }
        Ok(())
    }
}

fn literal_tokens(literal: &Option<Lit>) -> Tokens {
    match literal {
        None => quote!(None),
        Some(Lit::Str(text)) => quote!(Some(::nacre_config::Literal::Text(#text))),
        Some(Lit::Int(number)) => quote!(Some(::nacre_config::Literal::Integer(#number))),
        Some(Lit::Float(number)) => quote!(Some(::nacre_config::Literal::Float(#number))),
        Some(Lit::Bool(flag)) => quote!(Some(::nacre_config::Literal::Flag(#flag))),
        Some(other) => Error::new_spanned(other, "use text, a number or a flag").into_compile_error(),
    }
}

/// Returns the doc comment of an item, with its lines joined by newlines.
fn doc_of(attributes: &[Attribute]) -> String {
    let lines: Vec<String> = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"))
        .filter_map(|attribute| attribute.meta.require_name_value().ok())
        .filter_map(|meta| match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        })
        .map(|line| line.strip_prefix(' ').unwrap_or(&line).to_string())
        .collect();
    lines.join("\n")
}

fn snake_case(name: &str) -> String {
    let mut word = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.extend(c.to_lowercase());
    }
    word
}
