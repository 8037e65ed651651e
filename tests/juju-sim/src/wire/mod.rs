//! What crosses the border between a hook tool and its caller: arguments in, output and error texts back.
//!
//! Everything here is a pure function of its input. It imitates libraries that Juju links (juju/gnuflag,
//! juju/cmd, gopkg.in/yaml.v2), text by text, because a charm sees those texts. It knows no model.

pub mod format;
pub mod gnuflag;
pub mod go_text;
pub mod key_values;
pub mod yaml_v2;
