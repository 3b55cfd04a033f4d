output "indexes" {
  description = "The indexes, as the module dynamodb_table takes them."
  value       = var.indexes
}

output "attributes" {
  description = "The attributes, as the module dynamodb_table takes them."
  value       = var.attributes
}
