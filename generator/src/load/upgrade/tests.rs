//! Each rule of the upgrade, on the smallest document that shows it.
