//! An `impl` block under the attribute: each of its methods gets the attribute, and all else stays as it came.
//!
//! The methods are not limited here but by an attribute of their own. So what is around the block finds them as it finds
//! those with an attribute that the user wrote: `async_trait`, above or below, makes its futures first, and the call is in
//! their box.
//!
//! The block is never parsed and put together again, for the reason that [`Body`](crate::item::Body) gives.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, Path, Type, TypePath, Visibility};

use crate::diagnostic::{Code, Diagnostics};
use crate::item::Function;

/// An `impl` block with its braces' content taken apart.
pub(crate) struct Block {
    header: Vec<TokenTree>,
    braces: Group,
    inner_attrs: Vec<TokenTree>,
    members: Vec<Member>,
}

/// What stands in the block: a method, a constant, a type or a macro.
struct Member {
    attrs: Vec<Attr>,
    rest: Vec<TokenTree>,
    /// The name, if this is a method with a body.
    method: Option<Ident>,
}

/// An attribute of a member.
struct Attr {
    tokens: Vec<TokenTree>,
    says: Says,
}

/// What an attribute says about limiting its method.
enum Says {
    Nothing,
    Limit,
    /// The attribute without what says so, if anything remains.
    Skip(Option<TokenStream>),
    /// Under this predicate of `cfg_attr` only.
    Under(TokenStream, Box<Says>),
}

impl Block {
    /// Takes the item apart if it is an `impl` block.
    pub(crate) fn read(item: &TokenStream) -> Option<Self> {
        let mut tokens: Vec<TokenTree> = item.clone().into_iter().collect();
        // The invisible group of `$item:item`.
        if let Some(TokenTree::Group(group)) = tokens.last()
            && group.delimiter() == Delimiter::None
        {
            let inner = group.stream();
            tokens.pop();
            tokens.extend(inner);
        }
        let mut ahead = tokens.as_slice();
        while let Some((_, rest)) = attribute(ahead) {
            ahead = rest;
        }
        let keyword = ahead.iter().find(|token| !is_word(token, &["unsafe"]))?;
        if !is_word(keyword, &["impl"]) {
            return None;
        }
        let Some(TokenTree::Group(braces)) = tokens.pop() else {
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
            header: tokens,
            braces,
            inner_attrs,
            members,
        })
    }

    /// Finds what the methods' attributes say, and which methods cannot be limited.
    pub(crate) fn check(&mut self, krate: Option<&Path>, diagnostics: &mut Diagnostics) {
        for member in &mut self.members {
            member.check(krate, diagnostics);
        }
        if self.members.iter().all(|member| member.method.is_none()) {
            let keyword = self.header.iter().find(|token| is_word(token, &["impl"]));
            let message = "this block has no method with a body to limit; put `#[adaptive_limit]` on a block with methods that make calls";
            diagnostics.report(Code::NotLimitable, keyword, message);
        }
    }

    /// ```text
    /// impl Store {
    ///     fn get(&self) -> Result<Row, Lost> { body }
    ///     #[adaptive_limit(skip)]
    ///     fn len(&self) -> usize { body }
    /// }
    /// ```
    /// becomes
    /// ```text
    /// impl Store {
    ///     #[::resilience::adaptive_limit(args)]
    ///     fn get(&self) -> Result<Row, Lost> { body }
    ///     fn len(&self) -> usize { body }
    /// }
    /// ```
    pub(crate) fn expand(&self, args: &TokenStream, krate: Option<&Path>) -> TokenStream {
        self.with(|member| member.attribute(args, krate))
    }

    /// Writes the block as it came, without the attributes that mean something in a limited block only.
    pub(crate) fn unlimited(&self) -> TokenStream {
        self.with(|_| None)
    }

    fn with(&self, attribute: impl Fn(&Member) -> Option<TokenStream>) -> TokenStream {
        let mut content: TokenStream = self.inner_attrs.iter().cloned().collect();
        for member in &self.members {
            content.extend(attribute(member));
            content.extend(member.attrs.iter().map(Attr::remaining));
            content.extend(settled(&member.rest));
        }
        let mut braces = Group::new(Delimiter::Brace, content);
        braces.set_span(self.braces.span());
        let mut block: TokenStream = settled(&self.header).collect();
        block.extend([TokenTree::Group(braces)]);
        block
    }
}

