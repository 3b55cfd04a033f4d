variable "environment" {
  description = "The name of the environment."
  type        = string
}

variable "account" {
  description = "The account; with other credentials nothing is done. Null for any."
  type        = string
  default     = null
}

variable "region" {
  description = "The region of the tables."
  type        = string
}

variable "dr_region" {
  description = "The region of their replicas and of the copies of their backups, or null."
  type        = string
  default     = null
}

variable "pitr_days" {
  description = "How many days back a table can be restored."
  type        = number
}

variable "sse_enabled" {
  description = "Whether KMS has the key of the tables."
  type        = bool
}

variable "kms_key_arn" {
  description = "A key of your own, or null for the one that AWS manages."
  type        = string
  default     = null
}

variable "deletion_protection_enabled" {
  description = "Whether deleting a table is refused."
  type        = bool
}

variable "backup_vault" {
  description = "The name of the backup vault."
  type        = string
}

variable "backup_plan" {
  description = "The name of the backup plan."
  type        = string
}

variable "backup_rule" {
  description = "The name of its rule."
  type        = string
}

variable "backup_selection" {
  description = "The name of its selection."
  type        = string
}

variable "backup_schedule" {
  description = "When backups are taken, in UTC."
  type        = string
}

variable "backup_retention_days" {
  description = "How many days a backup is kept."
  type        = number
}

variable "alert_topic" {
  description = "The name of the SNS topic that alarms are sent to."
  type        = string
}

variable "budget_dollars" {
  description = "What DynamoDB and AWS Backup may cost a month, or null."
  type        = number
  default     = null
}

variable "budget_alert_percent" {
  description = "At how many percent of it an alert is sent."
  type        = number
}

variable "tags" {
  description = "The tags of everything that is made."
  type        = map(string)
}

# What no declaration knows: set these where Terraform is run (TF_VAR_alert_emails and so on).

variable "alert_emails" {
  description = "Who is mailed."
  type        = list(string)
  default     = []
}

variable "anomaly_detection" {
  description = "Whether AWS looks for unusual cost. An account has one such monitor at most."
  type        = bool
  default     = false
}

variable "zone_id" {
  description = "The zone in Route 53 of the name that follows the healthy region, or null."
  type        = string
  default     = null
}

variable "host" {
  description = "That name."
  type        = string
  default     = null
}

variable "primary_host" {
  description = "The host in the primary region."
  type        = string
  default     = null
}

variable "secondary_host" {
  description = "The host in the other region."
  type        = string
  default     = null
}
