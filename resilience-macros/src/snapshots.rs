//! What the attribute expands to, as files under `snapshots/`. `UPDATE_EXPECT=1 cargo test` writes them anew.

use expect_test::{ExpectFile, expect_file};
use proc_macro2::{Spacing, TokenStream, TokenTree};
use quote::quote;

use crate::{delegated, expansion};

fn check(expected: &ExpectFile, args: TokenStream, item: &TokenStream) {
    compare(expected, expansion(args, item));
}

fn compare(expected: &ExpectFile, expansion: TokenStream) {
    let file = syn::parse2(expansion).expect("the expansion is an item");
    expected.assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn sync() {
    check(
        &expect_file!["../snapshots/sync.rs"],
        quote!(
            name = "orders",
            max_limit = 100,
            drop_on = [Lost::Busy, Lost::Status(429 | 503)]
        ),
        &quote! {
            pub fn find(id: u32) -> Result<Row, Lost> {
                let row = table()?.row(id)?;
                Ok(row)
            }
        },
    );
}

#[test]
fn asynchronous() {
    check(
        &expect_file!["../snapshots/async.rs"],
        quote!(
            window = "250ms",
            min_limit = MIN,
            max_wait = "50ms",
            queue_limit = 10,
            mode = "observe"
        ),
        &quote! {
            pub async fn find(&self, table: Table, mut id: u32, _guard: Guard, _: Trace) -> Result<Row, Lost> {
                id += self.offset;
                table.row(id).await
            }
        },
    );
}

#[test]
fn options() {
    check(
        &expect_file!["../snapshots/options.rs"],
        quote!(
            config = "partners",
            algorithm = "Gradient-2",
            enabled = false,
            drop_if = is_overload,
            rejected = rejected,
            registry = self.registry,
            crate = crate::limits
        ),
        &quote! {
            fn rows(&self) -> impl Iterator<Item = Row> {
                #![allow(unused)]
                self.rows.iter().cloned()
            }
        },
    );
}

#[test]
fn returned_future() {
    check(
        &expect_file!["../snapshots/returned_future.rs"],
        quote!(),
        &quote! {
            fn find(&self, id: u32) -> impl Future<Output = Result<impl Read, Lost>> + Send + '_ {
                async move { self.table.row(id).await }
            }
        },
    );
}

#[test]
fn boxed_future() {
    check(
        &expect_file!["../snapshots/boxed_future.rs"],
        quote!(),
        &quote! {
            fn find(&self, id: u32) -> BoxFuture<'_, Result<Row, Lost>> {
                self.table.row(id).boxed()
            }
        },
    );
}

#[test]
fn boxed_block() {
    check(
        &expect_file!["../snapshots/boxed_block.rs"],
        quote!(),
        &quote! {
            fn find<'a>(&'a self, id: u32) -> Pin<Box<dyn Future<Output = Result<Row, Lost>> + Send + 'a>> {
                let table = &self.table;
                Box::pin(async move { table.row(id).await })
            }
        },
    );
}

#[test]
fn block() {
    check(
        &expect_file!["../snapshots/block.rs"],
        quote!(
            max_limit = 100,
            drop_on = [Lost::Busy],
            crate = crate::limits
        ),
        &quote! {
            impl<T> Table for Store<T> where T: Row {
                const NAME: &'static str = "store";

                /// Finds a row.
                fn find(&self, id: u32) -> Result<T, Lost> {
                    self.row(id)
                }

                #[adaptive_limit(name = "orders")]
                async fn order(&self, id: u32) -> Result<T, Lost> {
                    self.fetch(id).await
                }

                #[inline]
                #[adaptive_limit(skip)]
                fn len(&self) -> usize {
                    self.rows.len()
                }

                #[cfg_attr(test, adaptive_limit(skip))]
                fn reload(&self) -> Result<(), Lost> {
                    self.source.load()
                }

                rows! { T }
            }
        },
    );
}

#[test]
fn delegate() {
    compare(
        &expect_file!["../snapshots/delegate.rs"],
        delegated(
            quote!(crate = crate::limits),
            &quote! {
                /// Where rows are.
                #[cfg(unix)]
                #[async_trait]
                pub(crate) trait Table<K: Key = u32>: Named + Sized
                where
                    Self::Row: From<K>,
                {
                    const NAME: &'static str = "table";
                    type Row: Clone;

                    /// Opens it.
                    fn open(name: &str) -> Result<Self, Lost>;

                    /// Finds a row.
                    #[inline]
                    #[adaptive_limit(name = "orders", max_limit = 100)]
                    fn find<C: Column>(&self, id: K, (from, to): (C, C)) -> Result<Self::Row, Lost> {
                        self.row(id)
                    }

                    #[cfg_attr(test, adaptive_limit(rejected = nothing))]
                    async fn later(mut self, #[cfg(unix)] other: &Self) -> Option<Self>
                    where
                        Self: Sync;
                }
            },
        ),
    );
}

#[test]
fn attributes_of_arguments_that_another_macro_reads_stay_where_they_are() {
    let expanded = expansion(
        quote!(),
        &quote! {
            async fn find(
                #[path] #[cfg(unix)] mut name: String,
                #[query(limit = 3)] guard: Guard,
                #[body] (table, mut row): (Table, Row),
            ) -> Result<Row, Lost> {
                #[cfg(unix)]
                name.push('x');
                table.put(row, guard).await
            }
        },
    )
    .to_string();
    for once in ["path", "query", "body"] {
        let attribute = format!("# [{once}");
        assert_eq!(expanded.matches(&attribute).count(), 1, "{expanded}");
    }
    assert_eq!(expanded.matches("# [cfg (unix)]").count(), 3, "{expanded}");
}

/// How deep the groups are nested, and the most `||` within one of them.
fn depth_and_width(tokens: TokenStream) -> (usize, usize) {
    let (mut depth, mut most, mut own) = (0, 0, 0);
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (inner_depth, inner_most) = depth_and_width(group.stream());
                depth = depth.max(inner_depth + 1);
                most = most.max(inner_most);
            }
            TokenTree::Punct(punct) if punct.as_char() == '|' => {
                own += usize::from(punct.spacing() == Spacing::Joint);
            }
            _ => {}
        }
    }
    (depth, most.max(own))
}

// The compiler's stack holds neither a chain nor a nest of so many.
#[test]
fn thousands_of_patterns_are_neither_a_chain_nor_a_nest() {
    let patterns = (0..5_000_u16).map(|status| quote!(Lost::Status(#status)));
    let expanded = expansion(
        quote!(drop_on = [#(#patterns),*]),
        &quote!(
            fn find() -> Result<Row, Lost> {
                table()
            }
        ),
    );
    assert_eq!(expanded.to_string().matches("matches !").count(), 5_000);
    let (depth, width) = depth_and_width(expanded);
    // One `||` between two halves; beside the outermost stands a closure without arguments.
    assert!(depth < 20 && width <= 2, "{depth} deep, {width} wide");
}
