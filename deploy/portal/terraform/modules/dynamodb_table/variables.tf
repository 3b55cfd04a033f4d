variable "name" {
  description = "The name of the table."
  type        = string
}

variable "hash_key" {
  description = "The partition key."
  type        = string
  default     = "PK"
}

variable "range_key" {
  description = "The sort key, or null."
  type        = string
  default     = "SK"
}

variable "attributes" {
  description = "The attributes that are keys, from the module gsi."
  type = list(object({
    name = string
    type = string
  }))
}

variable "global_secondary_indexes" {
  description = "The global secondary indexes, from the module gsi."
  type = list(object({
    name               = string
    hash_key           = string
    range_key          = optional(string)
    projection_type    = optional(string, "ALL")
    non_key_attributes = optional(list(string))
  }))
  default = []
}

variable "local_secondary_indexes" {
  description = "The local secondary indexes."
  type = list(object({
    name               = string
    range_key          = string
    projection_type    = optional(string, "ALL")
    non_key_attributes = optional(list(string))
  }))
  default = []
}

variable "billing_mode" {
  description = "PAY_PER_REQUEST or PROVISIONED."
  type        = string
  default     = "PAY_PER_REQUEST"
}

variable "read_capacity" {
  description = "Read units a second of a provisioned table and each of its indexes."
  type        = number
  default     = null
}

variable "write_capacity" {
  description = "Write units a second of a provisioned table and each of its indexes."
  type        = number
  default     = null
}

variable "table_class" {
  description = "STANDARD or STANDARD_INFREQUENT_ACCESS."
  type        = string
  default     = "STANDARD"
}

variable "stream_enabled" {
  description = "Whether the table has a stream."
  type        = bool
  default     = true
}

variable "stream_view_type" {
  description = "What the stream shows of a change."
  type        = string
  default     = "NEW_AND_OLD_IMAGES"
}

variable "ttl_attribute" {
  description = "The attribute that items expire by, or null."
  type        = string
  default     = null
}

variable "pitr_enabled" {
  description = "Whether the table can be restored to any moment."
  type        = bool
  default     = true
}

variable "pitr_days" {
  description = "How many days back it can be restored."
  type        = number
  default     = 35
}

variable "sse_enabled" {
  description = "Whether KMS has the key: the one that AWS manages, unless kms_key_arn names another."
  type        = bool
  default     = true
}

variable "kms_key_arn" {
  description = "A key of your own, or null."
  type        = string
  default     = null
}

variable "deletion_protection_enabled" {
  description = "Whether deleting the table is refused. (prevent_destroy cannot be a variable.)"
  type        = bool
  default     = false
}

variable "replica_regions" {
  description = "The regions of the replicas."
  type        = list(string)
  default     = []
}

variable "tags" {
  description = "The tags of the table and its replicas."
  type        = map(string)
  default     = {}
}
