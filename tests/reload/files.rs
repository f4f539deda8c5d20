//! Files that come, go and change.

use resilience::limit::LimitConfig;
use resilience::{Code, Error};

use crate::support::{Directory, manual, says};

#[test]
fn a_changed_file_reaches_the_limits_that_live() -> Result<(), Error> {
    let directory = Directory::new();
    let file = directory.write(
        "app.properties",
        "configs.backend.adaptiveLimit.maxLimit=100\n",
    );
    let (builder, _) = manual();
    let registry = builder.file(&file).build()?;
    let orders = registry.register_with("orders", "backend", LimitConfig::new())?;
    assert_eq!(orders.snapshot().max_limit, 100);

    directory.write(
        "app.properties",
        "configs.backend.adaptiveLimit.maxLimit=7\n",
    );
    assert_eq!(orders.snapshot().max_limit, 100, "nobody has read it yet");
    registry.reload()?;
    let seen = orders.snapshot();
    assert_eq!((seen.max_limit, seen.limit), (7, 7));
    assert_eq!(seen.reason.to_string(), "the bounds were changed");
    Ok(())
}

#[test]
fn a_bad_file_changes_nothing_and_is_told_until_a_good_one_comes() -> Result<(), Error> {
    let directory = Directory::new();
    let good = "instances.orders.adaptiveLimit.maxLimit=50\n";
    let file = directory.write("app.properties", good);
    let (builder, _) = manual();
    let registry = builder.file(&file).build()?;
    let orders = registry.register("orders", LimitConfig::new())?;
    assert_eq!(registry.snapshot().stale, None);

    directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=50 # at most\ninstances.orders.adaptiveLimit.minLimit=3\n",
    );
    let error = registry.reload().unwrap_err();
    says(&error.to_string(), &["app.properties:1", "50 # at most"]);
    // Not the good line either.
    assert_eq!(orders.snapshot().min_limit, 1);
    let stale = registry.snapshot().stale.expect("the file was not taken");
    assert_eq!(stale, error.to_string());

    directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=40\n",
    );
    registry.reload()?;
    assert_eq!(orders.snapshot().max_limit, 40);
    assert_eq!(registry.snapshot().stale, None);
    Ok(())
}

#[test]
fn a_limit_that_no_longer_agrees_keeps_what_it_has() -> Result<(), Error> {
    let directory = Directory::new();
    let file = directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=80\n",
    );
    let (builder, _) = manual();
    let registry = builder.file(&file).build()?;
    let orders = registry.register("orders", LimitConfig::new().max_limit(100))?;
    // Equal through the instance's key alone.
    registry.register("orders", LimitConfig::new().max_limit(50))?;

    directory.write("app.properties", "# nothing left\n");
    let error = registry.reload().unwrap_err();
    assert_eq!(error.code(), Code::SETTINGS_DIFFER);
    says(&error.to_string(), &["`orders`", "100", "50", "files.rs"]);
    assert_eq!(orders.snapshot().max_limit, 80);
    Ok(())
}

