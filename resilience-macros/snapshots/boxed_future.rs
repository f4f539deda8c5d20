fn find(&self, id: u32) -> BoxFuture<'_, Result<Row, Lost>> {
    ::resilience::__private::Box::pin(
        ::resilience::__private::limit_async(
            ::resilience::__private::output::<
                <BoxFuture<'_, Result<Row, Lost>> as ::core::future::Future>::Output,
            >(),
            ::resilience::__private::CallSite::resolve({
                static __ADAPTIVE_LIMIT_SITE: ::resilience::__private::CallSite = ::resilience::__private::CallSite::unnamed(
                    {
                        fn here() {}
                        || ::core::any::type_name_of_val(&here)
                    },
                    ::core::file!(),
                    ::core::line!(),
                    ::core::column!(),
                );
                ::resilience::__private::announce!(ambient __ADAPTIVE_LIMIT_SITE);
                &__ADAPTIVE_LIMIT_SITE
            }),
            ::resilience::__private::made::<
                BoxFuture<'_, Result<Row, Lost>>,
            >(|| -> BoxFuture<'_, Result<Row, Lost>> { self.table.row(id).boxed() }),
            |adaptive_limit_output, adaptive_limit_of| {
                use ::resilience::__private::probe::{
                    ViaDynError as _, ViaError as _, ViaKind as _, ViaNothing as _,
                    ViaOutput as _,
                };
                (&&&&&::resilience::__private::probe::Probe(adaptive_limit_output))
                    .__adaptive_limit_classify(adaptive_limit_of)
            },
            |adaptive_limit_error| ::resilience::__private::reject::<
                <BoxFuture<'_, Result<Row, Lost>> as ::core::future::Future>::Output,
            >(adaptive_limit_error),
        ),
    )
}
