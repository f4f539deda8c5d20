//! Mistakes on and in `impl` blocks.

use resilience::{Error, adaptive_limit};

struct Store;

// All methods that cannot be limited, at once; the last one has its own attribute, which says so itself.
#[adaptive_limit]
impl Store {
    const fn new() -> Self {
        Self
    }

    fn run(&self) -> ! {
        loop {}
    }

    #[adaptive_limit(skip)]
    const fn skipped() -> u32 {
        1
    }

    #[adaptive_limit(name = "own")]
    const fn own() -> Result<(), Error> {
        Ok(())
    }
}

// The block's options once, not for each method.
#[adaptive_limit(max_limit = 0, nmae = "a")]
impl Store {
    const fn constant() {}

    fn first(&self) -> Result<(), Error> {
        Ok(())
    }

    #[adaptive_limit(skip)]
    fn second(&self) -> u32 {
        1
    }
}

#[adaptive_limit]
impl Store {
    #[adaptive_limit(skip, name = "a")]
    fn beside(&self) -> Result<(), Error> {
        Ok(())
    }

    #[adaptive_limit(name = "b")]
    #[adaptive_limit(skip)]
    fn both(&self) -> Result<(), Error> {
        Ok(())
    }

    #[adaptive_limit(skip = true)]
    fn valued(&self) -> Result<(), Error> {
        Ok(())
    }

    #[adaptive_limit(skip)]
    const NUMBER: u32 = 1;

    #[adaptive_limit(skipp)]
    fn misspelt(&self) -> Result<(), Error> {
        Ok(())
    }
}

// Whether the method is there is not known when the block is read.
#[adaptive_limit]
impl Store {
    #[cfg(all())]
    const fn present() {}
}

#[adaptive_limit(skip)]
impl Store {
    fn whole(&self) -> Result<(), Error> {
        Ok(())
    }
}

#[adaptive_limit]
unsafe impl Send for Store {}

#[adaptive_limit(skip)]
fn free() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(skip, name = "free")]
fn free_too() -> Result<(), Error> {
    Ok(())
}

fn main() {
    Store::new();
    Store::skipped();
    Store::own().unwrap();
    Store::constant();
    Store.first().unwrap();
    Store.second();
    Store.beside().unwrap();
    Store.both().unwrap();
    Store.valued().unwrap();
    Store.misspelt().unwrap();
    Store.whole().unwrap();
    free().unwrap();
    free_too().unwrap();
    Store::present();
    let _ = Store::NUMBER;
    Store.run();
}
