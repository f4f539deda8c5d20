pub fn find(id: u32) -> Result<Row, Lost> {
    ::resilience::__private::limit_sync::<
        Result<Row, Lost>,
    >(
        ::resilience::__private::CallSite::resolve({
            static __ADAPTIVE_LIMIT_SITE: ::resilience::__private::CallSite = ::resilience::__private::CallSite::named(
                    "orders",
                    ::core::file!(),
                    ::core::line!(),
                    ::core::column!(),
                )
                .max_limit(100);
            ::resilience::__private::announce!(ambient __ADAPTIVE_LIMIT_SITE);
            &__ADAPTIVE_LIMIT_SITE
        }),
        || -> Result<Row, Lost> {
            let row = table()?.row(id)?;
            Ok(row)
        },
        |adaptive_limit_output, adaptive_limit_of| ::resilience::__private::drop_on(
            adaptive_limit_output,
            |adaptive_limit_error| {
                ::core::matches!(adaptive_limit_error, Lost::Busy)
                    || ::core::matches!(adaptive_limit_error, Lost::Status(429 | 503))
            },
            || {
                use ::resilience::__private::probe::{
                    ViaDynError as _, ViaError as _, ViaKind as _, ViaNothing as _,
                    ViaOutput as _,
                };
                (&&&&&::resilience::__private::probe::Probe(adaptive_limit_output))
                    .__adaptive_limit_configured(adaptive_limit_of)
            },
        ),
        |adaptive_limit_error| ::resilience::__private::reject::<
            Result<Row, Lost>,
        >(adaptive_limit_error),
    )
}
