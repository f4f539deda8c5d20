fn rows(&self) -> impl Iterator<Item = Row> {
    #![allow(unused)]
    crate::limits::__private::limit_sync::<
        _,
    >(
        {
            let resolved = crate::limits::__private::CallSite::resolve_in(
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
                    &__ADAPTIVE_LIMIT_SITE
                },
                &(self.registry),
            );
            resolved
        },
        || -> _ { self.rows.iter().cloned() },
        |output| crate::limits::__private::drop_if(
            output,
            is_overload,
            |output| {
                use crate::limits::__private::probe::{
                    ViaDynError as _, ViaError as _, ViaNothing as _, ViaOutput as _,
                };
                (&&&&crate::limits::__private::probe::Probe(output)).classify_rest()
            },
        ),
        rejected,
    )
}
