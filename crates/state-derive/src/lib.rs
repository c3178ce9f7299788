//! The derive macros `#[derive(State)]` and `#[derive(Value)]`, which save and restore the fields of a type.
//!
//! `State` restores a component that was built from the same configuration, and starts a section whose name
//! is that of the type in words. For an enum, it restores the fields of the variant, which is determined by
//! the configuration. `Value` is for types that are read without an existing value, such as the elements of a
//! growing list. It does not start a section.
//!
//! Field attributes: `skip = "<why>"` does not save the field. `same` marks a part of the configuration that
//! is saved for comparison. `varies` marks a value that is replaced completely, such as a growing list or an
//! option. `elements_vary` marks a `Vec` of such values with a fixed length. `sparse` marks a `Vec` with a
//! fixed length that is mostly zero: runs of zeros are not saved, and their memory is not touched when they
//! are restored. `sparse, varies` marks such a `Vec` of variable length. Type attributes: `after = "path"`
//! names a `fn(&mut Self) -> Result<(), String>` that rebuilds derived fields and rejects inconsistent
//! values. `bound = "T: State"` adds bounds to the implementation.

use proc_macro::TokenStream;
use proc_macro2::{Ident, TokenStream as Tokens};
use quote::{format_ident, quote};
use syn::{
    Attribute, Data, DeriveInput, Error, Fields, Generics, LitStr, Result, Type, Variant, parse_macro_input,
    parse_quote,
};

