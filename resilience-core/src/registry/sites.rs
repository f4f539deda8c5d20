//! The call sites that are known before their first call.
//!
//! With the feature `sites` each expansion of the attribute leaves its site in a list that the linker puts together.
//! Without it the list is empty, and sites are known from their first call on.

use super::call_site::CallSite;

/// A site, as the expansion announces it.
#[derive(Debug)]
pub struct Announced {
    site: &'static CallSite,
    /// Whether the site's limit is in the registry that is in force, and not in one that it names itself.
    ambient: bool,
}

impl Announced {
    /// A site whose limit is in the registry that is in force.
    pub const fn ambient(site: &'static CallSite) -> Self {
        Self {
            site,
            ambient: true,
        }
    }

    /// A site whose registry is known when it is called.
    pub const fn elsewhere(site: &'static CallSite) -> Self {
        Self {
            site,
            ambient: false,
        }
    }
}

#[cfg(feature = "sites")]
inventory::collect!(Announced);

fn announced() -> impl Iterator<Item = &'static Announced> {
    #[cfg(feature = "sites")]
    return inventory::iter::<Announced>.into_iter();
    #[cfg(not(feature = "sites"))]
    std::iter::empty()
}

/// All sites.
pub(crate) fn all() -> impl Iterator<Item = &'static CallSite> {
    announced().map(|announced| announced.site)
}

/// The sites whose limits are in the registry that is in force, in the order of their places.
pub(crate) fn ambient() -> Vec<&'static CallSite> {
    let ambient = announced().filter(|announced| announced.ambient);
    let mut sites: Vec<_> = ambient.map(|announced| announced.site).collect();
    sites.sort_by_key(|site| site.origin());
    sites
}
