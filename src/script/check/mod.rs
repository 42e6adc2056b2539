//! Static checks of scripts.
