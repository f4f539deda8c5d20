impl<T> Table for Store<T>
where
    T: Row,
{
    const NAME: &'static str = "store";
    #[crate::limits::adaptive_limit(
        max_limit = 100,
        drop_on = [Lost::Busy],
        crate = crate::limits
    )]
    /// Finds a row.
    fn find(&self, id: u32) -> Result<T, Lost> {
        self.row(id)
    }
    #[adaptive_limit(name = "orders")]
    async fn order(&self, id: u32) -> Result<T, Lost> {
        self.fetch(id).await
    }
    #[inline]
    fn len(&self) -> usize {
        self.rows.len()
    }
    #[cfg_attr(
        not(any(test)),
        crate::limits::adaptive_limit(
            max_limit = 100,
            drop_on = [Lost::Busy],
            crate = crate::limits
        )
    )]
    fn reload(&self) -> Result<(), Lost> {
        self.source.load()
    }
    rows! {
        T
    }
}
