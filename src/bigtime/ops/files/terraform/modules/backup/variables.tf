variable "vault_name" {
  description = "The name of the vault, and of its copy in copy_region."
  type        = string
}

variable "plan_name" {
  description = "The name of the plan."
  type        = string
}

variable "rule_name" {
  description = "The name of its rule."
  type        = string
}

variable "selection_name" {
  description = "The name of its selection."
  type        = string
}

variable "schedule" {
  description = "When backups are taken, as cron(...), in UTC."
  type        = string
}

variable "delete_after" {
  description = "How many days a backup, and its copy, is kept."
  type        = number
}

variable "start_window" {
  description = "Within how many minutes a backup has to begin; 60 is the least."
  type        = number
  default     = 60
}

variable "completion_window" {
  description = "Within how many minutes it has to be complete."
  type        = number
  default     = 120
}

variable "table_arns" {
  description = "The tables."
  type        = list(string)
}

variable "copy_region" {
  description = "The region of the provider aws.copy, to which every backup is copied; or null."
  type        = string
  default     = null
}

variable "resource_type_opt_in" {
  description = "What AWS Backup may back up in the region. It is a setting of the whole account."
  type        = map(bool)
  default     = { DynamoDB = true }
}

variable "lock_days" {
  description = "For how many days at least nobody can delete a backup; null for no lock."
  type        = number
  default     = null
}

variable "tags" {
  description = "The tags of vault, plan and role."
  type        = map(string)
  default     = {}
}
