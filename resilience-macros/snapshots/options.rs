fn rows(&self) -> impl Iterator<Item = Row> {
    #![allow(unused)]
    crate::limits::__private::limit_sync::<
        _,
    >(
        {
            let adaptive_limit_resolved = crate::limits::__private::CallSite::resolve_in(
                {
                    static __ADAPTIVE_LIMIT_SITE: crate::limits::__private::CallSite = crate::limits::__private::CallSite::unnamed(
                            {
                                fn here() {}
                                || ::core::any::type_name_of_val(&here)
                            },
                            ::core::file!(),
                            ::core::line!(),
                            ::core::column!(),
                        )
                        .config("partners")
                        .algorithm("gradient2")
                        .enabled(false);
                    crate::limits::__private::announce!(elsewhere __ADAPTIVE_LIMIT_SITE);
                    &__ADAPTIVE_LIMIT_SITE
                },
                &(self.registry),
            );
            adaptive_limit_resolved
        },
        || -> _ { self.rows.iter().cloned() },
        |adaptive_limit_output, adaptive_limit_of| crate::limits::__private::drop_if(
            adaptive_limit_output,
            is_overload,
            |adaptive_limit_output| {
                use crate::limits::__private::probe::{
                    ViaDynError as _, ViaError as _, ViaKind as _, ViaNothing as _,
                    ViaOutput as _,
                };
                (&&&&&crate::limits::__private::probe::Probe(adaptive_limit_output))
                    .__adaptive_limit_classify_rest(adaptive_limit_of)
            },
        ),
        rejected,
    )
}