/// Implements `nacre_kernel::state::State`.
#[proc_macro_derive(State, attributes(state))]
pub fn derive_state(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    state(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// Implements `nacre_kernel::state::Value` and `State`.
#[proc_macro_derive(Value, attributes(state))]
pub fn derive_value(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    value(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn state(input: &DeriveInput) -> Result<Tokens> {
    let attributes = TypeAttributes::of(&input.attrs)?;
    let section = words(&input.ident.to_string());
    let (saved, restored) = match &input.data {
        Data::Struct(data) => {
            let fields = fields_of(&data.fields)?;
            let pattern = pattern(quote!(Self), &data.fields, &fields);
            let (save, restore) = (save_all(&fields), fields.iter().map(restore_one));
            (quote! { let #pattern = self; #save }, quote! { let #pattern = self; #(#restore)* })
        }
        Data::Enum(data) => state_of_enum(data.variants.iter())?,
        Data::Union(_) => return Err(Error::new_spanned(&input.ident, "a union has no state")),
    };
    let after = attributes.after_restored();
    let implementation = implementation(input, &attributes, &quote!(::nacre_kernel::state::State))?;
    Ok(quote! {
        #implementation {
            fn save(&self, state: &mut ::nacre_kernel::state::StateWriter) {
                state.section(#section);
                #saved
            }
            fn restore(
                &mut self,
                state: &mut ::nacre_kernel::state::StateReader<'_>,
            ) -> ::std::result::Result<(), ::nacre_kernel::state::StateError> {
                state.section(#section)?;
                #restored
                #after
                Ok(())
            }
        }
    })
}

/// Generates code that saves an enum whose variant is fixed, and code that restores it.
fn state_of_enum<'a>(variants: impl Iterator<Item = &'a Variant>) -> Result<(Tokens, Tokens)> {
    let (mut saves, mut restores) = (Vec::new(), Vec::new());
    for (tag, variant) in (0_u8..).zip(variants) {
        let (name, fields) = (&variant.ident, fields_of(&variant.fields)?);
        let pattern = pattern(quote!(Self::#name), &variant.fields, &fields);
        let (save, restore) = (save_all(&fields), fields.iter().map(restore_one));
        let expected = words(&name.to_string());
        saves.push(quote! { #pattern => { state.put_u8(#tag); #save } });
        restores.push(quote! {
            #pattern => {
                let found = state.u8(#expected)?;
                if found != #tag {
                    return Err(state.error(#expected.into(), format!("variant {found}")));
                }
                #(#restore)*
            }
        });
    }
    Ok((quote! { match self { #(#saves)* } }, quote! { match self { #(#restores)* } }))
}

fn value(input: &DeriveInput) -> Result<Tokens> {
    let attributes = TypeAttributes::of(&input.attrs)?;
    let (saved, read, minimum) = match &input.data {
        Data::Struct(data) => {
            let fields = value_fields_of(&data.fields)?;
            let pattern = pattern(quote!(Self), &data.fields, &fields);
            let (save, make) = (save_all(&fields), make(quote!(Self), &data.fields, &fields));
            let sizes = fields.iter().map(|Field { ty, .. }| {
                quote! { <#ty as ::nacre_kernel::state::Value>::BYTES_MIN }
            });
            (quote! { let #pattern = self; #save }, quote! { #make }, quote! { 0 #(+ #sizes)* })
        }
        Data::Enum(data) => {
            let (save, read) = value_of_enum(&input.ident, data.variants.iter())?;
            (save, read, quote!(1))
        }
        Data::Union(_) => return Err(Error::new_spanned(&input.ident, "a union has no state")),
    };
    let after = attributes.after.as_ref().map(|path| {
        let after = attributes.checked(path);
        quote! { { let this = &mut value; #after } }
    });
    let of_state = implementation(input, &attributes, &quote!(::nacre_kernel::state::State))?;
    let of_value = implementation(input, &attributes, &quote!(::nacre_kernel::state::Value))?;
    let mutable = after.is_some().then(|| quote!(mut));
    Ok(quote! {
        #of_state {
            fn save(&self, state: &mut ::nacre_kernel::state::StateWriter) {
                let _ = &state;
                #saved
            }
            fn restore(
                &mut self,
                state: &mut ::nacre_kernel::state::StateReader<'_>,
            ) -> ::std::result::Result<(), ::nacre_kernel::state::StateError> {
                *self = ::nacre_kernel::state::Value::read(state)?;
                Ok(())
            }
        }
        #of_value {
            const BYTES_MIN: usize = #minimum;
            fn read(
                state: &mut ::nacre_kernel::state::StateReader<'_>,
            ) -> ::std::result::Result<Self, ::nacre_kernel::state::StateError> {
                let #mutable value = #read;
                #after
                Ok(value)
            }
        }
    })
}

/// Generates code that saves an enum as a value, and code that reads it.
fn value_of_enum<'a>(name: &Ident, variants: impl Iterator<Item = &'a Variant>) -> Result<(Tokens, Tokens)> {
    let (mut saves, mut reads) = (Vec::new(), Vec::new());
    for (tag, variant) in (0_u8..).zip(variants) {
        let (name, fields) = (&variant.ident, value_fields_of(&variant.fields)?);
        let pattern = pattern(quote!(Self::#name), &variant.fields, &fields);
        let (save, make) = (save_all(&fields), make(quote!(Self::#name), &variant.fields, &fields));
        saves.push(quote! { #pattern => { state.put_u8(#tag); #save } });
        reads.push(quote! { #tag => #make, });
    }
    let (what, known) =
        (words(&name.to_string()), format!("one of {} as {}", saves.len(), words(&name.to_string())));
    Ok((
        quote! { match self { #(#saves)* } },
        quote! {
            match state.u8(#what)? {
                #(#reads)*
                other => return Err(state.error(#known.into(), other.to_string())),
            }
        },
    ))
}

/// Method with which a field is restored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    InPlace,
    Skipped,
    Same,
    Varies,
    ElementsVary,
    Sparse,
    SparseVaries,
}

impl Mode {
    fn of(attributes: &[Attribute]) -> Result<Mode> {
        let mut mode = Mode::InPlace;
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("state")) {
            attribute.parse_nested_meta(|meta| {
                mode = if meta.path.is_ident("same") {
                    Mode::Same
                } else if meta.path.is_ident("varies") {
                    if mode == Mode::Sparse { Mode::SparseVaries } else { Mode::Varies }
                } else if meta.path.is_ident("elements_vary") {
                    Mode::ElementsVary
                } else if meta.path.is_ident("sparse") {
                    Mode::Sparse
                } else if meta.path.is_ident("skip") {
                    let reason: LitStr = meta.value()?.parse()?;
                    if reason.value().trim().is_empty() {
                        return Err(Error::new_spanned(reason, "say why the field need not be saved"));
                    }
                    Mode::Skipped
                } else {
                    return Err(meta.error("known: skip = \"<why>\", same, varies, elements_vary, sparse"));
                };
                Ok(())
            })?;
        }
        Ok(mode)
    }
}

/// A field: its variable binding, its name, and the method with which it is restored.
struct Field {
    binding: Ident,
    member: Option<Ident>,
    name: String,
    ty: Type,
    mode: Mode,
}

fn fields_of(fields: &Fields) -> Result<Vec<Field>> {
    fields
        .iter()
        .enumerate()
        .map(|(index, field)| {
            let name = field.ident.as_ref().map(|name| name.to_string().replace('_', " "));
            Ok(Field {
                binding: format_ident!("field_{index}"),
                member: field.ident.clone(),
                name: name.unwrap_or_else(|| "a value".into()),
                ty: field.ty.clone(),
                mode: Mode::of(&field.attrs)?,
            })
        })
        .collect()
}

/// Returns the fields of a value. Fields of a value cannot be skipped.
fn value_fields_of(fields: &Fields) -> Result<Vec<Field>> {
    let found = fields_of(fields)?;
    match found.iter().find(|field| field.mode != Mode::InPlace) {
        None => Ok(found),
        Some(field) => {
            Err(Error::new_spanned(&field.ty, "a value is saved as a whole, and its lists may grow"))
        }
    }
}

/// Generates `name { member: binding, ... }`, without skipped fields.
fn pattern(name: Tokens, shape: &Fields, fields: &[Field]) -> Tokens {
    let bindings =
        fields.iter().map(|field| match (&field.member, &field.binding, field.mode == Mode::Skipped) {
            (Some(member), _, true) => quote!(#member: _),
            (None, _, true) => quote!(_),
            (Some(member), binding, false) => quote!(#member: #binding),
            (None, binding, false) => quote!(#binding),
        });
    match shape {
        Fields::Named(_) => quote!(#name { #(#bindings),* }),
        Fields::Unnamed(_) => quote!(#name(#(#bindings),*)),
        Fields::Unit => name,
    }
}

/// Generates `name { member: <read>, ... }`.
fn make(name: Tokens, shape: &Fields, fields: &[Field]) -> Tokens {
    let reads = fields.iter().map(|Field { member, name, .. }| {
        let read = quote! {{ state.field(#name); ::nacre_kernel::state::Value::read(state)? }};
        member.as_ref().map_or_else(|| read.clone(), |member| quote!(#member: #read))
    });
    match shape {
        Fields::Named(_) => quote!(#name { #(#reads),* }),
        Fields::Unnamed(_) => quote!(#name(#(#reads),*)),
        Fields::Unit => name,
    }
}

fn save_all(fields: &[Field]) -> Tokens {
    let saves = fields.iter().map(|Field { binding, mode, .. }| match mode {
        Mode::Skipped => quote!(),
        Mode::Sparse | Mode::SparseVaries => {
            quote! { ::nacre_kernel::state::save_sparse(#binding, state); }
        }
        _ => quote! { ::nacre_kernel::state::State::save(#binding, state); },
    });
    quote! { #(#saves)* }
}

fn restore_one(field: &Field) -> Tokens {
    let Field { binding, name, mode, .. } = field;
    let restore = match mode {
        Mode::Skipped => return quote!(),
        Mode::InPlace => quote!(::nacre_kernel::state::State::restore(#binding, state)?),
        Mode::Same => quote!(state.same(#binding)?),
        Mode::Varies => quote!(*#binding = ::nacre_kernel::state::Value::read(state)?),
        Mode::ElementsVary => quote!(::nacre_kernel::state::restore_values(#binding, state)?),
        Mode::Sparse => quote!(::nacre_kernel::state::restore_sparse(#binding, state)?),
        Mode::SparseVaries => quote!(::nacre_kernel::state::restore_sparse_of_any_length(#binding, state)?),
    };
    quote! { state.field(#name); #restore; }
}

fn implementation(input: &DeriveInput, attributes: &TypeAttributes, of: &Tokens) -> Result<Tokens> {
    let name = &input.ident;
    let mut generics: Generics = input.generics.clone();
    if let Some(bound) = &attributes.bound {
        let predicate: syn::WherePredicate = bound.parse()?;
        let clause = generics.where_clause.get_or_insert_with(|| parse_quote!(where));
        clause.predicates.push(predicate);
    }
    let (impl_generics, type_generics, bounds) = generics.split_for_impl();
    Ok(quote! { #[automatically_derived] impl #impl_generics #of for #name #type_generics #bounds })
}

#[derive(Default)]
struct TypeAttributes {
    after: Option<LitStr>,
    bound: Option<LitStr>,
}

impl TypeAttributes {
    fn of(attributes: &[Attribute]) -> Result<TypeAttributes> {
        let mut found = TypeAttributes::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("state")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("after") {
                    found.after = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("bound") {
                    found.bound = Some(meta.value()?.parse()?);
                } else {
                    return Err(meta.error("known: after, bound"));
                }
                Ok(())
            })?;
        }
        Ok(found)
    }

    fn after_restored(&self) -> Option<Tokens> {
        self.after.as_ref().map(|path| {
            let after = self.checked(path);
            quote! { let this = self; #after }
        })
    }

    fn checked(&self, path: &LitStr) -> Tokens {
        let path: Tokens = path.value().parse().expect("a path");
        quote! {
            if let Err(found) = #path(this) {
                return Err(state.error("a state that can be".into(), found));
            }
        }
    }
}

/// Converts a type name to words in lower case, e.g. `WriteBuffer` to `write buffer`.
fn words(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}
