variable "app_name" {
  description = "Name of the application in the model."
  type        = string
  default     = "lockstep"
}

variable "base" {
  description = "Base of the principals, such as ubuntu@24.04: a subordinate joins only principals of its own base."
  type        = string
  default     = null
}

variable "channel" {
  description = "Charmhub channel of the charm."
  type        = string
  default     = "latest/stable"
}

variable "config" {
  description = "Options of the charm; docs/reference/options.md lists them."
  type        = map(string)
  default     = {}
}

variable "model_uuid" {
  description = "UUID of the model with the cluster."
  type        = string
}

variable "revision" {
  description = "Revision of the charm; empty for the newest of the channel."
  type        = number
  default     = null
}
