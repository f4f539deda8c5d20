//! What stands in the attribute's parentheses.

#[cfg(test)]
mod agreement;
mod bounds;
mod duration;
mod key;
pub(crate) mod literal;
mod patterns;
mod text;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Ident, LitStr, Pat, Path, Token};

use self::bounds::Bound;
use self::key::Key;
use self::text::Name;
use crate::diagnostic::{Code, Diagnostics, error, error_at};

/// The options that were given, each checked by itself.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) name: Option<Name>,
    pub(crate) config: Option<Name>,
    pub(crate) algorithm: Option<LitStr>,
    pub(crate) initial_limit: Option<Bound>,
    pub(crate) min_limit: Option<Bound>,
    pub(crate) max_limit: Option<Bound>,
    pub(crate) window: Option<u64>,
    pub(crate) enabled: Option<bool>,
    pub(crate) max_wait: Option<u64>,
    pub(crate) queue_limit: Option<Bound>,
    /// Whether `mode` is to observe.
    pub(crate) observe: Option<bool>,
    pub(crate) drop_on: Option<Vec<Pat>>,
    pub(crate) drop_if: Option<syn::ExprPath>,
    pub(crate) rejected: Option<syn::ExprPath>,
    pub(crate) registry: Option<Expr>,
    pub(crate) krate: Option<Path>,
}

impl Args {
    /// Reads all options. A mistake is noted and reading goes on behind the next comma.
    pub(crate) fn parse(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Self {
        let mut args = Self::default();
        let read_all = |input: ParseStream<'_>| {
            args.read_all(input, diagnostics);
            Ok(())
        };
        // `read_all` consumes everything and reports by itself.
        if let Err(error) = read_all.parse2(tokens) {
            diagnostics.push(error);
        }
        bounds::check_order(
            args.initial_limit.as_ref(),
            args.min_limit.as_ref(),
            args.max_limit.as_ref(),
            diagnostics,
        );
        if let Some(queue_limit) = &args.queue_limit
            && args.max_wait.is_none()
            && args.config.is_none()
        {
            let message = format!(
                "{} does nothing without {}: no call waits; add `{}`, or name a `config` that sets it",
                Key::QueueLimit,
                Key::MaxWait,
                Key::MaxWait.example()
            );
            diagnostics.report(Code::WithoutEffect, queue_limit, message);
        }
        args
    }

    /// Whether there is an option of this name.
    pub(crate) fn knows(name: &str) -> bool {
        Key::find(name).is_some()
    }

    fn read_all(&mut self, input: ParseStream<'_>, diagnostics: &mut Diagnostics) {
        let mut seen = Vec::new();
        while !input.is_empty() {
            let read = match self.read_one(input, &mut seen, diagnostics) {
                Ok(()) if input.is_empty() || input.peek(Token![,]) => Ok(()),
                Ok(()) => Err(error(
                    Code::WrongValue,
                    next(input),
                    "a `,` is missing before this",
                )),
                Err(error) => Err(error),
            };
            if let Err(error) = read {
                diagnostics.push(error);
                skip_to_comma(input);
            }
            if input.parse::<Option<Token![,]>>().is_err() {
                break;
            }
        }
    }

