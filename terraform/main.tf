# A subordinate: Juju places one unit beside each unit of the principals that it is related to, so there
# is no number of units and there are no constraints to be set.
resource "juju_application" "lockstep" {
  name       = var.app_name
  model_uuid = var.model_uuid
  config     = var.config

  charm {
    name     = "lockstep"
    base     = var.base
    channel  = var.channel
    revision = var.revision
  }
}