#[test]
fn a_file_caught_while_it_is_written_is_not_taken_for_an_empty_one() -> Result<(), Error> {
    let directory = Directory::new();
    let content = "instances.orders.adaptiveLimit.maxLimit=80\n";
    let file = directory.write("app.properties", content);
    let (builder, _) = manual();
    let registry = builder.file(&file).build()?;
    let orders = registry.register("orders", LimitConfig::new())?;

    // As an editor that writes in place leaves it for a moment.
    directory.write("app.properties", "");
    let error = registry.reload().unwrap_err();
    says(&error.to_string(), &["app.properties", "empty"]);
    assert_eq!(orders.snapshot().max_limit, 80);
    directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=81\n",
    );
    registry.reload()?;
    assert_eq!(orders.snapshot().max_limit, 81);
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_link_to_another_directory_is_followed_anew() -> Result<(), Error> {
    // As Kubernetes mounts a ConfigMap: the file is a link through `..data`, which is replaced by renaming.
    let directory = Directory::new();
    for (version, max) in [("..1", 10), ("..2", 20)] {
        std::fs::create_dir(directory.path(version)).unwrap();
        let content = format!("instances.orders.adaptiveLimit.maxLimit={max}\n");
        directory.write(&format!("{version}/app.properties"), &content);
    }
    let link = |version: &str| {
        let fresh = directory.path("..data_tmp");
        std::os::unix::fs::symlink(version, &fresh).unwrap();
        std::fs::rename(fresh, directory.path("..data")).unwrap();
    };
    link("..1");
    let file = directory.path("app.properties");
    std::os::unix::fs::symlink("..data/app.properties", &file).unwrap();

    let (builder, _) = manual();
    let registry = builder.file(&file).build()?;
    let orders = registry.register("orders", LimitConfig::new())?;
    assert_eq!(orders.snapshot().max_limit, 10);
    link("..2");
    std::fs::remove_dir_all(directory.path("..1")).unwrap();
    registry.reload()?;
    assert_eq!(orders.snapshot().max_limit, 20);
    Ok(())
}

#[test]
fn a_file_that_vanished_is_told_and_what_it_said_holds() -> Result<(), Error> {
    let directory = Directory::new();
    let needed = directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=80\n",
    );
    let extra = directory.write(
        "extra.properties",
        "instances.orders.adaptiveLimit.minLimit=2\n",
    );
    let (builder, _) = manual();
    let registry = builder
        .file(&needed)
        .file_if_present(&extra)
        .file_if_present(directory.path("never.properties"))
        .build()?;
    let orders = registry.register("orders", LimitConfig::new())?;

    std::fs::remove_file(&needed).unwrap();
    let error = registry.reload_if_changed().unwrap_err();
    assert_eq!(error.code(), Code::CONFIG_VANISHED);
    says(&error.to_string(), &["app.properties"]);
    assert!(!registry.reload_if_changed()?, "it is told once");
    assert_eq!(orders.snapshot().max_limit, 80);

    // One that need not be there may go.
    directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=80\n",
    );
    std::fs::remove_file(&extra).unwrap();
    registry.reload()?;
    assert_eq!(orders.snapshot().min_limit, 1);
    Ok(())
}

#[test]
fn a_file_that_is_not_there_at_the_start_is_an_error() {
    let directory = Directory::new();
    let (builder, _) = manual();
    let error = builder
        .file(directory.path("app.properties"))
        .build()
        .unwrap_err();
    assert_eq!(error.code(), Code::CONFIG_UNREADABLE);
    says(&error.to_string(), &["app.properties"]);
}

#[test]
fn a_profile_lies_over_the_files_and_under_the_environment() -> Result<(), Error> {
    let directory = Directory::new();
    let key =
        |property: &str, value: u32| format!("instances.orders.adaptiveLimit.{property}={value}\n");
    let base = directory.write(
        "app.properties",
        &[
            key("maxLimit", 10),
            key("minLimit", 1),
            key("initialLimit", 5),
        ]
        .concat(),
    );
    directory.write(
        "app-prod.properties",
        &[key("maxLimit", 20), key("minLimit", 2)].concat(),
    );
    let second = directory.write("second.properties", &key("minLimit", 4));
    let (builder, _) = manual();
    let registry = builder
        .variables(|| {
            [(
                "RESILIENCE__INSTANCES__ORDERS__ADAPTIVE_LIMIT__MAX_LIMIT",
                "30",
            )]
        })
        .file(&base)
        .file(&second)
        .profile("prod")
        .build()?;
    let seen = registry.register("orders", LimitConfig::new())?.snapshot();
    assert_eq!(
        (seen.min_limit, seen.initial_limit, seen.max_limit),
        (2, 5, 30)
    );
    Ok(())
}
