variable "prefix" {
  description = "What the names of alarms and budget begin with."
  type        = string
}

variable "topic_name" {
  description = "The SNS topic that alarms are sent to."
  type        = string
}

variable "table_names" {
  description = "The tables that are watched."
  type        = list(string)
}

variable "replica_regions" {
  description = "The regions of their replicas."
  type        = list(string)
  default     = []
}

variable "alarms" {
  description = "The alarms. DynamoDB reports a metric by table, by operation, or by region."
  type = map(object({
    metric    = string
    statistic = string
    period    = number
    threshold = number
    by        = string
    action    = string
  }))
}

variable "operations" {
  description = "The operations whose metrics are summed; an alarm takes ten at most."
  type        = list(string)
  default = [
    "BatchGetItem",
    "BatchWriteItem",
    "DeleteItem",
    "GetItem",
    "PutItem",
    "Query",
    "Scan",
    "TransactGetItems",
    "TransactWriteItems",
    "UpdateItem",
  ]
}

variable "alert_emails" {
  description = "Who is mailed."
  type        = list(string)
  default     = []
}

variable "account_id" {
  description = "The account of the budget."
  type        = string
  default     = null
}

variable "budget_dollars" {
  description = "What DynamoDB and AWS Backup may cost a month, or null."
  type        = number
  default     = null
}

variable "budget_alert_percent" {
  description = "At how many percent of it an alert is sent."
  type        = number
  default     = 80
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

variable "tags" {
  description = "The tags of topic, alarms and health check."
  type        = map(string)
  default     = {}
}
