//! Each rule of overlays.
