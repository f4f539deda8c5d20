pub async fn find(
    &self,
    table: Table,
    id: u32,
    _guard: Guard,
    _arg4: Trace,
) -> Result<Row, Lost> {
    ::resilience::__private::limit_async(
            ::resilience::__private::output::<Result<Row, Lost>>(),
            ::resilience::__private::CallSite::resolve({
                static __ADAPTIVE_LIMIT_SITE: ::resilience::__private::CallSite = ::resilience::__private::CallSite::unnamed(
                        {
                            fn here() {}
                            || ::core::any::type_name_of_val(&here)
                        },
                        ::core::file!(),
                        ::core::line!(),
                        ::core::column!(),
                    )
                    .min_limit(MIN)
                    .window_nanos(250000000u64)
                    .max_wait_nanos(50000000u64)
                    .queue_limit(10)
                    .observe(true);
                ::resilience::__private::announce!(ambient __ADAPTIVE_LIMIT_SITE);
                &__ADAPTIVE_LIMIT_SITE
            }),
            async move {
                let _ = &_arg4;
                let _ = &_guard;
                let _ = &table;
                let mut id = id;
                if false {
                    return ::resilience::__private::absent::<Result<Row, Lost>>();
                }
                match () {
                    () => {
                        id += self.offset;
                        table.row(id).await
                    }
                }
            },
            |adaptive_limit_output, adaptive_limit_of| {
                use ::resilience::__private::probe::{
                    ViaDynError as _, ViaError as _, ViaKind as _, ViaNothing as _,
                    ViaOutput as _,
                };
                (&&&&&::resilience::__private::probe::Probe(adaptive_limit_output))
                    .__adaptive_limit_classify(adaptive_limit_of)
            },
            |adaptive_limit_error| ::resilience::__private::reject::<
                Result<Row, Lost>,
            >(adaptive_limit_error),
        )
        .await
}
