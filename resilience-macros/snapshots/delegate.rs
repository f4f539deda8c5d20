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
    fn find<C: Column>(&self, id: K, (from, to): (C, C)) -> Result<Self::Row, Lost> {
        self.row(id)
    }
    async fn later(mut self, #[cfg(unix)] other: &Self) -> Option<Self>
    where
        Self: Sync;
}
#[cfg(unix)]
/// Implements [`Table`](trait@Table) by what is in it, and limits the calls as the trait's attributes say.
#[::core::prelude::v1::derive(::core::clone::Clone, ::core::fmt::Debug)]
pub(crate) struct ResilientTable<T> {
    inner: T,
    registry: ::core::option::Option<crate::limits::__private::Registry>,
}
#[cfg(unix)]
impl<T> ResilientTable<T> {
    /// Limits the calls in the registry that is in force: the one scoped to the thread or future, else the
    /// process-wide.
    #[must_use]
    pub(crate) const fn new(inner: T) -> Self {
        Self {
            inner,
            registry: ::core::option::Option::None,
        }
    }
    /// Limits the calls in this registry.
    #[must_use]
    pub(crate) fn with_registry(
        inner: T,
        registry: &crate::limits::__private::Registry,
    ) -> Self {
        Self {
            inner,
            registry: ::core::option::Option::Some(::core::clone::Clone::clone(registry)),
        }
    }
    /// Returns what is in the delegate, whose calls are not limited.
    #[must_use]
    pub(crate) const fn inner(&self) -> &T {
        &self.inner
    }
    /// Returns what is in the delegate, by value.
    #[must_use]
    pub(crate) fn into_inner(self) -> T {
        self.inner
    }
}
#[cfg(unix)]
#[async_trait]
impl<K: Key, T: Table<K> + ::core::marker::Send + ::core::marker::Sync> Table<K>
for ResilientTable<T>
where
    Self: Named,
    Self: Sized,
    T::Row: From<K>,
    T: Sync,
{
    const NAME: &'static str = <T as Table<K>>::NAME;
    type Row = <T as Table<K>>::Row;
    fn open(name: &str) -> Result<Self, Lost> {
        let adaptive_limit_registry = ::core::option::Option::None;
        ::core::result::Result::map(
            <T as Table<K>>::open(name),
            |adaptive_limit_inner| Self {
                inner: adaptive_limit_inner,
                registry: adaptive_limit_registry,
            },
        )
    }
    #[inline]
    fn find<C: Column>(&self, id: K, arg2: (C, C)) -> Result<Self::Row, Lost> {
        crate::limits::__private::limit_sync::<
            Result<Self::Row, Lost>,
        >(
            crate::limits::__private::CallSite::resolve_for(
                {
                    static __ADAPTIVE_LIMIT_SITE: crate::limits::__private::CallSite = crate::limits::__private::CallSite::named(
                            "orders",
                            ::core::file!(),
                            ::core::line!(),
                            ::core::column!(),
                        )
                        .max_limit(100);
                    crate::limits::__private::announce!(elsewhere __ADAPTIVE_LIMIT_SITE);
                    &__ADAPTIVE_LIMIT_SITE
                },
                ::core::option::Option::as_ref(&self.registry),
            ),
            || -> Result<Self::Row, Lost> {
                <T as Table<K>>::find::<C>(&self.inner, id, arg2)
            },
            |adaptive_limit_output, adaptive_limit_of| {
                use crate::limits::__private::probe::{
                    ViaDynError as _, ViaError as _, ViaKind as _, ViaNothing as _,
                    ViaOutput as _,
                };
                (&&&&&crate::limits::__private::probe::Probe(adaptive_limit_output))
                    .__adaptive_limit_classify(adaptive_limit_of)
            },
            |adaptive_limit_error| crate::limits::__private::reject::<
                Result<Self::Row, Lost>,
            >(adaptive_limit_error),
        )
    }
    #[cfg(not(any(test)))]
    async fn later(self, #[cfg(unix)] other: &Self) -> Option<Self>
    where
        Self: Sync,
    {
        #[cfg(unix)]
        {
            let adaptive_limit_registry = ::core::clone::Clone::clone(&self.registry);
            ::core::option::Option::map(
                <T as Table<K>>::later(self.inner, &other.inner).await,
                |adaptive_limit_inner| Self {
                    inner: adaptive_limit_inner,
                    registry: adaptive_limit_registry,
                },
            )
        }
        #[cfg(not(unix))]
        {
            let adaptive_limit_registry = ::core::clone::Clone::clone(&self.registry);
            ::core::option::Option::map(
                <T as Table<K>>::later(self.inner).await,
                |adaptive_limit_inner| Self {
                    inner: adaptive_limit_inner,
                    registry: adaptive_limit_registry,
                },
            )
        }
    }
    #[cfg(test)]
    async fn later(self, #[cfg(unix)] other: &Self) -> Option<Self>
    where
        Self: Sync,
    {
        crate::limits::__private::limit_async(
                crate::limits::__private::output::<Option<Self>>(),
                crate::limits::__private::CallSite::resolve_for(
                    {
                        static __ADAPTIVE_LIMIT_SITE: crate::limits::__private::CallSite = crate::limits::__private::CallSite::unnamed(
                            {
                                fn here() {}
                                || ::core::any::type_name_of_val(&here)
                            },
                            ::core::file!(),
                            ::core::line!(),
                            ::core::column!(),
                        );
                        crate::limits::__private::announce!(
                            elsewhere __ADAPTIVE_LIMIT_SITE
                        );
                        &__ADAPTIVE_LIMIT_SITE
                    },
                    ::core::option::Option::as_ref(&self.registry),
                ),
                async move {
                    if false {
                        return crate::limits::__private::absent::<Option<Self>>();
                    }
                    match () {
                        () => {
                            #[cfg(unix)]
                            {
                                let adaptive_limit_registry = ::core::clone::Clone::clone(
                                    &self.registry,
                                );
                                ::core::option::Option::map(
                                    <T as Table<K>>::later(self.inner, &other.inner).await,
                                    |adaptive_limit_inner| Self {
                                        inner: adaptive_limit_inner,
                                        registry: adaptive_limit_registry,
                                    },
                                )
                            }
                            #[cfg(not(unix))]
                            {
                                let adaptive_limit_registry = ::core::clone::Clone::clone(
                                    &self.registry,
                                );
                                ::core::option::Option::map(
                                    <T as Table<K>>::later(self.inner).await,
                                    |adaptive_limit_inner| Self {
                                        inner: adaptive_limit_inner,
                                        registry: adaptive_limit_registry,
                                    },
                                )
                            }
                        }
                    }
                },
                |adaptive_limit_output, adaptive_limit_of| {
                    use crate::limits::__private::probe::{
                        ViaDynError as _, ViaError as _, ViaKind as _, ViaNothing as _,
                        ViaOutput as _,
                    };
                    (&&&&&crate::limits::__private::probe::Probe(adaptive_limit_output))
                        .__adaptive_limit_classify(adaptive_limit_of)
                },
                nothing,
            )
            .await
    }
}
