output "table_arns" {
  description = "The ARNs of the tables by name."

  value = {
    tenants   = module.tenants.arn
    products  = module.products.arn
    campaigns = module.campaigns.arn
    orders    = module.orders.arn
    audit     = module.audit.arn
    codes     = module.codes.arn
  }
}

output "stream_arns" {
  description = "The ARNs of their streams."

  value = {
    tenants   = module.tenants.stream_arn
    products  = module.products.stream_arn
    campaigns = module.campaigns.stream_arn
    orders    = module.orders.stream_arn
    audit     = module.audit.stream_arn
    codes     = module.codes.stream_arn
  }
}

output "writers_arn" {
  description = "The ARN of the table that says which region writes."
  value       = module.writers.arn
}

output "backup_vault_arn" {
  description = "The ARN of the backup vault."
  value       = module.backup.vault_arn
}

output "alert_topic_arn" {
  description = "The ARN of the SNS topic of the alarms."
  value       = module.monitoring.topic_arn
}
