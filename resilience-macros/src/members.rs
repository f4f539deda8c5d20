//! An item in braces taken apart by its tokens: an `impl` block or a trait, and its members.
//!
//! It is never parsed and put together again, for the reason that [`Body`](crate::item::Body) gives: a member's tokens go
//! back as they came.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;

use crate::diagnostic::{Code, Diagnostics};
use crate::tokens::{bare, flat, is_block, is_punct, is_word, settled, split};

/// An item with its braces' content taken apart.
pub(crate) struct Braced {
    pub(crate) attrs: Vec<Attr>,
    /// What stands between the attributes and the braces.
    pub(crate) header: Vec<TokenTree>,
    pub(crate) members: Vec<Member>,
    braces: Group,
    inner_attrs: Vec<TokenTree>,
}

/// What stands in the item: a method, a constant, a type or a macro.
pub(crate) struct Member {
    pub(crate) attrs: Vec<Attr>,
    pub(crate) rest: Vec<TokenTree>,
    /// The name, if this is a fn.
    pub(crate) name: Option<Ident>,
    pub(crate) has_body: bool,
}

/// An attribute of the item or of a member.
pub(crate) struct Attr {
    pub(crate) tokens: Vec<TokenTree>,
    /// What it says about limiting, once that has been read.
    pub(crate) said: Option<Said>,
}

/// What an attribute says about limiting its method.
pub(crate) struct Said {
    pub(crate) what: What,
    /// The predicate of `cfg_attr` under which alone it says so.
    pub(crate) under: Option<TokenStream>,
    /// What is left of the brackets' content without it, if anything is.
    remaining: Option<TokenStream>,
}

pub(crate) enum What {
    /// A limit with these options.
    Limit(TokenStream),
    Skip,
}

impl Braced {
    /// Takes the item apart if, behind some of the words in `before`, it has this keyword.
    pub(crate) fn read(item: &TokenStream, before: &[&str], keyword: &str) -> Option<Self> {
        let mut tokens: Vec<TokenTree> = item.clone().into_iter().collect();
        // The invisible group of `$item:item`.
        if let Some(TokenTree::Group(group)) = tokens.last()
            && group.delimiter() == Delimiter::None
        {
            let inner = group.stream();
            tokens.pop();
            tokens.extend(inner);
        }
        let (attrs, ahead) = attributes(&tokens);
        let is_before = |token: &TokenTree| match token {
            // The parentheses of `pub(crate)`, or the invisible group of `$vis:vis`.
            TokenTree::Group(group) => {
                before.contains(&"pub") && group.delimiter() != Delimiter::Brace
            }
            token => is_word(token, before),
        };
        let found = ahead.iter().find(|token| !is_before(token))?;
        if !is_word(found, &[keyword]) {
            return None;
        }
        let (TokenTree::Group(braces), header) = ahead.split_last()? else {
            return None;
        };
        if braces.delimiter() != Delimiter::Brace {
            return None;
        }
        let content: Vec<TokenTree> = braces.stream().into_iter().collect();
        let mut rest = content.as_slice();
        while let [pound, bang, TokenTree::Group(_), after @ ..] = rest
            && is_punct(pound, '#')
            && is_punct(bang, '!')
        {
            rest = after;
        }
        let inner_attrs = content[..content.len() - rest.len()].to_vec();
        let mut members = Vec::new();
        while !rest.is_empty() {
            let (member, after) = Member::read(rest);
            members.push(member);
            rest = after;
        }
        Some(Self {
            attrs,
            header: header.to_vec(),
            members,
            braces: braces.clone(),
            inner_attrs,
        })
    }

    /// Writes the item, with these attributes of its members.
    pub(crate) fn with(&self, attributes: impl Fn(&Member) -> TokenStream) -> TokenStream {
        let mut content: TokenStream = self.inner_attrs.iter().cloned().collect();
        for member in &self.members {
            content.extend(attributes(member));
            content.extend(settled(&member.rest));
        }
        let mut braces = Group::new(Delimiter::Brace, content);
        braces.set_span(self.braces.span());
        let attrs = self.attrs.iter().flat_map(|attr| &attr.tokens);
        let mut item: TokenStream = attrs.cloned().collect();
        item.extend(settled(&self.header));
        item.extend([TokenTree::Group(braces)]);
        item
    }
}

impl Member {
    /// Takes the first member off the tokens.
    fn read(tokens: &[TokenTree]) -> (Self, &[TokenTree]) {
        let (attrs, start) = attributes(tokens);
        let name = fn_name(start);
        let end = match name {
            Some(_) => end_of_fn(start),
            None => end_of_other(start),
        };
        let (member, rest) = start.split_at(end);
        let member = Self {
            attrs,
            rest: member.to_vec(),
            name: name.cloned(),
            has_body: member.last().is_some_and(is_block),
        };
        (member, rest)
    }

    /// Finds what the attributes say.
    pub(crate) fn listen(&mut self, diagnostics: &mut Diagnostics) {
        for attr in &mut self.attrs {
            attr.said = Said::read(&attr.content(), diagnostics);
        }
    }

    /// The attributes that say something about limiting the method.
    pub(crate) fn says(&self) -> Vec<(&Attr, &Said)> {
        self.attrs
            .iter()
            .filter_map(|attr| Some((attr, attr.said.as_ref()?)))
            .collect()
    }
}

impl Attr {
    /// What stands in the brackets.
    pub(crate) fn content(&self) -> TokenStream {
        match self.tokens.last() {
            Some(TokenTree::Group(brackets)) => bare(brackets.stream()),
            _ => TokenStream::new(),
        }
    }

