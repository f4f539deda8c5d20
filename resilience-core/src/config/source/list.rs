//! The text of a list, as a .properties file has it: parted by commas.

use super::Unfit;

/// Joins the texts of a list. One of a single item, or of none, ends with a comma, so that it is never taken for the item.
pub(super) fn join(items: &[String]) -> Result<String, Unfit> {
    if items.iter().any(|item| item.contains(',')) {
        return Err(Unfit::CommaInItem);
    }
    Ok(match items {
        [] => ",".to_owned(),
        [one] => format!("{one},"),
        several => several.join(","),
    })
}