    fn read_one(
        &mut self,
        input: ParseStream<'_>,
        seen: &mut Vec<Key>,
        diagnostics: &mut Diagnostics,
    ) -> syn::Result<()> {
        if !input.peek(Ident::peek_any) {
            let given = next(input);
            let example = Key::Name.example();
            let message = format!(
                "`{given}` is no option; options are written `name = value`, as in `{example}`"
            );
            return Err(error(Code::WrongValue, &given, message));
        }
        let ident = input.call(Ident::parse_any)?;
        let name = ident.to_string();
        if name == "skip" {
            let message = "`skip` leaves a method of a limited `impl` block out; there is no such block around";
            return Err(error(Code::NotLimitable, ident, message));
        }
        let Some(key) = Key::find(&name) else {
            return Err(error(Code::UnknownOption, ident, Key::unknown(&name)));
        };
        if seen.contains(&key) {
            diagnostics.report(
                Code::DuplicateOption,
                &ident,
                format_args!("{key} is given twice"),
            );
        }
        if !input.peek(Token![=]) {
            let message = format!("{key} has no value; write `{}`", key.example());
            return Err(error(Code::WrongValue, ident, message));
        }
        let equals: Token![=] = input.parse()?;
        if input.is_empty() || input.peek(Token![,]) {
            let message = format!("{key} has no value; write `{}`", key.example());
            return Err(error(Code::WrongValue, quote!(#ident #equals), message));
        }
        let repeated = seen.contains(&key);
        seen.push(key);
        let mut discarded = Self::default();
        let args = if repeated { &mut discarded } else { self };
        args.read_value(key, input)
    }

    fn read_value(&mut self, key: Key, input: ParseStream<'_>) -> syn::Result<()> {
        if key == Key::DropOn {
            self.drop_on = Some(patterns::parse(key, input)?);
            return Ok(());
        }
        let at = input.span();
        let value: Expr = input.parse().map_err(|wrong| {
            let message = format!(
                "{key} has no proper value: {wrong}; write `{}`",
                key.example()
            );
            error_at(Code::WrongValue, at, message)
        })?;
        // A literal's mistake is shown where the literal stands, which may be in the arguments of a macro.
        let value = if literal::of(&value).is_some() {
            literal::bare(&value).clone()
        } else {
            value
        };
        if matches!(
            key,
            Key::Name
                | Key::Config
                | Key::InitialLimit
                | Key::MinLimit
                | Key::MaxLimit
                | Key::QueueLimit
        ) && let Some(token) = literal::find_self(value.to_token_stream())
        {
            let given = literal::shown(&value);
            let message = format!(
                "{key} ({given}) becomes part of a static, where there is no `Self`; write the type in its place, or a constant outside of the `impl` block"
            );
            return Err(error(Code::WrongValue, token, message));
        }
        match key {
            Key::Name => self.name = Some(text::name(key, &value)?),
            Key::Config => self.config = Some(text::name(key, &value)?),
            Key::Algorithm => self.algorithm = Some(text::algorithm(key, &value)?),
            Key::InitialLimit => self.initial_limit = Some(bounds::parse(key, &value)?),
            Key::MinLimit => self.min_limit = Some(bounds::parse(key, &value)?),
            Key::MaxLimit => self.max_limit = Some(bounds::parse(key, &value)?),
            Key::Window => self.window = Some(text::window(key, &value)?),
            Key::Enabled => self.enabled = Some(text::truth(key, &value)?),
            Key::MaxWait => self.max_wait = Some(text::wait(key, &value)?),
            Key::QueueLimit => self.queue_limit = Some(bounds::parse(key, &value)?),
            Key::Mode => self.observe = Some(text::mode(key, &value)? == "observe"),
            Key::DropIf => self.drop_if = Some(path(key, &value)?),
            Key::Rejected => self.rejected = Some(path(key, &value)?),
            Key::Crate => {
                let path = path(key, &value)?;
                if path.qself.is_some()
                    || path
                        .path
                        .segments
                        .iter()
                        .any(|segment| !segment.arguments.is_none())
                {
                    let given = literal::shown(&value);
                    let message = format!(
                        "{key} ({given}) is no crate or module; write `{}`",
                        key.example()
                    );
                    return Err(error(Code::WrongValue, value, message));
                }
                self.krate = Some(path.path);
            }
            Key::Registry => self.registry = Some(value),
            Key::DropOn => unreachable!("patterns are no expression and were read above"),
        }
        Ok(())
    }
}

/// Reads the path that an option is.
fn path(key: Key, value: &Expr) -> syn::Result<syn::ExprPath> {
    match literal::bare(value) {
        Expr::Path(path) if path.attrs.is_empty() => Ok(path.clone()),
        _ => {
            let given = literal::shown(value);
            Err(error(
                Code::WrongValue,
                value,
                format_args!("{key} ({given}) is no path; write `{}`", key.example()),
            ))
        }
    }
}

/// Returns the next token, for a message.
fn next(input: ParseStream<'_>) -> TokenStream {
    input
        .cursor()
        .token_tree()
        .map(|(token, _)| TokenStream::from(token))
        .unwrap_or_default()
}

fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}
