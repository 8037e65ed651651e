output "app_name" {
  description = "Name of the application."
  value       = juju_application.lockstep.name
}

output "provides" {
  description = "Endpoints that others may require."
  value = {
    cohorts                     = "cohorts"
    grafana_dashboards_provider = "grafana-dashboards-provider"
  }
}

output "requires" {
  description = "Endpoints that need a provider. Those of container scope take a principal."
  value = {
    control_plane     = "control-plane"
    cos_agent         = "cos-agent"
    follow_cohorts    = "follow-cohorts"
    logging_consumer  = "logging-consumer"
    receive_ca_cert   = "receive-ca-cert"
    send_remote_write = "send-remote-write"
    worker            = "worker"
  }
}
