//! What the attribute expands to, as files under `snapshots/`. `UPDATE_EXPECT=1 cargo test` writes them anew.

use expect_test::{ExpectFile, expect_file};
use quote::quote;

use crate::expansion;

fn check(expected: &ExpectFile, args: proc_macro2::TokenStream, item: &proc_macro2::TokenStream) {
    let file = syn::parse2(expansion(args, item)).expect("the expansion is an item");
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
        quote!(window = "250ms", min_limit = MIN),
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