impl Member {
    /// Takes the first member off the tokens.
    fn read(tokens: &[TokenTree]) -> (Self, &[TokenTree]) {
        let mut attrs = Vec::new();
        let mut start = tokens;
        while let Some((attr, rest)) = attribute(start) {
            attrs.push(Attr {
                tokens: attr.to_vec(),
                says: Says::Nothing,
            });
            start = rest;
        }
        let name = fn_name(start);
        let end = match name {
            Some(_) => end_of_fn(start),
            None => end_of_other(start),
        };
        let (member, rest) = start.split_at(end);
        let has_body = member.last().is_some_and(is_block);
        let member = Self {
            attrs,
            rest: member.to_vec(),
            method: name.filter(|_| has_body).cloned(),
        };
        (member, rest)
    }

    fn check(&mut self, krate: Option<&Path>, diagnostics: &mut Diagnostics) {
        for attr in &mut self.attrs {
            attr.says = Says::read(attr.content(), krate, diagnostics);
        }
        let own = self.own();
        for attr in &own {
            if !matches!(attr.says, Says::Skip(_)) {
                continue;
            }
            let at: TokenStream = attr.tokens.iter().cloned().collect();
            if self.method.is_none() {
                let message = "`skip` leaves a method with a body out, and this is none";
                diagnostics.report(Code::NotLimitable, at, message);
            } else if own.len() > 1 {
                let message = "`skip` leaves the method out; leave the method's other `#[adaptive_limit]` out, or this one";
                diagnostics.report(Code::WrongValue, at, message);
            }
        }
        // What is there under a condition only, its attribute will check once it is known to be there.
        let conditional = self.attrs.iter().any(Attr::is_conditional);
        if self.method.is_some() && own.is_empty() && !conditional {
            let function = self.rest.iter().cloned().collect();
            if let Err(error) = syn::parse2::<Function>(function) {
                diagnostics.push(error);
            }
        }
    }

    /// The attributes that say something about limiting the method.
    fn own(&self) -> Vec<&Attr> {
        self.attrs
            .iter()
            .filter(|attr| !matches!(attr.says, Says::Nothing))
            .collect()
    }