    /// The attribute as it came.
    pub(crate) fn whole(&self) -> TokenStream {
        self.tokens.iter().cloned().collect()
    }

    /// The attribute without what it says about limiting.
    pub(crate) fn remaining(&self) -> TokenStream {
        match &self.said {
            None => self.whole(),
            Some(Said {
                remaining: None, ..
            }) => TokenStream::new(),
            Some(Said {
                remaining: Some(content),
                ..
            }) => quote!(#[#content]),
        }
    }
}

impl Said {
    /// Reads what stands in an attribute's brackets.
    fn read(attr: &TokenStream, diagnostics: &mut Diagnostics) -> Option<Self> {
        let (path, group) = path_and_group(attr);
        if is_path(&path, "cfg_attr") {
            return Self::under(group.as_ref()?, diagnostics);
        }
        if path.last().is_none_or(|name| name != "adaptive_limit") {
            return None;
        }
        let args = group.map(|group| group.stream()).unwrap_or_default();
        let options = split(args.clone());
        let skip = options.iter().find(|option| is_word(&option[0], &["skip"]));
        let what = match skip {
            None => What::Limit(args),
            Some(skip) => {
                if options.len() > 1 || skip.len() > 1 {
                    let message = "`skip` leaves the method out; it stands alone, without a value and without other options";
                    diagnostics.report(Code::WrongValue, &skip[0], message);
                }
                What::Skip
            }
        };
        Some(Self {
            what,
            under: None,
            remaining: None,
        })
    }

    /// Reads what stands in the parentheses of `cfg_attr`.
    fn under(parentheses: &Group, diagnostics: &mut Diagnostics) -> Option<Self> {
        let (predicate, parts) = condition(parentheses)?;
        let mut found = None;
        let mut others = Vec::new();
        for part in parts {
            match Self::read(&part, diagnostics) {
                None => others.push(part),
                Some(said) => {
                    others.extend(said.remaining.clone());
                    found = Some(said);
                }
            }
        }
        let Self { what, under, .. } = found?;
        let remaining = (!others.is_empty()).then(|| quote!(cfg_attr(#predicate, #(#others),*)));
        let under = under.map_or_else(
            || predicate.clone(),
            |inner| quote!(all(#predicate, #inner)),
        );
        Some(Self {
            what,
            under: Some(under),
            remaining,
        })
    }
}

/// Reads an attribute's content: the names of its path and the group behind, if it ends in one.
pub(crate) fn path_and_group(attr: &TokenStream) -> (Vec<String>, Option<Group>) {
    let mut names = Vec::new();
    for token in flat(attr.clone()) {
        match token {
            TokenTree::Ident(ident) => names.push(ident.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == ':' => {}
            TokenTree::Group(group) => return (names, Some(group)),
            _ => break,
        }
    }
    (names, None)
}

pub(crate) fn is_path(path: &[String], wanted: &str) -> bool {
    matches!(path, [name] if name == wanted)
}

/// Reads what stands in the parentheses of `cfg_attr`: the predicate, and what is there under it.
pub(crate) fn condition(
    parentheses: &Group,
) -> Option<(TokenStream, impl Iterator<Item = TokenStream> + use<>)> {
    let mut parts = split(parentheses.stream())
        .into_iter()
        .map(|part| part.into_iter().collect::<TokenStream>());
    Some((parts.next()?, parts))
}

/// Takes the attributes off the tokens.
fn attributes(tokens: &[TokenTree]) -> (Vec<Attr>, &[TokenTree]) {
    let mut attrs = Vec::new();
    let mut rest = tokens;
    while let [pound, TokenTree::Group(group), ..] = rest
        && is_punct(pound, '#')
        && group.delimiter() == Delimiter::Bracket
    {
        let (attr, after) = rest.split_at(2);
        attrs.push(Attr {
            tokens: attr.to_vec(),
            said: None,
        });
        rest = after;
    }
    (attrs, rest)
}

/// Returns the name if a fn stands at the start of the tokens.
fn fn_name(tokens: &[TokenTree]) -> Option<&Ident> {
    const BEFORE: [&str; 8] = [
        "pub", "crate", "default", "const", "async", "unsafe", "extern", "safe",
    ];
    let before = |token: &&TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() != Delimiter::Brace,
        TokenTree::Literal(_) => true,
        token => is_word(token, &BEFORE),
    };
    let mut rest = tokens.iter().skip_while(before);
    if !is_word(rest.next()?, &["fn"]) {
        return None;
    }
    match rest.next()? {
        TokenTree::Ident(name) => Some(name),
        _ => None,
    }
}

/// Where the fn ends that the tokens start with: behind its body or a `;`. Braces among generic arguments are none.
fn end_of_fn(tokens: &[TokenTree]) -> usize {
    let mut depth = 0_usize;
    let mut arrow = false;
    for (index, token) in tokens.iter().enumerate() {
        if is_punct(token, '<') {
            depth += 1;
        } else if is_punct(token, '>') && !arrow {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && (is_block(token) || is_punct(token, ';')) {
            return index + 1;
        }
        arrow = is_punct(token, '-');
    }
    tokens.len()
}

/// Where the constant, type or macro ends that the tokens start with.
fn end_of_other(tokens: &[TokenTree]) -> usize {
    let valued = tokens
        .iter()
        .any(|token| is_word(token, &["const", "type", "static"]));
    let mut bang = false;
    for (index, token) in tokens.iter().enumerate() {
        if is_punct(token, ';') || (bang && !valued && is_block(token)) {
            return index + 1;
        }
        bang = is_punct(token, '!');
    }
    tokens.len()
}
