//! `#[derive(Configuration)]` and `#[derive(Choice)]`: a room's plain struct becomes its configuration.
//!
//! The struct is the only truth. From its fields, their doc comments and their `#[config(...)]`
//! attributes come reading, checking, defaults with their sources, the JSON Schema, the Python
//! classes and the model reference.
//!
//! Field attributes: `default` (a literal; text for quantities, choices and slots), `min`, `max`
//! (literals in the same form), `source` (needed with a default: `"<confidence>: <where from>"`).
//! Struct attribute: `#[config(check = "path")]` names a `fn(&Self, &mut Reader)` for rules that
//! span fields.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprLit, Fields, Lit, LitStr, Result, parse_macro_input,
};

/// Implements `nacre_config::Configuration` for a struct with named fields.
#[proc_macro_derive(Configuration, attributes(config))]
pub fn derive_configuration(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    configuration(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// Implements `nacre_config::FieldType` for an enum without data; each variant is one word.
#[proc_macro_derive(Choice)]
pub fn derive_choice(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    choice(&input).unwrap_or_else(Error::into_compile_error).into()
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
    let mut described = Vec::new();
    let mut reads = Vec::new();
    let mut names = Vec::new();
    for field in &fields.named {
        let ident = field.ident.as_ref().expect("named fields have names");
        let (key, ty, doc) = (ident.to_string(), &field.ty, doc_of(&field.attrs));
        let attributes = Attributes::of(&field.attrs)?;
        if attributes.default.is_some() && attributes.source.is_none() {
            return Err(Error::new_spanned(ident, "a default needs a source"));
        }
        let [default, min, max] = [&attributes.default, &attributes.min, &attributes.max].map(literal_tokens);
        let source = attributes.source.map_or_else(|| quote!(None), |source| quote!(Some(#source)));
        described.push(quote! {
            ::nacre_config::Field {
                name: #key, doc: #doc, shape: <#ty as ::nacre_config::FieldType>::shape(),
                default: #default, min: #min, max: #max, source: #source,
            }
        });
        let index = reads.len();
        reads.push(quote! { let #ident = reader.field::<#ty>(table, &fields[#index]); });
        names.push(ident);
    }
    let check = attributes.check.map(|path| {
        let path: Tokens = path.value().parse().expect("a path");
        quote! { #path(&config, reader); }
    });
    Ok(quote! {
        impl ::nacre_config::Configuration for #name {
            const DOC: &'static str = #doc;
            fn fields() -> Vec<::nacre_config::Field> { vec![#(#described),*] }
            fn read(table: &::nacre_config::Node, reader: &mut ::nacre_config::Reader<'_>) -> Option<Self> {
                let fields = <Self as ::nacre_config::Configuration>::fields();
                reader.only_known(table, &fields)?;
                #(#reads)*
                let config = Self { #(#names: #names?),* };
                #check
                Some(config)
            }
        }
        impl ::nacre_config::FieldType for #name {
            fn shape() -> ::nacre_config::Shape {
                ::nacre_config::Shape::Table(<Self as ::nacre_config::Configuration>::fields)
            }
            fn read(node: &::nacre_config::Node, reader: &mut ::nacre_config::Reader<'_>) -> Option<Self> {
                <Self as ::nacre_config::Configuration>::read(node, reader)
            }
        }
    })
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

#[derive(Default)]
struct Attributes {
    default: Option<Lit>,
    min: Option<Lit>,
    max: Option<Lit>,
    source: Option<LitStr>,
    check: Option<LitStr>,
}

impl Attributes {
    fn of(attributes: &[Attribute]) -> Result<Attributes> {
        let mut found = Attributes::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("config")) {
            attribute.parse_nested_meta(|meta| {
                let value = meta.value()?;
                if meta.path.is_ident("default") {
                    found.default = Some(value.parse()?);
                } else if meta.path.is_ident("min") {
                    found.min = Some(value.parse()?);
                } else if meta.path.is_ident("max") {
                    found.max = Some(value.parse()?);
                } else if meta.path.is_ident("source") {
                    found.source = Some(value.parse()?);
                } else if meta.path.is_ident("check") {
                    found.check = Some(value.parse()?);
                } else {
                    return Err(meta.error("known: default, min, max, source, check"));
                }
                Ok(())
            })?;
        }
        Ok(found)
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

/// The doc comment of an item, its lines joined by newlines.
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
