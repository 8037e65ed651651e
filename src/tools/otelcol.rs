//! `otelcol validate`: whether the collector would take a configuration. It opens no port and no file
//! that the configuration names (open-telemetry/opentelemetry-collector `otelcol/command_validate.go`).

use super::{Call, Exit, Manner, Runner, ToolError};
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
const OUTPUT_LIMIT: usize = 1 << 20;

/// Whether it takes the configuration in that file. What it says of a refused one may quote a secret, so
/// it goes nowhere.
pub fn validate(runner: &Runner, program: &Path, file: &Path) -> Result<bool, ToolError> {
    let program = program.to_string_lossy();
    let args = vec!["validate".to_owned(), format!("--config={}", file.display())];
    let manner = Manner::default();
    let call =
        Call { program: &program, args, input: None, limit: LIMIT, output_limit: OUTPUT_LIMIT, manner };
    match runner.run(&call)?.exit {
        Exit::Status(0) => Ok(true),
        Exit::Status(_) => Ok(false),
        exit @ Exit::Signal(_) => {
            Err(ToolError::Failed { call: call.line(), exit, stderr: "nothing is told of it".to_owned() })
        }
    }
}