    /// The block's attribute for this method, unless one of its own stands in its place.
    fn attribute(&self, args: &TokenStream, krate: Option<&Path>) -> Option<TokenStream> {
        // The user's span: errors and the limit's place point at the method.
        let at = self.method.as_ref()?.span();
        let mut predicates = Vec::new();
        for attr in self.own() {
            match &attr.says {
                Says::Under(predicate, _) => predicates.push(predicate),
                _ => return None,
            }
        }
        let krate = krate.map_or_else(
            || quote_spanned!(at=> ::resilience),
            ToTokens::to_token_stream,
        );
        let attribute = if args.is_empty() {
            quote_spanned!(at=> #krate::adaptive_limit)
        } else {
            quote_spanned!(at=> #krate::adaptive_limit(#args))
        };
        Some(if predicates.is_empty() {
            quote_spanned!(at=> #[#attribute])
        } else {
            quote_spanned!(at=> #[cfg_attr(not(any(#(#predicates),*)), #attribute)])
        })
    }
}

impl Attr {
    /// What stands in the brackets.
    fn content(&self) -> TokenStream {
        match self.tokens.last() {
            Some(TokenTree::Group(brackets)) => bare(brackets.stream()),
            _ => TokenStream::new(),
        }
    }

    fn is_conditional(&self) -> bool {
        let name = self.content().into_iter().next();
        name.is_some_and(|name| is_word(&name, &["cfg", "cfg_attr"]))
    }

    /// What is left of the attribute once the block has read it.
    fn remaining(&self) -> TokenStream {
        match &self.says {
            Says::Skip(remaining) => remaining.clone().unwrap_or_default(),
            Says::Under(_, says) => match &**says {
                Says::Skip(remaining) => remaining.clone().unwrap_or_default(),
                _ => self.tokens.iter().cloned().collect(),
            },
            Says::Nothing | Says::Limit => self.tokens.iter().cloned().collect(),
        }
    }
}

impl Says {
    /// Reads what stands in an attribute's brackets.
    fn read(attr: TokenStream, krate: Option<&Path>, diagnostics: &mut Diagnostics) -> Self {
        let tokens: Vec<TokenTree> = bare(attr).into_iter().collect();
        let group = match tokens.as_slice() {
            [.., TokenTree::Group(group)] => Some(group),
            _ => None,
        };
        let path = &tokens[..tokens.len() - usize::from(group.is_some())];
        let path = written(path.iter().cloned().collect());
        let through =
            |krate: &Path| path == format!("{}::adaptive_limit", written(krate.to_token_stream()));
        if path == "cfg_attr" {
            return group.map_or(Self::Nothing, |group| {
                Self::under(group, krate, diagnostics)
            });
        }
        if path != "adaptive_limit"
            && path != "resilience::adaptive_limit"
            && !krate.is_some_and(through)
        {
            return Self::Nothing;
        }
        let args = group.map(Group::stream).unwrap_or_default();
        let options = split(args);
        let skip = options.iter().find(|option| is_word(&option[0], &["skip"]));
        match skip {
            None => Self::Limit,
            Some(skip) => {
                if options.len() > 1 || skip.len() > 1 {
                    let message = "`skip` leaves the method out; it stands alone, without a value and without other options";
                    diagnostics.report(Code::WrongValue, &skip[0], message);
                }
                Self::Skip(None)
            }
        }
    }

    /// Reads what stands in the parentheses of `cfg_attr`.
    fn under(parentheses: &Group, krate: Option<&Path>, diagnostics: &mut Diagnostics) -> Self {
        let mut parts = split(parentheses.stream())
            .into_iter()
            .map(|part| part.into_iter().collect::<TokenStream>());
        let Some(predicate) = parts.next() else {
            return Self::Nothing;
        };
        let mut said = Self::Nothing;
        let mut others = Vec::new();
        for part in parts {
            match Self::read(part.clone(), krate, diagnostics) {
                Self::Nothing => others.push(part),
                says => said = says,
            }
        }
        match said {
            Self::Nothing => Self::Nothing,
            Self::Skip(_) => {
                let remaining =
                    (!others.is_empty()).then(|| quote!(#[cfg_attr(#predicate, #(#others),*)]));
                Self::Under(predicate, Box::new(Self::Skip(remaining)))
            }
            says => Self::Under(predicate, Box::new(says)),
        }
    }
}

/// Takes an attribute off the tokens.
fn attribute(tokens: &[TokenTree]) -> Option<(&[TokenTree], &[TokenTree])> {
    match tokens {
        [pound, TokenTree::Group(group), ..]
            if is_punct(pound, '#') && group.delimiter() == Delimiter::Bracket =>
        {
            Some(tokens.split_at(2))
        }
        _ => None,
    }
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

/// Whether this is a pair of braces, be it in the invisible group of `$body:block`.
fn is_block(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => true,
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            let mut inner = group.stream().into_iter();
            inner.next().is_some_and(|token| is_block(&token)) && inner.next().is_none()
        }
        _ => false,
    }
}

/// The tokens with parentheses for the invisible groups that hold an expression or a type together. Such a group does not
/// survive where it is handed on by itself: of `const FOUR: u32 = $e * 2` with `1 + 1` would remain 3.
fn settled(tokens: &[TokenTree]) -> impl Iterator<Item = TokenTree> {
    tokens.iter().cloned().map(|token| match token {
        TokenTree::Group(group)
            if group.delimiter() == Delimiter::None && falls_apart(&group.stream()) =>
        {
            let mut parentheses = Group::new(Delimiter::Parenthesis, group.stream());
            parentheses.set_span(Span::mixed_site().located_at(group.span()));
            TokenTree::Group(parentheses)
        }
        token => token,
    })
}

fn falls_apart(tokens: &TokenStream) -> bool {
    let is_one = tokens.clone().into_iter().nth(1).is_none()
        || syn::parse2::<TypePath>(tokens.clone()).is_ok()
        || syn::parse2::<Visibility>(tokens.clone()).is_ok();
    !is_one
        && (syn::parse2::<Type>(tokens.clone()).is_ok()
            || syn::parse2::<Expr>(tokens.clone()).is_ok())
}

/// Takes the invisible group off what is one metavariable.
fn bare(tokens: TokenStream) -> TokenStream {
    let mut trees = tokens.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::None => {
            bare(group.stream())
        }
        _ => tokens,
    }
}

/// A path for comparison: `::a::b` and `a::b` are one.
fn written(path: TokenStream) -> String {
    let path: String = bare(path)
        .into_iter()
        .map(|token| match token {
            TokenTree::Group(group) => written(group.stream()),
            token => token.to_string(),
        })
        .collect();
    path.trim_start_matches("::").to_owned()
}

/// What stands between the commas.
fn split(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens
        .split(|token| is_punct(token, ','))
        .filter(|part| !part.is_empty())
        .map(<[TokenTree]>::to_vec)
        .collect()
}

fn is_word(token: &TokenTree, words: &[&str]) -> bool {
    matches!(token, TokenTree::Ident(ident) if words.iter().any(|word| ident == word))
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}
