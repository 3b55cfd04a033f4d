variable "attributes" {
  description = "The attributes that are keys of the table or of an index: name and type."
  type = list(object({
    name = string
    type = string
  }))

  validation {
    condition     = alltrue([for attribute in var.attributes : contains(["S", "N", "B"], attribute.type)])
    error_message = "A key is of type S, N or B."
  }
}

variable "indexes" {
  description = "The global secondary indexes."
  type = list(object({
    name               = string
    hash_key           = string
    range_key          = optional(string)
    projection_type    = optional(string, "ALL")
    non_key_attributes = optional(list(string))
  }))
  default = []

  validation {
    condition     = length(var.indexes) <= 20
    error_message = "A table has 20 global secondary indexes at most."
  }

  validation {
    condition     = length(distinct([for index in var.indexes : index.name])) == length(var.indexes)
    error_message = "Each index has a name of its own."
  }

  validation {
    condition     = alltrue([for index in var.indexes : contains(["ALL", "KEYS_ONLY", "INCLUDE"], index.projection_type)])
    error_message = "An index projects ALL, KEYS_ONLY or INCLUDE."
  }

  validation {
    condition = alltrue(flatten([
      for index in var.indexes : [
        for key in compact([index.hash_key, index.range_key]) :
        contains([for attribute in var.attributes : attribute.name], key)
      ]
    ]))
    error_message = "Every key of an index is declared among the attributes."
  }
}
